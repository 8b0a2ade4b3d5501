"""The report of a run, optionally compared with others: metrics, figures, the ledger, its jobs, its provenance."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from faultsim.errors import OptionError
from faultsim.plot import (
    plot_gantt,
    plot_kiviat,
    plot_ledger,
    plot_occupancy,
    plot_queue,
    plot_utilization,
    require_matplotlib,
)
from faultsim.plot.occupancy import busiest
from faultsim.report.page import Cell, Page, Part, Picture, Section, Table, Text
from faultsim.report.replay import MOST_NODES, MOST_STAYS, Replay
from faultsim.report.svg import inline_svg
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.metrics import METRICS
from faultsim.results.part import require_over
from faultsim.results.provenance import plain

if TYPE_CHECKING:
    from faultsim.results.result import Result

JOBS_SHOWN = 100
Results = Mapping[str, "Result"]
Pictures = Callable[..., Picture]


def report_run(
    result: "Result",
    *,
    against: Results | None = None,
    name: str = "this run",
    title: str = "",
    command: str = "",
    source: Sequence[str] = (),
) -> Page:
    """A page about a run: its metrics, figures, ledger, jobs and provenance.

    The same run gives the same bytes: it contains neither dates nor timings.

    Parameters
    ----------
    result : Result
        The run.  With ``record=True`` the page also shows who ran where, on a torus also in 3D.
    against : mapping of str to Result, optional
        Label -> other runs of the same jobs to compare it with, the first as the baseline of a Kiviat graph.
    name : str
        What to call the run among them.
    title : str
        Heading of the page, by default jobs, machine and policies.
    command : str
        The command that made it, if any.
    source : sequence of str
        Where log and failures come from; by default as recorded in the result.

    Returns
    -------
    Page
        ``page.write(path)`` writes it.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    OptionError
        If `name` is one of the labels in `against`, or a run is not over.

    Examples
    --------
    >>> import faultsim as fs, os, tempfile
    >>> from faultsim.report import report_run
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> page = report_run(fs.simulate(log, fs.Cluster(2), record=True))
    >>> page.write(os.path.join(tempfile.mkdtemp(), "run.html"))
    >>> page.title
    '2 jobs on cluster:2 (2 nodes): easy, first_fit'
    """
    require_matplotlib()
    for run in (result, *(against or {}).values()):
        require_over(run.is_over, "a report")
    if name in (against or {}):
        raise OptionError(f"against also has a run {name!r}; give this one another name")
    runs: dict[str, Result] = {name: result, **(against or {})}
    from_where = list(source) or _sources(result)
    draw = pictures()
    sections = [
        Section("Metrics", [_metrics(runs), *_warnings(runs)]),
        Section("Over time", list(_timelines(runs, draw))),
        Section("Who ran where", list(_places(result, draw))),
        Section("Capacity", list(_capacity(runs, draw))),
        Section("Jobs", [_by_size(result), _slowest(result)]),
        Section("What made it", [_settings(runs), _provenance(runs)]),
    ]
    return Page(title or repr(result)[len("<Result: ") : -1], sections, about=from_where, command=command)


def pictures() -> Pictures:
    """Makes pictures whose ids differ."""
    count = iter(range(10_000))

    def draw(figure: Any, alt: str, caption: str = "") -> Picture:
        return Picture(inline_svg(figure, f"f{next(count)}", alt), alt, caption)

    return draw


def _sources(result: "Result") -> list[str]:
    said = result.provenance
    lines = [f"log: {said['input']['source'] or 'columns given in Python'}"]
    if result.failures is not None:
        lines.append(f"failures: {result.failures.name or 'columns given in Python'}")
    return lines


def _metrics(runs: Results) -> Table:
    rows: list[list[Cell]] = []
    for row in METRICS.values():
        values = [run.metrics[row.name] for run in runs.values()]
        if row.quiet and not any(value and not math.isnan(value) for value in values):
            continue
        if row.unit == "fraction":
            values = [100.0 * value for value in values]
        shown = [value if isinstance(value, int) else float(value) for value in values]
        rows.append([row.name.replace("_", " "), *shown, "%" if row.unit == "fraction" else row.unit, row.formula])
    heads = ["value"] if len(runs) == 1 else list(runs)
    return Table(["metric", *heads, "unit", "formula"], rows)


def _warnings(runs: Results) -> list[Part]:
    said = [(f"{label}: " if len(runs) > 1 else "") + text for label, run in runs.items() for text in run.warnings]
    return [Text(said, bullets=True, note=True)] if said else []


def _can_draw(result: "Result") -> bool:
    return bool(result.settings["record"]) or not result.jobs["restarts"].any()


_NOT_RECORDED = "Not drawn: failures requeued jobs, and the run was not made with record=True."


def _timelines(runs: Results, draw: Pictures) -> Iterator[Part]:
    for label, run in runs.items():
        of = f", {label}" if len(runs) > 1 else ""
        if not _can_draw(run):
            yield Text([_NOT_RECORDED + of], note=True)
            continue
        mean = f"{100 * run.metrics['utilization']:.1f} %"
        yield draw(plot_utilization(run), f"Share of the nodes in use over time, {mean} on average{of}", f"Nodes{of}")
        yield draw(plot_queue(run), f"Nodes requested by waiting jobs, over time{of}", f"Queue{of}")


def _places(result: "Result", draw: Pictures) -> Iterator[Part]:
    if not result.settings["record"]:
        yield Text(["Not kept: the run was made without record=True."], note=True)
        return
    failing = ": crosses are failures, red if they killed a job" if result.failures is not None else ""
    jobs = f"{len(result):,} jobs"
    yield draw(plot_gantt(result), f"Which node which of {jobs} held, over time", f"Nodes over time{failing}")
    if "x" not in result.allocations:
        return
    ax = plot_occupancy(result, busiest(result))
    yield draw(
        ax,
        f"Nodes of the torus in 3D, {ax.get_title().replace(chr(10), ': ')}",
        "The first instant at which most nodes are held",
    )
    if len(result.allocations["job"]) <= MOST_STAYS and result.machine.nodes <= MOST_NODES:
        yield Replay(result, "The nodes over time; colors repeat, specks are free nodes, gray cubes are down")


def _capacity(runs: Results, draw: Pictures) -> Iterator[Part]:
    names = {"" if len(runs) == 1 else label: run for label, run in runs.items()}
    alt = "Where the capacity went; the table has the numbers"
    yield draw(plot_ledger(names), alt, "Every node-second")
    rows: list[list[Cell]] = []
    for account in LEDGER_ACCOUNTS:
        amounts = [float(run.ledger[account]) for run in runs.values()]
        totals = [sum(run.ledger.values()) for run in runs.values()]
        if any(amounts):
            shares = [100 * part / whole if whole else 0.0 for part, whole in zip(amounts, totals, strict=True)]
            cells = [cell for pair in zip(shares, amounts, strict=True) for cell in pair]
            rows.append([account.replace("_", " "), *cells])
    of = [f", {label}" if len(runs) > 1 else "" for label in runs]
    yield Table(["account", *(head + end for end in of for head in ("share (%)", "node-seconds"))], rows)
    if len(runs) > 1:
        baseline = list(runs)[1]
        figure = plot_kiviat(runs, baseline=baseline)
        yield draw(figure, f"Kiviat graph of {', '.join(runs)}; smaller is better", f"Gains are over {baseline}")


def _by_size(result: "Result") -> Table:
    """Classes of sizes by powers of two."""
    jobs = result.jobs
    kind = np.ceil(np.log2(np.maximum(jobs["size"], 1))).astype(int)
    work = jobs["size"] * jobs["runtime"]
    rows: list[list[Cell]] = []
    for power in np.unique(kind).tolist():
        rows_of = kind == power
        low, high = (2 ** (power - 1) + 1 if power else 1), 2**power
        rows.append(
            [
                f"{low}-{high}" if low < high else f"{high}",
                int(rows_of.sum()),
                100.0 * float(work[rows_of].sum() / work.sum()) if work.sum() else 0.0,
                float(jobs["wait"][rows_of].mean()),
                float(np.percentile(jobs["wait"][rows_of], 95)),
                float(jobs["bounded_slowdown"][rows_of].mean()),
                int(jobs["restarts"][rows_of].sum()),
            ]
        )
    head = ["nodes", "jobs", "work (%)", "mean wait (s)", "95 % wait (s)", "mean bounded slowdown", "kills"]
    return Table(head, rows, title="By size")


def _slowest(result: "Result") -> Table:
    jobs = result.jobs
    order = np.argsort(-jobs["bounded_slowdown"], kind="stable")[:JOBS_SHOWN]
    names = ["id", "size", "submit", "start", "finish", "runtime", "wait", "bounded_slowdown"]
    names += [name for name in ("restarts", "lost_work", "moves") if jobs[name].any()]
    columns = [jobs[name][order].tolist() for name in names]
    every = len(result) <= JOBS_SHOWN
    title = "All jobs" if every else f"The {JOBS_SHOWN} of {len(result):,} jobs with the largest bounded slowdown"
    return Table([name.replace("_", " ") for name in names], list(zip(*columns, strict=True)), title=title)


def _flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, str(value)


def _settings(runs: Results) -> Table:
    flat = {label: dict(_flat(plain(run.settings))) for label, run in runs.items()}
    names = list(dict.fromkeys(name for settings in flat.values() for name in settings))
    rows: list[list[Cell]] = [[name, *(settings.get(name, "") for settings in flat.values())] for name in names]
    return Table(["setting", *(["value"] if len(runs) == 1 else runs)], rows, title="Settings")


def _provenance(runs: Results) -> Table:
    """Versions and inputs, without dates and timings."""
    flat = {}
    for label, run in runs.items():
        said = {key: value for key, value in run.provenance.items() if key not in ("settings", "started", "elapsed")}
        flat[label] = dict(_flat(said))
    names = list(dict.fromkeys(name for said in flat.values() for name in said))
    rows: list[list[Cell]] = [[name, *(said.get(name, "") for said in flat.values())] for name in names]
    return Table(["what", *(["value"] if len(runs) == 1 else runs)], rows, title="Versions and inputs")
