"""What happened between two decisions (model.md#owned), read from the diary."""

from collections.abc import Iterator

import numpy as np

from faultsim.reference.state import (
    ARRIVAL,
    CAUSES,
    CHANGE,
    CHECKPOINT,
    CONTINUED,
    DRAINED,
    FAILURE,
    FINISH,
    HELD,
    KILLED,
    MOVE,
    ON_HOLD,
    RELEASED,
    REPAIR,
    REQUEUED,
    RESUMED,
    START,
    THEFT,
    WITHDRAWAL,
    State,
)

_WORDS = {
    ARRIVAL: "submitted",
    START: "started",
    MOVE: "moved",
    CHECKPOINT: "checkpointed",
    KILLED: "killed",
    REQUEUED: "requeued",
    HELD: "held",
    CONTINUED: "continued",
    ON_HOLD: "on hold",
    RELEASED: "released",
    WITHDRAWAL: "withdrawn",
    CHANGE: "changed",
    FAILURE: "down",
    REPAIR: "up",
    DRAINED: "drained",
    RESUMED: "resumed",
}


class Changes:
    """The compiled engine's `faultsim.Changes`: rows (kind, row of the job, time, nodes or box)."""

    def __init__(self, rows: list[tuple[str, int, float, list[int]]], cause: list[str]) -> None:
        self.rows, self.cause = rows, cause

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[str, int, float, list[int]]]:
        return iter(self.rows)

    def tolist(self) -> list[tuple[str, int, float, list[int]]]:
        """The rows."""
        return list(self.rows)

    @property
    def kind(self) -> list[str]:
        """What happened."""
        return [row[0] for row in self.rows]

    @property
    def index(self) -> object:
        """To which jobs."""
        return np.array([row[1] for row in self.rows], np.int32)

    @property
    def time(self) -> object:
        """When."""
        return np.array([row[2] for row in self.rows], np.float64)


def changes_since(state: State, told: tuple[int, int]) -> Changes:
    """What stands behind so many lines of the diary, and so many places taken (model.md#changes)."""
    line, place = told
    rows: list[tuple[str, int, float, list[int]]] = []
    causes = []
    down: dict[int, float] = {}  # "A failure of a node that jobs share has one row."
    for time, kind, index, node in state.diary[line:]:
        where: list[int] = []
        if kind == THEFT or (kind == FINISH and state.jobs[index].killed):
            continue  # the row of the kill says it
        if kind in (START, MOVE):
            where, place = _places(state, place, index)
        elif kind in (FAILURE, REPAIR, DRAINED, RESUMED):
            if kind == FAILURE and down.get(node) == time:
                continue
            if kind == FAILURE:
                down = {node: time}
            elif kind == REPAIR:
                down.pop(node, None)
            index, where = -1, [node]
        if kind == FINISH:
            word = "timed out" if state.jobs[index].timed_out else "ended"
        else:
            word = _WORDS[kind]
        rows.append((word, index if index < 0 else state.jobs[index].row, time, where))
        causes.append(CAUSES[node] if kind == KILLED else "")
    return Changes(rows, causes)


def _places(state: State, place: int, index: int) -> tuple[list[int], int]:
    """The nodes, or the boxes, that a job took, and how many rows of places it is then."""
    _, begin, _, at = state.places[place]
    if isinstance(at, list):
        return list(at), place + 1
    boxes, split = [*at[:6]], state.settings.placement.get("unlisted") == "segments"
    place += 1
    while split and place < len(state.places) and state.places[place][:2] == (index, begin):
        boxes += state.places[place][3][:6]
        place += 1
    return boxes, place
