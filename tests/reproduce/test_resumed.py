"""A reproduction from a store: stopped or killed in the middle and resumed, it gives the same tables."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.errors import StoreError
from faultsim.reproduce.studies import STUDIES, papers
from faultsim.sweep.store import Store
from helpers.tiny_studies import TINY


def tables(folder):
    """What was written, but for folders, seconds, and what is measured on the machine."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json":
            document = json.loads(path.read_text())
            for claim in document["claims"]:
                if claim["id"] in ("K3", "O15"):
                    claim["ours"] = ""
            found[path.relative_to(folder)] = document | {"out": "", "seconds": 0.0}
        elif path.suffix in (".csv", ".png"):
            found[path.relative_to(folder)] = path.read_bytes()
    return found


def sweeps(store):
    with Store(store, write=False) as kept:
        return {row["name"]: row for row in kept.sweeps()}


def begun(store):
    """As `sweeps`, of a store that may not be there yet, or be in the making."""
    try:
        return sweeps(store)
    except StoreError:
        return {}


@pytest.mark.parametrize("name", ["yu2010", "rlscheduler", "bluegene"])
def test_stopped_on_threads_and_resumed_on_processes(name, tiny_study, tmp_path, capsys):
    study, tiny, store = STUDIES[name], TINY[name], tmp_path / "runs.db"
    whole = tiny_study(name)
    page = whole.page if whole.page.parent != whole.out else None
    options = {"quick": True, "what": tiny.what, "workers": 2, "store": store, **tiny.options}

    def stopping(done, total, seconds):
        if done > total / 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"runs\.db"):
        study.reproduce(out=tmp_path / "stopped", progress=stopping, command="faultsim again", **options)
    part = sweeps(store)[name]
    assert 0 < part["done"] < part["tasks"] == whole.done.runs
    seen = []
    out = tmp_path / "out"
    study.reproduce(
        out=out,
        page=None if page is None else tmp_path / "page.md",
        executor="processes",
        progress=lambda done, total, seconds: seen.append(done),
        **options,
    )
    assert seen[-1] == whole.done.runs
    assert tables(out) == tables(whole.out)
    assert main(["status", str(store), "--sweep", name]) == 0
    said = capsys.readouterr().out
    assert re.search(rf"{name} .* {part['tasks']:,} +{part['tasks']:,}", said)
    assert fs.load_sweep(store, name).complete


ALL = [sys.executable, "-m", "faultsim", "reproduce", "all", "--quick", "--quiet"]


@pytest.fixture(scope="module")
def of_all_papers(tmp_path_factory):
    """What one run that nobody disturbs writes."""
    out = tmp_path_factory.mktemp("all") / "whole"
    plain = {name: value for name, value in os.environ.items() if name != "FAULTSIM_DATA"}
    subprocess.run([*ALL, "--out", out], check=True, timeout=1200, env=plain)
    return tables(out)


@pytest.mark.slow
@pytest.mark.timeout(4000)  # minutes each, and more where others work; what hangs ends sooner, by the limits below
@pytest.mark.parametrize("where", [[], ["--processes"]])
def test_all_papers_killed_and_resumed(where, of_all_papers, tmp_path, monkeypatch):
    monkeypatch.delenv("FAULTSIM_DATA", raising=False)
    store = tmp_path / "runs.db"
    command = [*ALL, "--store", store, "--workers", "2", *where]
    one = subprocess.Popen([*command, "--out", tmp_path / "killed"])
    try:
        deadline = time.monotonic() + 1200
        while begun(store).get("zhang2004", {"done": 0})["done"] <= 100:
            assert one.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
    finally:
        one.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        one.wait()
    part = sweeps(store)["zhang2004"]
    assert 100 < part["done"] < part["tasks"]
    subprocess.run([*command, "--out", tmp_path / "resumed"], check=True, timeout=1200)
    assert tables(tmp_path / "resumed") == of_all_papers
    made = sweeps(store)
    assert list(made) == list(papers())
    assert all(row["done"] == row["tasks"] and not row["failed"] for row in made.values())
    with Store(store, write=False) as kept:
        assert kept.count("run") <= sum(row["tasks"] for row in made.values())


@pytest.mark.slow
def test_a_study_on_dask_gives_the_same_tables(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.delenv("FAULTSIM_DATA", raising=False)
    command = [sys.executable, "-m", "faultsim", "reproduce", "yu2010", "--quick", "--quiet"]
    subprocess.run([*command, "--out", tmp_path / "threads"], check=True, timeout=600)
    command += ["--dask", "local", "--workers", "2", "--store", tmp_path / "runs.db"]
    subprocess.run([*command, "--out", tmp_path / "dask"], check=True, timeout=600)
    assert tables(tmp_path / "dask") == tables(tmp_path / "threads")
    made = sweeps(tmp_path / "runs.db")["yu2010"]
    assert made["done"] == made["tasks"] > 0
