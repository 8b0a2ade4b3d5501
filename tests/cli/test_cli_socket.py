"""`faultsim serve` over a Unix socket, the schema of its messages, and the clients of the guide."""

import contextlib
import json
import shlex
import socket
import subprocess
import sysconfig
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.cli.serve import _JOB, _REQUESTS, LARGEST_MESSAGE, Server
from helpers import command
from helpers.messages import DEFINED, check_answer
from helpers.refusals import refusals
from helpers.scripts import begun, python

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "socket"
needs_unix = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets")
END = b'{"request": "END"}\n'


def test_the_schema_has_all_requests():
    for name, (needed, allowed) in _REQUESTS.items():
        said = DEFINED[f"request {name}"]
        assert said["required"] == ["request", *needed]
        assert list(said["properties"]) == ["request", *needed, *allowed]
        assert f"answer {name}" in DEFINED
    assert sum(name.startswith("request ") for name in DEFINED) == len(_REQUESTS)
    job = DEFINED["new job"]
    assert (job["required"], sorted(job["properties"])) == ([*_JOB[0]], sorted([*_JOB[0], *_JOB[1]]))


def live_server(**options):
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[4, 2], estimate=[20, 9])
    server = Server(fs.Simulation(log, fs.Cluster(4), live=9, **options), live=True, decides="scheduler" in options)

    def said(request, **given):
        message = json.dumps({"request": request, **given}).encode()
        answer = server.answer(message)
        check_answer(message, answer)
        return answer

    return server, said


def test_what_would_happen():
    server, said = live_server()
    said("ADVANCE", t=2)
    said("SUBMIT", jobs=[{"submit": 3, "size": 2, "estimate": 7}, {"submit": 50, "size": 1, "runtime": 1}])
    rows = {row["id"]: row for row in said("ROLLOUT", scheduler="easy:order=shortest")["jobs"]}
    assert {number: (row["start"], row["finish"]) for number, row in rows.items()} == {
        1: (0, 10), 2: (10, 15), 3: (10, 17), 4: (50, 51)
    }  # fmt: skip
    found = said("ROLLOUT", scheduler="fcfs", horizon=10)
    assert found == said("ROLLOUT", scheduler="fcfs", t=12)
    assert found["now"] == 12
    assert found["jobs"][1:] == [
        {"id": 2, "state": "running", "start": 10, "finish": None},
        {"id": 3, "state": "running", "start": 10, "finish": None},
    ]
    assert server.sim.now == 2


def test_jobs_that_come_ahead_of_others_keep_their_ids():
    _, said = live_server()
    for submit, number in ((30, 3), (20, 4)):
        assert said("SUBMIT", jobs=[{"submit": submit, "size": 4, "estimate": 5}]) == {"ids": [number]}
    assert said("SNAPSHOT") == {"snapshot": 1}
    for _ in range(2):
        assert said("ADVANCE", t=22)["running"][0]["id"] == 4
        assert said("FINISH", id=4) == {"ok": True}
        assert [row["id"] for row in said("ADVANCE", t=40)["changes"]] == [4, 3, 3]
        assert said("RESTORE", snapshot=1) == {"ok": True}


test_rollouts_that_cannot_be = refusals(
    fs.OptionError,
    lambda given, live: _raised(given, live),
    ({"scheduler": "eazy"}, True, "did you mean"),
    ({"scheduler": 3}, True, '"scheduler" must be text'),
    ({"scheduler": "external"}, True, "unknown scheduler"),
    ({"scheduler": "easy", "t": -1}, True, "until must be at least"),
    ({"scheduler": "easy", "horizon": "1d"}, True, '"horizon" must be a finite number'),
    ({"scheduler": "easy", "horizon": 1, "t": 9}, True, "not both"),
    ({}, True, 'needs "scheduler"'),
    ({"scheduler": "easy"}, False, "from scheduler=External"),
)


def _raised(given, live):
    _, said = live_server()
    if not live:
        server = Server(fs.Simulation(fs.Workload([0], [1], [1]), fs.Cluster(1)))
        said = lambda request, **given: server.answer(json.dumps({"request": request, **given}).encode())  # noqa: E731
    raise fs.OptionError(said("ROLLOUT", **given)["error"])


@pytest.fixture
def address(tmp_path):
    """The socket of a live server of 5 jobs on 16 nodes, in a process of its own, which has to end by END."""
    log, path = tmp_path / "small.swf", tmp_path / "socket"
    log.write_text(command.swf(5, 60))
    where = ["--machine", "cluster:16", "--live", "99", "--listen", f"unix://{path}"]
    server = begun("-m", "faultsim", "serve", log, *where)
    try:
        assert server.stdout.readline() == f"listening unix://{path}\n"
        yield str(path)
        assert server.wait(timeout=60) == 0
        assert server.stderr.read() == ""
        assert not path.exists()
    finally:
        server.kill()
        server.communicate()


@contextlib.contextmanager
def connected(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(60)
        client.connect(address)
        with contextlib.suppress(BrokenPipeError), client.makefile("rwb") as lines:
            yield client, lines


def asked(lines, message):
    lines.write(message + b"\n")
    lines.flush()
    return json.loads(lines.readline())


@needs_unix
def test_clients_that_go_and_messages_that_are_none_leave_the_server_running(address):
    for message in (b"", b"{", b"[1]", b"\xff\x00", b'{"request": 1}', b"[" * 90_000, b'{"request": "GET", "t": NaN}'):
        with connected(address) as (_, lines):
            assert "error" in asked(lines, message)
            assert asked(lines, b'{"request": "INIT"}') == {"init_time": 10.0}
    with connected(address) as (client, _):
        client.sendall(b'{"request": "GET", "t')  # goes in the middle of a line
    with connected(address) as (client, _):
        client.sendall(b'{"request": "INIT"}\n' * 1000)  # goes without reading
    with connected(address) as (client, lines):
        client.sendall(b" " * (LARGEST_MESSAGE + 2))
        assert "at most 1,048,576 are read" in json.loads(lines.readline())["error"]
    with connected(address) as (_, lines):
        assert asked(lines, b'{"request": "ADVANCE", "t": 20}')["now"] == 20
        assert asked(lines, END.strip()) == {"ok": True}


@needs_unix
def test_the_client_in_python(address):
    said = python(GUIDE / "client.py", address, check=True).stdout.splitlines()
    assert said[-1].split()[1] in ("ended", "running", "waiting")
    assert any(line.split()[1:2] == ["down"] for line in said)


@needs_unix
def test_the_client_in_c(address, tmp_path):
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    program = tmp_path / "client"
    try:
        subprocess.run([*compiler, "-Wall", "-Werror", GUIDE / "client.c", "-o", program], check=True)
    except FileNotFoundError:
        with connected(address) as (_, lines):
            asked(lines, END.strip())
        pytest.skip(f"no C compiler {compiler[0]}")
    requests = b'{"request": "INIT"}\n{"request": "ADVANCE", "t": 15}\n{"request": "FINISH", "id": 99}\n' + END
    done = subprocess.run([program, address], input=requests, capture_output=True, check=True, timeout=60)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answers[0], answers[2], answers[3]] == [
        {"init_time": 10.0}, {"error": "FINISH: there is no job 99"}, {"ok": True}
    ]  # fmt: skip
    for request, answer in zip(requests.splitlines(), answers, strict=True):
        check_answer(request, answer)
