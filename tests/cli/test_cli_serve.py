"""`faultsim serve`: another process follows a log over a socket, and gets the running sets of `simulate`."""

import json
import os
import socket
import stat
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.serve import Server, check_address
from helpers import command
from helpers.command import refused
from helpers.messages import check_answer
from helpers.refusals import refusals
from helpers.scripts import begun, python

CLIENT = Path(__file__).resolve().parents[1] / "helpers" / "client.py"


@pytest.fixture(autouse=True)
def checked_answers(monkeypatch):
    """All answers of this module are as the JSON schema says."""
    answer = Server.answer

    def checked(self, message):
        reply = answer(self, message)
        check_answer(message, reply)
        return reply

    monkeypatch.setattr(Server, "answer", checked)


@pytest.fixture
def serving(tmp_path):
    """Begin a server in a process of its own; ask it by another."""
    servers = []

    def ask(requests, *arguments, listen=f"ipc://{tmp_path}/socket"):
        server = begun("-m", "faultsim", "serve", *arguments, "--listen", listen)
        servers.append(server)
        word, address = server.stdout.readline().split()
        assert word == "listening"
        mode = os.stat(address.removeprefix("ipc://")).st_mode if listen.startswith("ipc") else 0o600
        assert stat.S_IMODE(mode) == 0o600
        said = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in requests)
        client = python(CLIENT, address, input=said, check=True, timeout=3000)
        assert server.wait(timeout=60) == 0
        assert server.stderr.read() == ""
        replies = [json.loads(line) for line in client.stdout.splitlines()]
        for request, reply in zip(said.splitlines(), replies, strict=True):
            check_answer(request, reply)
        return replies

    yield ask
    for server in servers:
        server.kill()
        server.communicate()


def get(t):
    return {"request": "GET", "t": t}


INIT, END = {"request": "INIT"}, {"request": "END"}


def follow(serving, data_dir, seconds, *arguments, **options):
    """The server's running sets at these seconds after the first job are those of `simulate`."""
    path = data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz"
    log = fs.read_swf(path)
    if "--head" in arguments:
        log = log.head(int(arguments[arguments.index("--head") + 1]))
    jobs = fs.simulate(log, fs.Cluster(128)).jobs
    first = log.submit[0]
    times = seconds(jobs) if callable(seconds) else first + np.array(seconds, float)
    requests = [INIT, *map(get, times.tolist()), END]
    replies = serving(requests, path, "--machine", "cluster:128", *arguments, **options)
    assert (replies[0], replies[-1]) == ({"init_time": first}, {"ok": True})
    assert len(replies) == len(times) + 2
    running, order, at = set(), np.argsort(jobs["start"], kind="stable").tolist(), 0
    finish, start, ids = jobs["finish"].tolist(), jobs["start"].tolist(), log.id.tolist()
    for t, reply in zip(times.tolist(), replies[1:-1], strict=True):
        while at < len(order) and start[order[at]] <= t:
            running.add(order[at])
            at += 1
        running = {job for job in running if finish[job] > t}
        assert reply == {"t": t, "running_ids": [ids[job] for job in sorted(running)]}


@pytest.mark.parametrize("listen", ["ipc", "tcp"])
def test_a_client_follows_a_part_of_a_real_log_second_by_second(serving, data_dir, listen):
    options = {"listen": "tcp://127.0.0.1:*"} if listen == "tcp" else {}
    follow(serving, data_dir, range(4000), "--head", "200", **options)


def when_something_changes(jobs):
    """Each second at which a job starts or ends, and the one before it: between them nothing changes."""
    changes = np.unique(np.concatenate([jobs["start"], jobs["finish"]]))
    return np.unique(np.concatenate([changes - 1, changes]))[1:]


def test_a_client_follows_changes_of_a_real_log(serving, data_dir):
    follow(serving, data_dir, when_something_changes, "--head", "500")


