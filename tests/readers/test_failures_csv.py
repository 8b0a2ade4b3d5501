"""Failure traces as text, there and back."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim import FailureTrace
from faultsim.errors import InputError

times = st.floats(0, 8e9)


@given(
    st.lists(st.tuples(times, st.integers(0, 2**31 - 1), times | st.just(math.inf)), max_size=20),
    st.floats(8e9, 2**33),
)
def test_round_trip_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, int, float]], span: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "trace.csv"
    trace = FailureTrace([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], span=span, name="a b")
    trace.write_csv(path)
    again = fs.read_failures(path)
    assert again == trace
    assert again.name == "a b"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.xz", "t.csv.bz2"])
def test_compressed_by_name(tmp_path: Path, name: str) -> None:
    trace = fs.synthetic.weibull_failures(320, 1e6, 0.55, 18_000, rng=1)
    trace.write_csv(tmp_path / name)
    again = fs.read_failures(tmp_path / name)
    assert again == trace
    assert again.name == trace.name
    before = (tmp_path / name).read_bytes()
    trace.write_csv(tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    plain = trace.renamed("")
    plain.write_csv(tmp_path / name)
    assert fs.read_failures(tmp_path / name).name == "t"


def test_files_of_others(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("\ufeffnode, cause ,time\r\n\r\n3,disk,20\r\n# a note\r\n1,cpu,10.5\r\n", encoding="utf-8")
    trace = fs.read_failures(path)
    assert trace == FailureTrace([10.5, 20], [1, 3], span=20)
    assert trace.name == "mine"
    path.write_text("# span: 100\ntime,node\n")
    assert fs.read_failures(path).span == 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": empty; expected a line with the names of the columns, time,node,downtime,coin"),
        ("# span: 5\n", ": empty; expected"),
        ("time,nodes\n1,2\n", ": no column 'node'; did you mean 'nodes'?; it has time, nodes; name them: node=..."),
        ("time,where\n1,2\n", ": no column 'node'; it has time, where; name them: node=..."),
        ("time,node\n1,2\n1\n", ", line 3: 1 fields, expected 2: '1'"),
        ("time,node\n1,2\nx,2\n", ", line 3: column 'time': 'x' is not a number"),
        ("# note\ntime,node\n\n5,-2\n", ": no failures are left (node missing: 1)"),
        ("time,node\nnan,2\n", ": no failures are left (time missing: 1)"),
        ("time,node,downtime\n1,2,-1\n", ": no failures are left (down time negative: 1)"),
        ("time,node,coin,downtime\n1,2,1.5,0\n", ", line 2: coin, row 0: 1.5 is not below 1"),
        ("# span: 5\ntime,node\n10,2\n", ": span: 5.0 s ends before the last failure at 10.0 s"),
        ("# span: long\ntime,node\n10,2\n", ": span: 'long' is not a number"),
        ("# span: inf\ntime,node\n10,2\n", ": span must be at least 0 s and finite, got inf"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        fs.read_failures(path, strict=True)
    assert str(caught.value).startswith(f"{path}{message}")


def test_large_node_numbers_stay_exact(tmp_path: Path) -> None:
    trace = FailureTrace(np.arange(3.0), [0, 2**31 - 1, 2**31 - 2])
    trace.write_csv(tmp_path / "t.csv")
    assert fs.read_failures(tmp_path / "t.csv").node.tolist() == [0, 2**31 - 1, 2**31 - 2]


@pytest.mark.parametrize("nodes", [np.array(5), "abc", 2.5])
def test_nodes_that_are_neither_a_number_nor_names(tmp_path, nodes):
    (tmp_path / "f.csv").write_text("time,node,downtime\n1,n1,5\n")
    with pytest.raises(fs.OptionError, match="nodes must be the number of nodes or a list of all their names"):
        fs.read_failures(tmp_path / "f.csv", nodes=nodes)
