"""Finding the real logs and traces in a folder of the user's."""

from collections.abc import Iterable
from pathlib import Path

__all__ = ["find_file"]

_FOLDERS = ("", "swf", "failures")
_ENDS = (".gz", "", ".xz", ".bz2")


def find_file(folder: str | Path, names: str | Iterable[str]) -> Path | None:
    """The first file of one of these names, packed or not, in `folder` or its folders ``swf`` and ``failures``.

    Examples
    --------
    >>> find_file("/nowhere", "NASA-iPSC-1993-3.1-cln.swf") is None
    True
    """
    wanted = (names,) if isinstance(names, str) else tuple(names)
    for name in wanted:
        for inside in _FOLDERS:
            for end in _ENDS:
                path = Path(folder) / inside / (name + end)
                if path.is_file():
                    return path
    return None
