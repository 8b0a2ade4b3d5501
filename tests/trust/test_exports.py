"""What is written: no formulas, no escape codes, no job lines out of comments, whole or not at all."""

import csv
import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.app import main
from faultsim.data import whole_files
from faultsim.data.text_files import guarded
from faultsim.sweep.store import Store
from helpers.refusals import refused

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1"]
ESCAPE = "\x1b[2J\x1b]0;owned\x07"


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_csv_is_a_formula(text: str, tmp_path: Path) -> None:
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], columns={"queue": [text, "long"]}, name=text)
    path = tmp_path / "out.csv"
    log.write_csv(path)
    if "\r" not in text:
        assert fs.read_jobs(path).columns["queue"].tolist() == ["'" + text, "long"]
    result = fs.simulate(log, fs.Cluster(2))
    result.write_batsim(path)
    table = fs.Sweep(fs.Run(log, fs.Cluster(2)), {"policy": {text: {"load": 0.5}, "b": {"load": 0.7}}}).run()
    for write in (result.write_batsim, table.write_csv, log.write_csv):
        write(path)
        with path.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell != guarded(cell)]


def test_numbers_stay_numbers() -> None:
    for text in ("-1", "+1.5", "-.5e-3", "-inf", "-", "", "1=1", "a-b"):
        assert guarded(text) == text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_no_comment_becomes_a_job(end: str, tmp_path: Path) -> None:
    line = "9 0 -1 10 2 -1 -1 2 -1 -1 1 1 -1 -1 -1 -1 -1 -1"
    name = f"a{end}{line}"
    log = fs.Workload(submit=[0], runtime=[1], size=[1], comments=[f"; Note: {name}", name], name=name)
    log.write_swf(tmp_path / "log.swf")
    fs.simulate(log, fs.Cluster(2)).write_swf(tmp_path / "schedule.swf")
    for path in tmp_path.iterdir():
        assert len(fs.read_swf(path)) == 1
        text = path.read_text()
        assert [row for row in text.splitlines() if row and not row.startswith(";")] == [text.splitlines()[-2]]


def test_status_says_no_escape_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    sweep = fs.Sweep(fs.Run(log, fs.Cluster(2)), {"policy": {ESCAPE: {"load": 0.5}}}, name=ESCAPE + "\nnot a sweep")
    path = tmp_path / "sweep.db"
    sweep.run(path, command=ESCAPE)
    with Store(path) as store:
        store.add([("bad", "error", ESCAPE, "", *[None] * len(columns()))], [(sweep.id, 1, 0, 0, "{}", "bad")], [])
    main(["status", str(path), "--metric", "mean_wait"])
    main(["status", str(path), "--sweep", ESCAPE])
    said = "".join(capsys.readouterr())
    assert "\\x1b[2J" in said
    assert not set(said) & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160))}


def columns() -> tuple[str, ...]:
    from faultsim.sweep.row_schema import COLUMNS

    return COLUMNS


@pytest.mark.skipif(os.name != "posix", reason="a shell closes it")
def test_closed_standard_output_is_told() -> None:
    for command in ("--version", "run --jobs 10"):
        line = f"{sys.executable} -m faultsim {command} >&-"
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, "faultsim: error: standard output is closed\n")


