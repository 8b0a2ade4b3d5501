"""The picture of the architecture page: its rooms are those of the table, and it can be read on a phone and a desk."""

import re

import pytest

from helpers.browser import MISSING, Browser
from helpers.looks import FAINT, OVERLAPS
from helpers.scripts import CHECKOUT

FOLDER = CHECKOUT / "docs" / "background"
PICTURE = (FOLDER / "rooms.svg").read_text(encoding="utf-8")
#: Colours of the theme of the documentation: ground, surface, border, words, and words of less weight.
THEMES = {
    "light": ("#ffffff", "#f3f4f5", "#c9c9c9", "#222832", "#48566b"),
    "dark": ("#14181e", "#29313d", "#48566b", "#ced6dd", "#9ca4af"),
}
PAGE = """<!doctype html><style>body {{ margin: 1rem; background: {0}; }}
:root {{ --pst-color-surface: {1}; --pst-color-border: {2}; --pst-color-text-base: {3}; --pst-color-text-muted: {4}; }}
</style>{picture}"""
#: Words that leave their box, and the height of the lowest line, in pixels.
BOXES = """
const boxes = [...document.querySelectorAll("rect")].map((rect) => rect.getBoundingClientRect());
const words = [...document.querySelectorAll("text")];
const inside = (word, box) => box.left + 1 < word.left && word.right < box.right - 1 && box.top < word.top
  && word.bottom < box.bottom;
const out = words.filter((text) => !text.classList.contains("beside")
  && !boxes.some((box) => inside(text.getBoundingClientRect(), box)));
return [out.map((text) => text.textContent), Math.min(...words.map((text) => text.getBoundingClientRect().height))];
"""


def test_rooms_of_the_picture_are_in_the_table():
    table = re.findall(r"^\| `(\w+)` \|", (FOLDER / "architecture.md").read_text(encoding="utf-8"), re.MULTILINE)
    drawn = " ".join(re.findall(r'class="room">(.+?)<', PICTURE)).split()
    assert len(drawn) == len(set(drawn)) > 10
    assert set(drawn) <= set(table)


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_the_picture_can_be_read(tmp_path):
    page = tmp_path / "picture.html"
    with Browser() as browser:
        for theme, colours in THEMES.items():
            page.write_text(PAGE.format(*colours, picture=PICTURE), encoding="utf-8")
            for width in (400, 1280):
                browser.screen(width, 1000, theme)
                browser.open(page)
                outside, height = browser.run(BOXES)
                assert outside == []
                assert height >= 12
                seen, overlapping = browser.run(OVERLAPS)
                assert seen > 30
                assert overlapping == []
                assert browser.run(FAINT)[1] == []
                assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
