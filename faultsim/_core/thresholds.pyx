"""The thresholds of shortcuts; the contract is in thresholds.pxd."""

INT32_MAX = 2**31 - 1

#: By name: the least value, the default, and the largest one.
RANGES = {
    "first_room": (1, INT32_MAX, INT32_MAX),  # by default each array has a first size of its own
    "shared_rows": (1, 64, INT32_MAX),  # to keep them apart takes as long as to copy some hundred
    # With 8 or 32 steps, SDSC-SP2 at load 1.2 takes 1.2 and 1.3 times as long.
    "horizon_steps": (1, 16, 2**20),
    "unsorted_starts": (1, 8, INT32_MAX),
    "program_batch": (1, 256, 256),
    "single_releases": (1, 32, INT32_MAX),  # a bisection of more takes fewer searches
    "places_left": (1, 4, 4),
    "noted_looks": (0, 8, 2**20),  # a look at a job takes about as long as eight notes
    "ranked_nodes": (0, 1024, INT32_MAX),
    "failure_levels": (1, 7, 7),
    # Of 8 to 64, 16 and 32 are the fastest with 20,000 nodes; with 217 nodes none is faster by more than 5 %.
    "block_nodes": (1, 16, 64),
    # 920,000 jobs on 19,964 nodes take 4.9 s with 16, and 7.9 s with 1; with 2, small sites have sections of several
    # blocks.
    "section_blocks": (2, 16, 2**20),
    "form_jobs": (0, 4, INT32_MAX),  # to look at a form takes about as long as to look at four jobs
    # UB-HPC's week takes 4.5 s, and 6.6 s where none are stored.
    "slurm_answers": (1, 1024, 2**20),
    "far_events": (0, 4096, INT32_MAX),  # from so many events on they are not all near the processor
    "releases_room": (2, 256, 2**20),  # of 128 to 512 the fastest, with 60,000 running jobs
    "word_nodes": (0, 128, 128),
    "octet_rows": (0, 8, 8),
    "layer_bytes": (0, 4 * 2**20, INT32_MAX),
    "gain_part": (0, 4, 2**20),
    # On 32x32x64 nodes it pays beside boxes of 1,024 nodes (64), and not of 2,048 or more (32).  Small jobs take 3 to
    # 19 times as long where it is never done, and jobs of 512 nodes and more 1.5 times where it is always done.
    "slice_part": (0, 64, 2**20),
    "near_looks": (64, 2**18, INT32_MAX),
    "memo_choices": (1, 4096, 2**20),
    "single_columns": (1, 24, INT32_MAX),
    "dense_counts": (0, 2, 2**20),
    "single_bases": (0, 1, 2**20),
    "summed_terms": (1, 8, INT32_MAX),  # to find the step takes as long as to add 8
}
#: Powers of two.
POWERS = ("memo_choices", "slurm_answers")
DEFAULTS = {name: default for name, (_, default, _) in RANGES.items()}
#: Every shortcut is taken as early as possible, and every memory overflows as early as possible.
LEAST = {name: least for name, (least, _, _) in RANGES.items()}


def get():
    """The values that new states copy, by name."""
    return thresholds


def set_thresholds(**values):
    """Other values for the states that are opened from now on, for tests."""
    global thresholds
    for name, value in values.items():
        if name not in RANGES:
            raise ValueError(f"unknown threshold {name!r}; known: {', '.join(RANGES)}")
        least, _, most = RANGES[name]
        if not least <= value <= most:
            raise ValueError(f"threshold {name} is {value}; allowed: {least} to {most}")
        if name in POWERS and value & (value - 1):
            raise ValueError(f"threshold {name} is {value}; allowed: powers of two")
    thresholds = {**thresholds, **values}


thresholds = DEFAULTS
