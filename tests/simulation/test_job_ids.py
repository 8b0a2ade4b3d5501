"""Jobs that copies of a simulation submit, each its own, against plain lists."""

import random

import numpy as np
import pytest

import faultsim as fs
from faultsim.simulation.job_ids import JobIds

STEPS = 300


@pytest.mark.parametrize("seed", range(8))
def test_ids_of_copies_are_those_of_lists(seed):
    rng = random.Random(seed)
    first = [rng.randrange(40) for _ in range(rng.randrange(5))]  # some occur twice
    found = [(JobIds(first), list(first))]
    for _ in range(STEPS):
        ids, names = rng.choice(found)
        act = rng.random()
        if act < 0.2 and len(found) < 6:
            found.append((ids.copy(), list(names)))
        elif act < 0.3 and len(found) > 1:
            found.remove((ids, names))
        else:
            new = [name for name in rng.sample(range(9999), 3) if name not in names]
            ids.extend(new)
            if rng.random() < 0.3:
                ids.take_back(len(new))
            else:
                names.extend(new)
        for each, wanted in found:
            assert [each[row] for row in range(len(each))] == wanted
            asked = {*rng.sample(range(9999), 5), *rng.sample(wanted, min(5, len(wanted)))}
            for name in asked:
                row = each.row(name)
                assert (row is None) if name not in wanted else wanted[row] == name
            assert each.repeated.keys() == {name for name in wanted if wanted.count(name) > 1}


@pytest.mark.parametrize("seed", range(4))
def test_copies_submit_jobs_of_their_own(seed):
    """Their logs and results are those of simulations that share nothing."""
    rng = random.Random(seed)
    sims = [(fs.Simulation(None, fs.Cluster(4), live=True), fs.Simulation(None, fs.Cluster(4), live=True))]
    for _ in range(60):
        shared, alone = sims[place := rng.randrange(len(sims))]
        act, now = rng.random(), shared.now
        if act < 0.2 and len(shared.log if shared._execution.n_jobs else ""):
            again = fs.Simulation(None, fs.Cluster(4), live=True)
            for part in alone._execution._told._parts:
                again.submit(part) if isinstance(part, fs.Workload) else again.submit(**part._asdict())
            sims.append((shared.copy(), again))
            del sims[: len(sims) - 4]
            continue
        if act < 0.5:
            jobs = {"submit": now + rng.randrange(9), "size": rng.randint(1, 5), "runtime": rng.randrange(9)}
            jobs |= rng.choice([{}, {"id": rng.randrange(40)}])
        else:
            n = rng.randint(1, 3)
            jobs = {"submit": sorted(now + rng.randrange(9) for _ in range(n)), "size": [1] * n, "runtime": [4.5] * n}
            jobs |= rng.choice([{}, {"id": rng.sample(range(40), n)}])
        outcomes = []
        for sim in sims[place]:
            try:
                outcomes.append(sim.submit(**jobs))
            except fs.InputError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        for one, other in sims:
            if one._execution.n_jobs:
                assert one.log == other.log
                mine, theirs = one._execution._told, other._execution._told
                for name, column in mine.items():
                    np.testing.assert_array_equal(column, theirs[name])
                    assert column.dtype == theirs[name].dtype
    for one, other in sims:
        one.run()
        other.run()
        if one._execution.n_jobs:
            np.testing.assert_array_equal(one.result().jobs["start"], other.result().jobs["start"])
