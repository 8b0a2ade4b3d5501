"""Links between files lead somewhere: those of the documentation, and of what stands beside it."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "paper/*.md", "faultsim/**/*.md")
    for path in CHECKOUT.glob(pattern)
    if not {"_build", "generated", "auto_gallery"} & set(path.parts) and path.name not in ("all.md", "readings.md")
)
#: Written when the documentation is built.
MADE = ("generated/", "auto_gallery/", "reproductions/all.md", "reproductions/readings.md")
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[\w-]+\]: (\S+)|(?:src|srcset)=\"([^\"]+)\"|^```\{image\} (\S+)", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def broken(text, page):
    """Targets of relative links that are no file or folder."""
    prose = FENCE.sub(lambda block: block[0] if block[0].startswith("```{image}") else "", text)
    found = [
        next(filter(None, hit)).partition("#")[0] for hit in LINK.findall(re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", prose))
    ]
    local = [name for name in found if name and ":" not in name and not any(made in name for made in MADE)]
    return [name for name in local if not (page.parent / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_links_lead_somewhere(page):
    assert broken(page.read_text(encoding="utf-8"), page) == []


def test_a_broken_link_is_seen():
    page = CHECKOUT / "docs" / "index.md"
    text = "[a](nowhere.md" + '#x) [b](install.md) <img src="no.png"> [c](https://x.org)\n\n```python\nx[1](y)\n```\n'
    text += "\n```{image} none.png\n:alt: none\n```\n\n[d](gone.md)\n"
    assert broken(text, page) == ["nowhere.md", "no.png", "none.png", "gone.md"]
