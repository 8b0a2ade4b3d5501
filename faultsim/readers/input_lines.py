"""Opens an input file, compressed or not, and reads it block by block in whole lines."""

from __future__ import annotations

import codecs
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, cast

from faultsim import checks
from faultsim.data.limits import FREE, limits
from faultsim.data.whole_files import check_name
from faultsim.errors import InputError


def _gzip(file: IO[bytes]) -> io.BufferedIOBase:
    import gzip

    return gzip.GzipFile(fileobj=file, mode="rb")


def _xz(file: IO[bytes]) -> io.BufferedIOBase:
    import lzma

    return lzma.LZMAFile(file)


def _bzip2(file: IO[bytes]) -> io.BufferedIOBase:
    import bz2

    return bz2.BZ2File(file)


# Compression is detected by the first bytes: a ".swf" may well be gzipped, and standard input has no name.
_MAGIC: tuple[tuple[bytes, Callable[[IO[bytes]], io.BufferedIOBase]], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"\xfd7zXZ\x00", _xz),
    (b"BZh", _bzip2),
)
#: Archives that are not unpacked: their first bytes, and how to unpack them.
_OTHER_ARCHIVES = (
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive: unpack it with unzstd"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
)
_UTF_16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SURELY = 1 << 16  # bytes of a file after which zeros among them mean that it is no text


def display_name(path: str | os.PathLike[str]) -> str:
    """The name of an input in messages.

    Examples
    --------
    >>> display_name("-")
    '<stdin>'
    """
    name = checks.file_name(path)
    return "<stdin>" if name == "-" else name


