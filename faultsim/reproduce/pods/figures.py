"""The figures of the study: theory as lines, simulation as points with bands."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from faultsim.plot import PALETTE
from faultsim.plot.base import new_figure, tidy
from faultsim.reproduce.pictures import legend_below, titled
from faultsim.reproduce.pods import laws, titan, training
from faultsim.reproduce.pods.inputs import EXTENTS
from faultsim.reproduce.pods.runs import REPLAYED, Evidence, replayed
from faultsim.reproduce.pods.table_claims import CONFIDENCE, SIZES
from faultsim.reproduce.study import Rows
from faultsim.sweep.jackknife import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"static": PALETTE[1], "switched": PALETTE[0]}
_POLICY_COLOURS = {"no": "#000000", "balancing": PALETTE[0], "tie-breaking": PALETTE[2]}
_MARKS = {"static": "s", "switched": "o"}
_LINES = {"static": (0, (5, 2)), "switched": "-"}


def _points(ax: "Axes", x: ArrayLike, found: Sequence[Estimate], wiring: str, words: str) -> None:
    """Simulated points with their intervals."""
    values, halves = [each.value for each in found], np.nan_to_num([each.half for each in found])
    colour = _COLOURS[wiring]
    ax.errorbar(
        x, values, halves, linestyle="none", marker=_MARKS[wiring], markersize=5, color=colour, capsize=4, label=words
    )


def _over_availability(
    column: str, exact: Callable[[int, float, str], float], label: str, more: str = ""
) -> Callable[..., "Figure"]:
    """Six panels, one a size of slice: a share of the pod over the availability of hosts."""

    def draw(e: Evidence) -> "Figure":
        figure = new_figure(10.0, 6.4)
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        levels = sorted(e.what.levels)
        grid = np.linspace(min(0.985, levels[0]), 0.9998, 149)
        for ax, cubes in zip(panels.flat, laws.TABLE, strict=True):
            for wiring in laws.WIRINGS:
                line = [exact(cubes, float(a), wiring) for a in grid]
                ax.plot(
                    100 * grid, line, color=_COLOURS[wiring], linestyle=_LINES[wiring], linewidth=1.4,
                    label=f"{wiring}, closed form",
                )  # fmt: skip
                found = [
                    e.of(
                        column, "table", wiring, cubes, a, "exponential", confidence=CONFIDENCE,
                        scale=cubes / laws.CUBES,
                    )
                    for a in levels
                ]  # fmt: skip
                _points(ax, [100 * a for a in levels], found, wiring, f"{wiring}, simulated")
            tidy(ax, x="availability of hosts (%)", y=label, title=f"{SIZES[cubes]} chips")
            ax.set_xticks([98.5, 99.0, 99.5, 100.0], ["98.5", "99", "99.5", "100"])
            ax.set_ylim(-0.03, 1.03)
            ax.label_outer()
        legend_below(figure, panels.flat[0], 4)
        titled(figure, f"{label.capitalize()} of 64 cubes{more}, 99.9 % intervals", e)
        return figure

    return draw


def _over_availability_rows(column: str, exact: Callable[[int, float, str], float]) -> Callable[[Evidence], Rows]:
    def rows(e: Evidence) -> Rows:
        yield ("chips", "wiring", "availability", "closed_form", "simulated", "half_width")
        for cubes in laws.TABLE:
            for wiring in laws.WIRINGS:
                for a in sorted(e.what.levels):
                    found = e.of(column, "table", wiring, cubes, a, "exponential", confidence=CONFIDENCE)
                    scale = cubes / laws.CUBES
                    yield (
                        cubes * laws.CHIPS, wiring, a, f"{exact(cubes, a, wiring):.6f}", f"{scale * found.value:.6f}",
                        f"{scale * found.half:.6f}",
                    )  # fmt: skip

    return rows


def _training_figure(e: Evidence) -> "Figure":
    """Left: Meta's formula over the size of the job; right: the useful share over the period."""
    figure = new_figure(10.0, 4.6)
    left, right = figure.subplots(1, 2)
    gpus = np.geomspace(512, 32_768, 60)
    for rate, wiring in zip(training.RATES, laws.WIRINGS, strict=True):
        colour = _COLOURS[wiring]
        for rule, line in (("first-order", "-"), ("renewal", ":")):
            values = [training.of_meta(int(n), rate).formula(rule) for n in gpus]
            words = "formula" if rule == "first-order" else "exact"
            left.plot(gpus, values, color=colour, linestyle=line, linewidth=1.4, label=f"{words}, {rate}")
        found = [e.of("ettr", "ettr", "cluster", n, rate) for n in training.ETTR_GPUS]
        _points(left, training.ETTR_GPUS, found, wiring, f"simulated, {rate}")
    left.set_xscale("log", base=2)
    left.set_xticks([1024, 4096, 16_384], ["1,024", "4,096", "16,384"])
    tidy(left, x="GPUs", y="effective training time ratio", title="Failures per 1,000 node-days")
    for (how, mean), wiring in zip(training.MEANS.items(), laws.WIRINGS, strict=True):
        best = training.best_period(mean)
        factors = np.geomspace(0.2, 5.0, 80)
        right.plot(
            factors, [training.availability(mean, f * best) for f in factors], color=_COLOURS[wiring], linewidth=1.4,
            label=f"formula, every {how}",
        )  # fmt: skip
        found = [e.of("ettr", "period", "cluster", 0, f, how) for f in training.FACTORS]
        _points(right, training.FACTORS, found, wiring, f"simulated, every {how}")
    right.axvline(1.0, color="#5F6368", linestyle=":", linewidth=1.0)
    right.set_xscale("log", base=2)
    right.set_xticks([0.25, 0.5, 1.0, 2.0, 4.0], ["1/4", "1/2", "1", "2", "4"])
    tidy(right, x="period, as a multiple of the best one", y="useful share", title="A failure every 1.8 or 3.1 hours")
    for ax in (left, right):
        ax.legend(fontsize=8, framealpha=1.0, edgecolor="none", loc="lower left" if ax is left else "lower center")
    titled(figure, "One long training job", e)
    return figure


