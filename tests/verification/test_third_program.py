"""The engine against a third program, on seeded random cases: every job, box, move and count must be equal.

Small machines, short logs and few distinct times, so that ties, overruns, missed reservations and fragmentation are
the rule and not the exception; and the same with times that doubles cannot hold exactly.
"""

import functools
import random
from collections import Counter

import pytest
import third_program

import faultsim as fs
from faultsim.results.metrics import ledger_error

DIMS = [(2, 2, 3), (3, 2, 4), (1, 1, 7), (2, 3, 3), (4, 2, 2), (1, 3, 5), (1, 1, 1)]
ORDERS = ["arrival", "arrival", "arrival", "shortest", "largest", "wfp3", "unicef"]
BOX_ORDERS = ["extents-descending", "extents-descending", "extents-ascending", "bases"]
SCHEDULERS = {"fcfs": fs.Fcfs, "easy": fs.EasyBackfill, "conservative": fs.ConservativeBackfill}
PLACEMENTS = {"first_fit": fs.FirstFit, "max_free_partition": fs.MaxFreePartition}

torus_of = functools.cache(third_program.Torus)


def draw(rng, kind, fractional):
    """One case: columns, machine (a number of nodes, or the arguments of a torus), options of the third program."""
    n = rng.randint(1, 22)
    unit = rng.choice([0.1, 1 / 3, 0.7]) if fractional else 1.0
    last, overruns = rng.choice([3, 10, 40]), rng.random() < 0.5
    submit = sorted(float(rng.randint(0, last)) for _ in range(n))
    runtime = [float(rng.choice([0, 1, 2, 3, 5, 8, rng.randint(0, 15)])) for _ in range(n)]
    surplus = [0, 0, 1, 4, -1, -2] if overruns else [0, 0, 1, 4, 10]
    estimate = [max(0.0, time + rng.choice(surplus)) for time in runtime]
    options = {
        "scheduler": "conservative" if kind == "conservative" else rng.choice(["fcfs", "easy", "easy", "conservative"]),
        "order": rng.choice(ORDERS),
        "max_growth": rng.choice([0, 1, 1, 2, 5]),
        "overrun": "kill" if rng.random() < 0.2 else "extend",
        "start_delay": rng.choice([0, 0, 0, 1, 0.5]) * unit,
    }
    if kind == "cluster":
        machine = nodes = rng.choice([1, 3, 5, 8])
    else:
        machine = (*rng.choice(DIMS), rng.random() < 0.7, rng.choice(BOX_ORDERS))
        nodes = machine[0] * machine[1] * machine[2]
        options["placement"] = rng.choice(list(PLACEMENTS))
        options["reservation"] = rng.choice(["any", "fixed"])
        if rng.random() < 0.5:
            options["migration"] = {
                "min_free": rng.choice([0, 0.1, 0.3]),
                "max_concentration": rng.choice([0.5, 0.7, 0.9, 1]),
                "cost": float(rng.choice([0, 0, 1, 3])),
                "when": rng.choice(["waiting", "always"]),
                "keep_promise": rng.random() < 0.4,
            }
    columns = {
        "submit": [time * unit for time in submit],
        "runtime": [time * unit for time in runtime],
        "estimate": [time * unit for time in estimate],
        "size": [rng.choice([1, rng.randint(1, nodes), rng.randint(1, max(1, nodes // 2))]) for _ in range(n)],
    }
    return columns, machine, options


def by_third_program(columns, machine, options):
    on_torus = isinstance(machine, tuple)
    done = third_program.Program(**columns, machine=torus_of(*machine) if on_torus else machine, **options).run()
    names = ("start", "finish", "allocated", "moves", "backfilled", "runtime")
    schedule = {name: [getattr(job, name) for job in done.jobs] for name in names}
    if on_torus:
        schedule["boxes"] = [job.box.place for job in done.jobs]
        schedule["migrations"] = (done.attempted, done.successful)
    return schedule


def by_engine(columns, machine, options):
    on_torus, scheduler = isinstance(machine, tuple), options["scheduler"]
    policy = {"order": options["order"]}
    if on_torus and scheduler != "fcfs":
        policy["max_growth"] = options["max_growth"]
    if on_torus and scheduler == "easy":
        policy["reservation"] = options["reservation"]
    migration = options.get("migration")
    result = fs.simulate(
        fs.Workload(**columns),
        fs.Torus(*machine[:3], wrap=machine[3]) if on_torus else fs.Cluster(machine),
        scheduler=SCHEDULERS[scheduler](**policy),
        placement=PLACEMENTS[options["placement"]](box_order=machine[4]) if on_torus else None,
        migration=fs.Defragment(**migration) if migration else None,
        overrun=options["overrun"],
        start_delay=options["start_delay"],
        record=True,
    )
    assert ledger_error(result) <= 1e-9
    names = ("start", "finish", "allocated", "moves", "backfilled", "runtime")
    schedule = {name: result.jobs[name].tolist() for name in names}
    if on_torus:
        rows = zip(*(result.allocations[name].tolist() for name in ("job", *"xyzabc")), strict=True)
        last_box = {job: tuple(place) for job, *place in rows}
        schedule["boxes"] = [last_box[job] for job in range(len(columns["submit"]))]
        schedule["migrations"] = tuple(result.counters[f"migrations_{what}"] for what in ("attempted", "successful"))
    return schedule


def assert_same_schedules(kind, fractional, cases, seed):
    rng, seen = random.Random(seed), Counter()
    for number in range(cases):
        case = draw(rng, kind, fractional)
        expected, got = by_third_program(*case), by_engine(*case)
        differ = [name for name in expected if got[name] != expected[name]]
        assert not differ, f"case {number}, {differ}: {case}\nthird program: {expected}\nengine: {got}"
        seen["backfilled"] += any(expected["backfilled"])
        seen["moved"] += any(expected["moves"])
        seen["grown"] += expected["allocated"] != case[0]["size"]
    # A draw in which nothing of interest happens would show nothing.
    for what in ("backfilled",) if kind == "cluster" else ("backfilled", "moved", "grown"):
        assert seen[what] > 0.05 * cases, (what, seen)


#: Kind -> cases in the default part.  "torus" has every scheduler, and meshes; "conservative" is that one on them.
CASES = {"cluster": 900, "torus": 950, "conservative": 750}


@pytest.mark.parametrize("fractional", [False, True], ids=["whole", "fractional"])
@pytest.mark.parametrize(("kind", "cases"), CASES.items())
def test_random_cases(kind, cases, fractional):
    assert_same_schedules(kind, fractional, cases, seed=f"{kind} {fractional}")


@pytest.mark.slow
@pytest.mark.parametrize("fractional", [False, True], ids=["whole", "fractional"])
@pytest.mark.parametrize(("kind", "cases"), CASES.items())
def test_many_random_cases(kind, cases, fractional):
    assert_same_schedules(kind, fractional, 8 * cases, seed=f"many {kind} {fractional}")