@pytest.mark.slow
def test_a_client_follows_a_whole_log(serving, data_dir):
    follow(serving, data_dir, when_something_changes)


@pytest.fixture
def swf(tmp_path):
    path = tmp_path / "small.swf"
    path.write_text(command.swf(5, 60))
    return path


def test_a_client_decides(serving, swf):
    """First come, first served, over the socket; the client keeps no state of its own."""
    log = fs.read_swf(swf)
    sim = fs.Simulation(log, fs.Cluster(16), scheduler=fs.External())
    server, expected = Server(sim, decides=True), fs.simulate(log, fs.Cluster(16), scheduler=fs.Fcfs())

    def ask(**request):
        return server.answer(json.dumps(request).encode())

    while (found := ask(request="ADVANCE"))["kind"] != "end":
        for job in found["queue"]:
            if ask(request="START", id=job["id"]) != {"ok": True}:
                break
    np.testing.assert_array_equal(sim.result().jobs["start"], expected.jobs["start"])
    requests = [
        {"request": "ADVANCE"},
        {"request": "START", "id": 1, "nodes": [5, 3]},
        {"request": "ADVANCE", "t": 15},
        {"request": "REQUEUE", "id": 1},
        {"request": "WAKE", "t": 17},
        {"request": "ADVANCE"},
        get(30),
        END,
    ]
    replies = serving(requests, swf, "--machine", "cluster:16", "--scheduler", "external")
    assert replies[0] == {
        "kind": "schedule", "now": 10.0, "free": 16, "down": [], "running": [],
        "queue": [{"id": 1, "submit": 10.0, "size": 2, "estimate": 60.0, "fits": True}],
    }  # fmt: skip
    assert (replies[1], replies[2]["kind"], replies[2]["now"]) == ({"ok": True}, "time", 15.0)
    assert replies[2]["running"] == [{"id": 1, "size": 2, "start": 10.0, "expected_end": 70.0}]
    assert replies[3:5] == [{"ok": True}] * 2
    assert (replies[5]["kind"], replies[5]["now"]) == ("schedule", 17.0)
    assert replies[6] == {"error": "GET: with --scheduler external the client decides: use ADVANCE"}


def log_of_two():
    return fs.Workload(submit=[5, 6], runtime=[10, 10], size=[2, 2])


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", "a request is one JSON object"),
        (b"\xff\xfe", "a request is one JSON object"),
        (b"[" * 100_000, "a request is one JSON object"),
        (b"[]", "a request is one JSON object"),
        (b"{}", '"request" must be one of INIT, GET, '),
        (b'{"request": ["GET"]}', '"request" must be one of'),
        (b'{"request": "get", "t": 8}', '"request" must be one of'),
        (b'{"request": "GET"}', 'GET needs "t"'),
        (b'{"request": "GET", "t": "8"}', 'GET: "t" must be seconds, a finite number'),
        (b'{"request": "GET", "t": true}', 'GET: "t" must be seconds'),
        (b'{"request": "GET", "t": NaN}', "a request is one JSON object"),
        (b'{"request": "GET", "t": -1e300}', 'GET: "t" must be seconds'),
        (b'{"request": "GET", "t": 1e999}', 'GET: "t" must be seconds'),
        (b'{"request": "GET", "t": 1' + b"0" * 400 + b"}", 'GET: "t" must be seconds'),
        (b'{"request": "GET", "t": 6}', "GET: advance(until=6): it is 7 s already"),
        (b'{"request": "GET", "t": 8, "to": 9}', 'GET has no "to"'),
        (b'{"request": "END", "t": 8}', 'END has no "t"'),
        (b'{"request": "START", "id": 2}', "START: the scheduler of this server decides"),
        (b'{"request": "START", "id": 7}', "START: the scheduler of this server decides"),
        (b'{"request": "START", "id": 1.5}', 'START: "id" must be the id of a job, a number or text'),
        (b'{"request": "START", "id": 2, "nodes": "all"}', 'START: "nodes" must be a list of whole numbers'),
        (b'{"request": "WAKE", "t": 3}', "WAKE: the scheduler of this server decides"),
    ],
)
def test_a_bad_request_gets_an_error_and_changes_nothing(message, error):
    sim = fs.Simulation(log_of_two(), fs.Cluster(2))
    server = Server(sim)
    server.answer(b'{"request": "GET", "t": 7}')
    (word,), (said,) = zip(*server.answer(message).items(), strict=True)
    assert word == "error"
    assert said.startswith(error)
    assert (sim.now, sim.queue.tolist(), sim.running.tolist(), server.over) == (7.0, [1], [0], False)
    assert server.answer(b'{"request": "GET", "t": 20}') == {"t": 20.0, "running_ids": [2]}


