"""Messages in the words of the command line: ``--placement first-fit`` where Python says ``placement=FirstFit()``."""

import re

from faultsim.policies.registry import KINDS, POLICIES

#: Class -> word.
_WORDS = {row.cls.__name__: row.name.replace("_", "-") for row in POLICIES} | {"Torus": "torus", "Cluster": "cluster"}
#: Keywords of `simulate` that are options of ``faultsim run``.
_OPTIONS = [
    *(kind for kind, row in KINDS.items() if row.option), "failures", "oversized", "order", "reservation", "max_growth",
    "box_order", "start_delay", "estimates", "overrun", "seed", "machine",
]  # fmt: skip
_CLASS = rf"(?<![\w./'\"-])(?P<name>{'|'.join(_WORDS)})(?P<call>\((?P<given>[^()]*)\))?(?![\w/'\"-]|\.\w)"
_KEYWORD = rf"(?<![\w./'\"-])(?P<name>{'|'.join(_OPTIONS)})=(?P<value>'[^']*'|\"[^\"]*\")?"


def _word(found: re.Match[str]) -> str:
    given = re.sub(r"['\" ]", "", found["given"] or "")
    return _WORDS[found["name"]] + (f":{given}" if given else "")


def _option(found: re.Match[str]) -> str:
    value = (found["value"] or "").strip("'\"")
    follows = found.string[found.end() : found.end() + 1]
    gap = " " if value or follows.isalnum() or follows == '"' else ""
    return f"--{found['name'].replace('_', '-')}{gap}{value}"


def in_own_words(message: str) -> str:
    """The message as a user of the command line would write it.

    Examples
    --------
    >>> in_own_words("Balancing places boxes: use placement=FirstFit(), or use a Torus")
    'balancing places boxes: use --placement first-fit, or use a torus'
    >>> in_own_words('Confidence(probability=0.1) needs failures: give failures=, or pass oversized="drop"')
    'confidence:probability=0.1 needs failures: give --failures, or pass --oversized drop'
    """
    said = re.sub(r"Cluster\([\d,]+, shape=\(x, y, z\)\)", "--machine cluster:XxYxZ", message)
    said = re.sub(_KEYWORD, _option, re.sub(_CLASS, _word, said)).replace("--migration None", "no --migration")
    said = re.sub(r"\bspares='dynamic'", "spares=dynamic", said)
    return re.sub(rf"^({'|'.join(_OPTIONS)}) must ", lambda found: f"--{found[1].replace('_', '-')} must ", said)
