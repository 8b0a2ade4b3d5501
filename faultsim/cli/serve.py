"""Simulate a job log for another program, which asks over a socket, in lockstep.

Requests and replies are JSON objects, each one message of a REQ socket of ZeroMQ, or with --listen unix:///PATH each a
line over a Unix socket, for which ZeroMQ is not needed:
  {"request": "INIT"}                 {"init_time": 0.0}                      submit time of the first job, in seconds
  {"request": "GET", "t": 60}         {"t": 60.0, "running_ids": [3, 4]}      after all events with time <= t
  {"request": "END"}                  {"ok": true}                            and the server stops
With --scheduler external the client decides (GET is refused):
  {"request": "ADVANCE", "t": 60}     {"kind": "schedule", "now": 5.0, "free": 8, "down": [], "queue": [...], ...}
                                      kind: schedule, time (t is reached), or end; without t to the next pass; with
                                      --reserve each waiting job has "closed": nodes that it may not have now
  {"request": "START", "id": 3}       {"ok": true}                            with "nodes", "box" or "cubes": a list
  {"request": "REQUEUE", "id": 3}     {"ok": true}
  {"request": "WAKE", "t": 30}        {"ok": true}                            a pass at that time
With any scheduler, between two other requests:
  {"request": "WITHDRAW", "id": 3}    {"ok": true}                            a running job is killed
  {"request": "HOLD", "id": 3}        {"ok": true}                            a job that waits is on hold
  {"request": "RELEASE", "id": 3}     {"ok": true}
  {"request": "CHANGE", "id": 3}      {"ok": true}                            "estimate", "size", "priority", "begin"
  {"request": "DRAIN", "node": 5}     {"ok": true}                            it takes no new jobs until RESUME
  {"request": "RESUME", "node": 5}    {"ok": true}
  {"request": "SNAPSHOT"}             {"snapshot": 1}                         kept in the server, 100 at most
  {"request": "RESTORE", "snapshot": 1} {"ok": true}                          the simulation is as it was then
With --scheduler external or --live, what would happen if a built-in scheduler took over, to "t", "horizon" or the end:
  {"request": "ROLLOUT", "scheduler": "easy:order=shortest", "horizon": 3600}
                                      {"now": 3660.0, "jobs": [...]}          each that is there and had not ended
                                                                              before: "id", "state", "start", "finish"
With --live N the client also says what happens, N jobs at most; ADVANCE has "changes": what happened since the last one
  {"request": "SUBMIT", "jobs": [{"submit": 60, "size": 4, "runtime": 30}]}   {"ids": [7]}  "id", "estimate", "user";
                                      without a runtime a job runs until FINISH, or as long as its estimate
  {"request": "FINISH", "id": 3}      {"ok": true}                            a running job ends now
  {"request": "KILL", "id": 3}        {"ok": true}                            it ends without finishing
  {"request": "EXTEND", "id": 3, "seconds": 60}   {"ok": true}                it runs longer
  {"request": "FAIL", "node": 5, "downtime": 600} {"ok": true}                and DOWN, UP: of unknown length
  {"request": "FORESEE", "node": [5], "time": [900], "p": 0.7}  {"ok": true}  or from "begin" to "end"
A bad request gets {"error": "..."} and changes nothing. Jobs have their nodes alone: several jobs on one node are not
supported.

examples:
  faultsim serve SDSC-SP2-1998-4.2-cln.swf.gz --machine cluster:128 --listen ipc:///tmp/faultsim
  faultsim serve LOG --machine torus:4x4x8 --scheduler external --listen tcp://127.0.0.1:5555
  faultsim serve LOG --machine cluster:128 --live 1000 --listen unix:///tmp/faultsim
"""

import contextlib
import ipaddress
import json
import os
import re
import socket
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeGuard, Unpack

