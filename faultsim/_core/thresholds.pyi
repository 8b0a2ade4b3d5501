INT32_MAX: int
RANGES: dict[str, tuple[int, int, int]]
POWERS: tuple[str, ...]
DEFAULTS: dict[str, int]
LEAST: dict[str, int]

def get() -> dict[str, int]: ...
def set_thresholds(**values: int) -> None: ...
