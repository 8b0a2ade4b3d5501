"""The software paper says nothing that is not printed elsewhere: its numbers, its sources, its claims.

A paragraph with numbers is followed by a comment with the page that prints them, and the section of a page of
measurements: `<!-- from: benchmarks/RESULTS.md engine -->`.
"""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
PAPER = (CHECKOUT / "paper" / "paper.md").read_text(encoding="utf-8")
_, HEAD, BODY = PAPER.split("---\n", 2)
BIBLIOGRAPHY = (CHECKOUT / "paper" / "paper.bib").read_text(encoding="utf-8")
PAPERS = (CHECKOUT / "docs" / "background" / "papers.md").read_text(encoding="utf-8")
FROM = re.compile(r"<!-- from: (\S+)(?: (\w+))? -->\Z")
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:x\d+)*(?![\w]|[.,]\d)")
CITED = re.compile(r"(?<!\w)@([a-z]+\d{0,4})\b")
PROSE = [text for text in BODY.split("\n\n") if not text.lstrip().startswith(("|", "#"))]


def said(paragraph):
    """What it says itself: no citations, no code, no comment."""
    return re.sub(r"@\w+|`[^`]*`|<!--.*?-->", "", paragraph, flags=re.DOTALL)


def source(paragraph):
    """The text in which its numbers must stand; None if it names none."""
    named = FROM.search(paragraph.strip())
    if named is None:
        return None
    page = (CHECKOUT / named[1]).read_text(encoding="utf-8")
    if named[2] is not None:
        page = page.split(f"<!-- begin: {named[2]} -->")[1].split(f"<!-- end: {named[2]} -->")[0]
    return page


def unfounded(paragraph):
    """Its numbers that the page which it names does not print."""
    page = source(paragraph) or ""
    printed = set(NUMBER.findall(page))
    return [number for number in NUMBER.findall(said(paragraph)) if number not in printed]


def test_every_number_is_printed_elsewhere():
    assert {number: text for text in PROSE for number in unfounded(text)} == {}
    assert sum(source(text) is not None for text in PROSE) >= 4


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It takes 0.001 ms.\n<!-- from: benchmarks/RESULTS.md engine -->", ["0.001"]),
        ("It is 7 times as fast [@li2009].", ["7"]),
        ("On 32x32x65 nodes, 1,234,567 times.\n<!-- from: benchmarks/RESULTS.md -->", ["32x32x65", "1,234,567"]),
        ("Of 54,034 jobs `a[3]` is one.\n<!-- from: benchmarks/RESULTS.md engine -->", []),
    ],
)
def test_an_unfounded_number_is_seen(text, wrong):
    assert unfounded(text) == wrong


def test_claims_are_those_of_the_reproductions():
    rows = re.findall(r"^\| `(\w+)`[^|]*\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", BODY, re.MULTILINE)
    pages = {path.stem: path for path in (CHECKOUT / "docs" / "reproductions").glob("*.md")}
    assert {name for name, *_ in rows} == set(pages) - {"all", "index", "readings"}
    for name, *counts in rows:
        line = re.search(r"^\d+ claims: .*$", pages[name].read_text(encoding="utf-8"), re.MULTILINE)[0]
        words = ("claims", "holds", "partly", "does not hold", "undecided")
        found = [re.search(rf"(\d+) {word}", line) for word in words]
        assert counts == [hit[1] if hit else "0" for hit in found], name


def test_sources_resolve():
    entries = set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.MULTILINE))
    assert set(CITED.findall(BODY)) == entries


def test_sources_are_those_of_the_bibliography():
    """The same DOI under the same key; one that the bibliography calls unchecked is left out."""
    for key, fields in re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", BIBLIOGRAPHY, re.MULTILINE | re.DOTALL):
        ours = re.search(rf"^\({key}\)=\n(.*?)(?:\n\n|\Z)", PAPERS, re.MULTILINE | re.DOTALL)
        doi = re.search(r"doi *= *\{(.*?)\}", fields)
        if ours is not None:
            checked = re.search(r"doi\.org/(\S+?)\)", ours[1]) if "unchecked" not in ours[1] else None
            assert (doi and doi[1]) == (checked and checked[1]), key
            assert re.search(r"year *= *\{(\d+)\}", fields)[1] == key[-4:]


def test_the_header_is_that_of_the_journal():
    for field in ("title", "tags", "authors", "affiliations", "date", "bibliography"):
        assert re.search(rf"^{field}:", HEAD, re.MULTILINE), field
    assert "orcid" not in HEAD
    for heading in ("Summary", "Statement of need", "State of the field", "Acknowledgements", "References"):
        assert f"\n# {heading}\n" in BODY
    assert 750 <= len(BODY.split()) <= 1750