@pytest.mark.parametrize(
    "words", [["run", "--jobs", "1_0"], ["run", "--machine", "cluster:1_0"], ["run", "--load", "١"]]
)
def test_numbers_of_the_command_line_have_no_underscores(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert words[-1] in capsys.readouterr().err


# -- disks that fail

LOG = fs.Workload(submit=np.arange(2000.0), runtime=np.full(2000, 10.0), size=np.ones(2000, int))
RESULT = fs.simulate(LOG, fs.Cluster(8))


def report(path: Path) -> None:
    from faultsim.report import report_run

    report_run(RESULT).write(path)


WRITERS: dict[str, Callable[[Path], None]] = {
    "save": RESULT.save,
    "schedule": RESULT.write_swf,
    "csv": LOG.write_csv,
    "failures": fs.FailureTrace(np.arange(1000.0), np.zeros(1000, int), 1.0).write_csv,
    "report": report,
}


class Disk:
    """A disk on which the call number `at` fails, or on which no write is whole."""

    def __init__(self, error: int, at: int) -> None:
        self.error, self.left = error, at

    def call(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError(self.error, os.strerror(self.error))

    def fdopen(self, descriptor: int, mode: str) -> io.BufferedWriter:
        assert mode == "wb"
        disk = self

        class Raw(io.FileIO):
            def write(self, data: object) -> int:
                disk.call()
                return super().write(memoryview(data)[: max(1, len(memoryview(data)) // 2)])  # type: ignore[arg-type]

        return io.BufferedWriter(Raw(descriptor, "wb"))


def fail(monkeypatch: pytest.MonkeyPatch, error: int, at: int) -> Disk:
    disk = Disk(error, at)
    monkeypatch.setattr(whole_files.os, "fdopen", disk.fdopen)
    for name in ("fsync", "replace"):
        real = getattr(os, name)

        def failing(*args: object, real: Callable[..., None] = real) -> None:
            disk.call()
            real(*args)

        monkeypatch.setattr(whole_files.os, name, failing)
    return disk


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EINTR], ids=errno.errorcode.get)
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_whole_or_untouched_whichever_call_fails(
    name: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "report":
        pytest.importorskip("matplotlib")
    path = tmp_path / "out"
    path.write_bytes(b"before")
    failed = 0
    calls = [*range(1, 12), *range(20, 200, 60), 10**9]
    for at in calls[::8] if name == "report" else calls:  # whose pictures take a second each time
        with monkeypatch.context() as patched:
            disk, told = fail(patched, error, at), None
            try:
                WRITERS[name](path)
            except OSError as caught:
                told = caught
        assert os.listdir(tmp_path) == ["out"]
        if told is None:
            assert disk.left > 0 or error == errno.EINTR  # a write is tried again
            path.write_bytes(b"before")
        else:
            assert (told.filename, told.errno) == (str(path), error)
            assert path.read_bytes() == b"before"
            failed += 1
    assert failed or error == errno.EINTR
    WRITERS[name](path)
    assert path.read_bytes() != b"before"


CHILD = """
import resource, signal, sys
import faultsim as fs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
sweep = fs.Sweep(fs.Run(log, fs.Cluster(2)), {"start_delay": [i / 7 for i in range(300)]})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    sweep.fill(sys.argv[1], workers=1)
except fs.StoreError as error:
    print("told", error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("rows", fs.load_sweep(sys.argv[1]).n_rows if sys.argv[3] == "look" else sweep.run(sys.argv[1]).n_rows)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no limits of files here")
@pytest.mark.parametrize("size", [70_000, 100_000, 150_000])
def test_a_store_on_a_full_disk_keeps_what_was_written(size: int, tmp_path: Path) -> None:
    path = tmp_path / "sweep.db"
    command = [sys.executable, "-c", CHILD, str(path), str(size)]
    first = subprocess.run([*command, "look"], capture_output=True, text=True, check=True).stdout
    assert first.startswith("told")
    assert "was written before is safe" in first
    with Store(path, write=False, check=True) as store:
        assert store.count("run") == store.count("task") < 300
    command[-1] = str(10**9)
    assert "rows 300" in subprocess.run([*command, "run"], capture_output=True, text=True, check=True).stdout


def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(whole_files.os, "urandom", lambda size: bytes(size))
    (tmp_path / "precious").write_text("before")
    (tmp_path / f".faultsim-{'00' * 8}.part").symlink_to(tmp_path / "precious")
    refused(OSError, "exists", LOG.write_csv, tmp_path / "out.csv")
    assert (tmp_path / "precious").read_text() == "before"
