"""What the text of Slurm's fields means: states, counts, trackable resources (TRES), memory, lists of nodes."""

from __future__ import annotations

import math
import re

from faultsim import vocabulary

#: States of jobs, `sacct(1)`.
STATES = (
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "NODE_FAIL",
    "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "RESV_DEL_HOLD",
    "REVOKED", "RUNNING", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "SUSPENDED", "TIMEOUT",
)  # fmt: skip
#: States that end a run whose job goes on in a later record of the same id.
LOST = frozenset({"BOOT_FAIL", "NODE_FAIL", "PREEMPTED", "REQUEUED"})
#: States of jobs that have not ended.
UNFINISHED = frozenset(
    {"COMPLETING", "CONFIGURING", "PENDING", "REQUEUE_FED", "REQUEUE_HOLD", "RUNNING", "SIGNALING", "STAGE_OUT",
     "STOPPED", "SUSPENDED"}
)  # fmt: skip
#: The first name of a list of nodes such as ``g[1-2,7],n1``.
_FIRST_NODE = re.compile(r"([^,\[\s]+)(?:\[(\d+)[^\]]*\]([^,\[\s]*))?")
_MIB = 1024.0**2


def state_of(text: str) -> str:
    """The state of a record: ``CANCELLED by 1000`` and ``CANCELLED+``, cut at ten characters, are ``CANCELLED``.

    Examples
    --------
    >>> state_of("CANCELLED by 1000"), state_of("CANCELLED+"), state_of("OUT_OF_ME+"), state_of("COMPLETED")
    ('CANCELLED', 'CANCELLED', 'OUT_OF_MEMORY', 'COMPLETED')
    """
    word = text.strip().upper().partition(" ")[0]
    if word.endswith("+"):
        begin = word.rstrip("+")
        return next((state for state in STATES if begin and state.startswith(begin)), begin)
    return word


def count_of(text: str) -> float | None:
    """A number of nodes or processors, NaN where missing; K is 1,024, as Slurm divides them; None of other text.

    Examples
    --------
    >>> count_of("12"), count_of("1.50K"), count_of("many")
    (12.0, 1536.0, None)
    """
    if text.isascii() and text.isdigit():
        return float(text)
    if vocabulary.is_missing(text):
        return math.nan
    return vocabulary.size(text, binary=True)


def tres_of(text: str) -> dict[str, str]:
    """The resources of a text such as ``cpu=64,gres/gpu:a100=8,mem=500G,node=2``.

    Examples
    --------
    >>> tres_of("billing=64,cpu=64,gres/gpu=8,node=2")
    {'billing': '64', 'cpu': '64', 'gres/gpu': '8', 'node': '2'}
    """
    parts = (part.partition("=") for part in text.split(","))
    return {key.strip().lower(): value.strip() for key, equals, value in parts if equals}


def gpus_of(tres: dict[str, str]) -> float | None:
    """GPUs among resources: ``gres/gpu``, else the sum of ``gres/gpu:TYPE``; NaN if there are none of either.

    Examples
    --------
    >>> gpus_of({"gres/gpu": "8", "gres/gpu:a100": "8"}), gpus_of({"gres/gpu:a100": "2", "gres/gpu:v100": "1"})
    (8.0, 3.0)
    """
    if "gres/gpu" in tres:
        return count_of(tres["gres/gpu"])
    typed = [count_of(value) for key, value in tres.items() if key.startswith("gres/gpu:")]
    if not typed:
        return math.nan
    return None if None in typed else sum(value for value in typed if value is not None)


def memory_of(text: str, nodes: float, cores: float) -> float | None:
    """MiB of a job; ``4Gn`` of old releases is per node and ``1800Mc`` per core; a number without a suffix is in MiB.

    Examples
    --------
    >>> memory_of("500G", 2, 64), memory_of("4Gn", 2, 64), memory_of("1800Mc", 2, 64), memory_of("0", 2, 64)
    (512000.0, 8192.0, 115200.0, 0.0)
    """
    stripped = text.strip()
    if vocabulary.is_missing(stripped):
        return math.nan
    times = {"n": nodes, "c": cores}.get(stripped[-1:].lower(), 1.0)
    if stripped[-1:].lower() in ("n", "c"):
        stripped = stripped[:-1]
    amount = vocabulary.size(stripped, binary=True)
    if amount is None:
        return None
    return times * (amount if stripped[-1:].isdigit() else amount / _MIB)


def first_node(text: str) -> str:
    """The first node of a list, "" if there is none.

    Examples
    --------
    >>> first_node("g[1-2],n[1,6]"), first_node("rack[01-04]-n1"), first_node("n7"), first_node("None assigned")
    ('g1', 'rack01-n1', 'n7', '')
    """
    if vocabulary.is_missing(text) or text.strip().lower().startswith("none"):
        return ""
    found = _FIRST_NODE.match(text.strip())
    return "" if found is None else f"{found[1]}{found[2] or ''}{found[3] or ''}"


_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[str, int, str], ...]:
    """A key that sorts ``n2`` before ``n10``.

    Examples
    --------
    >>> sorted(["n10", "n2", "m1"], key=natural)
    ['m1', 'n2', 'n10']
    """
    parts = _DIGITS.split(name)
    return tuple(
        (parts[at], int(parts[at + 1][:300]) if at + 1 < len(parts) else -1, "") for at in range(0, len(parts), 2)
    )
