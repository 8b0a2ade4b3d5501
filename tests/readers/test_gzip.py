"""Gzip is read as `gzip` reads it: several archives, padding, blocks of any size, and what is broken."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, _Gzip


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.integers(0, 9), st.integers(1, 400))
def test_archives_one_after_another_are_one_file(parts, padding, size):
    packed = b"".join(gzip.compress(part) + b"\0" * padding for part in parts)
    stream, found = _Gzip(io.BytesIO(packed)), []
    while data := stream.read(size):
        found.append(data)
        assert len(data) <= size
    assert b"".join(found) == b"".join(parts) == gzip.decompress(packed)
    assert all(len(data) == size for data in found[:-1])


@pytest.mark.parametrize("change", [lambda b: b[:-5], lambda b: b[:-8] + b"\1" + b[-7:], lambda b: b + b"more"])
def test_what_is_broken_is_an_error(change, tmp_path):
    path = tmp_path / "log.gz"
    path.write_bytes(change(gzip.compress(b"1 2 3\n" * 1000)))
    with pytest.raises(InputError, match="corrupt archive"):
        list(Lines(path))


def test_every_line_comes_once(tmp_path):
    text = b"".join(b"%d\n" % i for i in range(20_000))
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(text[:1000]) + gzip.compress(text[1000:]))
    blocks = list(Lines(path, 1000))
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks)
