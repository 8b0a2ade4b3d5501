"""Values of slurm.conf: times, memory, numbers and words, each refused with file and line."""

from __future__ import annotations

import math
import re

from faultsim import checks
from faultsim.data.slurm_settings import Setting
from faultsim.errors import InputError

_LIMITLESS = ("UNLIMITED", "INFINITE", "-1", "NONE", "(NULL)", "N/A")
#: Longest number in digits.
_DIGITS = 15


def is_whole(text: str) -> bool:
    """Whether text is a whole number of ordinary length.

    Examples
    --------
    >>> is_whole("12"), is_whole("-1"), is_whole("9" * 99)
    (True, False, False)
    """
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def whole(where: str, key: str, text: str) -> int:
    """A whole number.

    Examples
    --------
    >>> whole("slurm.conf, line 2", "Weight", "10")
    10
    """
    if not is_whole(text):
        raise InputError(f"{where}: {key}={text:.60}: expected a whole number")
    return int(text)


def seconds(where: str, key: str, text: str, plain: float = 60.0) -> float | None:
    """Seconds of a time: days-hours:minutes:seconds in any shorter form, or a number of `plain` seconds.

    None is "no limit".

    Examples
    --------
    >>> [seconds("", "MaxTime", text) for text in ("60", "1-00:00:00", "02:00:00", "90:00", "7-0", "UNLIMITED")]
    [3600.0, 86400.0, 7200.0, 5400.0, 604800.0, None]
    >>> seconds("", "KillWait", "30 sec", plain=1.0)
    30.0
    """
    if text.upper() in _LIMITLESS:
        return None
    number, _, unit = text.partition(" ")
    days, dash, rest = number.rpartition("-")
    parts = rest.split(":")
    right = all(map(is_whole, parts)) and (is_whole(days) if dash else True) and len(parts) <= 3
    if not right or unit not in ("", "sec", "min", "usec"):
        raise InputError(f"{where}: {key}={text:.60}: expected minutes, minutes:seconds or days-hours:minutes:seconds")
    numbers = [float(part) for part in parts]
    if dash:
        numbers += [0.0] * (3 - len(numbers))
        return float(days) * 86400.0 + numbers[0] * 3600.0 + numbers[1] * 60.0 + numbers[2]
    if len(numbers) == 1:
        return numbers[0] * {"": plain, "sec": 1.0, "min": 60.0, "usec": 1e-6}[unit]
    numbers = [0.0] * (3 - len(numbers)) + numbers
    return numbers[0] * 3600.0 + numbers[1] * 60.0 + numbers[2]


def mebibytes(where: str, key: str, text: str) -> int | None:
    """MiB of an amount of memory; None is "no limit".

    Examples
    --------
    >>> mebibytes("", "RealMemory", "187000"), mebibytes("", "mem", "1T"), mebibytes("", "MaxMemPerNode", "UNLIMITED")
    (187000, 1048576, None)
    """
    if text.upper() in _LIMITLESS:
        return None
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)([KMGTP]?)B?", text, re.IGNORECASE | re.ASCII)
    if found is None:
        raise InputError(f"{where}: {key}={text:.60}: expected an amount of memory in MiB, or as 187G")
    scale = 1024.0 ** ("KMGTP".index(found[2].upper() or "M") - 1)
    return int(float(found[1]) * scale)


def weights(where: str, key: str, text: str) -> tuple[tuple[str, float], ...]:
    """Weights of resources by name in lower case; those of memory are per MiB.

    Examples
    --------
    >>> weights("", "TRESBillingWeights", "CPU=1.0,Mem=0.5G,GRES/gpu=4")
    (('cpu', 1.0), ('mem', 0.00048828125), ('gres/gpu', 4.0))
    """
    found: list[tuple[str, float]] = []
    for part in filter(None, text.split(",") if text.upper() not in _LIMITLESS else ()):
        name, _, value = part.partition("=")
        match = re.fullmatch(r"(\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})([KMGTP]?)", value.strip(), re.IGNORECASE | re.ASCII)
        if match is None or not name.strip():
            raise InputError(f"{where}: {key}: expected weights such as CPU=1.0,Mem=0.25G, got {part:.60}")
        scale = 1024.0 ** ("KMGTP".index(match[2].upper()) - 1) if match[2] else 1.0
        resource = name.strip().lower()
        found.append((resource, float(match[1]) / (scale if resource == "mem" else 1.0)))
    return tuple(found)


