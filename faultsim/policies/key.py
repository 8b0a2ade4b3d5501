"""`Key`: a queue order as an expression (model.md#key), and a table of well-known ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from faultsim.arrays import Floats, Integers, Values
from faultsim.errors import OptionError
from faultsim.policies.base import Check
from faultsim.policies.expressions import COLUMNS, Node, check_names, parse, program
from faultsim.policies.orders import QueueOrder, WaitingJobs

__all__ = ["Key", "KeyPreset"]

#: Columns that are orders by their names; `now` is the same for all jobs.
ORDER_COLUMNS = tuple(name for name in COLUMNS if name != "now")


class KeyPreset(NamedTuple):
    """A well-known key: its name, which ``order=`` takes, its expression, and its source."""

    name: str
    text: str
    source: str


# A logarithm of 0 would put a job first whatever its size: programs that use these take 0.1 s instead.
_F = "[carastan2017], with 0.1 s for 0 s"
_PRESETS = (
    KeyPreset("sjf", "estimate", "shortest job first"),
    KeyPreset("ljf", "-size", "largest job first"),
    KeyPreset("saf", "estimate * size", "smallest area first"),
    KeyPreset("wfp3", "-(wait / max(estimate, 1)) ** 3 * size", "[tang2009]"),
    KeyPreset("unicef", "-wait / (log2(max(size, 2)) * max(estimate, 1))", "[tang2009]"),
    KeyPreset("f1", "log10(max(estimate, 0.1)) * size + 870 * log10(max(submit, 0.1))", _F),
    KeyPreset("f2", "sqrt(estimate) * size + 25600 * log10(max(submit, 0.1))", _F),
    KeyPreset("f3", "estimate * size + 6.86e6 * log10(max(submit, 0.1))", _F),
    KeyPreset("f4", "estimate * sqrt(size) + 530000 * log10(max(submit, 0.1))", _F),
)  # fmt: skip


def _expression(text: object) -> str:
    if not isinstance(text, str):
        raise OptionError(f"a key is text such as 'estimate * size', got {text!r:.60}")
    parse(text)
    return text


@dataclass(frozen=True)
class Key(QueueOrder):
    """A queue order as an expression: the smallest value is the head of the queue.

    Compiled, so that it costs about as much as a built-in order; without ``now``, ``wait`` and ``restarts`` the keys
    are computed once. The well-known ones in ``Key.presets`` are orders by name too: ``order="f1"``.

    Parameters
    ----------
    text : str
        Numbers; ``submit``, ``wait``, ``now``, ``estimate`` in seconds, ``size`` in nodes, ``restarts``, ``index``;
        other columns of numbers that the log has (``user``, `Workload.further`), by their names; ``+ - * / **``;
        comparisons, which give 1 or 0; ``where(c, a, b)``, ``min``, ``max``, ``abs``, ``sqrt``, ``exp``, ``log``,
        ``log2``, ``log10``.

    Raises
    ------
    OptionError
        For a mistake in the text, with its column; when a run is made, for a name that its log does not have; in the
        run, for a key that is not a number.

    References
    ----------
    model.md#key; [carastan2017].

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 9, 3], size=[2, 2, 2])
    >>> smallest_area = fs.Key("estimate * size")
    >>> fs.simulate(log, fs.Cluster(2), scheduler=fs.EasyBackfill(order=smallest_area)).jobs["start"]
    array([ 0., 13., 10.])
    >>> fs.EasyBackfill(order="saf").order == smallest_area
    True
    >>> log = log.with_columns(priority=[0, 5, 1])
    >>> fs.simulate(log, fs.Cluster(2), scheduler=fs.EasyBackfill(order=fs.Key("priority - wait / 60"))).jobs["start"]
    array([ 0., 13., 10.])
    >>> fs.Key.presets["f2"].text
    'sqrt(estimate) * size + 25600 * log10(max(submit, 0.1))'
    """

    name: ClassVar[str] = "key"
    presets: ClassVar[Mapping[str, KeyPreset]] = MappingProxyType({row.name: row for row in _PRESETS})
    text: Annotated[str, Check(_expression)]

    @property
    def further(self) -> tuple[str, ...]:
        """The columns of the log that it names."""
        return program(self.text).further

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """The values, by NumPy, whose logarithms and powers may differ in the last bit from those of a run."""
        with np.errstate(all="ignore"):
            return np.broadcast_to(_value(parse(self.text), queue, now), len(queue.index)).astype(np.float64)

    def inputs(self, estimate: Floats, size: Integers) -> dict[str, object]:
        """The program, and what a key that is not a number raises."""
        return {"queue_program": program(self.text), "queue_refused": self.refused}

    def check_columns(self, columns: Mapping[str, Values]) -> None:
        """Raise `OptionError` for a name in the text that is none, or no column of numbers, with its column."""
        name = self.text.strip()
        if name in self.presets and name not in columns:
            raise OptionError(
                f"key {name!r}: the log has no column {name!r}; the order of this name is order={name!r}, without Key"
            )
        check_names(self.text, columns)

    def refused(self, index: int, now: float) -> OptionError:
        """The error for a job whose key is not a number."""
        return OptionError(f"key {self.text!r} is not a number (NaN) for the job in row {index} at time {now:g}")


def named_key(text: str) -> Key | None:
    """The key that is an order by its name: a preset, in any case, or a column that all jobs have; None: it is neither.

    Examples
    --------
    >>> named_key("SAF"), named_key("estimate"), named_key("arrival")
    (Key(text='estimate * size'), Key(text='estimate'), None)
    """
    name = text.strip()
    if preset := Key.presets.get(name.lower()):
        return Key(preset.text)
    return Key(name) if name in ORDER_COLUMNS else None


def _value(node: Node, queue: WaitingJobs, now: float) -> Values | float:
    if node.operation == "number":
        return node.number
    if node.operation == "column":
        if node.column == "now":
            return now
        return now - queue.submit if node.column == "wait" else getattr(queue, node.column).astype(np.float64)
    return _NUMPY[node.operation](*(_value(part, queue, now) for part in node.parts))


_NUMPY: dict[str, Callable[..., Values]] = {
    "negate": np.negative, "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log2": np.log2,
    "log10": np.log10, "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.float_power,
    "min": np.minimum, "max": np.maximum, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
    "where": lambda c, a, b: np.where(np.isnan(c), c, np.where(np.not_equal(c, 0), a, b)),
}  # fmt: skip
