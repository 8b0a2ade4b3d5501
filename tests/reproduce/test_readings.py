"""The readings of studies: all combinations, what decides a claim, and tiny plans through the whole of it."""

import csv
import json
from dataclasses import replace

import pytest

from faultsim.cli import main
from faultsim.reproduce import readings
from faultsim.reproduce.claims import Claim, Finding, Row, Verdict, combine
from faultsim.reproduce.krevat2002 import readings as krevat2002
from faultsim.reproduce.li2009 import readings as li2009
from faultsim.reproduce.li2009.inputs import Parameters
from faultsim.reproduce.oliner2004 import readings as oliner2004
from faultsim.reproduce.readings import Axis, Readings, decides
from faultsim.reproduce.studies import READINGS, STUDIES
from faultsim.reproduce.yu2010 import readings as yu2010
from faultsim.reproduce.yu2010.runs import READINGS as ORDERS
from faultsim.reproduce.zhang2004 import readings as zhang2004
from helpers.tiny_studies import TINY

AXES = (Axis("order", ("a", "b", "c"), "the model's"), Axis("log", ("x", "y"), "the paper's"))


def rows(**held):
    return [
        Row(Claim(label, f"claim {label}", "b", "order", "c", "d", "e", lambda e: e), Finding("x", combine(*parts)))
        for label, parts in held.items()
    ]


def made(*, data, seed, workers):
    for order in ("c", "b", "a"):  # in any order
        for log in ("x", "y"):
            known = {"X1": [True], "X2": [order != "b"], "X3": [log == "x", True], "X4": [order == "a" or None]}
            yield {"order": order, "log": log}, rows(**known)


@pytest.fixture
def document(tmp_path):
    return Readings(axes=AXES, about="Less.", shown=["X3"], made=made).judge(
        "krevat2002", "A paper", data=None, seed=0, workers=1, out=tmp_path
    )


def test_every_combination_is_judged_the_default_first(document, tmp_path):
    by = {claim["id"]: claim["verdicts"] for claim in document["claims"]}
    no, undecided = str(Verdict.FAILS), str(Verdict.UNDECIDED)
    assert by == {
        "X1": ["holds"] * 6,
        "X2": ["holds", "holds", no, no, "holds", "holds"],
        "X3": ["holds", "partly"] * 3,
        "X4": ["holds", "holds", *[undecided] * 4],
    }
    assert json.loads((tmp_path / "readings.json").read_text()) == document
    assert [(entry["reading"], entry["verdict"]) for entry in document["numbers"]] == [
        ("the default", "holds"), ("log: y", "partly, 1 of 2"), ("order: b", "holds"), ("order: c", "holds"),
    ]  # fmt: skip
    with (tmp_path / "readings.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert table[3] == {"order": "b", "log": "y", "X1": "holds", "X2": no, "X3": "partly", "X4": undecided}


def test_the_axis_that_decides_is_named(document):
    found = [decides(document, claim["verdicts"]) for claim in document["claims"]]
    assert found == [
        "none: the same in all",
        "order: a holds in 2 of 2, b in 0 of 2, c in 2 of 2",
        "log: x holds in 3 of 3, y in 0 of 3",
        "order: a holds in 2 of 2, b in 0 of 2, c in 0 of 2",
    ]
    mixed = ["holds", "does not hold", "does not hold", "holds"]
    two = {"axes": [{"name": name, "values": ["1", "2"]} for name in "ab"]}
    assert decides(two, mixed) == "no axis by itself"
    partly = ["holds", "does not hold", "holds", "partly"]
    assert decides(two, partly) == "b: 1 holds in 2 of 2, 2 in 0 of 2"
    assert decides(two, ["holds", "does not hold", "partly", "holds"]) == "a: 1 partly in 0 of 2, 2 in 1 of 2"


def test_the_page_says_what_is_not_done(document, tmp_path):
    text = readings.page({"krevat2002": document}, ["li2009", "yu2010"])
    assert "Not done: li2009, yu2010." in text
    assert "| X2 | claim X2 | **holds** | 4 of 6 | 0 of 6 | order: a holds in 2 of 2" in text
    assert "| X3 | log: y | partly, 1 of 2 | x |" in text
    assert "| order | **a**, b, c | the model's |" in text
    assert "X2  HOLDS          holds in 4 of 6" in readings.text(document)
    (tmp_path / "krevat2002").mkdir()
    (tmp_path / "krevat2002" / "readings.json").write_text(json.dumps(document))
    assert list(readings.documents_in(tmp_path, ["krevat2002", "li2009"])) == ["krevat2002"]


def test_the_figure_has_all_claims_and_readings(document, tmp_path):
    from matplotlib.image import imread

    assert imread(tmp_path / "readings.png")[..., :3].std() > 0.02
    figure = readings.picture(document)
    upper, lower = figure.axes
    assert [label.get_text() for label in upper.get_yticklabels()] == ["X1", "X2", "X3", "X4"]
    assert upper.images[0].get_array().shape == (4, 6)
    assert lower.get_yticklabels()[0].get_text() == "order: a | b | c"
    words = {text.get_text() for text in figure.legends[0].get_texts()}
    assert words == {"holds", "partly", "does not hold", "undecided"}


MADE = {
    "krevat2002": lambda: krevat2002._made(data=None, seed=0, workers=2, jobs=60),
    "oliner2004": lambda: oliner2004._made(data=None, seed=0, workers=2, what=TINY["oliner2004"].what),
    "zhang2004": lambda: zhang2004._made(data=None, seed=0, workers=2, what=TINY["zhang2004"].what),
    "li2009": lambda: li2009._made(
        data=None, seed=0, workers=2, what=TINY["li2009"].what, baseline=Parameters(**TINY["li2009"].options)
    ),
    "yu2010": lambda: yu2010._made(
        data=None, seed=0, workers=2, what=replace(TINY["yu2010"].what, readings=ORDERS, redraws=0)
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        "krevat2002",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("oliner2004", "zhang2004", "li2009", "yu2010")),
    ],
)
def test_a_study_is_judged_at_all_of_its_readings(name):
    found = list(MADE[name]())
    wanted = READINGS[name].all()
    assert sorted(map(sorted, (reading.items() for reading, _ in found))) == sorted(
        map(sorted, map(dict.items, wanted))
    )
    for _, judged in found:
        assert [row.claim.id for row in judged] == [claim.id for claim in STUDIES[name].claims]
    assert len({tuple(row.verdict_words for row in judged) for _, judged in found}) > 1


def test_the_command_makes_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(READINGS, "krevat2002", Readings(axes=AXES, about="Less.", made=made))
    argv = ["reproduce", "krevat2002", "--readings", "--out", str(tmp_path / "out")]
    assert main(argv) == 0
    assert "X3  HOLDS" in capsys.readouterr().out
    assert (tmp_path / "out" / "readings.png").is_file()
    assert main([*argv, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["study"] == "krevat2002"
    assert main([*argv, "--quick"]) == 2
    assert "takes no --quick" in capsys.readouterr().err
    assert main(["reproduce", "rlscheduler", "--readings"]) == 2
    capsys.readouterr()