def test_a_server_outlives_bad_requests(serving, swf):
    replies = serving(["nonsense\n", get("x"), END], swf, "--machine", "cluster:16")
    assert [*map(list, replies)] == [["error"], ["error"], ["ok"]]


def test_a_request_that_is_too_long_is_answered(serving, swf):
    long = "x" * (3 << 20) + "\n"
    replies = serving([long, END], swf, "--machine", "cluster:16")
    assert replies == [{"error": "a request of 3,145,728 bytes; at most 1,048,576 are read"}, {"ok": True}]


def test_a_path_that_is_taken_is_refused_and_one_that_was_left_is_not(serving, swf, tmp_path, capsys):
    path = tmp_path / "socket"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    check_address(f"ipc://{path}")  # nobody listens
    path.unlink()
    first = begun("-m", "faultsim", "serve", swf, "--machine", "cluster:16", "--listen", f"ipc://{path}")
    try:
        assert first.stdout.readline().split()[0] == "listening"
        second = ("serve", swf, "--machine", "cluster:16", "--listen", f"ipc://{path}")
        assert "another server listens there" in refused(capsys, *second)
        client = python(CLIENT, f"ipc://{path}", input=json.dumps(END) + "\n", check=True, timeout=600)
        assert json.loads(client.stdout) == {"ok": True}
    finally:
        first.kill()
        first.communicate()


def test_a_client_names_cubes():
    log = fs.Workload(submit=[0], runtime=[10], size=[8])
    server = Server(fs.Simulation(log, fs.Pod((1, 2, 2), (2, 2, 2), 4), scheduler=fs.External()), decides=True)
    assert server.answer(b'{"request": "ADVANCE"}')["kind"] == "schedule"
    assert "cubes are 0 to 3" in server.answer(b'{"request": "START", "id": 1, "cubes": [4, 1]}')["error"]
    assert '"cubes" must be a list' in server.answer(b'{"request": "START", "id": 1, "cubes": 3}')["error"]
    assert server.answer(b'{"request": "START", "id": 1, "cubes": [3, 1]}') == {"ok": True}
    assert server.sim.decision.free_cubes.tolist() == [0, 2]


def test_job_numbers_that_occur_twice():
    log = fs.Workload(submit=[5, 6], runtime=[10, 10], size=[2, 2], id=[3, 3])
    with pytest.raises(fs.InputError, match="some occur twice"):
        Server(fs.Simulation(log, fs.Cluster(2), scheduler=fs.External()), decides=True)


test_addresses_that_others_can_reach = refusals(
    fs.OptionError,
    check_address,
    ("tcp://0.0.0.0:5555", "others could connect"),
    ("tcp://*:5555", "others could connect"),
    ("tcp://example.org:5555", "others could connect"),
    ("tcp://127.0.0.1", "ipc:///PATH, unix:///PATH or tcp://127.0.0.1:PORT is needed"),
    ("udp://127.0.0.1:5555", "ipc:///PATH, unix:///PATH or tcp://127.0.0.1:PORT is needed"),
    ("ipc://relative", "ipc:///PATH, unix:///PATH or tcp://127.0.0.1:PORT is needed"),
    ("ipc:///no/such/folder/socket", "its folder does not exist"),
    (f"ipc://{__file__}", "there is a file of this name already"),
)


