"""Files that once took all the time or memory there was, or ended in an error of Python's: each is told, or read."""

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.errors import MOST
from faultsim.sweep.store import Store
from helpers.bounded_reading import SECONDS, outcomes
from helpers.refusals import refused

LOG = b"1 0 -1 10 2 -1 -1 2 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"
FTA = b"%d\t0\t%s\t5\tsite/node1\t%s\t%s\t%s\tNULL\n"
LANL = b"System,nodenumz,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time\n"
TITAN = b"SN,location,insert,remove,duration,out,event\n"
BASE = b"[base]\nlog = { synthetic = 'nasa_like', jobs = 10 }\nmachine = 'cluster:128'\n"
HUGE = b"9" * 5000
LINE, MANY, MORE = 60_000_000, 32_000_000, 200_000_000


def fta(node: bytes = b"7", kind: bytes = b"0", start: bytes = b"1115811139", stop: bytes = b"1115820000") -> bytes:
    return FTA % (1, node, kind, start, stop)


def stepfun(**changed: object) -> bytes:
    kind = {"Level": "Hardware Failure", "Class": "GPU", "Desc": "GPU Lost"}
    event = {"node_id": "a", "event_time": 0.5, "event_type": "fault_start", "fault_type": kind}
    end = event | {"event_type": "fault_end", "event_time": 0.75}
    return json.dumps([event | changed, end]).encode()


#: Among many short ones: an array takes as much for each.
LONG, MANY_ROWS = b"x" * 900_000, 20_000


def sacct(job: bytes, user: bytes, state: bytes) -> bytes:
    row = b"%s|%s|2024-01-31T12:00:30|2024-01-31T12:00:30|2024-01-31T12:10:30|4|%s\n"
    rest = (row % (b"%d" % at, b"ann", b"COMPLETED") for at in range(1, MANY_ROWS))
    return b"".join((b"JobID|User|Submit|Start|End|NNodes|State\n", row % (job, user, state), *rest))


