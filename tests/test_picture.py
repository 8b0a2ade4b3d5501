"""The picture of README.md and of the documentation is there in light and dark, and can be drawn again."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

CHECKOUT = Path(__file__).resolve().parents[1]
PICTURES = {theme: CHECKOUT / "docs" / "_static" / f"picture-{theme}.png" for theme in ("light", "dark")}


def test_the_pages_show_it_with_words_for_it():
    for page, folder in (("README.md", CHECKOUT), ("docs/index.md", CHECKOUT / "docs")):
        text = (CHECKOUT / page).read_text(encoding="utf-8")
        shown = {(folder / name).resolve() for name in re.findall(r"[\w/]+/picture-\w+\.png", text)}
        assert shown == set(PICTURES.values()), page
        assert len(re.search(r'alt(?:="|: )([^"\n]+)', text)[1]) > 60


def test_it_is_small():
    assert all(picture.stat().st_size < 150_000 for picture in PICTURES.values())


def test_the_script_draws_what_is_shown(tmp_path):
    """The same size and, but for letters and edges that another matplotlib may set otherwise, the same pixels."""
    from matplotlib.image import imread

    spec = importlib.util.spec_from_file_location("picture", CHECKOUT / "docs" / "picture.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.draw(tmp_path)
    for theme, picture in PICTURES.items():
        shown, drawn = imread(picture), imread(tmp_path / f"picture-{theme}.png")
        assert shown.shape == drawn.shape
        assert (abs(shown - drawn).max(axis=-1) > 0.1).mean() < 0.2, f"run python docs/picture.py ({theme})"
        assert (drawn[0, 0, :3].mean() > 0.5) == (theme == "light")
