"""Verdicts, and the table of claims as text, Markdown and JSON."""

from faultsim.reproduce.claims import (
    Claim,
    Finding,
    Verdict,
    all_of,
    combine,
    document,
    judge,
    markdown,
    nearness,
    text,
)


def test_verdicts_combine():
    assert combine(True, True) is Verdict.HOLDS
    assert combine(True, False) is Verdict.PARTLY
    assert combine(False, False) is Verdict.FAILS
    assert all_of([Verdict.PARTLY, Verdict.FAILS]) is Verdict.PARTLY
    assert all_of([Verdict.FAILS, Verdict.FAILS]) is Verdict.FAILS
    assert [nearness(value, 63, 2) for value in (65, 59, 58.9)] == [Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS]


def test_tables_show_every_part():
    claim = Claim(
        "X1", "a | b", "Fig. 1", "order", "12", "the rule", "the settings", lambda e: Finding(e, Verdict.FAILS)
    )
    rows = judge([claim], "13")
    for table in (text(rows), markdown(rows)):
        for part in ("X1", "Fig. 1", "12", "13", "the settings"):
            assert part in table
    assert "DOES NOT HOLD" in text(rows)
    assert "the rule" in markdown(rows)
    assert r"a \| b" in markdown(rows)
    assert document(rows)[0]["verdict"] == "does not hold"
