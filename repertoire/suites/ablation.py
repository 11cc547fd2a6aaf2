"""The paper's ablation: sep-CMA-MAE with several archive learning rates (Tjanaka et al. 2023, Sec. V)."""

from collections.abc import Sequence
from pathlib import Path

from repertoire.suites.document import Block, Heading, Picture
from repertoire.suites.gait_experiment import GaitExperiment
from repertoire.suites.gait_study import Variant
from repertoire.suites.learning_rates import draw_learning_rates
from repertoire.suites.published_ablation import ABLATION, LEARNING_RATES, variant_name
from repertoire.suites.trials import Trials

_ALGORITHM = "sep-cma-mae"


def learning_rate_variants(learning_rates: Sequence[float]) -> tuple[Variant, ...]:
    """One algorithm with each of some archive learning rates."""
    return tuple(Variant(variant_name(rate), _ALGORITHM, rate) for rate in learning_rates)


def _illustrate(trials: Trials, folder: Path) -> list[Block]:
    """A picture of QD score over the learning rate."""
    picture = folder / "learning_rates.png"
    draw_learning_rates(trials, picture)
    caption = (
        "Corrected QD score over the archive learning rate: mean over trials and its 95% interval. Dashed, "
        "on the axis to the right: the paper's means."
    )
    return [Heading("Learning rates", 3), Picture(picture, caption)]


ABLATION_STUDY = GaitExperiment(
    name="ablation",
    title="Archive learning rates in sep-CMA-MAE",
    published=ABLATION,
    variants=learning_rate_variants(LEARNING_RATES),
    illustrate=_illustrate,
)
