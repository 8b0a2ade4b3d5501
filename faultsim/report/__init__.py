"""Reports: one HTML file each, with figures and sortable tables inside, that opens without a network.

matplotlib (``pip install "faultsim[plot]"``) is imported when a report is made.
"""

from faultsim.report.page import Code, Page, Picture, Section, Table, Text
from faultsim.report.run import report_run
from faultsim.report.sweep import report_sweep

__all__ = ["Code", "Page", "Picture", "Section", "Table", "Text", "report_run", "report_sweep"]
