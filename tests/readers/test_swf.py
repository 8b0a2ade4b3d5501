"""read_swf and write_swf: the quirks of real logs, counts of the public ones, a round trip that loses nothing."""

import bz2
import gzip
import io
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.readers import swf
from helpers.refusals import refused
from helpers.strategies import workloads

# id submit wait run alloc cpu mem req reqtime reqmem status user group exe queue part prec think
ROW = "{id} {submit} -1 {run} {alloc} -1 -1 {req} {est} -1 1 {user} -1 -1 -1 -1 -1 -1"


def row(id: object = 1, **fields: object) -> str:
    usual = {"submit": 0, "run": 10, "alloc": 4, "req": -1, "est": -1, "user": -1}
    return ROW.format(**{"id": id, **usual, **fields})


def read(tmp_path: Path, *lines: str, end: str = "\n", name: str = "log.swf", **options: str) -> fs.Workload:
    path = tmp_path / name
    path.write_bytes((end.join(lines) + end).encode())
    return fs.read_swf(path, **options)


def test_every_field_goes_to_its_column(tmp_path: Path) -> None:
    log = read(tmp_path, "; Version: 2.2", "7 5 99 10 4 11 12 8 60 13 0 3 14 15 16 17 18 19")
    assert {key: values.tolist() for key, values in log.columns.items()} == {
        "id": [7],
        "submit": [5.0],
        "runtime": [10.0],
        "estimate": [60.0],
        "size": [8],
        "user": [3],
    }
    assert log.name == "log"


def test_size_is_requested_else_allocated(tmp_path: Path) -> None:
    lines = row(1, alloc=4, req=8), row(2, alloc=-1, req=8), row(3, alloc=4, req=-1), row(4, alloc=0, req=0)
    assert read(tmp_path, *lines).size.tolist() == [8, 8, 4]
    assert read(tmp_path, *lines, size="allocated").size.tolist() == [4, 8, 4]
    assert read(tmp_path, *lines).dropped == {"size missing": 1}
    refused(fs.OptionError, "expected one of 'requested', 'allocated', got 'cpus'", read, tmp_path, *lines, size="cpus")


def test_records_left_out_are_counted_by_reason(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        row(1, run=-1),
        row(2, run=-1, alloc=-1),
        row(3, run=0),
        row(4, run=0, alloc=-1, req=16),
        row(5, run=1, alloc=-1, req=16),
        row(6, submit=-1),
    )
    assert log.id.tolist() == [3, 4, 5]  # run time 0 is valid (model.md#jobs)
    assert log.dropped == {"run time missing": 2, "submit time missing": 1}


def test_missing_estimates_and_users(tmp_path: Path) -> None:
    given = [(-1, -1), (2147483647, -5), (0, 0), (7, 3)]
    log = read(tmp_path, *(row(i, est=estimate, user=user) for i, (estimate, user) in enumerate(given)))
    assert log.estimate.tolist() == [-1.0, -1.0, 0.0, 7.0]
    assert log.user.tolist() == [-1, -1, 0, 3]
    assert log.requested.tolist() == [10.0, 10.0, 0.0, 7.0]


def test_unsorted_lines_are_sorted_and_ties_keep_the_order_of_the_file(tmp_path: Path) -> None:
    log = read(tmp_path, row(3, submit=50), row(9, submit=20), row(1, submit=50), row(2, submit=20))
    assert log.id.tolist() == [9, 2, 3, 1]


def test_header(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        ";Version: 2.2",
        ";MaxProcs: 338 (batch partition; 512 total)",
        "; Note: one",
        row(1),
        "  ; Note: two, in the middle",
        ";       continued",
        "",
        row(2),
    )
    assert len(log) == 2
    assert log.max_nodes == 338
    assert log.header == {
        "Version": "2.2",
        "MaxProcs": "338 (batch partition; 512 total)",
        "Note": "one\ntwo, in the middle\ncontinued",
    }


