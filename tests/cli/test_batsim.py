"""`faultsim batsim`: schedulers that speak Batsim's protocol, here scripted ones, in process and over a socket."""

import csv
import io
import json
import threading

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.batsim import write_jobs
from faultsim.cli.batsim_adapter import Adapter, intervals, nodes_of
from faultsim.cli.batsim_files import Host, read_platform, read_workload

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="AS0" routing="Full">
  <cluster id="c" prefix="a" suffix=".x" radical="0-2,10" speed="2Gf" bw="1GBps" lat="0"/>
  <host id="b1" speed="1Gf,2Gf"/>
  <host id="master_host" speed="1Gf"/>
  <host id="disk" speed="1Gf"><prop id="role" value="storage"/></host>
</zone></platform>
"""


class Scripted:
    """A scheduler that takes the lowest free nodes: first come, first served, or EASY backfilling by counts."""

    def __init__(self, *, easy=False, delay=0.0):
        self.easy, self.delay = easy, delay
        self.queue, self.running, self.messages, self.over = [], {}, [], False

    def exchange(self, message):
        message = json.loads(json.dumps(message))
        self.messages.append(message)
        self.now, reply = message["now"] + self.delay, []
        for event in message["events"]:
            data = event.get("data", {})
            if event["type"] == "SIMULATION_BEGINS":
                self.free = set(range(data["nb_compute_resources"]))
            elif event["type"] == "JOB_SUBMITTED":
                self.queue.append(data["job"])
            elif event["type"] == "JOB_COMPLETED":
                nodes, _, _ = self.running.pop(data["job_id"])
                assert nodes == nodes_of(data["alloc"])
                self.free |= set(nodes)
            self.over |= event["type"] == "SIMULATION_ENDS"
        self.decide(reply)
        return {"now": self.now, "events": reply}

    def decide(self, reply):
        while self.queue and self.queue[0]["res"] <= len(self.free):
            self.start(self.queue.pop(0), reply)
        if not self.queue or not self.easy:
            return
        free, head = len(self.free), self.queue[0]
        end = self.now  # the shadow time of the head
        for end, size in sorted(row[1:] for row in self.running.values()):  # noqa: B007 (the last one counts)
            free += size
            if free >= head["res"]:
                break
        extra = len(self.free) + sum(size for _, at, size in self.running.values() if at <= end) - head["res"]
        for job in self.queue[1:]:
            if job["res"] > len(self.free):
                continue
            in_time = self.now + job["walltime"] <= end
            if in_time or job["res"] <= extra:
                extra -= 0 if in_time else job["res"]
                self.queue.remove(job)
                self.start(job, reply)

    def start(self, job, reply):
        nodes = sorted(self.free)[: job["res"]]
        self.free -= set(nodes)
        self.running[job["id"]] = nodes, self.now + job["walltime"], job["res"]
        data = {"job_id": job["id"], "alloc": intervals(nodes)}
        reply.append({"timestamp": self.now, "type": "EXECUTE_JOB", "data": data})

    def events(self, *kinds):
        return [event for message in self.messages for event in message["events"] if event["type"] in kinds]


def workload(path, jobs, **profiles):
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    return str(path)


def random_workload(path, seed, n=150):
    rng = np.random.default_rng(seed)
    times, delays = np.sort(rng.integers(0, 20_000, n)), rng.integers(1, 2000, n)
    jobs = [
        {
            "id": f"w0!{i}", "subtime": float(times[i]), "res": int(rng.integers(1, 17)), "profile": f"p{i}",
            "walltime": float(delays[i] * rng.choice([0.5, 1.0, 1.5, 3.0])) + 0.25,
        }
        for i in range(n)
    ]  # fmt: skip
    return workload(path, jobs, **{f"p{i}": {"type": "delay", "delay": float(delays[i])} for i in range(n)})


HOSTS = [Host(f"h{i}", 1e9) for i in range(16)]


@pytest.mark.parametrize("easy", [False, True], ids=["fcfs", "easy"])
@pytest.mark.parametrize("seed", range(6))
def test_scripted_schedulers_are_the_built_in_ones(easy, seed, tmp_path):
    jobs = read_workload(random_workload(tmp_path / "w.json", seed), HOSTS)
    adapter, scheduler = Adapter(jobs, HOSTS), Scripted(easy=easy)
    adapter.run(scheduler.exchange)
    rule = fs.EasyBackfill() if easy else fs.Fcfs()
    expected = fs.simulate(jobs.log, fs.Cluster(16), scheduler=rule, overrun="kill")
    found = adapter.sim.result()
    for column in ("start", "finish", "state"):
        assert np.array_equal(found.jobs[column], expected.jobs[column])
    ends = [event["data"]["job_state"] for event in scheduler.events("JOB_COMPLETED")]
    assert ends.count("COMPLETED_WALLTIME_REACHED") == (jobs.log.estimate < jobs.log.runtime).sum() > 10
    times = [event["timestamp"] for event in scheduler.events("JOB_SUBMITTED", "JOB_COMPLETED", "NOTIFY")]
    assert times == sorted(times)
    assert scheduler.over


def test_the_conversation_by_hand(tmp_path):
    jobs = [
        {"id": "2", "subtime": 5, "res": 2, "profile": "d", "walltime": 100, "owner": "me"},
        {"id": "1", "subtime": 1.5, "res": 4, "profile": "d", "walltime": 4},
    ]
    path = workload(tmp_path / "w.json", jobs, d={"type": "delay", "delay": 10})
    adapter, scheduler = Adapter(read_workload(path, HOSTS[:4]), HOSTS[:4], config="fast"), Scripted()
    adapter.run(scheduler.exchange)
    begins = scheduler.messages[0]["events"][0]["data"]
    assert (begins["nb_resources"], begins["config"]["sched-config"], begins["profiles"]["w0"]["d"]["delay"]) == (
        4,
        "fast",
        10,
    )
    told = [(m["now"], [(e["timestamp"], e["type"]) for e in m["events"]]) for m in scheduler.messages]
    assert told == [
        (0.0, [(0.0, "SIMULATION_BEGINS")]),
        (1.5, [(1.5, "JOB_SUBMITTED")]),
        (5.0, [(5.0, "JOB_SUBMITTED"), (5.0, "NOTIFY")]),
        (5.5, [(5.5, "JOB_COMPLETED")]),
        (15.5, [(15.5, "JOB_COMPLETED")]),
        (15.5, [(15.5, "SIMULATION_ENDS")]),
    ]
    (first, second), (timed_out, done) = scheduler.events("JOB_SUBMITTED"), scheduler.events("JOB_COMPLETED")
    assert (first["data"]["job_id"], second["data"]["job"]["owner"]) == ("w0!1", "me")
    assert timed_out["data"] == {
        "job_id": "w0!1", "job_state": "COMPLETED_WALLTIME_REACHED", "return_code": 1, "alloc": "0-3",
    }  # fmt: skip
    assert (done["data"]["job_state"], done["data"]["alloc"]) == ("COMPLETED_SUCCESSFULLY", "0-1")
    file = io.StringIO()
    write_jobs(adapter, adapter.sim.result(), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [(row["job_id"], float(row["starting_time"]), row["allocated_resources"]) for row in rows] == [
        ("1", 1.5, "0-3"), ("2", 5.5, "0-1"),
    ]  # fmt: skip


def test_decisions_that_take_time(tmp_path):
    """A scheduler that thinks for 2 s: what happens meanwhile comes with the next message."""
    jobs = [{"id": str(i), "subtime": i, "res": 1, "profile": "d"} for i in range(4)]
    path = workload(tmp_path / "w.json", jobs, d={"type": "delay", "delay": 30})
    adapter, scheduler = Adapter(read_workload(path, HOSTS[:4]), HOSTS[:4]), Scripted(delay=2.0)
    for job in adapter.jobs.given:
        job["walltime"] = 100
    adapter.run(scheduler.exchange)
    assert [m["now"] for m in scheduler.messages[:4]] == [0.0, 2.0, 4.0, 34.0]
    assert adapter.sim.result().jobs["start"].tolist() == [4.0, 4.0, 4.0, 6.0]


def reply_to(kind, *events):
    """A scheduler that answers the first event of a kind with these, and says nothing else."""
    done = []

    def exchange(message):
        if not done and kind in [event["type"] for event in message["events"]]:
            done.append(True)
            return {"now": message["now"], "events": [{"timestamp": message["now"], **event} for event in events]}
        return {"now": message["now"], "events": []}

    return exchange


def one_job(tmp_path, **options):
    path = workload(
        tmp_path / "w.json",
        [{"id": "a", "subtime": 10, "res": 2, "profile": "d", "walltime": 60}],
        d={"type": "delay", "delay": 50},
    )
    return Adapter(read_workload(path, HOSTS[:4]), HOSTS[:4], **options)


def execute(alloc, job="w0!a"):
    return {"type": "EXECUTE_JOB", "data": {"job_id": job, "alloc": alloc}}


EXECUTE = execute("1-2")


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], "the scheduler leaves 1 jobs waiting and starts none of them"),
        ([{"type": "QUERY", "data": {"requests": {}}}], "sent the event 'QUERY'; there are EXECUTE_JOB"),
        ([{"type": "EXECUTE_JOB", "data": {"job_id": "w0!a"}}], 'EXECUTE_JOB needs "alloc" in its data'),
        ([execute("1", "w0!b")], "EXECUTE_JOB: there is no job 'w0!b'"),
        (
            [execute("1")],
            "w0!a asks for 2 resources, and its alloc has 1",
        ),
        ([execute("3-4")], "no resource 4, they are 0 to 3"),
        (
            [execute("x")],
            "must be intervals such as '0-3 7', got 'x'",
        ),
        ([EXECUTE, EXECUTE], "job w0!a is not waiting, it is started"),
        ([{"type": "CALL_ME_LATER", "data": {"timestamp": "soon"}}], "timestamp must be seconds, a finite number"),
        ([{"type": "KILL_JOB", "data": {"job_ids": "w0!a"}}], "job_ids must be a list of jobs"),
    ],
    ids=str,
)
def test_what_a_scheduler_may_not_do(events, words, tmp_path):
    with pytest.raises(fs.errors.OptionError, match=words):
        one_job(tmp_path).run(reply_to("JOB_SUBMITTED", *events))


@pytest.mark.parametrize(
    "reply",
    [None, [], {"events": []}, {"now": "0", "events": []}, {"now": -1.0, "events": []}, {"now": 0, "events": 3}],
)
def test_replies_that_are_none(reply, tmp_path):
    with pytest.raises(fs.errors.OptionError, match="the scheduler"):
        one_job(tmp_path).run(lambda message: reply)


def test_calls_rejections_and_kills(tmp_path):
    seen = []

    def exchange(message):
        reply = []
        for event in message["events"]:
            seen.append((message["now"], event["type"], event["data"]))
            if event["type"] == "SIMULATION_BEGINS":
                reply += [{"type": "CALL_ME_LATER", "data": {"timestamp": at}} for at in (4, 30)]
            if event["type"] == "JOB_SUBMITTED":
                reply.append(EXECUTE)
                reply.append({"type": "SET_JOB_METADATA", "data": {"job_id": "w0!a", "metadata": "mine"}})
            if event["type"] == "REQUESTED_CALL" and message["now"] == 30:
                reply.append({"type": "KILL_JOB", "data": {"job_ids": ["w0!a"]}})
        return {"now": message["now"], "events": [{"timestamp": message["now"], **event} for event in reply]}

    adapter = one_job(tmp_path)
    adapter.run(exchange)
    assert [(now, kind) for now, kind, _ in seen] == [
        (0, "SIMULATION_BEGINS"), (4, "REQUESTED_CALL"), (10, "JOB_SUBMITTED"), (10, "NOTIFY"), (30, "REQUESTED_CALL"),
        (30, "JOB_COMPLETED"), (30, "JOB_KILLED"), (30, "SIMULATION_ENDS"),
    ]  # fmt: skip
    assert seen[-3][2]["job_state"] == "COMPLETED_KILLED"
    assert seen[-2][2] == {"job_ids": ["w0!a"], "job_progress": {"w0!a": {"profile": "d", "progress": 0.4}}}
    assert adapter.metadata == {0: "mine"}
    rejecting = one_job(tmp_path)
    rejecting.run(reply_to("JOB_SUBMITTED", {"type": "REJECT_JOB", "data": {"job_id": "w0!a"}}))
    assert rejecting.states == ["REJECTED"]


@pytest.mark.parametrize("machine_events", [False, True])
def test_a_job_that_a_failure_kills_comes_back(machine_events, tmp_path):
    failures = fs.FailureTrace([30], [0], [20], span=200)
    adapter, scheduler = one_job(tmp_path, failures=failures, machine_events=machine_events), Scripted()
    adapter.run(scheduler.exchange)
    told = [
        (e["timestamp"], e["type"], e["data"].get("job_id")) for e in scheduler.events("JOB_COMPLETED", "JOB_SUBMITTED")
    ]
    assert told == [
        (10.0, "JOB_SUBMITTED", "w0!a"), (30.0, "JOB_COMPLETED", "w0!a"), (30.0, "JOB_SUBMITTED", "w0!a#1"),
        (100.0, "JOB_COMPLETED", "w0!a#1"),
    ]  # fmt: skip
    # Started again at once on node 0, which is down until 50 s: it begins then.
    assert adapter.sim.result().jobs["start"].tolist() == [50.0]
    machines = [(e["timestamp"], e["data"]["type"], e["data"].get("resources")) for e in scheduler.events("NOTIFY")]
    heard = [(30.0, "event_machine_unavailable", "0"), (50.0, "event_machine_available", "0")] if machine_events else []
    assert [row for row in machines if row[2]] == heard


@pytest.mark.parametrize("seed", range(4))
def test_random_failures_with_a_scheduler_that_does_not_hear_of_them(seed, tmp_path):
    jobs = read_workload(random_workload(tmp_path / "w.json", seed, 80), HOSTS)
    failures = fs.synthetic.exponential_failures(16, 60_000, 40_000, downtime=900.0, rng=seed, any_rate=True)
    adapter, scheduler = Adapter(jobs, HOSTS, failures=failures), Scripted(easy=True)
    adapter.run(scheduler.exchange)
    result = adapter.sim.result()
    killed = [e for e in scheduler.events("JOB_COMPLETED") if e["data"]["job_state"] == "COMPLETED_FAILED"]
    assert len(killed) == result.jobs["restarts"].sum() > 5
    assert len(scheduler.events("JOB_COMPLETED")) == len(jobs.log) + len(killed)
    adapter.sim.verify()


def test_hosts_of_a_platform(tmp_path):
    (tmp_path / "p.xml").write_text(PLATFORM)
    names = [host.name for host in read_platform(str(tmp_path / "p.xml"), "master_host")]
    assert names == ["a0.x", "a1.x", "a2.x", "a10.x", "b1"]
    assert [h.speed for h in read_platform(str(tmp_path / "p.xml"), "b1")][-1] == 1e9
    assert len(read_platform("cluster:7", "")) == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "p.xml: No such file"),
        ("nodes: 4", "not a platform of SimGrid: .*; or give cluster:N"),
        ("<network/>", "its root is <network>, not <platform>"),
        ("<platform/>", "no compute host besides the master 'm'"),
        ("<platform><host id='m' speed='1Gf'/></platform>", "no compute host besides the master 'm'"),
        ("<platform><host id='a' speed='fast'/></platform>", "<host> has speed='fast'; it must be such as 1Gf"),
        (
            "<platform><cluster radical='0..3' speed='1f'/></platform>",
            r"radical='0\.\.3'; it must be numbers",
        ),
    ],
)
def test_bad_platforms(text, words, tmp_path):
    if text is not None:
        (tmp_path / "p.xml").write_text(text)
    with pytest.raises(fs.errors.InputError, match=words):
        read_platform(str(tmp_path / "p.xml"), "m")


def test_run_times_of_profiles(tmp_path):
    profiles = {
        "d": {"type": "delay", "delay": 7.5},
        "h": {"type": "parallel_homogeneous", "cpu": 4e9, "com": 0},
        "t": {"type": "parallel_homogeneous_total", "cpu": 4e9},
    }
    jobs = [{"id": name, "subtime": 0, "res": 2, "profile": name} for name in profiles]
    found = read_workload(workload(tmp_path / "w.json", jobs, **profiles), HOSTS)
    assert (found.log.runtime.tolist(), found.log.estimate.tolist()) == ([7.5, 4.0, 2.0], [-1.0] * 3)


JOB = {"id": "1", "subtime": 0, "res": 1, "profile": "d"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not a workload of Batsim, which is JSON"),
        ("[]", 'is an object with "jobs", a list, and "profiles", an object'),
        (json.dumps({"jobs": [], "profiles": {}}), "the workload has no jobs"),
        (json.dumps({"jobs": [3], "profiles": {}}), "job 0 must be an object, got 3"),
        (
            json.dumps({"jobs": [{**JOB, "res": 0}], "profiles": {}}),
            "res must be a whole number of at least 1, got 0",
        ),
        (
            json.dumps({"jobs": [{**JOB, "subtime": "x"}], "profiles": {}}),
            "subtime must be a number of at least 0",
        ),
        (json.dumps({"jobs": [JOB], "profiles": {}}), "has the profile 'd', which is not in \"profiles\""),
        (
            json.dumps({"jobs": [JOB], "profiles": {"d": {"type": "smpi"}}}),
            "type 'smpi'; it must be delay",
        ),
        (
            json.dumps({"jobs": [JOB], "profiles": {"d": {"type": "parallel_homogeneous", "cpu": 1, "com": 5}}}),
            "profile 'd' communicates, and there is no network here",
        ),
        (
            json.dumps({"jobs": [JOB, JOB], "profiles": {"d": {"type": "delay", "delay": 1}}}),
            "two jobs have the id",
        ),
    ],
)
def test_bad_workloads(text, words, tmp_path):
    (tmp_path / "w.json").write_text(text)
    with pytest.raises(fs.errors.InputError, match=words):
        read_workload(str(tmp_path / "w.json"), HOSTS)


def test_over_a_socket(tmp_path, capsys):
    zmq = pytest.importorskip("zmq")
    path, address = random_workload(tmp_path / "w.json", 3, 40), f"ipc://{tmp_path}/s"
    scheduler, context = Scripted(easy=True), zmq.Context()
    socket = context.socket(zmq.REP)
    socket.bind(address)

    def answer():
        while not scheduler.over:
            socket.send_json(scheduler.exchange(socket.recv_json()))

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    options = ["--platform", "cluster:16", "--workload", path, "--socket", address, "--csv", str(tmp_path / "jobs.csv")]
    assert fs.cli.main(["batsim", *options]) == 0
    assert " COMPLETED_SUCCESSFULLY, " in capsys.readouterr().out
    thread.join(10)
    context.destroy(linger=0)
    with open(tmp_path / "jobs.csv") as file:
        starts = [float(row["starting_time"]) for row in csv.DictReader(file)]
    log = read_workload(path, HOSTS).log
    assert starts == fs.simulate(log, fs.Cluster(16), overrun="kill").jobs["start"].tolist()


def test_a_scheduler_that_is_not_there(tmp_path, capsys):
    pytest.importorskip("zmq")
    path = random_workload(tmp_path / "w.json", 1, 5)
    base = ["batsim", "--platform", "cluster:16", "--workload", path]
    for more, words in (
        (
            ["--socket", f"ipc://{tmp_path}/none", "--timeout", "0.2"],
            "did not reply within 0.2 s; start it there",
        ),
        (["--socket", "here"], "it must be such as tcp://localhost:28000"),
        (["--timeout", "0"], "--timeout must be above 0 seconds"),
        (["--machine-events"], "--machine-events needs --failures"),
    ):
        assert fs.cli.main([*base, *more]) == 2
        assert words in capsys.readouterr().err


def test_jobs_larger_than_the_platform_are_rejected_by_the_scheduler(tmp_path):
    jobs = [{"id": "1", "subtime": 0, "res": 9, "profile": "d"}, {"id": "2", "subtime": 0, "res": 1, "profile": "d"}]
    path = workload(tmp_path / "w.json", jobs, d={"type": "delay", "delay": 5})
    heard = []

    def exchange(message):
        reply = []
        for event in message["events"]:
            if event["type"] == "JOB_SUBMITTED":
                name, size = event["data"]["job_id"], event["data"]["job"]["res"]
                heard.append((name, size))
                act = {"type": "REJECT_JOB", "data": {"job_id": name}}
                if size <= 4:
                    act = {"type": "EXECUTE_JOB", "data": {"job_id": name, "alloc": "3"}}
                reply.append({"timestamp": message["now"], **act})
        return {"now": message["now"], "events": reply}

    adapter = Adapter(read_workload(path, HOSTS[:4]), HOSTS[:4])
    adapter.run(exchange)
    assert heard == [("w0!1", 9), ("w0!2", 1)]
    assert adapter.states == ["REJECTED", "COMPLETED_SUCCESSFULLY"]
    file = io.StringIO()
    write_jobs(adapter, adapter.sim.result(partial=True), file)
    first, second = csv.DictReader(io.StringIO(file.getvalue()))
    assert (first["final_state"], first["starting_time"], second["finish_time"]) == ("REJECTED", "", "5.0")
