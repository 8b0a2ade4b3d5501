"""`Adapter`: a simulation that a scheduler of Batsim decides, by Batsim's protocol in JSON (versions 3 and 4)."""

import heapq
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import faultsim as fs
from faultsim.cli.batsim_files import Host, Jobs
from faultsim.errors import DecisionError, OptionError

Event = dict[str, Any]
Exchange = Callable[[Event], object]

#: How a job ends -> what Batsim calls it, and the return code.
_ENDS = {
    "ended": ("COMPLETED_SUCCESSFULLY", 0),
    "timed out": ("COMPLETED_WALLTIME_REACHED", 1),
    "failed": ("COMPLETED_FAILED", 1),
    "killed": ("COMPLETED_KILLED", 1),
}
#: Events of a scheduler -> the fields of their data.
_TAKEN = {
    "EXECUTE_JOB": ("job_id", "alloc"),
    "REJECT_JOB": ("job_id",),
    "KILL_JOB": ("job_ids",),
    "CALL_ME_LATER": ("timestamp",),
    "SET_JOB_METADATA": ("job_id", "metadata"),
    "NOTIFY": ("type",),
}


def intervals(nodes: list[int]) -> str:
    """Nodes as Batsim writes them.

    Examples
    --------
    >>> intervals([0, 1, 2, 5]), nodes_of("0-2 5,7")
    ('0-2 5', [0, 1, 2, 5, 7])
    """
    parts = []
    for _, group in itertools.groupby(enumerate(sorted(nodes)), lambda pair: pair[1] - pair[0]):
        run = [node for _, node in group]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return " ".join(parts)


def nodes_of(text: object) -> list[int]:
    """The nodes of such a text, ascending."""
    parts = re.split(r"[\s,]+", text.strip()) if isinstance(text, str) and text.strip() else []
    nodes: set[int] = set()
    for part in parts:
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        if not found or int(found[2] or found[1]) - int(found[1]) > 10_000_000:
            raise OptionError(f"an alloc must be intervals such as '0-3 7', got {text!r:.60}")
        nodes.update(range(int(found[1]), int(found[2] or found[1]) + 1))
    if not nodes:
        raise OptionError(f"an alloc must be intervals such as '0-3 7', got {text!r:.60}")
    return sorted(nodes)


