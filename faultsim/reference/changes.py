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
    PART_DOWN,
    PART_FAILED,
    PART_UP,
    RELEASED,
    REPAIR,
    REQUEUED,
    RESUMED,
    START,
    THEFT,
    WITHDRAWAL,
    LostPart,
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
    PART_DOWN: "part down",
    PART_UP: "part up",
    DRAINED: "drained",
    RESUMED: "resumed",
}


class Changes:
    """The compiled engine's `faultsim.Changes`: rows (kind, row of the job, time, nodes or box)."""

    def __init__(self, rows: list[tuple[str, int, float, list[int]]], cause: list[str], part: list[str]) -> None:
        self.rows, self.cause, self.part = rows, cause, part

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
    causes, parts = [], []
    of_part = False  # failures and repairs are of a part
    down: dict[int, float] = {}  # "A failure of a node that jobs share has one row."
    for time, kind, index, node in state.diary[line:]:
        where: list[int] = []
        part = ""
        if kind == THEFT or (kind == FINISH and state.jobs[index].killed):
            continue  # the row of the kill says it
        if of_part and kind in (FAILURE, REPAIR):
            of_part = kind == FAILURE
            continue
        if kind in (PART_DOWN, PART_FAILED, PART_UP):
            of_part = kind != PART_FAILED
            if kind == PART_FAILED or index < 0:
                continue
            part, index, where = _part(state.all_lost[index]), -1, [node]
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
        parts.append(part)
    return Changes(rows, causes, parts)


def _part(lost: LostPart) -> str:
    """How much of a node it is, as failure traces name it."""
    cores, memory, gpus = map(sum, zip(lost.amounts, *lost.held.values(), strict=True))
    return f"cores:{cores}" if cores else f"memory:{memory}M" if memory else f"gpus:{gpus}"


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
