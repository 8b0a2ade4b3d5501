"""The real logs and traces in a folder of the user's, and the job logs that stand in for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError

LABELS = {"nasa": "NASA", "sdsc": "SDSC", "llnl": "LLNL", "lublin": "Lublin-1", "sdsc-all": "SDSC, all of the log"}

_FOLDERS = ("", "swf", "failures", "failures/stepfun", "failures/titan", "slurm/ub-hpc")
_ENDS = (".gz", "", ".xz", ".bz2")


def find_file(folder: str | Path, names: str | Iterable[str]) -> Path | None:
    """The first file of one of these names, packed or not, in `folder` or its folders ``swf`` and ``failures``, or
    those in it of the records that have one.

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


@dataclass(frozen=True)
class JobLog:
    """A job log, and where it comes from."""

    name: str
    log: Workload
    real: bool
    text: str

    @property
    def label(self) -> str:
        """``"NASA"`` and so on, with ``"-like"`` for a stand-in."""
        head, comma, tail = LABELS[self.name].partition(",")
        return head + ("" if self.real else "-like") + comma + tail

    @property
    def span(self) -> float:
        """Seconds from the first arrival to the last."""
        return float(self.log.submit[-1] - self.log.submit[0])


def headed(log: Workload, text: str, *, jobs: int | None, nodes: int) -> tuple[Workload, str]:
    """The first `jobs` jobs of a log (all when None), which `text` then says; all have to fit the machine."""
    if jobs is not None and jobs < len(log):
        log = log.head(jobs)
        text += f", first {jobs:,} jobs"
    if int(log.size.max()) > nodes:
        raise InputError(f"{text}: a job of {int(log.size.max())} nodes does not fit {nodes}")
    return log, text