def test_addresses_of_this_machine_alone():
    for address in ("tcp://127.0.0.1:5555", "tcp://localhost:*", "tcp://[::1]:5555", "ipc:///tmp/faultsim"):
        check_address(address)
    check_address("tcp://0.0.0.0:5555", any_host=True)


def test_a_command_that_cannot_serve(capsys, swf):
    near = ("serve", swf, "--machine", "cluster:16", "--listen")
    assert "others could connect" in refused(capsys, *near, "tcp://0.0.0.0:5555")
    assert "tcp://127.0.0.1:PORT is needed" in refused(capsys, *near, "tcp://127.0.0.1:99999")
    assert "at least 1" in refused(capsys, *near, "tcp://127.0.0.1:*", "--head", "0")


WITHOUT = """
import sys
sys.modules["zmq"] = None
from faultsim.cli import main
sys.exit(main(["serve", "--machine", "cluster:128", "--listen", "tcp://127.0.0.1:*"]))
"""


def test_the_extra_is_named():
    done = python("-c", WITHOUT)
    assert (done.returncode, done.stderr) == (
        2,
        'faultsim: error: faultsim serve needs zmq: pip install "faultsim[serve]"\n',
    )


def test_refused_acts_name_jobs_by_their_ids():
    log = fs.Workload(submit=[5, 6], runtime=[10, 10], size=[2, 2], id=[101, 102])
    server = Server(fs.Simulation(log, fs.Cluster(4), scheduler=fs.External()), decides=True)
    server.answer(b'{"request": "ADVANCE"}')
    for request, words in (
        (b'{"request": "START", "id": 102}', "START: job 102 is not waiting: it has not arrived yet"),
        (b'{"request": "REQUEUE", "id": 101}', "REQUEUE: job 101 cannot be requeued"),
        (b'{"request": "START", "id": 1}', "START: there is no job 1"),
    ):
        assert server.answer(request)["error"].startswith(words)


def test_a_client_decides_beside_a_reservation():
    log = fs.Workload(submit=[5, 5], runtime=[10, 10], size=[2, 2], id=[101, 102])
    night = fs.Reservation([0, 1], 12, 40, name="night")
    server = Server(fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(), reservations=night), decides=True)
    server.closed = True
    said = server.answer(b'{"request": "ADVANCE"}')
    assert [(job["fits"], job["closed"]) for job in said["queue"]] == [(True, [0, 1]), (True, [0, 1])]
    refused = server.answer(b'{"request": "START", "id": 101, "nodes": [1, 2]}')["error"]
    why = "it would end at 15 s and reach into reservation 'night' of 12 s to 40 s"
    assert refused == f"START: job 101 cannot have node 1: {why}"
    assert server.answer(b'{"request": "START", "id": 101}') == {"ok": True}
    refused = server.answer(b'{"request": "START", "id": 102}')["error"]
    needs = "it needs 2 nodes and 0 of those that are free are open to it"
    assert refused == f"START: job 102 cannot start: {needs}; on reserved nodes {why}"


