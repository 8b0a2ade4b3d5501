"""Where a figure writes what, and which words cover one another or leave the figure."""

from itertools import combinations
from unittest.mock import patch

import numpy as np

#: Pixels by which boxes may touch: they hold the room for letters that reach up and down, whether or not there are any.
SLACK = 1.0


def boxes(figure):
    """Words and corners, shape (4, 2), in pixels, of every text that is drawn."""
    from matplotlib.text import Text

    found = {}
    draw = Text.draw

    def noted(text, renderer, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            found[id(text)] = text
        return draw(text, renderer, *args, **kwargs)

    with patch.object(Text, "draw", noted):
        figure.draw_without_rendering()
    shown = [(text.get_text(), corners(text), text) for text in found.values()]
    return [(words, box) for words, box, text in shown if not _clipped_away(text, box)]


def corners(text):
    """Corners of a text, which may be turned."""
    place = text.get_window_extent()
    angle = text.get_rotation()
    text.set_rotation(0.0)
    flat = text.get_window_extent()
    text.set_rotation(angle)
    half = np.array([flat.width, flat.height]) / 2 - SLACK / 2
    turn = np.deg2rad(angle)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    centre = np.array([(place.x0 + place.x1) / 2, (place.y0 + place.y1) / 2])
    return centre + np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half @ axes


def _clipped_away(text, box):
    clip = text.get_clip_box() if text.get_clip_on() else None
    x, y = box.mean(axis=0)
    return clip is not None and not clip.contains(x, y)


def cover(one, other):
    """Whether two rectangles have a point in common: no side of either separates them."""
    for box in (one, other):
        for side in (box[1] - box[0], box[3] - box[0]):
            a, b = one @ side, other @ side
            if a.max() <= b.min() or b.max() <= a.min():
                return False
    return True


def faults(figure):
    """Words that cover others, and words that leave the figure."""
    drawn = boxes(figure)
    width, height = figure.bbox.width, figure.bbox.height
    found = [f"{a!r} covers {b!r}" for (a, one), (b, other) in combinations(drawn, 2) if cover(one, other)]
    for words, box in drawn:
        low, high = box.min(axis=0), box.max(axis=0)
        if low.min() < 0 or high[0] > width or high[1] > height:
            found.append(f"{words!r} leaves the figure")
    return found
