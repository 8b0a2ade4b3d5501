"""Queue orders (model.md#orders): a key for each job that waits, the smallest first.

Ties go by (submit, index), or by the place that a requeued job was given: "With other queue orders the place breaks
ties".
"""

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from faultsim.arrays import Floats, Values
from faultsim.data.lowered import Lowered
from faultsim.policies.base import SeenJobs
from faultsim.reference.job import Job

#: The columns of the log that the user gave.
Columns = Mapping[str, Values]


def arrival(queue: list[Job], now: float, rule: dict[str, object], columns: Columns) -> list[float]:
    """The queue is kept in order of arrival, with "tail" of coming back."""
    return [0.0 for job in queue]


def shortest(queue: list[Job], now: float, rule: dict[str, object], columns: Columns) -> list[float]:
    return [job.estimate for job in queue]


def largest(queue: list[Job], now: float, rule: dict[str, object], columns: Columns) -> list[float]:
    return [-job.size for job in queue]


def wfp3(queue: list[Job], now: float, rule: dict[str, object], columns: Columns) -> list[float]:
    return [-(((now - job.submit) / max(job.estimate, 1.0)) ** 3) * job.size for job in queue]


def unicef(queue: list[Job], now: float, rule: dict[str, object], columns: Columns) -> list[float]:
    return [-(now - job.submit) / (math.log2(max(job.size, 2)) * max(job.estimate, 1.0)) for job in queue]


class Sorter(Protocol):
    """An order written in Python."""

    def keys(self, queue: object, now: float) -> Floats: ...


def python(queue: list[Job], now: float, rule: Lowered, columns: Columns) -> list[float]:
    """ "or your own function".

    model.md#oracle: "A policy in Python does not get run times [...] unless it is declared an oracle".
    """
    rows = np.array([job.row for job in queue], dtype=np.int32)
    seen = SeenJobs(**{name: values[rows] for name, values in columns.items() if name != "runtime"})
    seen.__dict__.update(
        index=rows,
        submit=np.array([job.submit for job in queue], dtype=np.float64),
        estimate=np.array([job.estimate for job in queue], dtype=np.float64),
        size=np.array([job.size for job in queue], dtype=np.int32),
        restarts=np.array([job.restarts for job in queue], dtype=np.int32),
    )
    if rule.get("oracle_runtimes"):
        seen.runtime = np.array([job.wanted for job in queue], dtype=np.float64)
    order: Sorter = rule["object"]
    return list(order.keys(seen, now))
