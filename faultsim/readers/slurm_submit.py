"""What a line such as ``sbatch -N 2 --gres=gpu:a100:2 job.sh`` asks for: its options, and the type of its GPUs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

#: Short options of sbatch with a value, and their long names.
_SHORT = {
    "-N": "nodes", "-n": "ntasks", "-c": "cpus-per-task", "-p": "partition", "-A": "account", "-q": "qos",
    "-t": "time", "-d": "dependency", "-b": "begin", "-a": "array", "-C": "constraint", "-w": "nodelist",
    "-x": "exclude", "-J": "job-name", "-o": "output", "-e": "error", "-D": "chdir", "-G": "gpus",
}  # fmt: skip
_ALONE = frozenset({"exclusive", "hold", "requeue", "no-requeue", "parsable", "contiguous", "H", "nice"})


def submit_options(line: str) -> dict[str, str]:
    """The options of ``sbatch ...``, by their long names; those without a value have "".

    Examples
    --------
    >>> submit_options("sbatch -N 2-4 -n 40 --mem-per-cpu=500 -p batch,long --exclusive --wrap exec sleep 8")
    {'nodes': '2-4', 'ntasks': '40', 'mem-per-cpu': '500', 'partition': 'batch,long', 'exclusive': ''}
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    found: dict[str, str] = {}
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("--wrap", "--") or not word.startswith("-"):
            break  # what follows is the job's own
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("--"):
            if not equals and name not in _ALONE and at < len(words) and not words[at].startswith("-"):
                value = words[at]
                at += 1
        elif word[:2] in _SHORT:
            name = _SHORT[word[:2]]
            value = word[2:]
            if not value and at < len(words):
                value = words[at]
                at += 1
        found[name] = value
    return found


#: Options of sbatch that say GPUs, by their long names.
_OF_GPUS = ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket", "tres-per-node", "tres-per-job")
_SAYS_GPUS = re.compile(r"gpu|\s-G")
_GPU_TYPE = re.compile(r"(?:gres[:/])?gpu[:/]([A-Za-z][\w.-]*)(?:[:=].*)?", re.ASCII)
_TYPE = re.compile(r"([A-Za-z][\w.-]*)(?:[:=]\d+)?", re.ASCII)
_TRES_TYPE = re.compile(r"gres/gpu:([^=,]+)=")


def gpu_type_of(line: str, requested: str, allocated: str) -> str:
    """The type of GPU that a job asks for; "" for any, and for several, of which a `Site` has none on a node.

    Parameters
    ----------
    line : str
        Its ``SubmitLine``, which decides if it says GPUs.
    requested : str
        Its ``ReqTRES``, which decides otherwise.
    allocated : str
        Its ``AllocTRES``, for records without ``ReqTRES``: the type that the job got.

    Examples
    --------
    >>> gpu_type_of("sbatch --gres=gpu:a100:2 job.sh", "", ""), gpu_type_of("sbatch -G v100:2 job.sh", "", "")
    ('a100', 'v100')
    >>> gpu_type_of("sbatch --gres=gpu:2 job.sh", "", "gres/gpu:a100=2"), gpu_type_of("", "gres/gpu:a100=2", "")
    ('', 'a100')
    """
    if _SAYS_GPUS.search(line):
        options = submit_options(line)
        stated = [(name, options[name]) for name in _OF_GPUS if name in options]
        if any(("gres" not in name and "tres" not in name) or "gpu" in text.lower() for name, text in stated):
            return _only(kind for name, text in stated for part in text.split(",") for kind in _types(name, part))
    return _only(_TRES_TYPE.findall(requested or allocated))


def _types(name: str, part: str) -> list[str]:
    pattern = _GPU_TYPE if "gres" in name or "tres" in name else _TYPE
    found = pattern.fullmatch(part.strip())
    return [found[1]] if found else []


def _only(kinds: Iterable[str]) -> str:
    found = set(kinds)
    return found.pop() if len(found) == 1 else ""
