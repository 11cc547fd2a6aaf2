"""What a search recommends replaces the incumbent only if confirmation trials say that it is better."""

import numpy as np
import pytest

from adapt.confirmation import ConfirmedSearch
from adapt.records import Outcome, RefinedGait
from adapt.selectors.catalogue import make_selector
from adapt.selectors.selector import Context, Prior, Selector

K = 40
INCUMBENT = 7


def search(name="best-first", *, trials=20, k=K, confirmations=3, nowhere=-np.inf, **settings):
    """A search for the best of k controllers whose objectives in the repertoire fall from k to 1."""
    rng = np.random.default_rng(0)
    prior = Prior(np.arange(k, 0, -1.0), rng.random((k, 2)), 0.0)
    context = Context(prior, trials=trials, **settings)
    selector = make_selector(name, context)
    return ConfirmedSearch(selector, INCUMBENT, confirmations=confirmations, nowhere=nowhere)


def run(search, measure):
    """Rows tried, and whether each trial was a confirmation.

    `measure` takes a row and the trial's number, and returns an outcome or an objective alone.
    """
    tried = []
    while (row := search.ask()) is not None:
        tried.append((row, search.confirms))
        found = measure(row, len(tried))
        search.tell(row, found if isinstance(found, Outcome) else Outcome(float(found)))
    return tried


def test_a_better_gait_is_tried_in_turn_with_the_incumbent_and_handed_over():
    one = search()
    tried = run(one, lambda row, number: {3: 9.0, INCUMBENT: 1.0}.get(row, 0.0) + 0.01 * number)
    assert [row for row, _ in tried[:5]] == [INCUMBENT, 0, 1, 2, 3]
    assert tried[14:] == [(3, True), (INCUMBENT, True)] * 2
    assert not any(confirms for _, confirms in tried[:14])
    confirmation = one.confirmation()
    assert (confirmation.row, confirmation.trials) == (3, (2, 2))
    assert confirmation.difference == pytest.approx(8 - 0.01)
    lucky = [0.05, 0.15, 0.17]  # all of its trials count for the variance
    unlucky = [0.01, 0.16, 0.18]
    expected = np.sqrt((np.var(lucky, ddof=1) + np.var(unlucky, ddof=1)) / 2)
    assert confirmation.standard_error == pytest.approx(expected)
    assert confirmation.passed
    assert one.recommendation() == 3


def test_a_search_that_gets_nowhere_ends_after_eight_gaits_and_keeps_the_incumbent():
    one = search(nowhere=0.5)
    tried = run(one, lambda row, number: 0.5 if row == 3 else 0.1)
    assert (len(tried), any(confirms for _, confirms in tried)) == (8, False)
    assert one.recommendation() == INCUMBENT
    assert one.stop == "none of the 8 gaits that were tried got anywhere"
    assert len(run(search(nowhere=0.4), lambda row, number: 0.5 if row == 3 else 0.1)) > 8


def test_trials_that_no_candidate_needs_go_on_with_the_search():
    one = search(trials=5)
    tried = run(one, lambda row, number: {2: 9.0, INCUMBENT: 1.0}.get(row, 0.0) + 0.01 * number)
    assert tried == [(INCUMBENT, False), (0, False), (1, False), (2, False), (2, True)]
    assert one.recommendation() == 2
    assert (one.confirmation().trials, one.confirmation().difference) == ((1, 0), pytest.approx(8 + 0.04))
    worse = search(trials=5)
    run(worse, lambda row, number: 1.0 if row == INCUMBENT else 0.1 * number)
    assert (len(worse.selector.rows), worse.recommendation()) == (4, INCUMBENT), (
        "nothing is left to confirm by"
    )


