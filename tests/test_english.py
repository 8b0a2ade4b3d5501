"""Phrases that a native engineer would not write do not come back: each has the words to use instead.

Comments and docstrings of the core also speak of jobs and functions as things, not as persons.
"""

import re
from pathlib import Path

import pytest

CHECKOUT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
#: What not to write, as a pattern -> what to write.  White space and comment signs match across lines.
PHRASES = {
    r"(?:down )?to the ties?\b": "including tie-breaking",
    r"what became of (?:every|each)": "accounts for every",
    r"said again": "rerunning fills in missing runs",
    r"(?:has|have|has no|have no|without a) meaning\b": "is not supported with, is invalid",
    r"hangs? on (?!the)": "depends on",
    r"(?:over|at|from) the rim\b": "wraps around, the edge",
    r"\banew\b": "again, recomputed",
    r"in (?:one|a) go\b|one go at": "at once, one invocation",
    r"asks a predictor": "requires or uses a predictor",
    r"behind the head's back": "backfilled ahead of the head",
    r"gets? to know": "receives",
    r"look-?alikes?\b": "synthetic stand-in",
    r"made-up": "synthetic",
    r"plain (?:python )?twins?\b|\bits twin\b": "reference implementation",
    r"(?:one|a) (?:box|row|line|column|bar|dict|color|polygon|module|thread|entry|number) a [a-z]+": "one per ...",
    r"tells what": "lists what",
    r"left aside": "ignored",
    r"of (?:its|their|your|our|his) own content": "its content",
    r"(?:rules?|function|policy|policies|order|log|trace|file|list|name)s? of yours": "your own ...",
    r"is there (?:twice|already)": "appears twice, already exists",
    r"interpreter's lock": "global interpreter lock",
    r"under way\b(?=[,.;:)]| (?:at|on|there|with|is))": "in progress",
}
#: Jobs, nodes and functions are things: what comments and docstrings of the core do not write -> what to write.
PERSONS = {
    r"who|whom|whoever|whose": "the job that, the caller that, with ...",
    r"(?:no|some|any|every)(?:body|one)(?!-)": "no job, a caller, every thread",
    r"he|him|his|she": "it, the job",
    r"knows?|knew": "stores, has, is given",
    r"tells?|told|says?|said|saying": "returns, states, marks",
    r"asks|asking|asked for": "calls, requests, needs",
    r"wants?|hopes?": "needs, requests",
    r"remembers?": "stores",
    r"looked at|a (?:bit|row|line|byte) an? \w+": "read, one bit per ...",
}
CORE = CHECKOUT / "faultsim" / "_core"
CORE_FILES = sorted(
    path for path in CORE.glob("**/*.*") if path.suffix in (".pyx", ".pxd", ".pxi", ".h", ".py", ".pyi")
)
FILES = sorted(
    path
    for pattern in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "paper/*.md", "faultsim/**/*.*")
    for path in CHECKOUT.glob(pattern)
    if path.suffix in (".md", ".py", ".pyi", ".pyx", ".pxd", ".pxi")
    if not {"_build", "generated"} & set(path.parts)
)


def found(text: str) -> list[str]:
    """What a text says that another phrase says better."""
    flat = re.sub(r"\s*\n\s*(?:#:? ?)?", " ", text)
    return [
        f"{hit[0]!r}: write {better!r}" for phrase, better in PHRASES.items() for hit in re.finditer(phrase, flat, re.I)
    ]


def prose(text: str, c: bool = False) -> str:
    """Comments and docstrings of a Cython, Python or C source; other lines are empty."""
    if c:
        return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", text, re.S))
    lines, inside = [], False
    for line in text.split("\n"):
        quotes = line.count('"""')
        if inside or quotes:
            lines.append(line)
        else:
            code = re.match(r"(?:[^#\"']|\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*')*", line)
            lines.append(line[code.end() :] if code else "")
        inside ^= quotes % 2 == 1
    return "\n".join(lines)


def persons(text: str) -> list[str]:
    """Words of `PERSONS` in comments, outside of `code`."""
    words = re.sub(r"`[^`\n]*`", "", text)
    return [
        f"{hit[0]!r}: write {better!r}"
        for phrase, better in PERSONS.items()
        for hit in re.finditer(rf"\b(?:{phrase})\b", words, re.I)
    ]


@pytest.mark.parametrize("file", CORE_FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_comments_of_the_core_are_about_things(file):
    assert persons(prose(file.read_text(encoding="utf-8"), c=file.suffix == ".h")) == []


def test_prose_and_persons():
    source = 'x = "who # knows"  # nobody\ndef f():\n    """Whoever\n    asks."""\n    return who  # `said`\n'
    assert [hit.split(":")[0] for hit in persons(prose(source))] == ["'Whoever'", "'nobody'", "'asks'"]
    assert prose("int who; /* a\nb */ // c", c=True) == "/* a\nb */\n// c"
    assert persons("a row a job; no one-bit map; an ask is known") == ["'a row a job': write 'read, one bit per ...'"]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_words_of_a_native_engineer(file):
    assert found(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text", ["exact to the\n    # tie", "one row a job", "It has no meaning on a torus.", "Drawn anew."]
)
def test_a_phrase_is_seen(text):
    assert len(found(text)) == 1
    assert found("One row per job; ties go to the first, depending on the order.") == []