@pytest.mark.parametrize("decides", [False, True])
def test_a_client_withdraws_holds_and_releases(decides):
    log = fs.Workload(submit=[0, 1, 2, 2], runtime=[10, 10, 10, 10], size=[2, 2, 2, 2], id=[5, 6, 7, 8])
    policy = {"scheduler": fs.External()} if decides else {}
    server = Server(fs.Simulation(log, fs.Cluster(2), **policy), decides=decides)

    def said(request, **given):
        return server.answer(json.dumps({"request": request, **given}).encode())

    def go_on(t):
        while decides and (found := said("ADVANCE", t=t))["kind"] == "schedule":
            for job in found["queue"][: found["free"] // 2]:
                said("START", id=job["id"])
        return None if decides else said("GET", t=t)

    go_on(5)
    assert said("HOLD", id=6) == said("WITHDRAW", id=7) == {"ok": True}
    assert "is on hold" in said("HOLD", id=6)["error"]
    assert "is not on hold" in said("RELEASE", id=8)["error"]
    assert said("HOLD", id=9) == {"error": "HOLD: there is no job 9"}
    assert said("HOLD") == {"error": 'HOLD needs "id"'}
    go_on(15)
    assert said("RELEASE", id=6) == {"ok": True}
    go_on(60)
    jobs = server.sim.result().jobs
    assert jobs["state"].tolist() == ["ended", "ended", "withdrawn", "ended"]
    assert jobs["start"][[0, 1, 3]].tolist() == [0, 20, 10]


def test_an_id_that_occurs_twice_names_no_job():
    server = Server(fs.Simulation(fs.Workload([0, 0], [10, 10], [2, 2], id=[3, 3]), fs.Cluster(2)))
    server.answer(b'{"request": "GET", "t": 1}')
    assert "2 jobs have the id 3" in server.answer(b'{"request": "HOLD", "id": 3}')["error"]


def test_a_client_drains_nodes():
    log = fs.Workload(submit=[0, 1], runtime=[10, 10], size=[2, 4])
    server = Server(fs.Simulation(log, fs.Cluster(4), record=True))

    def said(request, **given):
        return server.answer(json.dumps({"request": request, **given}).encode())

    said("GET", t=5)
    assert said("DRAIN", node=3) == {"ok": True}
    assert said("DRAIN", node=3) == {"error": "DRAIN: node 3 is drained already"}
    assert said("DRAIN", node="a") == {"error": 'DRAIN: "node" must be a whole number'}
    assert said("RESUME") == {"error": 'RESUME needs "node"'}
    assert said("GET", t=60) == {"t": 60.0, "running_ids": []}
    assert said("RESUME", node=3) == {"ok": True}
    assert said("GET", t=61) == {"t": 61.0, "running_ids": [2]}


def test_a_client_changes_jobs():
    log = fs.Workload(submit=[0, 1], runtime=[10, 10], size=[2, 4])
    server = Server(fs.Simulation(log, fs.Cluster(4)))

    def said(**given):
        return server.answer(json.dumps({"request": "CHANGE", "id": 2, **given}).encode())

    server.answer(b'{"request": "GET", "t": 5}')
    assert said(size=1.5) == {"error": 'CHANGE: "size" must be a whole number'}
    assert said(estimate="1h") == {"error": 'CHANGE: "estimate" must be a finite number'}
    assert said() == {"error": "CHANGE: change: give estimate=, size=, priority= or begin=, what is to change"}
    assert said(size=2, estimate=60) == {"ok": True}
    assert server.answer(b'{"request": "GET", "t": 6}') == {"t": 6.0, "running_ids": [1, 2]}


def live_server(**options):
    log = fs.Workload(submit=[0], runtime=[10], size=[2])
    sim = fs.Simulation(log, fs.Cluster(4), live=100, **options)
    server = Server(sim, live=True, decides="scheduler" in options)

    def said(request, **given):
        return server.answer(json.dumps({"request": request, **given}).encode())

    return server, said


def test_a_client_says_what_happens():
    server, said = live_server()
    assert said("SUBMIT", jobs=[{"submit": 8, "size": 2}, {"submit": 4, "size": 1, "runtime": 20}])["error"]
    assert said("SUBMIT", jobs=[{"submit": 8, "size": 2, "estimate": 50}, {"submit": 4, "size": 1, "runtime": 20}]) == {
        "ids": [3, 2]
    }
    assert said("GET", t=9) == {"t": 9.0, "running_ids": [1, 2]}  # 2 nodes and 1 of 4
    assert said("EXTEND", id=2, seconds=5) == {"ok": True}
    assert said("GET", t=11) == {"t": 11.0, "running_ids": [2, 3]}
    assert said("FINISH", id=3) == {"ok": True}
    assert said("FAIL", node=3, downtime=60) == said("DOWN", node=2) == said("UP", node=2) == {"ok": True}
    assert said("GET", t=100)["running_ids"] == []
    jobs = server.sim.result(partial=True).jobs
    assert jobs["finish"][np.argsort(jobs["id"])].tolist() == [10, 36, 11]  # job 2 begins again at 11, for 25 s


def test_a_client_kills_and_foresees():
    server, said = live_server(predictor=fs.Blind(), placement=fs.SafestFirst())
    assert said("FORESEE", node=[0, 1], time=[5, 6]) == {"ok": True}
    said("GET", t=1)
    assert said("KILL", id=1) == {"ok": True}
    said("GET", t=20)
    assert server.sim.result(partial=True).jobs["state"].tolist() == ["killed"]
    assert said("FORESEE", node=[0], time=["x"])["error"].startswith('FORESEE: "time" must be numbers')


def test_changes_since_the_last_decision():
    _, said = live_server(scheduler=fs.External())
    assert said("ADVANCE", t=5)["changes"] == [{"kind": "submitted", "id": 1, "time": 0.0, "nodes": []}]
    said("START", id=1, nodes=[1, 2])
    said("SUBMIT", jobs=[{"submit": 20, "size": 1, "runtime": 1}])
    assert said("ADVANCE", t=30)["changes"] == [
        {"kind": "started", "id": 1, "time": 0.0, "nodes": [1, 2]},
        {"kind": "ended", "id": 1, "time": 10.0, "nodes": []},
    ]
    found = said("ADVANCE", t=30)
    assert (found["kind"], found["now"]) == ("schedule", 20.0)
    assert found["changes"] == [{"kind": "submitted", "id": 2, "time": 20.0, "nodes": []}]


def test_snapshots_come_back():
    _, said = live_server()
    said("GET", t=5)
    assert said("SNAPSHOT") == {"snapshot": 1}
    said("SUBMIT", jobs=[{"submit": 6, "size": 4, "runtime": 9, "id": 77}])
    assert said("GET", t=12)["running_ids"] == [77]
    for _ in range(2):
        assert said("RESTORE", snapshot=1) == {"ok": True}
        assert said("GET", t=12)["running_ids"] == []
    assert said("RESTORE", snapshot=2) == {"error": "RESTORE: there is no snapshot 2"}
    for _ in range(99):
        said("SNAPSHOT")
    assert said("SNAPSHOT") == {"error": "SNAPSHOT: the server keeps 100 already"}


def test_each_snapshot_names_its_own_jobs():
    _, said = live_server()
    said("SNAPSHOT")
    assert said("SUBMIT", jobs=[{"submit": 6, "size": 4, "runtime": 9, "id": 77}]) == {"ids": [77]}
    assert said("SUBMIT", jobs=[{"submit": 7, "size": 1, "estimate": 9}]) == {"ids": [78]}
    assert said("SNAPSHOT") == {"snapshot": 2}
    said("RESTORE", snapshot=1)
    assert said("HOLD", id=77) == {"error": "HOLD: there is no job 77"}
    two = [{"submit": 6, "size": 1, "runtime": 9}, {"submit": 5, "size": 2, "runtime": 9}]
    assert said("SUBMIT", jobs=two) == {"ids": [3, 2]}
    assert said("GET", t=6) == {"t": 6.0, "running_ids": [1, 2]}
    assert "another job has the id 3" in said("SUBMIT", jobs=[{"submit": 7, "size": 1, "runtime": 1, "id": 3}])["error"]
    said("RESTORE", snapshot=2)
    said("GET", t=7)
    assert said("HOLD", id=77) == {"ok": True}
    assert said("HOLD", id=2) == {"error": "HOLD: there is no job 2"}
    assert said("SUBMIT", jobs=[{"submit": 8, "size": 1, "runtime": 1}]) == {"ids": [79]}
    assert said("GET", t=30)["running_ids"] == [78]
    assert [job["id"] for job in said("ROLLOUT", scheduler="easy", horizon=5)["jobs"]] == [78]


@pytest.mark.parametrize(
    ("request_", "given", "error"),
    [
        ("SUBMIT", {"jobs": []}, '"jobs" must be a list of objects'),
        ("SUBMIT", {"jobs": [{"submit": 1}]}, 'a job needs "size"'),
        ("SUBMIT", {"jobs": [{"submit": 1, "size": 1, "nodes": 2}]}, 'a job has no "nodes"'),
        ("SUBMIT", {"jobs": [{"submit": "1", "size": 1}]}, '"submit" of a job must be a finite number'),
        ("SUBMIT", {"jobs": [{"submit": 1, "size": 1.5}]}, '"size" of a job must be a whole number'),
        ("SUBMIT", {"jobs": [{"submit": 1, "size": 9, "runtime": 1}]}, "9"),
        ("SUBMIT", {"jobs": [{"submit": 1, "size": 1, "runtime": 1, "id": 1}]}, "1"),
        ("SUBMIT", {"jobs": [{"submit": 1, "size": 1, "runtime": 1, "id": 5}, {"submit": 1, "size": 1, "runtime": 1}]},
         'all jobs of a request have "id", or none'),
        ("FINISH", {"id": 9}, "there is no job 9"),
        ("EXTEND", {"id": 1}, 'EXTEND needs "seconds"'),
        ("FAIL", {"node": 0, "downtime": "1h"}, '"downtime" must be a finite number'),
        ("UP", {"node": 0}, "node 0"),
        ("FORESEE", {"node": [0], "p": [1]}, '"p" must be a number'),
        ("RESTORE", {"snapshot": "a"}, '"snapshot" must be a whole number'),
    ],
)  # fmt: skip
def test_what_a_client_says_wrongly_changes_nothing(request_, given, error):
    server, said = live_server()
    said("GET", t=1)
    assert error in said(request_, **given)["error"]
    assert server.sim.log.id.tolist() == [1]


def test_only_live_servers_are_told():
    server = Server(fs.Simulation(fs.Workload([0], [10], [1]), fs.Cluster(2)))
    said = server.answer(b'{"request": "FINISH", "id": 1}')
    assert said == {"error": "FINISH: all jobs and failures of this server are known: begin it with --live N"}


def test_errors_of_all_verbs_name_ids():
    """Not the rows, which are other numbers."""
    log = fs.Workload([0, 0], [9, 9], [2, 2], estimate=[9, 9], id=[100, 200])
    server = Server(fs.Simulation(log, fs.Cluster(2), live=2), live=True)
    server.answer(b'{"request": "ADVANCE", "t": 0}')
    for verb, words in (("HOLD", {}), ("RELEASE", {}), ("EXTEND", {"seconds": 5})):
        found = server.answer(json.dumps({"request": verb, "id": 100, **words}).encode())
        assert "ok" in found or "job 100 " in found["error"], found
    found = server.answer(b'{"request": "FINISH", "id": 200}')
    assert "job 200 cannot end" in found["error"]
    found = server.answer(b'{"request": "RELEASE", "id": 200}')
    assert "job 200 cannot be released" in found["error"]


def test_a_simulation_that_drops_jobs_is_refused():
    """Rows of decisions would be others than those of its log."""
    log = fs.Workload([0, 0, 0], [9, 9, 9], [9, 1, 2], id=[7, 8, 9])
    sim = fs.Simulation(log, fs.Cluster(2), scheduler=fs.External(), oversized="drop")
    assert sim.drops_jobs
    assert sim.advance().queue.tolist() == [1, 2]
    with pytest.raises(fs.OptionError, match="leave jobs out beforehand"):
        Server(sim, decides=True)
    assert not fs.Simulation(log, fs.Cluster(9)).drops_jobs