def endless_store() -> bytes:
    """Of a table whose row in the schema is said to have 2^56 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        Store(path).close()
        content = path.read_bytes()
    end = content.index(b"tabletasktask") - 3
    return content[: end - 8] + b"\xff" * 7 + b"\x71" + content[end:]


AXES = (b"load", b"runtime_factor", b"gap_factor")


def axis(name: bytes) -> bytes:
    return b"%s = %a\n" % (name, [*range(1, 1001)])


#: Name -> entry point and content, made when it is needed.
FINDS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a line of 60 MB": ("Workload swf", lambda: b"1 " * (LINE // 2)),
    "a line of 60 MB without a gap": ("Workload swf", lambda: b"1" * LINE),
    "a line of 60 MB in a CSV": ("Workload csv", lambda: b"submit,runtime,size\n" + b"1" * LINE),
    "a gzip of spaces": ("Workload swf", lambda: gzip.compress(b" " * MORE)),
    "a gzip of line ends": ("Workload swf", lambda: gzip.compress(b"\n" * MANY)),
    "a gzip of comments": ("Workload swf", lambda: gzip.compress(LOG + b"; a\n" * (MANY // 4))),
    "a gzip of rows": ("Workload csv", lambda: gzip.compress(b"submit,runtime,size\n" + b"1,1,1\n" * (MANY // 6))),
    "a gzip of rows for sacct": ("Workload sacct", lambda: gzip.compress(b"JobID|User\n" + b"1|a\n" * (MANY // 4))),
    "a gzip of failures": ("FailureTrace csv", lambda: gzip.compress(b"time,node\n" + b"1,1\n" * (MANY // 4))),
    "a gzip of events": ("FailureTrace fta", lambda: gzip.compress(fta() * (MANY // 60))),
    "an xz of spaces": ("FailureTrace lanl", lambda: lzma.compress(b" " * MANY, preset=0)),
    "a bzip2 of spaces": ("FailureTrace ras", lambda: bz2.compress(b" " * MANY, 1)),
    "a gzip of brackets": ("FailureTrace stepfun", lambda: gzip.compress(b"[" * MANY)),
    "a gzip of elements": ("Workflow dax", lambda: gzip.compress(b"<adag>" + b"<job>" * (MANY // 5))),
    "a gzip of tasks": ("Workflow stg", lambda: gzip.compress(b"9\n" + b"0 0 0\n" * (MANY // 6))),
    "a gzip of tasks in JSON": ("Workflow wfcommons", lambda: gzip.compress(b"{" + b'"a":1,' * (MANY // 6))),
    "digits before a letter": ("Workload csv", lambda: b"submit,runtime,size\n" + b"1" * 900_000 + b"x,1,1\n"),
    "comments without a key": ("Workload swf", lambda: b"; a: b\n" + b"; c\n" * 2_000_000 + LOG),
    "a node of 20 digits": ("FailureTrace fta", lambda: fta(node=b"9" * 20)),
    "a node of 5,000 digits": ("FailureTrace fta", lambda: fta(node=HUGE)),
    "a node of 20 digits, a reason missing": ("FailureTrace fta", lambda: fta(b"9" * 20).replace(b"\tNULL", b"")),
    "a type of 5,000 digits": ("FailureTrace fta", lambda: fta(kind=HUGE)),
    "a type of 900 kB among short ones": ("FailureTrace fta", lambda: fta(kind=LONG) + fta() * MANY_ROWS),
    "a start of 900 kB among short ones": ("FailureTrace fta", lambda: fta(start=b"7" * 900_000) + fta() * MANY_ROWS),
    "a user of 900 kB among short ones": (
        "Workload csv",
        lambda: b"submit,runtime,size,user\n1,2,3," + LONG + b"\n" + b"2,3,4,a\n" * MANY_ROWS,
    ),
    "an id of 900 kB among short ones": (
        "Workload csv",
        lambda: b"submit,runtime,size,id\n1,2,3," + LONG + b"\n" + b"2,3,4,a\n" * MANY_ROWS,
    ),
    "a job of 900 kB for sacct": ("Workload sacct", lambda: sacct(LONG, b"ann", b"COMPLETED")),
    "a user of 900 kB for sacct": ("Workload sacct", lambda: sacct(b"0", LONG, b"COMPLETED")),
    "a state of 900 kB for sacct": ("Workload sacct", lambda: sacct(b"0", b"ann", LONG)),
    "a moment beyond calendars": ("FailureTrace fta", lambda: fta(start=b"1e300", stop=b"1e300")),
    "a moment before calendars": ("FailureTrace fta", lambda: fta(start=b"-1e300", stop=b"1")),
    "a long field": ("FailureTrace lanl", lambda: LANL + b'2,0,"' + b"x" * 200_000 + b'",6/21/2005 11:00,6\n'),
    "a long field of Titan": ("FailureTrace titan", lambda: TITAN + b'"' + b"x" * 200_000 + b'",c,,,,,\n'),
    "other digits": ("FailureTrace lanl", lambda: LANL + "2,٣,6/21/2005 10:54,6/21/2005 11:00,6\n".encode()),
    "a node of LANL of 5,000 digits": (
        "FailureTrace lanl",
        lambda: LANL + b"2," + HUGE + b",6/21/2005 10:54,6/21/2005 11:00,6\n",
    ),
    "days of 400 digits": ("FailureTrace stepfun", lambda: stepfun(event_time=int(b"9" * 400))),
    "events in one another": ("FailureTrace stepfun", lambda: b"[" * 100_000),
    "tasks in one another": ("Workflow wfcommons", lambda: b"[" * 100_000),
    "MaxNodes of 5,000 digits": ("Workload swf", lambda: b"; MaxNodes: " + HUGE + b"\n" + LOG),
    "dotted keys": ("sweep file", lambda: b".".join([b"a"] * 20_000) + b" = 1\n"),
    "dotted keys in quotes": ("sweep file", lambda: b" . ".join([b'"a"'] * 20_000) + b" = 1\n"),
    "dotted tables": ("sweep file", lambda: b"[" + b".".join([b"a"] * 20_000) + b"]\n"),
    "arrays in one another": ("sweep file", lambda: b"a = " + b"[" * 50_000),
    "tables in one another": ("sweep file", lambda: b"a = " + b"{a=" * 50_000),
    "a number of 5,000 digits": ("sweep file", lambda: b"replicates = " + HUGE + b"\n" + BASE),
    "a number of 200,000 bits": ("sweep file", lambda: b"replicates = 0x" + b"f" * 50_000 + b"\n" + BASE),
    "replicates of 2**62": ("sweep file", lambda: b"replicates = %d\n" % 2**62 + BASE),
    "a thousand million cells": ("sweep file", lambda: BASE + b"[grid]\n" + b"".join(map(axis, AXES))),
    "digits of a duration": ("sweep file", lambda: BASE + b"start_delay = '" + b"1" * 900_000 + b"x'\n"),
    "a store with a row of 2^56 bytes, merged": ("merge", endless_store),
    "a store with a row of 2^56 bytes, read": ("table", endless_store),
    "a store with a row of 2^56 bytes, resumed": ("resume", endless_store),
    "lines of a sweep": ("sweep file", lambda: BASE + b"".join(b"k%d = 1\n" % at for at in range(20_000))),
}  # fmt: skip


def test_past_finds_are_told_in_time_and_memory(tmp_path: Path) -> None:
    work = []
    for at, (entry, made) in enumerate(FINDS.values()):
        path = tmp_path / f"find-{at}"
        path.write_bytes(made())
        work.append((entry, str(path)))
    found = outcomes(work)
    wrong = {
        name: one
        for name, one in zip(FINDS, found, strict=False)
        if one[0] not in ("ok", "told") or one[1] > SECONDS or any(len(line) > MOST for line in one[2].splitlines())
    }
    assert not wrong
    assert len(found) == len(FINDS)


#: What reads text.
ENTRIES = (*(f"{row.gives.__name__} {row.name}" for row in fs.READERS), "sweep file", "what is")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such devices on this system")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_devices_that_never_end_are_told(device: str) -> None:
    for name, (outcome, _, said) in zip(ENTRIES, outcomes([(name, device) for name in ENTRIES]), strict=True):
        assert outcome == "told", (name, outcome, said)


class Failing(io.RawIOBase):
    """A file on a disk that fails."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("row", fs.READERS, ids=lambda row: f"{row.gives.__name__} {row.name}")
def test_a_first_look_that_fails_is_told(row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"")
    monkeypatch.setattr("faultsim.readers.input_lines.open", lambda *_: io.BufferedReader(Failing()), raising=False)
    refused(fs.InputError, "there: cannot be read: Input/output error", row.read, path)


def test_standard_input_that_is_closed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    refused(fs.InputError, "<stdin>: nothing can be read", fs.read_swf, "-")
