"""What the figures of several studies share."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultsim.plot import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A dashed black curve with hollow marks: what the others are compared with.
HOLLOW: dict[str, Any] = {
    "color": "#000000",
    "marker": "o",
    "linestyle": "--",
    "markerfacecolor": "white",
    "markeredgecolor": "#000000",
    "markeredgewidth": 0.9,
}


def legend_below(figure: "Figure", ax: Any, columns: int) -> None:
    """The legend of `ax` below all panels, its entries in rows: a legend fills its columns downwards."""
    handles, labels = ax.get_legend_handles_labels()
    order = [i for column in range(columns) for i in range(column, len(labels), columns)]
    figure.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
    )


def titled(figure: "Figure", text: str, evidence: Any) -> None:
    """The title of a figure, with the number of replicates, and whether it was a quick run."""
    count = evidence.what.replicates
    replicates = f"{count} replicate{'s' if count > 1 else ''}"
    figure.suptitle(f"{text}  [{'quick run, ' if evidence.quick else ''}{replicates}]", fontsize=12)


def fewer_colours(path: Path, colours: int) -> bytes:
    """A picture with so many colours, which takes a third of the bytes: lines, bands and letters need no more."""
    require_matplotlib()
    from PIL import Image  # which matplotlib needs

    out = io.BytesIO()
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(out, "PNG", optimize=True)
    return out.getvalue()
