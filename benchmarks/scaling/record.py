"""record=True beside not recording, over CEA-Curie."""

import faultsim as fs
from scaling.row import DATA, Row, cpu


def measure(jobs):
    log = fs.read_swf(DATA / "CEA-Curie-2011-2.1-cln.swf.gz")[:jobs]
    machine = fs.Cluster(93_312)
    kept, plain = (cpu(lambda record=record: fs.simulate(log, machine, record=record)) for record in (True, False))
    return kept, plain, len(log)


ROW = Row(
    title="record=True",
    grows="jobs of CEA-Curie",
    sizes=(4_887, 19_550, 78_201, 312_807),
    measure=measure,
    run="recorded",
    against="not recorded",
    reach="at most 3 times",
)
