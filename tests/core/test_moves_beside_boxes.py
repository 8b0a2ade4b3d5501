"""Moves of Fars beside reservations of Backfill whose boxes are larger than their jobs (model.md#spares)."""

import numpy as np
import pytest

from faultsim.data.world import TickRows
from helpers.engines import both_agree

CONFIG = {
    "machine": {"name": "torus", "x": 3, "y": 3, "z": 3, "wrap": False},
    "scheduler": {
        "name": "backfill", "depth": 2, "order": {"name": "key", "text": "where(size > 2, submit, -estimate)"},
        "reservation": "any", "max_growth": 1, "repairs": "known",
    },
    "placement": {"name": "first_fit", "box_order": "extents-descending"},
    "migration": None,
    "recovery": {"name": "hold", "restart_cost": 1.0},
    "checkpointing": {"name": "none"},
    "overrun": "extend",
    "start_delay": 3.0,
    "record": True,
    "rescheduling": {
        "name": "fars", "interval": 2.0, "strategy": {"name": "service_unit_loss"}, "spares": "dynamic",
        "checkpoint_cost": 1.0, "restart_cost": 1.0, "live": True, "suspicious": "ignore", "queue_cost": "last",
        "residual": "printed",
    },
}  # fmt: skip
SIZE = [7, 1, 1, 1, 1, 1, 1, 1, 1, 10, 13, 1, 2, 7, 7, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(("ninth", "last"), [(2.0, (2.0, 3.0)), (1.0, (0.0, 2.0))])
def test_a_box_that_grew_counts_whole(ninth, last):
    """At 10 s a job of 7 nodes has a reservation of 9: the head's 18 leave nothing to which the job at risk may go."""
    estimate = np.zeros(20)
    estimate[[0, 9]] = 3.0, ninth
    runtime = np.zeros(20)
    runtime[0] = 3.0
    estimate[[14, 15]] = runtime[[14, 15]] = last
    columns = {
        "submit": np.repeat([0.0, 5.0, 6.0], [10, 5, 5]), "runtime": runtime, "estimate": estimate,
        "size": np.array(SIZE, np.int32),
    }  # fmt: skip
    time = np.arange(0.0, 26.0, 2.0)
    begin = np.arange(0.0, 24.0, 4.0)
    none = np.array([], float)
    world = {
        "failures": {"time": none, "node": none.astype(np.int32), "downtime": none},
        "predictions": {"begin": begin, "end": begin + 4.0, "node": np.zeros(6, np.int32), "p": 1.0},
        "ticks": TickRows(
            time=time, first=np.minimum(np.arange(14), 12), node=np.zeros(12, np.int32)
        ),
    }  # fmt: skip
    for budget in (1, 7, 1000):
        both_agree((CONFIG, columns, world), budget)
