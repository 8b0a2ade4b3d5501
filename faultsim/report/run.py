"""The report of a run, optionally compared with others: metrics, figures, the ledger, its jobs, its provenance."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.machines.power import Power
from faultsim.plot import (
    plot_distribution,
    plot_kiviat,
    plot_ledger,
    plot_occupancy,
    plot_queue,
    plot_utilization,
    require_matplotlib,
)
from faultsim.plot.given import result_of, results_of
from faultsim.plot.theme import at_most_wide
from faultsim.report.chart import Chart
from faultsim.report.goodput import energy_of, time_between_kills
from faultsim.report.metric_tables import Results, baseline_of, explained, metric_tables
from faultsim.report.numbers import Amount, Term, exact, suited, three_digits
from faultsim.report.page import Page, Part, Picture, Section, Stack, Text
from faultsim.report.replay import MOST_NODES, MOST_STAYS, Replay
from faultsim.report.site import shared_nodes
from faultsim.report.svg import NARROW, inline_svg
from faultsim.report.table import Cell, Table
from faultsim.report.waiting import reasons_of
from faultsim.results.ledger import LEDGER_ACCOUNTS, account_words
from faultsim.results.part import require_over
from faultsim.results.provenance import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from faultsim.results.result import Result

JOBS_SHOWN = 100
Pictures = Callable[..., Picture]


@entry
def report_run(
    result: "Result",
    *,
    against: Results | None = None,
    name: str = "this run",
    title: str = "",
    command: str = "",
    source: Sequence[str] = (),
    power: Power | None = None,
    reasons: int | None = None,
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
        Heading of the page, by default jobs, machine and policies, or the names of several runs.
    command : str
        The command that made it, if any.
    source : sequence of str
        Where log and failures come from; by default as recorded in the result.
    power : Power, optional
        Watts of a node: the page also says what the runs took in energy.
    reasons : int, optional
        Jobs for which the page says why they waited, those that waited longest; each simulates the run once more. By
        default at most 40, fewer of a log of more than 5,000 jobs.

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
    result_of("report_run", result)
    against = {} if against is None else results_of("report_run(against=)", against)
    if "" in against:  # a result without a label
        against = {label or "the other run": run for label, run in against.items()}
    if reasons is not None:
        checks.whole("reasons", reasons, low=0)
    require_matplotlib()
    for run in (result, *(against or {}).values()):
        require_over(run.is_over, "a report")
    if name in (against or {}):
        raise OptionError(f"against also has a run {name!r}; give this one another name")
    runs: dict[str, Result] = {name: result, **(against or {})}
    from_where = list(source) or _sources(result)
    draw = pictures()
    first, spread, goodput = metric_tables(runs)
    shared = list(shared_nodes(result, draw))
    sections = [
        Section("Metrics", [first, Stack([*_differing(runs), spread])]),
        Section("Capacity", [*_capacity(runs, draw), goodput, *energy_of(runs, power)]),
        Section("Over time", list(_timelines(runs, draw))),
        *([Section("Shared nodes", shared)] if shared else []),
        Section("Who ran where", list(_places(result, draw, reasons))),
        Section("Jobs", [*_distributions(runs, draw), _by_size(result), *time_between_kills(result), _slowest(result)]),
        Section("What made it", [_settings(runs), _provenance(runs)]),
    ]
    heading = title or _heading(runs)
    return Page(heading, sections, about=from_where, command=command, warnings=_warnings(runs))


def pictures() -> Pictures:
    """Makes pictures whose ids differ, each from a function that draws a figure: for wide and for narrow pages."""
    count = iter(range(10_000))

    def draw(figure: Callable[[], "Figure"], alt: str, caption: str = "", *, broad: bool = False) -> Picture:
        wide = inline_svg(figure(), f"f{next(count)}", alt)
        with at_most_wide(NARROW):
            narrow = inline_svg(figure(), f"f{next(count)}", alt)
        return Picture(wide, alt, caption, broad, narrow)

    return draw


def _sources(result: "Result") -> list[str]:
    said = result.provenance
    lines = [f"log: {said['input']['source'] or 'columns given in Python'}"]
    if result.failures is not None:
        lines.append(f"failures: {result.failures.name or 'columns given in Python'}")
    return lines


def _heading(runs: Results) -> str:
    first = next(iter(runs.values()))
    if len(runs) == 1:
        return repr(first)[len("<Result: ") : -1]
    machines = dict.fromkeys(str(run.machine) for run in runs.values())
    return f"{' and '.join(runs)}: {len(first):,} jobs on {' and '.join(machines)}"


def _warnings(runs: Results) -> list[str]:
    """Each warning once, with the runs that have it unless all have."""
    found: dict[str, list[str]] = {}
    for label, run in runs.items():
        for text in dict.fromkeys(run.warnings):
            found.setdefault(text, []).append(label)
    return [text if len(labels) == len(runs) else f"{', '.join(labels)}: {text}" for text, labels in found.items()]


def _can_draw(result: "Result") -> bool:
    return bool(result.settings["record"]) or not result.jobs["restarts"].any()


_NOT_RECORDED = "Not drawn: failures requeued jobs, and the run was not made with record=True."


def _timelines(runs: Results, draw: Pictures) -> Iterator[Part]:
    """Nodes and queue over time, all runs on one axis."""
    drawn = {label: run for label, run in runs.items() if _can_draw(run)}
    for label in (label for label in runs if label not in drawn):
        yield Text([(f"{label}: " if len(runs) > 1 else "") + _NOT_RECORDED], note=True)
    if not drawn:
        return
    shown = drawn if len(runs) > 1 else next(iter(drawn.values()))
    means = ", ".join(f"{100 * run.metrics['utilization']:.1f} %" for run in drawn.values())
    yield draw(
        lambda: plot_utilization(shown), f"Share of the nodes in use over time, {means} on average", "Nodes in use"
    )
    yield draw(lambda: plot_queue(shown), "Nodes requested by waiting jobs, over time", "Queue")


def _places(result: "Result", draw: Pictures, reasons: int | None) -> Iterator[Part]:
    if not result.settings["record"]:
        yield Text(["Not kept: the run was made without record=True."], note=True)
        return
    failing = "; crosses are failures, red if they killed a job" if result.failures is not None else ""
    why = reasons_of(result, reasons)
    yield Chart(result, "g", f"Nodes over time{failing}.", why)
    if not result.machine.picture:
        return
    ax = plot_occupancy(result)
    yield draw(
        lambda: plot_occupancy(result),
        f"{result.machine.picture}, {ax.get_title().replace(chr(10), ': ')}",
        "The first instant at which most nodes are held",
    )
    if (
        "x" in result.allocations
        and len(result.allocations["job"]) <= MOST_STAYS
        and result.machine.nodes <= MOST_NODES
    ):
        caption = "The nodes over time, layer by layer; colors repeat, pale nodes are free, gray ones down"
        yield Replay(result, caption, why)


def _distributions(runs: Results, draw: Pictures) -> Iterator[Part]:
    shown = runs if len(runs) > 1 else next(iter(runs.values()))
    if all(run.ended.any() for run in runs.values()):
        waits = "Share of the jobs that wait at most so long"
        yield draw(lambda: plot_distribution(shown, "wait"), waits, waits)
        slowdowns = "Share of the jobs that have at most so large a slowdown"
        yield draw(lambda: plot_distribution(shown, "slowdown"), slowdowns, slowdowns)


def _capacity(runs: Results, draw: Pictures) -> Iterator[Part]:
    names = {"" if len(runs) == 1 else label: run for label, run in runs.items()}
    shares = draw(lambda: plot_ledger(names), "Where the capacity went; the table has the numbers", "Every node-second")
    baseline = baseline_of(runs)
    if baseline is None:
        yield from (shares, _ledger(runs))
        return
    yield Stack([shares, _ledger(runs)])
    alt = f"Kiviat graph of {', '.join(runs)}; smaller is better"
    yield draw(
        lambda: plot_kiviat(runs, baseline=baseline), alt, f"Kiviat graph, smaller is better; gains are over {baseline}"
    )


def _ledger(runs: Results) -> Table:
    rows: list[list[Cell]] = []
    totals = [sum(run.ledger.values()) for run in runs.values()]
    unit, factor = suited("node-s", totals)
    for account in LEDGER_ACCOUNTS:
        amounts = [float(run.ledger[account]) for run in runs.values()]
        if any(amounts):
            cells: list[Cell] = [account_words(account)]
            for part, whole in zip(amounts, totals, strict=True):
                cells.append(100 * part / whole if whole else 0.0)
                cells.append(Amount(part, three_digits(part * factor), exact(part, "node-s")))
            rows.append(cells)
    of = [f", {label}" if len(runs) > 1 else "" for label in runs]
    return Table(["account", *(head + end for end in of for head in ("share (%)", unit))], rows, "Capacity ledger")


def _by_size(result: "Result") -> Table:
    """Classes of sizes by powers of two."""
    jobs = result.jobs
    kind = np.ceil(np.log2(np.maximum(jobs["size"], 1))).astype(int)
    work = jobs["size"] * jobs["runtime"]
    rows: list[list[Cell]] = []
    for power in np.unique(kind[result.ended]).tolist():
        chosen = (kind == power) & result.ended
        low, high = (2 ** (power - 1) + 1 if power else 1), 2**power
        rows.append(
            [
                Amount(high, f"{low}-{high}" if low < high else f"{high}"),
                int(chosen.sum()),
                100.0 * float(work[chosen].sum() / work.sum()) if work.sum() else 0.0,
                _duration(float(jobs["wait"][chosen].mean())),
                _duration(float(np.percentile(jobs["wait"][chosen], 95))),
                float(jobs["bounded_slowdown"][chosen].mean()),
                int(jobs["restarts"][chosen].sum()),
            ]
        )
    head = [
        "nodes",
        "jobs",
        "work (%)",
        explained("mean_wait"),
        explained("p95_wait"),
        explained("mean_bounded_slowdown"),
        Term("kills", "how often failures stopped jobs of this size"),
    ]
    return Table(head, rows, title="By size")


def _duration(seconds: float) -> Amount:
    unit, factor = suited("s", [seconds])
    return Amount(seconds, f"{three_digits(seconds * factor)} {unit}", exact(seconds, "s"))


def _slowest(result: "Result") -> Table:
    jobs = result.jobs
    order = np.argsort(-jobs["bounded_slowdown"], kind="stable")
    order = order[result.ended[order]][:JOBS_SHOWN]
    names = ["id", "size", "submit", "start", "finish", "runtime", "wait", "bounded_slowdown"]
    names += [name for name in ("restarts", "lost_work", "moves") if jobs[name].any()]
    columns: list[list[Cell]] = [jobs[name][order].tolist() for name in names]
    for number, name in enumerate(names):
        if name in ("submit", "start", "finish"):  # instants: three digits would not tell them apart
            columns[number] = list(map(_instant, jobs[name][order].tolist()))
    units = {
        "submit": " (s)",
        "start": " (s)",
        "finish": " (s)",
        "runtime": " (s)",
        "wait": " (s)",
        "lost_work": " (node-s)",
    }
    every = result.all_ran and len(result) <= JOBS_SHOWN
    title = "All jobs" if every else f"The {JOBS_SHOWN} of {len(result):,} jobs with the largest bounded slowdown"
    heads = [name.replace("_", " ") + units.get(name, "") for name in names]
    return Table(heads, list(zip(*columns, strict=True)), title=title)


def _instant(value: float) -> Amount:
    whole = f"{value:,.0f}"
    return Amount(value, whole, "" if value.is_integer() else exact(value, "s"))


def _flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, str(value)


def _settings(runs: Results) -> Table:
    return _side_by_side(runs, "setting", [dict(_flat(plain(run.settings))) for run in runs.values()], "Settings")


def _differing(runs: Results) -> list[Table]:
    """The settings in which the runs differ, if there are several."""
    if len(runs) == 1:
        return []
    whole = _settings(runs)
    rows = [row for row in whole.rows if len(set(row[1:])) > 1]
    return [Table(whole.head, rows, "What differs in the settings")] if rows else []


def _side_by_side(runs: Results, what: str, flat: Sequence[Mapping[str, str]], title: str) -> Table:
    names = list(dict.fromkeys(name for said in flat for name in said))
    rows: list[list[Cell]] = [[name, *(said.get(name, "") for said in flat)] for name in names]
    return Table([what, *(["value"] if len(runs) == 1 else runs)], rows, title=title)


def _provenance(runs: Results) -> Table:
    """Versions and inputs, without dates and timings."""
    left = ("settings", "started", "elapsed")
    said = [{key: value for key, value in run.provenance.items() if key not in left} for run in runs.values()]
    return _side_by_side(runs, "what", [dict(_flat(one)) for one in said], "Versions and inputs")
