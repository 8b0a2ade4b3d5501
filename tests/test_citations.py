"""Every citation can be followed: to a section of a page, to a source of the bibliography, to a claim.

A section is cited as ``model.md#easy``, a source as ``[krevat2002]``, a claim as ``krevat2002#K23``.
"""

import re
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
BACKGROUND = CHECKOUT / "docs" / "background"
PAGES = sorted(BACKGROUND.glob("*.md"))
NUMBERED = ["model.md", "workflow-model.md", "workflow-example.md", "equations.md"]
#: What is read: the repository without what a build writes.
FILES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md")
    for path in CHECKOUT.glob(pattern)
    if not {"_build", "generated"} & set(path.parts)
)

TARGET = re.compile(r"^ *(?:- |\d\. )?\(([\w-]+)\)=$", re.MULTILINE)
HEADING = re.compile(r"(?:^\(([\w-]+)\)=\n)?^(##+) (?:([\d.]+) )?", re.MULTILINE)
SECTION = re.compile(r"(?<![\w/])([\w./-]+\.md)#([\w-]+)")
KEY = re.compile(r"(?<![\w\]])\[([a-z]+(?:19|20)\d\d)\](?!\()")
CLAIM = re.compile(r"\b([a-z]+(?:\d{4})?)#([A-Z]\d+)\b")
NOWHERE = re.compile(r"MODEL\.md|MODEL \d|\bNOTES\b|\breadings? [A-Z]\d")


@cache
def targets(page):
    """What can be cited of a page: the sections and paragraphs that have a name above them, and claims."""
    text = page.read_text(encoding="utf-8")
    return set(TARGET.findall(text)) | set(re.findall(r'<a id="(\w+)"></a>', text))


def page_of(name, file):
    """The page that a file cites: beside the file if there is one, else a page of docs/background."""
    beside = file.parent / name
    return beside if beside.exists() else BACKGROUND / name


def unresolved(file, text):
    """Every citation in `text`, of `file`, that leads nowhere."""
    wrong = NOWHERE.findall(text)
    for name, target in SECTION.findall(text):
        page = page_of(name, file)
        if not page.exists() or target not in targets(page):
            wrong.append(f"{name}#{target}")
    wrong += [f"[{key}]" for key in KEY.findall(text) if key not in targets(BACKGROUND / "papers.md")]
    for name, claim in CLAIM.findall(text):
        page = CHECKOUT / "docs" / "reproductions" / f"{name}.md"
        if not page.exists() or claim not in targets(page):
            wrong.append(f"{name}#{claim}")
    return wrong


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_every_citation_leads_somewhere(file):
    text = file.read_text(encoding="utf-8")
    assert unresolved(file, text) == []
    if file.suffix == ".md":
        defined = set(re.findall(r"^\[(\w+)\]: ", text, re.MULTILINE))
        cited = set(KEY.findall(re.sub(r"`[^`]*`", "", text)))
        assert cited == defined, "the keys that a page cites are the links that it defines at its end"


def test_a_citation_that_leads_nowhere_is_seen():
    page = BACKGROUND / "index.md"
    good = "model.md#easy, [krevat2002] section 2, krevat2002#K23, [a link](../guides/logs.md), `jobs[krevat2002]`"
    assert unresolved(page, good) == []
    for bad in ("model.md#lazy", "modell.md#easy", "[krevat2003]", "krevat2002#K99", "MODEL.md", "MODEL 7", "NOTES"):
        assert len(unresolved(page, f"See {bad}.")) == 1


def test_names_of_sections_are_unique():
    names = [name for page in PAGES for name in TARGET.findall(page.read_text(encoding="utf-8"))]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", NUMBERED)
def test_sections_have_names_and_consecutive_numbers(name):
    section = subsection = 0
    for target, level, number in HEADING.findall((BACKGROUND / name).read_text(encoding="utf-8")):
        if level == "##":
            section, subsection = section + 1, 0
            expected = f"{section}."
        else:
            subsection += 1
            expected = f"{section}.{subsection}"
        assert target, f"section {number} has no name"
        assert number == expected


def test_every_source_has_its_key_in_print():
    text = (BACKGROUND / "papers.md").read_text(encoding="utf-8")
    assert TARGET.findall(text) == re.findall(r"^\*\*(\w+)\.\*\* ", text, re.MULTILINE)
