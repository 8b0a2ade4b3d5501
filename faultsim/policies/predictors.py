"""Failure predictors (model.md#predictors): what the other policies know about upcoming failures.

A predictor is only a description; its predictions are made before a run begins.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from faultsim import checks, renames
from faultsim.arrays import Floats, Integers, Values
from faultsim.data.failures import FailureTrace
from faultsim.data.lowered import Lowered
from faultsim.data.world import PredictionRows
from faultsim.errors import OptionError
from faultsim.policies.base import Check, MachineFacts, OwnPolicy, Seconds, Share
from faultsim.policies.given_columns import own_predictions
from faultsim.policies.interval_reports import stream

__all__ = [
    "Accuracy",
    "Blind",
    "Buckets",
    "Confidence",
    "Perfect",
    "Predictor",
]


#: Checks a probability.
as_share: Callable[..., float] = partial(checks.number, low=0.0, high=1.0)
#: Times, nodes, and the probability of them all.
Dated = tuple[Floats, Integers, float]
_NOTHING: Dated = (np.empty(0), np.empty(0, np.int32), 1.0)


class Predictor(OwnPolicy):
    """Base of predictors; subclass it to write your own in Python.

    Override `predict`, which is called once, before the run begins; and set `needs_failures` to False if it does not
    look at the failures of the run.

    Examples
    --------
    Half an hour of warning, for the nodes of the first half of the machine:

    >>> import faultsim as fs
    >>> class HalfBlind(fs.Predictor):
    ...     def predict(self, trace, machine, rng):
    ...         seen = trace.node < machine.nodes // 2
    ...         return {"begin": trace.time[seen] - 1800, "end": trace.time[seen], "node": trace.node[seen], "p": 0.9}
    >>> log = fs.Workload(submit=[0], runtime=[50], size=[1])
    >>> failures = fs.FailureTrace([20, 30], [0, 1], 5)
    >>> result = fs.simulate(log, fs.Cluster(4), failures=failures, predictor=HalfBlind(), placement=fs.SafestFirst())
    >>> result.jobs["restarts"]
    array([0], dtype=int32)
    """

    kind: ClassVar[str] = "predictor"
    name: ClassVar[str] = "python"
    #: Whether it looks at the failures of the run, and so requires them.
    needs_failures: ClassVar[bool] = True
    #: Whether it names nodes; placement cannot use one that does not.
    says_where: ClassVar[bool] = True
    sees_jobs: ClassVar[bool] = False

    def all_predictions(self, trace: FailureTrace | None, machine: MachineFacts, seed: int) -> PredictionRows:
        """All predictions of a run, those of a rule in Python checked."""
        if not self.is_written():
            return self.predictions(trace, machine.nodes, seed)
        given = self.predict(trace, machine, stream(seed, "own predictor"))
        return own_predictions(f"{type(self).__name__}.predict", given, machine.nodes)

    def predictions(self, trace: FailureTrace | None, nodes: int, seed: int) -> PredictionRows:
        """Begin, end (equal for dated ones) and node of each, ascending, and the probability p of them all."""
        time, node, p = self.dated(trace) if trace is not None else _NOTHING
        return PredictionRows(time, time, node, p)

    def dated(self, trace: FailureTrace) -> Dated:
        """Times, nodes and probability of dated predictions, of failures of the run."""
        raise OptionError(f"{self!r} makes no predictions")

    def predict(self, trace: FailureTrace | None, machine: Any, rng: "np.random.Generator") -> Mapping[str, Any]:
        """All that will be predicted in a run.

        Parameters
        ----------
        trace : FailureTrace or None
            The failures of the run.
        machine : Cluster, Torus or Pod
            Where it is.
        rng : numpy.random.Generator
            A stream of the run's seed; draw from nothing else.

        Returns
        -------
        mapping
            Columns ``node``, and ``begin`` and ``end`` (s) of each prediction, or ``time`` for dated ones; and their
            one probability ``p``, 1 if it is missing.
        """
        raise OptionError(f"{type(self).__name__} must define predict(self, trace, machine, rng)")


@dataclass(frozen=True)
class Blind(Predictor):
    """Predicts no failure, ever.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Blind().lower()
    {'name': 'blind'}
    """

    name: ClassVar[str] = "blind"
    needs_failures: ClassVar[bool] = False

    def dated(self, trace: FailureTrace) -> Dated:
        """None."""
        return _NOTHING


@dataclass(frozen=True)
class Perfect(Predictor):
    """Predicts every failure and nothing else, with certainty.

    References
    ----------
    [zhang2004] section 5.2.1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Perfect().lower()
    {'name': 'perfect'}
    """

    name: ClassVar[str] = "perfect"

    def dated(self, trace: FailureTrace) -> Dated:
        """All failures."""
        return trace.time, trace.node, 1.0


@renames.parameters
@dataclass(frozen=True)
class Confidence(Predictor):
    """Predicts every failure, each with this probability: a, the confidence.

    A node that fails in the given window is predicted to fail with it, any other with 0.

    Parameters
    ----------
    probability : float
        From 0 (predicts nothing) to 1 (same as `Perfect`).

    References
    ----------
    [oliner2004] section 4.1 (the balancing predictor).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Confidence(0.1)
    Confidence(probability=0.1)
    """

    name: ClassVar[str] = "confidence"
    probability: Annotated[Share, Check(as_share, "probability of Confidence")]

    def dated(self, trace: FailureTrace) -> Dated:
        """All failures, unless they are impossible."""
        return (trace.time, trace.node, self.probability) if self.probability > 0 else (*_NOTHING[:2], self.probability)


@renames.parameters
@dataclass(frozen=True)
class Accuracy(Predictor):
    """Predicts each failure with this probability, the accuracy, and then with certainty; no false alarms.

    A failure is seen if its coin (a column of the `FailureTrace`) is below it: those seen with a small one are among
    those seen with a larger one, and every policy gets the same predictions.

    Parameters
    ----------
    probability : float
        Share of the failures that are seen, from 0 to 1.

    References
    ----------
    [oliner2004] section 4.2 (the tie-breaking predictor).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Accuracy(0.5).lower()
    {'name': 'accuracy', 'probability': 0.5}
    """

    name: ClassVar[str] = "accuracy"
    probability: Annotated[Share, Check(as_share, "probability of Accuracy")]

    def dated(self, trace: FailureTrace) -> Dated:
        """The failures that are seen."""
        seen = trace.coin < self.probability
        return trace.time[seen], trace.node[seen], 1.0


#: The longest bucket that was counted in hours; as seconds it would be no bucket that anyone wants.
_MOST_HOURS = 24
bucket_length: Callable[[object], float] = partial(
    checks.number, "length of a bucket", above=0.0, high=86_400.0, unit="seconds"
)


def is_hours(value: object) -> bool:
    """Whether a length of a bucket has no unit and was in hours when those were what a number meant."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return bool(is_number and checks.seconds(value) is None and 0 < value <= _MOST_HOURS)  # type: ignore[operator]


