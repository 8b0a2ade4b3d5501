"""The content hash of a task: equal if and only if two tasks are the same run by content.

It covers the columns of log, failures and predictions, every lowered option with the seed, the jobs excluded from
metrics, the content of policies and metrics that are written in Python (`identity`), the model revision, and the
versions of the package and of the rows. It contains no path, name or time.
"""

import hashlib
import json
import math
import weakref
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

import numpy as np

from faultsim.data.columns import content_hash
from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload
from faultsim.machines import Machine
from faultsim.machines.resources import Resources
from faultsim.policies.base import Policy
from faultsim.simulation.run import Run
from faultsim.simulation.workflow_run import WorkflowRun
from faultsim.sweep.identity import identity
from faultsim.sweep.labels import label
from faultsim.version import MODEL_REVISION, __version__

#: Version of the contents of a row of the store and of what its hash covers.
ROWS = 2


def canonical(document: object) -> str:
    """JSON with sorted keys and no blanks; floats are exact.

    Examples
    --------
    >>> canonical({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return _ENCODER.encode(document)


def own_document(numbers: Mapping[str, float]) -> str:
    """A caller's own metrics as JSON that every reader takes: NaN is null, and what is infinite is text.

    Examples
    --------
    >>> own_document({"mttf": float("inf"), "kwh": 0.5})
    '{"kwh":0.5,"mttf":"inf"}'
    """
    said = {name: value if math.isfinite(value) else str(float(value)) for name, value in numbers.items()}
    return canonical({name: None if value == "nan" else value for name, value in said.items()})


def own_number(said: float | str | None) -> float:
    """What such a document says of one metric.

    Examples
    --------
    >>> own_number("inf"), own_number(0.5), own_number(None)
    (inf, 0.5, nan)
    """
    return math.nan if said is None else float(said)


def name_of(document: object) -> str:
    """32 hexadecimal digits that identify a document."""
    return _hashed(canonical(document))


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else identity(value, named(value))


def named(value: object) -> str:
    """What messages call a policy, or another object of a sweep.

    Examples
    --------
    >>> import faultsim as fs
    >>> named(fs.Fcfs()), named([])
    ('policy Fcfs', 'list')
    """
    return f"policy {type(value).__name__}" if isinstance(value, Policy) else type(value).__name__


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_plain, check_circular=False)


def by_content(value: object) -> object:
    """What an axis sets, such that equal content gives an equal document; for a factory, its name.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[1], size=[1])
    >>> by_content(log) == by_content(fs.Workload(submit=[0], runtime=[1], size=[1], name="a")), by_content(0.5)
    (True, 0.5)
    """
    if isinstance(value, Workload | FailureTrace | Workflow):
        return value.digest()
    if isinstance(value, Resources):
        return _resources(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [by_content(each) for each in value]
    if isinstance(value, Policy):
        return [value.lower(), content_hash(value.arrays())]
    if isinstance(value, Machine):
        return value.lower()
    return label(value) if callable(value) else value


def is_told_by_content(value: object) -> bool:
    """Whether `by_content` says all that there is to say: of a factory it says the name only.

    Examples
    --------
    >>> import faultsim as fs
    >>> is_told_by_content(fs.Fcfs()), is_told_by_content(lambda rng: fs.synthetic.nasa_like(50, rng=rng))
    (True, False)
    """
    return isinstance(value, Workload | FailureTrace | Policy | Machine) or not callable(value)


class Texts:
    """What `canonical` makes of runs, with the texts of what a run shares with the one before it.

    A policy that is written in Python is identified once, as it was when it was first met: what it changes in itself
    while it runs does not give its later runs another name.

    Examples
    --------
    >>> import faultsim as fs
    >>> run = fs.Run(fs.Workload(submit=[0], runtime=[10], size=[1]), fs.Cluster(2))
    >>> Texts().of(run) == canonical({key: value for key, value in run.lower().items() if key != "record"})
    True
    """

    def __init__(self) -> None:
        self._names: list[str] = []  # of what affects what is kept, in order
        #: What was given last, and its text; both are replaced, not changed, as threads may share them.
        self._last: tuple[list[object], list[str]] = [], []
        #: Id of an object -> a reference to it, and its identity.
        self._met: dict[int, tuple[object, str]] = {}
        options: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "check_circular": False}
        self._encoder = json.JSONEncoder(default=self._identity, **options)

    def of(self, run: Run) -> str:
        """The text of a lowered run, without what does not affect what is kept."""
        options, (given, texts) = vars(run), self._last
        if not texts:
            self._names = sorted(run.lower().keys() - {"record"})
            given, texts = [self] * len(self._names), [""] * len(self._names)
        new = [place for place, name in enumerate(self._names) if options[name] is not given[place]]
        if new:
            lowered, given, texts = run.lower(), given.copy(), texts.copy()
            for place in new:
                name = self._names[place]
                texts[place] = f'"{name}":{self.text(lowered[name])}'
                given[place] = options[name]
            self._last = given, texts
        return "{" + ",".join(texts) + "}"

    def text(self, value: object) -> str:
        """`canonical` of a lowered option."""
        if type(value) is float and math.isfinite(value):
            return float.__repr__(value)  # as JSON has it
        return self._encoder.encode(value)

    def _identity(self, value: object) -> object:
        if isinstance(value, np.generic):
            return value.item()
        met = self._met.get(id(value))
        if met is None:
            key = id(value)
            try:
                kept: object = weakref.ref(value, lambda _: self._met.pop(key, None))
            except TypeError:  # of a class with `__slots__`
                kept = value
            met = self._met[key] = kept, identity(value, named(value))
        return met[1]


def task_id(
    run: Run,
    log: str,
    failures: str | None,
    cut: tuple[float, float],
    texts: Texts | None = None,
    own: Mapping[str, object] | None = None,
) -> str:
    """The content hash of a run.

    Parameters
    ----------
    run : Run
    log, failures : str
        Digests of its log and of its failures (None: nothing fails).
    cut : (float, float)
        Shares of the jobs that its metrics exclude at the beginning and at the end.
    texts : Texts, optional
        Of the runs before, if there are many.
    own : mapping, optional
        Metrics of the caller's own, by their content.
    """
    begin, end = cut
    usual = type(begin) is type(end) is float
    excluded = f"[{begin!r},{end!r}]" if usual else canonical(cut)
    lost = "null" if failures is None else quoted(failures)
    text = f'{{"cut":{excluded},"failures":{lost},"faultsim":{quoted(__version__)},"log":{quoted(log)},'
    if own:
        text += f'"metrics":{canonical(own)},'
    text += f'"model":{MODEL_REVISION},'
    if run.predictor is not None:
        arrays = run.predictor.arrays()
        if arrays:
            text += f'"predictions":{quoted(content_hash(arrays))},'
    return _hashed(f'{text}"rows":{ROWS},"run":{(texts or Texts()).of(run)}}}')


def workflow_task_id(run: WorkflowRun, workflows: str, failures: str | None, own: Mapping[str, object]) -> str:
    """The content hash of a run of workflows.

    Parameters
    ----------
    run : WorkflowRun
    workflows, failures : str
        Digests of what runs and of its failures (None: nothing fails).
    own : mapping
        Metrics of the caller's own, by their content.

    Examples
    --------
    >>> import faultsim as fs
    >>> flow = fs.Workflow([4, 4])
    >>> few, many = (WorkflowRun(flow, fs.Resources(nodes)) for nodes in (1, 2))
    >>> workflow_task_id(few, flow.digest(), None, {}) == workflow_task_id(many, flow.digest(), None, {})
    False
    """
    arrays = {} if run.predictor is None else run.predictor.arrays()
    document = {
        "arrivals": content_hash({"arrival": run.arrival}),
        "failures": failures,
        "faultsim": __version__,
        "kind": "workflows",
        "model": MODEL_REVISION,
        "predictions": content_hash(arrays) if arrays else None,
        "resources": _resources(run.resources),
        "rows": ROWS,
        "run": {name: value for name, value in run.lower().items() if name != "record"},
        "workflows": workflows,
    }
    return name_of(document | ({"metrics": own} if own else {}))


def _resources(resources: Resources) -> list[object]:
    """Nodes by content; a matrix of bandwidths as its hash."""
    band = resources.bandwidth
    return [content_hash({"speed": resources.speed}), identity(band, "bandwidth")]
