"""``faultsim plot``: figures of saved results and of sweeps."""

import os

import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.cli.plot import ONE, SEVERAL, SOME, SWEEPS
from helpers.results import random_log


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    there = tmp_path_factory.mktemp("plots")
    run = fs.Run(random_log(60, 16), fs.Torus(4, 4, 2), record=True)
    run.simulate().save(there / "easy.npz")
    run.with_options(scheduler=fs.Fcfs()).simulate().save(there / "fcfs.npz")
    grid = {"load": [0.6, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()], "start_delay": [0.0, 60.0]}
    base = {"log": lambda rng: fs.synthetic.nasa_like(50, rng=rng), "machine": fs.Cluster(128)}
    fs.Sweep(base, grid, replicates=2, name="demo").run(there / "demo.db")
    return there


OPTIONS = {
    "gantt": ["--by", "size", "--rows", "nodes"],
    "occupancy": ["--at", "2m", "--view", "space"],
    "kiviat": ["--baseline", "FCFS"],
    "sweep": ["--x", "load", "--metric", "utilization"],
    "panels": ["--x", "load", "--panels", "scheduler"],
    "heatmap": ["--x", "load", "--y", "scheduler", "--select", "start_delay=0"],
    "differences": ["--against", "scheduler=fcfs"],
    "saturation": ["--select", "scheduler=easy"],
}


@pytest.mark.parametrize("kind", [*ONE, *SOME, *SEVERAL, *SWEEPS])
def test_each_kind_is_drawn(kind, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    files = ["demo.db"] if kind in SWEEPS else ["easy.npz"] if kind in ONE else ["EASY=easy.npz", "FCFS=fcfs.npz"]
    argv = ["plot", kind, *files, *OPTIONS.get(kind, []), "--theme", "dark", "--out", f"{kind}.png"]
    assert main([*argv, "--width", "7"]) == 0
    assert capsys.readouterr().out == f"written  {kind}.png\n"
    assert os.path.getsize(f"{kind}.png") > 2000


def test_a_part_of_a_sweep_has_several_conditions(folder, monkeypatch):
    monkeypatch.chdir(folder)
    part = ["--select", "start_delay=0", "--select", "scheduler=easy"]
    assert main(["plot", "saturation", "demo.db", *part, "-o", "part.svg", "-q"]) == 0


def test_size_and_theme_are_those_asked_for(folder, monkeypatch):
    from PIL import Image

    monkeypatch.chdir(folder)
    assert (
        main(["plot", "queue", "easy.npz", "--width", "5", "--height", "3", "--theme", "dark", "-o", "q.png", "-q"])
        == 0
    )
    with Image.open("q.png") as picture:
        assert picture.size == (750, 450)
        assert picture.convert("RGB").getpixel((2, 2)) == (22, 24, 28)


def test_a_dash_is_standard_output(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(["plot", "ledger", "easy.npz", "--out", "-"]) == 0
    assert capsys.readouterr().out.startswith("<?xml")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["gant", "easy.npz"], "gant"),
        (["gantt", "easy.npz", "fcfs.npz"], "gantt is drawn of one file; got 2"),
        (["kiviat", "easy.npz"], "give two or more files"),
        (["queue", "easy.npz", "--by", "user"], "--by is for gantt, not for queue"),
        (["sweep", "demo.db"], "sweep needs --x AXIS"),
        (["differences", "demo.db"], "differences needs --against AXIS=VALUE"),
        (["differences", "demo.db", "--against", "fcfs"], "write AXIS=VALUE"),
        (["queue", "easy.npz", "easy.npz"], "a second file named 'easy'"),
        (["queue", "easy.npz", "--width", "0.1"], "--width"),
        (["panels", "demo.db", "--x", "load", "--panels", "scheduler", "--height", "3"], "--height is not for panels"),
        (["queue", "none.npz"], "none.npz"),
    ],
)
def test_mistakes_are_one_line(argv, said, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    try:
        status = main(["plot", *argv, "--out", "wrong.png"])
    except SystemExit as stop:
        status = stop.code
    error = capsys.readouterr().err
    assert status == 2
    assert said in error
    assert error.count("\n") == 1
    assert not os.path.exists("wrong.png")


def test_the_picture_is_checked_before_the_work(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for path, said in (("q.pngx", "unknown kind of picture"), ("no/q.png", "its folder does not exist")):
        assert main(["plot", "queue", "none.npz", "--out", path]) == 2
        assert said in capsys.readouterr().err