def warn_of_hours(given: str, better: str, level: int) -> None:
    """Say how to write it."""
    said = f"{given} is in hours, and all else in seconds: write {better}"
    warnings.warn(said, DeprecationWarning, stacklevel=renames.level_without_entries(level))


@dataclass(frozen=True, init=False)
class Buckets(Predictor):
    """Says whether any node fails in the coming hours, not which: only `PredictedWindows` can use it.

    Parameters
    ----------
    length : float
        Length of a bucket in seconds, above 0 and at most a day. Bucket k extends from k times that (exclusive) to
        k + 1 times that (inclusive), on the clock of the log. Before, it was in hours: ``hours=4``, and a number up to
        24 without a name, still are, with a `DeprecationWarning`.

    References
    ----------
    [zhang2004] section 5.2.2.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Buckets("4h")
    Buckets(length=14400.0)
    """

    name: ClassVar[str] = "buckets"
    says_where: ClassVar[bool] = False
    length: Seconds

    def __init__(
        self, bucket: checks.Duration | None = None, /, *, length: checks.Duration | None = None, hours: object = None
    ) -> None:
        if sum(value is not None for value in (bucket, length, hours)) != 1:
            raise OptionError("Buckets takes the length of a bucket: Buckets('4h')")
        if is_hours(bucket):
            warn_of_hours(f"Buckets({bucket})", f"Buckets('{bucket}h')", 3)
            bucket, hours = None, bucket
        elif hours is not None:
            warn_of_hours(f"Buckets(hours={hours})", f"Buckets('{hours}h')", 3)
        seconds = 3600.0 * checks.number("hours of a bucket", hours) if hours is not None else length
        object.__setattr__(self, "length", bucket_length(bucket if bucket is not None else seconds))

    @classmethod
    def from_parts(cls, options: Lowered, arrays: Mapping[str, Values] | None) -> Self:
        """From a lowered form, also of the version that counted hours."""
        return cls(length=3600.0 * options["hours"]) if "hours" in options else cls(**options)

    def dated(self, trace: FailureTrace) -> Dated:
        """None: it does not say where."""
        return _NOTHING
