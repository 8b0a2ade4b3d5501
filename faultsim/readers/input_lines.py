"""Opens an input file, compressed or not, and reads it block by block in whole lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from typing import IO, cast

from faultsim.errors import InputError

# Compression is detected by the first bytes: a ".swf" may well be gzipped, and standard input has no name.
_MAGIC = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file, mode="rb")),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"BZh", bz2.BZ2File),
)
_BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)


def display_name(path: str | os.PathLike[str]) -> str:
    """The name of an input in messages.

    Examples
    --------
    >>> display_name("-")
    '<stdin>'
    """
    name = os.fspath(path)
    return "<stdin>" if name == "-" else name


def stem(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> str:
    """The name of a file without its folder and suffixes, as a name for its contents.

    Examples
    --------
    >>> stem("logs/SDSC-SP2-1998-4.2-cln.swf.gz", (".gz", ".swf"))
    'SDSC-SP2-1998-4.2-cln'
    """
    name = os.path.basename(os.fspath(path))
    while (parts := os.path.splitext(name))[1].lower() in suffixes:
        name = parts[0]
    return "stdin" if name == "-" else name


def shown(text: bytes) -> str:
    """A line of a file as messages quote it: at most 80 characters.

    Examples
    --------
    >>> shown(b"1 2 x")
    "'1 2 x'"
    """
    quoted = text.decode("utf-8", "replace")
    return repr(quoted if len(quoted) <= 80 else quoted[:77] + "...")


class Lines:
    """The blocks of a file: whole lines, about `block_size` bytes each, decompressed on the way.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.
    block_size : int
        Bytes to read at a time; limits the memory used.

    Raises
    ------
    InputError
        No such file, a directory, no permission; while reading, a corrupt archive.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "two.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("one\\ntwo")
    ...     list(Lines(path))
    [b'one\\n', b'two']
    """

    def __init__(self, path: str | os.PathLike[str], block_size: int = 1 << 18) -> None:
        self.name = display_name(path)
        self._path = os.fspath(path)
        self._block_size = block_size
        if self._path != "-":
            if not os.path.exists(self._path):
                raise InputError(f"no such file: {self.name}")
            if os.path.isdir(self._path):
                raise InputError(f"{self.name} is a directory; expected a file")

    def __iter__(self) -> Iterator[bytes]:
        if self._path == "-":
            yield from self._blocks(cast(io.BufferedReader, sys.stdin.buffer))
            return
        try:
            file = open(self._path, "rb")  # noqa: SIM115 (closed below; only opening is guarded)
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror}") from error
        with file:
            yield from self._blocks(file)

    def _blocks(self, file: io.BufferedReader) -> Iterator[bytes]:
        start = file.peek(6)[:6]
        stream: IO[bytes] = file
        for magic, opener in _MAGIC:
            if start.startswith(magic):
                stream = cast(IO[bytes], opener(file))
        rest = b""
        while True:
            try:
                data = stream.read(self._block_size)
            except (*_BROKEN, OSError) as error:
                raise InputError(f"{self.name}: corrupt archive ({error}); download the file again") from error
            if not data:
                break
            end = data.rfind(b"\n") + 1
            if end:
                yield rest + data[:end]
                rest = data[end:]
            else:
                rest += data
        if rest:
            yield rest
