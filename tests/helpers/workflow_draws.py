"""Cases for the workflow engines from a seed: larger and more eventful than those that hypothesis likes to draw.

`workflow_cases` draws what shrinks well; here sizes, densities and rates are drawn first, so that many jobs move data
while many nodes fail.
"""

from random import Random

from helpers.workflow_cases import SCHEDULERS, tables_of, world_of


def graph(rng, jobs, density, size):
    """Edges of a random graph, whose numbers are in no particular order."""
    names = rng.sample(range(jobs), jobs)
    pairs = [(u, v) for v in range(jobs) for u in range(v)]
    return [(names[u], names[v], size()) for u, v in pairs if rng.random() < density]


def predictions_of(rng, failures, nodes, moment, length):
    """Dated or long predictions of some failures, and false ones."""
    rows = []
    for time, node, down in failures:
        kind = rng.choice(["none", "dated", "dated", "repair", "interval"])
        begin = {"dated": time, "repair": time + down, "interval": max(0.0, time - length())}.get(kind)
        if begin is not None:
            rows.append((begin, begin + (2 * length() if kind == "interval" else 0.0), node))
    for _ in range(rng.choice([0, 2, 8, 30])):
        begin = moment()
        rows.append((begin, begin + rng.choice([0.0, length()]), rng.randrange(nodes)))
    return rows


def favourites(rng, jobs, nodes, length):
    """Costs by which each job wants one node, so that its inputs come from others."""
    rows = [[100 + 10 * length() for _ in range(nodes)] for _ in range(jobs)]
    for row in rows:
        row[rng.randrange(nodes)] = length()
    return rows


def drawn_case(seed, large=False, moving=False):
    """(settings, tables, world) of one run; with `moving` most of the time goes into transfers."""
    rng = Random(seed)
    nodes = rng.choice([2, 4, 8, 16] if large else [1, 2, 2, 3, 4, 5, 8])
    unit = rng.choice([1.0, 1.0, 0.1, 1 / 3, 7.0])
    exact = rng.random() < 0.7

    def upto(most):
        return lambda: (rng.randint(0, most) if exact else rng.random() * most) * unit

    def ratio():
        return rng.choice([1.0, 1.0, 2.0, 0.5, 3.0, 0.1])

    length, size = upto(rng.choice([1, 3, 10, 40])), upto(rng.choice([0, 2, 8, 40]))
    moment, arrival = upto(rng.choice([8, 30, 100, 400])), upto(rng.choice([0, 0, 5, 40]))
    if moving:
        length, size, moment, arrival = upto(2), upto(9), upto(rng.choice([30, 60])), upto(5)
    as_matrix = rng.random() < 0.5 or moving
    workflows = []
    for _ in range(rng.randint(1, 8) if large else rng.choice([1, 1, 2, 3, 5])):
        jobs = rng.randint(1, 60 if large else 8)
        cost = [[length() for _ in range(nodes)] if as_matrix else length() for _ in range(jobs)]
        if moving:
            cost = favourites(rng, jobs, nodes, length)
        density = rng.choice([0, 0.02, 0.08] if large else [0.3, 0.7] if moving else [0, 0.1, 0.3, 0.7, 1])
        workflows.append((cost, graph(rng, jobs, density, size), arrival()))
    speed = None if as_matrix else [ratio() for _ in range(nodes)]
    bandwidth = ratio()
    if rng.random() < 0.4:
        bandwidth = [[ratio() if p != q else float("inf") for q in range(nodes)] for p in range(nodes)]

    down = [upto(most) for most in rng.choice([[0], [0, 3], [5, 20], [50]])]
    if moving:
        down = [upto(most) for most in (0, 1, 2)]
    count = rng.choice([0, 3, 10, 40])
    failures = sorted((moment(), rng.randrange(nodes), rng.choice(down)()) for _ in range(count))
    predictions = predictions_of(rng, failures, nodes, moment, upto(12)) if rng.random() < 0.7 else []
    settings = {
        "scheduler": rng.choice(SCHEDULERS),
        "transfers": rng.choice(["parallel", "in_turn"]),
        "outputs": rng.choice([None, None, None, 0.0, 3 * unit]),
        "record": rng.random() < 0.9,
    }
    return settings, tables_of(workflows, nodes, speed, bandwidth), world_of(failures, predictions)


def drawn_plan(seed, large=False, moving=False):
    """(settings, tables, world) of one run of `Heft`, of every fourth one without failures."""
    _, tables, world = drawn_case(seed, large, moving)
    settings = {"scheduler": {"name": "heft"}, "transfers": "parallel", "outputs": None, "record": seed % 8 > 0}
    return settings, tables, {**world, "predictions": world_of()["predictions"]} if seed % 4 else None
