"""The reader of the LANL failure records."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refused

HEADER = (
    "System,machine type,nodes,procstot,procsinnode,nodenum,nodenumz,node install,node prod,node decom,fru type,mem,"
    "cputype,memtype,num intercon,purpose,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time,"
    "Facilities,Hardware,Human Error,Network,Undetermined,Software,Same Event"
)


def record(system: object, node: object, start: str, end: str, minutes: object, cause: str = "Memory") -> str:
    machine = "cluster,49,6152,80"
    return (
        f"{system},{machine},{node},{node},5-Apr,5-Jun,current,part,80,1,1,0,x,{start},{end},{minutes},,{cause},,,,,No"
    )


@pytest.fixture
def lanl(tmp_path: Path) -> Callable[..., Path]:
    def write(*records: str, name: str = "lanl.csv") -> Path:
        path = tmp_path / name
        data = "\n".join([HEADER, *records, ""]).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


FEW = (
    record(2, 7, "6/22/2005 23:30", "6/23/2005 0:30", 60),
    record(2, 0, "6/21/2005 10:54", "6/21/2005 11:00", 6),
    record(2, 0, "6/21/2005 10:54", "6/21/2005 11:00", 6),
    record(20, 3, "1/1/2003 0:00", "1/1/2003 0:00", 0),
    record(2, 7, "6/23/2005 0:00", "6/23/2005 3:00", 180),
    record(2, "", "6/23/2005 0:00", "6/23/2005 3:00", 180),
    record(2, 1, "6/24/2005 8:00", "6/24/2005 9:00", 60, '"Memory, Dimm"'),
)


@pytest.mark.parametrize("name", ["lanl.csv", "lanl.csv.gz"])
def test_records_are_sorted_shifted_and_merged(lanl: Callable[..., Path], name: str) -> None:
    trace = fs.read_lanl(lanl(*FEW, name=name), system=2)
    day = 86_400
    assert trace.time.tolist() == [10 * 3600 + 54 * 60, day + 23.5 * 3600, 3 * day + 8 * 3600]
    assert trace.node.tolist() == [0, 7, 1]
    assert trace.downtime.tolist() == [360, 3.5 * 3600, 3600]
    assert trace.span == 3 * day + 9 * 3600
    assert dict(trace.dropped) == {"exact duplicate": 1, "node missing": 1, "overlapping outage merged": 1}
    assert trace.name == "LANL system 2 (0 s = 2005-06-21 00:00)"
    apart = fs.read_lanl(lanl(*FEW, name=name), system=2, merge=False)
    assert apart.downtime.tolist() == [360, 3600, 3 * 3600, 3600]


def test_a_part_in_time(lanl: Callable[..., Path]) -> None:
    path = lanl(*FEW)
    for begin in ("2005-06-23", datetime(2005, 6, 23), datetime(2005, 6, 23).date(), 12_957 * 86_400):
        part = fs.read_lanl(path, 2, begin=begin, end="2005-06-24 08:30")
        assert part.time.tolist() == [86_400 + 8 * 3600]
        assert part.span == 86_400 + 8.5 * 3600
    whole = fs.read_lanl(path, 2, begin="2005-06-23", under_way=True)
    assert whole.time.tolist() == [0, 86_400 + 8 * 3600]
    assert whole.downtime.tolist() == [3 * 3600, 3600]
    early = fs.read_lanl(path, 2, begin="2005-06-20")
    assert early.time[0] == 86_400 + 10 * 3600 + 54 * 60
    with pytest.raises(
        InputError, match=r"LANL system 2: no failures in the period requested; its records run from 2005-06-21 10:54"
    ):
        fs.read_lanl(path, 2, begin="2006-01-01")
    with pytest.raises(OptionError, match="end: 2005-06-01 00:00 is not after the begin, 2005-06-23 00:00"):
        fs.read_lanl(path, 2, begin="2005-06-23", end="2005-06-01")
    refused(OptionError, "begin: 'yesterday' is not a date", fs.read_lanl, path, 2, begin="yesterday")


def test_one_of_several_systems_is_named(lanl: Callable[..., Path]) -> None:
    said = r"lanl.csv has the records of 2 systems, 2, 20; give one by system= \(--system\), such as 2"
    refused(OptionError, said, fs.read_lanl, lanl(*FEW))
    refused(OptionError, "has the records of 2 systems, 2, 20; .* such as 20", fs.read_lanl, lanl(FEW[3], FEW[1]))
    only = lanl(FEW[3])
    assert fs.read_lanl(only) == fs.read_lanl(only, 20)
    assert fs.read_lanl(only).name.startswith("LANL system 20 ")


def test_outages_under_way_at_no_begin(lanl: Callable[..., Path]) -> None:
    said = "under_way is about outages in progress at begin=, and none is given"
    refused(OptionError, said, fs.read_lanl, lanl(*FEW), 2, under_way=True)
    refused(OptionError, said, fs.read_lanl, lanl(*FEW), 2, end="2005-06-24", under_way=True)


def test_unknown_system(lanl: Callable[..., Path]) -> None:
    refused(OptionError, r"^system: .*lanl.csv has no system 5; it has 2, 20$", fs.read_lanl, lanl(*FEW), system=5)
    with pytest.raises(OptionError, match="system must be a whole number, got 'two'"):
        fs.read_lanl(lanl(*FEW), system="two")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (record(2, 7, "6/22/05 23:30", "6/23/2005 0:30", 60), r"line 3: '6/22/05 23:30' is no m/d/yyyy h:mm: '2,clust"),
        (record(2, 7, "6/22/2005 23:30", "6/31/2005 0:30", 60), r"line 3: '6/31/2005 0:30' is no m/d/yyyy h:mm"),
        (record(2, 7, "6/22/2005 23:30", "6/22/2005 24:30", 60), r"line 3: '6/22/2005 24:30' is no m/d/yyyy h:mm"),
        (record(2, "7a", "6/22/2005 23:30", "6/23/2005 0:30", 60), "line 3: '7a' is not a node number"),
        (record(2, 7, "6/22/2005 23:30", "6/23/2005 0:30", -60), "line 3: '-60' is not a down time in minutes"),
        ("2,cluster,49", "line 3: 3 fields, expected 19 or more: '2,cluster,49'"),
    ],
)
def test_bad_records_are_named(lanl: Callable[..., Path], line: str, message: str) -> None:
    refused(InputError, f"lanl.csv, {message}", fs.read_lanl, lanl(FEW[0], line))


def test_other_files(tmp_path: Path, lanl: Callable[..., Path]) -> None:
    path = tmp_path / "other.csv"
    path.write_text("time,node\n1,2\n")
    with pytest.raises(
        InputError, match=r"not the LANL failure records; no column 'System' in the first line, 'time,n"
    ):
        fs.read_lanl(path)
    path.write_text("")
    refused(InputError, "not the LANL failure records", fs.read_lanl, path)
    refused(InputError, "no such file", fs.read_lanl, tmp_path / "nowhere.csv")
    refused(InputError, "lanl.csv: no records of any system below the first line", fs.read_lanl, lanl())
    refused(OptionError, "has no system 2; it has none", fs.read_lanl, lanl(), 2)
    refused(InputError, r"no failures of system 2 are left \(node missing: 1\)", fs.read_lanl, lanl(FEW[5]))


# -- the real file ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(data_dir: Path) -> Path:
    return data_dir / "failures" / "LA-UR-05-7318-failure-data-1996-2005.csv.gz"


def test_the_real_file(real: Path) -> None:
    """Every system against a plain reading with the standard library."""
    with gzip.open(real, "rt") as file:
        rows = list(csv.reader(file))[1:]
    assert len(rows) == 23_739
    duplicates = 0
    for system in sorted({int(row[0]) for row in rows} - {17}):
        mine = [row for row in rows if int(row[0]) == system]
        trace = fs.read_lanl(real, system, merge=False)
        unique = sorted({tuple(row) for row in mine if row[6]}, key=lambda row: (when(row), int(row[6])))
        duplicates += trace.dropped.get("exact duplicate", 0)
        got = sorted(zip(trace.time.tolist(), trace.node.tolist(), trace.downtime.tolist(), strict=True))
        zero = when(unique[0]).replace(hour=0, minute=0)
        assert got == sorted(((when(r) - zero).total_seconds(), int(r[6]), 60.0 * int(r[18])) for r in unique)
        assert len(trace) + sum(trace.dropped.values()) == len(mine)
    assert duplicates == 25
    refused(InputError, r"no failures of system 17 are left \(node missing: 126\)", fs.read_lanl, real, 17)


def when(row: tuple[str, ...] | list[str]) -> datetime:
    return datetime.strptime(row[16], "%m/%d/%Y %H:%M")


def test_system_2_in_2001_and_2002(real: Path) -> None:
    """[yu2010]'s "Cluster 2": 1,332 records of the nodes 1-48, of which two are duplicates and five overlap."""
    apart = fs.read_lanl(real, 2, begin="2001-01-01", end="2003-01-01", merge=False)
    assert (len(apart), apart.node.min(), apart.node.max(), apart.span) == (1330, 1, 48, 730 * 86_400)
    trace = fs.read_lanl(real, 2, begin="2001-01-01", end="2003-01-01")
    assert len(trace) == 1325
    trace.check_against(49)
    assert np.all(np.diff(trace.time) >= 0)
