"""Stores and saved results on a disk that forgets: what is read from them is told, or as it was written.

Bytes that flip, sectors that are lost or written to another place, files that are cut off or have more at their end.
"""

import pickle
import random
from collections import Counter
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.sweep.store import Store
from helpers.soaking import MARKS, keep, scaled

pytestmark = MARKS
FILES, SECTOR = 10_000, 512


def one_byte(data, draw):
    data[draw.randrange(len(data))] ^= draw.randrange(1, 256)


def bytes_here_and_there(data, draw):
    for _ in range(draw.randrange(2, 20)):
        one_byte(data, draw)


def sector(data, draw):
    return SECTOR * draw.randrange(len(data) // SECTOR)


def lost_sector(data, draw):
    at, pages = sector(data, draw), draw.choice((1, 1, 8))
    data[at : at + SECTOR * pages] = bytes(len(data[at : at + SECTOR * pages]))


def misplaced_sector(data, draw):
    to, size = sector(data, draw), SECTOR * draw.choice((1, 1, 8))
    there = data[sector(data, draw) :][: len(data[to : to + size])]
    data[to : to + len(there)] = there


def cut_off(data, draw):
    del data[draw.choice((sector(data, draw), draw.randrange(len(data)))) :]


def more_at_the_end(data, draw):
    data += draw.randbytes(draw.choice((1, SECTOR, 8 * SECTOR)))


WAYS = (one_byte, one_byte, one_byte, bytes_here_and_there, lost_sector, misplaced_sector, cut_off, more_at_the_end)

LOG = fs.synthetic.nasa_like(30, rng=0)
TRACE = fs.FailureTrace([500, 900], [0, 1], 60, span=10**6)
FLOW = fs.Workflow([3.0, 4.0, 5.0], edges=[(0, 1, 1.0), (0, 2, 1.0)])


def make_result(path):
    fs.simulate(LOG, fs.Cluster(128), failures=TRACE, predictor=fs.PredictionTrace([490], [0]),
                placement=fs.SafestFirst(), record=True).save(path)  # fmt: skip


def make_workflows(path):
    fs.simulate_workflows([FLOW] * 8, fs.Resources(4), failures=TRACE, scheduler=fs.Flaw(), record=True,
                          predictor=fs.PredictionTrace([490], [0])).save(path)  # fmt: skip


def make_store(path):
    base = {"log": lambda rng: fs.synthetic.nasa_like(20, rng=rng), "machine": fs.Cluster(128)}
    axes = {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}
    fs.Sweep(base, axes, replicates=6, name="damaged", metrics=["p95_wait"]).run(path, workers=1)


def make_workflow_store(path):
    base = {"workflows": [FLOW] * 3, "resources": fs.Resources(4)}
    axes = {"scheduler": [fs.Fifo(), fs.RankHybd()], "seed": list(range(12))}  # few rows leave most of a page empty
    fs.Sweep(base, axes, name="flows").run(path, workers=1)


def columns(table):
    return [(name, table[name].tolist()) for name in table]


def of_result(path):
    result = fs.load_result(path)
    said = [columns(table) for table in (result.jobs, result.events, result.allocations)]
    return str(result), dict(result.counters), dict(result.metrics), dict(result.ledger), result.provenance, said


def of_workflows(path):
    result = fs.load_workflow_result(path)
    flows = [(repr(flow), flow.dropped, pickle.dumps(flow)) for flow in result.workflows]
    said = [columns(table) for table in (result.jobs, result.decisions, result.events)]
    return str(result), dict(result.metrics), dict(result.settings), result.arrivals.tolist(), flows, said


def of_store(path):
    table = fs.load_sweep(path)
    with Store(path, write=False) as opened:
        said = opened.sweeps()
    return {name: table[name].tolist() for name in table}, table.axes, table.name, table.errors, table.command, said


KINDS = {
    "result": (make_result, of_result),
    "workflows": (make_workflows, of_workflows),
    "store": (make_store, of_store),
    "workflow-store": (make_workflow_store, of_store),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_that_changes_is_told(kind, tmp_path):
    make, read = KINDS[kind]
    good, bad = tmp_path / "good", tmp_path / "bad"
    make(good)
    content, expected = good.read_bytes(), repr(read(good))
    files, wrong, came = scaled(FILES, 100), [], Counter()
    for number in range(files):
        draw = random.Random(number)
        way = draw.choice(WAYS)
        data = bytearray(content)
        way(data, draw)
        for end in ("-wal", "-shm"):
            Path(f"{bad}{end}").unlink(missing_ok=True)
        bad.write_bytes(data)
        try:
            same = repr(read(bad)) == expected
            came["read as it was"] += same
            if not same:
                wrong.append((number, way.__name__))
        except fs.FaultsimError:
            came["told"] += 1
        except Exception as error:
            wrong.append((number, way.__name__, f"{type(error).__name__}: {error}"[:200]))
    assert wrong == []
    assert came["told"] > files // 3
    what = (
        f"Bytes, sectors and ends of a file are damaged: {kind.replace('-', ' ')}. What is read is as it was written."
    )
    numbers = {
        "files": files,
        "told": came["told"],
        "read as they were": came["read as it was"],
        "changed in silence": 0,
    }
    keep(f"damage-{kind}", what, numbers, f"test_damage.py -k {kind}")
