"""Figures; every function takes a result, an optional Axes and a theme, and returns the Axes.

matplotlib (``pip install "faultsim[plot]"``) is imported when a figure is drawn, and pyplot never: figures are plain
`matplotlib.figure.Figure` objects on the Agg canvas, so nothing global is touched and threads may draw.
"""

from faultsim.checks import no_name as _no_name
from faultsim.checks import show_types_of as _show_types_of
from faultsim.plot.base import PALETTE, new_figure, require_matplotlib, save
from faultsim.plot.curves import plot_capacity, plot_curves, plot_job_sizes
from faultsim.plot.distribution import plot_distribution
from faultsim.plot.gantt import plot_gantt
from faultsim.plot.groups import plot_waits_by
from faultsim.plot.kiviat import plot_kiviat
from faultsim.plot.ledger import plot_ledger
from faultsim.plot.occupancy import animate_occupancy, occupancy, plot_occupancy
from faultsim.plot.promises import plot_promises
from faultsim.plot.recorded import plot_against_recorded
from faultsim.plot.resources import plot_resources
from faultsim.plot.saturation import plot_saturation
from faultsim.plot.sweeps import plot_differences, plot_heatmap, plot_panels, plot_sweep
from faultsim.plot.theme import use_theme
from faultsim.plot.timeline import plot_queue, plot_utilization
from faultsim.plot.workflow import plot_workflow

__all__ = [
    "PALETTE",
    "animate_occupancy",
    "new_figure",
    "occupancy",
    "plot_against_recorded",
    "plot_capacity",
    "plot_curves",
    "plot_differences",
    "plot_distribution",
    "plot_gantt",
    "plot_heatmap",
    "plot_job_sizes",
    "plot_kiviat",
    "plot_ledger",
    "plot_occupancy",
    "plot_panels",
    "plot_promises",
    "plot_queue",
    "plot_resources",
    "plot_saturation",
    "plot_sweep",
    "plot_utilization",
    "plot_waits_by",
    "plot_workflow",
    "require_matplotlib",
    "save",
    "use_theme",
]

_show_types_of(globals())


def __getattr__(name: str) -> object:
    """A wrong name gets a did-you-mean."""
    raise _no_name(__name__, name, __all__)