def test_a_gait_that_walks_replaces_one_that_gets_nowhere_however_much_it_varies():
    far = {0: iter([3.0, 0.9, 6.8, 3.0])}
    one = search(nowhere=0.5, trials=5, confirmations=3)
    tried = run(one, lambda row, number: next(far[row]) if row in far else 0.1)
    assert tried == [(INCUMBENT, False), (0, False), (1, False), (2, False), (0, True)]
    assert one.recommendation() == 0
    assert one.confirmation().safer
    slow = search(nowhere=0.5, trials=5, confirmations=3)
    run(slow, lambda row, number: 0.7 if row == INCUMBENT else {0: 3.0}.get(row, 0.1) * (number < 2))
    assert slow.recommendation() == INCUMBENT


@pytest.mark.parametrize(("fallen", "handed_over"), [((3,), INCUMBENT), ((3, INCUMBENT), 3)])
def test_a_gait_that_falls_does_not_replace_one_that_does_not(fallen, handed_over):
    one = search()
    # a fall counts for more than moving backwards
    run(one, lambda row, _: Outcome({3: 0.0, INCUMBENT: -1.0}.get(row, -2.0), fell=row in fallen))
    assert one.recommendation() == handed_over
    if handed_over == 3:
        assert one.confirmation().falls == (2, 2)
    else:
        assert one.confirmation() is None, "what never walked upright is not tried again"


@pytest.mark.parametrize(
    ("later", "trials", "falls", "handed_over"),
    [([], 8, 1, 3), ([True], 10, 2, 3), ([True, True], 9, 3, INCUMBENT)],
)
def test_trials_that_the_search_left_are_spent_on_a_gait_against_which_only_falls_speak(
    later, trials, falls, handed_over, monkeypatch
):
    """Its first confirmation trial of one ends in a fall; `later` says which of the next ones do."""
    one = search(trials=10, confirmations=1)
    monkeypatch.setattr(one.selector, "done", lambda: "enough" if len(one.selector.rows) >= 5 else None)
    fell = {3: iter([False, True, *later])}
    objectives = {3: 9.0, INCUMBENT: 1.0}
    run(one, lambda row, _: Outcome(objectives.get(row, 0.0), next(fell.get(row, iter(())), False)))
    assert (len(one.selector.rows), one.confirmation().falls) == (trials, (falls, 0))
    assert one.recommendation() == handed_over


@pytest.mark.parametrize(("better", "passed"), [(0.5, False), (1.2, True)])
def test_a_difference_within_its_standard_error_is_chance(better, passed):
    one = search()
    swing = {3: iter([9.0, 5.0, 7.0, 6.0]), INCUMBENT: iter([5.0, 5.0, 7.0, 6.0])}
    run(one, lambda row, _: next(swing[row]) + better * (row == 3) if row in swing else 0.0)
    confirmation = one.confirmation()
    assert confirmation.difference == pytest.approx(better)
    assert confirmation.passed == (confirmation.difference > confirmation.standard_error) == passed
    assert one.recommendation() == (3 if passed else INCUMBENT)


@pytest.mark.parametrize(
    ("later", "trials", "handed_over"),
    [(4.0, (4, 3), INCUMBENT), (9.0, (6, 5), 3), (7.0, (10, 10), 3)],  # turned round, clear, all used
)
def test_trials_that_the_search_left_settle_an_unclear_difference(later, trials, handed_over, monkeypatch):
    one = search(trials=25)
    monkeypatch.setattr(one.selector, "done", lambda: "enough" if len(one.selector.rows) >= 5 else None)
    swing = {3: iter([10.2, 6.2, 8.2, 7.2]), INCUMBENT: iter([5.0, 5.0, 7.0, 6.0])}
    run(one, lambda row, _: next(swing[row], later if row == 3 else 6.0) if row in swing else 0.0)
    assert one.confirmation().trials == trials
    assert one.recommendation() == handed_over


@pytest.mark.parametrize(("trials", "each"), [(20, 3), (12, 3), (8, 2), (7, 1), (4, 1), (3, 0), (1, 0)])
def test_at_most_half_of_the_trials_are_kept_for_confirmation(trials, each):
    one = search(trials=trials)
    lucky = {0: 9.0, INCUMBENT: 8.95}  # as the incumbent was at first, so that all trials are needed
    tried = run(one, lambda row, number: lucky.get(row, 0.0) if number < 3 else 8.9 * (row == 0))
    assert len(tried) == trials
    assert sum(confirms for _, confirms in tried) == 2 * each
    assert one.recommendation() == (0 if each else INCUMBENT)
    assert "too few trials" in one.confirmation().words if not each and trials > 1 else True


@pytest.mark.parametrize(("confirmations", "each"), [(3, (3, 1)), (5, (3, 1)), (2, (2, 2)), (1, (1, 1))])
def test_an_old_gait_that_falls_falls_no_more_often_than_is_needed(confirmations, each):
    one = search(confirmations=confirmations)
    tried = run(one, lambda row, _: 5.0 + 0.01 * row if row != INCUMBENT else Outcome(0.0, fell=True))
    assert (one.confirmation().trials, tried.count((INCUMBENT, True))) == (each, each[1])
    assert one.recommendation() == one.confirmation().row != INCUMBENT
    assert ("too often for chance" in one.stop) == (each == (3, 1))


def test_a_gait_that_is_no_better_is_hardly_ever_confirmed_early():
    """Both fall half of the time, so that variances are no guide."""
    rng = np.random.default_rng(6)
    early = 0
    for _ in range(100):
        one = search(k=8)
        run(one, lambda *_: Outcome(0.0, fell=True) if rng.random() < 0.5 else rng.normal(1.0, 0.05))
        early += "too often for chance" in one.stop
    assert early < 0.1 * 100


@pytest.mark.parametrize(
    ("trials", "better", "least", "most"), [(20, -1, 0, 8), (5, -1, 0, 30), (5, 1, 80, 100)]
)
def test_how_often_other_gaits_are_handed_over(trials, better, least, most):
    """If all are better or worse than the incumbent by a standard deviation of a trial."""
    rng = np.random.default_rng(5)
    others = 0
    for _ in range(100):
        one = search(trials=trials)
        run(one, lambda row, _: rng.normal(1.0 if row == INCUMBENT else 1.0 + better))
        others += one.recommendation() != INCUMBENT
    assert least <= others <= most


class Scripted(Selector):
    """Tries the gaits of a list, and is satisfied then; expects of each what it was told to.

    Of gaits that were tried it expects the mean of their trials, but of the incumbent always the same.
    """

    def __init__(self, order, expected, *, falls=None, refined=(), **settings):
        k = len(expected)
        super().__init__(Context(Prior(np.ones(k), np.zeros((k, 1)), -1.0), **{"trials": 12} | settings))
        self.order, self.expected = list(order), np.array(expected, float)
        self.fall_probability = None if falls is None else np.array(falls, float)
        self.refined = tuple(
            RefinedGait(np.zeros(1), row=row, parent=0, score=1.0, before=0.0, episodes=1, believed=())
            for row in refined
        )

    fall_probability = None
    refined = ()

    @property
    def predicted(self):
        predicted = self.expected.copy()
        for row, mean in self.means().items():
            predicted[row] = predicted[row] if row == 0 else mean
        return predicted

    @property
    def worth(self):
        worth = np.zeros(len(self.expected))
        worth[self.order] = np.arange(len(self.order), 0, -1)
        return worth

    def _satisfied(self):
        return None if set(self.order) - set(self.rows) else "one more trial would gain 0.0%"


def scripted(outcomes, *arguments, nowhere=0.1, **settings):
    """A search in which gaits do in their trials what is scripted, the last of it again and again.

    The incumbent is gait 0. Returns the search and the rows that were tried.
    """
    one = ConfirmedSearch(Scripted(*arguments, **settings), 0, nowhere=nowhere)
    scripts = {row: list(some) for row, some in outcomes.items()}

    def measure(row, _):
        script = scripts[row]
        objective = script.pop(0) if len(script) > 1 else script[0]
        return Outcome(float(objective), isinstance(objective, str))  # a text: what it did before it fell

    return one, [row for row, _ in run(one, measure)]


