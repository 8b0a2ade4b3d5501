"""Kinds of tables that people have, each with several inputs: records, columns, words, encodings, frames."""

import codecs
import contextlib
import gzip
import io
import logging
import subprocess
import sys
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.readers.table import what_is
from helpers.line_counts import lines_run
from helpers.refusals import refused

HEAD = "submit,runtime,size\n"


def written(tmp_path, text, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("5,1", "unreadable record"),
        ("5,1,1,surplus", "unreadable record"),
        ("5,1,four", "unreadable size"),
        ("5,1,inf", "unreadable size"),
        ("5,soon,1", "unreadable run time"),
        ("5,UNLIMITED,1", "unreadable run time"),
        ("x,1,1", "unreadable submit time"),
        ("5,-3,1", "run time negative"),
        ("-7,3,1", "submit time negative"),
        ("5,NULL,1", "run time missing"),
    ],
)
def test_one_bad_record_does_not_refuse_the_file(tmp_path, row, reason, caplog):
    path = written(tmp_path, HEAD + "0,1,1\n" + row + "\n9,2,2\n")
    with caplog.at_level(logging.WARNING, "faultsim"):
        log = fs.read_jobs(path)
    assert (log.submit.tolist(), dict(log.dropped)) == ([0, 9], {reason: 1})
    is_unreadable = reason.startswith("unreadable")
    assert ("a.csv: 1 of 3 records (33.3 %) left out" in caplog.text and "line 3: " in caplog.text) == is_unreadable
    warnings = fs.simulate(log, fs.Cluster(2)).warnings
    assert any("33.3 % of the records of the log could not be read" in text for text in warnings) == is_unreadable
    if is_unreadable:
        refused(InputError, "a.csv, line 3: .*strict=False leaves such records out", fs.read_jobs, path, strict=True)


def test_only_the_first_three_are_shown(tmp_path, caplog):
    rows = "".join(f"{at},{'x' if at % 50 == 0 else 1},1\n" for at in range(1, 400))
    with caplog.at_level(logging.WARNING, "faultsim"):
        log = fs.read_jobs(written(tmp_path, HEAD + rows))
    assert dict(log.dropped) == {"unreadable run time": 7}
    assert [f"line {at}:" in caplog.text for at in (51, 101, 151, 201)] == [True, True, True, False]
    assert "%" not in caplog.text  # fewer than 5 %


@pytest.mark.parametrize("rows", ["x,1,1\n", "0,y,1\n5,z,1\n", "1,1\n1,2\n", "0,1,a\nb,1,1\n", "31.1.2024,1,1\n"])
def test_all_dropped_says_what_was_expected(tmp_path, rows):
    said = r"line [23]: .*expected numbers, durations \(10s, 02:03:04\) and dates"
    refused(InputError, said, fs.read_jobs, written(tmp_path, HEAD + rows))


@pytest.mark.parametrize(
    ("head", "row", "left_out"),
    [
        (",submit,runtime,size", "0,0,1,1", "1: 'Unnamed: 0' (no name)"),
        ("submit,runtime,size,", "0,1,1,", "1: 'Unnamed: 3' (no name)"),
        (",submit,,runtime,size", "0,0,8,1,1", "2: 'Unnamed: 0' (no name), 'Unnamed: 2' (no name)"),
        ("submit,runtime,size,a/b", "0,1,1,7", "1: 'a/b' (not a name that a column of a log can have)"),
        ('submit,runtime,size,"a\tb"', "0,1,1,7", "1: 'a\\tb' (not a name that a column of a log can have)"),
    ],
)
def test_columns_that_are_not_needed(tmp_path, head, row, left_out):
    path = written(tmp_path, f"{head}\n{row}\n")
    log = fs.read_jobs(path)
    assert (log.submit.tolist(), log.size.tolist(), log.further) == ([0], [1], ())
    assert log.header["ColumnsLeftOut"] == left_out
    name = left_out.partition("'")[2].partition("'")[0].replace("\\t", "\t")
    assert len(fs.read_jobs(path, columns={"taken": name}).columns["taken"]) == 1


