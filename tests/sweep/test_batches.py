"""How many runs go to a worker at once, and what is left of workers when a sweep is interrupted."""

import threading
from concurrent.futures import Future

import numpy as np
import pytest

import faultsim as fs
from faultsim.sweep.executors import Pool
from faultsim.sweep.runner import fill
from faultsim.sweep.store import Store
from faultsim.sweep.worker import Done

RUN = fs.Run(fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2]), fs.Cluster(2))


class Told(Pool):
    """Runs that take so many seconds each, as they say; how many came at once."""

    target = 0.1

    def __init__(self, seconds):
        self.seconds, self.batches = seconds, []

    def submit(self, tasks, wanted):
        """Answer at once."""
        self.batches.append(len(tasks))
        future = Future()
        future.set_result(Done(np.zeros((len(tasks), wanted.width)), np.full(len(tasks), self.seconds)))
        return future


@pytest.mark.parametrize("seconds", [1e-4, 0.004, 0.02, 0.3])
def test_a_batch_takes_as_long_as_a_pool_wants(seconds):
    """Except at the end, where as many are left for each worker as it can share with others."""
    pool = Told(seconds)
    sweep = fs.Sweep(RUN, {"start_delay": list(range(800))})
    with Store(":memory:") as store:
        drive = fill(sweep._maker, store, pool, sweep._row(""))
    assert (drive.made, sum(pool.batches)) == (800, 800)
    wanted = max(1, int(0.1 / seconds))
    assert max(pool.batches) <= wanted
    assert max(pool.batches) >= 0.4 * min(wanted, 800 / 4)


def test_an_interrupted_sweep_ends_its_threads():
    """Though somebody keeps the error, and with it all that was there."""

    def stop(done, total, seconds):
        raise KeyboardInterrupt

    sweep = fs.Sweep(RUN, {"start_delay": list(range(40))})
    others = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt) as kept:
        sweep.run(executor="threads", workers=2, progress=stop)
    own = set(threading.enumerate()) - others
    for thread in own:
        thread.join(20)
    assert not any(thread.is_alive() for thread in own)
    assert kept.value.__context__ is not None
