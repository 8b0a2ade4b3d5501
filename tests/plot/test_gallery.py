"""Every script of the gallery runs by itself and saves its picture under its own name."""

import ast
import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


def test_there_is_a_dozen():
    assert len(SCRIPTS) >= 12


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_saves_its_picture(script, tmp_path, monkeypatch):
    from matplotlib.image import imread

    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    saved = sorted(tmp_path.iterdir())
    assert saved
    for path in saved:
        assert re.fullmatch(rf"{script.stem}(_\w+)?\.png", path.name)
        pixels = imread(path)[..., :3]
        assert min(pixels.shape[:2]) >= 400
        assert (pixels < 0.9).any(axis=-1).mean() > 0.005, "an empty picture"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_has_a_title_and_a_caption(script):
    said = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    title, line, gap, *caption = said.splitlines()
    assert line == "=" * len(title)
    assert not gap
    assert " ".join(caption).endswith(".")