def test_trailing_separators_of_rows_only(tmp_path):
    assert fs.read_jobs(written(tmp_path, HEAD + "0,1,1,,\n5,1,2,,\n")).size.tolist() == [1, 2]


def test_columns_of_lists_and_bytes(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    kinds = {
        "lists": pa.array([[1, 2], []]),
        "bytes": pa.array([b"ab", b"\xff"]),
        "structs": pa.array([{"a": 1}, {"a": 2}]),
        "clock": pa.array([1, 2], pa.time32("s")),
        "maps": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())),
        "a/b": pa.array([1, 2]),
        "": pa.array([5, 6]),
    }
    path = tmp_path / "jobs.parquet"
    parquet.write_table(pa.table({"submit": [0, 1], "runtime": [1, 1], "size": [1, 2]} | kinds), path)
    log = fs.read_jobs(path)
    assert log.further == ()
    assert log.header["ColumnsLeftOut"].startswith("7: ")
    taken = fs.read_jobs(path, columns={"l": "lists", "b": "bytes", "s": "structs", "o": "a/b", "u": ""})
    assert taken.columns["l"].tolist() == ["[1, 2]", "[]"]
    assert taken.columns["b"].tolist() == ["ab", "\\xff"]
    assert taken.columns["s"].tolist() == ["{'a': 1}", "{'a': 2}"]
    assert (taken.columns["o"].tolist(), taken.columns["u"].tolist()) == ([1, 2], [5, 6])


@pytest.mark.parametrize(
    "text", ["10s", "10.0 sec", "00:00:10", "0-00:00:10", "0 days 00:00:10", "10000ms", "1e7us", "10"]
)
def test_words_for_a_run_time(tmp_path, text):
    log = fs.read_jobs(written(tmp_path, f"{HEAD}0,{text},1\n"))
    assert log.runtime.tolist() == [10]
    if text != "10":
        assert fs.Workload(submit=[0], runtime=[text], size=[1]) == log


@pytest.mark.parametrize(
    "text", ["UNLIMITED", "inf", "Partition_Limit", "Infinity", "NULL", "", "nan", "-1", "N/A", "\\N"]
)
def test_words_for_no_limit(tmp_path, text):
    log = fs.read_jobs(written(tmp_path, f"submit,runtime,size,estimate\n0,5,1,{text}\n5,5,1,1h30m\n"))
    assert log.estimate.tolist() == [-1, 5400]


@pytest.mark.parametrize(("unit", "factor"), [("ns", 10**9), ("us", 10**6), ("ms", 1000), ("s", 1)])
def test_epochs_in_any_unit(tmp_path, unit, factor):
    path = written(tmp_path, f"{HEAD}{1_700_000_000 * factor},{5 * factor},1\n")
    log = fs.read_jobs(path, unit=unit)
    assert (log.submit.tolist(), log.runtime.tolist()) == ([1_700_000_000], [5])


