"""`read_jobs`: CSV and Parquet files with columns of any name."""

import io
from datetime import datetime, timedelta

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.readers.named_columns import NamedColumns
from helpers.refusals import refused

CSV = (
    "# exported\n"
    "submitted,elapsed,nodes,limit,who,queue,weight,id\n"
    "2024-01-31T12:00:30,00:10:00,4,1-00:00:00,ann,long,0.5,7\n"
    "2024-01-31T12:00:00,90,1,,bob,short,,5\n"
    "2024-01-31T23:59:59.5,0,2,600,ann,long,2,6\n"
    ",10,1,20,ann,long,1,8\n"
    "2024-01-31T12:00:00,,1,20,ann,long,1,9\n"
    "2024-01-31T12:00:00,10,0,20,,long,1,10\n"
)
NAMES = {"submit": "submitted", "runtime": "elapsed", "size": "nodes", "estimate": "limit", "user": "who"}


def written(path, text):
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_columns_under_other_names(tmp_path, separator, newline):
    text = CSV.replace(",", separator).replace("\n", newline)
    log = fs.read_jobs(written(tmp_path / "month.csv", "\ufeff" + text), **NAMES)
    assert log.name == "month"
    assert log.submit.tolist() == [43_200, 43_230, 86_399.5]
    assert log.runtime.tolist() == [90, 600, 0]
    assert log.estimate.tolist() == [-1, 86_400, 600]
    assert (log.size.tolist(), log.id.tolist(), log.user.tolist()) == ([1, 4, 2], [5, 7, 6], [1, 0, 0])
    assert log.columns["user_name"].tolist() == ["bob", "ann", "ann"]
    assert log.columns["queue"].tolist() == ["short", "long", "long"]
    np.testing.assert_array_equal(log.columns["weight"], [np.nan, 0.5, 2])
    assert dict(log.dropped) == {"run time missing": 1, "size missing": 1, "submit time missing": 1}
    assert log.header["UnixStartTime"] == str(int(datetime.fromisoformat("2024-01-31T00:00Z").timestamp()))


def test_which_further_columns(tmp_path):
    path = written(tmp_path / "a.csv", "submit,runtime,size,wait,queue,note\n0,1,1,7,a,x\n")
    assert fs.read_jobs(path).further == ("queue", "note")  # jobs have a wait already
    assert fs.read_jobs(path, columns=["note"]).further == ("note",)
    assert fs.read_jobs(path, columns=[]).further == ()
    assert fs.read_jobs(path, columns={"waited": "wait"}).columns["waited"].tolist() == [7]
    refused(InputError, "a.csv: columns: jobs have a column 'wait' already", fs.read_jobs, path, columns=["wait"])
    refused(InputError, r"a.csv: no column 'not' \(did you mean 'note'\?\)", fs.read_jobs, path, columns=["not"])
    refused(OptionError, "columns: expected a list of names", fs.read_jobs, path, columns="note")


def test_types_of_further_columns(tmp_path):
    rows = ("1,1.0,true,007,1e3,,a", "2,2.5,False,2,,,3", "30,,TRUE,3,nan,,5")
    lines = ["submit,runtime,size,i,f,t,z,e,n,s", *(f"0,1,1,{row}" for row in rows), ""]
    path = written(tmp_path / "a.csv", "\n".join(lines))
    columns = fs.read_jobs(path).columns
    assert [columns[name].dtype.kind for name in "iftzens"] == list("ifbUfUU")
    assert columns["z"].tolist() == ["007", "2", "3"]
    np.testing.assert_array_equal(columns["e"], [1000, np.nan, np.nan])


