"""The nodes of a torus over time, as compressed columns and a canvas that draws them."""

import base64
import json
import zlib
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from faultsim.plot.base import time_unit
from faultsim.plot.theme import THEMES
from faultsim.plot.touching import STRONG

if TYPE_CHECKING:
    from faultsim.results.result import Result

#: A larger run would make a large page and a slow display.
MOST_STAYS, MOST_NODES = 50_000, 8192


@dataclass(frozen=True)
class Replay:
    """A canvas with a slider that shows who held which nodes of a torus, for a run made with ``record=True``."""

    result: "Result"
    caption: str = ""

    def columns(self) -> tuple[list[list[Any]], bytes]:
        """Name, type and length of each column, and all of them one after the other, each from a multiple of 4."""
        held, origin = self.result.allocations, self.result.span[0]
        order = np.argsort(held["begin"], kind="stable")
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "begin": (held["begin"][order] - origin).astype("<f4"),
            "end": (held["end"][order] - origin).astype("<f4"),
            "job": held["job"][order].astype("<u4"),
            **{name: held[name][order].astype("<u2") for name in "xyzabc"},
        }
        trace = self.result.failures
        time, downtime, node = np.empty(0), np.empty(0), np.empty(0, np.int32)
        if trace is not None:
            lasting = trace.downtime > 0
            time, downtime, node = trace.time[lasting], trace.downtime[lasting], trace.node[lasting]
        arrays["fail_time"] = (time - origin).astype("<f4")
        arrays["fail_end"] = (time + downtime - origin).astype("<f4")
        arrays["fail_node"] = node.astype("<u4")
        about = [[name, array.dtype.str[1:], len(array)] for name, array in arrays.items()]
        return about, b"".join(array.tobytes() + b"\0" * (-array.nbytes % 4) for array in arrays.values())

    def html(self) -> str:
        """As HTML."""
        machine = self.result.machine
        begin, end = self.result.span
        unit, seconds = time_unit(end - begin)
        about, data = self.columns()
        document = {
            "columns": about,
            "shape": list(machine.shape or ()),
            "span": end - begin,
            "unit": unit,
            "seconds": seconds,
            "fills": list(STRONG),
            "free": THEMES["light"].line,
            "down": THEMES["light"].down,
        }
        packed = base64.b64encode(zlib.compress(data, 9)).decode()
        return "\n".join(
            [
                '<figure class="replay">',
                '<canvas role="img" aria-label="Nodes of the torus over time"></canvas>',
                '<div class="controls"><button type="button">Play</button>',
                '<input type="range" min="0" max="1000" value="500" aria-label="time"><output></output></div>',
                f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else "",
                f'<script type="application/json" class="about">{_safe(document)}</script>',
                f'<script type="application/octet-stream" class="data">{packed}</script>',
                "</figure>",
            ]
        )


def _safe(document: object) -> str:
    """JSON that cannot close the element that contains it."""
    return json.dumps(document, sort_keys=True).replace("<", "\\u003c")
