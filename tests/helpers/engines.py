"""What the comparisons of the two engines share: runs of the compiled one, equality, and the real logs."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.results.held import Held
from faultsim.simulation.execution import Execution
from helpers.engine_inputs import core_engine
from helpers.engine_inputs import simulate as plainly
from helpers.results import assert_equal

LOGS = {
    "NASA-iPSC-1993-3.1-cln": 128,
    "SDSC-SP2-1998-4.2-cln": 128,
    "CTC-SP2-1996-3.1-cln": 338,
    "KTH-SP2-1996-2.1-cln": 100,
    "CEA-Curie-2011-2.1-cln": 93312,
    "mira_walltime": 49152,
    "lublin_256": 256,
    "normalised-kth": 100,
    "normalised-nasa": 128,
    "normalised-lublin256": 256,
    "normalised-sdsc10k": 128,
}

COUNTS = [
    "migrations_attempted", "migrations_successful", "failures", "failures_hit", "checkpoints", "events", "passes",
    "makespan_begin", "makespan_end",
]  # fmt: skip
#: Sums of seconds (node-seconds in the first), which may be added in any order.
SUMS = ["lost_work", "checkpoint_time", "restart_time", "failure_wait", "slowed_time"]


def compiled(config: dict, columns: dict, world: dict | None = None, budget: int = 7) -> dict:
    """Run the compiled engine a few events at a time and check its invariants in between."""
    engine = core_engine(config, **columns, world=world)
    while (reason := engine.run(budget)) != "done":
        assert reason == "budget"
        engine.verify()
    engine.verify()
    return listed(engine.output())


def listed(output: dict) -> dict:
    """What an engine returns, with the nodes that jobs held one by one."""
    held = output.get("allocations", ())
    return {**output, "allocations": Held(held)} if "ranges" in held else output


def assert_same(fast: dict, slow: dict) -> None:
    """Every column, count and row equal; sums to 1e-9 of the latest time, the ledger to 1e-9 of N*T."""
    assert set(fast) == set(slow)
    # What happened comes first: it says more than what came of it.
    for name in sorted(slow, key=lambda name: name != "events_table"):
        value = slow[name]
        if name in COUNTS:
            assert fast[name] == value, name
        elif name == "ledger":
            assert list(fast[name]) == list(value)
            close = 1e-9 * max(sum(value.values()), 1.0)
            assert fast[name] == pytest.approx(value, rel=0, abs=close)
        elif name in SUMS:
            assert fast[name].dtype == value.dtype
            close = 1e-9 * (1.0 + slow["makespan_end"]) * (slow["allocated"] if name == "lost_work" else 1)
            assert (np.abs(fast[name] - value) <= close).all(), f"{name}: {fast[name]}, not {value}"
        elif isinstance(value, Mapping):  # events_table, allocations
            assert set(fast[name]) == set(value)
            for column in value:
                np.testing.assert_array_equal(fast[name][column], value[column], f"{name}.{column}", strict=True)
        else:
            np.testing.assert_array_equal(fast[name], value, name, strict=True)


def runs_agree(run: fs.Run) -> fs.Result:
    """A whole run with failures is the same in both engines: jobs, counts, ledger and records."""
    fast, slow = run.simulate(), run.simulate(engine="reference")
    latest = slow.jobs["finish"].max()
    for name, column in slow.jobs.items():
        if column.dtype.kind == "U":
            assert fast.jobs[name].tolist() == column.tolist(), name
            continue
        close = 1e-9 * latest * (slow.jobs["allocated"] if name == "lost_work" else 1) if name in SUMS else 0
        assert (np.abs(fast.jobs[name].astype(float) - column) <= close).all(), name
    assert fast.counters == slow.counters
    assert fast.ledger == pytest.approx(slow.ledger, rel=0, abs=1e-9 * sum(slow.ledger.values()))
    for table in ("events", "allocations") if run.record else ():
        mine, theirs = getattr(fast, table), getattr(slow, table)
        assert list(mine) == list(theirs)
        for name in theirs:
            np.testing.assert_array_equal(mine[name], theirs[name], f"{table}.{name}")
    return slow


@cache
def head_of(data_dir: Path, name: str, n: int = 500) -> fs.Workload:
    """The first n jobs of a log that fit its machine."""
    log = fs.read_swf(data_dir / "swf" / f"{name}.swf.gz")
    head = log[log.size <= LOGS[name]].head(n)
    assert len(head) == n
    return head


def both_agree(case, budget=7):
    config, columns, *world = case
    slow = plainly({**config, "verify": True}, **columns, world=world[0] if world else None)
    assert_same(compiled(config, columns, *world, budget=budget), slow)


def copies_agree(run: fs.Run, when: float) -> None:
    """A copy that is made at that time goes on as its original does, and neither minds the other."""
    one = Execution(run)
    one.go_on(until=when)
    other = one.copy()
    for each in (other, one):
        each.go_on()
        each.engine.verify()
    assert_equal(one.result(), other.result())
