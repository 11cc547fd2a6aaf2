"""The states of a mission: the table is whole, and missions walk through it."""

import pytest

from adapt.mission.states import TRANSITIONS, Outcome, State

ENDS = {State.ARRIVED, State.DAMPED, State.OUT_OF_TIME}


def test_every_state_is_reached_and_leads_back_to_walking() -> None:
    active = set(State) - ENDS
    assert {state for state, _ in TRANSITIONS} == set(TRANSITIONS.values()) == active
    assert {outcome for _, outcome in TRANSITIONS} == set(Outcome)
    for state in active:
        reached = {state}
        for _ in active:
            reached |= {after for (before, _), after in TRANSITIONS.items() if before in reached}
        assert State.WALKING in reached, state


@pytest.mark.slow
def test_missions_walk_through_the_table(missions) -> None:
    names = ("whole", "motors", "trial", "fallen", "repaired", "told", "plain")
    seen = set().union(*(missions(name).transitions for name in names))
    assert set(TRANSITIONS) - seen <= {
        (State.TRYING, Outcome.EXPLAINED),  # a repair in the middle of a trial
        (State.TRYING, Outcome.HALTED),
        (State.TRYING, Outcome.USUAL),
    }
