"""The reader of Blue Gene/L's RAS log."""

from __future__ import annotations

import gzip
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import InputError, OptionError

FEW = (
    "2005-06-05-01.55.06.697467 R11-M0-NB-C:J07-U11 RAS KERNEL FATAL rts panic! - stopping execution",
    "2005-06-05-02.05.00.000000 R11-M0-N0-C:J02-U01 RAS KERNEL FATAL rts internal error",
    "2005-06-05-02.06.00.000000 R11-M1-N0-I:J18-U01 RAS KERNEL FATAL Lustre mount FAILED : bglio9",
    "2005-06-05-02.07.00.000000 R00-M0-NF-C:J17-U11 NULL KERNEL FATAL rts: kernel terminated for reason 1004",
    "2005-06-05-02.08.00.000000 R00-M0-NF RAS KERNEL FATAL Error: unable to mount filesystem",
    "2005-06-05-02.14.59.999999 R11-M0-NF-C:J17-U11 RAS KERNEL FATAL rts internal error",
    "2005-06-05-02.25.00.000000 R11-M0-NF-C:J17-U11 RAS KERNEL FATAL rts internal error",
    "2005-06-05-03.00.00.000000 NULL RAS BGLMASTER FAILURE ciodb exited abnormally due to signal: Aborted",
    "2005-06-05-04.00.00.500000 R77-M1-L3-U20-B RAS LINKCARD FATAL Link PGOOD error latched on link card",
    "2005-06-05-05.00.00.000000 R77-M1-Nd-C:J17-U01 RAS MMCS FATAL L3 major internal error",
)
MINUTE = 60.0


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([*lines, ""]))
    return path


def labelled(line: str, label: str = "KERNPAN") -> str:
    return f"{label} 1117838570 2005.06.05 {line.split()[1]} {line}"


@pytest.mark.parametrize("form", [str, labelled])
def test_midplanes(tmp_path: Path, form: object) -> None:
    path = write(tmp_path / "ras.log", *map(form, FEW))  # type: ignore[call-overload]
    trace = fs.read_bluegene_ras(path)
    # R11-M0 at 1:55, 2:05 and 2:15 within 600 s of each other, then after 600.000001 s; R77-M1 after an hour.
    assert trace.node.tolist() == [18, 18, 127, 127]
    assert trace.time.tolist() == [6906.697467, 8700.0, 14_400.5, 18_000.0]
    assert trace.downtime.tolist() == [0, 0, 0, 0]
    assert trace.span == 18_000.0
    assert dict(trace.dropped) == {
        "no hardware fault": 3,
        "location is no midplane": 1,
        "message of a failure already counted": 2,
    }
    assert trace.name == "Blue Gene/L midplanes (0 s = 2005-06-05 00:00)"
    assert len(fs.read_bluegene_ras(path, gap=601)) == 3
    assert len(fs.read_bluegene_ras(path, gap=3600)) == 2
    assert fs.read_bluegene_ras(path, kinds="all", gap=0).node.tolist() == [18, 18, 19, 0, 0, 18, 18, 127, 127]
    assert set(fs.read_bluegene_ras(path, downtime=900).downtime) == {900.0}
    assert fs.read_bluegene_ras(path, begin="2005-06-05 03:00").time.tolist() == [3600.5, 7200.0]


def test_nodes(tmp_path: Path) -> None:
    path = write(tmp_path / "ras.log", *FEW)
    trace = fs.read_bluegene_ras(path, level="node", kinds="all")
    base = 512 * 18
    expected = [base + 32 * 11 + 2 * 5 + 1, base, 511, base + 511, base + 511, 127 * 512 + 32 * 13 + 30]
    assert trace.node.tolist() == expected
    assert trace.dropped["location is no compute node"] == 4


