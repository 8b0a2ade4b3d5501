"""Mutated files of every kind, at every entry point that reads: an error of faultsim, or an object, in time and memory.

The quick suite takes a sample of each; ``pytest -m slow`` takes 20,000.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import faultsim as fs
from helpers.bounded_reading import SECONDS, outcomes

SAMPLE, MANY, AT_ONCE = 2_000, 20_000, 500
PIECES = (
    b"", b"\0", b"\n", b"\r", b",", b"\t", b" ", b"-", b"1_0", b"nan", b"inf", b"-1", b"1e308", b"9" * 25, b"9" * 5000,
    b'"', b"'", b"[", b"{", b"<", b"&", b";", b"#", b"|", b"=", b"\xff", b"\xef\xbb\xbf", "٣".encode(), b"x" * 7000,
    b"2147483648", b"-9223372036854775809", b"0.1e-400", b"null", b"true", b"9999-12-31T23:59:59", b"0001-01-01",
)  # fmt: skip


def seeds(folder: Path) -> dict[str, bytes]:
    """Entry point -> a small file of it that is as it should be."""
    log = fs.Workload(submit=[0, 60.5], runtime=[100, 30], size=[4, 1], user=[1, 2], estimate=[200, -1])
    log.write_swf(folder / "log.swf")
    log.write_csv(folder / "log.csv")
    trace = fs.FailureTrace([60, 90.5], [0, 2], [0, 30], span=3600)
    trace.write_csv(folder / "trace.csv")
    fs.simulate(log, fs.Cluster(4), failures=trace, record=True).save(folder / "run.npz")
    sweep = fs.Sweep(fs.Run(log, fs.Cluster(4)), {"runtime_factor": [1.0, 2.0]}, name="two")
    sweep.run(folder / "sweep.db", workers=1)
    examples = {
        "Workload sacct": b"JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|State\n"
        b"7|ann|2024-01-31T12:00:00|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|1-00:00:00|4|COMPLETED\n"
        b"8+1|bob|2024-01-31T12:00:30|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|UNLIMITED|1|PENDING\n",
        "FailureTrace lanl": b"System,nodenumz,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time\n"
        b"2,0,6/21/2005 10:54,6/21/2005 11:00,6\n2,5,6/22/2005 0:30,6/22/2005 1:30,60\n",
        "FailureTrace fta": b"0\t0\t7\t5\tsite/node1\t1\t1115811139\t1115820000\tNULL\n"
        b"1\t0\t7\t5\tsite/node1\t0\t1115820000\t1115823600\tNULL\n",
        "FailureTrace ras": b"2005-06-05-01.55.06.697467 R11-M0-NB-C:J07-U11 RAS KERNEL FATAL rts panic!\n"
        b"2005-06-05-01.56.00.000000 R11-M0-N0-C:J02-U01 RAS KERNEL FATAL rts internal error\n",
        "FailureTrace titan": b"SN,location,insert,remove,duration,out,event\n"
        b"1,c1-0c0s0n2,2014-01-21 00:00:00,2014-02-01 10:00:00,986400,TRUE,DBE\n",
        "FailureTrace stepfun": json.dumps(
            [
                {"node_id": "a", "event_time": day, "event_type": kind, "fault_type": {"Level": "Hardware Failure"}}
                for day, kind in ((0.5, "fault_start"), (0.75, "fault_end"))
            ]
        ).encode(),
        "Workflow dax": b'<adag xmlns="x"><job id="A" runtime="3.5"><uses file="f" link="output" size="1000"/></job>'
        b'<job id="B" runtime="4"><uses file="f" link="input" size="1000"/></job>'
        b'<child ref="B"><parent ref="A"/></child></adag>',
        "Workflow stg": b"2\n0 0 0\n1 3 1 0\n2 4 1 1\n3 0 1 2\n# CP Length : 7\n",
        "Workflow wfcommons": json.dumps(
            {
                "name": "two",
                "schemaVersion": "1.5",
                "workflow": {
                    "specification": {
                        "tasks": [
                            {"id": "a", "parents": [], "children": ["b"], "inputFiles": [], "outputFiles": ["f"]},
                            {"id": "b", "parents": ["a"], "children": [], "inputFiles": ["f"], "outputFiles": []},
                        ],
                        "files": [{"id": "f", "sizeInBytes": 1000}],
                    },
                    "execution": {"tasks": [{"id": name, "runtimeInSeconds": 3.5} for name in "ab"]},
                },
            }
        ).encode(),
        "sweep file": b"replicates = 2\nwarmup = 0.1\n[base]\nlog = { synthetic = 'nasa_like', jobs = 100 }\n"
        b"machine = 'torus:4x4x8'\n[grid]\nscheduler = ['fcfs', 'easy:reservation=fixed']\nload = [0.8, 1.0]\n"
        b"[zip]\nstart_delay = [0, '2m']\nseed = [1, 2]\n",
    }
    files = {
        "Workload swf": "log.swf",
        "Workload csv": "log.csv",
        "FailureTrace csv": "trace.csv",
        "result": "run.npz",
        "table": "sweep.db",
        "status": "sweep.db",
        "resume": "sweep.db",
        "merge": "sweep.db",
    }
    found = examples | {name: (folder / file).read_bytes() for name, file in files.items()}
    return found | {"what is": found["Workload csv"], "detect log": found["Workload sacct"]}


def mutated(content: bytes, draw: random.Random) -> bytes:
    """With one to four changes: bytes, pieces put in, taken out, repeated, or swapped, or cut short."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, length = draw.randrange(len(data) + 1), draw.choice((1, 2, 8, 40))
        way = draw.randrange(6)
        if way == 0 and at < len(data):
            data[at] = draw.randrange(256)
        elif way == 1:
            data[at:at] = draw.choice(PIECES)
        elif way == 2:
            del data[at : at + length]
        elif way == 3:
            data[at : at + length] = draw.choice(PIECES)
        elif way == 4:
            data[at:at] = data[at : at + length] * draw.choice((1, 2, 50))
        elif draw.random() < 0.2:
            del data[at:]
    return bytes(data)


