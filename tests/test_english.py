"""Phrases that a native engineer would not write do not come back: each has the words to use instead."""

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


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_words_of_a_native_engineer(file):
    assert found(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text", ["exact to the\n    # tie", "one row a job", "It has no meaning on a torus.", "Drawn anew."]
)
def test_a_phrase_is_seen(text):
    assert len(found(text)) == 1
    assert found("One row per job; ties go to the first, depending on the order.") == []
