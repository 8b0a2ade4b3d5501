"""A week of a university cluster as three machines, and under failures: writes docs/background/ub-hpc.md.

python benchmarks/study_site_week.py

Needs FAULTSIM_DATA (or ../shared/data beside the checkout) with slurm/ub-hpc and the LANL records; takes a minute.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from run_site import DATA, SITE, week

import faultsim as fs
from faultsim.plot import PALETTE, new_figure, save
from faultsim.plot.base import tidy
from faultsim.plot.curves import plain_log
from faultsim.sweep.intervals import interval_of_mean

PAGE = Path(__file__).resolve().parents[1] / "docs" / "background" / "ub-hpc.md"
OUT = PAGE.with_suffix("")
LANL = DATA / "failures" / "LA-UR-05-7318-failure-data-1996-2005.csv.gz"
#: Systems of the record: of few, of a usual number of, and of many failures of a node.
SYSTEMS = (12, 20, 2)
DRAWS, DAY, HOUR = 12, 86_400.0, 3_600.0
#: Seconds of failures; the week and its last jobs take less.
SPAN = 25 * DAY
SCHEDULERS = {"EASY": "easy", "Backfill(10)": "backfill:depth=10"}


def groups(log: fs.Workload) -> dict[str, np.ndarray]:
    """Kinds of jobs, each job in the first that it belongs to."""
    asked = {name: np.asarray(log.columns[name]) for name in ("gpus", "nodes", "exclusive", "memory", "cores")}
    each = asked["cores"] / asked["nodes"]
    kinds = {
        "GPUs": asked["gpus"] > 0,
        "several nodes": asked["nodes"] > 1,
        "a whole node": (asked["exclusive"] > 0) | (each >= 32),
        "much memory": asked["memory"] / each > 187_000 / 32,
        "the others": np.ones(len(log), bool),
    }
    taken = np.zeros(len(log), bool)
    for name, rows in kinds.items():
        kinds[name], taken = rows & ~taken, taken | rows
    return kinds


def machines(log: fs.Workload) -> dict[str, tuple[fs.Workload, object]]:
    """The week as whole nodes, as a pool of cores, and as the site."""
    return {
        "nodes": (
            fs.Workload(log.submit, log.runtime, log.columns["nodes"], estimate=log.estimate),
            fs.Cluster(SITE.nodes),
        ),
        "cores": (
            fs.Workload(log.submit, log.runtime, log.columns["cores"], estimate=log.estimate),
            fs.Cluster(SITE.cores),
        ),
        "site": (log, SITE),
    }


def drawn(trace: fs.FailureTrace, rng: np.random.Generator) -> fs.FailureTrace:
    """For each node of the site, what a node of the record met from some moment on: nodes fail independently."""
    nodes = int(trace.node.max()) + 1
    time, node, down = [], [], []
    for number in range(SITE.nodes):
        begin = rng.uniform(0.0, max(trace.span - SPAN, 1.0))
        rows = (trace.node == rng.integers(nodes)) & (trace.time >= begin) & (trace.time < begin + SPAN)
        time.append(trace.time[rows] - begin)
        node.append(np.full(rows.sum(), number))
        down.append(trace.downtime[rows])
    order = np.argsort(np.concatenate(time), kind="stable")
    return fs.FailureTrace(
        *(np.concatenate(each)[order] for each in (time, node)), downtime=np.concatenate(down)[order]
    )


def table(rows: Sequence[Sequence[object]]) -> str:
    head, *rest = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *rest])


def interval(values: np.ndarray, digits: int) -> str:
    low, high = interval_of_mean(values, 0.975, "bca")
    return f"{values.mean():.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def main() -> None:
    log = week()
    kinds = groups(log)
    waits, rows = {}, []
    for scheduler, spec in SCHEDULERS.items():
        for model, (jobs, machine) in machines(log).items():
            result = fs.simulate(jobs, machine, scheduler=spec)
            wait = result.jobs["wait"] / HOUR
            waits[scheduler, model] = wait
            cells = [f"{wait[of].mean():.1f}" for of in kinds.values()]
            rows.append([scheduler, model, f"{wait.mean():.1f}", f"{np.median(wait):.1f}", *cells])
    print("three models done", flush=True)
    easy = {model: waits["EASY", model] for model in ("nodes", "cores", "site")}
    whole: list[object] = [slice(None), *kinds.values()]
    moved = []
    for model in ("nodes", "cores"):
        later = easy["site"] - easy[model]
        shares = [f"{100 * np.mean(np.abs(later[of]) > 1):.0f}" for of in whole]
        moved.append([model, *shares, f"{100 * np.mean(later > 1):.1f}"])
    base = fs.simulate(log, SITE, scheduler="easy")
    calm, useful = base.metrics["mean_wait"] / HOUR, base.ledger["useful"]
    cost, dots = [], {}
    for system in SYSTEMS:
        trace = fs.read_lanl(LANL, system=system)
        rate = len(trace) / ((int(trace.node.max()) + 1) * trace.span / (365 * DAY))
        for checkpoints in (None, "daly:cost=2m,mtbf=90d"):
            found = []
            for draw in range(DRAWS):
                failures = drawn(trace, np.random.default_rng([system, draw]))
                result = fs.simulate(log, SITE, scheduler="easy", failures=failures, checkpointing=checkpoints)
                more = result.metrics["mean_wait"] / HOUR - calm
                lost = 100 * (result.ledger["lost"] + result.ledger["checkpoint"]) / useful
                found.append((more, result.metrics["failed_jobs"], lost, 100 * result.ledger["down"] / useful))
            columns = np.array(found).T
            name = f"system {system}, {rate:.2f} a year"
            how = "none" if checkpoints is None else "Daly"
            cost.append(
                [name, how, interval(columns[0], 2), interval(columns[1], 0), *(interval(c, 2) for c in columns[2:])]
            )
            dots[f"{name}\ncheckpoints: {how}"] = columns[0]
        print(system, "done", flush=True)
    OUT.mkdir(exist_ok=True)
    draw_waits(kinds, waits)
    draw_cost(dots)
    with open(OUT / "waits.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["scheduler", "model", "mean wait, h", "median, h", *kinds], *rows])
    counts = ", ".join(f"{name} {int(of.sum()):,}" for name, of in kinds.items())
    models = table([["scheduler", "model", "all", "median", *kinds], *rows])
    moving = table([["model", "all", *kinds, "longer on the site"], *moved])
    losses = ("wait, h more", "jobs killed", "lost and checkpoints, % of useful", "down, % of useful")
    costs = table([["failures of a node", "checkpoints", *losses], *cost])
    PAGE.write_text(
        f"""# A week of a university cluster as three machines

