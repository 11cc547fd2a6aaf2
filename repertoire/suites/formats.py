"""Numbers as a report writes them."""

import math

from repertoire.statistics import Anova, MeanInterval

NOTHING = "-"


def format_mean(interval: MeanInterval, decimals: int) -> str:
    """A mean ± its interval, to two digits of that and at least so many decimals.

    Intervals that would take more than three further decimals count as zero. A single value has no interval,
    and gets a further decimal.
    """
    reach = interval.half_width
    if math.isnan(reach):
        return f"{interval.mean:,.{decimals + 1}f}"
    if reach < 10 ** -(decimals + 3):
        return f"{interval.mean:,.{decimals}f} ± {0:.{decimals}f}"
    places = max(decimals, 1 - math.floor(math.log10(reach)))
    return f"{interval.mean:,.{places}f} ± {reach:,.{places}f}"


def format_number(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent unless it would be long."""
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        places = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
        return f"{value:,.{max(places, 0)}f}"
    return f"{value:.{digits - 1}e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def format_p(p: float | None) -> str:
    """A probability of a test; nothing where it was not done."""
    return NOTHING if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def format_anova(anova: Anova) -> str:
    """A test of variance, as the paper writes them: `Welch's F(3, 15.31) = 63320, p < 0.001`."""
    name, within = {
        "one-way": ("F", f"{anova.df_within:.0f}"),
        "Welch": ("Welch's F", f"{anova.df_within:.2f}"),
    }[anova.method]
    f = anova.statistic
    value = f"{f:.2f}" if f < 1000 else f"{f:.0f}" if f < 1e6 else format_number(f)
    p = "p < 0.001" if anova.p < 0.001 else f"p = {anova.p:.3f}"
    return f"{name}({anova.df_between}, {within}) = {value}, {p}"
