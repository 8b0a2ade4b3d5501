"""The file of a saved `WorkflowResult`: what it holds, and `load_workflow_result`, which believes none of it."""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from faultsim.data.columns import (
    DECISIONS,
    FAILURES,
    WORKFLOW_EDGES,
    WORKFLOW_EVENTS,
    WORKFLOW_RESULTS,
    Column,
    by_name,
)
from faultsim.data.event_kinds import WorkflowEventKind
from faultsim.data.workflow import Workflow
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.machines.resources import Resources
from faultsim.results.prediction_accuracy import Matched
from faultsim.results.revision import check_revision, is_revision
from faultsim.results.saved_file import MALFORMED, OF_WORKFLOWS, SavedFile, is_number
from faultsim.results.workflow_result import WorkflowResult

_TIME, _COUNT = by_name(WORKFLOW_RESULTS)["finish"], by_name(WORKFLOW_RESULTS)["workflow"]
_FLOAT = Column("", "f8", "1", None, "", "")
#: Tables of the result -> their columns.
_TABLES = {"jobs": WORKFLOW_RESULTS, "decisions": DECISIONS, "events": WORKFLOW_EVENTS}
#: Columns of the workflows themselves: jobs, edges, and nodes that a matrix of costs has columns for, or 0, of each.
_GRAPHS = {"jobs": _COUNT, "edges": _COUNT, "nodes": _COUNT, "submit": _TIME, "arrival": _TIME}
_COUNTERS = ("hits", "missed", "false", "pass_asked", "pass_right", "node_asked", "node_right", "reschedulings")
_SETTINGS = {
    "scheduler": dict,
    "transfers": str,
    "record": bool,
    "seed": int,
    "engine": str,
    "version": str,
    "model_revision": (int, type(None)),
    "predictor": (dict, type(None)),
    "outputs": (int, float, type(None)),
}


@entry
def load_workflow_result(path: str | os.PathLike[str], *, allow_older_results: bool = False) -> WorkflowResult:
    """Read a result that `WorkflowResult.save` wrote; everything is restored exactly.

    Types, shapes and ranges are checked, and a digest of each column and of all facts: a file of which anything has
    changed is refused.

    Parameters
    ----------
    path : str or path
    allow_older_results : bool, default False
        Whether a result of an older `MODEL_REVISION`, whose numbers may differ from those of this version, is read as
        it is; `WorkflowResult.warnings` says so then.

    Raises
    ------
    InputError
        If the file does not exist, is damaged, is not a saved result of workflows, is of another model revision, or is
        larger than the `Limits` in force.

    Examples
    --------
    >>> import faultsim as fs, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> fs.simulate_workflows(fs.Workflow([4, 4], [(0, 1, 1)]), fs.Resources(2)).save(path)
    >>> fs.load_workflow_result(path).makespan
    8.0
    """
    file = _Saved(path)
    arrays, facts = file.arrays, file.facts
    counted = facts["counters"]
    flows = file.workflows()
    resources = file.resources()
    file.check_tables(flows, resources.nodes)
    output: dict[str, object] = {name: arrays[f"jobs/{name}"] for name in ("node", "start", "finish", "kills")}
    first = np.cumsum([0, *map(len, flows)])
    for name, key in (("decisions", "decisions"), ("events", "events_table")):
        if f"{name}/job" in arrays:
            table = file.under(name)
            alone = table["job"] < 0
            output[key] = {**table, "job": np.where(alone, -1, table["job"] + first[table["workflow"]])}
    output["loss_time"], output["reschedulings"] = facts["loss_time"], counted["reschedulings"]
    output["questions"] = tuple(counted[name] for name in ("pass_asked", "pass_right", "node_asked", "node_right"))
    arrival = arrays["workflows/arrival"]
    arrival.setflags(write=False)
    result = WorkflowResult(
        output,
        workflows=flows,
        resources=resources,
        arrivals=arrival,
        matched=Matched(counted["hits"], counted["missed"], counted["false"]),
        settings=facts["settings"],
        trace=file.failures(facts["failures"]),
    )
    try:
        str(result)
    except MALFORMED as error:
        raise file.bad(f"its settings are none of a run: {error!s:.80}") from None
    file.check_digests()
    check_revision(file.name, result.model_revision, "simulate again", allow_older_results=allow_older_results)
    return result


