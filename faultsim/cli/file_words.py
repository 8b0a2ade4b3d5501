"""``FILE:FORMAT,option=value``: an input file, and how to read it, as one word of the command line."""

import os
from collections.abc import Iterable

from faultsim.checks import did_you_mean, parsed
from faultsim.errors import OptionError


def parted(text: str, formats: Iterable[str], what: str = "") -> tuple[str, str, list[str]]:
    """Path, format and options; what is after the last colon is a format or options only if it looks like one.

    Examples
    --------
    >>> parted("jobs.txt:sacct,size=cpus", ["swf", "sacct"])
    ('jobs.txt', 'sacct', ['size=cpus'])
    >>> parted("jobs.swf", ["swf", "sacct"])
    ('jobs.swf', '', [])
    """
    text, known = text.removeprefix(" "), tuple(formats)
    path, colon, rest = text.rpartition(":")
    words = [word.strip() for word in rest.split(",")]
    looks = words[0] in known or "=" in words[0]
    if colon and os.path.isfile(path) and not os.path.exists(text) and not looks:
        hint = did_you_mean(words[0], known)
        raise OptionError(f"{what}{text}: unknown format {words[0]!r}{hint}; known: {', '.join(known)}")
    if not colon or os.path.exists(text) or not looks:
        return text, "", []
    kind = words.pop(0) if words[0] in known else ""
    return path, kind, [word for word in words if word]


def moment(text: str) -> str | float:
    """A date as text, or seconds.

    Examples
    --------
    >>> moment("2001-01-31"), moment("60")
    ('2001-01-31', 60.0)
    """
    try:
        return parsed(text, float)
    except ValueError:
        return text
