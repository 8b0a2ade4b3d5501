"""The file of a saved `Result`.

Layout 4 has digests; 1 to 3, of earlier versions, have none and are checked as far as they can be.
"""

import os
from itertools import pairwise

import numpy as np

from faultsim.arrays import Values
from faultsim.data.columns import ALLOCATIONS, CLUSTER_NODES, EVENTS, FAILURES, JOBS, RECORDED_WAIT, WORKLOAD, Column
from faultsim.data.event_kinds import JOB_STATES, EventKind
from faultsim.errors import InputError
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.result import COUNTERS, FROM_ENGINE
from faultsim.results.saved_file import OF_JOBS, SavedFile, is_number


class Saved(SavedFile):
    """What is in a file of `save_arrays`; for any other file, `InputError` says what is wrong with it.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, OF_JOBS)
        if self.layout == 1:
            self._complete()
        self._add_later_ones()
        self._check_facts()
        self._check_columns()

    def _complete(self) -> None:
        """What layout 1 lacks: it predates failures."""
        arrays, facts = self.arrays, self.facts
        rows = len(np.atleast_1d(arrays.get("workload/submit", ())))
        for column in ("restart_time", "failure_wait"):
            arrays[f"jobs/{column}"] = np.zeros(rows)
        for key in ("counters", "provenance"):
            if not isinstance(facts[key], dict):
                raise self.bad(f"its {key} are no names with values")
        facts["counters"] |= dict.fromkeys(("failures", "failures_hit", "checkpoints"), 0)
        facts["provenance"]["failures"] = None
        if "events_table/time" in arrays:
            arrays["events_table/node"] = np.full(len(np.atleast_1d(arrays["events_table/time"])), -1, np.int32)

    def _add_later_ones(self) -> None:
        """Accounts and a column that earlier versions do not have: nothing was slow, and work of jobs that were cut at
        their limit was in the account of useful work, from which `load_result` takes it.
        """
        ledger = self.facts["ledger"]
        missing = set(LEDGER_ACCOUNTS) - ledger.keys() if isinstance(ledger, dict) else set()
        later = missing & {"reserved", "drained"}
        if missing <= {"reserved", "drained", "cut_at_limit", "slowed"}:
            ledger |= dict.fromkeys(later, 0.0)
            missing -= later
        self.before_limits = missing in ({"cut_at_limit"}, {"cut_at_limit", "slowed"})
        if self.before_limits:
            ledger |= dict.fromkeys(missing, 0.0)
            rows = len(np.atleast_1d(self.arrays.get("workload/submit", ())))
            self.arrays.setdefault("jobs/slowed_time", np.zeros(rows))

    # -- what may be in it

    def _check_facts(self) -> None:
        facts = self.facts
        self.check_counters(COUNTERS)
        if not isinstance(facts["ledger"], dict) or facts["ledger"].keys() != set(LEDGER_ACCOUNTS):
            raise self.bad(f"its ledger is not {', '.join(sorted(LEDGER_ACCOUNTS))}")
        for name, value in facts["ledger"].items():
            if not is_number(value):
                raise self.bad(f"ledger, {name}: {value!r:.40}")
        span = facts["span"]
        if not isinstance(span, list) or len(span) != 2 or not all(map(is_number, span)) or span[0] > span[1]:
            raise self.bad(f"its span is {span!r:.60}")
        if not _are_counts(facts["dropped"]):
            raise self.bad("what was dropped are no counts")
        comments = facts.get("comments", [])
        if not isinstance(comments, list) or not all(isinstance(line, str) for line in comments):
            raise self.bad("its comments are no list of lines")
        kinds = {"settings": dict, "input": dict, "elapsed": (int, float), "failures": (dict, type(None))}
        saved = facts["provenance"]
        for key, kind in kinds.items():
            if not isinstance(saved, dict) or not isinstance(saved.get(key, ...), kind):  # type: ignore[arg-type]
                raise self.bad(f"its provenance has no {key}")
        if not isinstance(saved["input"].get("source"), str):
            raise self.bad("its provenance does not say where the log is from")

    def _check_columns(self) -> None:
        """Refuse columns that are missing, unknown, of another type or length, or have values out of range."""
        arrays = self.arrays
        for key in (*(f"jobs/{name}" for name in FROM_ENGINE), *(f"workload/{column.name}" for column in WORKLOAD)):
            if key not in arrays:
                raise InputError(f"{self.name}: column {key} is missing from this saved result")
        rows = len(np.atleast_1d(arrays["workload/submit"]))
        tables = {"jobs": (JOBS, rows), "workload": (WORKLOAD, rows)}
        held = CLUSTER_NODES if "allocations/node_offsets" in arrays else ALLOCATIONS
        for table, columns in (("events_table", EVENTS), ("allocations", held), ("failures", FAILURES)):
            first = arrays.get(f"{table}/{columns[0].name}")
            if first is not None:
                tables[table] = (columns, len(np.atleast_1d(first)))
        for key, values in arrays.items():
            table, _, name = key.partition("/")
            if table == "policy" and name.count("/") == 1:
                continue
            if key == "recorded/wait":
                self._check_column(key, values, RECORDED_WAIT, rows)
                continue
            if table not in ("jobs", "workload", "events_table", "allocations", "failures"):
                raise self.bad(f"{key} is no column of a result")
            columns, length = tables.get(table, ((), 0))
            column = next((one for one in columns if one.name == name), None)
            if column is None and table in ("jobs", "events_table", "allocations"):
                raise self.bad(f"{key} is no column of a result")
            if name == "node_offsets":
                length += 1
            elif name == "nodes" and table == "allocations":
                length = self._listed()
            self._check_column(key, values, column, length)

    def _listed(self) -> int:
        """How many nodes the stays on a cluster have together."""
        offsets = self.arrays.get("allocations/node_offsets", np.zeros(0))
        if offsets.shape == () or not len(offsets) or offsets.dtype.kind != "i":
            raise self.bad("allocations/node_offsets are no places")
        if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
            raise self.bad("allocations/node_offsets decrease")
        return int(offsets[-1])

    def _check_column(self, key: str, values: Values, column: Column | None, rows: int) -> None:
        is_text = key == "workload/id" and values.dtype.kind == "U"
        if key == "jobs/state":
            column = _STATE
        self.check_column(key, values, column, rows, is_text=is_text)
        if key == "jobs/state":
            if not np.isin(values, range(len(JOB_STATES))).all():
                raise InputError(f"{self.name}: column {key} of this saved result has a number that is no JobState")
        elif key == "events_table/kind":
            self.check_range(key, min(EventKind), max(EventKind))
        elif column is not None and not is_text and not key.startswith("failures/"):  # `FailureTrace` checks its own
            # Of a run that is not over, a job has not all its numbers yet.
            low = None if column.minimum is None else 0 if self._may_miss else column.minimum
            self.check_range(key, low, None, column.missing)

    @property
    def _may_miss(self) -> bool:
        """Whether the run was not over."""
        return "jobs/state" in self.arrays

    def check_machine(self, nodes: int, capacity: int, extents: tuple[int, int, int] | None) -> None:
        """Refuse what does not fit the machine, the jobs, or the time before it; sizes are of its `capacity`.

        Raises
        ------
        InputError
            Naming column and row.
        """
        arrays, rows = self.arrays, len(self.arrays["workload/submit"])
        self.check_range("jobs/allocated", None, capacity)
        for before, after in pairwise(("workload/submit", "jobs/first_start", "jobs/start", "jobs/finish")):
            if (early := np.flatnonzero(arrays[after] < arrays[before])).size:
                said = f"column {after} of this saved result is before {before} in row {early[0]}"
                raise InputError(f"{self.name}: {said}")
        bounds = {"events_table/job": rows - 1, "events_table/node": nodes - 1, "allocations/job": rows - 1}
        bounds |= {"allocations/nodes": nodes - 1}
        for names, further in ((("x", "y", "z"), 1), (("a", "b", "c"), 0)):
            for name, extent in zip(names, extents or (nodes, nodes, nodes), strict=True):
                bounds[f"allocations/{name}"] = extent - further
        for key, high in bounds.items():
            if key in arrays:
                self.check_range(key, None, high)


#: Files have numbers of states, and tables their words.
_STATE = Column("state", "i1", "1", None, "Number of a `JobState`.", "model.md#partial", 0.0)


def _are_counts(value: object) -> bool:
    return isinstance(value, dict) and all(type(count) is int and 0 <= count < 2**63 for count in value.values())