def tres(where: str, key: str, text: str) -> dict[str, int | None]:
    """Amounts of resources by name in lower case, memory in MiB; None lifts a limit.

    Examples
    --------
    >>> tres("", "GrpTRES", "cpu=96,mem=1G,gres/gpu=3,node=-1")
    {'cpu': 96, 'mem': 1024, 'gres/gpu': 3, 'node': None}
    """
    found: dict[str, int | None] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        resource = {"nodes": "node", "cpus": "cpu", "memory": "mem"}.get(name.strip().lower(), name.strip().lower())
        if value.strip() == "-1":
            found[resource] = None
        elif resource == "mem":
            found[resource] = mebibytes(where, f"{key} mem", value.strip())
        elif resource and is_whole(value.strip()):
            found[resource] = int(value)
        else:
            raise InputError(f"{where}: {key}: expected amounts such as cpu=96,gres/gpu=3, got {part:.60}")
    return found


def flag(where: str, key: str, text: str) -> bool:
    """YES or NO, 1 or 0.

    Examples
    --------
    >>> flag("", "Default", "YES"), flag("", "LLN", "no"), flag("", "bf_busy_nodes", "")
    (True, False, True)
    """
    if text.upper() in ("YES", "1", "TRUE", "UP", ""):
        return True
    if text.upper() in ("NO", "0", "FALSE", "DOWN"):
        return False
    raise InputError(f"{where}: {key}={text:.60}: expected YES or NO")


def one_of(where: str, key: str, text: str, words: tuple[str, ...]) -> str:
    """The word of a list that this is, whatever its case.

    Examples
    --------
    >>> one_of("", "State", "up", ("UP", "DOWN"))
    'UP'
    """
    found = next((word for word in words if word.lower() == text.lower()), None)
    if found is None:
        hint = checks.did_you_mean(text, words)
        raise InputError(f"{where}: {key}={text:.60}: not one of {', '.join(words)}{hint}")
    return found


def names(text: str) -> tuple[str, ...]:
    """Names between commas; none for ALL.

    Examples
    --------
    >>> names("bio, physics"), names("ALL")
    (('bio', 'physics'), ())
    """
    if text.upper() in ("ALL", *_LIMITLESS):
        return ()
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def value_of(where: str, setting: Setting, text: str) -> object:
    """The value of a setting from its text.

    Examples
    --------
    >>> from faultsim.data.slurm_settings import SCHEDULER_WORDS, SETTINGS
    >>> value_of("", SETTINGS["prioritymaxage"], "7-0"), value_of("", SCHEDULER_WORDS["bf_window"], "4320")
    (604800.0, 4320.0)
    """
    key, kind = setting.name, setting.kind
    text = text.strip()
    if text == "(null)":
        return setting.default
    if kind == "flag":
        return flag(where, key, text)
    if kind == "count":
        return whole(where, key, text)
    if kind == "memory":
        return mebibytes(where, key, text) or None
    if kind in ("minutes", "seconds", "time"):
        found = seconds(where, key, text, 1.0 if kind == "seconds" else 60.0)
        if found is None and kind != "time":
            raise InputError(f"{where}: {key}={text:.60}: expected a number of {kind}")
        if found is None:
            return 0.0 if key in ("PreemptExemptTime", "PriorityDecayHalfLife") else math.inf
        return found / 60.0 if kind == "minutes" else found
    if kind == "weights":
        return weights(where, key, text)
    if kind == "words":
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not setting.words:
            return tuple(parts)
        return tuple(sorted({one_of(where, key, part, setting.words) for part in parts}, key=setting.words.index))
    return one_of(where, key, text, setting.words) if setting.words else text
