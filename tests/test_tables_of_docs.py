"""Figures in the pages of documentation that a committed file holds are what that file says."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import surefoot
from adapt.damage.parts import RobotParts
from robots.robot import load_robot
from suites.paper.results import read_trial
from suites.recovery.metrics import worst_tenth
from suites.recovery.results import BINDING
from suites.statistics import mean_interval
from suites.transfer.stage import legs_of

ROOT = Path(__file__).parent.parent
RESULTS, BENCHMARKS = ROOT / "docs" / "results", ROOT / "docs" / "benchmarks"
STUDIES, HELPED, RECOVERY, EARLIER, RELEARNING, MISSIONS, PHYSICS, INCLUDED = (
    (RESULTS / f"{name}.md").read_text()
    for name in (
        "studies",
        "what-helped",
        "recovery",
        "recovery-earlier",
        "relearning",
        "missions",
        "physics",
        "included",
    )
)
CALIBRATION = (ROOT / "docs" / "explanations" / "calibration.md").read_text()
ROBOTS = ("hopper", "walker", "half_cheetah", "ant")  # the columns of the table of the study of robots


def table_below(text: str, header: str) -> dict[str, list[str]]:
    """The cells of the table with this header by the first cell of each row."""
    lines = text[text.index(header) :].splitlines()
    rows = lines[2 : next(number for number, line in enumerate(lines) if not line.startswith("|"))]
    cells = [[cell.strip(" `*") for cell in row.strip("|").split("|")] for row in rows]
    return {first: rest for first, *rest in cells}


def interval(values: pd.Series, printed: str) -> tuple[str, str]:
    """A mean and the half width of its interval, with as many decimals as are printed."""
    found, decimals = mean_interval(values.to_numpy()), len(printed.split(" ± ")[0].partition(".")[2])
    return f"{found.mean:.{decimals}f} ± {found.half_width:.{decimals}f}", printed


def trials(study: str) -> pd.DataFrame:
    found = pd.read_csv(RESULTS / study / "trials.csv")
    return found.assign(score=found["qd_score"] / 1e6)


def test_the_scores_of_the_study_of_robots() -> None:
    every, shown = trials("locomotion"), table_below(STUDIES, "| corrected QD score [10⁶] | Hopper")
    for algorithm, cells in shown.items():
        for robot, cell in zip(ROBOTS, cells, strict=True):
            own = every[(every["domain"] == robot) & (every["algorithm"] == algorithm)]
            found, printed = interval(own["score"], cell)
            assert found == printed, (algorithm, robot)


def test_how_many_findings_of_the_study_of_robots_are_the_papers() -> None:
    """Of cells such as `< / >`, here and in the paper, where both signs decide."""
    report = (RESULTS / "locomotion" / "report.md").read_text()
    rows = table_below(report[report.index("### Pairs of algorithms") :], "| QD score | ant |")
    found: Counter[tuple[bool, bool]] = Counter()
    for pair, cells in rows.items():
        for cell in cells:
            here, _, there = cell.partition(" / ")
            if {here, there} <= {"<", ">"}:
                found["me-es" in pair, here == there] += 1
    me_es, others = (found[of, True] + found[of, False] for of in (True, False))
    same = found[True, True], found[False, True]
    words = f"{me_es + others} can be decided both by the paper and here, and {sum(same)} of these findings"
    assert words in " ".join(STUDIES.split())
    assert f"{me_es} of the {me_es + others} are about `me-es`, and all {same[0]} agree" in STUDIES
    assert f"Of the other {others} findings, {same[1]} agree" in STUDIES
    assert same[0] == me_es


def test_the_table_of_the_longer_study_of_the_hopper() -> None:
    every, shown = trials("hopper-500k"), table_below(STUDIES, "| Hopper, one trial |")
    assert sorted(every["algorithm"]) == sorted(shown), "a row for each trial"
    for own in every.itertuples():
        scores = read_trial(RESULTS / "hopper-500k" / "trials" / "hopper" / f"{own.algorithm}-00.h5").history
        rows = np.searchsorted(scores["evaluations"], (30_000, 100_000, 250_000, 500_000))
        *trained, corrected, coverage, best = shown[own.algorithm]
        assert trained == [f"{scores['qd_score'][row] / 1e6:.3f}" for row in rows]
        assert (corrected, coverage, best) == (f"{own.score:.3f}", f"{own.coverage:.0%}", f"{own.best:,.0f}")


def test_the_table_of_the_ablation() -> None:
    every = trials("ablation")
    for rate, cells in table_below(STUDIES, "| learning rate | corrected QD score").items():
        own = every[every["algorithm"] == f"alpha-{rate}"]
        assert len(own) == 6
        for column, cell in (("score", cells[0]), ("best", cells[2])):
            found, printed = interval(own[column], cell)
            assert found == printed, (rate, column)
        assert f"{own['coverage'].mean():.0%}" == cells[1]


@pytest.mark.parametrize("robot", ["ant", "hopper", "walker"])
def test_the_runs_of_the_papers_size(robot: str) -> None:
    elites = pd.read_csv(RESULTS / robot / "elites.csv")
    last = pd.read_csv(RESULTS / robot / "history.csv").iloc[-1]
    rows = table_below(STUDIES, "| | QD score [10⁶] | coverage | best |")
    trained, corrected = (
        rows[f"{robot.title()}, this trial, {what}"] for what in ("as trained", "corrected")
    )
    assert trained == [f"{last['qd_score'] / 1e6:.3f}", f"{last['coverage']:.0%}", f"{last['best']:,.0f}"]
    found, cells = elites["objective corrected"].dropna(), round(last["elites"] / last["coverage"])
    assert corrected[1:] == [f"{len(found) / cells:.0%}", f"{found.max():,.0f}"]
    worst = load_robot(robot).description.min_objective.value
    assert corrected[0] == f"{(found - worst).sum() / 1e6:.3f}"
    if robot == "ant":
        lost = f"{last['elites'] - len(found):.0f} of {last['elites']:,.0f}"
        assert f"more than half of the Ant's elites out of the archive, {lost}, since" in STUDIES
        known = json.loads((RESULTS / robot / "run.json").read_text())
        assert known["corrected"]["qd_score"] == pytest.approx((found - worst).sum(), rel=1e-5)
        assert known["median"]["reproducibility"] == 0  # "none ends in its cell, as a median"
        assert (known["settings"]["algorithm"], known["settings"]["seed"]) == ("sep-cma-mae", 1)
    if robot == "walker":
        spread = elites["objective std"].median()
        assert f"has a standard deviation of {spread:.0f} over episodes" in STUDIES
    if robot == "hopper":
        assert f"{1 - len(found) / cells:.0%}\nof the cells are empty after the correction" in STUDIES


@pytest.mark.parametrize(
    ("domain", "row"), [(domain, row) for domain in ("sphere-100", "arm-100") for row in ("cma", "sep-cma")]
)
def test_the_scores_with_the_published_update(domain: str, row: str) -> None:
    _, *cells = table_below(STUDIES, "| QD score [10⁶] | paper | here |")[f"{row}-mae`, {domain}"]
    for study, cell in zip(("optimization", "optimization-as-published"), cells, strict=True):
        every = trials(study)
        own = every[(every["domain"] == domain) & (every["algorithm"] == f"{row}-mae")]
        found, printed = interval(own["score"], cell)
        assert found == printed, study


def test_the_table_of_confirmations() -> None:
    every = pd.read_csv(BENCHMARKS / "recoveries.csv")
    rows = table_below(HELPED, f"| of {len(every)} gaits | found | handed over |")
    for kind, name in (("worse", "worse than the old gait"), ("as good", "as good"), ("better", "better")):
        found = [str((every[what] == kind).sum()) for what in ("found", "handed over")]
        assert rows[name] == found
    old = [str((every[what] == "the old gait").sum()) for what in ("found", "handed over")]
    assert rows["the old gait itself"] == old
    words = f"takes {every['trials'].mean():.1f} trials on average, with {every['falls'].mean():.1f} falls"
    assert words in " ".join(HELPED.split())


def test_recoveries_from_rehearsed_damages() -> None:
    every = pd.read_csv(BENCHMARKS / "recoveries-library.csv")
    found, new, robots = (every[name].value_counts() for name in ("found", "handed over", "robot"))
    words = " ".join(HELPED.split())
    assert (
        f"{len(every)} recoveries with seeds from 3 on have run, {robots['hexapod']} of the Hexapod and "
        f"{robots['quadruped']} of the Quadruped. The search found a worse gait than the old one in "
        f"{found.get('worse', 0)} of them; handed over were {new['better']} better gaits, "
        f"{new.get('as good', 0)} as good, {new['the old gait']} times the old gait, and "
        f"{new.get('worse', 0)} worse ones. A recovery took {every['trials'].median():.0f} trials as a "
        f"median, confirmation included, with {every['falls'].mean():.1f} falls on average."
    ) in words


def test_recoveries_from_damage_that_does_not_bind() -> None:
    every, words = pd.read_csv(BENCHMARKS / "recoveries-mild.csv"), " ".join(HELPED.split())
    assert set(every["handed over"]) == {"better", "the old gait"}
    assert not every["falls"].any()
    chosen, thought = (every[every["selector"] == name] for name in ("rehearsed", "self-model"))
    assert len(chosen) == 35
    better, old = (chosen["handed over"].value_counts()[what] for what in ("better", "the old gait"))
    assert (
        f"handed over a better gait in {better} of them and the old one in {old}, in "
        f"{chosen['trials'].mean():.1f} trials on average and without a fall"
    ) in words
    better, old = (thought["handed over"].value_counts()[what] for what in ("better", "the old gait"))
    assert (
        f"handed over a better gait in {better} of them and the old one in {old}, in "
        f"{thought['trials'].mean():.1f} trials on average and without a fall. No gait was worse."
    ) in words
    parts, healthy = RobotParts(load_robot("hexapod")), thought["cause"] == "healthy"
    right = np.array(
        [
            cause != "unknown" and legs_of(damage, parts) == legs_of(cause, parts)
            for damage, cause in zip(thought["damage"], thought["cause"], strict=True)
        ]
    )
    told = [thought.loc[rows, "probability"].mean() for rows in (healthy | True, healthy, ~healthy)]
    kept = (thought.loc[healthy, "handed over"] == "the old gait").sum()
    assert (
        f"the mean that is told is {told[0]:.2f}, and {right.mean():.0%} of the likeliest causes are of the "
        f"right parts. Where little changes, little can be told: {healthy.sum()} of the {len(thought)} end "
        f'with "healthy", told with {told[1]:.2f} as a mean. It keeps the old gait in {kept} of these. '
        f'In the other {(~healthy).sum()}, three of them "unknown", the mean that is told is {told[2]:.2f}, '
        f"and {right[~healthy].mean():.0%} are of the right parts."
    ) in " ".join(RECOVERY.split())
    assert (thought["cause"] == "unknown").sum() == 3


@pytest.mark.parametrize(
    ("robot", "header"),
    [
        ("hexapod", "| the Hexapod, 20,000 evaluations |"),
        ("ant", "| the Ant, 40,000 evaluations |"),
        ("hopper", "| the Hopper, 40,000 evaluations |"),
    ],
)
def test_the_table_of_training_on_randomised_models(robot: str, header: str) -> None:
    every = pd.read_csv(BENCHMARKS / "randomised.csv")
    own = every[every["robot"] == robot]
    assert f"{own['evaluations'].unique().item():,} evaluations" in header
    shown = table_below(HELPED, header)
    assert len(shown) == len(own)
    for (_, row), (name, cells) in zip(own.iterrows(), shown.items(), strict=True):
        assert name == f"{'nominal' if row['models'] == 1 else 'randomised'}, seed {row['seed']}"
        decimals, columns = 1, ["nominal distance", "gap distance", "gap worst tenth", "pybullet distance"]
        if robot == "hexapod":
            decimals, columns = 2, columns[:3]
            assert row[["nominal falls", "gap falls"]].to_list() == [0, 0]
        told = [f"{row[column]:.{decimals}f} m" for column in columns]
        if robot != "hexapod":
            told[1] += f", {1 - row['gap falls']:.0%}"
            told[3] += f", {1 - row['pybullet falls']:.0%}"
        assert cells == told
    assert own.groupby("models")["seed"].count().to_list() == [3, 3]
    nominal, varied = own.groupby("models")["gap distance"].mean()
    words = {"ant": f"{nominal:.1f} m and {varied:.1f} m as means", "hexapod": "Not for the Hexapod"}
    assert words.get(robot, f"{varied:.1f} m instead of {nominal:.1f} m as a mean") in HELPED


def test_the_table_of_training_with_damage() -> None:
    every = pd.read_csv(RESULTS / "damage-share.csv")
    every["kind"] = every["damage"].str.partition(":")[2]
    hexapod, ant = (every[every["robot"] == robot] for robot in ("hexapod", "ant"))
    for share, cells in table_below(HELPED, "| share | Hexapod: corrected elites").items():
        own = hexapod[hexapod["share"] == float(share)]
        distances = [own.loc[own["kind"] == kind, "distance"].mean() for kind in ("", "lost", "dead")]
        assert cells[:4] == [
            f"{own.groupby('seed')['corrected_elites'].first().mean():.0f}",
            *(f"{distance:.2f}" for distance in distances),
        ], share
        own = ant[ant["share"] == float(share)].groupby(["kind", "seed"])
        assert cells[4:] == [
            ", ".join(f"{value:.0f}" for value in own["corrected_elites"].first()[""]),
            *(
                ", ".join(f"{value:.1f}" for value in own["distance"].mean()[kind])
                for kind in ("", "lost", "dead")
            ),
        ], share
    lost = hexapod[hexapod["kind"] == "lost"].groupby(["share", "seed"])["distance"].mean().unstack("share")
    for share, words in ((0.25, "a share of 0.25"), (0.5, "0.5")):
        gains = lost[share] - lost[0.0]
        found = mean_interval(gains.to_numpy())
        assert f"by {found.mean:.2f} ± {found.high - found.mean:.2f} m with {words}" in HELPED


def test_how_mild_the_binding_random_faults_are() -> None:
    every = pd.read_csv(RESULTS / "recovery-simulated" / "hexapod-T4" / "recoveries.csv")
    binding = every[(every["selector"] == "self-model") & (every["rr_0"] < 0.9)]
    mild = (binding["rr_0"] > 0.5).sum()
    words = f"under {mild} of the {len(binding)} random faults of known kinds it still gets more than half"
    assert words in " ".join(EARLIER.split())


def test_the_means_of_left_out_kinds() -> None:
    folder = RESULTS / "recovery-simulated"
    names = ("hexapod-T4-left-out", "hexapod-T4-left-out-seed-5")
    first = pd.read_csv(folder / names[0] / "recoveries.csv")
    both = pd.concat([first, pd.read_csv(folder / names[1] / "recoveries.csv")])
    means = []
    for every in (first, both):
        own = every[(every["rr_0"] < 0.9) & (every["selector"] == "self-model")]
        means.append(" and ".join(f"{own[f'rr_{trial}'].mean():.2f}" for trial in (2, 5)))
    assert f"means of the first two rows after 2 and 5 trials are {means[0]}, and {means[1]}" in EARLIER


def test_the_errors_of_physics_settings() -> None:
    every = json.loads((BENCHMARKS / "physics.json").read_text())
    rows = table_below(PHYSICS, "| error: median, 90th percentile |")
    for name, cells in rows.items():
        settings = every[name.lower().replace("-", "_")]["settings"]
        methods = [f"{steps} x implicitfast" for steps in (2, 3, 4, 6, 8)]
        for method, cell in zip([*methods, "2 x rk4"], cells, strict=True):
            known = settings[method]
            median, ninth = (float(text.strip("%")) for text in re.split(", ", cell))
            assert median == pytest.approx(100 * known["error"], abs=0.06), (name, method)
            assert ninth == pytest.approx(100 * known["error_90"], abs=0.51 if ninth >= 10 else 0.06)
    assert len(rows) == 4


def test_the_ant_at_running_speed_next_to_pybullet() -> None:
    known = json.loads((BENCHMARKS / "running.json").read_text())
    rows = table_below(PHYSICS.replace("\n  |", "\n|"), "| | here | PyBullet |")
    *walks, falls = rows.values()
    for number, simulator in enumerate(("surefoot", "pybullet")):
        gaits = known[simulator]
        columns = [[gait[name] for gait in gaits] for name in ("distance", "objective")]
        columns += np.array([gait["contacts"] for gait in gaits]).T.tolist()
        for cells, column in zip(walks, columns, strict=True):
            found, printed = interval(pd.Series(column), cells[number].replace(",", ""))
            assert found == printed
        assert falls[number] == f"{sum(gait['fell'] for gait in gaits) * known['episodes']:.0f}"
    further = sum(
        there["distance"] > here["distance"]
        for here, there in zip(known["surefoot"], known["pybullet"], strict=True)
    )
    assert (further, len(known["surefoot"])) == (1, 10)  # "nine of ten come less far in PyBullet"


TRANSFER = RESULTS / "transfer"
WORLDS = {  # rows of the table of gaits
    "32 other models": "gap",
    "... with ranges 1.5 times as wide": "wide",
    "half the timestep": "timestep",
    "another integrator and solver": "solver",
    "elliptic friction cones": "elliptic",
    "softer contacts": "soft",
    "motors that lag 20 ms": "lag",
    "motors with less torque at speed": "torque-speed",
    "encoders of 10 bits": "encoders",
    "ground uneven by 1 cm": "ground",
    "all of these, but for other models": "together",
    "PyBullet's own environment": "pybullet",
}


def test_the_table_of_gaits_where_they_were_not_trained() -> None:
    found = pd.read_csv(TRANSFER / "gaits.csv").set_index("case")
    text = (RESULTS / "transfer.md").read_text()
    rows = table_below(text, "| | Hexapod | Ant |")
    assert set(rows) == set(WORLDS)
    for row, world in WORLDS.items():
        for robot, cell in zip(("hexapod", "ant", "million"), rows[row], strict=True):
            case = f"{robot}-{world}"
            if case not in found.index:
                assert cell == "", case
                continue
            own = found.loc[case]
            figures = [f"{own['mean']:.2f}", f"{own['worst tenth']:.2f}", f"{own['upright']:.0%}"]
            assert cell == ", ".join(figures), case


def test_the_recoveries_of_the_ant_in_pybullet() -> None:
    files = [RESULTS / "transfer-recoveries" / name / "recoveries.csv" for name in ("ant", "ant-locked")]
    found = pd.concat(map(pd.read_csv, files)).set_index("damage")
    metres = found[["old gait", "recovered"]].mul(found["best"], axis=0)
    text = (RESULTS / "transfer.md").read_text()
    shown = table_below(text, "| fault | old gait |")
    assert set(shown) == set(found.index)
    for damage, cells in shown.items():
        own, (old, new) = found.loc[damage], metres.loc[damage]
        assert cells == [
            f"{old:.1f} m",
            f"{own['best']:.1f} m",
            f"{new:.1f} m" + (", refined" if own["refined"] else ""),
            "the right leg" if own["right part"] else own["diagnosis"],
        ], damage
    old, new = metres.mean()
    words = " ".join(text.split())
    assert f"walks {new:.1f} m as a mean, {new / old:.1f} times as far as with the old gait" in words
    ratios = found["recovered"]
    assert f"repertoire is {ratios.mean():.2f}, their median {ratios.median():.2f}, and one of them" in words
    assert f"`back_right:locked`, is {ratios.max():.1f}; all ten distances together are" in words
    assert f"are {metres['recovered'].sum() / found['best'].sum():.2f} of those of the best gaits" in words
    assert (metres["recovered"] > metres["old gait"]).all()
    assert found["right part"].sum() == 9
    row = (
        f"{new:.1f} m as a mean over ten faults, {new / old:.1f} times as far as the old gait; one fall in 60"
    )
    assert row in (ROOT / "README.md").read_text()
    assert [round(60 * found[falls].mean()) for falls in ("falls", "old gait falls")] == [1, 1]
    assert f"dead and weak legs alone the mean is {metres['recovered'].iloc[:6].mean():.1f} m" in words


def test_the_recoveries_of_the_ant_on_robots_that_differ() -> None:
    every = pd.read_csv(BENCHMARKS / "fits-alone.csv").set_index("damage")
    before, now = (every[every["version"] == version] for version in ("before", "now"))
    shown = table_below(HELPED, "| fault | old gait | before | now |")
    assert list(shown) == list(now.index)
    for damage, cells in shown.items():
        told = [
            f"{own['recommended']:.1f} m" + (", refined" if own["refined"] else "")
            for own in (before.loc[damage], now.loc[damage])
        ]
        assert cells == [f"{now.loc[damage, 'old gait']:.1f} m", *told], damage
    old, new = now["old gait"].mean(), now["recommended"].mean()
    assert f"as a mean it makes {new:.1f} m instead of {before['recommended'].mean():.1f} m" in HELPED
    report = pd.read_csv(RESULTS / "transfer-recoveries" / "ant-gap" / "recoveries.csv").set_index("damage")
    for figure, what in (("recommended", "recovered"), ("old gait", "old gait")):
        assert now[figure].to_numpy() == pytest.approx(report[what] * report["best"], abs=0.01)
    words = f"{new:.1f} m as a mean over six faults, {new / old:.1f} times as far as the old gait"
    assert words in (ROOT / "README.md").read_text()
    assert words in " ".join((RESULTS / "transfer.md").read_text().split())
    assert round(36 * now["falls"].mean()) == 1


def test_how_much_a_fit_must_explain() -> None:
    every = pd.read_csv(BENCHMARKS / "fits-shares.csv")
    shown = list(table_below(HELPED, "| what is known, and the share |").values())
    ratios = every[[f"after {trial}" for trial in (2, 3, 5)]].div(every["best"], axis=0)
    groups = ratios.groupby([every["track"], every["share"]], sort=False)
    for cells, (group, own) in zip(shown, groups, strict=True):
        last, whole = (
            own["after 5"].to_numpy(),
            every.loc[own.index, "after 5"] / every.loc[own.index, "whole"],
        )
        numbers = [*own.mean(), worst_tenth(last)]
        assert cells == [str(len(own)), *(f"{one:.2f}" for one in numbers), f"{whole.mean():.0%}"], group
    report = pd.read_csv(RESULTS / "recovery-simulated" / "hexapod-relearning-T0-left-out" / "recoveries.csv")
    alone = every[(every["track"] == "T0-left-out") & (every["share"] == 30)]
    known = ratios.loc[alone.index, "after 5"].groupby(alone["damage"]).mean()
    np.testing.assert_allclose(report.set_index("damage")["rr_5"].sort_index(), known, atol=1e-3)
    assert f"it is {shown[1][3]} over 18 faults of such kinds" in RECOVERY
    last = every.assign(rr=ratios["after 5"]).pivot_table("rr", index=["track", "damage"], columns="share")
    change = (last[30] - last[60]).groupby("track", sort=False)
    words = [
        "none",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
    ]
    better, worse = (
        {t: words[n] for t, n in (sign * change.obj > 0.03).groupby("track").sum().items()}
        for sign in (1, -1)
    )
    assert (
        f"Without a library {better['T0-left-out']} of 18 recoveries end better by more than 0.03 and "
        f"{worse['T0-left-out']} worse, with it {better['T4-left-out']} better and {worse['T4-left-out']} "
        f"worse. On robots that differ {better['T4-gap']} of four changes by more than 0.03"
    ) in HELPED
    assert worse["T4-gap"] == "none"


def test_the_recoveries_of_the_ant_where_robots_differ_more() -> None:
    found = pd.read_csv(RESULTS / "transfer-recoveries" / "ant-wide" / "recoveries.csv").set_index("damage")
    old, new = found[["old gait", "recovered"]].mul(found["best"], axis=0).mean()
    text = " ".join((RESULTS / "transfer.md").read_text().split())
    assert f"{new:.1f} m as a mean over six faults, {new / old:.1f} times as far as the old gait. All" in text
    assert found["right part"].all()
    assert found["falls"][found["falls"] > 0].round(2).to_dict() == {
        "back_right:dead": 0.5,
        "front_left:dead": 0.17,
    }
    worst = found.loc["front_left:dead"]
    assert (
        f"makes {worst['recovered'] * worst['best']:.1f} m and the best gait found {worst['best']:.1f} m"
        in text
    )
    assert f"Where these vary 1.5 times as much {new:.1f} m, four falls" in (ROOT / "README.md").read_text()


def test_the_recoveries_of_the_hexapod_on_robots_that_differ() -> None:
    found = pd.read_csv(RESULTS / "transfer-recoveries" / "hexapod-gap" / "recoveries.csv")
    near, far = (found[found["case"] == f"hexapod-{name}"]["recovered"] for name in ("gap", "wide"))
    words = "end with {:.2f} and {:.2f} of the best gait, where they differ 1.5 times as much with "
    words += "{:.2f} and {:.2f}"
    assert words.format(*near, *far) in " ".join((RESULTS / "transfer.md").read_text().split())
    assert not found["falls"].any()
    assert all(
        part.split(":")[0] in own for part, own in zip(found["damage"], found["diagnosis"], strict=True)
    )


def test_the_recoveries_of_the_hexapod_with_other_physics() -> None:
    found = pd.read_csv(RESULTS / "transfer-recoveries" / "hexapod" / "recoveries.csv").set_index("damage")
    first, second = found.loc["left_front:lost"], found.loc["right_rear:dead"]
    assert (
        f"makes {first['recovered']:.2f} of the repertoire's best gait there (the old gait "
        f"{first['old gait']:.2f}), with `right_rear:dead` {second['recovered']:.2f} "
        f"({second['old gait']:.2f})"
    ) in " ".join((RESULTS / "transfer.md").read_text().split())
    assert found["refined"].all()
    assert found["old gait falls"].round(2).tolist() == [0.33, 0.33]
    assert not found["falls"].any()


def test_the_figures_of_the_readme_on_transfer_are_those_of_the_study() -> None:
    found = pd.read_csv(TRANSFER / "gaits.csv").set_index("case")
    readme = (ROOT / "README.md").read_text()
    shown = [row.split(" | ")[1] for row in readme.splitlines() if row.endswith("transfer.md) |")]
    cases = ["ant-gap", "ant-wide", "ant-pybullet", "hexapod-gap", "hexapod-together"]
    for text, case in zip(shown, cases, strict=True):
        own = found.loc[case]
        assert text.startswith(f"{own['mean']:.2f} of"), case
        assert f"worst tenth {own['worst tenth']:.2f}" in text
        upright = f"{own['upright']:.0%}"
        assert (upright in text) or (upright == "100%" and "no fall" in text), case
    metres = found["nominal"] * found["together"]
    many, one = (
        [metres[f"{name}-{world}"] for world in ("gap", "wide", "pybullet")] for name in ("ant", "million")
    )
    assert shown[0].count(f"({found.loc['ant-gap', 'together']:.2f} of all distances together)") == 1
    assert f"on one model {found.loc['million-pybullet', 'mean']:.2f}" in shown[2]
    text = " ".join((RESULTS / "transfer.md").read_text().split())
    assert (
        f"{one[0]:.1f} m after training on one model and {many[0]:.1f} m after training on many, "
        f"and {one[1]:.1f} m each"
    ) in text
    assert f"{one[1]:.1f}" == f"{many[1]:.1f}"
    assert f"randomised models make {many[2]:.1f} m, the others {one[2]:.1f} m" in text
    assert "none falls" in text
    assert (found.loc[["ant-pybullet", "million-pybullet"], "upright"] == 1).all()
    worst = found["nominal"] * found["worst tenth"]
    assert f"they make {worst['million-gap']:.1f} and {worst['ant-gap']:.1f} m" in text


def test_the_table_of_relearning() -> None:
    every = pd.read_csv(RESULTS / "recovery-simulated" / "hexapod-relearning" / "recoveries.csv")
    binding = every[every["rr_0"] < BINDING].assign(share=lambda rows: rows["rr_5"] * rows["headroom"])
    shown = table_below(RELEARNING, "| binding damages | `self-model`: ratio, share |")
    columns = ("self-model", "self-model-without-refinement", "rehearsed")
    kinds = {
        "all": ".*",
        "a lost leg": r"\w+:lost",
        "two lost legs": r"\w+:lost\+\w+:lost",
        "a dead leg": r"\w+:dead",
    }
    for column, selector in enumerate(columns):
        own = binding[binding["selector"] == selector]
        for kind, pattern in kinds.items():
            some = own[own["damage"].str.fullmatch(pattern)]
            name = f"{kind} {len(some)}" if kind == "all" else f"{kind} ({len(some)})"
            assert shown[name][column] == f"{some['rr_5'].mean():.2f}, {some['share'].mean():.0%}"
        assert shown["the worst tenth"][column] == f"{worst_tenth(own['rr_5'].to_numpy()):.2f}"
        assert shown["falls in the five trials"][column] == f"{own['falls_10'].mean():.1f}"
        assert shown["episodes of the last gait with a fall"][column] == f"{own['fallen'].mean():.0%}"
    relearned = binding[binding["selector"] == "self-model"]
    assert f"`self-model` is already {relearned['rr_2'].mean():.2f}. It is nowhere below 1.00" in RELEARNING
    assert relearned["rr_5"].min() >= 1


@pytest.mark.parametrize(
    ("robot", "header", "told"),
    [
        ("hexapod", "| robot | missions |", ["lost"]),
        ("ant", "| the Ant | missions |", ["lost", "dead"]),
        ("quadruped", "| the Quadruped | missions |", []),
    ],
)
def test_the_table_of_missions(robot: str, header: str, told: list[str]) -> None:
    every = pd.read_csv(RESULTS / "mission" / robot / "missions.csv")
    goals = every[every["task"] == "goal"]
    shown = table_below(MISSIONS, header)
    kinds = {"whole": "healthy", "a leg lost": "lost", "a leg dead": "dead", "two legs lost": "lost + lost"}
    for name, cells in shown.items():
        world, kind = name.split(", ")
        own = goals[
            goals["world"].eq("nominal" if world == "the model" else "gap") & goals["kind"].eq(kinds[kind])
        ]
        mission, plain = (own[own["method"] == method] for method in ("mission", "plain"))
        seconds = np.median(mission["seconds"].where(mission["reached"], np.inf))
        median = f"{seconds:.1f} s" if np.isfinite(seconds) else "over 90 s"
        assert cells == [
            str(len(mission)),
            f"{mission['reached'].mean():.0%}",
            median,
            f"{mission['falls'].mean():.1f}",
            f"{mission['assistances'].mean():.1f}",
            f"{plain['reached'].mean():.0%}" if len(plain) else "-",
        ], name
    if not told:
        of = {
            kind: goals[goals["kind"].eq(kind) & goals["method"].eq("mission")] for kind in ("lost", "dead")
        }
        arrived = {kind: f"{own['reached'].sum()} of {len(own)}" for kind, own in of.items()}
        assert f"{arrived['lost']} that lose a leg arrive" in (ROOT / "README.md").read_text()
        assert arrived["dead"] == "1 of 8"
        return
    own = goals[goals["world"].eq("gap") & goals["kind"].isin(told) & goals["method"].eq("mission")]
    seconds = np.median(own["seconds"].where(own["reached"], np.inf))
    words = f"{own['reached'].sum()} of {len(own)} arrive, after {seconds:.1f} s as a median"
    assert words in (ROOT / "README.md").read_text()


def test_missions_of_the_whole_ant() -> None:
    every = pd.read_csv(BENCHMARKS / "missions-ant-whole.csv")
    assert every["reached"].all()
    own, others = (every.loc[every["world"] == world, "seconds"] for world in ("nominal", "gap"))
    assert (len(own), len(others)) == (10, 20)
    words = (
        f"ten on the robot of the model took {own.min():.0f} to {np.ceil(own.max()):.0f} s, twenty on "
        f"robots that differ {others.min():.0f} to {others.max():.0f} s, {others.median():.1f} s as a median"
    )
    assert words in MISSIONS
    alarms = every.groupby("world")["alarms"].sum()
    assert alarms.to_dict() == {"nominal": 0, "gap": 3}
    assert "In three of these twenty" in MISSIONS
    assert "the whole Ant gave three false alarms" in (RESULTS / "limits.md").read_text()


def test_the_distances_of_missions() -> None:
    every = pd.read_csv(RESULTS / "mission" / "hexapod-distance" / "missions.csv")
    text = MISSIONS
    methods = ("mission", "oracle", "resets", "plain", "old")
    shown = table_below(text, "| two minutes ahead, three legs lost, three dead |")
    for method, cells in zip(methods, shown.values(), strict=True):
        found: list[str] = []
        for kind in ("lost", "dead"):
            own = every[(every["kind"] == kind) & (every["method"] == method)]
            assert len(own) == 3
            found += [f"{own['distance'].mean():.1f} m", f"{own['falls'].mean():.1f}"]
        assert cells == found, method
    whole = every.loc[every["kind"] == "healthy", "distance"].mean()
    assert f"Whole the robot walks {whole:.1f} m" in " ".join(text.split())
    worst = every[every["damage"] == "right_rear:dead"].set_index("method")
    own, oracle, resets = (worst.loc[method] for method in ("mission", "oracle", "resets"))
    assert (int(own["falls"]), int(oracle["falls"]), int(resets["falls"])) == (6, 13, 1)
    assert (
        f"makes {own['distance']:.1f} m with six falls, the robot that is told at once what broke "
        f"{oracle['distance']:.1f} m with thirteen, and with resets it is {resets['distance']:.1f} m with one"
    ) in text


def test_there_was_no_false_alarm_in_ten_healthy_hours() -> None:
    every = pd.read_csv(RESULTS / "mission" / "hexapod" / "missions.csv")
    hours = every[every["task"] == "hours"]
    assert (len(hours), hours[["falls", "alarms"]].to_numpy().sum()) == (10, 0)


def test_the_table_of_specialists_for_pairs_of_lost_legs() -> None:
    every = pd.read_csv(BENCHMARKS / "hexapod-pairs.csv")
    shown = table_below(INCLUDED, "| legs that are lost | best gait |")
    assert len(shown) == len(every) == 15
    for row in every.to_dict("records"):
        mirrored = "" if row["episodes"] else ", a mirror image"
        cells = [f"{row['best']:.2f} m", f"{row['specialist']:.2f} m{mirrored}"]
        for method in ("without", "with"):
            circles = ", in circles" if row[f"{method}_course"] == "in circles" else ""
            falls = ("", ", falls once", ", falls twice")[row[f"{method}_falls"]]
            cells.append(f"{row[method]:.2f} m{circles}{falls}")
        legs = ", ".join(leg.removesuffix(":lost").replace("_", " ") for leg in row["damage"].split("+"))
        assert shown[legs] == cells
    found, before = (every[method].mean() / 2.0475 for method in ("with", "without"))
    assert f"walks {found:.0%} of its healthy distance, {before:.0%} before" in INCLUDED
    assert f"{every['episodes'].sum():,} episodes in all" in INCLUDED
    gaits = surefoot.load("hexapod")
    assert f"also hold {len(gaits.specialists)} specialists" in INCLUDED
    assert {damage for (damage,) in gaits.specialists.damages} == set(every["damage"])


def test_the_table_of_recoveries_of_the_ant_from_lost_and_dead_legs() -> None:
    every = pd.read_csv(RESULTS / "recovery-simulated" / "ant-legs" / "recoveries.csv")
    shown = table_below(INCLUDED, "| damage | `rehearsed`: 2 trials |")
    assert set(shown) == set(every["damage"])
    for damage, cells in shown.items():
        found: list[str] = []
        for selector in ("rehearsed", "self-model"):
            (row,) = every[(every["damage"] == damage) & (every["selector"] == selector)].to_dict("records")
            found += [f"{row[f'rr_{number}'] * row['headroom']:.0%}" for number in (2, 3, 5)]
            found.append(f"{10 * row['fallen']:.0f}")
        assert cells == found, damage


def test_how_soon_the_present_gaits_of_the_ant_are_found() -> None:
    every = pd.read_csv(RESULTS / "recovery-simulated" / "ant-legs-rehearsed" / "recoveries.csv")
    shown = table_below(INCLUDED, "| damage | 2 trials |")
    assert len(shown) == len(every) == 8
    shares = {number: every[f"rr_{number}"] * every["headroom"] for number in (2, 3, 5)}
    for place, row in every.iterrows():
        figures = [f"{shares[number][place]:.0%}" for number in shares]
        assert shown[row["damage"]] == [*figures, f"{row['falls_10']:.0f}"]
    assert shares[5].min() > 0.5
    assert (shares[3] > 0.5).sum() == 6


@pytest.mark.parametrize("track", ["T4", "T4-gap"])
def test_the_ratios_of_relearning_from_random_faults(track: str) -> None:
    every = pd.read_csv(RESULTS / "recovery-simulated" / f"hexapod-relearning-{track}" / "recoveries.csv")
    binding = every[every["rr_0"] < BINDING].assign(share=lambda rows: rows["rr_5"] * rows["headroom"])
    known, words = binding.groupby("selector"), " ".join(RELEARNING.split())
    ratio, share = known["rr_5"].mean(), known["share"].mean()
    least = known["rr_5"].min()["self-model"]
    assert (
        f"ended at {ratio['self-model']:.2f} of the best gait as a mean, at least at {least:.2f}, with "
        f"{share['self-model']:.0%} of the healthy distance. Without refinement it ended at "
        f"{ratio['self-model-without-refinement']:.2f}, `rehearsed` at {ratio['rehearsed']:.2f}."
    ) in words
    assert not binding["fallen"].any()


def test_the_ratios_of_relearning_from_faults_of_unknown_families() -> None:
    every = pd.read_csv(RESULTS / "recovery-simulated" / "hexapod-relearning-left-out" / "recoveries.csv")
    binding = every[every["rr_0"] < BINDING].pivot(index="damage", columns="selector", values="rr_5")
    new, old = binding["self-model"], binding["self-model-without-refinement"]
    words, means = " ".join(RELEARNING.split()), binding.mean()
    assert (len(new), sum(new > old), sum(new < old), sum(new == old)) == (5, 1, 1, 3)
    assert (
        f"ended at {means['self-model']:.2f} of the best gait as a mean, "
        f"{means['self-model-without-refinement']:.2f} without refinement: better in one of the five"
    ) in words


def test_the_ratios_of_relearning_across_the_gap() -> None:
    every = pd.read_csv(RESULTS / "recovery-simulated" / "hexapod-relearning-gap" / "recoveries.csv")
    binding = every[every["rr_0"] < BINDING].assign(share=lambda rows: rows["rr_5"] * rows["headroom"])
    shown = table_below(RELEARNING, "| robots that differ |")
    for column, selector in enumerate(("self-model", "self-model-without-refinement", "rehearsed")):
        own = binding[binding["selector"] == selector]
        assert [cells[column] for cells in shown.values()] == [
            f"{own['rr_5'].mean():.2f}, {own['share'].mean():.0%}",
            f"{worst_tenth(own['rr_5'].to_numpy()):.2f}, {own['rr_5'].min():.2f}",
            f"{own['falls_10'].mean():.1f}",
            f"{own['fallen'].mean():.0%}",
        ], selector
    assert f"all {len(binding) // 3}" in shown


DIAGNOSES = (
    ("hexapod-relearning", "T3"),
    ("hexapod-relearning-library", "T2"),
    ("hexapod-relearning-library", "T3-limb"),
    ("hexapod-relearning-T0", "T0"),
    ("hexapod-relearning-gap", "T1"),
    ("hexapod-relearning-T4", "T4"),
    ("hexapod-relearning-T4-gap", "T4-gap"),
    ("hexapod-relearning-left-out", "T4-left-out"),
    ("ant-legs", "T2"),
)


def diagnoses(study: str, track: str) -> pd.DataFrame:
    """The last diagnoses of a self-model in recoveries from binding damages, and what is told of them."""
    every = pd.read_csv(RESULTS / "recovery-simulated" / study / "recoveries.csv")
    thought = every["selector"].str.startswith("self-model") & (every["track"] == track)
    own, parts = every[(every["rr_0"] < BINDING) & thought], RobotParts(load_robot(study.partition("-")[0]))
    right = [
        legs_of(damage, parts) == legs_of(diagnosis, parts)
        for damage, diagnosis in zip(own["damage"], own["diagnosis"], strict=True)
    ]
    return own.assign(right=right, told=own["probability"] * own["explained"])


def test_what_diagnoses_promise() -> None:
    shown = table_below(RECOVERY, "| recoveries from binding damages |")
    for (study, track), cells in zip(DIAGNOSES, shown.values(), strict=True):
        own = diagnoses(study, track).query("selector == 'self-model'")
        figures = [
            f"{own['probability'].mean():.2f}",
            f"{own['told'].mean():.2f}",
            f"{own['right'].mean():.0%}",
        ]
        assert cells == [str(len(own)), *figures], study
    every = pd.concat([diagnoses(*one) for one in DIAGNOSES])
    assert (len(every), (every["explained"] < 0.5).sum()) == (157, 8)  # "In eight of the 157"
    shown = table_below(RECOVERY, "| probability that is told |")
    limits = [0, 0.5, 0.7, 0.8, 0.9, 1]
    groups = [own for _, own in every.groupby(pd.cut(every["told"], limits), observed=False)]
    for own, cells in zip([*groups, every], shown.values(), strict=True):
        assert cells == [str(len(own)), f"{own['told'].mean():.2f}", f"{own['right'].mean():.2f}"]


def test_what_strategies_find_for_the_ant() -> None:
    every = pd.read_csv(BENCHMARKS / "searches-ant.csv")
    for damage, cells in table_below(RELEARNING, "| the Ant, 2,000 episodes |").items():
        own = every[every["damage"] == damage.strip("`")]
        assert own["strategy"].tolist() == ["sep-cma-es", "lm-ma-es", "openai-es"]
        found = [f"{row.found:.1f} m, {row.falls} falls" for row in own.itertuples()]
        assert cells == [f"{own['known'].mean():.1f} m", *found]


def test_what_strategies_find() -> None:
    every = pd.read_csv(BENCHMARKS / "searches.csv")
    names = ["cma-es", "sep-cma-es", "lm-ma-es", "openai-es", "cma-mae"]
    compared = every[every["strategy"].isin(names)].sort_values("seed")
    known, gains = compared.groupby("damage")["known"].mean(), pd.DataFrame(columns=names)
    for damage, cells in table_below(RELEARNING, "| damage | best gait of the repertoire").items():
        own = compared[compared["damage"] == damage.strip("`")].groupby("strategy")["found"]
        found = {name: own.get_group(name) for name in names}
        words = [", ".join(f"{value:.2f}" for value in values) for values in found.values()]
        assert cells == [f"{known[damage.strip('`')]:.2f}", *words], damage
        gains.loc[damage] = {name: values.mean() / known[damage.strip("`")] for name, values in found.items()}
    assert len(gains) == known.size == 6
    means = [f"{gain:.2f}" for gain in gains.mean()]
    assert f"times: {', '.join(means[:4])} and {means[4]}" in " ".join(RELEARNING.split())
    assert every["falls"].max() == 0
    ((_, limit),) = every[every["strategy"] == "default"].iterrows()
    usual = every.loc[(every["damage"] == limit["damage"]) & (every["strategy"] == "cma-es"), "found"].mean()
    assert (
        f"One search by CMA-ES of {round(limit['episodes'], -3):,} episodes, {limit['seconds'] / 60:.0f} "
        f"minutes of one core, ended at {limit['found']:.2f} m for `{limit['damage']}`. The searches of "
        f"4,000 episodes, a minute each, reach {usual / limit['found']:.0%} of that."
    ) in RELEARNING


def test_what_calibration_brought() -> None:
    found, text = pd.read_csv(BENCHMARKS / "calibration.csv"), CALIBRATION
    kinds = ("mass of torso", "mass", "friction", "strength", "delay", "damping", "offset")
    for kind, cells in zip(kinds, table_below(text, "| parameter | error").values(), strict=True):
        built, calibrated, inside = (
            found[f"{kind} {what}"].mean() for what in ("as built", "calibrated", "inside")
        )
        assert cells == [f"{built:.3f}", f"{calibrated:.3f}", f"{inside:.0%}"], kind
    words, right = " ".join(text.split()), found[["right with", "right without"]].sum()
    assert (
        f"came first in {right['right with']} of {3 * len(found)} cases with the calibration, and in "
        f"{right['right without']} without it"
    ) in words
    names = ("calibrated", "randomised", "built")
    metres = [f"{found[f'{name} [m]'].mean():.2f} m" for name in names]
    assert (
        f"walk {metres[0]} on calibrated models of it, {metres[1]} on randomised ones, and {metres[2]}"
        in words
    )
    better = [
        (found[f"{kind} calibrated"] < found[f"{kind} as built"]).sum()
        for kind in ("friction", "mass of torso")
    ]
    assert better == [7, 7]
    assert not found[[f"{name} falls" for name in names]].sum().any()


def test_what_preferring_gaits_brings_that_were_walked_with() -> None:
    every = pd.read_csv(BENCHMARKS / "missions-unproven.csv")
    text = (ROOT / "docs" / "results" / "what-helped.md").read_text()
    for name, cells in table_below(text, "| risk added | reached |").items():
        own = every[every["risk"] == (0.0 if name == "none" else float(name))]
        seconds = own["seconds"]
        assert cells == [
            f"{own['reached'].sum()} of {len(own)}",
            f"{np.floor(seconds.median() * 10 + 0.5) / 10:.1f} s",
            f"{seconds.max():.1f} s",
            str(own["falls"].sum()),
        ], name


def test_missions_without_two_legs() -> None:
    every = pd.read_csv(BENCHMARKS / "missions-pairs.csv")
    for name, cells in table_below(HELPED, "| the robot | reached | median time | in all |").items():
        own = every[every["robot"] == name]
        assert len(own) == len(set(own["damage"])) == 15
        median = np.median(own["seconds"].where(own["reached"] == 1, np.inf))
        assert cells == [
            f"{own['reached'].sum()} of 15",
            f"{median:.1f} s",
            f"{own['seconds'].sum():.0f} s",
            str(own["falls"].sum()),
        ], name
    ran = pd.read_csv(RESULTS / "mission" / "hexapod" / "missions.csv")
    ran = ran[(ran["task"] == "goal") & (ran["method"] == "mission") & (ran["kind"] != "healthy")]
    two = ran["kind"] == "lost + lost"
    text = MISSIONS
    assert f"two legs lost {ran[two]['reached'].sum()} of {two.sum()}**" in text
    assert ran[~two]["reached"].all()
    assert f"all {(~two).sum()} missions" in text
    one_side = {f"{side}_middle:lost+{side}_rear:lost" for side in ("left", "right")}
    assert set(ran.loc[~ran["reached"], "damage"]) == one_side
    differ = ran[two & (ran["world"] == "gap")]
    assert (
        f"of {len(differ)} that lose two legs {differ['reached'].sum()};" in (ROOT / "README.md").read_text()
    )


def test_missions_of_the_version_before() -> None:
    before = pd.read_csv(BENCHMARKS / "missions-before.csv").set_index(["robot", "case", "number"])
    now = pd.concat(
        pd.read_csv(RESULTS / "mission" / robot / "missions.csv")
        .query("method == 'mission'")
        .assign(robot=robot)
        for robot in ("hexapod", "ant")
    ).set_index(["robot", "case", "number"])
    now = now.loc[before.index]
    assert (now["seed"] == before["seed"]).all()
    text = " ".join(MISSIONS.split())
    old, new = before.loc["hexapod"], now.loc["hexapod"]
    words = (
        f"took {old['seconds'].mean():.1f} s as a mean before it and take {new['seconds'].mean():.1f} s now"
    )
    assert words in text
    assert f"{old['reached'].sum()} arrived, and {new['reached'].sum()} do now" in text
    old, new = before.loc["ant"], now.loc["ant"]
    words = (
        f"{old['reached'].sum()} of {len(old)} arrived before, after {old['seconds'].mean():.1f} s as a mean"
    )
    assert words in text
    assert f"and {new['reached'].sum()} do, after {new['seconds'].mean():.1f} s" in text


def test_missions_of_the_ant_by_two_versions() -> None:
    every, text = pd.read_csv(BENCHMARKS / "missions-ant-versions.csv"), " ".join(MISSIONS.split())
    now = pd.read_csv(RESULTS / "mission" / "ant" / "missions.csv").query(
        "method == 'mission' and world == 'gap'"
    )
    suite = every[every["seed"] == 1].set_index(["case", "number"])
    assert (now.set_index(["case", "number"])["seconds"].loc[suite.index] == suite["seconds now"]).all()
    assert f"and {suite['reached before'].sum()} did, after {suite['seconds before'].mean():.1f} s" in text
    before, after = (every[f"reached {when}"].sum() for when in ("before", "now"))
    assert f"{before} of {len(every)} arrived before and {after} do now" in text
    assert f"it is {after} of {len(every)} ({after / len(every):.0%})" in text
    longer = mean_interval((every["seconds now"] - every["seconds before"]).to_numpy())
    interval = f"from {longer.low:.1f} to {longer.high:.1f} s"
    words = f"take {longer.mean:.1f} s longer as a mean, with a 95% interval {interval}"
    assert words in text


def test_missions_with_repairs() -> None:
    every = pd.read_csv(BENCHMARKS / "missions-repaired.csv")
    text = MISSIONS
    for name, cells in table_below(text, "| repaired | missions |").items():
        robot = "ant" if "Ant" in name else "hexapod"
        torque = "not looked at" if "not" in name else "looked at"
        own = every[(every["robot"] == robot) & (every["torque"] == torque)]
        speeds = [own[f"speed {when}"].median() for when in ("whole", "broken", "repaired")]
        noticed = str((own["noticed"] <= 2).sum())
        assert cells == [str(len(own)), noticed, *(f"{speed:.2f} m/s" for speed in speeds)], name
        assert not own["falls"].any()
    alone = every.loc[every["torque"] == "not looked at", "noticed"]
    words = f"seven of twelve repairs, after {alone.min():.0f} to {alone.max():.0f} s"
    assert alone.notna().sum() == 7
    assert words in text
    pairs = pd.read_csv(RESULTS / "mission" / "ant-pairs" / "missions.csv")
    pairs = pairs[(pairs["method"] == "mission") & (pairs["kind"] == "lost + lost")]
    assert (pairs["reached"].sum(), len(pairs)) == (2, 6)


def test_hexaheals_rule() -> None:
    report = (RESULTS / "mission" / "hexapod" / "report.md").read_text()
    ran = pd.read_csv(RESULTS / "mission" / "hexapod" / "missions.csv")
    lost = ran[(ran["task"] == "rule") & (ran["kind"] == "lost")]
    assert set(lost.groupby("damage").size()) == {10}
    healthy = ran[(ran["task"] == "rule") & (ran["kind"] == "healthy")]
    usual = (healthy["distance"] / healthy["seconds"]).mean()
    kept = (lost["late_falls"] == 0) & (lost["late"] >= 0.5 * usual)
    assert f"{kept.sum()} of {len(lost)} missions" in MISSIONS
    assert "| nominal | lost | 60 | 90%" in report
    two = ran[(ran["task"] == "rule") & (ran["kind"] == "lost + lost")]
    kept = (two["late_falls"] == 0) & (two["late"] >= 0.5 * usual)
    words = f"{kept.sum()} of {len(two)} missions without two legs keep the rule"
    assert words in MISSIONS
    assert set(two.groupby("damage").size()) == {10}
    assert (kept.groupby(two["damage"]).sum() >= 7).sum() == 7
    assert "| nominal | lost + lost | 150 | 39%" in report