class _Saved(SavedFile):
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, OF_WORKFLOWS)
        self._check_facts()
        self._check_columns()

    def _check_facts(self) -> None:
        facts = self.facts
        settings = facts["settings"]
        if isinstance(settings, dict):
            settings.setdefault("model_revision", None)  # of before it was recorded
        self.check_counters(_COUNTERS)
        loss = facts.get("loss_time")
        if not is_number(loss) or loss < 0:
            raise self.bad(f"its loss_time is {loss!r:.40}")
        if not isinstance(settings, dict) or settings.keys() != set(_SETTINGS):
            raise self.bad(f"its settings are not {', '.join(sorted(_SETTINGS))}")
        for name, kind in _SETTINGS.items():
            if not isinstance(settings[name], kind):  # type: ignore[arg-type]
                raise self.bad(f"setting {name} is {settings[name]!r:.40}")
        if not is_revision(settings["model_revision"]):
            raise self.bad(f"its model revision is {settings['model_revision']!r:.40}")
        for policy in (settings["scheduler"], settings["predictor"]):
            if policy is not None and not isinstance(policy.get("name"), str):
                raise self.bad("a policy has no name")
        described = facts["workflows"]
        if not isinstance(described, list) or not all(isinstance(one, dict) for one in described) or not described:
            raise self.bad("its workflows are not described")
        if not isinstance(facts["failures"], dict | None):
            raise self.bad("its failures are not described")

    def _check_columns(self) -> None:
        """Refuse columns that are missing, unknown, or of another type or length."""
        arrays, flows = self.arrays, len(self.facts["workflows"])
        wanted: dict[str, tuple[Column, int]] = {f"workflows/{name}": (row, flows) for name, row in _GRAPHS.items()}
        self._check_all(wanted)
        for name in ("jobs", "edges", "nodes"):
            self.check_range(f"workflows/{name}", 1 if name == "jobs" else 0, None)
        jobs, edges, nodes = (arrays[f"workflows/{name}"].astype(np.int64) for name in ("jobs", "edges", "nodes"))
        wanted["workflow_jobs/cost"] = _TIME, int((jobs * np.maximum(nodes, 1)).sum())
        wanted |= {f"workflow_edges/{row.name}": (row, int(edges.sum())) for row in WORKFLOW_EDGES}
        machine = len(np.atleast_1d(arrays.get("resources/speed", ())))
        wanted["resources/speed"] = _FLOAT, machine
        lengths = {"jobs": int(jobs.sum())}
        tables: dict[str, Sequence[Column]] = {**_TABLES, "failures": FAILURES}
        for name, columns in tables.items():
            there = [key for key in arrays if key.startswith(f"{name}/")]
            if there or name in ("jobs", "decisions"):
                rows = lengths.get(name, len(np.atleast_1d(arrays[there[0]])) if there else 0)
                wanted |= {f"{name}/{row.name}": (row, rows) for row in columns}
        self._check_all(wanted)
        if "resources/bandwidth" in arrays:
            if arrays["resources/bandwidth"].shape != (machine, machine):
                raise self.bad("resources/bandwidth is no matrix of its nodes")
            wanted["resources/bandwidth"] = _FLOAT, machine
        for key in arrays:
            if key not in wanted:
                raise self.bad(f"{key} is no column of a result of workflows")

    def _check_all(self, wanted: Mapping[str, tuple[Column, int]]) -> None:
        for key, (column, rows) in wanted.items():
            if key not in self.arrays:
                raise InputError(f"{self.name}: column {key} is missing from this saved result")
            self.check_column(key, self.arrays[key], column, rows)

    def workflows(self) -> tuple[Workflow, ...]:
        """The workflows that ran, which check themselves."""
        arrays = self.arrays
        self.check_range("workflows/arrival", 0.0, None)
        edges = np.column_stack([arrays[f"workflow_edges/{row.name}"] for row in WORKFLOW_EDGES])
        made: list[Workflow] = []
        job = edge = 0
        each = zip(
            *(arrays[f"workflows/{name}"].tolist() for name in ("jobs", "edges", "nodes", "submit")), strict=True
        )
        for said, (jobs, count, nodes, submit) in zip(self.facts["workflows"], each, strict=True):
            cost = arrays["workflow_jobs/cost"][job : job + jobs * max(nodes, 1)]
            try:
                flow = Workflow(
                    cost.reshape(jobs, nodes) if nodes else cost,
                    edges[edge : edge + count],
                    said["name"],
                    submit,
                    labels=said["labels"],
                    transfer_unit=said["transfer_unit"],
                    dropped=said["dropped"],
                )
            except MALFORMED as error:
                where = f"workflow {len(made)} of this saved result is corrupt"
                raise InputError(f"{self.name}: {where} ({error!s:.120})") from None
            made.append(flow)
            job, edge = job + cost.size, edge + count
        return tuple(made)

    def resources(self) -> Resources:
        """What they ran on."""
        try:
            matrix = self.arrays.get("resources/bandwidth")
            band = self.facts["bandwidth"] if matrix is None else matrix
            return Resources(speed=self.arrays["resources/speed"], bandwidth=band)
        except MALFORMED as error:
            raise InputError(f"{self.name}: the resources of this saved result are corrupt ({error!s:.120})") from None

    def check_tables(self, flows: Sequence[Workflow], nodes: int) -> None:
        """Refuse numbers that are none of these workflows on these nodes."""
        arrays, sizes = self.arrays, np.array([len(flow) for flow in flows])
        for table, columns in _TABLES.items():
            for column in columns if f"{table}/job" in arrays else ():
                self.check_range(f"{table}/{column.name}", column.minimum, None, column.missing)
            if f"{table}/job" in arrays:
                self.check_range(f"{table}/node", None, nodes - 1)
                self.check_range(f"{table}/workflow", None, len(flows) - 1)
                of, job = arrays[f"{table}/workflow"], arrays[f"{table}/job"]
                if (wrong := np.flatnonzero((job >= 0) & ((of < 0) | (job >= sizes[of])))).size:
                    said = f"column {table}/job of this saved result has {job[wrong[0]]} in row {wrong[0]}"
                    raise InputError(f"{self.name}: {said}, and its workflow has no such job")
        expected = {
            "workflow": np.repeat(np.arange(len(flows)), sizes),
            "job": np.concatenate([*map(np.arange, sizes)]),
        }
        for name, values in expected.items():
            if (arrays[f"jobs/{name}"] != values).any():
                raise InputError(f"{self.name}: column jobs/{name} of this saved result does not number all jobs")
        if (early := np.flatnonzero(arrays["jobs/finish"] < arrays["jobs/start"])).size:
            raise InputError(
                f"{self.name}: column jobs/finish of this saved result is before jobs/start in row {early[0]}"
            )
        if "events/kind" in arrays:
            self.check_range("events/kind", min(WorkflowEventKind), max(WorkflowEventKind))
