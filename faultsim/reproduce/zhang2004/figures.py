"""Figures 1 to 11 of [zhang2004] in the paper's arrangement, and the numbers behind each as CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faultsim.plot import PALETTE, plot_curves
from faultsim.plot.base import new_figure, tidy
from faultsim.plot.curves import MARKERS
from faultsim.reproduce.pictures import HOLLOW, band
from faultsim.reproduce.study import Drawing, Rows
from faultsim.reproduce.zhang2004.inputs import COUNTS, DAY, failures
from faultsim.reproduce.zhang2004.runs import HEURISTICS, KINDS, PERIODS, READINGS, Evidence, View
from faultsim.sweep.jackknife import half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A curve: label, kind of failures, policy.
Line = tuple[str, str, str]
_WORDS = {"arrival": "requeued by arrival", "tail": "requeued at the tail"}
#: Column -> label of its axis, its scale, whether logarithmic.
_AXES = {
    "slowdown": ("mean slowdown", 1.0, True),
    "work_loss": ("work loss ratio (%)", 100.0, False),
    "checkpoint_overhead": ("checkpoint overhead (%)", 100.0, False),
}


@dataclass(frozen=True)
class Picture:
    """A figure over the average job execution time: panels side by side, columns and readings below each other."""

    title: str
    panels: dict[str, Sequence[Line]]
    columns: tuple[str, ...] = ("slowdown", "work_loss")

    def lines(self, column: str, panel: str) -> list[Line]:
        """The curves of one panel; those without failures have neither loss nor overhead."""
        return [line for line in self.panels[panel] if line[1] or column == "slowdown"]


_CLEAN: Line = ("no failures", "", "none")
_TRACES = {"(a) no correlation": "b85", "(b) in time (W = 64)": "w64", "(c) in space (alpha = .99)": "a99"}


def _periodic(kind: str) -> list[Line]:
    return [_CLEAN, ("no checkpoints", kind, "none"), *((f"every {h} h", kind, f"periodic {h} h") for h in PERIODS)]


def _buckets(kind: str, policies: dict[str, str]) -> list[Line]:
    return [_CLEAN, ("no checkpoints", kind, "none"), *((label, kind, policy) for label, policy in policies.items())]


_FOUR = {f"{name} jobs": f"4 h {name}" for name in HEURISTICS}
#: Name -> figure. Figures 1 and 2 show the failures alone.
FIGURES: dict[str, Picture] = {
    "fig3": Picture(
        "Fig. 3. The impact of failure arrivals",
        {
            "(a) times between failures": [
                _CLEAN,
                *((f"shape {s:g}", kind, "none") for s, kind in zip(COUNTS, ("b20", "b55", "b65", "b85"), strict=True)),
            ],
            "(b) correlation in time": [_CLEAN, *((f"W = {w}", f"w{w}", "none") for w in (2, 8, 32, 64))],
            "(c) locations": [
                _CLEAN,
                *((f"alpha = {a}", k, "none") for a, k in ((".01", "b85"), (".5", "w2"), (".99", "a99"))),
            ],
        },
    ),
    "fig4": Picture(
        "Fig. 4. The impact of down times",
        {
            name: [
                _CLEAN,
                ("down 2 min", kind, "none"),
                *((f"down {h} h", f"{kind}, {h} h down", "none") for h in (1, 4)),
            ]
            for name, kind in _TRACES.items()
        },
    ),
    "fig5": Picture(
        "Fig. 5. Periodic checkpoints, failures without correlation",
        {"(i) 3.2 failures a day": _periodic("b65"), "(ii) 1.2 failures a day": _periodic("b20")},
        ("slowdown", "work_loss", "checkpoint_overhead"),
    ),
    "fig6": Picture(
        "Fig. 6. Periodic checkpoints, failures with correlation",
        {"(i) in time (W = 64)": _periodic("w64"), "(ii) in space (alpha = .99)": _periodic("a99")},
        ("slowdown", "work_loss", "checkpoint_overhead"),
    ),
    "fig7": Picture(
        "Fig. 7. A checkpoint right before each failure",
        {name: _buckets(kind, {"before each failure": "before"}) for name, kind in _TRACES.items()},
    ),
    "fig8": Picture(
        "Fig. 8. Checkpoints in buckets with failures",
        {
            f"({letter}) {name} jobs": _buckets(
                "b85", {"perfect": "before", **{f"{h} h buckets": f"{h} h {name}" for h in (1, 4, 8)}}
            )
            for letter, name in zip("abc", HEURISTICS, strict=True)
        },
    ),
    "fig9": Picture(
        "Fig. 9. Whom to checkpoint in 4 h buckets",
        {"no correlation": _buckets("b85", _FOUR)},
        ("slowdown", "work_loss", "checkpoint_overhead"),
    ),
    "fig10": Picture(
        "Fig. 10. Whom to checkpoint in 4 h buckets, failures with correlation",
        {"(a) in time (W = 64)": _buckets("w64", _FOUR), "(b) in space (alpha = .99)": _buckets("a99", _FOUR)},
    ),
    "fig11": Picture(
        "Fig. 11. Least failures first",
        {
            name: [_CLEAN, ("first fit", kind, "none"), ("least failures first", kind, "LFF 1")]
            for name, kind in _TRACES.items()
        },
    ),
}


def _panel(ax: "Axes", view: View, picture: Picture, column: str, panel: str, title: str) -> None:
    label, scale, log = _AXES[column]
    hours = view.execution_time / 3600.0
    # Colour and marker belong to a curve of the panel, also where the run without failures is left out.
    looks = {
        line[0]: {"color": PALETTE[i % len(PALETTE)], "marker": MARKERS[i % len(MARKERS)]}
        for i, line in enumerate(picture.panels[panel][1:])
    }
    curves, styles = {}, {}
    for name, kind, policy in picture.lines(column, panel):
        values = view(column, kind, policy) * scale
        mean, half = values.mean(axis=1), np.nan_to_num(half_width(values))
        style: dict[str, Any] = looks[name] if kind else HOLLOW
        curves[name], styles[name] = (hours, mean), style
        least = 0.02 * mean if log else np.zeros(len(mean))
        band(ax, hours, np.maximum(mean - half, least), mean + half, style["color"])
    plot_curves(curves, ax=ax, y=label, log=log, title=title, styles=styles)
    ax.title.set_fontsize(9)
    if not log:
        ax.set_ylim(bottom=0)


def _picture(evidence: Evidence, workload: str, picture: Picture) -> "Figure":
    """Panels and readings make up the grid: readings below each other, or side by side where there is room."""
    panels, columns = list(picture.panels), list(picture.columns)
    # (reading, column, panel) -> (row, column of the grid).
    single = len(panels) == 1
    if single:
        across, down = len(columns), len(READINGS)
        place = {(r, c, 0): (r, c) for r in range(down) for c in range(across)}
    elif len(panels) == 2:
        across, down = len(READINGS) * 2, len(columns)
        place = {(r, c, p): (c, 2 * r + p) for r in range(len(READINGS)) for c in range(down) for p in range(2)}
    else:
        across, down = len(panels), len(READINGS) * len(columns)
        place = {
            (r, c, p): (r * len(columns) + c, p)
            for r in range(len(READINGS))
            for c in range(len(columns))
            for p in range(across)
        }
    width, height = 3.2 * across + 0.4, 2.4 * down + 1.2
    figure = new_figure(width, height, constrained=False)  # working the margins out takes as long as drawing
    figure.subplots_adjust(
        0.65 / width, 0.8 / height, 1 - 0.1 / width, 1 - 0.75 / height, wspace=0.28, hspace=0.36 if single else 0.3
    )
    axes = figure.subplots(down, across, sharex=True, squeeze=False)
    for (r, c, p), (row, column) in place.items():
        title = f"{panels[p]}\n{_WORDS[READINGS[r]]}" if c == 0 or single else ""
        _panel(axes[row][column], evidence.view(workload, READINGS[r]), picture, columns[c], panels[p], title)
    for ax in axes[-1]:
        ax.set_xlabel("average job execution time (h)", fontsize=9)
    _legends(figure, axes, picture)
    quick = "  [quick run]" if evidence.quick else ""
    figure.suptitle(f"{picture.title}: {evidence.sources[workload].label}{quick}", fontsize=11, y=1 - 0.12 / height)
    return figure


def _legends(figure: "Figure", axes: "NDArray[np.object_]", picture: Picture) -> None:
    """One for the figure where the panels share their curves, else one a panel."""
    names = [[label for label, _, _ in lines] for lines in picture.panels.values()]
    if all(one == names[0] for one in names):
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=8)
        return
    for ax in axes[0]:
        ax.legend(frameon=False, fontsize=7, loc="upper left")


def _arrivals(evidence: Evidence, kinds: dict[str, str], title: str) -> "Figure":
    """Failures so far over time, and the times between them for the first and the last kind, of the first replicate."""
    figure = new_figure(9.0, 3.6)
    left, right = figure.subplots(1, 2)
    for i, (label, name) in enumerate(kinds.items()):
        trace = failures(KINDS[name], seed=evidence.seed, replicate=0, days=evidence.what.days)
        days, colour = trace.time / DAY, PALETTE[i]
        left.step(days, np.arange(1, len(days) + 1), where="post", color=colour, label=label, lw=1.3)
        gaps = np.diff(trace.time, prepend=0.0) / 3600.0
        if i in (0, len(kinds) - 1):  # all of them would hide each other
            right.plot(np.arange(1, len(gaps) + 1), gaps, color=colour, lw=0.9, marker=".", markersize=2.5)
    left.set(xlabel="days", ylabel="failures so far")
    right.set(xlabel="number of the failure", ylabel="hours since the one before")
    right.set_yscale("log")
    left.legend(frameon=False, fontsize=8)
    tidy(left)
    tidy(right)
    figure.suptitle(title, fontsize=11)
    return figure


_ARRIVALS = {
    "fig1": (
        "Fig. 1. Failures with different shapes",
        {f"shape {KINDS[k].shape:g}": k for k in ("b20", "b55", "b65", "b85")},
    ),
    "fig2": (
        "Fig. 2. Failures with different W, shape .85",
        {f"W = {KINDS[k].window}": k for k in ("w2", "w8", "w32", "w64")},
    ),
}


def _arrival_rows(evidence: Evidence, kinds: dict[str, str]) -> Rows:
    yield ("failures", "number", "time_s", "node")
    for label, name in kinds.items():
        trace = failures(KINDS[name], seed=evidence.seed, replicate=0, days=evidence.what.days)
        for i in range(len(trace)):
            yield (label, i + 1, f"{trace.time[i]:.3f}", int(trace.node[i]))


def _rows(evidence: Evidence, workload: str, picture: Picture) -> Rows:
    yield (
        "requeue", "panel", "curve", "factor", "execution_time_s",
        *(name for column in picture.columns for name in (column, f"{column}_half")),
    )  # fmt: skip
    for reading in READINGS:
        view = evidence.view(workload, reading)
        for panel, lines in picture.panels.items():
            for label, kind, policy in lines:
                values = [view(column, kind, policy) for column in picture.columns]
                for at, factor in enumerate(view.factors):
                    numbers = [f"{x:.6g}" for v in values for x in (v[at].mean(), float(half_width(v[at])))]
                    yield (reading, panel, label, factor, f"{view.execution_time[at]:.1f}", *numbers)


def drawn(evidence: Evidence) -> Iterator[Drawing]:
    """Every figure with its numbers."""
    for name, (title, kinds) in _ARRIVALS.items():
        yield name, _arrivals(evidence, kinds, title), _arrival_rows(evidence, kinds)
    # Drawing takes as long as the runs of a quick run: there, the real log is in the claims and in points.csv only.
    for workload in ("fit",) if evidence.quick else evidence.sources:
        for name, picture in FIGURES.items():
            suffix = "" if workload == "fit" else f"-{workload}"
            yield f"{name}{suffix}", _picture(evidence, workload, picture), _rows(evidence, workload, picture)
