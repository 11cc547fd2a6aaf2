"""What the report says in words."""

DEFINITIONS = (
    "Oracle: the controller of the repertoire that does best on the damaged robot, found by trying all of "
    "it, and the most promising again. It is chosen by some episodes and scored by others.",
    "Recovery ratio, RR@t: what the controller recommended after t trials is truly worth, as a share of the "
    "oracle, from 0 to 1. It is scored by episodes that no selector saw, never by what a trial showed.",
    "RR_0: the same without adaptation, for the controller that the healthy robot would use. A damage is "
    "binding if RR_0 is below 0.9. Tables are of binding damages unless they say otherwise.",
    "T90, T95: the first trial with RR of at least 0.9 or 0.95; the median over all recoveries, - if half of "
    "them never get there. solved@t: share of recoveries with RR@t of at least 0.9.",
    "AURC: RR averaged over all trials. CVaR10: mean of the worst tenth of the last RR. falls@10: falls in "
    "the first ten trials.",
    "stop, RR@stop: where the method would have stopped by its own rule, and the ratio there. Recoveries go "
    "on to the last trial all the same.",
    "Headroom: the oracle as a share of the intact robot's, which the repertoire limits. Retention: the same "
    "of what was recommended last, which is what a user feels.",
    "RR@t and AURC are interquartile means. Intervals are of 95%, by a bootstrap over seeds within each "
    "damage.",
)
TRACKS = (
    "All selectors get the same repertoire, trials and noise. What differs between tracks is the library of "
    "rehearsed damages, which only the methods that use one see; the others have the same result in all "
    "tracks with the same robot."
)
PAIRED = (
    "The unit is a damage, and its value the mean over seeds. Difference of rehearsed and the rival, with "
    "Student's 95% interval; Hedges' g of the paired differences; the matched-pairs rank-biserial "
    "correlation; damages in which rehearsed is better, ties counted as half; p of the Wilcoxon signed-rank "
    "test, adjusted for the number of rivals (Holm). All damages."
)
SIMULATED = (
    "The same recoveries on the simulated robot, trial by trial and to the method's own stop, beside the "
    "mean of the replays from the same damage. A simulated recovery begins with the controller that was in "
    "use, and its trials have the noise of their episodes alone."
)