@pytest.mark.parametrize(("unit", "factor"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_an_epoch_without_its_unit_is_said(tmp_path, unit, factor):
    path = written(tmp_path, f"{HEAD}{1_700_000_000 * factor},5,1\n")
    said = rf"s is beyond 8589934592 s \(272 years\), where the clock ends: are they in {unit}\? unit="
    refused(InputError, said, fs.read_jobs, path)
    assert fs.read_jobs(path, unit={"submit": unit}).submit.tolist() == [1_700_000_000]


def test_sizes(tmp_path):
    log = fs.read_jobs(written(tmp_path, HEAD + "0,1,1.50K\n1,1,4 nodes\n2,1,2 CPUs\n3,1,1K\n4,1,8n\n"))
    assert log.size.tolist() == [1500, 4, 2, 1000, 8]


def test_local_clocks(tmp_path, caplog):
    head = "submit,start,finish,size\n"
    rows = ("2024-10-27T00:30:00,2024-10-27T01:30:00,2024-10-27T03:30:00,1\n"
            "2024-10-27T00:40:00,2024-10-27T02:30:00,2024-10-27T04:00:00,2\n")  # fmt: skip
    path = written(tmp_path, head + rows)
    with caplog.at_level(logging.WARNING, "faultsim"):
        log = fs.read_jobs(path, zone="Europe/Berlin")
    assert log.runtime.tolist() == [3 * 3600, 2.5 * 3600]  # an hour more than the clock shows
    assert fs.read_jobs(path).runtime.tolist() == [2 * 3600, 1.5 * 3600]
    assert log.header["RunsAcrossClockChange"] == "2 in Europe/Berlin"
    assert log.header["DoubtfulMoments"] == "1 in column 'start'"
    assert "runs across a change of the clock: 2 in Europe/Berlin" in caplog.text
    assert "has 1 moments that the clock of the zone shows twice" in caplog.text
    mixed = written(tmp_path, HEAD + "2024-01-31T12:00:00,1,1\n2024-01-31T11:00:01Z,1,2\n")
    assert np.diff(fs.read_jobs(mixed, zone="Europe/Berlin").submit).tolist() == [1]
    for zone in ("Mars/Olympus", "", "../etc/passwd", 3):
        refused(OptionError, "zone: .* is no time zone known here", fs.read_jobs, path, zone=zone)


PLAIN = "id;submit;runtime;size\n1;0;10;2\n2;5;20;4\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        codecs.BOM_UTF8 + PLAIN.encode(),
        PLAIN.replace(";", "\t").encode("utf-16"),
        codecs.BOM_UTF16_BE + PLAIN.encode("utf-16-be"),
        b"sep=;\r\n" + PLAIN.replace("\n", "\r\n").encode(),
        gzip.compress(codecs.BOM_UTF8 + PLAIN.replace(";", "|").encode()),
        ("# made by a tool\n" + PLAIN.replace(";", ",")).encode(),
        ("# id submit runtime size\n" + PLAIN.partition("\n")[2].replace(";", " ")).encode(),
        PLAIN.replace(";", "   ").encode(),
    ],
    ids=range(9),
)
def test_encodings_separators_and_headers(tmp_path, content):
    log = fs.read_jobs(written(tmp_path, content))
    assert (log.id.tolist(), log.submit.tolist(), log.size.tolist()) == ([1, 2], [0, 5], [2, 4])


@pytest.mark.parametrize("content", [PLAIN.encode(), codecs.BOM_UTF8 + PLAIN.encode(), PLAIN.encode("utf-16")])
def test_python_and_command_line_judge_alike(tmp_path, content):
    for packed in (content, gzip.compress(content)):
        path = written(tmp_path, packed, "unnamed")
        assert what_is(path).called == "job log, CSV or Parquet with named columns"
        assert len(fs.read(path)) == 2


def test_read_takes_whatever_there_is(tmp_path, caplog):
    log = fs.Workload(submit=[0, 5], runtime=[10, 20], size=[2, 4])
    trace = fs.FailureTrace([5.0], [2], span=9.0)
    log.write_swf(tmp_path / "log")
    log.write_csv(tmp_path / "table.txt")
    trace.write_csv(tmp_path / "failed.csv.gz")
    result = fs.simulate(log, fs.Cluster(4))
    result.save(tmp_path / "saved")
    written(tmp_path, '<adag xmlns="http://pegasus.isi.edu/schema/DAX"><job id="A" runtime="3"/></adag>', "flow")
    fs.Sweep(fs.Run(log, fs.Cluster(4)), {"runtime_factor": [1.0]}).run(tmp_path / "store.db", workers=1)
    with caplog.at_level(logging.INFO, "faultsim"):
        assert fs.read(tmp_path / "log") == fs.read(tmp_path / "table.txt") == log
    assert "log: taken for a job log, Standard Workload Format" in caplog.text
    assert fs.read(tmp_path / "failed.csv.gz") == trace
    assert fs.read(tmp_path / "saved").metrics == result.metrics
    assert isinstance(fs.read(tmp_path / "flow"), fs.Workflow)
    assert len(fs.read(tmp_path / "store.db")) == 1
    refused(OptionError, "CSV or Parquet with named columns has no option 'sumbit'.*did you mean 'submit'",
            fs.read, tmp_path / "table.txt", sumbit="x")  # fmt: skip
    refused(OptionError, "unknown format 'excel'", fs.read, tmp_path / "log", format="excel")
    refused(InputError, "taken for a job log, Standard", fs.read, written(tmp_path, "---\nhello: world\n", "x.yml"))
    refused(InputError, "no such file", fs.read, tmp_path / "none")


