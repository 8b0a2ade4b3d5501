"""Finding the real logs and traces in a folder of the user's."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from faultsim.errors import OptionError

__all__ = ["find_file", "find_files"]

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


def find_files(folder: str | Path | None, wanted: Mapping[str, str | Sequence[str]]) -> dict[str, Path]:
    """Those files that `find_file` finds, by the keys of `wanted`, whose values are their names; none without a folder.

    Raises
    ------
    OptionError
        `folder` is not one, or holds none of the files.

    Examples
    --------
    >>> find_files(None, {"jobs": "CTC-SP2-1996-3.1-cln.swf"})
    {}
    """
    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise OptionError(f"--data {folder}: no such folder")
    found = {key: path for key, names in wanted.items() if (path := find_file(folder, names)) is not None}
    if not found:
        files = [f"{names if isinstance(names, str) else names[0]}.gz" for names in wanted.values()]
        held = f"holds none of {', '.join(files)}" if len(files) > 1 else f"does not hold {files[0]}"
        raise OptionError(f"--data {folder}: {held} (nor do its folders swf and failures)")
    return found
