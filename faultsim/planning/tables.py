"""The tables of a plan: what is promised, spare cubes, training time."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from faultsim.arrays import Values
from faultsim.data.failures import FailureTrace
from faultsim.errors import OptionError
from faultsim.machines.pod import Pod
from faultsim.planning import over_time
from faultsim.planning.blocks import count_blocks, nested_levels, places
from faultsim.planning.chances import independent_up, nested_up, promised
from faultsim.planning.hosts import Hosts
from faultsim.planning.packing import Packing
from faultsim.planning.spares import NAN, Spares, cubes_taken, spares_by_formula, spares_by_trace
from faultsim.planning.states import DRAWS, drawn_cubes, static_chance, static_share
from faultsim.planning.training import RUNS, Ratio, Training, ratio, simulated, usual_rules
from faultsim.planning.wanted import Wanted, together
from faultsim.policies.checkpointing import Checkpointing
from faultsim.results.printed_table import PrintedTable

#: Failures of a row, and how a chance was found.
INDEPENDENT, TRACE, DRAWN = "independent", "trace", "drawn"
#: Of a ratio: what a difference must be to be told.
_POINT = 0.01
_SAID = {INDEPENDENT: "independent hosts", TRACE: "by the trace"}


def name_of(probability: float) -> str:
    """A probability in the name of a column.

    Examples
    --------
    >>> name_of(0.97), name_of(0.999)
    ('97', '99.9')
    """
    return f"{100 * probability:.10g}"


def check_room(pod: Pod, wanted: Sequence[Wanted]) -> None:
    """Refuse slices that the pod cannot hold even if all of it is up; says how many it could."""
    if pod.spares and any(not each.slice.cubes for each in wanted):
        raise OptionError(f"plan: no formula says what {pod} can promise of slices inside cubes: leave spares= out")
    if not wanted or fits(pod, wanted):
        return
    beside = f" beside its {pod.spares} spares" if pod.spares else ""
    fewer = _room(wanted, lambda rest: fits(pod, rest), "fit")
    raise OptionError(
        f"{together(wanted)} need more than {pod} has, {pod.n_cubes - pod.spares} cubes{beside}: "
        + (fewer or f"fewer of one shape are still too many{' beside the others' if len(wanted) > 1 else ''}")
    )


def fits(pod: Pod, wanted: Sequence[Wanted]) -> bool:
    """Whether the pod has room for these slices when nothing is down, also where a search gives up."""
    if cubes_taken(pod, wanted) > pod.n_cubes - pod.spares:
        return False
    levels = nested_levels(pod, wanted)
    if levels is not None:
        return all(level.need <= level.blocks for level in levels)
    in_cubes = [each for each in wanted if each.slice.cubes]
    all_fit = all(fits(pod, [each]) for each in in_cubes)
    return all_fit and Packing(pod, in_cubes).fits((1 << pod.n_cubes) - 1) is not False


def _room(wanted: Sequence[Wanted], enough: Callable[[Sequence[Wanted]], bool], what: str) -> str:
    """How many of each there is enough for, beside the others; nothing if there is not even for one."""
    room = []
    for i, each in enumerate(wanted):
        rest = [*wanted[:i], *wanted[i + 1 :]]
        most, too_many = 0, each.number
        while too_many - most > 1:
            middle = (most + too_many) // 2
            if enough([*rest, each._replace(number=middle)]):
                most = middle
            else:
                too_many = middle
        if most:
            room.append(f"{most:,} of {each.slice}")
    return f"at most {' or '.join(room)} {what}{' beside the others' if len(wanted) > 1 else ''}" if room else ""


def promises_table(
    pod: Pod, wanted: Sequence[Wanted], hosts: Hosts, probabilities: Sequence[float], trace: FailureTrace | None
) -> PrintedTable:
    rows: list[dict[str, object]] = []
    for of, _ in wanted:
        laws = {INDEPENDENT: independent_up(pod, of, hosts.availability)}
        if trace is not None:
            laws = {TRACE: over_time.recorded_up(trace, pod, of), **laws}
        for name, tail in laws.items():
            row = {"shape": str(of), "chips": of.chips, "cubes": of.cubes}
            row |= {} if trace is None else {"failures": name}
            row |= {"most": len(tail) - 1, "mean": float(tail[1:].sum())}
            up = {name_of(each): promised(tail, each) for each in probabilities}
            row |= {f"slices_{each}": count for each, count in up.items()}
            rows.append(row | {f"share_{each}": count * of.chips / pod.chips for each, count in up.items()})
    formats = {"chips": "{:,}", "mean": "{:,.2f}"} | {f"share_{name_of(each)}": "{:.2%}" for each in probabilities}
    return PrintedTable(_columns(rows), "promises", formats)


def spares_table(
    pod: Pod,
    wanted: Sequence[Wanted],
    at_once: bool,
    hosts: Hosts,
    probabilities: Sequence[float],
    trace: FailureTrace | None,
    rng: np.random.Generator,
) -> PrintedTable:
    rows: list[dict[str, object]] = []
    notes = []
    groups = [[each] for each in wanted] + ([list(wanted)] if at_once and len(wanted) > 1 else [])
    for group in groups:
        found = {INDEPENDENT: _independent(pod, group, hosts.availability, probabilities, rng)}
        if trace is not None:
            found = {TRACE: _recorded(pod, group, trace, probabilities), **found}
        chances = {INDEPENDENT: partial(_chance, pod, hosts.availability), TRACE: partial(_chance_by_trace, pod, trace)}
        for name, each in found.items():
            said = _too_few(pod, group, each, probabilities, chances[name])
            notes += [said if trace is None else f"{_SAID[name]}: {said}"] if said else []
        for name, each in found.items():
            row: dict[str, object] = {"wanted": together(group)}
            row |= {} if trace is None else {"failures": name}
            row |= {"cubes": each.cubes, "method": each.method}
            row |= {"chance": each.chance, "low": each.low, "high": each.high}
            spare = zip(probabilities, each.spare, strict=True)
            rows.append(row | {f"spare_{name_of(p)}": cubes for p, cubes in spare})
    formats = dict.fromkeys(("chance", "low", "high"), "{:.2%}")
    formats |= {f"spare_{name_of(each)}": "{:,.0f}" for each in probabilities}
    if any(row["method"] == DRAWN for row in rows):
        notes.append(f"drawn: {DRAWS:,} states of the pod; low and high: 95% interval of the chance")
    most = {f"spare_{name_of(each)}": 10.0 * pod.n_cubes for each in probabilities}
    return PrintedTable(_columns(rows), "spares", formats, notes, most)


def _independent(
    pod: Pod, group: Sequence[Wanted], a: float, probabilities: Sequence[float], rng: np.random.Generator
) -> Spares:
    if (found := spares_by_formula(pod, group, a, probabilities)) is not None:
        return found
    if pod.wiring == "ocs":
        return drawn_cubes(pod, group, a, probabilities, rng)
    chance, low, high, method = static_chance(pod, group, a, rng)
    bounds = (NAN, NAN) if low == high else (low, high)
    return Spares(cubes_taken(pod, group), chance, *bounds, [NAN] * len(probabilities), method)


def _recorded(pod: Pod, group: Sequence[Wanted], trace: FailureTrace, probabilities: Sequence[float]) -> Spares:
    if (found := spares_by_trace(pod, group, trace, probabilities)) is not None:
        return found
    low, high = static_share(pod, group, trace)
    bounds = (NAN, NAN) if low == high else (low, high)
    return Spares(cubes_taken(pod, group), low, *bounds, [NAN] * len(probabilities), TRACE)


def _chance(pod: Pod, a: float, group: Sequence[Wanted]) -> float | None:
    """That all are up at once, of independent hosts; None where no formula has it."""
    levels = nested_levels(pod, group)
    return None if levels is None else nested_up(levels, a)


def _chance_by_trace(pod: Pod, trace: FailureTrace | None, group: Sequence[Wanted]) -> float | None:
    """The share of the time in which all were up; None where only a search can say it."""
    found = None if trace is None else spares_by_trace(pod, group, trace, [])
    return None if found is None else found.chance


def _too_few(
    pod: Pod,
    group: Sequence[Wanted],
    found: Spares,
    probabilities: Sequence[float],
    chance: Callable[[Sequence[Wanted]], float | None],
) -> str:
    """A line for the least probability with which the pod is too small; nothing where it is not known what would do."""
    short = [(each, spare) for each, spare in zip(probabilities, found.spare, strict=True) if found.chance < each]
    if not short:
        return ""
    probability, spare = short[0]
    said = [] if math.isnan(spare) else [_needed(pod, group, int(spare))]
    if chance(group) is not None:
        room = _room(group, lambda fewer: (chance(fewer) or 0.0) >= probability, "can be promised")
        none = "none can be promised" if len(group) == 1 else "fewer of one shape are not enough"
        said.append(room or none)
    return f"{together(group)} with {name_of(probability)} %: {'; '.join(said)}" if said else ""


def _needed(pod: Pod, group: Sequence[Wanted], spare: int) -> str:
    """How many cubes, or static blocks, the slices and their spares need, and how many there are."""
    what, of_one, there = "cubes", 1, pod.n_cubes
    if pod.wiring == "static" and group[0].slice.cubes > 1:
        what, of_one, there = "blocks", group[0].slice.cubes, count_blocks(pod, group[0].slice)[0]
    needed = (cubes_taken(pod, group) + spare) // of_one
    shown = f"more than {10 * there:,}" if needed > 10 * there else f"{needed:,}"
    return f"{shown} {what} are needed, {there:,} {'is' if there == 1 else 'are'} there"


def ettr_table(
    pod: Pod,
    wanted: Sequence[Wanted],
    hosts: Hosts,
    rules: dict[str, Checkpointing] | None,
    job: Training,
    trace: FailureTrace | None,
    rng: np.random.Generator | None,
) -> PrintedTable:
    rows: list[dict[str, object]] = []
    left_out: dict[str, int] = {}
    seeds = [] if rng is None else rng.integers(2**63, size=RUNS).tolist()
    for of, _ in wanted:
        mttf = hosts.mtbf / of.hosts if trace is None else over_time.time_between(trace, places(pod, of))
        tail = independent_up(pod, of, hosts.availability) if trace is None else over_time.recorded_up(trace, pod, of)
        up = float(tail[1]) if len(tail) > 1 else 0.0
        of_slice = hosts._replace(mtbf=mttf * of.hosts)  # of hosts that fail independently and hit the slice as often
        for name, rule in (rules or usual_rules(job, of_slice.mtbf or 1.0)).items():
            # A slice that is never up has no ratio.
            found = ratio(of, of_slice, rule, job) if mttf > 0.0 else Ratio(*[NAN] * len(Ratio._fields))
            if rng is not None:
                found, why_not = simulated(pod, of, of_slice, rule, job, found, trace=trace, seeds=seeds, up=up)
                if why_not:
                    left_out[why_not] = left_out.get(why_not, 0) + 1
            row: dict[str, object] = {"shape": str(of), "hosts": of.hosts, "mttf": mttf}
            row |= {"checkpointing": name, **found._asdict()}
            rows.append(row)
    columns = _columns(rows)
    if rng is None:
        for name in Ratio._fields[3:]:
            del columns[name]
    formats = dict.fromkeys(("first_order", "renewal", "simulated", "low", "high"), "{:.2%}")
    formats |= dict.fromkeys(("mttf", "interval", "hits"), "{:,.0f}")
    notes = ["mttf and interval in seconds"]
    off = int((np.abs(columns["first_order"] - columns["renewal"]) > _POINT).sum())
    if off:
        notes.append(f"first_order is off by more than a point in {off} of {len(rows)} rows")
        if trace is None:
            notes.append("renewal: exact if failures are independent and exponential and a restart waits for no host")
    notes += _of_simulation(columns, left_out) if rng is not None else []
    return PrintedTable(columns, "ettr", formats, notes)


def _of_simulation(columns: dict[str, Values], left_out: dict[str, int]) -> list[str]:
    """What is said of simulated ratios: those far from the formula, those of few failures, those that there are not."""
    count = len(columns["hits"])
    notes = []
    apart = np.abs(columns["simulated"] - columns["renewal"])
    far = int(((apart > _POINT) & (apart > columns["high"] - columns["low"])).sum())
    if far:
        notes.append(f"simulated is off renewal by more than a point in {far} of {count} rows: "
            "restarts wait for hosts")  # fmt: skip
    if (columns["hits"] < RUNS).any():
        notes.append(f"with few hits in the {RUNS} runs their interval is too narrow: a longer runtime helps")
    return notes + [f"not simulated in {rows} of {count} rows: {why}" for why, rows in left_out.items()]


def _columns(rows: Sequence[dict[str, object]]) -> dict[str, Values]:
    names = rows[0] if rows else {}
    return {
        name: np.array([row[name] for row in rows], dtype=object if isinstance(rows[0][name], str) else None)
        for name in names
    }
