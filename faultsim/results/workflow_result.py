"""`WorkflowResult`: the outcome of a workflow run, as columns and a few numbers."""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, Values
from faultsim.data.columns import DECISIONS, WORKFLOW_EDGES, WORKFLOW_EVENTS, WORKFLOW_RESULTS, Column, read_only
from faultsim.data.failures import FailureTrace
from faultsim.data.lowered import EngineOutput
from faultsim.data.notebook import table_html
from faultsim.data.tabular import Columns, TablesOfAResult
from faultsim.data.workflow import Workflow
from faultsim.errors import OptionError
from faultsim.machines.resources import Resources
from faultsim.results.caveats import of_failures
from faultsim.results.prediction_accuracy import Matched
from faultsim.results.provenance import identity
from faultsim.results.revision import caveat, check_pickle
from faultsim.results.workflow_log import log_rows, log_text
from faultsim.results.workflow_metrics import WORKFLOW_METRICS, workflow_metrics
from faultsim.version import MODEL_REVISION, __version__

_WHENCE = "WorkflowResult: it comes from simulate_workflows or load_workflow_result"


class WorkflowResult(TablesOfAResult):
    """The outcome of a workflow run: makespans, loss, reschedulings, accuracies, decisions, jobs; events if recorded.

    `simulate_workflows` returns one. It is immutable.

    Examples
    --------
    >>> import faultsim as fs
    >>> chain = fs.Workflow([4, 4], [(0, 1, 1)])
    >>> result = fs.simulate_workflows(chain, fs.Resources(speed=[1, 2]))
    >>> result.makespan, result.jobs["node"]
    (4.0, array([1, 1], dtype=int32))
    """

    _TABLES: ClassVar[tuple[str, ...]] = ("jobs", "decisions", "events")
    __slots__ = ("_arrivals", "_matched", "_output", "_resources", "_settings", "_tables", "_trace", "_workflows")

    def __init__(
        self,
        output: EngineOutput,
        *,
        workflows: Sequence[Workflow],
        resources: Resources,
        arrivals: Floats,
        matched: Matched,
        settings: Mapping[str, Any],
        trace: FailureTrace | None,
    ) -> None:
        if not (
            isinstance(resources, Resources)
            and isinstance(trace, FailureTrace | None)
            and isinstance(settings, Mapping)
            and isinstance(output, Mapping)
            and "scheduler" in settings
            and isinstance(workflows, Sequence)
            and len(workflows) > 0
            and "decisions" in output
            and isinstance(settings["scheduler"], Mapping)
            and "name" in settings["scheduler"]
        ):
            raise OptionError(_WHENCE)
        self._output = output
        self._workflows = tuple(workflows)
        self._resources = resources
        self._arrivals = arrivals
        self._matched = matched
        self._settings = settings
        self._trace = trace
        try:
            self._tables = {"jobs": self._named(output, WORKFLOW_RESULTS, "jobs")}
            self._tables["decisions"] = self._named(output["decisions"], DECISIONS, "decisions")
        except (TypeError, ValueError, IndexError, KeyError, AttributeError):
            raise OptionError(_WHENCE) from None
        if "events_table" in output:
            self._tables["events"] = self._named(output["events_table"], WORKFLOW_EVENTS, "events")

    def _named(self, table: Mapping[str, Values], columns: Sequence[Column], what: str) -> Columns:
        """The columns of an engine table, whose jobs are numbered consecutively, with workflow and job."""
        sizes = [len(workflow) for workflow in self._workflows]
        first = np.cumsum([0, *sizes[:-1]], dtype=np.int32)
        of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        job = np.arange(len(of), dtype=np.int32) - first[of]
        if "job" in table:
            of, job = (np.append(each, np.int32(-1))[table["job"]] for each in (of, job))  # the last: of no job
        own: dict[str, Values] = {"workflow": table.get("workflow", of), "job": job}
        named = {}
        for column in columns:
            values = np.asarray(own.get(column.name, table.get(column.name))).astype(column.dtype, copy=False)
            named[column.name] = values
        return Columns(named, what)

    def __reduce__(self) -> tuple[object, ...]:
        named = ("workflows", "resources", "arrivals", "matched", "settings", "trace")
        parts = {name: getattr(self, f"_{name}") for name in named}
        return _restored, (type(self), self._output, parts, MODEL_REVISION)

    # -- what happened

    @property
    def jobs(self) -> Columns:
        """Columns workflow, job, node, start, finish, kills, one row per job, workflow by workflow."""
        return self._tables["jobs"]

    @property
    def decisions(self) -> Columns:
        """Columns time, workflow, job, node, asked, begin, finish, one row each time a job was put on a node."""
        return self._tables["decisions"]

    @property
    def events(self) -> Columns:
        """Columns time, kind (see `faultsim.data.event_kinds`), workflow, job and node (-1: none), as things happened.

        Raises
        ------
        OptionError
            If the run was not made with ``record=True``.
        """
        if "events" not in self._tables:
            raise OptionError("this run recorded no events: simulate with record=True to keep them")
        return self._tables["events"]

    def log(self) -> str:
        """What happened and what was decided, instant by instant, as a table: Figures 7 and 8 of the paper.

        `faultsim.results.workflow_log.log_rows` returns the same as rows. The pool is shown as it is before the pass,
        in its order.

        Raises
        ------
        OptionError
            If the run was not made with ``record=True``.

        Examples
        --------
        >>> import faultsim as fs
        >>> chain = fs.Workflow([4, 4], [(0, 1, 1)], name="chain")
        >>> failures = fs.FailureTrace([6], [1], [3], span=60)
        >>> result = fs.simulate_workflows(chain, fs.Resources(speed=[1, 1]), failures=failures, record=True)
        >>> print(result.log())
        time  event          pool  free   decision
        0     chain arrives  T0    P0 P1  (T0, P0)
        4     T0 done        T1    P0 P1  (T1, P0)
        6     P1 fails
        8     T1 done              P0
        """
        return log_text(log_rows(self.events, self._workflows, self._resources, self._trace, self._settings))

    @property
    def makespans(self) -> Floats:
        """For each workflow, the seconds from its arrival to its last finish."""
        first = np.cumsum([0, *(len(workflow) for workflow in self._workflows[:-1])])
        last: Floats = np.maximum.reduceat(self.jobs["finish"], first)
        return last - self._arrivals

    @property
    def makespan(self) -> float:
        """Seconds from the first arrival to the last finish."""
        return float(self.jobs["finish"].max() - self._arrivals.min())

    @property
    def loss_time(self) -> float:
        """Node-seconds wasted by failures: for every kill, the time on the node, including transfers."""
        return float(self._output["loss_time"])

    @property
    def reschedulings(self) -> int:
        """Number of kills: each puts a job back into the pool."""
        return int(self._output["reschedulings"])

    # -- accuracy

    @property
    def matched(self) -> Matched:
        """Hits, missed failures and false predictions, over the whole trace of failures."""
        return self._matched

    @property
    def aoa(self) -> float:
        """Application oblivious accuracy of the predictions: hits / (hits + missed + false); NaN if there are none."""
        return self._matched.aoa

    @property
    def questions(self) -> dict[str, tuple[int, int]]:
        """How many questions the scheduler asked and how many answers were right, by both counts of `aaa`."""
        pass_asked, pass_right, node_asked, node_right = map(int, self._output["questions"])
        return {"per_pass": (pass_asked, pass_right), "per_node": (node_asked, node_right)}

    @property
    def aaa(self) -> dict[str, float]:
        """Application aware accuracy: share of right answers, NaN if there were no questions.

        ``"per_pass"``: one question per pass and free node, as the paper's example counts; ``"per_node"``: the
        questions that were actually asked, up to the first no.
        """
        return {count: right / asked if asked else float("nan") for count, (asked, right) in self.questions.items()}

    # -- what made it

    @property
    def workflows(self) -> tuple[Workflow, ...]:
        """The workflows that ran."""
        return self._workflows

    @property
    def resources(self) -> Resources:
        """What they ran on."""
        return self._resources

    @property
    def arrivals(self) -> Floats:
        """When each workflow arrived, in seconds (read-only)."""
        return self._arrivals

    @property
    def failures(self) -> FailureTrace | None:
        """The failures of the run."""
        return self._trace

    @property
    def settings(self) -> Mapping[str, Any]:
        """Scheduler, predictor, transfers, outputs, seed and engine, version and model revision, as plain values."""
        made_by = {"version": __version__, "model_revision": MODEL_REVISION}
        return MappingProxyType({**made_by, **self._settings})  # a loaded one has those of its run

    @property
    def model_revision(self) -> int | None:
        """The `MODEL_REVISION` that computed it; None if it was saved by a version that did not record it."""
        revision: int | None = self.settings["model_revision"]
        return revision

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be known before the numbers are believed: an older model revision, options without effect,
        failures not in the run."""
        unused = tuple(self._settings.get("without_effect", ()))
        failures = () if self._trace is None else of_failures(self._trace, *self._span())
        return (*caveat(self.model_revision), *unused, *failures)

    def _span(self) -> tuple[float, float]:
        """First arrival and last finish."""
        return float(self._arrivals.min()), float(self.jobs["finish"].max())

    @property
    def metrics(self) -> Mapping[str, float]:
        """What a sweep keeps of a run: n_workflows, n_jobs and the numbers above by name, NaN where there is none.

        Examples
        --------
        >>> import faultsim as fs
        >>> result = fs.simulate_workflows(fs.Workflow([4, 4]), fs.Resources(2))
        >>> result.metrics["mean_makespan"], result.metrics["aoa"]
        (4.0, nan)
        """
        return MappingProxyType(checks.Named("metric", workflow_metrics(self)))

    def __len__(self) -> int:
        return len(self._workflows)

    # -- out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything in one file (NumPy's .npz with facts as JSON), for `load_workflow_result`.

        The file includes the workflows, the resources and the failures. It appears complete or not at all.
        """
        arrays: dict[str, Values] = {}
        for table, columns in self._tables.items():
            arrays |= {f"{table}/{name}": columns[name] for name in columns}
        flows = self._workflows
        arrays |= {
            "workflows/jobs": np.array([len(flow) for flow in flows], np.int32),
            "workflows/edges": np.array([flow.n_edges for flow in flows], np.int32),
            "workflows/nodes": np.array([flow.cost.shape[1] if flow.cost.ndim == 2 else 0 for flow in flows], np.int32),
            "workflows/submit": np.array([flow.submit for flow in flows]),
            "workflows/arrival": self._arrivals,
            "workflow_jobs/cost": np.concatenate([flow.cost.ravel() for flow in flows]),
            "resources/speed": self._resources.speed,
        }
        for column in WORKFLOW_EDGES:
            arrays[f"workflow_edges/{column.name}"] = np.concatenate([getattr(flow, column.name) for flow in flows])
        if isinstance(self._resources.bandwidth, np.ndarray):
            arrays["resources/bandwidth"] = self._resources.bandwidth
        if self._trace is not None:
            arrays |= {f"failures/{name}": column for name, column in self._trace.columns.items()}
        matched, questions = self._matched, self.questions
        facts = {
            "settings": dict(self.settings),
            "loss_time": self.loss_time,
            "counters": {
                "reschedulings": self.reschedulings,
                "hits": matched.hits,
                "missed": matched.missed,
                "false": matched.false,
                **{f"{by[4:]}_asked": asked for by, (asked, _) in questions.items()},
                **{f"{by[4:]}_right": right for by, (_, right) in questions.items()},
            },
            "workflows": [
                {
                    "name": flow.name,
                    "labels": flow.labels,
                    "transfer_unit": flow.transfer_unit,
                    "dropped": dict(flow.dropped),
                }
                for flow in flows
            ],
            "bandwidth": None if "resources/bandwidth" in arrays else self._resources.bandwidth,
            "failures": identity(self._trace),
        }
        from faultsim.results.saved_file import OF_WORKFLOWS, save_arrays

        save_arrays(path, arrays, facts, OF_WORKFLOWS)

    def _header(self) -> str:
        s = self._settings
        jobs = len(self.jobs["job"])
        parts = [s["scheduler"]["name"]]
        if self._trace is not None:
            begin, end = self._span()
            happened = int(((self._trace.time >= begin) & (self._trace.time <= end)).sum())
            parts.append(
                f"{len(self._trace):,} failure{'s' if len(self._trace) != 1 else ''}, {happened:,} within the run"
            )
        if s["predictor"] is not None:
            parts.append(f"{s['predictor']['name']} predictor")
        if s["transfers"] != "parallel":
            parts.append("transfers in turn")
        if s["outputs"] is not None:
            parts.append("shared outputs")
        some = f"{len(self):,} workflow{'s' if len(self) > 1 else ''} ({jobs:,} job{'s' if jobs > 1 else ''})"
        nodes = self._resources.nodes
        return f"{some} on {nodes:,} node{'s' if nodes > 1 else ''}: {', '.join(parts)}"

    def __repr__(self) -> str:
        return f"<WorkflowResult: {self._header()}>"

    def _rows(self) -> list[tuple[str, float, str]]:
        """Name, value and unit of what is printed."""
        single = len(self) == 1
        left_out = {"n_workflows", "n_jobs", *(("mean_makespan", "max_makespan") if single else ())}
        values = [
            (name, row.function(self), row.unit) for name, row in WORKFLOW_METRICS.items() if name not in left_out
        ]
        return [row for row in values if row[1] == row[1]]

    def _repr_html_(self) -> str:
        """The numbers and the warnings, for notebooks."""
        return table_html(self._header(), ("", "value", "unit"), self._rows(), [f"note: {t}" for t in self.warnings])

    def __str__(self) -> str:
        lines = [self._header(), ""]
        lines += [f"{name:<16} {_show(value):>14}  {unit}" for name, value, unit in self._rows()]
        lines += ["", *(f"note: {text}" for text in self.warnings)] if self.warnings else []
        return "\n".join(lines)


def _restored(
    kind: type[WorkflowResult], output: Mapping[str, object], parts: dict[str, Any], revision: int | None = None
) -> WorkflowResult:
    """Unpickle: arrays come back writable."""
    check_pickle(kind.__name__, revision)
    return kind(output, **{**parts, "arrivals": read_only(parts["arrivals"])})


def _show(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
