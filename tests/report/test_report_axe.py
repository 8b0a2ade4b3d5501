"""Reports have no serious fault of accessibility by axe-core, where AXE names its file (docs/check_axe.py)."""

import os
import sys
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.report import report_run
from helpers.browser import MISSING

AXE = os.environ.get("AXE", "")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.skipif(not AXE, reason="AXE names no axe.min.js: npm install axe-core")
def test_a_report_has_no_serious_fault(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    import check_axe

    run = fs.simulate(fs.synthetic.sdsc_like(60, rng=3), "torus:4x4x8", record=True)
    report_run(run, against={"FCFS": fs.rerun(run, scheduler=fs.Fcfs())}).write(tmp_path / "run.html")
    assert check_axe.main(Path(AXE), [tmp_path / "run.html"]) == 0, capsys.readouterr().out
    bad = tmp_path / "bad.html"
    bad.write_text("<!doctype html><title>x</title><p style='color:#bbb'>faint</p><button></button>")
    assert check_axe.main(Path(AXE), [bad]) == 1