@pytest.mark.parametrize(
    "lines",
    [
        [row(1) + " 0", row(2, submit=3) + " 0"],
        [row(1), row(2, submit=3) + " 0"],
        [row(1).replace(" ", "\t"), "  " + row(2, submit=3).replace(" ", "   ") + "  "],
        ["", "   ", row(1), "", row(2, submit=3), "  "],
        [row(1, run="10.0", alloc="4.00"), row(2, submit="3.", run="1e1")],
        [row(1, submit="+0"), row(2, submit="0000000000000000000003")],
        [row(1) + " ; a remark", row(2, submit=3)],
        [";", ";;", "; :", row(1), row(2, submit=3), ";"],
    ],
    ids=["19 fields", "18 and 19", "tabs", "blank lines", "decimals", "signs and zeros", "remark", "odd comments"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_odd_lines_are_read_all_the_same(tmp_path: Path, lines: list[str], end: str) -> None:
    log = read(tmp_path, *lines, end=end)
    assert log == fs.Workload(submit=[0, 3], runtime=[10, 10], size=[4, 4])


@pytest.mark.parametrize("first", ["; Version: 2.2", row(9, submit=0)])
def test_a_byte_order_mark_is_passed_over(tmp_path: Path, first: str) -> None:
    log = read(tmp_path, "\ufeff" + first, row(1, submit=5))
    assert log == read(tmp_path, first, row(1, submit=5))


@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_of_jobs_go_the_fast_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.delattr(swf, "_read_block")
    path = tmp_path / "log.swf"
    path.write_text("\n".join(row(id, submit=id) for id in range(9)) + end)
    assert fs.read_swf(path).id.tolist() == list(range(9))


def test_no_newline_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "x.swf").write_text(row(1) + "\n" + row(2))
    assert len(fs.read_swf(tmp_path / "x.swf")) == 2


def test_decimals_are_exact(tmp_path: Path) -> None:
    values = [0.1, 1.5, 123456789.125, 1e-9, 1234567890123456.5, 0.30000000000000004]
    log = read(tmp_path, *(row(i, run=repr(v)) for i, v in enumerate(values)))
    assert log.runtime.tolist() == values


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ("1 2 3 4 5", "line 3: 5 fields, expected 18: '1 2 3 4 5'"),
        (row(2, run="ten"), "line 3: 'ten' is not a number: '2 0 -1 ten "),
        (row(2, run="nan"), "line 3: 'nan' is not a number"),
        (row(2, run="inf"), "line 3: 'inf' is not a number"),
        (row(2, run="1_0"), "line 3: '1_0' is not a number"),
        (row(2, run="1-0"), "line 3: '1-0' is not a number"),
        (row(2, run="-"), "line 3: '-' is not a number"),
        (row(2, run="."), "line 3: '.' is not a number"),
        (row(2, run="1.2.3"), "line 3: '1.2.3' is not a number"),
        (row(2, run="--1"), "line 3: '--1' is not a number"),
        (row(2)[:-2] + "1-", "line 3: '1-' is not a number"),
        (row(2)[:-2] + "a", "line 3: 'a' is not a number"),
        (row(2)[:-2] + "1..", "line 3: '1..' is not a number"),
        (row(2, alloc=2.5), "line 3: allocated 2.5 is not a whole number"),
        (row("2.5"), "line 3: id 2.5 is not a whole number"),
        (row(2) + "\n1 2", "line 4: 2 fields, expected 18: '1 2'"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, bad: str, what: str) -> None:
    with pytest.raises(fs.InputError) as caught:
        read(tmp_path, "; Version: 2.2", row(1), bad, row(9))
    assert str(caught.value).startswith(f"{tmp_path / 'log.swf'}, {what}")
    assert "\n" not in str(caught.value)


def test_the_line_number_counts_across_blocks(tmp_path: Path) -> None:
    good = [row(i, submit=i) for i in range(30_000)]
    refused(fs.InputError, "line 25001: 5 fields", read, tmp_path, *good[:25_000], "1 2 3 4 5", *good[25_000:])


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "an empty log"),
        (b"; Version: 2.2\n\n", "an empty log"),
        (b"<!DOCTYPE html><html>", "not an SWF log but HTML or XML"),
        (b'{"jobs": []}', "not an SWF log but JSON"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\n", "not an SWF log but binary"),
        (b"job,submit,run\n1,2,3\n", "not an SWF log; line 1 is 'job,submit,run', expected 18 numbers"),
        (b"\xff\xfe\xfa\n", "not an SWF log; line 1"),
        (row(1, run=-1).encode(), "no jobs are left (run time missing: 1)"),
        (row(1, alloc=2**31).encode(), "size, row 0: 2147483648 does not fit into int32"),
        (gzip.compress(b"x" * 1000, mtime=0)[:20], "corrupt archive"),
        (b"\x1f\x8bnothing", "corrupt archive"),
        (bz2.compress(b"x" * 1000)[:30], "corrupt archive"),
        (lzma.compress(b"x" * 1000)[:50], "corrupt archive"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "x.swf"
    path.write_bytes(content)
    with pytest.raises(fs.InputError) as caught:
        fs.read_swf(path)
    assert what in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_no_such_file_and_directory(tmp_path: Path) -> None:
    refused(fs.InputError, r"nothing\.swf: no such file$", fs.read_swf, tmp_path / "nothing.swf")
    refused(fs.InputError, "is a directory", fs.read_swf, tmp_path)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2"])
def test_compression_is_told_by_the_content(tmp_path: Path, suffix: str) -> None:
    log = fs.Workload(submit=range(500), runtime=range(500), size=range(1, 501))
    path = tmp_path / f"log.swf{suffix}"
    log.write_swf(path)
    assert path.read_bytes()[:2] == {"": b"; ", ".gz": b"\x1f\x8b", ".xz": b"\xfd7", ".bz2": b"BZ"}[suffix]
    assert fs.read_swf(path) == fs.read_swf(str(path)) == log
    assert fs.read_swf(path).name == "log"
    other = path.rename(tmp_path / "renamed")
    assert fs.read_swf(other) == log


def test_standard_input_and_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = fs.Workload(submit=[0, 1], runtime=[2, 3], size=[4, 5])
    log.write_swf("-")
    text = capsys.readouterr().out.encode()
    for data in (text, gzip.compress(text, mtime=0)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        assert fs.read_swf("-") == log
    assert fs.read_swf.__doc__
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"1 2\n"))))
    refused(fs.InputError, r"^<stdin>, line 1: 2 fields", fs.read_swf, "-")


