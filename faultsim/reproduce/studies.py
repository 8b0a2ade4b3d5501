"""The table of all studies: the command line, the report of all papers, the documentation and the tests read it."""

from typing import Any

from faultsim.reproduce import (
    bluegene,
    krevat2002,
    li2009,
    oliner2004,
    pods,
    rlscheduler,
    site,
    torus3d,
    yu2010,
    zhang2004,
)
from faultsim.reproduce.krevat2002 import readings as of_krevat2002
from faultsim.reproduce.li2009 import readings as of_li2009
from faultsim.reproduce.oliner2004 import readings as of_oliner2004
from faultsim.reproduce.readings import Readings
from faultsim.reproduce.study import Study
from faultsim.reproduce.yu2010 import readings as of_yu2010
from faultsim.reproduce.zhang2004 import readings as of_zhang2004

#: Name -> study: the papers in the order of their years, then what is no paper's.
STUDIES: dict[str, Study[object]] = {
    module.STUDY.name: module.STUDY
    for module in (krevat2002, oliner2004, zhang2004, li2009, yu2010, rlscheduler, bluegene, pods, torus3d, site)
}

#: Name -> the readings of what its paper leaves open, where they are done.
READINGS: dict[str, Readings[Any]] = {
    "krevat2002": of_krevat2002.READINGS,
    "oliner2004": of_oliner2004.READINGS,
    "zhang2004": of_zhang2004.READINGS,
    "li2009": of_li2009.READINGS,
    "yu2010": of_yu2010.READINGS,
}


def papers() -> dict[str, Study[object]]:
    """The studies that repeat a paper.

    Examples
    --------
    >>> list(papers())
    ['krevat2002', 'oliner2004', 'zhang2004', 'li2009', 'yu2010', 'rlscheduler']
    """
    return {name: study for name, study in STUDIES.items() if study.paper}