def test_units(tmp_path):
    path = written(tmp_path / "a.csv", "submit,runtime,size,estimate\n1500,3000,1,2\n500,1000,1,3\n")
    log = fs.read_jobs(path, unit={"submit": "ms", "runtime": "ms", "estimate": "min"})
    assert (log.submit.tolist(), log.runtime.tolist(), log.estimate.tolist()) == ([0.5, 1.5], [1, 3], [180, 120])
    assert fs.read_jobs(path, unit="h").submit.tolist() == [500 * 3600, 1500 * 3600]
    refused(
        OptionError,
        "unknown unit 'fortnight'.*known: 'ns', 'us', 'ms', 's', 'min', 'h', 'd', 'w'",
        fs.read_jobs,
        path,
        unit="fortnight",
    )
    refused(OptionError, r"'sumbit' is no time \(did you mean 'submit'\?\)", fs.read_jobs, path, unit={"sumbit": "s"})


def test_start_and_finish(tmp_path):
    text = "submit,begun,ended,size\n2024-01-31,2024-01-31 01:00,2024-01-31T01:01:00.25,3\n"
    log = fs.read_jobs(written(tmp_path / "a.csv", text), start="begun", finish="ended")
    assert (log.submit.tolist(), log.runtime.tolist()) == ([0], [60.25])
    mixed = written(tmp_path / "b.csv", "submit,start,finish,size\n0,2024-01-31,5,3\n")
    refused(InputError, "of 'start' and 'finish' one has dates, one numbers", fs.read_jobs, mixed)


def test_a_run_time_is_given_once(tmp_path):
    path = written(tmp_path / "a.csv", "submit,runtime,begun,ended,size\n0,77,5,15,1\n")
    for given in ({"start": "begun", "finish": "ended"}, {"finish": "ended"}):
        said = "the run time is the column 'runtime' or finish - start: give runtime=, or start= and finish="
        refused(OptionError, said, fs.read_jobs, path, runtime="runtime", **given)
    refused(OptionError, "finish='ended' needs start=, the column of the other", fs.read_jobs, path, finish="ended")
    assert fs.read_jobs(path, start="begun", finish="ended").runtime.tolist() == [10]  # not the column of that name
    beside = fs.read_jobs(path, start="begun")
    assert (beside.runtime.tolist(), beside.recorded_wait.tolist()) == ([77], [5])
    assert fs.read_jobs(path).runtime.tolist() == [77]


def test_a_unit_of_a_time_that_is_not_read(tmp_path):
    path = written(tmp_path / "a.csv", "submit,runtime,limit,size\n0,77,2,1\n")
    for key in ("estimate", "start"):
        refused(OptionError, f"is read without '{key}', so that its unit", fs.read_jobs, path, unit={key: "min"})
    assert fs.read_jobs(path, estimate="limit", unit={"estimate": "min"}).estimate.tolist() == [120]
    assert fs.read_jobs(path, unit="min").runtime.tolist() == [77 * 60]


