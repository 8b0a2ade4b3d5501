"""Names that a decision or its jobs do not have: the nearest one is suggested, by both engines alike."""

import pytest

import faultsim as fs

LOG = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], columns={"colour": [1, 2]})
HINTS = {"sizes": "size", "estimates": "estimate", "colours": "colour", "waits": "wait"}


def read_by(read, engine):
    class Own(fs.Scheduler):
        def schedule(self, decision):
            read(decision)

    with pytest.raises(AttributeError) as error:
        fs.simulate(LOG, fs.Cluster(4), scheduler=Own(), engine=engine)
    return str(error.value)


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("name", HINTS)
def test_columns_of_jobs(name, engine):
    said = read_by(lambda decision: getattr(decision.queue, name), engine)
    assert said == f"jobs have no {name!r} (did you mean {HINTS[name]!r}?), and the log has no such column"


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_decision(engine):
    said = read_by(lambda decision: decision.queu, engine)
    assert said == "'Decision' object has no attribute 'queu' (did you mean 'queue'?)"


def test_orders_in_python():
    class Own(fs.QueueOrder):
        name = "own"

        def keys(self, jobs, now):
            return jobs.sizes

    with pytest.raises(AttributeError, match=r"jobs have no 'sizes' \(did you mean 'size'\?\)"):
        fs.simulate(LOG, fs.Cluster(2), scheduler=fs.EasyBackfill(order=Own()))