Written by `benchmarks/study_site_week.py`; nothing here is edited by hand.

One week of the cluster of UB's CCR, from the tutorials of its Slurm simulator: 19,579 jobs on 217 nodes of five
classes. Users, limits and run times are real; the queue at the beginning is empty. The same jobs run as whole nodes
(each job takes its nodes alone, on 217 equal ones), as a pool of 7,968 cores, and as [the site](../guides/sites.md):
cores, memory, GPUs, features and partitions. Jobs are counted in the first kind that they belong to:
{counts}.
*Much memory* is more per core than the smallest nodes have.

## What each model says

Mean wait in hours, of all jobs and by kind of job:

{models}

![waits](ub-hpc/waits.png)

## Which jobs move

Share of jobs, in %, whose wait on the site differs by more than an hour from that of a simpler model, under EASY; the
last column are those that wait longer on the site:

{moving}

As whole nodes every job competes for nodes that it does not fill, so all waits are those of an overloaded machine. In
the pool all jobs wait in one queue for the same cores. On the site most jobs find room beside others and do not wait,
and those wait that need a whole node or what few nodes have: the simpler models are wrong in both directions.

## What failures cost

Each node of the site meets what a node of a system of LANL met from a random moment of its record on, down times
included ({DRAWS} draws for each system; nodes fail independently here, which they did not quite). A failure kills
every job on its node; jobs start again from the beginning, or from checkpoints of 2 min at Daly's interval for one
failure of a node in 90 days. Differences to the week without failures, {calm:.2f} h of mean wait, under EASY, with 95
% bootstrap intervals over draws:

{costs}

![failures](ub-hpc/failures.png)

The jobs killed and the work lost follow the rates. The wait does not: it has two modes, near 0 and near 1.2 h, for
draws of one system. One job that starts a little later lets another one be the head of the queue for days, and
thousands of jobs behind it share that. Checkpoints alone are enough for that change: so on one week the wait cannot
say whether they are worth their cost, and the lost work can: they are for nodes that fail as often as those of system
2, and not for others.

## Where this does not hold

It is one week without a queue at its beginning, so no interval says how other weeks differ. QOS, fair share and
preemption of the site are left out, and so are maintenance and dependencies. Not run: `ConservativeBackfill`, whose
only engine for shared nodes is the slow reference. Failures of single GPUs are not in LANL's record.
""",
        encoding="utf-8",
    )


def draw_waits(kinds: dict[str, np.ndarray], waits: dict[tuple[str, str], np.ndarray]) -> None:
    figure = new_figure(8.0, 4.0)
    ax = figure.subplots()
    for number, model in enumerate(("nodes", "cores", "site")):
        means = [waits["EASY", model][of].mean() for of in kinds.values()]
        ax.plot(means, range(len(kinds)), "os^"[number], color=PALETTE[number], label=model, markersize=7)
    ax.set_yticks(range(len(kinds)), list(kinds))
    ax.invert_yaxis()
    plain_log(ax.xaxis)
    tidy(ax, x="mean wait (h)", title="The same week as three machines (EASY)")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    save(figure, OUT / "waits.png")


def draw_cost(dots: dict[str, np.ndarray]) -> None:
    figure = new_figure(8.0, 4.2)
    ax = figure.subplots()
    for row, values in enumerate(dots.values()):
        ax.plot(values, np.full(len(values), row), ".", color=PALETTE[row % 2], alpha=0.6)
        ax.plot(values.mean(), row, "D", color=PALETTE[row % 2])
    ax.axvline(0.0, color="#808080", linewidth=0.8)
    ax.set_yticks(range(len(dots)), list(dots))
    ax.invert_yaxis()
    tidy(ax, x="mean wait (h more than without failures)", title="What failures at LANL's rates cost: 12 draws each")
    save(figure, OUT / "failures.png")


if __name__ == "__main__":
    main()
