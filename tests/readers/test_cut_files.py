"""A file that ends in the middle of its last line, as after a full disk or a copy that was broken off."""

import logging

import pytest

import faultsim as fs
from faultsim.readers.input_lines import Lines
from helpers.bounded_reading import entry_points
from helpers.seed_files import seeds

#: What programs write line by line.
KINDS = (
    "FailureTrace csv", "FailureTrace events", "FailureTrace fta", "FailureTrace lanl", "FailureTrace ras",
    "FailureTrace table", "FailureTrace titan", "Workload csv", "Workload lsf", "Workload pbs", "Workload sacct",
    "Workload sacct text", "Workload sge", "Workload swf", "Workload table", "slurm requests", "slurmctld log",
)  # fmt: skip
SAID = "the last line has no end"


def said_or_refused(read, path, caplog) -> bool:
    caplog.clear()
    try:
        read(str(path))
    except fs.FaultsimError:
        return True
    return SAID in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_cut_last_line_is_said_or_refused(kind, tmp_path, caplog):
    content, read = seeds(tmp_path)[kind].rstrip(b"\n") + b"\n", entry_points()[kind]
    begin = content.rindex(b"\n", 0, -1) + 1
    path = tmp_path / "cut"
    with caplog.at_level(logging.WARNING):
        for end in {*range(begin + 1, len(content), 7), len(content) - 1}:
            path.write_bytes(content[:end])
            assert said_or_refused(read, path, caplog), content[begin:end]
        path.write_bytes(content)
        caplog.clear()
        read(str(path))
        assert SAID not in caplog.text


def test_lines_of_people_need_no_end(tmp_path, caplog):
    path = tmp_path / "two.txt"
    path.write_bytes(b"one\ntwo")
    assert b"".join(Lines(path)) == b"one\ntwo"
    assert not caplog.records
    assert b"".join(Lines(path, ends=True)) == b"one\ntwo"
    assert f"two.txt: {SAID}, so that the file may have been cut in the middle of it: 'two'" in caplog.text


def test_spaces_at_the_end_are_no_line(tmp_path, caplog):
    path = tmp_path / "spaces.txt"
    path.write_bytes(b"one\n  ")
    assert list(Lines(path, ends=True)) == [b"one\n", b"  "]
    assert not caplog.records
