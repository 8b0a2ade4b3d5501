"""Cores, memory and GPUs of a site over time: held, stranded, free."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, colour, legend_below, tidy, verbatim
from faultsim.plot.given import result_of
from faultsim.plot.theme import ThemeName, current, themed
from faultsim.results.site_use import RESOURCES, over_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

Resource = Literal["cores", "memory", "gpus"]
#: Parts of the time axis: means over them are drawn.
_PARTS = 300
_WORDS = {"cores": "cores", "memory": "memory", "gpus": "GPUs"}
_UNITS = ((259_200.0, 86_400.0, "days"), (7_200.0, 3_600.0, "hours"), (0.0, 1.0, "seconds"))


@entry
@themed
def plot_resources(
    run: "Result",
    resource: Resource = "cores",
    *,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw what jobs hold of a resource of a site over time, upon it what is stranded, and from above what is down.

    Means over 300 equal parts of the run are drawn. Free GPUs of a node are stranded while jobs wait for GPUs and each
    of them lacks cores or memory there (model.md#stranded). Down is what is free of nodes that are down, and parts of
    nodes that failed, but for what held jobs keep. The legend has the means over the run, as `Result.utilization` and
    `Result.stranded`.

    Parameters
    ----------
    run : Result
        On a `Site` whose nodes jobs share, made with ``record=True``.
    resource : {"cores", "memory", "gpus"}
        Of which the site has some.
    title : str
        Title.

    Raises
    ------
    OptionError
        If the site has none of it, jobs take whole nodes, or the run was not recorded.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_resources
    >>> log = fs.Workload([0, 0], [10, 10], [1, 1], columns={"cores": [4, 1], "gpus": [0, 1]})
    >>> ax = plot_resources(fs.simulate(log, "site:n=1x4cx2v100", record=True), "gpus")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['held, mean 25.0 %', 'stranded, mean 50.0 %']
    """
    run = result_of("plot_resources", run)
    checks.choice("resource", resource, RESOURCES)
    bounds, found = over_time(run, _PARTS)
    if resource not in found:
        raise OptionError(f"plot_resources: the site has no {_WORDS[resource]}; it has {', '.join(found)}")
    held, stranded, down = (100.0 * share for share in found[resource])
    ax = axes(ax)
    length = float(bounds[-1] - bounds[0])
    unit, word = next((unit, word) for least, unit, word in _UNITS if length >= least)
    at = (bounds - bounds[0]) / unit
    means = [float(np.mean(each)) for each in (held, stranded, down)]
    ax.stairs(held, at, fill=True, color=colour(0), label=f"held, mean {means[0]:.1f} %")
    ax.stairs(
        held + stranded, at, baseline=held, fill=True, facecolor=current().ground, edgecolor=colour(1), hatch="////",
        linewidth=0.0, label=f"stranded, mean {means[1]:.1f} %",
    )  # fmt: skip
    if down.any():
        whole = np.full_like(down, 100.0)
        said = f"down, mean {means[2]:.1f} %"
        ax.stairs(whole, at, baseline=whole - down, fill=True, color=current().down, label=said)
    ax.set_xlim(0.0, max(float(at[-1]), 1e-9))
    ax.set_ylim(0.0, 100.0)
    tidy(ax, x=f"{word} since the first submit", y=f"{_WORDS[resource]} of the site (%)", title=verbatim(title))
    legend_below(ax)
    return ax
