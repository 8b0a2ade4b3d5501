"""What holds for every study: its claims, what a run writes, and its command."""

import csv
import json
import re
from dataclasses import replace

import pytest

from faultsim.cli import main
from faultsim.reproduce.claims import Claim, Finding, Parts
from faultsim.reproduce.studies import STUDIES, papers
from helpers.tiny_studies import TINY

pytestmark = pytest.mark.parametrize("name", STUDIES)


def ids(name):
    letter, count = TINY[name].claims
    return [f"{letter}{number}" for number in range(1, count + 1)]


# -- the table


def test_the_claims_have_all_that_a_row_needs(name):
    study = STUDIES[name]
    assert sorted((claim.id for claim in study.claims), key=lambda label: int(label[1:])) == ids(name)
    for claim in study.claims:
        assert all((claim.text, claim.where, claim.paper, claim.rule, claim.settings)), claim.id
        assert claim.kind in ("number", "order", "unit")


def test_a_study_is_found_by_its_name(name):
    from importlib import import_module

    study = STUDIES[name]
    module = import_module(f"faultsim.reproduce.{name}")
    assert study.name == name
    assert study is module.STUDY
    assert module.reproduce == study.reproduce
    assert (name in papers()) is study.paper
    assert study.files


def test_replicates_have_to_be_some(name):
    if "--replicates" not in STUDIES[name].options:
        return
    assert STUDIES[name].plan(True, 3).replicates == 3
    assert STUDIES[name].plan(False, 4).replicates == 4


# -- what a run gives and writes


def test_every_claim_has_a_verdict(name, tiny_study):
    rows = tiny_study(name).done.rows
    assert [row.claim.id for row in rows] == [claim.id for claim in STUDIES[name].claims]
    assert all(row.finding.ours for row in rows)
    assert not any(re.search(r"\bnan\b", row.finding.ours + row.finding.note) for row in rows)


def test_claims_are_written(name, tiny_study):
    run = tiny_study(name)
    letter, count = TINY[name].claims
    written = json.loads((run.out / "claims.json").read_text())
    assert len(written["claims"]) == count
    assert not any(log["real"] for log in written["logs"])
    assert set(run.done.files) == {*run.out.iterdir(), run.page}
    page = run.page.read_text()
    assert len(re.findall(rf'^- <a id="{letter}\d+"></a>', page, flags=re.M)) == count
    assert f"{count} claims" in run.done.text()
    short = run.done.summary().splitlines()
    assert len(short) < 20
    assert short[short.index("what next") + 1 :][0].endswith(".md")
    assert [line for line in short if f"{count} claims" in line]
    assert all(words in page for words in TINY[name].says)


def test_every_figure_is_drawn_with_its_data(name, tiny_study):
    from matplotlib.image import imread

    run = tiny_study(name)
    pictures = {path.stem for path in run.out.glob("*.png")}
    assert pictures == {*TINY[name].figures, *TINY[name].shared} == set(run.done.figures)
    for picture in pictures:
        pixels = imread(run.out / f"{picture}.png")
        assert pixels.shape[0] > 400
        assert pixels[..., :3].std() > 0.02, f"{picture} is blank"
    tables = {path.stem for path in run.out.glob("*.csv")}
    assert set(TINY[name].figures) <= tables
    for table in tables:
        with (run.out / f"{table}.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) >= 4


def test_threads_change_nothing(name, tiny_study, tmp_path):
    study, tiny = replace(STUDIES[name], figures=lambda evidence: ()), TINY[name]
    done = study.reproduce(quick=True, out=tmp_path, what=tiny.what, workers=1, **tiny.options)
    assert done.runs == tiny_study(name).done.runs
    for table in study.tables:
        texts = [(folder / table).read_text().splitlines() for folder in (tmp_path, tiny_study(name).out)]
        assert sorted(texts[0]) == sorted(texts[1])


# -- the command


@pytest.fixture
def given(name, tiny_study, monkeypatch):
    """The study gives the evidence of the tiny run whatever it is asked, and this is what it was asked."""
    asked, evidence = {}, tiny_study(name).done.evidence

    class Runs(list):
        def run(self, store, **options):
            asked.update(options, store=store)

    def prepare(what, **options):
        asked.update(options)
        return Runs(), lambda made: evidence

    study = replace(STUDIES[name], prepare=prepare, figures=lambda evidence: (), tables={})
    monkeypatch.setitem(STUDIES, name, study)
    monkeypatch.delenv("FAULTSIM_DATA", raising=False)
    return asked


def test_command_prints_a_summary_or_json(name, given, tiny_study, capsys, tmp_path):
    argv = ["reproduce", name, "--quick", "--out", str(tmp_path / "out"), "--seed", "3", "--workers", "1"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert not any(re.search(rf"^{label} ", out, flags=re.M) for label in ids(name))
    assert all(re.search(rf"^{label} ", tiny_study(name).done.text(), flags=re.M) for label in ids(name))
    assert out.splitlines()[-1].startswith("  a run of your own")
    assert all(line in out for line in tiny_study(name).done.logs())
    assert {key: given[key] for key in ("data", "quick", "seed", "workers", "store", "executor")} == {
        "data": None, "quick": True, "seed": 3, "workers": 1, "store": None, "executor": None,
    }  # fmt: skip
    assert main([*argv, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["claims"] == json.loads((tiny_study(name).out / "claims.json").read_text())["claims"]


def test_environment_names_the_folder_of_data(name, given, capsys, tmp_path, monkeypatch):
    data = tmp_path / "data"
    (data / "swf").mkdir(parents=True)
    monkeypatch.setenv("FAULTSIM_DATA", str(data))
    argv = ["reproduce", name, "--quick", "--out", str(tmp_path / "out")]
    assert main(argv) == 0
    assert given["data"] is None, "it holds none of the logs"
    (data / "swf" / f"{STUDIES[name].files[-1]}.gz").touch()
    assert main(argv) == 0
    assert given["data"] == str(data)
    assert main([*argv, "--data", "other"]) == 0
    assert given["data"] == "other"
    capsys.readouterr()


@pytest.mark.parametrize(
    ("found", "status"), [(Parts(1, 0, 1), 0), (Parts(1, 0, 2), 0), (Parts(0, 1, 1), 0), (Parts(0, 0, 1), 1)]
)
def test_strict_fails_only_when_a_claim_does(name, given, capsys, tmp_path, monkeypatch, found, status):
    last = STUDIES[name].claims[-1].id
    claim = Claim(last, "a", "b", "order", "c", "d", "e", lambda evidence: Finding("x", found))
    monkeypatch.setitem(STUDIES, name, replace(STUDIES[name], claims=[claim]))
    argv = ["reproduce", name, "--quick", "--out", str(tmp_path)]
    assert main([*argv, "--strict"]) == status
    assert main(argv) == 0
    capsys.readouterr()


def test_command_refuses_in_one_line(name, capsys, tmp_path):
    (tmp_path / "file").write_text("x")
    refused = {
        ("--data", str(tmp_path / "no")): "no such folder",
        ("--data", str(tmp_path)): STUDIES[name].files[0],
        ("--workers", "0"): "--workers",
        ("--out", str(tmp_path / "file")): "--out",
        **TINY[name].refused,
    }
    if "--replicates" in STUDIES[name].options:
        refused["--replicates", "0"] = "replicates"
    for argv, says in refused.items():
        assert main(["reproduce", name, "--quick", "--out", str(tmp_path / "out"), *argv]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert says in err
