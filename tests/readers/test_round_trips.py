"""What faultsim writes, it reads back: every pair of a writer and a reader."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import faultsim as fs
from helpers.command import run

SECONDS = st.floats(0, 1e9, allow_subnormal=False)
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).map(lambda word: "w" + word)


@st.composite
def logs(draw, text):
    """A log with further columns of the types that its file may hold."""
    n = draw(st.integers(1, 5))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    further = {"group": column(st.integers(-1, 9)), "think_time": column(SECONDS)}
    if text:
        further |= {"account": column(WORDS), "a, b": column(st.booleans()), "note": column(SECONDS | st.just(np.nan))}
    return fs.Workload(
        id=column(WORDS) if text and draw(st.booleans()) else column(st.integers(-(2**40), 2**40)),
        submit=sorted(column(SECONDS)),
        runtime=column(SECONDS),
        estimate=column(st.just(-1.0) | SECONDS),
        size=column(st.integers(1, 2**31 - 1)),
        user=column(st.integers(-1, 2**40)),
        columns=further,
    )


def there_and_back(log, path):
    if ".swf" in path.name:
        log.write_swf(path)
        return fs.read_swf(path, columns=list(log.further))
    (log.write_parquet if path.name.endswith(".parquet") else log.write_csv)(path)
    return fs.read_jobs(path)


@pytest.mark.parametrize("end", [".swf", ".swf.gz", ".csv", ".csv.xz", ".csv.bz2", ".parquet"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_logs(tmp_path, end, data):
    if end == ".parquet":
        pytest.importorskip("pyarrow")
    log = data.draw(logs(text="swf" not in end))
    again = there_and_back(log, tmp_path / f"log{end}")
    assert again == log
    assert {name: values.dtype.kind for name, values in again.columns.items()} == {
        name: values.dtype.kind for name, values in log.columns.items()
    }


@pytest.mark.parametrize("end", ["", ".gz", ".xz", ".bz2"])
def test_traces(tmp_path, end):
    trace = fs.synthetic.weibull_failures(9, 1e6, shape=0.7, scale=9000, rng=1)
    trace.write_csv(tmp_path / f"trace.csv{end}")
    assert fs.read_failures(tmp_path / f"trace.csv{end}") == trace


def test_a_result_as_a_log(tmp_path):
    log = fs.synthetic.sdsc_like(50, rng=1).with_columns(queue=np.arange(50))
    result = fs.simulate(log, fs.Cluster(128))
    result.write_swf(tmp_path / "out.swf")
    assert fs.read_swf(tmp_path / "out.swf", columns=["queue"]) == log


@pytest.mark.parametrize("end", [".swf", ".swf.bz2", ".csv", ".csv.gz", ".parquet"])
def test_log_convert_reads_what_it_writes(tmp_path, capsys, end):
    if end == ".parquet":
        pytest.importorskip("pyarrow")
    first, there, back = tmp_path / "first.swf", tmp_path / f"there{end}", tmp_path / "back.swf"
    fs.synthetic.sdsc_like(40, rng=1).write_swf(first)
    assert run(capsys, "log", "convert", first, there)[0] == 0
    assert run(capsys, "log", "convert", there, back)[0] == 0
    assert fs.read_swf(back) == fs.read_swf(first)
    status, out, err = run(capsys, "run", there, "--machine", "cluster:128")
    assert (status, err) == (0, "")
    assert str(there) in out