def mutants(count: int, folder: Path) -> Iterator[tuple[str, str]]:
    """As many of each kind, each from a number of its own."""
    known = seeds(folder)
    for number in range(count):
        name = list(known)[number % len(known)]
        path = folder / f"{number % AT_ONCE}.mutant"
        for old in (path, Path(f"{path}.merged"), Path(f"{path}-wal"), Path(f"{path}-shm")):
            old.unlink(missing_ok=True)
        path.write_bytes(mutated(known[name], random.Random(number)))
        yield name, str(path)


def wrong(count: int, folder: Path) -> list[tuple[int, str, str, str]]:
    """Those that are neither read nor told, as number, entry point, outcome and message."""
    found = []
    work: list[tuple[str, str]] = []
    for number, item in enumerate(mutants(count, folder)):
        work.append(item)
        if len(work) == AT_ONCE or number == count - 1:
            made = outcomes(work)
            for at, ((name, _), (outcome, seconds, said)) in enumerate(zip(work, made, strict=False)):
                long = outcome == "told" and any(len(line) > 300 for line in said.splitlines())
                if outcome not in ("ok", "told") or seconds > SECONDS or long:
                    found.append((number - len(work) + 1 + at, name, outcome, said))
            if len(made) < len(work):
                found.append((number, "the child", "died", ""))
            work = []
    return found


def test_mutated_files_are_read_or_told(tmp_path: Path) -> None:
    assert wrong(SAMPLE, tmp_path) == []


@pytest.mark.slow
def test_twenty_thousand_mutated_files_are_read_or_told(tmp_path: Path) -> None:
    assert wrong(MANY, tmp_path) == []
