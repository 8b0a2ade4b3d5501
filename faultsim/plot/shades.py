"""Classes of jobs for the colours of a chart: by user, size, wait or restarts."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from faultsim.arrays import LongIntegers
from faultsim.plot.base import three_digits
from faultsim.plot.theme import current
from faultsim.plot.touching import STRONG

if TYPE_CHECKING:
    from faultsim.results.result import Result

By = Literal["job", "user", "size", "wait", "restarts"]
BYS: tuple[By, ...] = ("job", "user", "size", "wait", "restarts")
#: Dark to light, even in brightness, also for colour-blind readers: matplotlib's viridis without its ends.
SCALE = ("#3E4989", "#31678E", "#26818E", "#1E9B8A", "#31B57B", "#65CB5E", "#AADC32", "#F1E51D")
_USERS = 8  # that use most; the others share a colour
_WAITS = (
    (0.0, "no wait"),
    (60.0, "wait to 1 minute"),
    (600.0, "to 10 minutes"),
    (3600.0, "to 1 hour"),
    (21_600.0, "to 6 hours"),
    (86_400.0, "to 1 day"),
    (np.inf, "over 1 day"),
)

Classes = tuple[LongIntegers, list[str], list[str]]  # of each job; colour and words of each class


def classes(result: "Result", by: By) -> Classes:
    """Class of each job, and the colour and the words of each class that occurs.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 0, 1], runtime=[10, 9, 5], size=[2, 4, 1])
    >>> kind, colours, words = classes(fs.simulate(log, fs.Cluster(4)), "size")
    >>> kind.tolist(), words
    ([1, 2, 0], ['1 node', '2 nodes', '3 to 4 nodes'])
    """
    if by == "user":
        return _users(result)
    if by == "size":
        return _sizes(result.jobs["size"].astype(np.int64))
    if by == "wait":
        limits = np.array([limit for limit, _ in _WAITS])
        return _scaled(np.searchsorted(limits, result.jobs["wait"]), [words for _, words in _WAITS])
    restarts = np.minimum(result.jobs["restarts"].astype(np.int64), 4)
    return _scaled(restarts, ["no restart", "1 restart", "2 restarts", "3 restarts", "4 or more"])


def _users(result: "Result") -> Classes:
    users = result.users
    work = result.jobs["size"] * result.jobs["runtime"]
    names, which = np.unique(users, return_inverse=True)
    amount = np.where(names >= 0, np.bincount(which, weights=work, minlength=len(names)), -1.0)
    most = [i for i in np.argsort(-amount, kind="stable")[:_USERS].tolist() if names[i] >= 0]
    kind = np.full(len(names), len(most))
    kind[most] = np.arange(len(most))
    words = [f"user {names[i]}" for i in most]
    colours = list(STRONG[: len(most)])
    found = kind[which]
    if (found == len(most)).any():
        others = len(names) - len(most)
        words.append("user unknown" if (names[kind == len(most)] < 0).all() else f"{others:,} other users")
        colours.append(current().soft)
    return found, colours, words


def _sizes(size: LongIntegers) -> Classes:
    """Powers of two, joined where there are more than eight of them."""
    power = np.ceil(np.log2(np.maximum(size, 1))).astype(np.int64)
    step = int(np.ceil((power.max(initial=0) + 1) / len(SCALE)))
    kind = power // step
    words = []
    for k in range(int(kind.max(initial=0)) + 1):
        low, high = (2 ** (k * step - 1) + 1 if k else 1), 2 ** ((k + 1) * step - 1)
        words.append(
            f"{three_digits(low)} to {three_digits(high)} nodes" if low < high else f"{high} node{'s' * (high > 1)}"
        )
    return _scaled(kind, words)


def _scaled(kind: LongIntegers, words: list[str]) -> Classes:
    """Classes that occur, with colours from the scale."""
    there, found = np.unique(kind, return_inverse=True)
    places = np.linspace(0, len(SCALE) - 1, len(there)).round().astype(int)
    return found.astype(np.int64), [SCALE[i] for i in places], [words[i] for i in there]
