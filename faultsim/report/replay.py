"""The nodes of a torus over time, as compressed columns and a canvas that draws them layer by layer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import Values
from faultsim.plot.base import time_unit
from faultsim.plot.touching import FILLS, job_colours
from faultsim.report.packed import packed

if TYPE_CHECKING:
    from faultsim.results.result import Result

#: A larger run would make a large page and a slow display.
MOST_STAYS, MOST_NODES = 50_000, 8192


@dataclass(frozen=True)
class Replay:
    """A canvas with a slider that shows who held which nodes of a torus, for a run made with ``record=True``."""

    result: "Result"
    caption: str = ""
    #: Row of a job -> why it waited.
    why: Mapping[int, str] = field(default_factory=dict)

    def columns(self) -> dict[str, Values]:
        """Of each stay times, job, its colour, and the box; of each failure that lasts times and node; of each job its
        wait, running time and user, 0 for none.
        """
        held, jobs, origin = self.result.allocations, self.result.jobs, self.result.span[0]
        order = np.argsort(held["begin"], kind="stable")
        arrays: dict[str, Values] = {
            "begin": (held["begin"][order] - origin).astype("<f4"),
            "end": (held["end"][order] - origin).astype("<f4"),
            "job": held["job"][order].astype("<u4"),
            "colour": job_colours(self.result)[held["job"][order]].astype("<u2"),
            **{name: held[name][order].astype("<u2") for name in "xyzabc"},
        }
        arrays["wait"] = jobs["wait"].astype("<f4")
        arrays["runtime"] = jobs["runtime"].astype("<f4")
        arrays["user"] = (np.maximum(self.result.users, -1) + 1).astype("<u4")
        trace = self.result.failures
        time, downtime, node = np.empty(0), np.empty(0), np.empty(0, np.int32)
        if trace is not None:
            trace = trace.whole_nodes()
            lasting = trace.downtime > 0
            time, downtime, node = trace.time[lasting], trace.downtime[lasting], trace.node[lasting]
        arrays["fail_time"] = (time - origin).astype("<f4")
        arrays["fail_end"] = (time + downtime - origin).astype("<f4")
        arrays["fail_node"] = node.astype("<u4")
        return arrays

    def html(self) -> str:
        """As HTML."""
        machine = self.result.machine
        begin, end = self.result.span
        unit, seconds = time_unit(end - begin)
        document = {
            "shape": list(machine.shape or ()),
            "span": end - begin,
            "unit": unit,
            "seconds": seconds,
            "fills": list(FILLS),
            "why": {str(job): text for job, text in self.why.items()},
            "ids": [str(name) for name in self.result.jobs["id"].tolist()],
        }
        return "\n".join(
            [
                '<figure class="replay">',
                '<canvas role="img" aria-label="Nodes of the torus over time"></canvas>',
                '<div class="controls"><button type="button">Play</button>',
                '<input type="range" min="0" max="1000" value="500" aria-label="time"><output></output></div>',
                f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else "",
                packed(document, self.columns()),
                "</figure>",
            ]
        )
