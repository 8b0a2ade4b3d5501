"""Readers and parsers take linear time in each dimension of what they read."""

import json
import time
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest

import faultsim as fs

#: Seconds of a processor from which on a ratio of two times means something, and what doubling may multiply it by.
LEAST, MOST = 0.03, 3.0


@dataclass
class Case:
    """What a reader reads: text that grows with n, from a first n on."""

    read: Callable[[str], object]
    text: Callable[[int], str]
    first: int = 2_000
    suffix: str = ".txt"


def lines(line: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    """Text of n lines, in which {i} is their number."""
    return lambda n: head + "".join(line.format(i=i) for i in range(n)) + tail


def joined(part: str, head: str, between: str, tail: str) -> Callable[[int], str]:
    """A line of n parts, in which {i} is their number."""
    return lambda n: head + between.join(part.format(i=i) for i in range(n)) + tail


def table(names: str, row: str, further: str) -> Callable[[int], str]:
    """A table of one row with n further columns."""
    return lambda n: "".join(
        (names, *(f",c{i}" for i in range(n)), "\n", row, *(f",{further}" for _ in range(n)), "\n")
    )


SWF = "{i} {i} 3 10 2 -1 -1 2 20 -1 1 {i} 1 1 1 1 -1 -1\n"
CSV = "id,submit,runtime,size,user\n"
SACCT = "JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|State|NodeList\n"
RUN = "|ann|2024-01-31T12:00:00|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|1-00:00:00|2|"
PBS = (
    "07/01/2024 10:00:05;{kind};{job}.srv;user=u1 queue=batch ctime=1719820800 qtime=1719820800 start=1719820903 "
    "end=1719821400 exec_host={host} Resource_List.nodect=2 Resource_List.walltime=01:00:00 Exit_status=0\n"
)
PBS_END = PBS.format(kind="E", job=7, host="n1/0*8+n2/0*8")
SGE = (
    "all.q:n1:users:ann:job:{i}:sge:0:1719820800:1719820803:1719821400:25:0:597:"
    + "0:" * 20
    + "16:3:1:1:0:-l h_rt=3600 -pe mpi 16:0:NONE:0\n"
)
LANL = "System,nodenumz,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time\n"
EVENTS = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
TITAN = "SN,location,insert,remove,duration,out,event\n"
TOML = "replicates=2\n[base]\nlog={synthetic='nasa_like',jobs=100}\nmachine='torus:4x4x8'\n[grid]\n"
JOB = '<job id="A{i}" runtime="3.5"/>'


def edges(n: int) -> str:
    """A chain of n jobs."""
    parents = (f'<child ref="A{i + 1}"><parent ref="A{i}"/></child>' for i in range(n - 1))
    return "".join(("<adag>", *(JOB.format(i=i) for i in range(n)), *parents, "</adag>"))


def sharing(n: int) -> str:
    """Jobs that read one file."""
    uses = (f'<job id="A{i}" runtime="1"><uses file="f" link="input" size="9"/></job>' for i in range(n))
    return "".join(("<adag>", *uses, "</adag>"))


def tasks(n: int) -> str:
    """A task with n parents, and a chain of these."""
    chain = [{"name": f"a{i}", "runtime": 2, "parents": [f"a{i - 1}"] if i else []} for i in range(n)]
    last = {"name": "z", "runtime": 1, "parents": [task["name"] for task in chain]}
    return json.dumps({"workflow": {"tasks": [*chain, last]}})


def faults(n: int) -> str:
    """Faults of some nodes."""
    kinds = ("fault_start", "fault_end")
    level = {"Level": "Hardware Failure"}
    rows = [
        {"node_id": f"a{i // 2 % 9}", "event_time": i / 10, "event_type": kinds[i % 2], "fault_type": level}
        for i in range(n)
    ]
    return json.dumps(rows)


def joining(text: str) -> Case:
    """A key of n parts."""
    return Case(fs.Key, joined("size", "", text, ""), suffix="")


CASES = {
    "swf: jobs": Case(fs.read_swf, lines(SWF), 40_000),
    "swf: comments": Case(fs.read_swf, lines("; Key{i}: value\n", tail=SWF.format(i=1)), 40_000),
    "swf: one comment": Case(fs.read_swf, lines("; Note: value\n", tail=SWF.format(i=1)), 40_000),
    "swf: lines of too few fields": Case(fs.read_swf, lines("1 2 3\n")),
    "csv: jobs": Case(fs.read_jobs, lines("j{i},{i},10,2,u{i}\n", CSV)),
    "csv: missing ids": Case(fs.read_jobs, lines(",{i},10,2,u\n", CSV)),
    "csv: equal ids": Case(fs.read_jobs, lines("7,{i},10,2,u\n", CSV)),
    "csv: short rows": Case(fs.read_jobs, lines("{i},{i}\n", CSV, "1,1,1,1,1\n")),
    "csv: quoted fields": Case(fs.read_jobs, lines('{i},{i},10,2,"u\n{i}"\n', CSV)),
    "csv: columns": Case(fs.read_jobs, table(CSV.strip(), "1,1,10,2,u", "1"), 4_000),
    "csv: columns of words": Case(fs.read_jobs, table(CSV.strip(), "1,1,10,2,u", "w"), 4_000),
    "csv: names that are alike": Case(fs.read_jobs, joined("submi{i}", "sumbit,", ",", "\n1\n"), 4_000),
    "csv: empty names": Case(fs.read_jobs, joined("", CSV.strip(), ",", "\n1,1,1,1\n"), 10_000),
    "csv: quotes": Case(fs.read_jobs, joined('"', CSV + "1,1,1,1,", "", "\n"), 40_000),
    "failures: rows": Case(fs.read_failures, lines("{i},n{i},5,c{i}\n", "time,node,downtime,cause\n")),
    "failures: of one node": Case(fs.read_failures, lines("{i},1,100000\n", "time,node,downtime\n")),
    "failures: columns": Case(fs.read_failures, table("time,node,downtime", "1,1,1", "1"), 4_000),
    "sacct: jobs": Case(fs.read_sacct, lines("{i}" + RUN + "COMPLETED|n1\n", SACCT)),
    "sacct: runs of a job": Case(fs.read_sacct, lines("7" + RUN + "NODE_FAIL|n1\n", SACCT)),
    "sacct: states": Case(fs.read_sacct, lines("{i}" + RUN + "S{i}|n1\n", SACCT)),
    "sacct: nodes": Case(fs.read_sacct, joined("n{i}", SACCT + "7" + RUN + "NODE_FAIL|", ",", "\n")),
    "sacct: steps": Case(fs.read_sacct, lines("7.{i}" + RUN + "COMPLETED|n1\n", SACCT)),
    "events: rows": Case(
        fs.read_sacct_events, lines("c1|n{i}|2024-03-01T08:00:00|2024-03-01T10:30:00|DOWN*|r{i}|root(0)\n", EVENTS)
    ),
    "pbs: jobs": Case(fs.read_pbs, lambda n: "".join(PBS.format(kind="E", job=i, host="n1/0*8") for i in range(n))),
    "pbs: runs of a job": Case(
        fs.read_pbs, lambda n: "".join(PBS.format(kind="R", job=7, host="n1/0*8") for _ in range(n)) + PBS_END
    ),
    "pbs: hosts": Case(fs.read_pbs, lambda n: PBS.format(kind="E", job=7, host="+".join(f"n{i}/0" for i in range(n)))),
    "sge: jobs": Case(fs.read_sge, lines(SGE)),
    "lanl: failures": Case(fs.read_lanl, lines("2,{i},6/21/2005 10:54,6/21/2005 11:00,6\n", LANL), suffix=".csv"),
    "fta: states": Case(
        fs.read_fta, lines("{i}\t0\t{i}\t5\tsite/node{i}\t1\t1115811139\t1115820000\tNULL\n"), suffix=".tab"
    ),
    "ras: kinds": Case(
        fs.read_bluegene_ras, lines("2005-06-05-01.55.06.697467 R11-M0-NB-C:J07-U11 RAS K{i} FATAL rts {i}!\n")
    ),
    "titan: cards": Case(
        fs.read_titan,
        lines("{i},c1-0c0s0n2,2014-01-21 00:00:00,2014-02-01 10:00:00,986400,TRUE,DBE\n", TITAN),
        suffix=".csv",
    ),
    "stepfun: events": Case(fs.read_stepfun, faults, suffix=".json"),
    "dax: chain": Case(fs.read_dax, edges, suffix=".dax"),
    "dax: readers of a file": Case(fs.read_dax, sharing, suffix=".dax"),
    "stg: chain": Case(
        fs.read_stg,
        lambda n: "".join((f"{n}\n0 0 0\n", *(f"{i} 3 1 {i - 1}\n" for i in range(1, n + 1)), f"{n + 1} 0 1 {n}\n")),
        suffix=".stg",
    ),
    "wfcommons: chain and parents": Case(fs.read_wfcommons, tasks, suffix=".json"),
    "json: nesting": Case(fs.read_wfcommons, joined("[", '{"workflow":', "", ""), suffix=".json"),
    "sweep: values": Case(fs.read_sweep, joined("0.{i}1", TOML + "load=[", ",", "]\n"), 1_000, ".toml"),
    "sweep: unknown axes": Case(fs.read_sweep, lines("x{i}=[1]\n", TOML), 200, ".toml"),
    "policy: quotes": Case(
        lambda text: fs.parse_policy("scheduler", text), joined("'", "easy:order=", "", ""), suffix=""
    ),
    "policy: options": Case(
        lambda text: fs.parse_policy("scheduler", text), joined("o{i}=1", "easy:", ",", ""), suffix=""
    ),
    "policy: parentheses": Case(
        lambda text: fs.parse_policy("scheduler", text), joined("(", "easy:order=", "", ")"), suffix=""
    ),
    "key: sum": joining("+"),
    "key: power": joining("**"),
    "key: comparison": joining("<"),
    "key: parentheses": Case(fs.Key, lambda n: "(" * n + "size" + ")" * n, suffix=""),
    "key: names": Case(fs.Key, joined("c{i}", "", "+", ""), suffix=""),
    "key: digits": Case(fs.Key, joined("9", "size*", "", ""), suffix=""),
    "machine: extents": Case(
        lambda text: fs.simulate(fs.Workload(submit=[0], runtime=[1], size=[1]), text),
        joined("4", "torus:", "x", ""),
        suffix="",
    ),
    "duration": Case(lambda text: fs.Periodic(text, 1), joined("1h", "", "", ""), suffix=""),
}


def seconds(act: Callable[[], object]) -> float:
    """The least of two times of a processor; a refusal takes time, too."""
    found = []
    for _ in range(2):
        began = time.process_time()
        with warnings.catch_warnings(), suppress(fs.FaultsimError):
            warnings.simplefilter("ignore")
            act()
        found.append(time.process_time() - began)
    return min(found)


def check(made: Callable[[int], Callable[[], object]], n: int, largest: int) -> None:
    """Fails if two doublings in a row take more than three times as long each."""
    while (took := seconds(made(n))) < LEAST:
        n *= 2
        if n > largest:  # it is refused at once, or far faster than anything quadratic could be
            return
    ratios = []
    for larger in (2 * n, 4 * n):
        before, took = took, seconds(made(larger))
        ratios.append(took / before)
        if ratios[-1] <= MOST:
            return
    pytest.fail(f"doubled twice from {n:,}: {ratios[0]:.1f} and {ratios[1]:.1f} times as long")


@pytest.mark.parametrize("case", CASES)
def test_doubling_a_dimension_does_not_triple_the_time(case, tmp_path):
    given = CASES[case]

    def made(n: int) -> Callable[[], object]:
        text = given.text(n)
        if not given.suffix:
            return lambda: given.read(text)
        path = tmp_path / f"{n}{given.suffix}"
        if not path.exists():
            path.write_text(text)
        return lambda: given.read(str(path))

    check(made, given.first, 300_000)


PARQUET = {
    "columns": lambda arrow, n: {f"c{i}": arrow.array([1, 2]) for i in range(n)},
    "columns of words": lambda arrow, n: {f"c{i}": arrow.array(["v", "w"]) for i in range(n)},
    "columns of lists": lambda arrow, n: {f"c{i}": arrow.array([[1], []]) for i in range(n)},
}


@pytest.mark.parametrize("case", PARQUET)
def test_columns_of_parquet(case, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    jobs = {"submit": arrow.array([1, 2]), "runtime": arrow.array([1, 2]), "size": arrow.array([1, 1])}

    def made(n: int) -> Callable[[], object]:
        path = tmp_path / f"{n}.parquet"
        if not path.exists():
            parquet.write_table(arrow.table(jobs | PARQUET[case](arrow, n)), path)
        return lambda: fs.read_jobs(path)

    check(made, 500, 8_000)


def test_list_of_very_many_equal_values_is_refused_before_it_is_unpacked(tmp_path):
    """Three kilobytes, of which a list of Python objects would take a gigabyte."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    n = 20_000_000
    values = arrow.ListArray.from_arrays(arrow.array([0, n, n]), arrow.array(np.zeros(n, np.int8)))
    columns = {"submit": [1, 2], "runtime": [1, 2], "size": [1, 1], "x": values}
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 5_000
    tracemalloc.start()
    try:
        with pytest.raises(fs.InputError, match="unpacks to more than 200 times its size"):
            fs.read_jobs(tmp_path / "a.parquet", columns={"user": "x"})
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
