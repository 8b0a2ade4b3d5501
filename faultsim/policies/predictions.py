"""Predictors that hold what they foresee: pairs of interval and node, or times and nodes (model.md#predictors)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Flags, Floats, Integers, LongIntegers, Values
from faultsim.data.columns import Column, as_column, content_hash, read_only
from faultsim.data.failures import FailureTrace
from faultsim.data.lowered import Lowered
from faultsim.data.world import PredictionRows
from faultsim.errors import InputError, OptionError
from faultsim.policies.base import Seconds, Share
from faultsim.policies.interval_reports import draw_reports
from faultsim.policies.predictors import Predictor, as_share

__all__ = ["IntervalPredictor", "PredictionTrace"]


class _Columns(Predictor):
    """A predictor with columns, by whose content it is compared, hashed and lowered."""

    def _plain(self) -> Lowered:
        """The parameters, and the number of rows and the hash of the columns."""
        arrays = self.arrays()
        rows = len(next(iter(arrays.values()))) if arrays else 0
        listed = {"rows": rows, "digest": content_hash(arrays)} if arrays else None
        return {"name": self.name, **self._options(), "predictions": listed}

    def _options(self) -> Lowered:
        return {}

    @classmethod
    def from_parts(cls, options: Lowered, arrays: Mapping[str, Values] | None) -> Self:
        """From a lowered form and its columns."""
        rest = dict(options)
        listed = rest.pop("predictions", None)
        if listed is not None and not arrays:
            raise OptionError(f"this {cls.__name__} has {listed['rows']:,} predictions, which were not saved with it")
        return cls(**rest, **(arrays if listed is not None and arrays else {}))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.lower() == other.lower()

    def __hash__(self) -> int:
        return hash(content_hash(self.arrays()))


_TIME = Column("time", "f8", "s", None, "When the failure is predicted to happen.", "[yu2010] section 4", 0.0)
_NODE = Column("node", "i4", "1", None, "Node that is predicted to fail.", "[yu2010] section 4", 0.0)
_INDEX = Column("index", "i8", "1", None, "Number of the interval.", "[li2009] section 5.1", 0.0)


@dataclass(frozen=True, eq=False)
class IntervalPredictor(_Columns):
    """Predicts which nodes fail in the coming interval, with a given precision and recall.

    Interval k extends from k * interval (exclusive) to (k + 1) * interval (inclusive) on the clock of the log. Of the
    pairs (interval, node) with a failure, round(recall * number) are reported. False alarms, which are pairs without a
    failure drawn over the span of the trace and all nodes (also idle ones), are added until a share `precision` of the
    reports is right. Both are exact up to rounding, and nested: what is reported at a small recall is also reported at
    a larger one, false alarms likewise. The draws depend only on the seed of the run.

    Parameters
    ----------
    precision : float
        Share of the reports that are right, above 0 and at most 1; also the probability attached to each report.
    recall : float
        Share of the pairs with a failure that are reported, above 0 and at most 1. For no reports, use `Blind`.
    interval : float
        Length in seconds, above 0.

    References
    ----------
    [li2009] section 5.1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.IntervalPredictor(precision=0.7, recall=0.6, interval=300)
    IntervalPredictor(precision=0.7, recall=0.6, interval=300.0)
    >>> fs.IntervalPredictor.from_pairs([0, 5], [3, 3], interval=300, precision=0.7)
    IntervalPredictor.from_pairs(<2 pairs>, interval=300.0, precision=0.7)
    """

    name: ClassVar[str] = "interval"
    precision: Share
    recall: Share | None
    interval: Seconds
    index: LongIntegers | None = None
    node: Integers | None = None

    if TYPE_CHECKING:

        def __init__(self, precision: float, recall: float, interval: checks.Duration) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "precision", checks.number("precision", self.precision, above=0.0, high=1.0))
        put(self, "interval", checks.number("interval of a predictor", self.interval, above=0.0, unit="seconds"))
        if (self.index is None) != (self.node is None):
            raise OptionError("IntervalPredictor: pairs of an interval and a node are given to from_pairs")
        if self.index is None or self.node is None:
            put(self, "recall", _recall(self.recall))
            return
        put(self, "recall", None)
        index, node = as_column(self.index, _INDEX), as_column(self.node, _NODE)
        if len(index) != len(node):
            raise InputError(f"pairs: {len(index):,} intervals for {len(node):,} nodes; give one node per interval")
        order = np.lexsort((node, index))
        index, node = index[order], node[order]
        again = (index[1:] == index[:-1]) & (node[1:] == node[:-1])
        if again.any():
            row = int(np.argmax(again))
            raise InputError(f"pairs: interval {index[row]}, node {node[row]} appears more than once")
        put(self, "index", read_only(index))
        put(self, "node", read_only(node))

    @classmethod
    def from_pairs(
        cls, index: ArrayLike, node: ArrayLike, *, interval: checks.Duration, precision: float
    ) -> "IntervalPredictor":
        """The predictor that reports exactly these pairs.

        Parameters
        ----------
        index : array_like of int
            Number of the interval of each report, from 0.
        node : array_like of int
            Its node.
        interval : float
            Length in seconds.
        precision : float
            Probability attached to each report.

        Raises
        ------
        InputError
            If the columns differ in length, or a pair appears twice.
        """
        for name, column in (("index", index), ("node", node)):
            if column is None:
                raise InputError(f"{name} must be a sequence of whole numbers, got None")
        return cls(precision, None, interval, index, node)  # type: ignore[arg-type, call-arg]

    @property
    def needs_failures(self) -> bool:  # type: ignore[override]
        """Whether the reports are drawn from the failures of the run; False with given pairs."""
        return self.index is None

    def arrays(self) -> dict[str, Values]:
        """The pairs, if they were given."""
        return {} if self.index is None or self.node is None else {"index": self.index, "node": self.node}

    def predictions(self, trace: FailureTrace | None, nodes: int, seed: int) -> PredictionRows:
        """Interval k reaches from k * interval to (k + 1) * interval; sorted by interval, then node."""
        length = self.interval
        if self.index is not None and self.node is not None:
            index, node = self.index, self.node
            if len(index) and not math.isfinite((float(index[-1]) + 1.0) * length):
                raise InputError(f"pairs: interval {index[-1]} of {length:g} s is beyond what a float64 holds")
        else:
            assert trace is not None  # Run refuses the predictor without failures
            assert self.recall is not None
            index, node = draw_reports(
                trace, nodes, seed, interval=length, precision=self.precision, recall=self.recall
            )
        begin, end = (np.asarray(number, np.float64) * length for number in (index, index + 1))
        return PredictionRows(begin, end, node, self.precision)

    def _options(self) -> Lowered:
        return {"precision": self.precision, "recall": self.recall, "interval": self.interval}

    def __repr__(self) -> str:
        if self.index is None:
            return f"IntervalPredictor(precision={self.precision}, recall={self.recall}, interval={self.interval})"
        pairs = f"<{len(self.index):,} pairs>"
        return f"IntervalPredictor.from_pairs({pairs}, interval={self.interval}, precision={self.precision})"


@dataclass(frozen=True, eq=False)
class PredictionTrace(_Columns):
    """A list of predictions: at this time, this node fails, with certainty.

    Parameters
    ----------
    time : array_like of shape (n,)
        Seconds, on the clock of the log; any order.
    node : array_like of int, shape (n,)
        Node numbers.

    References
    ----------
    [yu2010] section 4.

    Examples
    --------
    >>> import faultsim as fs
    >>> predictions = fs.PredictionTrace([90, 18, 8], [2, 0, 2])
    >>> predictions, predictions.time
    (PredictionTrace(<3 predictions>), array([ 8., 18., 90.]))
    """

    name: ClassVar[str] = "trace"
    needs_failures: ClassVar[bool] = False
    time: Floats
    node: Integers

    if TYPE_CHECKING:

        def __init__(self, time: checks.Durations, node: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        time = as_column(self.time, _TIME)
        node = as_column(self.node, _NODE)
        if len(time) != len(node):
            raise InputError(f"predictions: {len(time):,} times for {len(node):,} nodes; give one node per time")
        order = np.argsort(time, kind="stable")
        object.__setattr__(self, "time", read_only(time[order]))
        object.__setattr__(self, "node", read_only(node[order]))

    @classmethod
    def at_accuracy(
        cls, trace: FailureTrace, aoa: float, fp_share: float, *, rng: checks.Random, nodes: int | None = None
    ) -> "PredictionTrace":
        """Predictions of a trace's failures with a given accuracy.

        Of F failures some are missed and some false ones are added, so that the accuracy

            AOA = hits / (hits + missed + false)

        and the share false / (missed + false) are as requested, up to rounding. A hit lies in the failure's down time
        (at the failure if there is none), a false prediction outside all down times of its node. If down times of one
        node overlap, a hit of one may lie in that of another: see `FailureTrace.merge_overlaps`.

        Parameters
        ----------
        trace : FailureTrace
            The failures.
        aoa : float
            Accuracy, from 0 (no hit) to 1 (all hits, nothing else).
        fp_share : float
            Share of the mistakes that are false predictions, from 0 to 1.
        rng : numpy.random.Generator, numpy.random.SeedSequence or int
            Source of randomness, or a seed.
        nodes : int, optional
            False predictions are about nodes below this; by default the trace's largest number plus one.

        References
        ----------
        [yu2010] section 5 (closed form derived from its definitions).

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace([5, 15, 60], [2, 0, 1], [5, 5, 5], span=160)
        >>> len(fs.PredictionTrace.at_accuracy(trace, 0.5, 0.5, rng=1).time)
        3
        """
        if not all(hasattr(trace, name) for name in ("time", "node", "downtime", "span")):
            raise OptionError(f"trace must be a FailureTrace, got {checks.shown(trace, 'FailureTrace')}")
        if isinstance(trace, FailureTrace):
            trace.refuse_domains("at_accuracy")
        a, share = as_share("aoa", aoa), as_share("fp_share", fp_share)
        if a == 0.0 and share == 1.0:
            raise OptionError("fp_share=1 with aoa=0 would need infinitely many false predictions: take a larger aoa")
        rng = checks.generator(rng)
        count = len(trace.time)
        # Hits = F - Fn and AOA = hits / (hits + Fn + Fp) with Fp = share * X, Fn = (1 - share) * X give X.
        mistakes = count * (1.0 - a) / (a * share + 1.0 - share)
        false, missed = round(share * mistakes), round((1.0 - share) * mistakes)
        seen = np.sort(rng.permutation(count)[missed:])
        rest = np.maximum(trace.span - trace.time[seen], 0.0)  # of an outage that does not end
        lasting = np.where(np.isinf(trace.downtime[seen]), rest, trace.downtime[seen])
        hits = trace.time[seen] + rng.random(len(seen)) * lasting
        if nodes is not None and isinstance(trace, FailureTrace):
            trace.check_against(checks.whole("nodes", nodes, low=1), "at_accuracy")
        if nodes is None:
            nodes = int(trace.node.max()) + 1 if count else 1
        nodes = checks.whole("nodes", nodes, low=1)
        time, node = _outside(trace, false, nodes, rng)
        return cls(np.concatenate([hits, time]), np.concatenate([trace.node[seen], node]))

    def predictions(self, trace: FailureTrace | None, nodes: int, seed: int) -> PredictionRows:
        """The list."""
        return PredictionRows(self.time, self.time, self.node, 1.0)

    def arrays(self) -> dict[str, Values]:
        """The columns time and node."""
        return {"time": self.time, "node": self.node}

    def __repr__(self) -> str:
        return f"PredictionTrace(<{len(self.time):,} predictions>)"


def _recall(value: object) -> float:
    if value == 0:
        raise OptionError(f"recall must be above 0 and at most 1, got {value!r}: to report nothing, use Blind()")
    return checks.number("recall", value, above=0.0, high=1.0)


def _outside(trace: FailureTrace, wanted: int, nodes: int, rng: "np.random.Generator") -> tuple[Floats, Integers]:
    """`wanted` times and nodes outside of all down times, uniform over the span of the trace and the nodes."""
    times: list[Floats] = [np.empty(0)]
    places: list[Integers] = [np.empty(0, np.int32)]
    missing, rounds = wanted, 0
    while missing:
        time = rng.random(2 * missing + 16) * trace.span
        node = rng.integers(0, nodes, len(time)).astype(np.int32)
        up = np.flatnonzero(~is_down(trace, time, node))[:missing]
        times.append(time[up])
        places.append(node[up])
        missing -= len(up)
        rounds += 1
        if rounds == 1000:
            raise InputError(f"no room for {wanted:,} false predictions: {nodes:,} nodes are down nearly all the time")
    return np.concatenate(times), np.concatenate(places)


def is_down(trace: FailureTrace, time: Floats, node: Integers) -> Flags:
    """Whether each of the nodes is down at its time: from a failure to the end of its down time, ends included."""
    down = np.zeros(len(time), dtype=bool)
    by_node = np.argsort(trace.node, kind="stable")  # and by time among those of a node
    numbers, first = np.unique(trace.node[by_node], return_index=True)
    for number, rows in zip(numbers.tolist(), np.split(by_node, first[1:]), strict=True):
        asked = np.flatnonzero(node == number)
        if len(asked):
            latest = np.maximum.accumulate(trace.time[rows] + trace.downtime[rows])
            before = np.searchsorted(trace.time[rows], time[asked], side="right") - 1
            down[asked] = (before >= 0) & (time[asked] <= latest[before])
    return down
