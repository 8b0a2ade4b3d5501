"""The thresholds of shortcuts; the contract is in thresholds.pxd."""

#: By name: the least value, the default, and the largest one.
RANGES = {
    # A new plan of fewer jobs takes less time than to replay one.  Measured on SDSC-SP2, CTC-SP2 and KTH-SP2: between 32
    # and 256 nothing changes by more than 3 %.
    "deferred_queue": (0, 128, 2**31 - 1),
    # Of 8 to 64 steps, SDSC-SP2 at load 1.2 and with 2 failures a day takes the least time with 12 to 16.
    "horizon_steps": (1, 16, 2**20),
    # Of 2 to 8, none is faster by more than 3 %.
    "horizon_growth": (2, 4, 64),
    "horizon_every": (1, 8, 2**20),
    # Of 2 to 16, 2 are the fastest on all logs: a search is short, and so must be what may spare it.
    "refusals": (1, 2, 16),
}
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
    thresholds = {**thresholds, **values}


thresholds = DEFAULTS
