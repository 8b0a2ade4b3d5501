"""Every citation can be followed: to a section of a page, to a source of the bibliography, to a claim.

A section is cited as ``model.md#easy``, a source as ``[krevat2002]``, a claim as ``krevat2002#K23``.  What the
reference engine and its tests quote stands on the pages of the model, word for word.
"""

import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
BACKGROUND = CHECKOUT / "docs" / "background"
MODEL_PAGES = ["model.md", "workflow-model.md"]
NUMBERED = [*MODEL_PAGES, "workflow-example.md", "equations.md"]
#: What is read: the repository without what a build writes, and without this file.
FILES = sorted(
    path
    for folder in ("docs", "faultsim", "tests", "benchmarks", ".")
    for path in CHECKOUT.glob("*.md" if folder == "." else f"{folder}/**/*.*")
    if path.suffix in (".md", ".py", ".pyi", ".pyx", ".pxd", ".h")
    if path != Path(__file__) and not {"_build", "generated"} & set(path.parts)
)
QUOTING = [path for path in FILES if path.suffix == ".py" and "reference" in path.parts]

TARGET = re.compile(r"^ *(?:- |\d\. )?\(([\w-]+)\)=$", re.MULTILINE)
HEADING = re.compile(r"(?:^\(([\w-]+)\)=\n)?^(##+) (?:([\d.]+) )?", re.MULTILINE)
SECTION = re.compile(r"(?<![\w/])([\w./-]+\.md)#([\w-]+)")
KEY = re.compile(r"(?<![\w\]])\[([a-z]+(?:19|20)\d\d)\](?!\()")
CLAIM = re.compile(r"\b([a-z]+(?:\d{4})?)#([A-Z]\d+)\b")
#: Documents that nobody can open, and letters for their parts.
NOWHERE = re.compile(r"MODEL\.md|MODEL \d|\bNOTES\b(?! =)|\b[Rr]eadings? [A-Z]\d")
LETTER = re.compile(r"(?<![\w#\"'-])[FKORZ]\d\d?\b(?!-)")


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
    if not {"reproduce", "reproductions"} & set(file.parts):  # there, a claim's letter stands for itself
        wrong += LETTER.findall(text)
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
    for bad in (
        "model.md#lazy",
        "modell.md#easy",
        "[krevat2003]",
        "krevat2002#K99",
        "MODEL.md",
        "MODEL 7",
        "NOTES",
        "F5",
    ):
        assert len(unresolved(page, f"See {bad}.")) == 1


# -- the pages


def test_names_of_sections_are_unique():
    names = [name for page in BACKGROUND.glob("*.md") for name in TARGET.findall(page.read_text(encoding="utf-8"))]
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


# -- quotations


def passages(source):
    """Docstrings without their examples, and comments, those of lines that follow each other as one."""
    comment = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comment.append(token.string.lstrip("#: "))
        elif token.type not in (tokenize.NL, tokenize.NEWLINE):
            yield " ".join(comment)
            comment = []
            if token.type == tokenize.STRING and token.string.startswith('"""'):
                lines = token.string[3:-3].splitlines()
                yield "\n".join(line for line in lines if not line.lstrip().startswith((">>>", "...")))


def quotations(text):
    """What is in quotation marks: three words or more, not code."""
    text = re.sub(r"``.*?``", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", lambda code: code[0].replace('"', ""), text)
    return [quoted for quoted in re.findall(r'"([^"]+)"', text) if len(quoted.split()) >= 3]


def plain(text):
    """The words alone, without links, marks of lists and headings, quotation marks, emphasis and breaks of lines."""
    text = re.sub(r"\[([^\[\]]*)\]\([^)\s]*\)", r"\1", text)
    text = re.sub(r"^ *(?:- |\d\. )?(?:\([\w-]+\)=$)?|^#+ [\d.]* *", " ", text, flags=re.MULTILINE)
    return " ".join(re.sub(r"[`\"'*]", "", text).split()).lower()


@cache
def pages():
    return [plain((BACKGROUND / name).read_text(encoding="utf-8")) for name in MODEL_PAGES]


def is_quoted(words):
    """Whether a page has the words; "[...]" stands for any that are left out."""
    parts = [re.escape(plain(part).strip(" .,;:")) for part in re.split(r"\[?\.\.\.\]?", words)]
    return any(re.search(".*?".join(parts), page) for page in pages())


@pytest.mark.parametrize("file", QUOTING, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_quotations_are_in_the_words_of_the_page(file):
    quoted = [words for text in passages(file.read_text(encoding="utf-8")) for words in quotations(text)]
    assert [words for words in quoted if not is_quoted(words)] == []


def test_a_wrong_quotation_is_seen():
    assert any(quotations(text) for file in QUOTING for text in passages(file.read_text(encoding="utf-8")))
    assert is_quoted("A job is rigid: `size` nodes [...] from `submit` on.")
    assert not is_quoted("A job is elastic: `size` nodes [...] from `submit` on.")
    assert not is_quoted("from `submit` on [...] A job is rigid")
    assert quotations('See "a b c", "a b", ``"d e f"`` and "g `"h"` i".') == ["a b c", "g `h` i"]
