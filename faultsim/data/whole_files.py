"""Writes a file whole or not at all."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, BinaryIO

from faultsim import checks
from faultsim.errors import OptionError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write, which takes the place of `path` once all is written and on the disk.

    "-" is standard output.  A link stays, and the file that it names is replaced; what is no regular file (a pipe,
    ``/dev/null``) is written as one goes.  After an error, `path` is what it was.

    Raises
    ------
    OptionError
        The name has a null character, or cannot be written in the encoding of file names.
    OSError
        The file cannot be written; `path` is named even where the system names nothing, as when no space is left.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
    >>> with whole_file(path) as file:
    ...     _ = file.write(b"1 2 3")
    ...     os.path.exists(path)
    False
    >>> os.listdir(os.path.dirname(path))
    ['numbers']
    """
    name = checks.file_name(path)
    if name == "-":
        yield from _standard_output()
        return
    check_name(name)
    target = os.path.realpath(name)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    regular = os.path.isfile(target) or not os.path.exists(target)
    # A name that nobody can guess, and no link is followed (O_EXCL).
    written = os.path.join(os.path.dirname(target), f".faultsim-{os.urandom(8).hex()}.part") if regular else target
    try:
        if not regular:
            with open(written, "wb") as file:
                yield file
            return
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):
                os.chmod(written, os.stat(target).st_mode & 0o7777)
            os.replace(written, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(written)
            raise
    except OSError as error:
        if error.filename not in (None, written) or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, name) from error


def check_name(name: str | bytes) -> None:
    """Raise `OptionError` for the name of a file that cannot exist, or that this system cannot write.

    Examples
    --------
    >>> check_name("a\\0b")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: the file name 'a\\x00b' has a null character
    """
    if (b"\0" if isinstance(name, bytes) else "\0") in name:  # type: ignore[operator]
        raise OptionError(f"the file name {name!r:.80} has a null character")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        coding = sys.getfilesystemencoding()
        raise OptionError(
            f"the file name {name!a:.80} cannot be written in {coding}, the encoding of file names here; "
            "set a locale of UTF-8 (LC_ALL=C.UTF-8), or give another name"
        ) from None


def _standard_output() -> Iterator[BinaryIO]:
    memory = io.BytesIO()
    yield memory
    data = memory.getvalue()
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:  # a stream of text, as in a notebook
        sys.stdout.write(data.decode("utf-8", "surrogateescape"))