RUNS = {
    # name: outcomes by row, order and expectations of the selector, settings, rows tried, row handed over
    "a last fall is kept for a gait that walked": (
        {0: ["-0.26"], 1: [4.19], 2: ["0.4"], 3: [5.51, "3.0"]},
        (1, 2, 3), (-0.3, 4, 4, 5), {"trials": 6, "max_falls": 3}, [0, 1, 2, 1], 1,
    ),
    "what walked is handed over though no fall is left to confirm it": (
        {0: ["-0.26"], 1: [4.19], 2: [5.51, "3.0"]},
        (1, 2), (-0.3, 4, 5), {"trials": 6, "max_falls": 2}, [0, 1, 2, 2], 1,
    ),
    "with no trial left, what walked now and then replaces what always fell": (
        {0: ["-0.1"], 1: [14.0, "2.2"], 2: [10.4, "3.7"]},
        (1, 2), (-0.1, 14, 10), {"trials": 5}, [0, 1, 2, 1, 2], 1,
    ),
    "even if it fell at once, once": (
        {0: ["-0.1"], 1: [14.0, "-0.2"], 2: ["3.7"]},
        (1, 2), (-0.1, 14, 10), {"trials": 4}, [0, 1, 2, 1], 1,
    ),
    "and the old one stands still": (
        {0: [-0.1], 1: [13.0, "-2.4"], 2: ["0.1"]},
        (1, 2), (-0.1, 11, 5), {"trials": 4}, [0, 1, 2, 1], 1,
    ),
    "but not what does worse on average": (
        {0: ["0.4", "3.0"], 1: [5.0, "0.5"]},
        (1,), (0.5, 5), {"falls": (0.2, 0), "trials": 4}, [0, 1, 1, 0], 0,
    ),
    "of one trial nothing is handed over": ({0: ["-0.2"]}, (1, 2), (-0.2, 4, 3), {"trials": 1}, [0], 0),
    "of three trials the one counts in which a gait walked": (
        {0: ["-0.2"], 1: ["0.3"], 2: [3.0]}, (1, 2), (-0.2, 4, 3), {"trials": 3}, [0, 1, 2], 2,
    ),
    "all gaits that walked have their turn": (
        {0: ["-0.1"], 1: [5.0, "4.0"], 2: [4.0, "3.0"], 3: [3.0]},
        (1, 2, 3), (-0.1, 5, 4, 3), {}, [0, 1, 2, 3, 1, 2, 3, 3, 3], 3,
    ),
    "a refined gait is tried before a search ends while the incumbent falls": (
        {0: ["0.5"], 3: [2.0]},
        (), (0.0, -0.2, 1.0, 2.0), {"refined": (2, 3), "trials": 8}, [0, 3, 3, 3], 3,
    ),
    "also if most gaits are expected to fall": (
        {0: ["0.5"], 3: [2.0]}, (), (0.0, -0.2, 1.0, 2.0),
        {"refined": (2, 3), "falls": (0.9, 0.1, 0.9, 0.9), "trials": 8}, [0, 3, 3, 3], 3,
    ),
    "a search goes on while the incumbent falls and more is expected of another gait": (
        {0: ["-0.2"], 1: ["0.1"], 2: ["-0.1"], 3: [1.0]},
        (), (-0.2, 0.2, 0.3, 0.1, -0.5), {}, [0, 1, 2, 3, 3, 3, 3], 3,
    ),
    "a selector that is satisfied with a gait that stays up is believed": (
        {0: [0.2]}, (), (0.2, 0.3, 0.2, 0.1, -0.5), {}, [0], 0,
    ),
    "nothing promises more": ({0: ["-0.2"]}, (), (-0.2, -0.3, -0.5), {}, [0], 0),
    "a refined gait that may fall is not tried once another one walks": (
        {0: ["0.5"], 1: [2.0], 2: ["0.1"]},
        (1,), (0.0, 2.0, 3.0), {"falls": (1, 0, 0.8), "refined": (2,), "trials": 8}, [0, 1, 1, 1], 1,
    ),
    "a refined gait that hardly falls is": (
        {0: ["0.5"], 1: [2.0], 2: [3.0]},
        (1,), (0.0, 2.0, 3.0), {"falls": (1, 0, 0.2), "refined": (2,), "trials": 8}, [0, 1, 2, 2, 2], 2,
    ),
    "an incumbent that is expected to get nowhere is not replayed": (
        {0: ["-0.36"], 1: [2.0], 2: [1.0]}, (1, 2), (-0.36, 2, 1), {}, [0, 1, 2, 1, 1, 1], 1,
    ),
    "nor one that is expected to fall": (
        {0: ["-0.36"], 1: [2.0], 2: [1.0]},
        (1, 2), (0.5, 2, 1), {"falls": (0.9, 0, 0)}, [0, 1, 2, 1, 1, 1], 1,
    ),
    "a gait that stays up replaces one that falls after a longer way": (
        {0: ["3.0"], 1: [2.0]}, (1,), (3.0, 2.0), {"falls": (0.9, 0)}, [0, 1, 1, 1, 1], 1,
    ),
    "a lucky gait makes way for one of which much more is expected": (
        {0: ["0"], 1: [6.0, 1.0], 2: [5.0]}, (1, 2), (0, 6, 5), {}, [0, 1, 2, 1, 2, 2, 2], 2,
    ),
    "a little more is no reason to begin anew": (
        {0: ["0"], 1: [6.0, 3.5], 2: [5.0]}, (1, 2), (0, 6, 5), {}, [0, 1, 2, 1, 1, 1], 1,
    ),
    "what got far and fell is tried again where the incumbent stands still": (
        {0: [0.0], 1: ["6.0", 6.0]}, (1,), (0.0, 6.0), {"trials": 5}, [0, 1, 1], 1,
    ),
    "and once more after its second fall": (
        {0: [0.0], 1: ["6.0", "6.0", 6.0]}, (1,), (0.0, 6.0), {"trials": 5}, [0, 1, 1, 1], 1,
    ),
    "but it is not handed over if it always falls": (
        {0: [0.0], 1: ["6.0"]}, (1,), (0.0, 6.0), {"trials": 5}, [0, 1, 1, 1], 0,
    ),
    "in few trials chance is not excluded, and what did better and should do better is handed over": (
        {0: [6.0, 0.9], 1: [18.5, 1.5, 16.0]}, (1,), (5.0, 17.0), {"trials": 5}, [0, 1, 1, 0, 1], 1,
    ),
    "not if it fell": (
        {0: [6.0, 0.9], 1: [18.5, "1.5", 16.0]}, (1,), (5.0, 17.0), {"trials": 5}, [0, 1, 1, 0], 0,
    ),
    "nor if it did worse on average": (
        {0: [6.0], 1: [8.0, 1.5]}, (1,), (5.0, 17.0), {"trials": 5}, [0, 1, 1, 0], 0,
    ),
    "a fall that nobody expects may have been chance": (
        {0: ["0.4", 0.5], 1: [2.0]}, (1,), (0.5, 2), {"falls": (0.2, 0)}, [0, 1, 1, 0, 1, 0], 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_the_order_of_trials_and_what_is_handed_over(name):
    outcomes, order, expected, settings, rows, handed_over = RUNS[name]
    one, tried = scripted(outcomes, order, expected, **settings)
    assert tried == rows
    assert one.recommendation() == handed_over
    if handed_over:
        assert one.confirmation().row == handed_over
        assert one.confirmation().passed


def test_what_a_confirmation_showed_in_words():
    one, _ = scripted({0: ["3.0"], 1: [2.0]}, (1,), (3.0, 2.0), falls=(0.9, 0))
    assert one.confirmation().words == (
        "the new gait did 1.000 ± 0.000 worse than the old one, in 3 confirmation trials against the old "
        "gait's first trial, but that always fell or got nowhere, and the new one did not"
    )
    for first, why in (("-0.26", "is confirmed"), ("6", "the old one always fell or got nowhere")):
        walks = {0: [first], 1: [4.2], 2: ["0.4"], 3: [5.5, "3"]}
        one, _ = scripted(walks, (1, 2, 3), (-0.3, 4, 4, 5), trials=6, max_falls=3)
        assert one.stop.endswith(why)
