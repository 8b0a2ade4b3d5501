"""Blocks of whole lines, whatever the block size and the compression."""

import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.readers.input_lines import Lines, display_name
from helpers.refusals import refused


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=20), st.integers(1, 40))
def test_blocks_are_whole_lines_and_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], block_size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    data = b" " + b"\n".join(lines)  # a space first: no random magic number
    path.write_bytes(data)
    blocks = list(Lines(path, block_size))
    assert b"".join(blocks) == data
    assert all(block.endswith(b"\n") for block in blocks[:-1])


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_several_members_are_one_file(tmp_path: Path, compress) -> None:
    path = tmp_path / "x"
    path.write_bytes(compress(b"one\ntw") + compress(b"o\n"))
    assert b"".join(Lines(path)) == b"one\ntwo\n"


def test_errors(tmp_path: Path) -> None:
    refused(fs.InputError, "nowhere: no such file", Lines, "nowhere")
    refused(fs.InputError, "is a directory; expected a file", Lines, tmp_path)
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 400)[:-20])
    refused(fs.InputError, "corrupt archive", list, Lines(path))
    assert display_name("-") == "<stdin>"
    assert display_name(path) == str(path)
