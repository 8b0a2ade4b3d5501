"""The Gantt chart of a page: shapes, not a picture, while they are few, and the job where one points."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import LongIntegers, Values
from faultsim.data.conditions import after_texts, parse_after
from faultsim.plot.base import time_unit
from faultsim.plot.gantt import EDGES_UP_TO, drawn_gantt, killed
from faultsim.plot.held_runs import Runs
from faultsim.plot.theme import at_most_wide, current, root_figure, use_theme
from faultsim.plot.touching import FILLS, job_colours
from faultsim.report.packed import packed
from faultsim.report.page import Picture
from faultsim.report.svg import NARROW, inline_svg

if TYPE_CHECKING:
    from faultsim.results.result import Result


#: Down times in the view that zooms.
_MOST_DOWN = 20_000
#: Ids of jobs that waited for one job, in its words.
_MOST_FOLLOWERS = 8
_BUTTONS = (
    ("in", "Closer"), ("out", "Further"), ("earlier", "Earlier"), ("later", "Later"), ("all", "Whole run"),
)  # fmt: skip
#: What the script fills: hidden without it, and in print.
_VIEW = (
    '<div class="bar"><button type="button" class="explore" aria-expanded="false" hidden>Zoom in</button>'
    '<span class="controls" hidden>'
    + "".join(f'<button type="button" data-action="{action}">{words}</button>' for action, words in _BUTTONS)
    + " or drag over a part; a double click shows all</span></div>"
    '<div class="view" role="group" aria-label="Gantt chart that zooms" hidden></div>'
)


@dataclass(frozen=True)
class Chart:
    """A Gantt chart that shows job and times where the pointer is; `name` begins the ids inside its picture.

    Up to 3,000 bars are shapes, more are a picture. Up to 30,000 show their job, and a button opens a view that zooms
    and also shows user, nodes, what the job depended on and which jobs on it, and, where `why` has it, the reason of
    waiting.
    """

    result: "Result"
    name: str
    caption: str = ""
    #: Row of a job -> why it waited.
    why: Mapping[int, str] = field(default_factory=dict)
    broad: bool = True

    def html(self) -> str:
        """As HTML."""
        result = self.result
        alt = f"Which nodes which of {len(result):,} jobs held, over time"
        wide, box, drawn = self._drawn(self.name, alt)
        with at_most_wide(NARROW):
            narrow, narrow_box, _ = self._drawn(f"{self.name}n", alt)
        picture = Picture(wide, alt, self.caption, narrow=narrow)
        if drawn is None:
            return picture.html()
        unit, seconds = time_unit(result.span[1] - result.span[0])
        after, followers = _dependencies(result)
        document = {
            "fills": list(FILLS),
            "rows": "nodes, as they were allocated" if "x" in result.allocations else "nodes",
            "why": {str(job): text for job, text in self.why.items()},
            "after": after,
            "followers": followers,
            "boxes": [box, narrow_box],
            "span": [0.0, max(float(result.span[1] - result.span[0]), 1e-9 * seconds)],
            "nodes": result.machine.nodes,
            "unit": unit,
            "seconds": seconds,
            "ids": [str(name) for name in result.jobs["id"].tolist()],
        }
        caption = f"{self.caption} Point at a bar for its job.{_said_of(self.why)}"
        whole = replace(picture, caption=caption).html().removesuffix("</figure>")
        whole = whole.replace("<figure>", '<figure class="chart">', 1)
        return f"{whole}\n{_VIEW}\n{packed(document, self.columns(drawn))}</figure>"

    def _drawn(self, name: str, alt: str) -> tuple[str, list[float], Runs | None]:
        """The picture, the box of its axes in it (left, top, width, height), and the bars if they are shapes."""
        with use_theme(current().name):
            ax, drawn = drawn_gantt(self.result)
        if drawn is not None and len(drawn[0]) <= EDGES_UP_TO:
            for collection in ax.collections:
                collection.set_rasterized(False)
        picture = inline_svg(ax, name, alt)
        # The layout is done once it is drawn.
        place, (wide, high) = ax.get_position(), root_figure(ax).get_size_inches()
        box = (72 * wide * place.x0, 72 * high * (1 - place.y1), 72 * wide * place.width, 72 * high * place.height)
        return picture, [round(float(number), 2) for number in box], drawn

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
            "user": (np.maximum(self.result.users, -1) + 1).astype("<u4"),
            "colour": job_colours(self.result, drawn if "x" in held else None).astype("<u2"),
            "lost": killed(self.result).astype("<u2"),
            **{key: np.asarray(held[key]).astype("<u2") for key in "xyzabc" if key in held},
            **self._down(),
        }

    def _down(self) -> dict[str, Values]:
        """Node, begin and end of each down time, if rows are nodes."""
        trace, (origin, end) = self.result.failures, self.result.span
        node: Values = np.empty(0, np.int64)
        begin, over = np.empty(0), np.empty(0)
        if trace is not None and "x" not in self.result.allocations:
            trace = trace.whole_nodes()
            shown = np.flatnonzero((trace.downtime > 0) & (trace.time <= end))[:_MOST_DOWN]
            node, begin = trace.node[shown], trace.time[shown] - origin
            over = np.minimum(begin + trace.downtime[shown], end - origin)
        return {"down_node": node.astype("<u4"), "down_begin": begin.astype("<f4"), "down_end": over.astype("<f4")}


def _dependencies(result: "Result") -> tuple[dict[str, str], dict[str, str]]:
    """Of the rows of jobs, the condition in words of those that had one, and the ids of jobs that waited for them."""
    jobs = result.jobs
    ids = [str(name) for name in jobs["id"].tolist()]
    row_of = {name: row for row, name in enumerate(ids)}
    after: dict[str, str] = {}
    followers: dict[str, list[str]] = {}
    texts = after_texts(jobs["after"]) if "after" in jobs else [""] * len(ids)
    preceding = jobs["preceding_job"].tolist() if "preceding_job" in jobs else [-1] * len(ids)
    for row, (text, before) in enumerate(zip(texts, preceding, strict=True)):
        others = [condition.other for condition in parse_after(text, row)[0]] if text else []
        if before > 0 and f"{before:.0f}" in row_of:
            others.append(f"{before:.0f}")
            text = f"{text}, job {before:.0f}" if text else f"job {before:.0f}"
        if text:
            after[str(row)] = text
        for other in dict.fromkeys(others):
            if other in row_of:
                followers.setdefault(str(row_of[other]), []).append(ids[row])
    return after, {row: _listed(names) for row, names in followers.items()}


def _listed(names: list[str]) -> str:
    further = f" and {len(names) - _MOST_FOLLOWERS:,} more" if len(names) > _MOST_FOLLOWERS else ""
    return ", ".join(names[:_MOST_FOLLOWERS]) + further


def _said_of(why: Mapping[int, str]) -> str:
    if not why:
        return ""
    jobs = f"the {len(why)} jobs that waited longest" if len(why) > 1 else "the job that waited longest"
    return f" Zoom in for users, nodes and, of {jobs}, the reason."
