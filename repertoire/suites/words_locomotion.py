"""What the reports of the studies of locomotion say beside their numbers."""

from repertoire.suites.published import Words

PYBULLET = "they were measured in PyBullet, another physics engine"

READING = (
    "Mean over trials ± half the width of its 95% interval (Student's t). Bold: the best mean of the column, "
    "with those that look the same in the paper's digits. Metrics are corrected: every elite of the final "
    "archive runs fresh episodes, and enters a new archive with its mean objective and measures.",
    "Beside ours stands the paper's mean. Robots and tasks follow the same definitions, but MuJoCo simulates "
    "them here and PyBullet there: objectives are not comparable number for number, nor are QD scores, which "
    "also count from another minimum objective. What can be compared is how algorithms relate.",
)
_TIME = (
    "Time is the processor time of training, of all threads together, evaluations included; in the paper "
    "it is the wall clock beside 100 CPUs. Episodes of robots that fall late cost more than those of robots "
    "that fall at once: time depends on what an algorithm finds, and not only on what it computes.",
    "Space is the memory of emitters and of both archives, the one that guides the search and the one that "
    "is kept, where these are not the same; the paper's numbers are about those of one archive of float32.",
)

WORDS = Words(
    results="Results (the paper's Table III)",
    tests="Tests (the paper's Tables IV and V)",
    supported=(
        "A domain supports a hypothesis if in every pair of algorithms that it speaks of the first is "
        "significantly below the second: of H3 and H5 each algorithm and every later one, of H4 each "
        "baseline and every variant, of H6 each variant and every method with deep reinforcement learning. "
        "Pairs of which an algorithm did not run are not tested."
    ),
    reading=(*READING, *_TIME),
    costs=(
        "Of training, without the correction. Wall clock, added up over interruptions; processor time of all "
        "threads; and what of the wall clock went into the search (ask, add, tell) and into evaluating "
        "solutions. Memory is that of emitters and archives. Times are means ± as above, memory and restarts "
        "are means."
    ),
    curves=(
        "QD score over evaluations: mean over trials and its 95% interval. It is not corrected: elites count "
        "with the one episode that got them their cell."
    ),
    archives=(
        "Corrected archive of the trial with the median QD score. Of two measures the first runs to the "
        "right, the second upwards; of four the first two choose a block, the last two a square within it; "
        "of a single one the objectives stand over it."
    ),
)