import faultsim as fs
from faultsim import checks
from faultsim._core.changes import Changes
from faultsim._core.decisions import Decision
from faultsim._core.job_columns import Jobs
from faultsim.cli import specs
from faultsim.cli.inputs import add_log_arguments, open_log
from faultsim.cli.parser import Parser, one_line
from faultsim.cli.run_failures import open_failures, reach
from faultsim.errors import FaultsimError, InputError, OptionError
from faultsim.machines import parse_machine
from faultsim.simulation.execution import Wishes
from faultsim.simulation.job_ids import JobIds

LARGEST_MESSAGE = 1 << 20  # bytes
#: Bytes of a message that is still received, so that it gets an answer; a larger one ends its connection.
LARGEST_RECEIVED = 1 << 30
#: Request -> the names of what it needs, and of what it may have.
_REQUESTS = {
    "INIT": ((), ()),
    "GET": (("t",), ()),
    "END": ((), ()),
    "ADVANCE": ((), ("t",)),
    "START": (("id",), ("nodes", "box", "cubes")),
    "REQUEUE": (("id",), ()),
    "WAKE": (("t",), ()),
    "WITHDRAW": (("id",), ()),
    "HOLD": (("id",), ()),
    "RELEASE": (("id",), ()),
    "CHANGE": (("id",), ("estimate", "size", "priority", "begin")),
    "DRAIN": (("node",), ()),
    "RESUME": (("node",), ()),
    "SNAPSHOT": ((), ()),
    "RESTORE": (("snapshot",), ()),
    "ROLLOUT": (("scheduler",), ("t", "horizon")),
    "SUBMIT": (("jobs",), ()),
    "FINISH": (("id",), ()),
    "KILL": (("id",), ()),
    "EXTEND": (("id", "seconds"), ()),
    "FAIL": (("node", "downtime"), ()),
    "DOWN": (("node",), ()),
    "UP": (("node",), ()),
    "FORESEE": (("node",), ("time", "begin", "end", "p")),
}
#: What a job of SUBMIT has, and what it may have.
_JOB = (("submit", "size"), ("id", "runtime", "estimate", "user"))
#: What a job has that is submitted without a log.
_ALONE = frozenset({"submit", "size", "id", "runtime", "estimate"})
#: Simulations that a server keeps for RESTORE.
MOST_SNAPSHOTS = 100


