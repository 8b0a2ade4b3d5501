"""What happened between two decisions (model.md#owned), read from the diary."""

from collections.abc import Iterator

import numpy as np

from faultsim.reference.state import CHANGE, FAILURE, FINISH, MOVE, START, THEFT, WITHDRAWAL, State


class Changes:
    """The compiled engine's `faultsim.Changes`: rows (kind, row of the job, time, nodes or box)."""

    def __init__(self, rows: list[tuple[str, int, float, list[int]]]) -> None:
        self.rows = rows

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
    """What happened behind so many lines of the diary, and so many places taken."""
    line, place = told
    rows = []
    for time, kind, index, _ in state.diary[line:]:
        where: list[int] = []
        if kind in (START, MOVE):
            word = "started" if kind == START else "moved"
            at = state.places[place][3]
            where = list(at if isinstance(at, list) else at[:6])
            place += 1
        elif kind == FINISH:
            word = "timed out" if state.jobs[index].timed_out else "ended"
        elif kind == WITHDRAWAL:
            word = "withdrawn"
        elif kind == CHANGE:
            word = "changed"
        elif kind in (FAILURE, THEFT) and index >= 0:
            word = "killed"
        else:
            continue
        rows.append((word, state.jobs[index].row, time, where))
    return Changes(rows)
