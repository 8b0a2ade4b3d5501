"""The reader of the Failure Trace Archive."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.readers.fta import _parse
from helpers.refusals import refused

HEADER = "# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time ...\n"
DAY = 86_400


def event(node: object, kind: object, start: object, stop: object, name: str | None = None) -> str:
    label = f"site/c{node}/n" if name is None else name
    return f"    0\t    0\t {node:>4}\t    5\t{label}\t         {kind}\t   {start}\t   {stop}\t       NULL\n"


FEW = (
    event(9, 1, 1000, 2000),
    event(9, 0, 2000, 2600),
    event(9, 0, 2600, 2700),
    event(9, 1, 2700, 9000),
    event(4, 0, 1500, 1500),
    event(4, 1, 1500, 5000),
    event(4, 0, 5000, 90_000),
    event(30, 1, 100, 95_000),
)


def write(path: Path, *lines: str) -> Path:
    data = "".join(lines).encode()
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(data))
    return path


@pytest.mark.parametrize("name", ["event_trace.tab", "event_trace.tab.gz", "event_trace.tab.xz"])
@pytest.mark.parametrize("slow", [False, True])
def test_unavailable_intervals_become_failures(tmp_path: Path, name: str, slow: bool) -> None:
    """A missing reason, or a blank line, sends a block the slow way; both ways agree."""
    lines = [HEADER, *FEW]
    if slow:
        lines[1] = lines[1].replace("\t       NULL", "")
    trace = fs.read_fta(write(tmp_path / name, *lines))
    assert trace.time.tolist() == [1500, 2000, 5000]
    assert trace.node.tolist() == [0, 1, 0]  # 4, 9 and 30 by their order
    assert trace.downtime.tolist() == [0, 700, 85_000]
    assert trace.span == 95_000
    assert dict(trace.dropped) == {"outage merged with the one before": 1}
    assert trace.name == "event_trace (0 s = 1970-01-01 00:00)"


@pytest.mark.parametrize("end", ["\n", ""])
def test_lines_as_they_should_be_go_the_fast_way(end: str) -> None:
    block = "".join([HEADER, *FEW]).rstrip("\n") + end
    found = _parse(block.encode(), b"")
    assert found is not None
    assert found.node.tolist() == [9, 9, 4, 4]


def test_parts(tmp_path: Path) -> None:
    path = write(tmp_path / "event_trace.tab", *FEW)
    assert fs.read_fta(path, min_downtime=701).downtime.tolist() == [85_000]
    longer = fs.read_fta(path, min_downtime=700)
    assert longer.downtime.tolist() == [700, 85_000]
    assert longer.dropped["shorter than min_downtime"] == 1
    only = fs.read_fta(path, prefix="site/c9/")
    assert (only.node.tolist(), only.span) == ([0], 9000)
    window = fs.read_fta(path, begin=2200, end=6000, under_way=True)
    assert window.time.tolist() == [0, 2800]
    assert window.downtime.tolist() == [500, 85_000]
    assert window.span == 3800
    assert fs.read_fta(path, begin=2200).time.tolist() == [2800]
    assert fs.read_fta(path, begin="1970-01-01 01:00").time.tolist() == [1400]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\t2\t3\n", "line 2: 3 fields, expected 9 separated by tabs: '1"),
        (event("x", 0, 1, 2), "line 2: node_id, event_type and the two times must be numbers"),
        (event(1, "x", 1, 2), "line 2: node_id, event_type and the two times must be numbers"),
        (event(1, 0, 1, "late"), "line 2: node_id, event_type and the two times must be numbers"),
        (event(1, 0, 10, 9), "line 2: the event stops at 9, before its start at 10"),
        (event(1, 0, 1, "nan"), "line 2: the event stops at nan"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    refused(
        InputError,
        f"event_trace.tab, {message}",
        fs.read_fta,
        write(tmp_path / "event_trace.tab", FEW[0], line),
        strict=True,
    )
    more = FEW[0], line, event(9, 0, 1000, 1001)
    assert sum(fs.read_fta(write(tmp_path / "event_trace.tab", *more)).dropped.values()) == 1


def test_a_bad_line_of_a_later_block(tmp_path: Path) -> None:
    lines = [event(9, 0, 1000 + k, 1001 + k) for k in range(60_000)]
    refused(
        InputError,
        "line 60001: 2 fields",
        fs.read_fta,
        write(tmp_path / "event_trace.tab", *lines, "1\t2\n"),
        strict=True,
    )


def test_nothing_to_read(tmp_path: Path) -> None:
    path = tmp_path / "event_trace.tab"
    refused(InputError, "no event; expected lines of 9 fields", fs.read_fta, write(path, HEADER))
    refused(InputError, "no event; expected", fs.read_fta, write(path))
    with pytest.raises(InputError, match="no event of a node whose name begins with 'elsewhere'"):
        fs.read_fta(write(path, *FEW), prefix="elsewhere")
    with pytest.raises(InputError, match="event_trace: no failures; its records run from 1970-01-01 00:01"):
        fs.read_fta(write(path, FEW[-1]))
    refused(OptionError, "min_downtime must be at least 0 s, got -1", fs.read_fta, path, min_downtime=-1)


# -- the real file ---------------------------------------------------------------------------------------------------


def test_grid5000(data_dir: Path) -> None:
    path = data_dir / "failures" / "event_trace.tab.xz"
    trace = fs.read_fta(path)
    assert len(trace) + trace.dropped["outage merged with the one before"] == 294_145  # of 588,463 events
    assert (trace.min_nodes, len(np.unique(trace.node))) == (1288, 1288)
    assert trace.name == "event_trace (0 s = 2005-05-11 00:00)"
    zero = 1_115_769_600
    assert (trace.time[0] + zero, trace.span + zero) == (1_115_811_139, 1_163_165_604)
    first = trace[trace.node == 0]
    assert first.time[:2].tolist() == [1_115_811_139 - zero, 1_116_857_835 - zero]
    assert first.downtime[:2].tolist() == [1_116_857_352 - 1_115_811_139, 1_116_872_164 - 1_116_857_835]
    # Every outage but those under way at the end lies between two available intervals.
    assert trace.merge_overlaps() is trace
    part = fs.read_fta(path, prefix="G1/site8/c1/", begin="2006-01-01", end="2006-07-01", min_downtime=60)
    assert (part.min_nodes, part.span) == (342, 181 * DAY)
    assert part.downtime.min() >= 60