class Server:
    """Answers requests about one simulation.

    Attributes
    ----------
    over : bool
        Whether the client has said END.

    Examples
    --------
    >>> log = fs.Workload(submit=[5, 6], runtime=[10, 10], size=[2, 2])
    >>> server = Server(fs.Simulation(log, fs.Cluster(2)))
    >>> server.answer(b'{"request": "GET", "t": 20}')
    {'t': 20.0, 'running_ids': [2]}
    >>> server.answer(b'{"request": "GET", "t": 19}')
    {'error': 'GET: advance(until=19): it is 20 s already'}
    """

    def __init__(self, sim: fs.Simulation, *, decides: bool = False, live: bool = False, closed: bool = False) -> None:
        self.sim, self.decides, self.live, self.closed, self.over = sim, decides, live, closed, False
        self._kept: list[tuple[fs.Simulation, JobIds]] = []
        if sim.drops_jobs:
            raise OptionError("a server names the jobs of a log: leave jobs out beforehand, not by oversized='drop'")
        self._ids = JobIds(sim.log.id.tolist())
        if decides and self._ids.repeated:
            raise InputError("the client of --scheduler external names jobs by their ids, and some occur twice")

    def answer(self, message: bytes) -> dict[str, object]:
        """The reply to a request."""
        if len(message) > LARGEST_MESSAGE:
            return {"error": f"a request of {len(message):,} bytes; at most {LARGEST_MESSAGE:,} are read"}
        try:
            name, given = _parsed(message)
        except OptionError as error:
            return {"error": one_line(error)}
        try:
            reply: dict[str, object] = getattr(self, f"_{name.lower()}")(**given)
        except FaultsimError as error:
            return {"error": f"{name}: {one_line(error)}"}
        return reply

    def _init(self) -> dict[str, object]:
        return {"init_time": float(self.sim.log.submit[0])}

    def _get(self, t: float) -> dict[str, object]:
        if self.decides:
            raise OptionError("with --scheduler external the client decides: use ADVANCE")
        self.sim.advance(until=t)
        return {"t": t, "running_ids": [self._ids[row] for row in self.sim.running.tolist()]}

    def _end(self) -> dict[str, object]:
        self.over = True
        return {"ok": True}

    def _changes(self, changes: Changes) -> list[dict[str, object]]:
        """Rows of `Decision.changes`: those of jobs with their ids, those of nodes without one; kills have causes."""
        rows: list[dict[str, object]] = []
        for (kind, row, time, nodes), cause, part in zip(changes, changes.cause, changes.part, strict=True):
            job = {} if row < 0 else {"id": self._ids[row]}
            more = {name: text for name, text in (("cause", cause), ("part", part)) if text}
            rows.append({"kind": kind, **job, "time": time, "nodes": nodes, **more})
        return rows

    def _advance(self, t: float | None = None) -> dict[str, object]:
        found = self.sim.advance(until=t)
        if found is None:
            return {"kind": "end", "now": self.sim.now}
        waiting, running = found.queue, found.running
        changes = {"changes": self._changes(found.changes)} if self.live else {}
        return changes | {
            "kind": found.kind,
            "now": found.now,
            "free": found.free,
            "down": found.down.tolist(),
            "queue": self._closed(found, self._jobs(waiting, ("submit", "size", "estimate", "fits"))),
            "running": self._jobs(running, ("size", "start", "expected_end")),
        }

    def _closed(self, found: Decision, jobs: list[dict[str, object]]) -> list[dict[str, object]]:
        """The jobs with the nodes that are closed to them, if the simulation has reservations."""
        if self.closed:
            for row, job in zip(found.queue.tolist(), jobs, strict=True):
                job["closed"] = found.closed(row).tolist()
        return jobs

    def _jobs(self, some: Jobs, names: tuple[str, ...]) -> list[dict[str, object]]:
        columns = [[self._ids[row] for row in some.index.tolist()], *(getattr(some, name).tolist() for name in names)]
        return [dict(zip(("id", *names), values, strict=True)) for values in zip(*columns, strict=True)]

    def _start(self, id: int | str, **where: list[int]) -> dict[str, object]:
        decision = self._decision()
        with self._by_id(id) as row:
            decision.start(row, **where)
        return {"ok": True}

    def _requeue(self, id: int | str) -> dict[str, object]:
        decision = self._decision()
        with self._by_id(id) as row:
            decision.requeue(row)
        return {"ok": True}

    @contextlib.contextmanager
    def _by_id(self, name: int | str) -> Iterator[int]:
        """The row of a job; errors that name the row name the id of the job, as requests do."""
        row = self._row(name)
        try:
            yield row
        except FaultsimError as error:
            said = re.sub(rf"\bjob {row}\b", lambda _: f"job {self._ids[row]!r}", str(error))
            raise type(error)(said) from None

    def _wake(self, t: float) -> dict[str, object]:
        self._decision().wake(t)
        return {"ok": True}

    def _withdraw(self, id: int | str) -> dict[str, object]:
        acting = self._acting()
        with self._by_id(id) as row:
            acting.withdraw(row)
        return {"ok": True}

    def _hold(self, id: int | str) -> dict[str, object]:
        acting = self._acting()
        with self._by_id(id) as row:
            acting.hold(row)
        return {"ok": True}

    def _release(self, id: int | str) -> dict[str, object]:
        acting = self._acting()
        with self._by_id(id) as row:
            acting.release(row)
        return {"ok": True}

    def _change(self, id: int | str, **given: Unpack[Wishes]) -> dict[str, object]:
        acting = self._acting()
        with self._by_id(id) as row:
            acting.change(row, **given)
        return {"ok": True}

    def _drain(self, node: int) -> dict[str, object]:
        self.sim.drain(node)
        return {"ok": True}

    def _resume(self, node: int) -> dict[str, object]:
        self.sim.resume(node)
        return {"ok": True}

    def _snapshot(self) -> dict[str, object]:
        if len(self._kept) >= MOST_SNAPSHOTS:
            raise OptionError(f"the server keeps {MOST_SNAPSHOTS} already")
        self._kept.append((self.sim.copy(), self._ids.copy()))
        return {"snapshot": len(self._kept)}

    def _restore(self, snapshot: int) -> dict[str, object]:
        if not 1 <= snapshot <= len(self._kept):
            raise OptionError(f"there is no snapshot {snapshot}")
        kept, ids = self._kept[snapshot - 1]
        self.sim, self._ids = kept.copy(), ids.copy()
        return {"ok": True}

    def _rollout(self, scheduler: str, t: float | None = None, horizon: float | None = None) -> dict[str, object]:
        now = self.sim.now
        result = self.sim.rollout(scheduler, until=t, horizon=horizon)
        jobs = result.jobs
        shown = ~(jobs["finish"] < now) & (jobs["state"] != "future")
        columns = [jobs[name][shown].tolist() for name in ("id", "state", "start", "finish")]
        rows = [
            {"id": number, "state": state, "start": _or_none(start), "finish": _or_none(finish)}
            for number, state, start, finish in zip(*columns, strict=True)
        ]
        return {"now": result.span[1], "jobs": rows}

    def _submit(self, jobs: list[dict[str, Any]]) -> dict[str, object]:
        """The ids are in the order of the request, the rows in that of submit times."""
        order = sorted(range(len(jobs)), key=lambda place: jobs[place]["submit"])
        jobs = [jobs[place] for place in order]
        for name in ("id", "user"):
            if 0 < sum(name in job for job in jobs) < len(jobs):
                raise OptionError(f'all jobs of a request have "{name}", or none')
        first = self._ids.last + 1
        ids: list[int | str] = [job.get("id", first + place) for place, job in enumerate(jobs)]
        sim = self._telling()
        if len(jobs) == 1 and jobs[0].keys() <= _ALONE:  # in constant time
            sim.submit(**{**jobs[0], "id": ids[0]})
        else:
            self._submit_log(sim, jobs, ids)
        self._ids.extend(ids)
        named = dict(zip(order, ids, strict=True))
        return {"ids": [named[place] for place in range(len(order))]}

    def _submit_log(self, sim: fs.Simulation, jobs: list[dict[str, Any]], ids: list[int | str]) -> None:
        options: dict[str, Any] = {"id": ids}
        if any("estimate" in job for job in jobs):
            options["estimate"] = [job.get("estimate", -1) for job in jobs]
        if "user" in jobs[0]:
            options["user"] = [job["user"] for job in jobs]
        runtime = [0.0 if job.get("runtime") is None else job["runtime"] for job in jobs]
        log = fs.Workload([job["submit"] for job in jobs], runtime, [job["size"] for job in jobs], **options)
        sim.submit(log, unknown=[job.get("runtime") is None for job in jobs])

    def _finish(self, id: int | str) -> dict[str, object]:
        sim = self._telling()
        with self._by_id(id) as row:
            sim.finish(row)
        return {"ok": True}

    def _kill(self, id: int | str) -> dict[str, object]:
        sim = self._telling()
        with self._by_id(id) as row:
            sim.withdraw(row)
        return {"ok": True}

    def _extend(self, id: int | str, seconds: float) -> dict[str, object]:
        sim = self._telling()
        with self._by_id(id) as row:
            sim.extend(row, seconds)
        return {"ok": True}

    def _fail(self, node: int, downtime: float) -> dict[str, object]:
        self._telling().fail(node, downtime)
        return {"ok": True}

    def _down(self, node: int) -> dict[str, object]:
        self._telling().down(node)
        return {"ok": True}

    def _up(self, node: int) -> dict[str, object]:
        self._telling().up(node)
        return {"ok": True}

    def _foresee(self, **columns: Any) -> dict[str, object]:
        self._telling().foresee(**columns)
        return {"ok": True}

    def _telling(self) -> fs.Simulation:
        if not self.live:
            raise OptionError("all jobs and failures of this server are known: begin it with --live N")
        return self.sim

    def _acting(self) -> Decision | fs.Simulation:
        """The open decision of a client that decides, else the simulation."""
        return (self.sim.decision if self.decides else None) or self.sim

    def _decision(self) -> Decision:
        if not self.decides:
            raise OptionError("the scheduler of this server decides: begin it with --scheduler external")
        decision = self.sim.decision
        if decision is None:
            raise OptionError("nothing is to be decided: use ADVANCE first")
        return decision

    def _row(self, name: int | str) -> int:
        row = self._ids.row(name)
        if row is None:
            raise OptionError(f"there is no job {name!r}")
        if name in self._ids.repeated:
            raise OptionError(f"{self._ids.repeated[name]} jobs have the id {name!r}: one of them cannot be named")
        return row


