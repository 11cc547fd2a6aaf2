"""A case of the soak, and that it notices what it looks for."""

import pytest

from benchmarks import soak

SEED = 31  # of a short case


@pytest.mark.slow
def test_what_is_killed_at_random_leaves_the_files_of_an_undisturbed_run(works, tmp_path) -> None:
    out = works("soak", "--minutes", 0, "--seed", SEED, "--kills", 1, "--folder", tmp_path / "work")
    assert "case 0 was killed" in out
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_difference_is_noticed(run, monkeypatch, tmp_path) -> None:
    """Two trainings of different seeds stand for a run and what is left of it."""
    commands = iter(
        [["train", "sphere-5", "--evaluations", 300, "--seed", seed, "--out", "RUN"] for seed in (1, 2)]
    )
    monkeypatch.setattr(soak, "_plan", lambda rng, folder: iter([next(commands)]))
    monkeypatch.setattr(
        soak, "_disturb", lambda command, run, rng, *_: soak._finish(next(commands), run, rng, {0})
    )
    code, _, err = run("soak", "--minutes", 0, "--folder", tmp_path / "work")
    assert code == 2
    assert "case 0 of seed 1 left other files than undisturbed" in err
    assert (tmp_path / "work" / "part" / "repertoire.h5").exists()
