"""What a worker does with a batch of runs, the same on threads, processes and Dask: simulate, and give back numbers."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from faultsim.errors import EngineError, FaultsimError
from faultsim.simulate import INFINITY, Run, Simulation, Stopped
from faultsim.sweep.rows import COLUMNS, numbers

__all__ = ["Done", "do"]


@dataclass
class Done:
    """What became of a batch, or of its first part where the worker was told to stop.

    Parameters
    ----------
    rows : array, shape (n, len(COLUMNS))
        NaN in the row of a run that failed.
    elapsed : array, shape (n,)
        Seconds each took.
    errors : dict
        Position -> why that run failed.
    """

    rows: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    errors: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)


def do(runs: Sequence[Run], cut: tuple[float, float], stop: threading.Event | None = None) -> Done:
    """Simulate a batch.

    A run that fails is a row too, with its error; a worker that is told to stop gives back what it has.
    """
    rows, elapsed, errors = np.full((len(runs), len(COLUMNS)), np.nan), np.zeros(len(runs)), {}
    done = 0
    for position, run in enumerate(runs):
        if stop is not None and stop.is_set():
            break
        began = time.perf_counter()
        try:
            simulation = Simulation._of(run, "core")
            simulation._drive(INFINITY, None, None if stop is None else stop.is_set)
            rows[position] = numbers(simulation.result(), cut)
        except Stopped:
            break
        except EngineError:
            raise  # a bug of ours: nothing may cover it
        except Exception as error:  # a policy of the user's may raise anything
            kind = "" if isinstance(error, FaultsimError) else f"{type(error).__name__}: "
            errors[position] = f"{kind}{error}"
        elapsed[position] = time.perf_counter() - began
        done = position + 1
    return Done(rows[:done], elapsed[:done], errors)
