"""Verdicts that changed when the rules were written again, with the reason for each.

On 22 November 2026 all rules were given one count of parts, and intervals a say in every difference (see `claims` and
`parts`); some were mended besides.  The verdicts before that stand here, for pods those of its first full run; the
pages list what changed.
"""

#: Study -> verdict -> claims that had it.
BEFORE: dict[str, dict[str, str]] = {
    "krevat2002": {
        "holds": "K1 K2 K3 K4 K5 K6 K9 K10 K11 K13 K15 K16 K17 K18 K19 K22 K24 K25",
        "partly": "K7 K8 K12 K14 K20 K21 K26",
        "does not hold": "K23",
    },
    "oliner2004": {
        "holds": "O1 O2 O4 O5 O6 O15",
        "partly": "O3 O8 O9 O10 O11 O12 O14",
        "does not hold": "O7 O13",
    },
    "zhang2004": {
        "holds": "Z3 Z7 Z11 Z13 Z14 Z15 Z17 Z19",
        "partly": "Z1 Z2 Z4 Z5 Z6 Z8 Z9 Z10 Z16 Z18",
        "does not hold": "Z12",
    },
    "li2009": {
        "holds": "F1 F2 F11 F13 F15 F18 F19",
        "partly": "F3 F4 F5 F6 F7 F8 F9 F10 F12 F14 F16 F17",
    },
    "yu2010": {"holds": "L1 L2 L3 L4 L5 L7 L9 L11", "partly": "L6 L8 L10"},
    "rlscheduler": {"holds": "H1 H2 H3", "does not hold": "H4 H5 H6 H7 H8 H9 H10"},
    "bluegene": {"holds": "R3", "partly": "R1 R2 R5", "does not hold": "R4"},
    "pods": {
        "holds": "P1 P2 P3 P4 P6 P11 P13 P16 P18",
        "partly": "P5 P7 P8 P15 P17 P19",
        "does not hold": "P10 P14",
        "not judged": "P9 P12",
    },
}
#: Study -> those of its inputs that were no real logs, in the runs that gave these verdicts.
DRAWN = {"oliner2004": {"llnl"}, "zhang2004": {"fit"}, "li2009": {"exp", "weibull"}, "yu2010": {"bench"}}
#: Claim -> what was changed in its rule besides the count and the intervals.
MENDED = {
    "K23": 'the figures have utilization as their axis, so it is judged at equal utilization; "Most of the benefit '
    'of migration is achieved when we only perform migration according to our parameters" is a part of it now',
    "K26": 'section 3 says of "the SDSC log" that "these results show that B+M is significantly more effective at '
    'transforming lost capacity into unused capacity"; NASA, where it is not, is a remark, although section 5 names no '
    "log",
    "O3": "the second rise has to be clearly at most half of the first",
    "O4": "that little is left to gain from .1 to .9 has to be clear",
    "O8": "a step upward counts where it is clear, not where it may be noise",
    "O12": '"on average only" is no part any more',
    "O13": "SDSC is judged, too: the passage names no log",
    "Z2": "a rise that may be none is not counted",
    "Z4": "a rise of another size is no part any more",
    "Z5": "a larger work loss counts where it is clear",
    "Z6": "differences between loads count where they are clear",
    "Z7": "a stronger effect counts where it is clear",
    "Z8": "a difference is negligible only where its whole interval is within 10 %",
    "Z9": "marginal, and more with more failures, count where they are clear",
    "Z10": "no noticeable difference only where the whole interval is within 5 %",
    "Z11": "each number within a factor of two of the paper's, not only on its side",
    "Z16": "what falls more, but not clearly, is no part any more",
    "F5": "a fall alone, however small, was enough for partly; now it is one part of three",
    "F6": "the best on average counts where it is clear over the replicates",
    "F7": "less gain counts where it is clear over the replicates",
    "F8": "each step, level and fall counts where it is clear over the replicates",
    "F9": "the peak and each fall count where they are clear over the replicates",
    "F10": "correlations and differences have intervals now",
    "F11": "each level and the drop count where they are clear over the replicates",
    "F12": "each level and the greater fall count where they are clear over the replicates",
    "F13": "each level and the fall count where they are clear over the replicates",
    "F14": "each level, and that the corner is the least, count where they are clear over the replicates",
    "F15": "a gain above 0 counts where it is clear over the replicates",
    "F16": "at both loads of the trace, mean over all recalls, with intervals; larger on average is no part any more",
    "L9": "the whole interval of each correlation has to be within .3 of 0",
    "L10": "each level and each rise count where they are clear over the windows",
    "L11": 'the order descending is no rival of the paper\'s, so "one of the two is near" is gone',
    "P4": "hosts begin as new, and have run for 50 mean up times before they are counted; in the first full run it was "
    "1,500 repair times, 15 mean up times, which bathtub curves do not forget",
    "P7": "as P4; there it was 6 mean up times, and those cubes were healthy for 93.9 % of the time; and the "
    "availability is fitted to the statement, so that it is calibrated",
    "P10": "nothing is folded here, so that what the abstract says is not what was run",
    "P11": "the sizes and times of the jobs are not known, so that 1 % cannot be judged; in the first full run "
    "failures ended before the last jobs did",
    "P13": "the time that follows from the rate is judged, and the runs have to have it",
    "P14": "that they follow is nobody's statement; that they do not is ours",
    "W13": "under exact EASY instead of the site's Slurm, whose kills at time limits count as lost work, without a "
    "failure, and hide what failures lose",
}
#: Why, of a rule that was not mended.
COUNT = "by the common count of parts; what an interval leaves open is neither true nor false"


def before(study: str, claim: str) -> str:
    """The verdict that a claim had; empty if it is new.

    Examples
    --------
    >>> before("krevat2002", "K23"), before("krevat2002", "K99")
    ('does not hold', '')
    """
    return next((verdict for verdict, ids in BEFORE.get(study, {}).items() if claim in ids.split()), "")