def test_missing_columns_are_named_at_once(tmp_path):
    path = written(tmp_path, "when,ran,nodes\n0,1,1\n")
    refused(InputError, r"no column 'submit', 'runtime', 'size'; it has when, ran, nodes; name those that are: "
            r"submit=\.\.\., runtime=\.\.\., size=\.\.\.", fs.read_jobs, path)  # fmt: skip
    refused(InputError, "no column 'a', 'b'; it has when", fs.read_jobs, path, submit="a", runtime="b", size="nodes")
    refused(InputError, "found values: '0,1,1'; write a first line", fs.read_jobs, written(tmp_path, "0,1,1\n5,1,1\n"))


# -- frames ----------------------------------------------------------------------------------------------------------


def frames():
    pd = pytest.importorskip("pandas")
    start = pd.Timestamp("2024-01-31 12:00")
    seconds = pd.to_timedelta([9, 0, 5], unit="s")
    return [
        pd.DataFrame(
            {"submit": [9, 0, 5], "runtime": [1.5, None, 2], "size": [1, 2, 4], "user": ["ann", "bob", "ann"]}
        ),
        pd.DataFrame({"submit": start + seconds, "runtime": seconds, "size": [1.0, 2.0, 4.0], "queue": list("xyx")}),
        pd.DataFrame({"submit": (start + seconds).tz_localize("Europe/Berlin"), "runtime": [1, 2, 3], "size": 1}),
        pd.DataFrame(
            {"submit": ["2024-01-31T12:00", "2024-02-01", "NaT"], "runtime": ["10s", "1h30m", "5"], "size": 2}
        ),
        pd.DataFrame(
            {"submit": [0, 1, 2], "runtime": ["1-00:00:00", "x", ""], "size": pd.array([1, None, 3], "Int64")}
        ),
        pd.DataFrame(
            {"submit": [0, 1, 2], "runtime": [1, 2, 3], "size": [1, 2, 3], "estimate": ["UNLIMITED", "inf", 30]}
        ),
        pd.DataFrame({"submit": [0, 1, 2], "runtime": np.float32([0.1, 2, 3]), "size": pd.Categorical([1, 2, 1])}),
        pd.DataFrame(
            {"submit": [Decimal("0.5"), 1, 2], "runtime": [1, 2, 3], "size": [1, 2, 3], "id": ["a", "b", None]}
        ),
        pd.DataFrame({"submit": [0, 1, 2], "runtime": [1, 2, 3], "size": [1, 2, 3], "": [7, 8, 9], "ok": [True] * 3}),
    ]


@pytest.mark.parametrize("number", range(9))
def test_a_frame_is_read_as_its_csv(tmp_path, number):
    frame = frames()[number]
    frame.to_csv(tmp_path / "a.csv")
    assert fs.Workload.from_pandas(frame) == fs.read_jobs(tmp_path / "a.csv")
    assert dict(fs.Workload.from_pandas(frame).dropped) == dict(fs.read_jobs(tmp_path / "a.csv").dropped)


def test_frames_take_the_options_of_tables(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"when": [0, 60_000], "ran": [1000, 2000], "n": [1, 2], "tags": [[1], [2, 3]], 5: [7, 8]})
    log = fs.Workload.from_pandas(frame, submit="when", runtime="ran", size="n", unit="ms", columns={"five": "5"})
    assert (log.submit.tolist(), log.columns["five"].tolist()) == ([0, 60], [7, 8])
    refused(InputError, "from_pandas: expected a frame of pandas or polars", fs.Workload.from_pandas, [1, 2])
    refused(InputError, "from_pandas, row 1: column 'n'", fs.Workload.from_pandas,
            frame.assign(n=[1, "x"]), submit="when", runtime="ran", size="n", strict=True)  # fmt: skip


