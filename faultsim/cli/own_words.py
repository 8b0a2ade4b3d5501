"""Messages in the words of the command line: ``--placement first-fit`` where Python says ``placement=FirstFit()``.

In the file of a sweep, that is ``placement = "first-fit"``.
"""

import re

from faultsim.policies.registry import KINDS, POLICIES

#: Class -> word.
_WORDS = {row.cls.__name__: row.name.replace("_", "-") for row in POLICIES} | {
    "Torus": "torus",
    "Cluster": "cluster",
    "Pod": "pod",
}
#: Keywords of `simulate` and `simulate_workflows` that are options of ``faultsim run`` and ``faultsim workflow run``.
_OPTIONS = [
    *(kind for kind, row in KINDS.items() if row.option), "failures", "oversized", "order", "reservation", "max_growth",
    "box_order", "start_delay", "estimates", "overrun", "seed", "machine", "transfers", "outputs", "bandwidth", "ccr",
]  # fmt: skip
_CLASS = (
    rf"(?<![\w./'\"-])(?P<name>{'|'.join(_WORDS)})(?P<call>\((?P<given>[^()]*)\))?(?![\w/'\"-]|\.\w|: no such file)"
)
_KEYWORD = rf"(?<![\w./'\"-])(?P<name>{'|'.join(_OPTIONS)})=(?P<value>'[^']*'|\"[^\"]*\")?"

#: A keyword of a message whose classes are words by now.
_VALUE = rf"(?<![\w./'\"-])(?P<name>{'|'.join(_OPTIONS)})=(?P<value>'[^']*'|\"[^\"]*\"|[\w.-]+(?::[\w.=,-]*\w)?)?"


def _word(found: re.Match[str]) -> str:
    given = re.sub(r"['\" ]", "", found["given"] or "")
    return _WORDS[found["name"]] + (f":{given}" if given else "")


def _option(found: re.Match[str]) -> str:
    value = (found["value"] or "").strip("'\"")
    follows = found.string[found.end() : found.end() + 1]
    gap = " " if value or follows.isalnum() or follows == '"' else ""
    return f"--{found['name'].replace('_', '-')}{gap}{value}"


def _entry(found: re.Match[str]) -> str:
    value = (found["value"] or "").strip("'\"")
    return f'{found["name"]} = "{value}"' if value else found["name"]


def of_files_and_changes(message: str) -> str:
    """Methods that change an input, and options that a saved result was made without, as all commands call them.

    Examples
    --------
    >>> of_files_and_changes("the load of with_load() must be above 0, got 0.0")
    '--load must be above 0, got 0.0'
    >>> of_files_and_changes("with_count: 1000 are requested; repeat=True repeats it end to end")
    '--count: 1000 are requested; --repeat repeats it end to end'
    >>> of_files_and_changes("this run recorded no events: simulate with record=True to keep them")
    'this run recorded no events: save it with --record to keep them'
    """
    said = re.sub(
        r"(?:(?:the )?\w+ of )?\bwith_(\w+)(?:\(\)|(?=: )|\(([^()]*)\))",
        lambda found: f"--{found[1].replace('_', '-')}{f' {found[2]}' if found[2] else ''}",
        message,
    )
    said = said.replace("simulate with record=True", "save it with --record")
    return re.sub(r"\brepeat=True\b", "--repeat", said)


def notes_in_own_words(text: str) -> str:
    """The same of the notes among the lines of a result.

    Examples
    --------
    >>> notes_in_own_words("n_jobs  3\\nnote: recovery=Hold has no effect: nothing fails in this run")
    'n_jobs  3\\nnote: --recovery hold has no effect: nothing fails in this run'
    """
    return "\n".join(in_own_words(line) if line.startswith("note: ") else line for line in text.split("\n"))


