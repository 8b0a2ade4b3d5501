"""The tables of [yu2010] beside its claims: the same rules elsewhere, and what the paper leaves open or out."""

from collections.abc import Mapping, Sequence

from faultsim.reproduce.claims import Row, judge
from faultsim.reproduce.report import Grid
from faultsim.reproduce.study import Rows
from faultsim.reproduce.yu2010.checks import LOG, steps
from faultsim.reproduce.yu2010.claims import CLAIMS, UNITS
from faultsim.reproduce.yu2010.measures import saved, saving
from faultsim.reproduce.yu2010.runs import COLUMNS, COPY, VARIANTS, Evidence, View
from faultsim.sweep.jackknife import half_width

AFTER_RUNS = [claim for claim in CLAIMS if claim.id not in UNITS]


def elsewhere(evidence: Evidence) -> dict[tuple[str, str], list[Row]]:
    """Workload and reading -> the same rules there; the claims that need no runs are left out."""
    return {
        (workload, reading): judge(AFTER_RUNS, evidence.view(workload, reading))
        for workload in evidence.sources
        for reading in evidence.what.readings
    }


def grids(evidence: Evidence, rows: Sequence[Row]) -> list[Grid]:
    """The log of the worked example; the same rules elsewhere; what is open read otherwise; what the paper leaves out.

    `rows` are the claims as judged.
    """
    found = [
        Grid(f"Figure {number}: decisions of {name} in the worked example", [LOG, *steps(run)])
        for number, (name, run) in zip((7, 8), evidence.checks["example"].items(), strict=True)
    ]
    others = elsewhere(evidence)
    places = {f"{evidence.sources[workload].label}, {order}": there for (workload, order), there in others.items()}
    title = (
        "The same rules with both orders across workflows, and on recorded workflows (elsewhere.csv has the numbers)"
    )
    found.append(_verdicts(title, places))
    if evidence.redraws:
        needing_runs = [row for row in rows if row.claim.id not in UNITS]
        seeds = {f"seed {evidence.seed}": needing_runs} | {
            f"seed {other.seed}": judge([row.claim for row in needing_runs], other.view("bench"))
            for other in evidence.redraws
        }
        title = "The same rules on other draws of windows, predictions and workflows: how firm the verdicts are"
        found.append(_verdicts(title, seeds))
    for workload in evidence.sources:
        found += [_variants(evidence.view(workload)), _beyond(evidence.view(workload))]
    return found


def _verdicts(title: str, places: Mapping[str, list[Row]]) -> Grid:
    """Which claims hold where."""
    columns = [[str(row.finding.verdict) for row in rows] for rows in places.values()]
    labels = [row.claim.id for row in next(iter(places.values()))]
    rows = [[label, *cells] for label, *cells in zip(labels, *columns, strict=True)]
    return Grid(title, [["claim", *places], *rows])


def detail_rows(evidence: Evidence) -> Rows:
    """The claims elsewhere, with their numbers."""
    yield ("claim", "workflows", "order", "verdict", "ours", "note")
    for (workload, reading), rows in elsewhere(evidence).items():
        for row in rows:
            label, finding = evidence.sources[workload].label, row.finding
            yield (row.claim.id, label, reading, str(finding.verdict), finding.ours, finding.note)


def _variants(view: View) -> Grid:
    """What becomes of the main numbers when what the paper leaves open is read otherwise."""
    many = view.what.many
    head = ["reading", "makespan less at AOA .5", "at 1", "loss less at .9", "reschedulings less at .5"]
    rows = [[*head, "AAA at 0", "at .5"]]
    for variant in ("", *VARIANTS):
        cells = [
            saved(view(column, many, aoa, variant=variant), view(column, many, 0.0, variant=variant)).percent(1)
            for column, aoa in (("makespan", 0.5), ("makespan", 1.0), ("loss", 0.9), ("reschedulings", 0.5))
        ]
        right = [f"{100 * view('aaa', many, aoa, variant=variant).mean():.1f} %" for aoa in (0.0, 0.5)]
        rows.append([variant or "as judged", *cells, *right])
    label = view.evidence.sources[view.workload].label
    return Grid(f"What the paper leaves open, read otherwise: {many} workflows, {label}", rows)


def _beyond(view: View) -> Grid:
    """What the paper leaves out: outputs that are also copied to shared storage."""
    many = view.what.many
    head = ["AOA", "makespan: on the node (h)", f"copied in {COPY:g} s (h)", "less", "less than AOA 0 on the node"]
    rows = []
    for aoa in (0.0, 0.5, 1.0):
        node, shared = (view("makespan", many, aoa, name) for name in ("flaw", "flaw, shared"))
        blind = saving(view, "makespan", many, aoa) if aoa else None
        rows.append(
            [
                f"{aoa:g}",
                f"{node.mean() / 3600:.1f}",
                f"{shared.mean() / 3600:.1f}",
                saved(shared, node).percent(),
                "" if blind is None else blind.percent(),
            ]
        )
    label = view.evidence.sources[view.workload].label
    return Grid(f"Beyond the paper: copies of outputs in shared storage, {many} workflows, {label}", [head, *rows])


def point_rows(evidence: Evidence) -> Rows:
    """Mean over the windows and half width of the 95 % interval of every column of every set of runs."""
    names = [name for column in COLUMNS for name in (column, f"{column}_half")]
    yield ("workload", "order", "scheduler", "workflows", "aoa", "nodes", "variant", "shares", "runs", *names)
    for key, values in evidence.tables.items():
        windows = {column: values[column].mean(axis=0) for column in COLUMNS}
        numbers = [f"{x:.6g}" for v in windows.values() for x in (v.mean(), float(half_width(v)))]
        aoa = "" if key.aoa != key.aoa else key.aoa
        which = "spread" if key.mix else "random"
        label = evidence.sources[key.workload].label
        runs = values["makespan"].size
        yield (label, key.reading, key.scheduler, key.flows, aoa, key.nodes, key.variant, which, runs, *numbers)
