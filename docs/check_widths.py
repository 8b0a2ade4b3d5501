"""Checks in a headless browser that no page of the documentation is scrolled sideways at 1280 pixels.

    python docs/check_widths.py FOLDER

FOLDER is what ``sphinx-build`` wrote. Pages of source text and of single names are left out.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from helpers import browser

WIDTH = 1280
_WIDER = """
const found = [];
for (const part of document.querySelectorAll('.bd-article pre, .bd-article table')) {
  const box = part.tagName === 'TABLE' ? part.parentElement : part;
  if (box.scrollWidth > box.clientWidth + 1)
    found.push(`${part.tagName.toLowerCase()} '${part.innerText.slice(0, 40)}'`);
}
if (document.documentElement.scrollWidth > window.innerWidth) found.push('the page');
return found;"""


def main(folder: Path) -> int:
    """Print what is wider than its page; 1 if anything is."""
    if browser.MISSING:
        print(f"skipped: {browser.MISSING}")
        return 0
    pages = [page for page in sorted(folder.rglob("*.html")) if not {"_modules", "api"} & set(page.parts)]
    if not pages:
        print(f"{folder} has no pages", file=sys.stderr)
        return 2
    wide = 0
    with browser.Browser() as shown:
        shown.screen(WIDTH, 900)
        for page in pages:
            shown.open(page)
            for part in shown.run(_WIDER):
                wide += 1
                print(f"{page.relative_to(folder)}: {part!r} is wider than the page at {WIDTH} pixels")
    print(f"{len(pages)} pages, {wide} parts too wide")
    return int(wide > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
