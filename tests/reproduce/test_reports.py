"""Reports of reproductions: of one, and of all papers."""

import errno
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from faultsim.cli import main
from faultsim.errors import OptionError
from faultsim.plot import plot_curves
from faultsim.reproduce import everything
from faultsim.reproduce.claims import Verdict
from faultsim.reproduce.history import BEFORE, DRAWN
from faultsim.reproduce.html import page_of, page_of_all
from faultsim.reproduce.studies import STUDIES, papers
from faultsim.reproduce.study import Study
from helpers.html_pages import checked
from helpers.reproduction_reports import BOTH, report
from helpers.scripts import script


def test_the_page_of_one_reproduction_has_all_of_it(tmp_path):
    done = report("one", tmp_path, *BOTH)
    text = page_of(done, command="faultsim reproduce one").html()
    page = checked(text)
    assert page.text["h1"] == done.title
    for verdict, kind in zip(BOTH, ("holds", "does-not-hold", "partly"), strict=True):
        assert f'<td class="{kind}">{verdict}</td>' in text
    for part in (
        "79 % (a note)",
        "rule 2",
        "Waits",
        "A remark.",
        "3 claims: 1 holds, 1 partly, 1 does not hold. 3 runs.",
        "1 of 2",
        "confirmed in part",
    ):
        assert part in text
    (picture,) = (found for tag, found in page.tags if tag == "img")
    assert picture["alt"].startswith("Figure 3. X1: claim 1")
    assert "X0" not in picture["alt"]
    assert "missing was not drawn" in text
    assert text == page_of(report("one", tmp_path, *BOTH, seconds=2.0), command="faultsim reproduce one").html()


def test_only_the_run_that_gave_the_verdicts_of_before_says_what_changed(tmp_path, monkeypatch):
    monkeypatch.setitem(BEFORE, "one", {"holds": "X0 X1"})
    done = replace(report("one", tmp_path, *BOTH), usual=True)
    assert done.changes() == [], "its log stands in for another"
    monkeypatch.setitem(DRAWN, "one", {"log"})
    assert [row[:3] for row in done.changes()] == [("X1", "holds", "does not hold, 0 of 2")]
    assert "## Verdicts that changed" in done.page()
    assert replace(done, usual=False).changes() == []


def test_the_page_of_all_counts_and_lists_what_is_open(tmp_path):
    done = [report("one", tmp_path / "one", *BOTH), report("two", tmp_path / "two", Verdict.HOLDS, quick=True)]
    text = page_of_all(done).html()
    checked(text)
    assert "4 claims of 2 papers: 2 holds, 1 partly, 1 does not hold" in text
    assert "A quick run" in text
    listed = text[text.index("Claims that do not hold, or partly, or are undecided</h2>") : text.index(">Claims</h3>")]
    assert re.findall(r"<td>(X\d)</td>", listed) == ["X1", "X2"]
    assert text.count("<img ") == 2


def test_the_markdown_page_is_made_from_what_was_written(tmp_path):
    report("krevat2002", tmp_path / "krevat2002", *BOTH)
    report("other", tmp_path / "other", Verdict.HOLDS)
    documents = everything.documents_in(tmp_path)
    assert list(documents) == ["krevat2002"]
    text = everything.page(documents, links={"krevat2002": "krevat2002.md"})
    assert "[krevat2002](krevat2002.md) | 3 | 1 | 1 | 1 | 0 | 0 | 3 |" in text
    assert text.count("**does not hold**") == 1
    rows = [line for line in text.splitlines() if line.startswith("| X")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 9 for row in rows)


def test_the_documentation_has_a_page_of_all_claims(tmp_path):
    docs = Path(__file__).resolve().parents[2] / "docs"
    text = "\n".join(script("generate", "docs").claims_page(docs / "reproductions"))
    documents = everything.documents_in(docs / "reproductions")
    assert list(documents) == list(papers())
    for name, document in documents.items():
        assert f"[{name}]({name}.md) | {len(document['claims'])} |" in text
        assert (docs / "reproductions" / f"{name}.md").is_file()


