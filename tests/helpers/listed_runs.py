"""Random runs with listed shapes: small tori, every score, segments, failures, migration; how results are compared."""

import numpy as np

import faultsim as fs

TORI = [(1, 1, 9), (1, 5, 2), (2, 2, 2), (2, 3, 4), (3, 3, 3), (4, 4, 2), (4, 2, 5), (1, 8, 9), (4, 4, 8)]
SCORES = ("slurm", "slurm", "first", "next-size", "mfp", "random")
FORESEEING = ("tie-breaking", "balancing")


def random_shapes(rng: np.random.Generator, dims: tuple[int, int, int]) -> str:
    """A list of shapes with spacings and seeds of all kinds, or one of the named lists."""
    if rng.random() < 0.25:
        small = ["every-box"] if np.prod(dims) <= 27 else []
        return str(rng.choice(["powers-of-two", "one-per-size", *small]))
    parts = ["1x1x1"] if rng.random() < 0.6 else []
    for _ in range(rng.integers(1, 7)):
        extents = [int(rng.integers(1, whole + 1)) for whole in dims]
        text = "x".join(map(str, extents))
        if rng.random() < 0.4:
            text += "/" + "x".join(str(rng.integers(0, whole + 1)) for whole in dims)
        if rng.random() < 0.4:
            text += "@" + "x".join(str(rng.integers(0, whole)) for whole in dims)
        parts.append(text)
    rng.shuffle(parts)
    return "+".join(parts)


def disjoint_shapes(rng: np.random.Generator, dims: tuple[int, int, int]) -> str:
    """A list for segments: one shape per power of two, whose boxes do not overlap, and any other shapes."""
    if rng.random() < 0.2:
        return "powers-of-two"
    parts: dict[object, str] = {1: "1x1x1"} if rng.random() < 0.7 else {}
    for _ in range(rng.integers(1, 6)):
        extents = [int(rng.choice([part for part in range(1, whole + 1) if whole % part == 0])) for whole in dims]
        text, size = "x".join(map(str, extents)), int(np.prod(extents))
        if rng.random() < 0.4:
            text += "@" + "x".join(str(rng.integers(0, whole)) for whole in dims)
        parts[size if size & (size - 1) == 0 else text] = text
    for _ in range(rng.integers(0, 3)):
        extents = [int(rng.integers(1, whole + 1)) for whole in dims]
        if int(np.prod(extents)) & (int(np.prod(extents)) - 1):
            parts["x".join(map(str, extents))] = "x".join(map(str, extents)) + "/1x1x1"
    texts = list(parts.values()) or ["1x1x1"]
    rng.shuffle(texts)
    return "+".join(texts)


def random_predictor(rng: np.random.Generator, nodes: int) -> fs.Predictor:
    """One of any kind, most of them far from certain."""
    p = float(rng.choice([0.001, 0.1, 0.5, 0.5, 0.9, 1.0]))
    count = int(rng.integers(1, 2 + nodes))
    time = np.sort(rng.integers(0, 60, count)).astype(float)
    return [
        fs.Confidence(p),
        fs.Accuracy(p),
        fs.PredictionTrace(time=time, node=rng.integers(0, nodes, count)),
        fs.IntervalPredictor(precision=max(p, 0.7), recall=float(rng.choice([0.5, 1.0])), interval=5.0),
        fs.Blind(),
    ][int(rng.choice([0, 0, 1, 2, 3, 3, 4]))]


def random_run(
    seed: int, segments: bool = False, larger: bool = False, foreseeing: bool = False, several: bool = False
) -> fs.Run:
    """A run of up to 30 jobs in whole seconds, with many ties; where sizes are rounded up, or boxes are segments.

    If `several`, on two to four equal tori.
    """
    rng = np.random.default_rng([seed] if segments else seed)
    dims = [each for each in TORI if np.prod(each) <= 32] if several else TORI
    one = fs.Torus(dims[rng.integers(len(dims))])
    tori = int(rng.integers(2, 4)) if several else 1
    machine = fs.Torus(one.x * tori, one.y, one.z)
    score = str(rng.choice(FORESEEING if foreseeing else SCORES))
    placement = fs.SlurmTorus(
        (disjoint_shapes if segments else random_shapes)(rng, one.shape),
        unlisted="segments" if segments else "round_up",
        score=score,
        salt=int(rng.integers(1, 99)) if score == "random" else 0,
        larger=larger,
        tori=tori,
    )
    sizes = np.arange(1, machine.nodes + 1)
    served = sizes[~placement.unlisted_sizes(machine, sizes)]
    listed = sorted({shape.size for shape in placement.shapes_on(machine)})
    jobs, span = int(rng.integers(1, 31)), int(rng.choice([1, 20, 60]))
    size = rng.choice(listed, jobs) if rng.random() < 0.5 else rng.choice(served, jobs)
    runtime = rng.integers(0, 25, jobs)
    estimate = np.where(rng.random(jobs) < 0.2, -1, np.maximum(0, runtime + rng.integers(-3, 15, jobs)))
    log = fs.Workload(submit=np.sort(rng.integers(0, span, jobs)), runtime=runtime, size=size, estimate=estimate)
    repairs, order = str(rng.choice(["known", "unknown"])), rng.choice(["arrival", "shortest", "largest"])
    planning = {
        "reservation": "fixed" if segments or several else str(rng.choice(["fixed", "any"])),
        "order": fs.parse_policy("order", str(order)),
        "max_growth": int(rng.choice([0, 1, 3])),
        "repairs": repairs,
    }
    schedulers = [
        fs.Fcfs(),
        fs.EasyBackfill(**planning),
        fs.EasyBackfill(**planning),
        fs.Backfill(depth=int(rng.integers(1, 5)), **planning),
        fs.Backfill(depth=None, **planning),
    ]
    failures = recovery = migration = None
    if not segments and not several and rng.random() < 0.3:
        migration = fs.Defragment(cost=float(rng.choice([0, 2])), max_concentration=1.0)
    if foreseeing or rng.random() < 0.6:
        count = int(rng.integers(1, 8))
        time, node = np.sort(rng.integers(0, 80, count)), rng.integers(0, machine.nodes, count)
        failures = fs.FailureTrace(time=time, node=node, downtime=rng.choice([0, 3, 30], count))
        recovery = fs.Requeue(str(rng.choice(["arrival", "tail"])))
    predictor = random_predictor(rng, machine.nodes) if foreseeing else None
    return fs.Run(
        log,
        machine,
        scheduler=schedulers[rng.integers(len(schedulers))],
        placement=placement,
        migration=migration,
        failures=failures,
        recovery=recovery,
        predictor=predictor,
        estimates=str(rng.choice(["requested", "actual"])),
        start_delay=float(rng.choice([0, 0, 2])),
        record=True,
    )


def differences(one: fs.Result, other: fs.Result) -> list[str]:
    """Names of the columns in which two results differ."""
    found = [
        f"{table}.{name}"
        for table in ("jobs", "allocations", "events")
        for name, column in getattr(one, table).items()
        if not np.array_equal(column, getattr(other, table)[name])
    ]
    return found + [key for key, value in one.ledger.items() if not np.isclose(value, other.ledger[key])]
