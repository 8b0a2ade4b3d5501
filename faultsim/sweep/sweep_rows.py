"""What a store keeps of a sweep, by name: as it is entered, and as it is read."""

from typing import TypedDict

from faultsim.simulation.progress import Progress


class SweepRow(TypedDict):
    """A sweep as it is entered; ``axes`` and ``document`` are JSON."""

    id: str
    name: str
    axes: str
    replicates: int
    tasks: int
    created: str
    command: str
    document: str


class SweepEntry(TypedDict):
    """A sweep as `Store.sweeps` describes it: seconds of its runs, and Unix time of its last row."""

    id: str
    name: str
    axes: list[str]
    replicates: int
    tasks: int
    created: str
    command: str
    done: int
    failed: int
    elapsed: float
    last: float | None


class SweepDocument(TypedDict, total=False):
    """What a sweep consists of; ``kind`` and ``metrics`` only where they are not the usual ones."""

    base: dict[str, object]
    axes: list[list[dict[str, object]]]
    warmup: float
    drain: float
    kind: str
    metrics: list[str]


class FillOptions(TypedDict, total=False):
    """The options of `Sweep.run` that `Sweep.fill` takes, too, but for the command."""

    workers: int | None
    executor: object
    progress: bool | Progress
    shard: tuple[int, int] | str | None
    retry: bool