@pytest.fixture
def studies(monkeypatch):
    """Three small studies in place of the real ones; `calls` says what they were asked for."""
    calls = {}

    def study(name, *verdicts, paper=True):
        def reproduce(*, out, quick, **options):
            calls[name] = options | {"quick": quick}
            return report(name, Path(out), *verdicts, quick=quick)

        return SimpleNamespace(
            name=name,
            title=f"Paper {name}",
            paper=paper,
            description="d",
            quick="q",
            files=[f"{name}.swf"],
            options={},
            reproduce=reproduce,
        )

    for name in list(STUDIES):
        monkeypatch.delitem(STUDIES, name)
    for made in (
        study("krevat2002", Verdict.HOLDS),
        study("zhang2004", *BOTH),
        study("bluegene", Verdict.FAILS, paper=False),
    ):
        monkeypatch.setitem(STUDIES, made.name, made)
    monkeypatch.delenv("FAULTSIM_DATA", raising=False)
    return calls


def test_all_papers_with_one_report(studies, capsys, tmp_path):
    out = tmp_path / "all"
    assert main(["reproduce", "all", "--quick", "--out", str(out), "--seed", "4"]) == 0
    printed = capsys.readouterr().out
    assert list(studies) == ["krevat2002", "zhang2004"]  # by their years
    assert studies["krevat2002"] | {"progress": None} == {
        "quick": True, "seed": 4, "workers": None, "data": None, "progress": None, "store": None, "executor": None,
        "command": f"faultsim reproduce all --quick --out {out} --seed 4",
    }  # fmt: skip
    assert "4 claims of 2 papers" in printed
    assert "zhang2004: does not hold: X1" in printed
    text = (out / "report.html").read_text()
    checked(text)
    assert f"faultsim reproduce all --quick --out {out} --seed 4" in text
    assert "(krevat2002/CLAIMS.md)" in (out / "CLAIMS.md").read_text()
    assert (out / "zhang2004" / "claims.json").is_file()
    assert (
        main(["reproduce", "all", "--out", str(out), "--strict", "--json", "--report", str(tmp_path / "r.html")]) == 1
    )
    document = json.loads(capsys.readouterr().out)
    assert set(document["papers"]) == {"krevat2002", "zhang2004"}
    assert document["report"] == str(tmp_path / "r.html")
    assert (tmp_path / "r.html").is_file()


def test_data_goes_to_the_papers_whose_logs_are_there(studies, capsys, tmp_path, monkeypatch):
    (tmp_path / "zhang2004.swf").write_text("")
    assert main(["reproduce", "all", "--out", str(tmp_path / "o"), "--data", str(tmp_path)]) == 0
    assert (studies["krevat2002"]["data"], studies["zhang2004"]["data"]) == (None, str(tmp_path))
    (tmp_path / "none").mkdir()
    assert main(["reproduce", "all", "--out", str(tmp_path / "o"), "--data", str(tmp_path / "none")]) == 2
    assert "none of the papers' logs" in capsys.readouterr().err
    monkeypatch.setenv("FAULTSIM_DATA", str(tmp_path / "none"))
    assert main(["reproduce", "all", "--out", str(tmp_path / "o")]) == 0
    assert studies["zhang2004"]["data"] is None


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--workers", "0"], "--workers"),
        (["--store", ":memory:"], "--store"),
        (["--processes", "--dask", "local"], "not allowed with"),
        (["--report", "no/folder/x.html"], "its folder does not exist"),
        (["--papers", "x"], "unknown argument"),
    ],
)
def test_bad_use_is_refused_in_one_line_before_anything_runs(studies, capsys, tmp_path, argv, says):
    assert main(["reproduce", "all", "--out", str(tmp_path), *argv]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), studies) == ("", 1, {})
    assert says in err


