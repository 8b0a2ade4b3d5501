"""The Gantt chart of a page: shapes, not a picture, while they are few, and the job where one points."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import LongIntegers, Values
from faultsim.plot.base import time_unit
from faultsim.plot.gantt import EDGES_UP_TO, drawn_gantt
from faultsim.plot.theme import current, root_figure, use_theme
from faultsim.report.packed import packed
from faultsim.report.page import Picture
from faultsim.report.svg import inline_svg

if TYPE_CHECKING:
    from faultsim.results.result import Result


@dataclass(frozen=True)
class Chart:
    """A Gantt chart that tells job and times where one points; `name` begins the ids inside its picture.

    Up to 3,000 bars are shapes, more are a picture; up to 30,000 tell their job.
    """

    result: "Result"
    name: str
    caption: str = ""
    broad: bool = True

    def html(self) -> str:
        """As HTML."""
        result = self.result
        with use_theme(current().name):
            ax, drawn = drawn_gantt(result)
        if drawn is not None and len(drawn[0]) <= EDGES_UP_TO:
            for collection in ax.collections:
                collection.set_rasterized(False)
        alt = f"Which nodes which of {len(result):,} jobs held, over time"
        picture = inline_svg(ax, self.name, alt)
        if drawn is None:
            return Picture(picture, alt, self.caption).html()
        # The layout is done once it is drawn.
        place, (wide, high) = ax.get_position(), root_figure(ax).get_size_inches()
        box = [72 * wide * place.x0, 72 * high * (1 - place.y1), 72 * wide * place.width, 72 * high * place.height]
        unit, seconds = time_unit(result.span[1] - result.span[0])
        document = {
            "box": [round(float(number), 2) for number in box],
            "span": [0.0, max(float(result.span[1] - result.span[0]), 1e-9 * seconds)],
            "nodes": result.machine.nodes,
            "unit": unit,
            "seconds": seconds,
            "ids": [str(name) for name in result.jobs["id"].tolist()],
        }
        whole = Picture(picture, alt, f"{self.caption} Point at a bar for its job.").html().removesuffix("</figure>")
        whole = whole.replace("<figure>", '<figure class="chart">', 1)
        return f"{whole}\n{packed(document, self.columns(drawn))}</figure>"

    def columns(self, drawn: tuple[LongIntegers, LongIntegers, LongIntegers]) -> dict[str, Values]:
        """Of each bar the stay, the lowest row and the rows; of each stay job and times; of each job what it is."""
        row, first, count = drawn
        held, jobs, origin = self.result.allocations, self.result.jobs, self.result.span[0]
        return {
            "stay": row.astype("<u4"),
            "first": first.astype("<u4"),
            "count": count.astype("<u4"),
            "job": np.asarray(held["job"]).astype("<u4"),
            "begin": (held["begin"] - origin).astype("<f4"),
            "end": (held["end"] - origin).astype("<f4"),
            "wait": jobs["wait"].astype("<f4"),
            "runtime": jobs["runtime"].astype("<f4"),
            "size": jobs["size"].astype("<u4"),
            "restarts": jobs["restarts"].astype("<u4"),
        }