def in_own_words(message: str) -> str:
    """The message as a user of the command line would write it.

    Examples
    --------
    >>> in_own_words("Balancing places boxes: use placement=FirstFit(), or use a Torus")
    'balancing places boxes: use --placement first-fit, or use a torus'
    >>> in_own_words('Confidence(probability=0.1) needs failures: give failures=, or pass oversized="drop"')
    'confidence:probability=0.1 needs failures: give --failures, or pass --oversized drop'
    """
    said = of_files_and_changes(message)
    said = re.sub(r"Cluster\([\d,]+, shape=\(x, y, z\)\)", "--machine cluster:XxYxZ", said)
    said = re.sub(r"SharedOutputs\(cost=([\d.]+)\)", r"shared:\1", said).replace(
        "nodes of Resources must", "--nodes must"
    )
    said = re.sub(_KEYWORD, _option, re.sub(_CLASS, _word, said)).replace("--migration None", "no --migration")
    said = re.sub(r"\bspares='dynamic'", "spares=dynamic", said)
    said = re.sub(
        r"\b(mtbf|downtime|interval|cost)='([\w.+-]+)'", r"\1=\2", said.replace("any_rate=True", "any_rate=true")
    )
    return re.sub(rf"^({'|'.join(_OPTIONS)}) must ", lambda found: f"--{found[1].replace('_', '-')} must ", said)


def in_words_of_plans(message: str) -> str:
    """The message as a user of ``faultsim plan`` would write it.

    Examples
    --------
    >>> in_words_of_plans("plan: give availability=, or mtbf= and downtime=, or failures=")
    'give --availability, or --mtbf and --downtime, or --failures'
    >>> in_words_of_plans("plan: are the times in days? any_rate=True takes them as they are")
    'are the times in days? --any-rate takes them as they are'
    >>> in_words_of_plans("plan: mtbf=100 is 100 s; are these hours? write mtbf='100h', or any_rate=True")
    '--mtbf 100 is 100 s; are these hours? write --mtbf 100h, or --any-rate'
    """
    said = in_own_words(message.removeprefix("plan: "))
    names = "availability|mtbf|downtime|simulate|any_rate|interval|cost|restart_cost|runtime"
    said = re.sub(
        rf"(?<![\w./'\"-])({names})=('[^']+'|[\d.][\w.+-]*\w|\d)",
        lambda found: "--{} {}".format(found[1].replace("_", "-"), found[2].strip("'")),
        said,
    )
    own = rf"(?<![\w./'\"-])({names})=(?:[Tt]rue\b|(?![\w.-]))"
    return re.sub(own, lambda found: f"--{found[1].replace('_', '-')}", said)


def in_words_of_traces(message: str, *, dashes: bool) -> str:
    """The message of a function of `faultsim.synthetic` as a user of its options would write it.

    Parameters
    ----------
    message : str
        What it says.
    dashes : bool
        Whether options are arguments, ``--mtbf 20h``, or words of ``--failures``, ``mtbf=20h``.

    Examples
    --------
    >>> said = "renewal_failures: mtbf=20 is 20 s; are these hours? write mtbf='20h', or any_rate=True"
    >>> in_words_of_traces(said, dashes=True)
    '--mtbf 20 is 20 s; are these hours? write --mtbf 20h, or --any-rate'
    >>> in_words_of_traces(said, dashes=False)
    'mtbf=20 is 20 s; are these hours? write mtbf=20h, or any-rate'
    """
    said = re.sub(r"^\w+_failures: ", "", message)
    said = re.sub(r"\bany_rate=True\b", "--any-rate" if dashes else "any-rate", said)
    form = r"--\1 \2" if dashes else r"\1=\2"
    return re.sub(r"\b(mtbf|downtime|scale|span)='?([\w.+-]*\w)'?", form, said)


def in_words_of_files(message: str) -> str:
    """The message as a user of a sweep's file would write it.

    Examples
    --------
    >>> in_words_of_files("Balancing places boxes: use placement=FirstFit(), or use a Torus")
    'balancing places boxes: use placement = "first-fit", or use a torus'
    >>> in_words_of_files("s.toml:5: grid: cell scheduler=fcfs: Confidence(probability=0.1) needs failures=")
    's.toml:5: grid: cell scheduler=fcfs: confidence:probability=0.1 needs failures'
    """
    cell = re.match(r".*?: cell .*?: ", message)  # names of axes and their labels stay
    if cell:
        return cell[0] + in_words_of_files(message[cell.end() :])
    said = re.sub(r"Cluster\([\d,]+, shape=\(x, y, z\)\)", 'machine = "cluster:XxYxZ"', message)
    said = said.replace("any_rate=True", "any_rate = true")
    said = re.sub(r"(\w+)=None\b", r"no \1", re.sub(_CLASS, _word, said))
    return re.sub(_VALUE, _entry, said)
