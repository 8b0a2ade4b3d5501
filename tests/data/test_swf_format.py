"""The format's facts: fields, header lines, and how a row is written."""

from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.swf_format import FIELDS, header_fields, leading_integer, write_rows


def test_there_are_18_fields() -> None:
    assert len(FIELDS) == len(set(FIELDS)) == 18
    assert [FIELDS.index(name) + 1 for name in ("allocated", "requested", "requested_time", "user")] == [5, 8, 9, 12]


def test_header_lines() -> None:
    assert header_fields(
        [
            "; Information: http://one",
            ";              http://two",
            ";",
            ";Queue: 1 a",
            "; Queue:  2 b",
            "; no key here",
            ";; odd",
        ]
    ) == {"Information": "http://one\nhttp://two", "Queue": "1 a\n2 b\nno key here\nodd"}
    assert header_fields(["; a line before any key", ";"]) == {}


@pytest.mark.parametrize(
    ("text", "number"), [("338 (batch)", 338), (" 12", 12), ("-1", -1), ("", None), ("many", None), ("5544.5", 5544)]
)
def test_leading_integer(text: str, number: int | None) -> None:
    assert leading_integer(text) == number


def test_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.swf"
    write_rows(path, {"id": np.array([1, 2]), "wait": np.array([0.5, 3.0]), "user": np.array([7, -1])}, ["; A: b"])
    assert path.read_text() == (
        "; Complete: if the last line is End, with the count and CRC-32 of the lines before it\n"
        "; A: b\n"
        "1 -1 0.5 -1 -1 -1 -1 -1 -1 -1 -1 7 -1 -1 -1 -1 -1 -1\n"
        "2 -1 3 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"
        "; End: 4 lines, crc32 1b6c9fda\n"
    )
    with pytest.raises(fs.InputError, match="runtimes: not a field of an SWF file; the fields are id, submit"):
        write_rows(path, {"runtimes": np.array([1])}, [])
    with pytest.raises(OSError, match="No such file"):
        write_rows(tmp_path / "no" / "x.swf", {"id": np.array([1])}, [])
