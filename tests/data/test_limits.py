"""`Limits`: each is told by name at the first byte too many, and can be raised."""

import gzip
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.data.limits import FREE, VARIABLE, limits
from faultsim.readers.input_lines import Lines
from helpers.refusals import refusals, refused

LINE = "1 0 -1 10 2 -1 -1 2 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "ten.swf"
    path.write_text(LINE * 10)
    return path


@pytest.mark.parametrize(("name", "most"), [("bytes", 10 * len(LINE)), ("lines", 10), ("line", len(LINE) - 1)])
def test_the_limit_itself_is_read_and_one_more_is_told(log: Path, name: str, most: int) -> None:
    with fs.Limits(**{name: most}):
        assert len(fs.read_swf(log)) == 10
    with fs.Limits(**{name: most - 1}):
        refused(fs.InputError, rf"ten.swf: .*more than {most - 1:,} .*fs.Limits\({name}=\.\.\.\)", fs.read_swf, log)
    assert limits() == fs.Limits()


def test_a_ratio_counts_beyond_what_is_free(tmp_path: Path) -> None:
    path = tmp_path / "packed.gz"
    path.write_bytes(gzip.compress(LINE.encode() * (FREE // len(LINE))))
    assert sum(map(len, Lines(path))) == FREE // len(LINE) * len(LINE)
    path.write_bytes(gzip.compress(LINE.encode() * (FREE // len(LINE) + 10)))
    refused(fs.InputError, r"packed.gz: unpacks to more than 200 times its size; fs.Limits\(ratio=", list, Lines(path))
    with fs.Limits(ratio=2000):
        assert sum(map(len, Lines(path))) > FREE


def test_sweeps_have_limits() -> None:
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    base, axes = fs.Run(log, fs.Cluster(2)), {"runtime_factor": [1.0, 2.0, 3.0], "gap_factor": [1.0, 2.0]}
    with fs.Limits(cells=6, replicates=2):
        assert len(fs.Sweep(base, axes, replicates=2)) == 12
    with fs.Limits(cells=5):
        refused(fs.InputError, r"a grid: more than 5 cells; fs.Limits\(cells=", fs.Sweep, base, axes)
    refused(fs.InputError, "a sweep: more than 1,000,000 replicates", lambda: fs.Sweep(base, axes, replicates=2**62))


def test_limits_of_a_program(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "lines=5, line=1e8")
    assert limits() == fs.Limits(lines=5, line=10**8)
    refused(fs.InputError, "more than 5 lines", fs.read_swf, log)
    with fs.Limits(), fs.Limits(lines=20):
        assert len(fs.read_swf(log)) == 10
    for wrong in ("lines", "rows=5", "lines=1_0", "lines=nan", "lines=inf", "lines=0"):
        monkeypatch.setenv(VARIABLE, wrong)
        refused(fs.OptionError, "limit", limits)


test_refused = refusals(
    fs.OptionError,
    lambda given: fs.Limits(**given),
    ({"bytes": 0}, "limit bytes must be at least 1, got 0"),
    ({"line": 1.5}, "limit line must be a whole number, got 1.5"),
)


@pytest.mark.parametrize("size", [1 << 20, 1 << 22])
def test_time_grows_with_a_line_not_its_square(tmp_path: Path, size: int) -> None:
    path = tmp_path / "long"
    path.write_bytes(b" " * size)
    with fs.Limits(line=size):
        (block,) = Lines(path, block_size=64)
    assert len(block) == size
