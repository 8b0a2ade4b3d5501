"""What a worker does with a batch of runs, on threads, processes and Dask alike: simulate, and return numbers."""

import pickle
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from faultsim.arrays import Floats
from faultsim.errors import EngineError, FaultsimError
from faultsim.simulation.execution import Execution, Stopped, first_slices
from faultsim.simulation.run import Run
from faultsim.simulation.workflow_run import WorkflowRun
from faultsim.sweep.kinds import Begun
from faultsim.sweep.wanted import NoNumberError, Wanted


@dataclass
class Done:
    """The outcome of a batch, or of its first part if the worker was told to stop.

    Parameters
    ----------
    rows : array, shape (n, Wanted.width)
        NaN in the row of a run that failed.
    elapsed : array, shape (n,)
        Seconds each took.
    errors : dict
        Position -> why that run failed.
    """

    rows: Floats
    elapsed: Floats
    errors: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)


#: Most runs, and seconds, between two checks whether to stop.
TOGETHER, MOMENT = 8, 0.005


def do(runs: Sequence[Run | WorkflowRun], wanted: Wanted, stop: threading.Event | None = None) -> Done:
    """Simulate a batch.

    A failed run has a row too, with its error; a worker that is told to stop returns what it has. Short runs are made
    several at a time, so `Done.elapsed` is their mean.
    """
    rows: list[Sequence[float]] = []
    elapsed, errors = np.zeros(len(runs)), {}
    done, many, width = 0, 1, wanted.width
    while done < len(runs) and not (stop is not None and stop.is_set()):
        began = time.perf_counter()
        made = [_begun(run, wanted) for run in runs[done : done + many]]
        first_slices([one for one in made if isinstance(one, Execution)])
        finished = 0
        for position, one in enumerate(made, done):
            try:
                if isinstance(one, Exception):
                    raise one
                one.go_on(stop=None if stop is None else stop.is_set)
                rows.append(wanted.row(one))
            except Stopped:
                break
            except (EngineError, NoNumberError):
                raise  # a bug of ours, or in a metric, is that of all runs
            except Exception as error:  # a user's policy may raise anything
                kind = "" if isinstance(error, FaultsimError) else f"{type(error).__name__}: "
                errors[position] = f"{kind}{error}"
                rows.append((np.nan,) * width)
            finished += 1
        if not finished:
            break
        took = (time.perf_counter() - began) / finished
        elapsed[done : done + finished] = took
        done += finished
        if finished < len(made):
            break
        many = max(1, min(TOGETHER, int(MOMENT / took)))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), width)
    return Done(table, elapsed[:done], errors)


def do_packed(blob: bytes) -> Done:
    """The same for a batch that was pickled together with what is wanted of it.

    Examples
    --------
    >>> import pickle
    >>> len(do_packed(pickle.dumps(([], Wanted()))))
    0
    """
    runs, wanted = pickle.loads(blob)
    return do(runs, wanted)


def _begun(run: Run | WorkflowRun, wanted: Wanted) -> Begun[object] | Exception:
    """The run, ready to go, or why it cannot."""
    try:
        begun: Begun[object] = wanted.kind.begin(run)
        return begun
    except Exception as error:
        return error
