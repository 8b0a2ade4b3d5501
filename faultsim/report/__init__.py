"""Reports: single HTML files with figures and sortable tables, which open without a network.

matplotlib (``pip install "faultsim[plot]"``) is imported when a report is made.
"""

from faultsim.report.page import Code, Page, Picture, Section, Table, Text
from faultsim.report.run import report_run
from faultsim.report.sweep import report_sweep

__all__ = ["Code", "Page", "Picture", "Section", "Table", "Text", "report_run", "report_sweep"]
