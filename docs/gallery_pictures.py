"""Hands sphinx-gallery the pictures that a script of docs/gallery saves: as they are, and drawn in the dark."""

import ast
import contextlib
import os
import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any

from faultsim import plot

IMAGE = """
.. image:: /{path}
   :alt: {alt}
   :class: sphx-glr-single-img only-{theme}
"""


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """The pictures that the block has just written beside its script, moved to the gallery, as reStructuredText."""
    script = Path(block_vars["src_file"])
    title = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))).splitlines()[0]
    found = ""
    for picture in sorted(script.parent.glob("*.png")):
        goal = Path(next(block_vars["image_path_iterator"]))
        shutil.move(picture, goal)
        for theme in ("light", "dark"):
            path = goal if theme == "light" else goal.with_name(f"{goal.stem}_dark.png")
            if theme == "dark":
                _draw_in_the_dark(script, picture.name, path)
            where = path.relative_to(gallery_conf["src_dir"]).as_posix()
            found += IMAGE.format(path=where, alt=title, theme=theme)
    return found


def _draw_in_the_dark(script: Path, name: str, goal: Path) -> None:
    """Run the whole script again under the dark theme, and keep the picture of this name."""
    with tempfile.TemporaryDirectory() as scratch, open(os.devnull, "w") as nowhere:
        with contextlib.chdir(scratch), contextlib.redirect_stdout(nowhere), plot.use_theme("dark"):
            runpy.run_path(str(script))
        shutil.move(Path(scratch) / name, goal)