@given(log=workloads())
def test_round_trip(log: fs.Workload, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "round.swf"
    log.write_swf(path)
    lines = path.read_text().splitlines()
    assert all(len(line.split()) == 18 for line in lines if not line.startswith(";"))
    assert fs.read_swf(path) == log


def test_the_header_survives_with_new_counts(tmp_path: Path) -> None:
    log = read(tmp_path, "; MaxJobs: 99", "; Copyright: keep this", ";  and this", row(1), row(2))
    log.head(1).write_swf(tmp_path / "again.swf")
    again = fs.read_swf(tmp_path / "again.swf")
    assert again.header == {"Copyright": "keep this\nand this", "MaxJobs": "1", "MaxRecords": "1"}
    again.write_swf(tmp_path / "third.swf")
    assert (tmp_path / "third.swf").read_bytes() == (tmp_path / "again.swf").read_bytes()


def test_the_same_jobs_give_the_same_gz(tmp_path: Path) -> None:
    log = fs.Workload(submit=[0], runtime=[1], size=[1])
    for name in ("a.swf.gz", "b.swf.gz"):
        log.write_swf(tmp_path / name)
    assert (tmp_path / "a.swf.gz").read_bytes() == (tmp_path / "b.swf.gz").read_bytes()


# records, jobs, run time 0, overruns, without estimate, machine, largest size: what shared/data's README says of each
PUBLIC = {
    "NASA-iPSC-1993-3.1-cln": (18_239, 18_239, 173, 0, 18_239, 128, 128),
    "SDSC-SP2-1998-4.2-cln": (59_715, 54_044, 10, None, None, 128, 128),
    "CTC-SP2-1996-3.1-cln": (77_222, 77_222, 17, 7_174, 6, 338, 336),
    "KTH-SP2-1996-2.1-cln": (28_476, 28_475, 8, 475, 0, 100, 100),
    "CEA-Curie-2011-2.1-cln": (312_826, 312_807, 17_267, None, None, 93_312, 79_920),
    "mira_walltime": (22_508, 22_508, 0, 4_261, 0, 49_152, 49_152),
    "lublin_256": (10_000, 10_000, 0, 0, 10_000, 256, 256),
    "normalised-kth": (28_489, 28_489, 0, 0, 0, 100, 100),
    "normalised-nasa": (18_239, 18_239, 0, 0, 0, 128, 128),
    "normalised-lublin256": (10_000, 10_000, 0, 0, 0, 256, 256),
    "normalised-sdsc10k": (10_000, 10_000, 0, 0, 0, 128, 103),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_logs(data_dir: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    records, jobs, zero, overruns, without, machine, largest = PUBLIC[name]
    monkeypatch.delattr(swf, "_read_lines")  # no block of theirs is read line by line
    log = fs.read_swf(data_dir / "swf" / f"{name}.swf.gz")
    assert len(log) == jobs
    assert sum(log.dropped.values()) == records - jobs
    assert int((log.runtime == 0).sum()) == zero
    assert int(log.size.max()) == largest
    assert log.max_nodes == machine
    assert (np.diff(log.submit) >= 0).all()
    if overruns is not None:
        assert log.summary()["n_overruns"] == overruns
    if without is not None:
        assert int((log.estimate < 0).sum()) == without


def test_public_logs_in_detail(data_dir: Path) -> None:
    sdsc = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    assert int((sdsc.runtime > 0).sum()) == 54_034
    assert "The JOBLOG data is Copyright 2000 The Regents of the University of" in sdsc.header["Copyright"]
    curie = fs.read_swf(data_dir / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz")
    assert curie.submit[0] == 31_656_837
    assert curie.dropped == {"size missing": 19}
    assert int((curie.runtime > 0).sum()) == 295_540
    assert curie.estimate.max() < 2147483647
    nasa = fs.read_swf(data_dir / "swf" / "NASA-iPSC-1993-3.1-cln.swf.gz")
    assert nasa.summary()["power_of_two_share"] == 1.0
    mira = fs.read_swf(data_dir / "swf" / "mira_walltime.swf.gz")
    assert mira.summary()["power_of_two_share"] == pytest.approx(0.994, abs=5e-4)
    kth = data_dir / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
    assert int((fs.read_swf(kth).size != fs.read_swf(kth, size="allocated").size).sum()) == 219


def test_public_log_round_trip(data_dir: Path, tmp_path: Path) -> None:
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz").head(3000)
    log.write_swf(tmp_path / "again.swf.gz")
    again = fs.read_swf(tmp_path / "again.swf.gz")
    assert again == log
    assert again.header["Copyright"] == log.header["Copyright"]