def _training_rows(e: Evidence) -> Rows:
    yield ("what", "at", "of", "formula", "simulated", "half_width")
    for rate in training.RATES:
        for gpus in training.ETTR_GPUS:
            found = e.of("ettr", "ettr", "cluster", gpus, rate)
            formula = training.of_meta(gpus, rate).formula()
            yield ("ETTR", gpus, rate, f"{formula:.6f}", f"{found.value:.6f}", f"{found.half:.6f}")
    for how, mean in training.MEANS.items():
        for factor in training.FACTORS:
            found = e.of("ettr", "period", "cluster", 0, factor, how)
            formula = training.availability(mean, factor * training.best_period(mean))
            yield ("period", factor, how, f"{formula:.6f}", f"{found.value:.6f}", f"{found.half:.6f}")


def _record_figure(e: Evidence) -> "Figure":
    """StepFun's record: slices of each size on average and promised, beside the closed form."""
    figure = new_figure(10.0, 4.4)
    cubes = REPLAYED
    for ax, (column, words) in zip(
        figure.subplots(1, 2, sharey=True), (("slices", "on average"), ("promised", "97 % of the time")), strict=True
    ):
        for shift, wiring in ((-0.14, "static"), (0.14, "switched")):
            at = np.arange(len(cubes)) + shift
            shown = [(x, k) for x, k in zip(at, cubes, strict=True) if k > 1 or wiring == "switched"]
            found = [e.of(column, "record", wiring, k, scale=k / 25) for _, k in shown]
            ax.errorbar(
                [x for x, _ in shown], [each.value for each in found], [each.half for each in found], linestyle="none",
                marker=_MARKS[wiring], color=_COLOURS[wiring], capsize=3, label=f"{wiring}, the record",
            )  # fmt: skip
            exact = laws.mean_share if column == "slices" else laws.promised_share
            ax.plot(
                [x for x, _ in shown], [exact(k, e.server_availability, wiring, EXTENTS) for _, k in shown],
                linestyle="none", marker="_", markersize=16, markeredgewidth=2, color=_COLOURS[wiring], alpha=0.6,
                label=f"{wiring}, if servers were independent",
            )  # fmt: skip
        ax.set_xticks(range(len(cubes)), [f"{k} cube{'s' if k > 1 else ''}" for k in cubes])
        ax.set_ylim(-0.03, 1.03)
        tidy(ax, x="slice", y="share of 25 cubes" if column == "slices" else "", title=words)
    legend_below(figure, figure.axes[0], 4)
    record = e.records["stepfun"]
    figure.suptitle(f"{record.label}'s record on a pod" + ("" if record.real else " (stand-in)"), fontsize=12)
    return figure


def _record_rows(e: Evidence) -> Rows:
    yield ("cubes", "wiring", "column", "independent", "record", "half_width")
    for wiring, cubes in replayed():
        for column, exact in (("slices", laws.mean_share), ("promised", laws.promised_share)):
            found = e.of(column, "record", wiring, cubes, scale=cubes / 25)
            law = exact(cubes, e.server_availability, wiring, EXTENTS)
            yield (cubes, wiring, column, f"{law:.6f}", f"{found.value:.6f}", f"{found.half:.6f}")


def _titan_figure(e: Evidence) -> "Figure":
    """Oliner's schedulers on Titan's record: slowdown and work lost by policy."""
    figure = new_figure(10.0, 4.4)
    columns = (("slowdown", "average bounded slowdown", 1.0), ("lost_work", "work lost (% of the jobs' work)", 100.0))
    for ax, (column, label, scale) in zip(figure.subplots(1, 2), columns, strict=True):
        for at, policy in enumerate(titan.POLICIES):
            found = e.of(column, "titan", "torus", 0, 0.0, policy, scale=scale)
            colour = _POLICY_COLOURS[policy.rpartition(" ")[0]]
            ax.errorbar([at], [found.value], [found.half], marker="o", color=colour, capsize=3)
        ax.set_xticks(
            range(len(titan.POLICIES)), [policy.replace(" ", "\n").replace("-", "-\n") for policy in titan.POLICIES]
        )
        ax.tick_params(axis="x", labelsize=8)
        ax.set_ylim(bottom=0.0)
        tidy(ax, y=label)
    record = e.records["titan"]
    figure.suptitle(f"Titan's record on a torus{'' if record.real else ' (stand-in)'}, {e.what.replays} replicates")
    return figure


def _titan_rows(e: Evidence) -> Rows:
    yield ("policy", "column", "mean", "half_width")
    for policy in titan.POLICIES:
        for column in ("slowdown", "lost_work"):
            found = e.of(column, "titan", "torus", 0, 0.0, policy)
            yield (policy, column, f"{found.value:.6g}", f"{found.half:.6g}")


FIGURES: dict[str, tuple[Callable[[Evidence], "Figure"], Callable[[Evidence], Rows] | None]] = {
    "promised": (
        _over_availability("promised", laws.promised_share, "promised share", " with 97 %"),
        _over_availability_rows("promised", laws.promised_share),
    ),
    "mean": (
        _over_availability("slices", laws.mean_share, "mean share"),
        _over_availability_rows("slices", laws.mean_share),
    ),
    "training": (_training_figure, _training_rows),
    "stepfun": (_record_figure, _record_rows),
    "titan": (_titan_figure, _titan_rows),
}
