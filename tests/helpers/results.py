"""Results of runs: whether two are the same, and the nodes that jobs held."""

import numpy as np

import faultsim as fs


def assert_equal(one, other, *, but=()):
    """All columns, accounts, counts, and records if both have them, to the byte; but not those named."""
    columns = {f"jobs.{name}": (one.jobs[name], other.jobs[name]) for name in one.jobs if name not in but}
    for table in ("events", "allocations") if one.settings["record"] and other.settings["record"] else ():
        mine, theirs = getattr(one, table), getattr(other, table)
        assert set(mine) == set(theirs)
        if table not in but:
            columns |= {f"{table}.{name}": (mine[name], theirs[name]) for name in mine}
    for name, (mine, theirs) in columns.items():
        np.testing.assert_array_equal(mine, theirs, name, strict=True)
        assert mine.tobytes() == theirs.tobytes(), name
    assert "ledger" in but or one.ledger == other.ledger
    assert {**one.counters, **dict.fromkeys(but)} == {**other.counters, **dict.fromkeys(but)}
    assert one.span == other.span


def nodes_of(held, shape):
    """The nodes of each stay of the allocations; a box by its definition, its nodes in ascending order."""
    if "nodes" in held:
        return np.split(held["nodes"], held["node_offsets"][1:-1])
    boxes = zip(*(held[name].tolist() for name in "xyzabc"), strict=True)
    axes = ([np.arange(at, at + extent) for at, extent in zip(box[:3], box[3:], strict=True)] for box in boxes)
    return [np.sort(np.ravel_multi_index(np.ix_(*ranges), shape, mode="wrap").ravel()) for ranges in axes]


def random_log(n, largest, seed=3, horizon=2000, longest=400):
    """Jobs at any time below the horizon, of 1 node to `largest`."""
    rng = np.random.default_rng(seed)
    return fs.Workload(
        submit=np.sort(rng.integers(0, horizon, n)),
        runtime=rng.integers(1, longest, n),
        size=rng.integers(1, largest + 1, n),
    )
