"""Text files out: numbers, compression by name."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultsim.data.text_files import shortest, write_text


@given(st.lists(st.floats(allow_nan=False), max_size=20))
def test_numbers_read_back_to_the_bit(values):
    assert [float(text) for text in shortest(np.array(values, dtype=float))] == values


def test_whole_numbers_have_no_point():
    assert shortest(np.array([3, -1], dtype=np.int32)) == ["3", "-1"]
    assert shortest(np.array([3.0, 1e15, 2.0**53, 0.1])) == ["3", "1000000000000000", "9007199254740992.0", "0.1"]


@pytest.mark.parametrize(
    ("end", "unpack"), [("", bytes), (".gz", gzip.decompress), (".XZ", lzma.decompress), (".bz2", bz2.decompress)]
)
def test_compressed_by_name(tmp_path, end, unpack):
    path = tmp_path / f"t.txt{end}"
    write_text(path, "a\nü\n")
    assert unpack(path.read_bytes()).decode() == "a\nü\n"


def test_standard_output(capsys):
    write_text("-", "a\n")
    assert capsys.readouterr().out == "a\n"