def arrow_table():
    pa = pytest.importorskip("pyarrow")
    day = datetime(2024, 1, 31, tzinfo=UTC)
    return pa.table(
        {
            "submit": [day + timedelta(seconds=s) for s in (9, 0, 5)],
            "runtime": pa.array([timedelta(seconds=s) for s in (1, 2, 3)], pa.duration("us")),
            "size": pa.array([1, None, 4], pa.int16()),
            "user": ["ann", None, "bob"],
            "tags": [[1], [], [2]],
        }
    )


def test_arrow_and_polars(tmp_path):
    table = arrow_table()
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, tmp_path / "a.parquet")
    log = fs.Workload.from_pandas(table)
    assert log == fs.read_jobs(tmp_path / "a.parquet")
    assert (log.submit.tolist(), dict(log.dropped)) == ([5, 9], {"size missing": 1})
    assert fs.Workload.from_pandas(table, columns={"t": "tags"}).columns["t"].tolist() == ["[2]", "[1]"]
    polars = pytest.importorskip("polars")
    assert fs.Workload.from_pandas(polars.from_arrow(table)) == log


def test_zoned_frames(tmp_path):
    pd = pytest.importorskip("pandas")
    berlin = [datetime(2024, 3, 31, 1, 59, tzinfo=ZoneInfo("Europe/Berlin")), datetime(2024, 3, 31, 3, 30)]
    frame = pd.DataFrame({"submit": [berlin[0].isoformat(), berlin[1].isoformat()], "runtime": [1, 1], "size": [1, 1]})
    assert np.diff(fs.Workload.from_pandas(frame, zone="Europe/Berlin").submit).tolist() == [31 * 60]


# -- bad input -------------------------------------------------------------------------------------------------------


def wide(tmp_path, columns):
    """A table of one job and this many columns."""
    names = [f"c{at}" for at in range(columns - 3)]
    return written(tmp_path, ",".join(["submit", "runtime", "size", *names]) + "\n" + ",".join(["1"] * columns) + "\n")


def test_work_for_a_header_grows_with_its_columns(tmp_path):
    """Ten times the columns take ten times the lines of Python, and the memory of a few copies of the file."""

    def read(count, options):
        with contextlib.suppress(InputError):
            fs.read_jobs(wide(tmp_path, count), **options)

    for options in ({}, {"size": "nodes"}, {"columns": ["c5"]}):
        read(10, options)  # imports
        few, many = (lines_run(read, count, options) for count in (500, 5000))
        assert many < 11 * few
    path = wide(tmp_path, 100_000)
    tracemalloc.start()
    begin = time.process_time()
    log = fs.read_jobs(path)
    refused(InputError, "no column 'nodes'", fs.read_jobs, path, size="nodes")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(log.further) == 100_000 - 3
    assert most < 200 * path.stat().st_size
    assert time.process_time() - begin < 60  # for loops in C, which are no lines of Python; it took minutes