def test_zones_and_periods(tmp_path):
    text = "submit,runtime,size\n2024-03-31T01:30:00+01:00,1,1\n2024-03-31T03:30:00+02:00,1,2\n2024-04-01T00:00Z,1,3\n"
    path = written(tmp_path / "a.csv", text)
    assert np.diff(fs.read_jobs(path).submit).tolist() == [3600, 22.5 * 3600]
    part = fs.read_jobs(path, begin="2024-03-31 01:00", end="2024-04-01")
    assert (part.submit.tolist(), part.size.tolist()) == ([1800], [2])
    refused(InputError, "no jobs in the period requested; they were submitted from 2024-03-31 00:30 to 2024-04-01",
            fs.read_jobs, path, begin="2025-01-01")  # fmt: skip
    refused(OptionError, "end: it is not after the begin", fs.read_jobs, path, begin="2025-01-01", end="2024-01-01")
    numbers = written(tmp_path / "b.csv", "submit,runtime,size\n100,1,1\n200,1,2\n")
    assert fs.read_jobs(numbers).submit.tolist() == [100, 200]
    assert "UnixStartTime" not in fs.read_jobs(numbers).header
    assert fs.read_jobs(numbers, begin=150).submit.tolist() == [50]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.csv: empty; expected a line with the names of the columns"),
        ("submit,runtime,size\n", r"a.csv: no jobs are left \(the file has none\)"),
        ("submit,runtime,size\n0,,1\n", r"a.csv: no jobs are left \(run time missing: 1\)"),
        ("submit,runtime,size\n0,1,1\n0,1\n", "a.csv, line 3: 2 fields, expected 3: '0,1'"),
        ('submit,runtime,size\n0,1,"1"\n0,1\n', "a.csv, line 3: 2 fields, expected 3: '0,1'"),
        ("submit,runtime,size\n0,1,1\n\n0,x,1\n", "a.csv, line 4: column 'runtime': 'x' is no duration such as 90"),
        ("submit,runtime,size\n0,1:30,1\n", "line 2: column 'runtime': '1:30' is no duration"),
        ("submit,runtime,size\n0,1,1.5\n", "line 2: column 'size': '1.5' is not a whole number"),
        ("submit,runtime,size\n0,1,inf\n", "line 2: column 'size': 'inf' is not a whole number"),
        ("submit,runtime,size\n0,1,1_0\n", "line 2: column 'size': '1_0' is not a number"),
        ("submit,runtime,size\n1,1,1\n2024-01-31,1,1\n", "line 3: column 'submit': '2024-01-31' is not a number"),
        ("submit,runtime,size\n2024-01-31,1,1\n5,1,1\n", "line 3: column 'submit': '5' is no date and time such as"),
        ("submit,runtime,size\n2024-01-31,1,1\n2024-01-31T00:00Z,1,1\n", "line 3.* has a time zone, unlike those"),
        ("submit,runtime,nodes\n0,1,1\n", "a.csv: no column 'size'; it has submit, runtime, nodes; .*: size=..."),
        ("submit,runtimes,size\n0,1,1\n", "column 'runtimes' is not known; if it is the runtime: runtime='runtimes'"),
        ("submit,runtime,size,estimates\n0,1,1,2\n", "'estimates' is not known; .*: estimate='estimates'"),
        ("submit,runtime,size,size\n0,1,1,2\n", "a.csv: column 'size' appears twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, text, said):
    refused(InputError, said, fs.read_jobs, written(tmp_path / "a.csv", text), strict=True)


def test_a_name_that_the_file_has_not(tmp_path):
    path = written(tmp_path / "a.csv", "submitted,runtime,size\n0,1,1\n")
    refused(InputError, r"no column 'submited' \(did you mean 'submitted'\?\); it has", fs.read_jobs, path,
            submit="submited")  # fmt: skip
    assert fs.read_jobs(path, submit="submitted", estimate="runtime").estimate.tolist() == [1]
    refused(InputError, "no such file", fs.read_jobs, tmp_path / "b.csv")


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    start = datetime(2024, 1, 31, 12)
    table = pa.table(
        {
            "when": pa.array([start + timedelta(seconds=s) for s in (5, 0, 9)], pa.timestamp("us")),
            "ran": pa.array([timedelta(seconds=s) for s in (1.5, 2, 3)], pa.duration("ms")),
            "nodes": pa.array([4, 1, None], pa.int32()),
            "user": pa.array(["ann", None, "bob"]).dictionary_encode(),
            "flag": [True, False, True],
            "day": pa.array([start.date()] * 3),
            "price": pa.array([1, 2, 3], pa.decimal128(5, 2)),
        }
    )
    path = tmp_path / "jobs.parquet"
    parquet.write_table(table, path)
    log = fs.read_jobs(path, submit="when", runtime="ran", size="nodes")
    assert (log.submit.tolist(), log.runtime.tolist()) == ([43_200, 43_205], [2, 1.5])
    assert (log.user.tolist(), log.columns["user_name"].tolist()) == ([-1, 0], ["", "ann"])
    assert log.columns["flag"].tolist() == [False, True]
    assert log.columns["price"].tolist() == [2, 1]
    assert log.columns["day"].astype("datetime64[D]").tolist() == [start.date()] * 2
    assert dict(log.dropped) == {"size missing": 1}
    parquet.write_table(pa.table({"submit": [0.0], "runtime": [1], "size": [1], "tags": [["a"]]}), path)
    log = fs.read_jobs(path)
    assert log.further == ()
    assert log.header["ColumnsLeftOut"] == "1: 'tags' (of list<element: string>)"
    assert fs.read_jobs(path, columns={"labels": "tags"}).columns["labels"].tolist() == ["['a']"]
    parquet.write_table(pa.table({"submit": [0.0, 1], "runtime": [1, 2], "size": [1, 1.5]}), path)
    refused(
        InputError, "jobs.parquet, row 1: column 'size': 1.5 is not a whole number", fs.read_jobs, path, strict=True
    )
    assert dict(fs.read_jobs(path).dropped) == {"unreadable size": 1}
    path.write_bytes(b"PAR1 and nothing else")
    refused(InputError, "jobs.parquet: not a Parquet file that can be read", fs.read_jobs, path)


def test_parquet_with_names_or_words_that_are_no_text(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path, file = tmp_path / "jobs.parquet", io.BytesIO()
    table = pa.table({"submit": [0.0], "runtime": [1.0], "size": [1], "user": ["anna"]})
    # Names and words stand as they are, and without the schema that Arrow adds and would look at first.
    plain = {"compression": "none", "store_schema": False, "use_dictionary": False, "write_statistics": False}
    pytest.importorskip("pyarrow.parquet").write_table(table, file, **plain)
    for there, why in ((b"submit", "'utf-8' codec"), (b"anna", "Column 3: .* Invalid UTF8")):
        path.write_bytes(file.getvalue().replace(there, b"\xd2" + there[1:]))
        refused(InputError, f"jobs.parquet: not a Parquet file that can be read: {why}", fs.read_jobs, path)


def test_parquet_is_unpacked_as_the_limits_allow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "jobs.parquet"
    rows = 600_000
    table = pa.table({"submit": np.zeros(rows), "runtime": np.ones(rows), "size": np.ones(rows, np.int32)})
    parquet.write_table(table, path)
    assert path.stat().st_size < 10_000
    refused(InputError, "jobs.parquet: unpacks to more than 200 times its size", fs.read_jobs, path)
    with fs.Limits(ratio=10**6):
        assert len(fs.read_jobs(path)) == rows
    with fs.Limits(ratio=10**6, lines=rows - 1):
        refused(InputError, "jobs.parquet: more than 599,999 lines", fs.read_jobs, path)
    with fs.Limits(bytes=10**6):
        refused(InputError, "jobs.parquet: more than 1,000,000 bytes", fs.read_jobs, path)


def test_parquet_that_says_two_things_about_its_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path, file = tmp_path / "jobs.parquet", io.BytesIO()
    table = pa.table({"submit": [0.0, 1.0], "runtime": [1.0, 1.0], "size": [1, 1]})
    pytest.importorskip("pyarrow.parquet").write_table(table, file, store_schema=False)
    told = 0
    for at in range(len(content := file.getvalue())):
        if content[at] == 4:  # 2, as the footer writes it
            path.write_bytes(content[:at] + b"\x7e" + content[at + 1 :])
            try:
                fs.read_jobs(path)
            except InputError as error:
                told += "rows, but" in str(error)
    assert told >= 2


def test_words_of_parquet_are_kept_once(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "jobs.parquet"
    rows, word = 3000, "x" * 300_000
    columns = {"submit": np.zeros(rows), "runtime": np.ones(rows), "size": np.ones(rows), "user": [word] * rows}
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path)
    found = NamedColumns(path).columns["user"]
    assert len({id(text) for text in found}) == 1
    refused(InputError, "jobs.parquet: column 'user': unpacks to more than 200 times its size", fs.read_jobs, path)
