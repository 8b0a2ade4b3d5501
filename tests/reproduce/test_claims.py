"""Verdicts, and the table of claims as text, Markdown and JSON."""

import numpy as np
import pytest

from faultsim.reproduce.claims import (
    Claim,
    Claims,
    Finding,
    Parts,
    Row,
    Support,
    Verdict,
    all_of,
    combine,
    document,
    judge,
    markdown,
    nearness,
    text,
)
from faultsim.reproduce.history import BEFORE, MENDED
from faultsim.reproduce.parts import every, higher, lower, sized, some, within
from faultsim.reproduce.report import changes
from faultsim.reproduce.studies import STUDIES
from faultsim.sweep.jackknife import Estimate


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([True, True], Verdict.HOLDS),
        ([True, False], Verdict.PARTLY),
        ([True, None], Verdict.PARTLY),
        ([False, False], Verdict.FAILS),
        ([True] + 15 * [False], Verdict.FAILS),
        (8 * [True] + 8 * [False], Verdict.PARTLY),
        (7 * [True] + 9 * [False], Verdict.FAILS),
        (7 * [True] + 8 * [False] + [None], Verdict.UNDECIDED),
        ([None], Verdict.UNDECIDED),
        ([False, False, None], Verdict.FAILS),  # whatever is open cannot save it
        ([np.True_, np.False_], Verdict.PARTLY),
        ([], Verdict.NOT_JUDGED),
    ],
)
def test_a_verdict_counts_the_parts(parts, expected):
    assert combine(*parts).verdict is expected
    assert all_of(combine(part) for part in parts) == combine(*parts)


def test_a_part_that_is_not_judged_leaves_all_of_them_so():
    assert all_of([nearness(73, 73, 4), nearness(float("nan"), 63, 2)]).verdict is Verdict.NOT_JUDGED
    assert all_of([nearness(73, 73, 4), combine(None)]).verdict is Verdict.PARTLY


def test_a_number_is_near_or_nearly():
    found = [nearness(value, 63, 2).verdict for value in (65, 59, 58.9, float("nan"))]
    assert found == [Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS, Verdict.NOT_JUDGED]
    assert nearness(65, 63, 2, clear=None).verdict is Verdict.UNDECIDED
    assert nearness(65, 63, 2, clear=False).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("value", "half", "up", "small"),
    [
        (0.5, 0.1, True, False),
        (-0.5, 0.1, False, False),
        (0.02, 0.1, None, None),  # contains 0, and reaches beyond .1
        (0.02, 0.01, True, True),
        (0.0, 0.0, False, True),  # the same in every run
        (0.02, 0.9, None, None),
        (0.5, float("nan"), None, None),  # one replicate
    ],
)
def test_an_interval_that_contains_the_bound_shows_nothing(value, half, up, small):
    found = Estimate(value, half)
    assert (higher(found), within(found, -0.1, 0.1)) == (up, small)
    assert lower(Estimate(-value, half)) is up
    assert sized(found, False) is False
    assert sized(found, True) is (None if up is None or value == 0 else True)


def test_parts_that_are_one():
    assert [every(*parts) for parts in ([True, True], [True, None], [None, False], [np.True_])] == [
        True, None, False, True,
    ]  # fmt: skip
    assert [some(*parts) for parts in ([False, True], [None, False], [False, False])] == [True, None, False]


def test_support_says_what_was_chosen():
    def row(chosen, *parts):
        claim = Claim("X1", "a", "b", "order", "c", "d", "e", lambda e: e, chosen)
        return Row(claim, Finding("x", combine(*parts)))

    assert row("", True).support is Support.CONFIRMED
    assert row("recall .45", True).support_words == "calibrated: recall .45"
    assert row("recall .45", True, False).support_words == "calibrated in part: recall .45"
    assert row("recall .45", True, False).verdict_words == "partly, 1 of 2"
    assert row("", False, None).support is row("", None).support is row("", False).support is Support.NOT_SHOWN
    assert row("", False, None).verdict_words == "undecided, 0 of 2, 1 open"
    assert row("", True).verdict_words == "holds"


def test_a_claim_rests_on_what_was_chosen_with_its_settings():
    claims = Claims({"T": "box order", "1.75": "loads to 1.75", "N": "span"})
    for label, settings, chosen in (
        ("X1", "T, N; to 1.75", "recall .45"),
        ("X2", "T, N; to 1.75", ""),
        ("X3", "Torus, NASA to 175; at TN", ""),
        ("X4", "F", "recall .45"),
    ):
        claims.add(label, "b", "order", "c", settings=settings, chosen=chosen)(lambda e: e)
    shared = "box order; loads to 1.75; span"
    assert [claim.chosen for claim in claims] == [f"{shared}; recall .45", shared, "", "recall .45"]


def test_a_mended_rule_says_so():
    def row(label):
        return Row(Claim(label, "a", "b", "order", "c", "the rule", "e", lambda e: e), Finding("x", combine(True)))

    assert row("K26").rule_words == f"the rule (Mended after the runs: {MENDED['K26']}.)"
    assert row("K25").rule_words == "the rule"
    assert [found["mended"] for found in document([row("K26"), row("K25")])] == [MENDED["K26"], ""]
    labels = [claim.id for study in STUDIES.values() for claim in study.claims]
    assert len(set(labels)) == len(labels), "a label alone says of which study it is"
    assert set(MENDED) <= set(labels)


def test_what_changed_is_told_with_its_reason():
    def row(label, *parts):
        return Row(Claim(label, "a", "b", "order", "c", "d", "e", lambda e: e), Finding("x", combine(*parts)))

    rows = [row("K1", True), row("K23", True, False), row("K22", False), row("K99", False), row("K2")]
    found = changes("krevat2002", rows)
    assert [(label, old, now) for label, old, now, _ in found] == [
        ("K23", "does not hold", "partly, 1 of 2"),
        ("K22", "holds", "does not hold, 0 of 1"),
        ("K2", "holds", "not judged"),
    ]
    assert found[0][3] == MENDED["K23"]
    assert all("count of parts" in why for *_, why in found[1:])


@pytest.mark.parametrize("name", BEFORE)
def test_verdicts_from_before_are_of_claims_that_there_are(name):
    known = [label for ids in BEFORE[name].values() for label in ids.split()]
    assert len(set(known)) == len(known)
    assert set(known) <= {claim.id for claim in STUDIES[name].claims}
    assert set(BEFORE[name]) <= set(map(str, Verdict))


def test_tables_show_every_part():
    claim = Claim(
        "X1",
        "a | b",
        "Fig. 1",
        "order",
        "12",
        "the rule",
        "the settings",
        lambda e: Finding(e, Parts(0, 0, 2)),
        "recall",
    )
    rows = judge([claim], "13")
    for table in (text(rows), markdown(rows)):
        for part in ("X1", "Fig. 1", "12", "13", "the settings"):
            assert part in table
    assert "DOES NOT HOLD" in text(rows)
    assert "0 of 2" in text(rows)
    assert "**does not hold**, 0 of 2" in markdown(rows)
    assert "the rule" in markdown(rows)
    assert r"a \| b" in markdown(rows)
    assert document(rows)[0]["verdict"] == "does not hold"
    assert {key: document(rows)[0][key] for key in ("parts", "support", "chosen")} == {
        "parts": "0 of 2", "support": "not shown", "chosen": "recall",
    }  # fmt: skip
