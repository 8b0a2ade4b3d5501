"""Reports: single HTML files with figures and sortable tables, which open without a network.

matplotlib (``pip install "faultsim[plot]"``) is imported when a report is made.
"""

from faultsim.checks import no_name as _no_name
from faultsim.checks import show_types_of as _show_types_of
from faultsim.entries import guard as _guard
from faultsim.report.numbers import Amount, Term
from faultsim.report.page import Code, Page, Picture, Section, Stack, Text, Warnings
from faultsim.report.run import report_run
from faultsim.report.sweep import report_sweep
from faultsim.report.table import Table
from faultsim.report.workflows import report_workflows

__all__ = [
    "Amount",
    "Code",
    "Page",
    "Picture",
    "Section",
    "Stack",
    "Table",
    "Term",
    "Text",
    "Warnings",
    "report_run",
    "report_sweep",
    "report_workflows",
]

_show_types_of(globals())
_guard(globals())


def __getattr__(name: str) -> object:
    """A wrong name gets a did-you-mean."""
    raise _no_name(__name__, name, __all__)