class Adapter:
    """One simulation, from SIMULATION_BEGINS to SIMULATION_ENDS.

    A job that a failure kills ends as COMPLETED_FAILED, and is submitted again as another job, ``w0!5#1``. Where a
    scheduler starts a job on nodes of which some are down, the job begins when they are up again.

    Parameters
    ----------
    jobs : Jobs
    hosts : list of Host
    machine_events : bool
        Whether the scheduler hears of nodes that go down and come up.
    config : str
        What it gets as its own configuration.
    **options
        Failures, recovery and so on, as of `Simulation`.
    """

    def __init__(
        self, jobs: Jobs, hosts: list[Host], *, machine_events: bool = False, config: str = "", **options: Any
    ) -> None:
        self.jobs, self._hosts, self._machine_events, self._config = jobs, hosts, machine_events, config
        # A job that is too large is for the scheduler to reject.
        given = jobs.log
        size = np.minimum(given.size, len(hosts))
        self.sim = fs.Simulation(
            fs.Workload(submit=given.submit, runtime=given.runtime, size=size, estimate=given.estimate),
            fs.Cluster(len(hosts)),
            scheduler=fs.External(),
            overrun="kill",
            record=True,
            **options,
        )
        n = len(jobs.log)
        self._rows = {job["id"]: row for row, job in enumerate(jobs.given)}
        self._attempt = [0] * n
        #: By row: "", "submitted", "started", or how it ended.
        self.states = [""] * n
        self._allocated: dict[int, list[int]] = {}
        self.allocations: dict[int, list[int]] = {}
        self._coming = 0
        self._late: dict[int, list[int]] = {}
        self._killed: set[int] = set()
        self.metadata: dict[int, str] = {}
        self._down: set[int] = set()
        self._now = self._busy_until = 0.0
        self._events: list[Event] = []
        self._actions: list[tuple[float, int, Event]] = []
        self._calls: list[float] = []
        self._numbers = itertools.count()

    def run(self, exchange: Exchange) -> None:
        """Simulate, with `exchange` to send a message and receive its reply."""
        self._tell("SIMULATION_BEGINS", self._begins())
        while True:
            if self._actions and self._actions[0][0] <= self._now:
                self._act(heapq.heappop(self._actions)[2])
            elif self._events and self._now >= self._busy_until:
                self._send(exchange)
            elif all(state in ("REJECTED", *(name for name, _ in _ENDS.values())) for state in self.states):
                break
            else:
                self._go_on()
        self._tell("SIMULATION_ENDS", {})
        self._send(exchange)

    # -- messages

    def _begins(self) -> Event:
        hosts = [
            {"id": i, "name": host.name, "state": "idle", "properties": {}, "zone_properties": {}}
            for i, host in enumerate(self._hosts)
        ]
        return {
            "nb_resources": len(hosts),
            "nb_compute_resources": len(hosts),
            "nb_storage_resources": 0,
            "allow_compute_sharing": False,
            "allow_storage_sharing": False,
            "config": {
                "redis-enabled": False,
                "redis-hostname": "",
                "redis-port": 0,
                "redis-prefix": "",
                "profiles-forwarded-on-submission": False,
                "dynamic-jobs-enabled": False,
                "dynamic-jobs-acknowledged": False,
                "profile-reuse-enabled": False,
                "sched-config": self._config,
                "forward-unknown-events": False,
            },
            "compute_resources": hosts,
            "storage_resources": [],
            "workloads": {"w0": self.jobs.log.name},
            "profiles": {"w0": self.jobs.profiles},
        }

    def _tell(self, kind: str, data: Event, at: float | None = None) -> None:
        self._events.append({"timestamp": self._now if at is None else at, "type": kind, "data": data})

    def _send(self, exchange: Exchange) -> None:
        events, self._events = self._events, []
        reply = exchange({"now": self._now, "events": events})
        if not isinstance(reply, dict) or not isinstance(reply.get("events", []), list):
            raise OptionError(f'the scheduler must reply with an object of "now" and "events", got {reply!r:.60}')
        now = _seconds("now", reply.get("now"))
        if now < self._now:
            raise OptionError(f"the scheduler replied at {now:g} s to a message of {self._now:g} s")
        self._busy_until = now
        for event in reply.get("events", []):
            kind = event.get("type") if isinstance(event, dict) else None
            if kind not in _TAKEN:
                raise OptionError(
                    f"the scheduler sent the event {kind!r:.40}; there are {', '.join(_TAKEN)} (no dynamic jobs, "
                    f"energy, storage or queries)"
                )
            data = event.get("data")
            for name in _TAKEN[kind]:
                if not isinstance(data, dict) or name not in data:
                    raise OptionError(f'{kind} needs "{name}" in its data')
            at = max(self._now, _seconds("timestamp", event.get("timestamp", now)))
            heapq.heappush(self._actions, (at, next(self._numbers), event))

    # -- what happens

    def _go_on(self) -> None:
        """As far as something happens, or has to be done."""
        stops = [self._actions[0][0]] if self._actions else []
        stops += self._calls[:1]
        stops += [self._busy_until] if self._events else []
        stop = min(stops, default=math.inf)
        if stop < self.sim.now and self._coming == 0:  # before the first job
            self._now = max(self._now, stop)
        else:
            self._advance(stop)
        while self._calls and self._calls[0] <= self._now:
            heapq.heappop(self._calls)
            self._tell("REQUESTED_CALL", {})

    def _advance(self, stop: float) -> None:
        try:
            decision = self.sim.advance(until=stop if stop < math.inf else None)
        except DecisionError as error:
            waiting = self.states.count("submitted")
            raise OptionError(f"the scheduler leaves {waiting} jobs waiting and starts none of them: {error}") from None
        self._now = self.sim.now if decision is None else decision.now
        if decision is None:
            for row in [row for row, state in enumerate(self.states) if state == "started"]:
                self._ended(row, "timed out" if self._runs_out(row) else "ended", self._now)
            return
        for kind, row, time, _ in decision.changes.tolist():
            if kind in ("ended", "timed out"):
                self._ended(row, kind, time)
            elif kind == "killed" and row not in self._killed:
                self._ended(row, "failed", time)
                self._attempt[row] += 1
                self._submit(row, time)
        self._hear_of_machines(set(decision.down.tolist()))
        submits = self.jobs.log.submit
        while self._coming < len(submits) and submits[self._coming] <= self._now:
            self._submit(self._coming, float(submits[self._coming]))
            self._coming += 1
            if self._coming == len(submits):
                self._tell("NOTIFY", {"type": "no_more_static_job_to_submit"})
        for row in list(self._late):
            self._start(row, self._late.pop(row))

    def _runs_out(self, row: int) -> bool:
        log = self.jobs.log
        return bool(0 <= log.estimate[row] < log.runtime[row])

    def _name(self, row: int) -> str:
        number = self._attempt[row]
        name: str = self.jobs.given[row]["id"]
        return f"{name}#{number}" if number else name

    def _submit(self, row: int, at: float) -> None:
        self.states[row] = "submitted"
        job = {**self.jobs.given[row], "id": self._name(row), "subtime": at}
        self._rows[job["id"]] = row
        self._tell("JOB_SUBMITTED", {"job_id": job["id"], "job": job}, at)

    def _ended(self, row: int, how: str, at: float) -> None:
        self.states[row], code = _ENDS[how]
        alloc = intervals(self._allocated.pop(row))
        data = {"job_id": self._name(row), "job_state": self.states[row], "return_code": code, "alloc": alloc}
        self._tell("JOB_COMPLETED", data, at)

    def _hear_of_machines(self, down: set[int]) -> None:
        for kind, nodes in (
            ("event_machine_unavailable", down - self._down),
            ("event_machine_available", self._down - down),
        ):
            if nodes and self._machine_events:
                self._tell("NOTIFY", {"type": kind, "resources": intervals(list(nodes))})
        self._down = down

    # -- what the scheduler does

    def _act(self, event: Event) -> None:
        kind, data = event["type"], event["data"]
        if kind == "EXECUTE_JOB":
            row, nodes = self._waiting(kind, data["job_id"]), nodes_of(data["alloc"])
            if len(nodes) != (size := int(self.jobs.log.size[row])):
                raise OptionError(
                    f"EXECUTE_JOB: job {self._name(row)} asks for {size} resources, and its alloc has {len(nodes)}"
                )
            if nodes[-1] >= len(self._hosts):
                raise OptionError(
                    f"EXECUTE_JOB: there is no resource {nodes[-1]}, they are 0 to {len(self._hosts) - 1}"
                )
            self.states[row], self._allocated[row], self.allocations[row] = "started", nodes, nodes
            self._start(row, nodes)
        elif kind == "REJECT_JOB":
            self.states[self._waiting(kind, data["job_id"])] = "REJECTED"
        elif kind == "KILL_JOB":
            self._kill(data["job_ids"])
        elif kind == "CALL_ME_LATER":
            heapq.heappush(self._calls, max(self._now, _seconds("timestamp", data["timestamp"])))
        elif kind == "SET_JOB_METADATA":
            self.metadata[self._row(kind, data["job_id"])] = str(data["metadata"])

    def _row(self, kind: str, name: object) -> int:
        if not isinstance(name, str) or name not in self._rows:
            raise OptionError(f"{kind}: there is no job {name!r:.60}")
        return self._rows[name]

    def _waiting(self, kind: str, name: object) -> int:
        row = self._row(kind, name)
        if self.states[row] != "submitted" or name != self._name(row):
            state = self.states[row] if name == self._name(row) else "COMPLETED_FAILED"
            raise OptionError(f"{kind}: job {name} is not waiting, it is {state or 'not submitted'}")
        return row

    def _start(self, row: int, nodes: list[int]) -> None:
        decision = self.sim.decision
        if decision is None:
            raise OptionError(f"EXECUTE_JOB: job {self._name(row)} cannot start at {self._now:g} s")
        if self._down & set(nodes):
            self._late[row] = nodes
            return
        for other, theirs in self._allocated.items():
            if other != row and other not in self._late and set(theirs) & set(nodes):
                both = intervals(sorted(set(theirs) & set(nodes)))
                raise OptionError(f"EXECUTE_JOB: job {self._name(row)} gets {both}, which {self._name(other)} has")
        try:
            decision.start(row, nodes=nodes)
        except DecisionError as error:
            raise OptionError(f"EXECUTE_JOB: {self._name(row)} on {intervals(nodes)}: {error}") from None

    def _kill(self, names: object) -> None:
        if not isinstance(names, list) or not names:
            raise OptionError(f"KILL_JOB: job_ids must be a list of jobs, got {names!r:.60}")
        decision, progress = self.sim.decision, {}
        for name in names:
            row = self._row("KILL_JOB", name)
            if self.states[row] != "started" or name != self._name(row):
                continue  # it has ended by itself
            done, runtime = 0.0, float(self.jobs.log.runtime[row])
            if self._late.pop(row, None) is None and decision is not None:
                at = decision.running.tolist().index(row)
                done = float(decision.running.progress[at]) / runtime if runtime else 1.0
                try:
                    decision.kill(row)
                except DecisionError:
                    continue  # it ends now
                self._killed.add(row)
            progress[name] = {"profile": self.jobs.given[row]["profile"], "progress": done}
            self._ended(row, "killed", self._now)
        self._tell("JOB_KILLED", {"job_ids": names, "job_progress": progress})


def _seconds(what: str, value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise OptionError(f"the scheduler's {what} must be seconds, a finite number, got {value!r:.40}")
    return float(value)  # type: ignore[arg-type]