@pytest.mark.parametrize(
    ("rows", "ids", "dropped"),
    [
        ('1,1,1,1,a\n2,1,1,2,"b\n3,1,1,3,c\n4,1,1,4,d\n', [1, 3, 4], 1),
        ('1,1,1,1,a\n"2,1,1,2,b\n3,1,1,3,c\n4,1,1,4,d\n', [1, 3, 4], 1),
        ('1,1,1,1,a\n"2,1,1,2,b\n3,1,1,3,"c"\n4,1,1,4,d\n', [1, 3, 4], 1),
        ('1,1,1,1,a\n"2,1,1,2,b\nhalf\n4,1,1,4,d\n', [1, 4], 2),
        ('1,1,1,1,a\n2,1,1,2,b "c\n3,1,1,3,"x ""y"\n4,1,1,4,z\n', [1, 2, 3, 4], 0),
        ('1,1,1,1,a\n2,1,1,2,"b\nc"\n3,1,1,3,d\n', [1, 2, 3], 0),
    ],
)
def test_a_quote_that_is_not_closed_takes_one_record(tmp_path, rows, ids, dropped):
    path = written(tmp_path, "submit,runtime,size,id,user\n" + rows)
    log = fs.read_jobs(path)
    assert (log.id.tolist(), sum(log.dropped.values())) == (ids, dropped)
    if dropped:
        refused(InputError, r"a\.csv, line 3: (a quote that is not closed|1 fields)", fs.read_jobs, path, strict=True)


def test_missing_ids_take_linear_time(tmp_path):
    def read(jobs):
        rows = "".join(f"{at},1,1,{at if at % 2 else ''}\n" for at in range(jobs))
        log = fs.read_jobs(written(tmp_path, "submit,runtime,size,id\n" + rows))
        assert len(set(log.id.tolist())) == jobs

    read(10)
    assert lines_run(read, 5000) < 11 * lines_run(read, 500)
    begin = time.process_time()
    read(100_000)  # a set for each row took an hour
    assert time.process_time() - begin < 60


READS_TABLE = """
import re, pyarrow, faultsim as fs
for message, options in {calls!r}:
    try:
        fs.read_jobs({path!r}, **options)
        said = ""
    except fs.InputError as error:
        said = str(error)
    assert re.search(message, said) if message else not said, said
print(pyarrow.default_memory_pool().max_memory())
"""


@pytest.mark.parametrize("kind", ["text", "bytes", "lists"])
def test_parquet_that_expands_is_refused_early(tmp_path, kind):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    word = {"text": "x" * 10**6, "bytes": b"x" * 10**6, "lists": [1] * 10**4}[kind]
    rows = 5000 if kind != "lists" else 20
    needed = {"submit": np.zeros(rows), "runtime": np.ones(rows), "size": np.ones(rows)}
    column = pa.array([word]).dictionary_encode() if kind == "text" else pa.array([word] * 20)
    if kind == "text":
        column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([word]))
        table = pa.table(needed | {"user": column})
    else:
        table = pa.table({name: values[:20] for name, values in needed.items()} | {"user_data": column})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, compression="zstd")
    calls = {
        "text": [("more than 200 times|more than .* bytes", {}), ("more than", {"size": "user"})],
        "bytes": [("", {}), ("unpacks to more than", {"columns": {"data": "user_data"}})],
        "lists": [("", {})],
    }[kind]
    # In a process of its own, as what pyarrow allocates is counted since its begin.
    code = READS_TABLE.format(path=str(path), calls=calls)
    most = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert most < 200_000_000  # of 5 GB, were it unpacked


@pytest.mark.parametrize("sign", ["'", '"', "(", ",", "a,", "'\"", "1h"])
@pytest.mark.parametrize("begins", ["", "easy:", "easy:order="])
def test_long_policy_texts_take_no_time(sign, begins):
    def parse(count):
        with contextlib.suppress(OptionError):
            fs.parse_policy("scheduler", begins + sign * count)

    parse(10)
    assert lines_run(parse, 100_000) <= 11 * lines_run(parse, 10_000)
    begin = time.process_time()
    parse(10**6)
    assert time.process_time() - begin < 20  # it took 32 s where patterns were tried at each sign


def test_archives_that_are_not_unpacked(tmp_path):
    import zipfile

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as members:
        members.writestr("jobs.csv", PLAIN)
    refused(InputError, "a ZIP archive: unpack it first", fs.read_jobs, written(tmp_path, data.getvalue()))
    refused(InputError, "unpack it with unzstd", fs.read, written(tmp_path, b"\x28\xb5\x2f\xfd" + bytes(50)))
    refused(OptionError, "separator: expected one character", fs.read_jobs, tmp_path / "a.csv", separator=";;")