@given(st.integers(0, 7), st.integers(0, 7), st.integers(0, 1), st.integers(0, 15), st.integers(2, 17), st.booleans())
def test_every_node_has_a_number_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, row: int, column: int, half: int, card: int, slot: int, upper: bool
) -> None:
    place = f"R{row}{column}-M{half}-N{card:X}-C:J{slot:02}-U{'11' if upper else '01'}"
    path = tmp_path_factory.getbasetemp() / "one.log"
    write(path, f"2005-06-05-00.00.00.000000 {place} RAS KERNEL FATAL x")
    node = int(fs.read_bluegene_ras(path, level="node").node[0])
    assert node < 65_536
    midplane, rest = divmod(node, 512)
    assert (midplane // 16, midplane // 2 % 8, midplane % 2) == (row, column, half)
    assert (rest // 32, rest % 32 // 2 + 2, rest % 2) == (card, slot, upper)
    assert fs.read_bluegene_ras(path).node.tolist() == [midplane]


def test_only_alerts_of_the_form_with_labels_count(tmp_path: Path) -> None:
    lines = [labelled(FEW[0], "-"), labelled(FEW[1], "KERNRTSP"), labelled(FEW[6].replace("KERNEL", "APP"), "APPSEV")]
    trace = fs.read_bluegene_ras(write(tmp_path / "bgl.log", *lines))
    assert trace.time.tolist() == [7500.0]
    assert dict(trace.dropped) == {"no alert": 1, "no hardware fault": 1}


BAD = (
    "garbage",
    FEW[0].replace("2005-06-05", "2005-06-31"),
    FEW[0].replace("01.55", "24.55"),
    FEW[0].replace(" RAS", ""),
    "2005-06-05-01.55.06.697467",
)


def test_unreadable_lines_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "ras.log", FEW[0], *BAD, "", FEW[8])
    trace = fs.read_bluegene_ras(path)
    assert len(trace) == 2
    ((reason, count),) = trace.dropped.items()
    assert count == 5
    assert reason.startswith(f"unreadable line ({path}, line 2: 'garbage'; line 3: '2005-06-31-01.55.06.697467 R11-M0")
    assert "; line 4: '2005-06-05-24.55" in reason
    assert reason.endswith("', ...)")


@pytest.mark.parametrize("bad", BAD)
def test_unreadable_lines_are_fatal_when_strict(tmp_path: Path, bad: str) -> None:
    path = write(tmp_path / "ras.log", FEW[0], bad)
    with pytest.raises(InputError, match=f"ras.log, line 2: not a RAS message: '{re.escape(bad[:60])}"):
        fs.read_bluegene_ras(path, strict=True)


def test_nothing_to_read(tmp_path: Path) -> None:
    path = tmp_path / "ras.log"
    with pytest.raises(InputError, match=r"no RAS message among 2 lines, beginning with line 1: 'a,b'"):
        fs.read_bluegene_ras(write(path, "a,b", "1,2"))
    with pytest.raises(InputError, match=r"ras.log: no RAS message among 0 lines; expected lines such as '2005"):
        fs.read_bluegene_ras(_empty(path))
    with pytest.raises(InputError, match=r"Blue Gene/L midplanes: no failures; .*; no hardware fault: 1$"):
        fs.read_bluegene_ras(write(path, FEW[2]))
    for wrong in ({"level": "rack"}, {"kinds": "soft"}, {"gap": -1}, {"downtime": np.nan}, {"strict": 1}):
        with pytest.raises(OptionError):
            fs.read_bluegene_ras(path, **wrong)


def _empty(path: Path) -> Path:
    path.write_bytes(b"")
    return path


# -- the real files --------------------------------------------------------------------------------------------------


def test_the_public_list_of_failures(data_dir: Path) -> None:
    path = data_dir / "failures" / "Best.all-fail.gz"
    trace = fs.read_bluegene_ras(path)
    assert (len(trace), len(fs.read_bluegene_ras(path, gap=3600))) == (537, 502)
    assert len(trace) + sum(trace.dropped.values()) == 63_951
    assert not any("unreadable" in reason for reason in trace.dropped)
    assert trace.summary(nodes=128)["per_day"] == pytest.approx(2.5, abs=0.05)
    # A plain reading of its own.
    last: dict[str, datetime] = {}
    events = 0
    with gzip.open(path, "rt") as file:
        for line in file:
            stamp, place, *_ = line.split(" ", 5)
            message = line.rstrip("\n").split(" ", 5)[-1]
            if place.startswith("R") and not any(
                text in message for text in ("Lustre mount FAILED", "unable to mount filesystem", "kernel terminated")
            ):
                now = datetime.strptime(stamp, "%Y-%m-%d-%H.%M.%S.%f")
                events += place[:6] not in last or (now - last[place[:6]]).total_seconds() > 600
                last[place[:6]] = now
    assert events == 537
    nodes = fs.read_bluegene_ras(path, level="node")
    nodes.check_against(65_536)
    assert set(nodes.node // 512) <= set(trace.node)


def test_the_sample_with_labels(data_dir: Path) -> None:
    path = data_dir / "failures" / "BGL_2k.log"
    trace = fs.read_bluegene_ras(path, kinds="all", gap=0, strict=True)
    assert trace.dropped["no alert"] == 1857
    assert len(trace) + sum(trace.dropped.values()) == 2000
    assert trace.name == "Blue Gene/L midplanes (0 s = 2005-06-03 00:00)"
