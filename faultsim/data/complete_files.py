"""Text files that say whether they are complete: the first line announces a last line with a count and a digest.

Job logs in SWF and failure traces are written so.  Both lines are comments of the format, so other programs skip them.
"""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator

from faultsim.errors import InputError

#: What announces the last line, after the sign of a comment.
_ANNOUNCED = "Complete: if the last line is End, with the count and CRC-32 of the lines before it"
_LAST = re.compile(rb"[;#] End: ([0-9]{1,15}) lines, crc32 ([0-9a-f]{8})")
_MEND = "get the whole file again, or, if it was changed on purpose, remove its line 'Complete: ...'"


def with_end(sign: str, text: str) -> str:
    """Whole lines of text with the two further lines; `sign` begins a comment.

    Examples
    --------
    >>> print(with_end("#", "time,node\\n5,0\\n"), end="")
    # Complete: if the last line is End, with the count and CRC-32 of the lines before it
    time,node
    5,0
    # End: 3 lines, crc32 d9015bd4
    """
    whole = f"{sign} {_ANNOUNCED}\n{text}"
    data = whole.encode("utf-8", "surrogateescape")
    return f"{whole}{sign} End: {whole.count(chr(10))} lines, crc32 {zlib.crc32(data):08x}\n"


def announces(line: bytes) -> bool:
    """Whether a line announces the last one.

    Examples
    --------
    >>> announces(b"; Complete: if the last line is End, with the count and CRC-32 of the lines before it")
    True
    """
    return line.rstrip()[2:] == _ANNOUNCED.encode()


def complete(name: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks of whole lines without the last one, which is checked; other files as they are.

    Ends of lines may have been converted.

    Raises
    ------
    InputError
        The last line is missing, was cut, or does not belong to the others.

    Examples
    --------
    >>> text = with_end("#", "time,node\\n5,0\\n").encode()
    >>> list(complete("a.csv", [text]))
    [b'# Complete: if the last line is End, with the count and CRC-32 of the lines before it\\ntime,node\\n5,0\\n']
    >>> try:
    ...     list(complete("a.csv", [text[:-35]]))
    ... except InputError as error:
    ...     str(error).partition(";")[0]
    "a.csv: the file was cut: its last line should be 'End: ...', and is 'time,node'"
    """
    stream = iter(blocks)
    held = next(stream, b"")
    if not announces(held[:200].partition(b"\n")[0].removeprefix(BOM_UTF8)):
        if held:
            yield held
        yield from stream
        return
    digest, count = 0, 0
    skipped = len(BOM_UTF8) if held.startswith(BOM_UTF8) else 0
    for block in stream:
        digest, count = zlib.crc32(_plain(held[skipped:]), digest), count + held.count(b"\n")
        skipped = 0
        yield held
        held = block
    # The last block ends with the last line, which is in one block.
    at = held.rstrip(b"\r\n").rfind(b"\n") + 1
    before, last = held[:at], held[at:]
    digest, count = zlib.crc32(_plain(before[skipped:]), digest), count + before.count(b"\n")
    found = _LAST.fullmatch(last.rstrip(b"\r\n"))
    if found is None:
        shown = last.rstrip(b"\r\n").decode("utf-8", "replace")
        raise InputError(f"{name}: the file was cut: its last line should be 'End: ...', and is {shown!r:.60}; {_MEND}")
    if int(found[1]) != count:
        wanted = int(found[1])
        raise InputError(
            f"{name}: the file is not whole: it has {count:,} of {wanted:,} lines before the last; {_MEND}"
        )
    if int(found[2], 16) != digest:
        raise InputError(f"{name}: the file is not as it was written: its CRC-32 is {digest:08x}; {_MEND}")
    if before:
        yield before


def _plain(lines: bytes) -> bytes:
    """With the ends of lines that they were written with."""
    return lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines
