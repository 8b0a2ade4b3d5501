"""Workload: immutable, checked, and the same after every detour."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.data.columns import WORKLOAD
from helpers.refusals import refused
from helpers.strategies import workloads


def three(**changed: object) -> fs.Workload:
    return fs.Workload(**{"submit": [0, 60, 60], "runtime": [100, 30, 5], "size": [4, 1, 2], **changed})


def test_columns_have_their_types_and_cannot_be_written() -> None:
    log = three()
    assert list(log.columns) == [column.name for column in WORKLOAD]
    for column in WORKLOAD:
        values = getattr(log, column.name)
        assert values is log.columns[column.name]
        assert values.dtype.str[1:] == column.dtype
        assert values.flags.c_contiguous
        assert not values.flags.writeable
    assert log.id.tolist() == [1, 2, 3]
    assert log.estimate.tolist() == log.user.tolist() == [-1, -1, -1]
    for derived in (log.requested, log.work):
        assert not derived.flags.writeable


def test_a_workload_cannot_be_changed() -> None:
    log = three()
    with pytest.raises(AttributeError, match="read-only"):
        log.name = "other"
    with pytest.raises(AttributeError, match="read-only"):
        del log.name
    with pytest.raises(AttributeError):
        log.anything = 1
    with pytest.raises(TypeError):
        log.columns["submit"] = np.zeros(3)
    with pytest.raises(TypeError):
        log.dropped["x"] = 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"submit": [0, 60, 59]}, "submit, row 2: 59 is less than 60 in the row before; sort the rows by submit first"),
        ({"submit": [0, float("nan"), 60]}, "submit, row 1: nan is not a finite number"),
        ({"submit": [-1, 0, 0]}, "submit, row 0: -1 is negative; expected at least 0"),
        ({"runtime": [1, -1, 1]}, "runtime, row 1: -1 is negative; expected at least 0"),
        ({"runtime": [1, float("nan"), 1]}, "runtime, row 1: nan is not a finite number"),
        ({"estimate": [1, float("nan"), 1]}, "estimate, row 1: nan is not a finite number"),
        ({"size": [1, 0, 1]}, "size, row 1: 0 is less than 1; expected at least 1"),
        ({"size": [1, 1.5, 1]}, "size, row 1: 1.5 is not a whole number"),
        ({"size": [1, 2]}, "size: 2 values for 3 rows"),
        ({"id": [1, 2, 2.5]}, "id, row 2: 2.5 is not a whole number"),
        ({"user": [1, 2, -7]}, "user, row 2: -7 is negative; expected at least 0, or -1 where it is missing"),
        ({"submit": [], "runtime": [], "size": []}, "no job: a workload has at least one"),
    ],
)
def test_bad_input_is_one_line_that_says_where(changed: dict, message: str) -> None:
    with pytest.raises(fs.InputError) as caught:
        three(**changed)
    assert str(caught.value) == message


def test_parts() -> None:
    log = three(dropped={"run time missing": 2}, name="three")
    assert log.head(2).id.tolist() == log[:2].id.tolist() == [1, 2]
    assert log.head(99) == log
    assert log[log.size > 1].id.tolist() == [1, 3]
    assert log[1:].name == "three"
    assert log[::2].dropped == {"run time missing": 2}
    assert not log[1:].submit.flags.writeable
    assert log[1:].submit.base is None, "a part would keep the whole log in memory"
    with pytest.raises(fs.InputError, match="no job of the 3 is left"):
        log[log.size > 99]
    with pytest.raises(fs.InputError, match="slices go forward, got step -1"):
        log[::-1]
    for bad in (True, [0, 1], [True, False], np.ones((3, 1), dtype=bool)):
        with pytest.raises(fs.InputError, match="a slice or a mask of 3 booleans"):
            log[bad]
    refused(fs.InputError, "at least one job", log.head, 0)
    for bad in (2.5, "2"):
        refused(fs.OptionError, "must be a whole number", log.head, bad)


def test_drop_counts() -> None:
    log = three(dropped={"too large": 1})
    left = log.drop(log.size > 3, "too large")
    assert left.dropped == {"too large": 2}
    assert left.id.tolist() == [2, 3]
    assert log.drop(log.size > 99, "never").dropped == {"too large": 1}
    refused(fs.InputError, "mask of 3 booleans", log.drop, [0, 1, 2], "?")


def test_requested_is_the_run_time_where_missing() -> None:
    assert three(estimate=[-1, 0, 50]).requested.tolist() == [100.0, 0.0, 50.0]


def test_load() -> None:
    log = three(submit=[10, 60, 90], estimate=[200, -1, 5])
    twice = log.with_runtime_factor(2)
    assert twice.runtime.tolist() == [200.0, 60.0, 10.0]
    assert twice.estimate.tolist() == [400.0, -1.0, 10.0]
    assert log.with_gap_factor(2).submit.tolist() == [10.0, 110.0, 170.0]
    assert log.with_size_factor(512).size.tolist() == [2048, 512, 1024]
    load = log.summary(nodes=8)["offered_load"]
    assert load == (400 + 30 + 10) / (8 * 80)
    assert log.with_load(1.25, nodes=8).summary(nodes=8)["offered_load"] == pytest.approx(1.25, rel=1e-12)
    for bad in (0, -1, float("nan"), float("inf"), "x", None):
        for call in (log.with_runtime_factor, log.with_gap_factor, lambda x: log.with_load(x, nodes=8)):
            refused(fs.OptionError, r"must be (above 0|above 0 and finite|a number), got", call, bad)
    for bad in (0, -1, 1.5, "x", 2**31):
        refused(fs.OptionError, r"must be (a whole number|at least 1)", log.with_size_factor, bad)
        refused(fs.OptionError, r"must be (a whole number|at least 1)", log.summary, nodes=bad)
    for call in (log.with_runtime_factor, log.with_gap_factor):
        refused(fs.InputError, "inf is not a finite number", call, 1.7e308)
    refused(fs.InputError, "does not fit into int32", log.with_size_factor, 2**30)
    refused(fs.InputError, "time span", log.head(1).with_load, 0.5, nodes=8)


def test_concat() -> None:
    a = three(dropped={"x": 1}, name="a", comments=["; Installation: A"])
    b = fs.Workload(submit=[60], runtime=[1], size=[9], dropped={"x": 2, "y": 1}, name="b")
    both = fs.concat([a, b])
    assert both.size.tolist() == [4, 1, 2, 9]
    assert fs.concat([b, a]).size.tolist() == [4, 9, 1, 2]
    assert both.dropped == {"x": 3, "y": 1}
    assert both.name == "a+b"
    assert both.header == {"Installation": "A"}
    assert fs.concat([a]) == a
    refused(fs.InputError, "at least one", fs.concat, [])
    refused(fs.InputError, "item 1 must be a Workload, got", fs.concat, [a, [1]])
    assert len(fs.concat(log for log in (a, b))) == 4
    refused(fs.InputError, "one workload given; expected several, in a list", fs.concat, a)


def test_equality_and_digest_are_about_the_jobs() -> None:
    log = three(name="a", dropped={"x": 1})
    same = three(name="b")
    assert log == same
    assert hash(log) == hash(same)
    assert log.digest() == same.digest()
    assert log != "a workload"
    for changed in ({"size": [4, 1, 3]}, {"estimate": [1, 1, 1]}, {"id": [1, 2, 4]}, {"user": [1, 1, 1]}):
        assert log != three(**changed)
        assert log.digest() != three(**changed).digest()
    # A golden value: the digest goes into provenance, so it may not drift.
    assert log.digest() == "264fa797fd88be485c4fb42aa96081c2"


@given(workloads())
def test_pickle_and_copy(log: fs.Workload) -> None:
    for other in (pickle.loads(pickle.dumps(log)), copy.deepcopy(log), copy.copy(log)):
        assert other == log
        assert other.digest() == log.digest()
        assert not other.submit.flags.writeable


@given(workloads())
def test_pandas_round_trip(log: fs.Workload) -> None:
    pytest.importorskip("pandas")
    assert fs.Workload.from_pandas(log.to_pandas()) == log


def test_from_pandas_missing_and_misspelt() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"submit": [0, 1], "runtime": [1, 2], "size": [1, 2], "estimate": [None, 5.0], "queue": 1})
    assert fs.Workload.from_pandas(frame).estimate.tolist() == [-1.0, 5.0]
    with pytest.raises(fs.InputError, match="from_pandas: no column 'runtime'; it has submit, size"):
        fs.Workload.from_pandas(frame[["submit", "size"]])
    with pytest.raises(
        fs.InputError, match="column 'estimates' is not known; if it is the estimate: estimate='estimates'"
    ):
        fs.Workload.from_pandas(frame.rename(columns={"estimate": "estimates"}))


@given(workloads())
def test_scaling_keeps_what_it_does_not_scale(log: fs.Workload) -> None:
    assert log.with_runtime_factor(1) == log.with_gap_factor(1) == log.with_size_factor(1) == log
    longer = log.with_runtime_factor(3)
    assert longer.submit.tolist() == log.submit.tolist()
    assert ((longer.estimate < 0) == (log.estimate < 0)).all()


def test_repr_and_header(tmp_path: Path) -> None:
    assert repr(three(name="t", dropped={"x": 1200})) == (
        "<Workload 't': 3 jobs, sizes 1-4, submit 0-60 s, 1,200 dropped>"
    )
    assert repr(three().head(1)) == "<Workload: 1 job, sizes 4-4, submit 0-0 s>"
    assert three().max_nodes is None
    assert three(comments=["; MaxNodes: 5544", ";MaxProcs: 338 (batch partition; 512 total)"]).max_nodes == 338
    assert three(comments=["; MaxNodes: 256", "; MaxProcs: unknown"]).max_nodes == 256
    assert three(comments=["; MaxNodes: -1"]).max_nodes is None