def stem(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> str:
    """The name of a file without its folder and suffixes, as a name for its contents.

    Examples
    --------
    >>> stem("logs/SDSC-SP2-1998-4.2-cln.swf.gz", (".gz", ".swf"))
    'SDSC-SP2-1998-4.2-cln'
    """
    name = os.path.basename(checks.file_name(path))
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


def _utf_16(start: bytes) -> codecs.IncrementalDecoder | None:
    """The decoder of text that begins with a byte order mark of UTF-16; None of other text."""
    for mark, encoding in _UTF_16:
        if start.startswith(mark):
            return codecs.getincrementaldecoder(encoding)("replace")
    return None


class _Counted:
    """A compressed file, and how much of it has been read: a pipe does not know where it is."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.count = file, 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data


class Lines:
    """The blocks of a file: whole lines, about `block_size` bytes each, decompressed on the way.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.  Text in UTF-16 (with a byte order mark,
        as Excel writes "Unicode text") is converted to UTF-8, unless it is a document.
    block_size : int
        Bytes to read at a time; limits the memory used.
    document : bool
        Whether lines may be of any length, as in JSON and XML; then blocks need not end where lines do.
    binary : bytes
        How a file begins that is no text, and so is read as a document.
    utf_16 : bool
        Whether text in UTF-16 is converted.
    ends : bool
        Whether the programs that write such files end every line: then a last line without an end may have been cut in
        the middle, which is logged.

    Raises
    ------
    InputError
        No such file, a directory, no permission; while reading, a corrupt archive, a file that is no text, or more than
        the `faultsim.Limits` in force.

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

    def __init__(
        self,
        path: str | os.PathLike[str],
        block_size: int = 1 << 18,
        *,
        document: bool = False,
        binary: bytes = b"",
        utf_16: bool = True,
        ends: bool = False,
    ) -> None:
        self.name = display_name(path)
        self._path = checks.file_name(path)
        self._limits = limits()
        self._document, self._binary, self._utf_16, self._ends = document, binary, utf_16, ends
        # A line that is whole within one read is never too long.
        self._block_size = min(block_size, self._limits.line)
        if self._path != "-":
            check_name(self._path)
            if not os.path.exists(self._path):
                raise InputError(f"{self.name}: no such file")
            if os.path.isdir(self._path):
                raise InputError(f"{self.name} is a directory; expected a file")

    def __iter__(self) -> Iterator[bytes]:
        if self._path == "-":
            if sys.stdin is None or sys.stdin.closed:
                raise InputError(f"{self.name}: nothing can be read, for it is closed")
            yield from self._blocks(sys.stdin.buffer)
            return
        try:
            file = open(self._path, "rb")  # noqa: SIM115 (closed below; only opening is guarded)
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror}") from error
        with file:
            yield from self._blocks(file)

    def json(self) -> bytes:
        """All of it, if it may be JSON; what is not ends after a block, for devices and pipes may never do."""
        from json import detect_encoding

        blocks: list[bytes] = []
        for block in self:
            if len(blocks) == 1:
                begin = blocks[0][:64].decode(detect_encoding(blocks[0]), "ignore").lstrip("\ufeff \t\r\n")
                if begin[:1] not in ("[", "{"):
                    raise InputError(f"{self.name}: not JSON: it begins with {shown(blocks[0][:16])}")
            blocks.append(block)
        return b"".join(blocks)

    def _blocks(self, file: IO[bytes]) -> Iterator[bytes]:
        """Lines that take several reads are joined once, so that time grows with their length, not its square."""
        rest: list[bytes] = []
        length, document = 0, self._document
        utf_16: codecs.IncrementalDecoder | None = None
        for number, data in enumerate(self._reads(file)):
            if number == 0:
                document = document or bool(self._binary and data.startswith(self._binary))
                if not document:
                    self._refuse_archive(data)
                    utf_16 = _utf_16(data) if self._utf_16 else None
            if utf_16 is not None:
                data = utf_16.decode(data).encode("utf-8", "replace")
                if number == 0:
                    data = data.removeprefix(codecs.BOM_UTF8)
            if number == 0 and not document and len(data) >= _SURELY and b"\0" in data:
                raise InputError(f"{self.name}: not text but binary")
            if document:
                yield data
                continue
            end = data.rfind(b"\n") + 1
            if rest:
                self._limits.check(self.name, "line", length + (data.index(b"\n") if end else len(data)))
            if end:
                yield b"".join((*rest, data[:end])) if rest else data[:end]
                rest, length = [], 0
            if end < len(data):
                rest.append(data[end:])
                length += len(data) - end
        if rest:
            last = b"".join(rest)
            yield last
            if self._ends and last.strip():
                import logging

                logging.getLogger("faultsim").warning(
                    "%s: the last line has no end, so that the file may have been cut in the middle of it: %s",
                    self.name,
                    shown(last),
                )

    def _refuse_archive(self, data: bytes) -> None:
        for magic, what in _OTHER_ARCHIVES:
            if data.startswith(magic):
                raise InputError(f"{self.name}: {what}")

    def _reads(self, file: IO[bytes]) -> Iterator[bytes]:
        """The content, unpacked, as the limits allow."""
        from lzma import LZMAError

        most, total, lines = self._limits, 0, 0
        packed: _Counted | None = None
        stream: IO[bytes] | io.BufferedIOBase = file
        try:
            start = cast(io.BufferedReader, file).peek(6)[:6]
            for magic, opener in _MAGIC:
                if start.startswith(magic):
                    packed = _Counted(file)
                    stream = opener(cast(IO[bytes], packed))
            while data := stream.read(self._block_size):
                total += len(data)
                if total > most.bytes:
                    most.check(self.name, "bytes", total)
                if packed is not None and total > FREE:
                    most.check(self.name, "ratio", total // packed.count)
                if most.lines < most.bytes:
                    lines += data.count(b"\n")
                    most.check(self.name, "lines", lines)
                yield data
        except (EOFError, LZMAError, zlib.error, OSError, MemoryError) as error:
            if packed is None or (isinstance(error, OSError) and error.errno is not None):
                said = getattr(error, "strerror", None) or error
                raise InputError(f"{self.name}: cannot be read: {said}") from error
            raise InputError(f"{self.name}: corrupt archive ({error}); download the file again") from error
