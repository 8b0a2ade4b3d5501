"""Simulate for a scheduler of Batsim, which decides by Batsim's protocol.

The scheduler is a program that waits at a socket of ZeroMQ, as for Batsim 3 and 4 (JSON); start it before or after.
Jobs run on whole hosts, without a network: profiles are delay, or parallel_homogeneous without communication.

With --failures, a job on a host that fails ends as COMPLETED_FAILED and is submitted again as another job, w0!5#1. A
job that starts on hosts that are down begins when they are up. --machine-events reports them to the scheduler.

examples:
  faultsim batsim --platform cluster:32 --workload jobs.json &
  pybatsim easyBackfill
  faultsim batsim --platform small.xml --workload jobs.json --socket tcp://localhost:28000 --failures mtbf=30d,repair=1h
"""

import csv
import json
import sys
from collections.abc import Sequence
from typing import TextIO

import faultsim as fs
from faultsim import checks
from faultsim.cli import specs
from faultsim.cli.batsim_adapter import Adapter, intervals
from faultsim.cli.batsim_files import read_platform, read_workload
from faultsim.cli.parser import Parser
from faultsim.cli.run_failures import open_failures, reach
from faultsim.errors import InputError, OptionError

#: Bytes of a reply; a larger one is refused.
LARGEST_MESSAGE = 1 << 28
_COLUMNS = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
    "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
    "stretch", "allocated_resources", "metadata",
)  # fmt: skip


class Client:
    """The socket to the scheduler."""

    def __init__(self, address: str, timeout: float) -> None:
        self._zmq: object = checks.extra("zmq", "serve", "faultsim batsim")
        self._context = self._zmq.Context()
        self._address, self._timeout = address, timeout
        self._socket = self._context.socket(self._zmq.REQ)
        self._socket.setsockopt(self._zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        try:
            self._socket.connect(address)
        except self._zmq.ZMQError as error:
            self.close()
            raise OptionError(f"--socket {address}: {error}; it must be such as tcp://localhost:28000") from None

    def exchange(self, message: dict[str, object]) -> object:
        """Send a message; the reply."""
        self._socket.send_string(json.dumps(message))
        if not self._socket.poll(1000 * self._timeout):
            raise OptionError(
                f"--socket {self._address}: the scheduler did not reply within {self._timeout:g} s; start it there, or "
                f"give --timeout"
            )
        try:
            return json.loads(self._socket.recv())
        except (ValueError, RecursionError) as error:
            raise OptionError(f"--socket {self._address}: the reply of the scheduler is no JSON: {error}") from None

    def close(self) -> None:
        """Without waiting for anything."""
        self._context.destroy(linger=0)


def write_jobs(adapter: Adapter, result: fs.Result, file: TextIO) -> None:
    """The jobs as Batsim writes them to its file ``_jobs.csv``, without energy; the last attempt of each."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    jobs, log = result.jobs, adapter.jobs.log
    for row, job in enumerate(adapter.jobs.given):
        state = adapter.states[row]
        given = [job["id"].partition("!")[2], "w0", job["profile"], float(log.submit[row]), int(log.size[row])]
        given += [job.get("walltime", -1), int(state == "COMPLETED_SUCCESSFULLY"), state]
        if state == "REJECTED":
            writer.writerow([*given, *[""] * 7, adapter.metadata.get(row, "")])
            continue
        start, finish = float(jobs["start"][row]), float(jobs["finish"][row])
        times = [start, finish - start, finish, start - log.submit[row], finish - log.submit[row]]
        times.append(times[4] / times[1] if times[1] else 1.0)
        alloc = intervals(adapter.allocations[row])
        writer.writerow([*given, *map(float, times), alloc, adapter.metadata.get(row, "")])


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim batsim``."""
    parser.add_argument("--platform", required=True, metavar="P", help="a platform of SimGrid (XML), or cluster:N")
    parser.add_argument("--workload", required=True, metavar="W", help="a workload of Batsim (JSON)")
    parser.add_argument("--socket", default="tcp://localhost:28000", metavar="A", help="where the scheduler listens")
    parser.add_argument("--master-host", default="master_host", metavar="H", help="a host that computes nothing")
    parser.add_argument("--sched-config", default="", metavar="TEXT", help="what the scheduler gets as its own")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds to wait for a reply (60)")
    parser.add_argument("--failures", metavar="F", help="as of 'faultsim run'")
    parser.add_argument("--recovery", metavar="P", help="as of 'faultsim run'")
    parser.add_argument("--checkpointing", metavar="P", help="as of 'faultsim run'")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the failures")
    parser.add_argument("--machine-events", action="store_true", help="report hosts that go down and up")
    parser.add_argument("--csv", metavar="FILE", help="write the jobs as Batsim's _jobs.csv; - is standard output")
    args = parser.parse_args(argv)
    checks.extra("zmq", "serve", "faultsim batsim")
    if not args.timeout > 0:
        raise OptionError(f"--timeout must be above 0 seconds, got {args.timeout:g}")
    hosts = read_platform(args.platform, args.master_host)
    jobs = read_workload(args.workload, hosts)
    options: dict[str, object] = {}
    if args.failures:
        options["failures"] = open_failures(
            args.failures, reach(jobs.log), len(hosts), seed=args.seed, mapping=None
        ).trace
    elif args.machine_events:
        raise OptionError("--machine-events needs --failures: without them no host goes down")
    for name in ("recovery", "checkpointing"):
        if getattr(args, name) is not None:
            options[name] = specs.policy(name, getattr(args, name))
    adapter = Adapter(jobs, hosts, machine_events=args.machine_events, config=args.sched_config, **options)
    client = Client(args.socket, args.timeout)
    try:
        adapter.run(client.exchange)
    finally:
        client.close()
    result = adapter.sim.result(partial=True)
    if args.csv == "-":
        write_jobs(adapter, result, sys.stdout)
        return 0
    if args.csv:
        try:
            with open(args.csv, "w", encoding="utf-8", newline="") as file:
                write_jobs(adapter, result, file)
        except OSError as error:
            raise InputError(f"--csv {args.csv}: {error.strerror or error}") from None
    counts = {state: adapter.states.count(state) for state in dict.fromkeys(adapter.states)}
    print(", ".join(f"{count} {state}" for state, count in counts.items()) + f", until {adapter.sim.now:g} s")
    return 0