def test_without_matplotlib_the_extra_is_named(studies, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("faultsim.plot.base.find_spec", lambda name: None)
    assert main(["reproduce", "all", "--out", str(tmp_path)]) == 2
    assert 'pip install "faultsim[plot]"' in capsys.readouterr().err
    assert studies == {}


def test_one_paper_writes_a_report_on_request(studies, capsys, tmp_path):
    path = tmp_path / "k.html"
    argv = ["reproduce", "krevat2002", "--out", str(tmp_path / "o"), "--report", str(path)]
    assert main(argv) == 0
    assert f"written  {path}" in capsys.readouterr().out
    assert f"faultsim reproduce krevat2002 --out {tmp_path / 'o'}" in path.read_text()
    checked(path.read_text())
    assert main([*argv[:-1], str(tmp_path / "no" / "k.html")]) == 2


def test_help_lists_every_study_with_its_logs(capsys):
    assert main(["reproduce", "--help"]) == 0
    out = capsys.readouterr().out
    for name, study in STUDIES.items():
        assert f"faultsim reproduce {name}" in out
        assert all(file in out for file in study.files)
    assert max(map(len, out.splitlines())) <= 120


def test_the_least_study_there_can_be(tmp_path):
    from PIL import Image

    class Runs(list):
        def run(self, store, **options):
            return {"store": store, "executor": options["executor"]}

    study = Study(
        name="least",
        title="The least study",
        description="",
        quick="",
        files=(),
        plan=lambda quick, replicates=1: replicates,
        prepare=lambda what, **given: (Runs(range(what)), lambda made: given | made),
        claims=[],
        inputs=lambda evidence: (),
        settings=lambda evidence: {},
        remarks=lambda evidence: (),
        quick_note=lambda what: "less",
        figures=lambda evidence: [("fig1", plot_curves({"a": ([1, 2], [3, 4])}), [("x", "y"), (1, 3)])],
        tables={"runs.csv": lambda evidence: [("seed",), (evidence["seed"],)]},
        colours=8,
    )
    assert [study.reproduce(out=tmp_path, seed=seed).usual for seed in (0, 7)] == [True, False]
    for quick in (True, False):
        out = tmp_path / str(quick)
        done = study.reproduce(quick=quick, out=out, seed=5, replicates=2, store="a.db", executor="processes")
        assert (done.evidence["store"], done.evidence["executor"]) == ("a.db", "processes")
        assert (done.runs, done.usual) == (2, False)
        assert (out / "runs.csv").read_text().split() == ["seed", "5"]
        assert [path.name for path in done.files] == ["fig1.png", "fig1.csv", "runs.csv", "CLAIMS.md", "claims.json"]
        with Image.open(out / "fig1.png") as picture:
            assert (len(picture.convert("RGB").getcolors(100_000)) <= 8) is not quick, "of a full run there are few"
    with pytest.raises(OptionError, match="replicates must be at least 1"):
        study.reproduce(out=tmp_path, replicates=0)


def test_a_picture_is_rewritten_in_fewer_colours_or_stays_whole(tmp_path, monkeypatch):
    from matplotlib.image import imread

    study = replace(STUDIES["yu2010"], figures=lambda _: [("one", plot_curves({"x": ([0, 1], [0, 1])}).figure, None)])
    writes, replaced = [], os.replace

    def full(*names):
        writes.append(names)
        if len(writes) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replaced(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            study._draw(None, tmp_path, 8)
    assert [path.name for path in tmp_path.iterdir()] == ["one.png"]
    before = (tmp_path / "one.png").stat().st_size
    assert len(np.unique(imread(tmp_path / "one.png").reshape(-1, 4), axis=0)) > 8
    study._draw(None, tmp_path, 8)
    assert (tmp_path / "one.png").stat().st_size < before
    assert len(np.unique(imread(tmp_path / "one.png").reshape(-1, 4), axis=0)) <= 8