def _or_none(time: float) -> float | None:
    """NaN is no JSON."""
    return None if time != time else time


def _parsed(message: bytes) -> tuple[str, dict[str, object]]:
    """The name of a request and what it says, checked."""
    try:
        said = json.loads(message, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise OptionError("a request is one JSON object") from None
    if not isinstance(said, dict):
        raise OptionError("a request is one JSON object")
    name = said.pop("request", None)
    if not isinstance(name, str) or name not in _REQUESTS:
        raise OptionError(f'"request" must be one of {", ".join(_REQUESTS)}')
    needed, allowed = _REQUESTS[name]
    for key in needed:
        if key not in said:
            raise OptionError(f'{name} needs "{key}"')
    for key, value in said.items():
        if key not in (*needed, *allowed):
            raise OptionError(f"{name} has no {json.dumps(key)[:40]}")
        said[key] = _checked(name, key, value)
    return name, said


def _checked(name: str, key: str, value: object) -> object:
    def whole(number: object) -> bool:
        return type(number) is int and abs(number) < 2**63

    if key == "jobs":
        if isinstance(value, list) and value and all(isinstance(job, dict) for job in value):
            return [_checked_job(job) for job in value]
        raise OptionError(f'{name}: "jobs" must be a list of objects')
    if name == "FORESEE":
        given = value if isinstance(value, list) and key != "p" else [value]
        fits = whole if key == "node" else _finite
        if given and all(fits(number) for number in given):
            return value
        raise OptionError(f'{name}: "{key}" must be {"a number" if key == "p" else "numbers, one for each failure"}')
    if key == "t":
        if _finite(value):
            return float(value)
        raise OptionError(f'{name}: "t" must be seconds, a finite number')
    if key == "id":
        if whole(value) or type(value) is str:
            return value
        raise OptionError(f'{name}: "id" must be the id of a job, a number or text')
    if key in ("node", "size", "snapshot"):
        if whole(value):
            return value
        raise OptionError(f'{name}: "{key}" must be a whole number')
    if key == "scheduler":
        if type(value) is str:
            return value
        raise OptionError(f'{name}: "scheduler" must be text, as of --scheduler')
    if key in ("estimate", "priority", "begin", "seconds", "downtime", "horizon"):
        if _finite(value):
            return float(value)
        raise OptionError(f'{name}: "{key}" must be a finite number')
    if isinstance(value, list) and value and all(whole(number) for number in value):
        return value
    raise OptionError(f'{name}: "{key}" must be a list of whole numbers')


def _finite(number: object) -> TypeGuard[float]:
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < 1e300


def _checked_job(job: dict[str, Any]) -> dict[str, Any]:
    needed, allowed = _JOB
    for key in needed:
        if key not in job:
            raise OptionError(f'SUBMIT: a job needs "{key}"')
    for key, value in job.items():
        if key not in (*needed, *allowed):
            raise OptionError(f"SUBMIT: a job has no {json.dumps(key)[:40]}")
        if key == "id" and type(value) is str:
            continue
        if key in ("size", "id", "user"):
            if type(value) is not int or abs(value) >= 2**63:
                raise OptionError(f'SUBMIT: "{key}" of a job must be a whole number')
        elif not _finite(value) and not (key == "runtime" and value is None):
            raise OptionError(f'SUBMIT: "{key}" of a job must be a finite number')
    return job


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def check_address(address: str, *, any_host: bool = False) -> None:
    """Raise `OptionError` unless only programs of this machine can reach `address`.

    Examples
    --------
    >>> check_address("tcp://0.0.0.0:5555")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: --listen tcp://0.0.0.0:5555: others could connect, and nobody is asked who he is; ...
    """
    kind, _, rest = address.partition("://")
    if kind == "unix" and not hasattr(socket, "AF_UNIX"):
        raise OptionError(f"--listen {address}: Python has no Unix sockets on this system; use tcp://127.0.0.1:PORT")
    if kind in ("ipc", "unix") and rest.startswith("/"):
        path = Path(rest)
        if not path.parent.is_dir():
            raise OptionError(f"--listen {address}: its folder does not exist")
        if path.exists() and not stat.S_ISSOCK(path.stat().st_mode):
            raise OptionError(f"--listen {address}: there is a file of this name already")
        if path.exists() and _is_answered(path):
            raise OptionError(f"--listen {address}: another server listens there; end it, or name another path")
        return
    host, _, port = rest.rpartition(":")
    if kind != "tcp" or not host or not (port == "*" or (port.isascii() and port.isdigit() and int(port[:6]) < 65536)):
        raise OptionError(f"--listen {address}: ipc:///PATH, unix:///PATH or tcp://127.0.0.1:PORT is needed")
    loopback = host == "localhost"
    with contextlib.suppress(ValueError):
        loopback = loopback or ipaddress.ip_address(host.strip("[]")).is_loopback
    if not loopback and not any_host:
        raise OptionError(
            f"--listen {address}: others could connect, and nobody is asked who he is; "
            "give a loopback address, or --any-host if that is meant"
        )


def _is_answered(path: Path) -> bool:
    """Whether some program listens at a socket file; if not, it was left there by one that was killed."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as client:
        client.settimeout(5.0)
        try:
            client.connect(str(path))
        except TimeoutError:
            return True
        except OSError:
            return False
        return True


def serve(server: Server, address: str) -> None:
    """Answer at an address until END."""
    zmq = checks.extra("zmq", "serve", "faultsim serve")
    context = zmq.Context()
    try:
        answers = context.socket(zmq.REP)
        answers.setsockopt(zmq.MAXMSGSIZE, LARGEST_RECEIVED)
        before = os.umask(0o177)  # a socket file is its owner's alone
        try:
            answers.bind(address)
        except zmq.ZMQError as error:
            raise OptionError(f"--listen {address}: {error}") from None
        finally:
            os.umask(before)
        print(f"listening {answers.getsockopt(zmq.LAST_ENDPOINT).rstrip(bytes(1)).decode()}", flush=True)
        while not server.over:
            parts = answers.recv_multipart()
            reply = server.answer(parts[0]) if len(parts) == 1 else {"error": "a request is one message of one part"}
            answers.send(json.dumps(reply).encode())
        answers.close(linger=5000)
        context.term()
    finally:
        context.destroy(linger=0)


def serve_lines(server: Server, address: str) -> None:
    """The same by lines over a Unix socket, for one client after another."""
    path = Path(address.removeprefix("unix://"))
    path.unlink(missing_ok=True)  # left by a server that was killed (`check_address`)
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listening:
        before = os.umask(0o177)
        try:
            listening.bind(str(path))
        except OSError as error:
            raise OptionError(f"--listen {address}: {error}") from None
        finally:
            os.umask(before)
        try:
            listening.listen()
            print(f"listening {address}", flush=True)
            while not server.over:
                connection, _ = listening.accept()
                with connection, contextlib.suppress(ConnectionError):
                    _answer_lines(server, connection)
        finally:
            path.unlink(missing_ok=True)


def _answer_lines(server: Server, connection: socket.socket) -> None:
    """Answer a client until it goes, or sends a line that is too long, behind which nothing can be read."""
    with connection.makefile("rwb") as lines:
        while not server.over:
            line = lines.readline(LARGEST_MESSAGE + 2)
            if not line:
                return
            lines.write(json.dumps(server.answer(line.rstrip(b"\r\n"))).encode() + b"\n")
            lines.flush()
            if not line.endswith(b"\n"):
                return


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim serve``."""
    add_log_arguments(parser)
    parser.add_argument("--head", type=int, metavar="N", help="only the first N jobs")
    parser.add_argument("--machine", required=True, metavar="M", help="as of 'faultsim run'")
    parser.add_argument("--scheduler", default="easy", metavar="P", help="as of 'faultsim run', or external")
    parser.add_argument("--order", metavar="O", help="as of 'faultsim run'")
    parser.add_argument("--placement", metavar="P", help="as of 'faultsim run'")
    parser.add_argument("--failures", metavar="F", help="as of 'faultsim run'")
    parser.add_argument("--recovery", metavar="P", help="as of 'faultsim run'")
    parser.add_argument("--reserve", action="append", default=[], metavar="R", help="as of 'faultsim run'")
    parser.add_argument(
        "--listen",
        required=True,
        metavar="ADDRESS",
        help="ipc:///PATH or tcp://127.0.0.1:PORT (PORT *: any); unix:///PATH: lines, without ZeroMQ",
    )
    parser.add_argument(
        "--live", type=int, metavar="N", help="the client says which jobs come, and what fails: N jobs at most"
    )
    parser.add_argument("--any-host", action="store_true", help="allow addresses that other machines can reach")
    args = parser.parse_args(argv)
    by_lines = args.listen.startswith("unix://")
    if not by_lines:
        checks.extra("zmq", "serve", "faultsim serve")
    check_address(args.listen, any_host=args.any_host)
    log = open_log(args).log
    if args.head is not None:
        log = log.head(checks.whole("--head", args.head, low=1, unit="jobs"))
    machine = parse_machine(args.machine)
    failures = (
        args.failures and open_failures(args.failures, reach(log), machine.nodes, seed=args.seed, mapping=None).trace
    )
    decides = args.scheduler == "external"
    if decides and args.order is not None:
        raise OptionError("--order: with --scheduler external the client decides")
    try:
        scheduler = fs.External() if decides else specs.scheduler(args.scheduler, order=args.order)
    except OptionError as error:
        known = ", or external" if str(error).startswith("unknown scheduler") else ""
        raise OptionError(f"{error}{known}") from None
    sim = fs.Simulation(
        log,
        machine,
        scheduler=scheduler,
        placement=specs.placement(args.placement, on=machine),
        failures=failures,
        recovery=specs.policy("recovery", args.recovery),
        reservations=args.reserve,
        record=not decides,  # so that nodes can be drained
        seed=args.seed,
        live=0 if args.live is None else checks.whole("--live", args.live, low=1, unit="jobs"),
    )
    server = Server(sim, decides=decides, live=args.live is not None, closed=bool(args.reserve))
    (serve_lines if by_lines else serve)(server, args.listen)
    return 0
