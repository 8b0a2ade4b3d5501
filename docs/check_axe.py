"""Checks pages in a headless browser with axe-core: no serious or critical fault of accessibility, light and dark.

    npm install axe-core
    python docs/check_axe.py node_modules/axe-core/axe.min.js PAGE_OR_FOLDER ...

Of a folder that ``sphinx-build`` wrote, the main pages are checked, one of each kind. Skipped where there is no
browser.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from helpers import browser

SERIOUS = ("serious", "critical")
MAIN = (
    "index", "tutorial", "questions", "reference/index", "guides/index", "guides/looking", "guides/planning",
    "auto_gallery/index", "reproductions/index",
)  # fmt: skip
SCREENS = ((1280, "light"), (1280, "dark"), (400, "light"))
_RUN = """
for (const one of document.getAnimations()) one.finish(); // colours that still change
return axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations.map((fault) =>
  [fault.impact, fault.id, fault.help, fault.nodes.map((node) => node.target.join(" "))]));
"""


def faults(shown: browser.Browser, axe: str, page: Path, width: int, scheme: str) -> list[str]:
    """The serious faults of a page, each with the first places where it is."""
    shown.screen(width, 1000, scheme)
    shown.open(page)
    shown.until("return document.readyState === 'complete'")
    found = shown.run(axe + _RUN)
    return [
        f"{impact} {name}: {words}, {len(places)} times: {'; '.join(places[:3])}"
        for impact, name, words, places in found
        if impact in SERIOUS
    ]


def pages_of(path: Path) -> list[Path]:
    """A page, or the main pages of documentation."""
    if path.is_file():
        return [path]
    return [page for name in MAIN if (page := path / f"{name}.html").exists()]


def main(axe: Path, paths: list[Path]) -> int:
    """Print the serious faults; 1 if there are any."""
    if browser.MISSING:
        print(f"skipped: {browser.MISSING}")
        return 0
    pages = [page for path in paths for page in pages_of(path)]
    if not pages:
        print(f"no pages: {', '.join(map(str, paths))}", file=sys.stderr)
        return 2
    source, count = axe.read_text(encoding="utf-8"), 0
    with browser.Browser() as shown:
        for page in pages:
            for width, scheme in SCREENS:
                for fault in faults(shown, source, page, width, scheme):
                    count += 1
                    print(f"{page.parent.name}/{page.name} at {width} pixels, {scheme}: {fault}")
    print(f"{len(pages)} pages, {count} serious faults")
    return int(count > 0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), [Path(arg) for arg in sys.argv[2:]]))
