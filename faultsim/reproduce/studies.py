"""The table of all studies: the command line, the report of all papers, the documentation and the tests read it."""

from typing import Any

from faultsim.reproduce import bluegene, krevat2002, li2009, oliner2004, rlscheduler, yu2010, zhang2004
from faultsim.reproduce.study import Study

#: Name -> study: the papers in the order of their years, then what is no paper's.
STUDIES: dict[str, Study[Any]] = {
    module.STUDY.name: module.STUDY
    for module in (krevat2002, oliner2004, zhang2004, li2009, yu2010, rlscheduler, bluegene)
}


def papers() -> dict[str, Study[Any]]:
    """The studies that repeat a paper.

    Examples
    --------
    >>> list(papers())
    ['krevat2002', 'oliner2004', 'zhang2004', 'li2009', 'yu2010', 'rlscheduler']
    """
    return {name: study for name, study in STUDIES.items() if study.paper}
