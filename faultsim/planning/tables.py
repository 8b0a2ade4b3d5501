"""The tables of a plan: what is promised, spare cubes, training time."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.data.failures import FailureTrace
from faultsim.errors import OptionError
from faultsim.machines.pod import Pod
from faultsim.planning import over_time
from faultsim.planning.blocks import block_of_host, count_blocks, nested_levels, places
from faultsim.planning.chances import nested_up, promised, slices_up
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
        fewer = (n for n in range(each.number - 1, 0, -1) if enough([*rest, each._replace(number=n)]))
        if most := next(fewer, 0):
            room.append(f"{most:,} of {each.slice}")
    return f"at most {' or '.join(room)} {what}{' beside the others' if len(wanted) > 1 else ''}" if room else ""


def promises_table(
    pod: Pod, wanted: Sequence[Wanted], hosts: Hosts, probabilities: Sequence[float], trace: FailureTrace | None
) -> PrintedTable:
    rows: list[dict[str, Any]] = []
    for of, _ in wanted:
        blocks, of_one = count_blocks(pod, of)
        most = blocks // of_one
        if pod.spares:
            most = min(most, (pod.n_cubes - pod.spares) // of.cubes)
        laws = {INDEPENDENT: slices_up(blocks, of_one, hosts.availability ** (of.hosts // of_one))[: most + 1]}
        if trace is not None:
            counted = over_time.slices_up(over_time.blocks_up(trace, block_of_host(pod, of)), of_one)[: most + 1]
            laws = {TRACE: np.append(counted, np.zeros(most + 1 - len(counted))), **laws}
        for name, tail in laws.items():
            row = {"shape": str(of), "chips": of.chips, "cubes": of.cubes}
            row |= {} if trace is None else {"failures": name}
            row |= {"most": most, "mean": float(tail[1:].sum())}
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
    rows: list[dict[str, Any]] = []
    notes = []
    groups = [[each] for each in wanted] + ([list(wanted)] if at_once and len(wanted) > 1 else [])
    for group in groups:
        found = {INDEPENDENT: _independent(pod, group, hosts.availability, probabilities, rng)}
        notes += _too_few(pod, group, hosts.availability, found[INDEPENDENT], probabilities)
        if trace is not None:
            found = {TRACE: _recorded(pod, group, trace, probabilities), **found}
        for name, each in found.items():
            row: dict[str, Any] = {"wanted": together(group)}
            row |= {} if trace is None else {"failures": name}
            row |= {"cubes": each.cubes, "method": each.method}
            row |= {"chance": each.chance, "low": each.low, "high": each.high}
            spare = zip(probabilities, each.spare, strict=True)
            rows.append(row | {f"spare_{name_of(p)}": cubes for p, cubes in spare})
    formats = dict.fromkeys(("chance", "low", "high"), "{:.2%}")
    formats |= {f"spare_{name_of(each)}": "{:,.0f}" for each in probabilities}
    if any(row["method"] == DRAWN for row in rows):
        notes.append(f"drawn: {DRAWS:,} states of the pod; low and high: 95% interval of the chance")
    return PrintedTable(_columns(rows), "spares", formats, notes)


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


def _too_few(pod: Pod, group: Sequence[Wanted], a: float, found: Spares, probabilities: Sequence[float]) -> list[str]:
    """A line for the least probability with which the pod is too small."""
    short = [(each, spare) for each, spare in zip(probabilities, found.spare, strict=True) if found.chance < each]
    if not short:
        return []
    probability, spare = short[0]

    def enough(fewer: Sequence[Wanted]) -> bool:
        levels = nested_levels(pod, fewer)
        return levels is not None and (nested_up(levels, a) or 0.0) >= probability

    said = [] if math.isnan(spare) else [f"{found.cubes + spare:,.0f} cubes are needed, {pod.n_cubes} are there"]
    said += [room] if (room := _room(group, enough, "can be promised")) else []
    return [f"{together(group)} with {name_of(probability)} %: {'; '.join(said) or 'not on this pod'}"]


def ettr_table(
    pod: Pod,
    wanted: Sequence[Wanted],
    hosts: Hosts,
    rules: dict[str, Checkpointing] | None,
    job: Training,
    trace: FailureTrace | None,
    rng: np.random.Generator | None,
) -> PrintedTable:
    rows: list[dict[str, Any]] = []
    seeds = [] if rng is None else rng.integers(2**63, size=RUNS).tolist()
    for of, _ in wanted:
        mttf = hosts.mtbf / of.hosts if trace is None else over_time.time_between(trace, places(pod, of))
        of_slice = hosts._replace(mtbf=mttf * of.hosts)  # of hosts that fail independently and hit the slice as often
        for name, rule in (rules or usual_rules(job, of_slice.mtbf)).items():
            found = ratio(of, of_slice, rule, job)
            if rng is not None:
                found = simulated(pod, of, of_slice, rule, job, found, trace=trace, seeds=seeds)
            row: dict[str, Any] = {"shape": str(of), "hosts": of.hosts, "mttf": mttf}
            row |= {"checkpointing": name, **found._asdict()}
            rows.append(row)
    columns = _columns(rows)
    if rng is None:
        for name in Ratio._fields[3:]:
            del columns[name]
    formats = dict.fromkeys(("first_order", "renewal", "simulated", "low", "high"), "{:.2%}")
    formats |= dict.fromkeys(("mttf", "interval", "hits"), "{:,.0f}")
    off = np.abs(columns["first_order"] - columns["renewal"]) > 0.01
    notes = ["mttf and interval in seconds"]
    if off.any():
        notes.append(
            f"first_order is off by more than a point in {int(off.sum())} of {len(off)} rows; renewal is exact"
        )
    if rng is not None and (columns["hits"] < RUNS).any():
        notes.append(f"with few hits in the {RUNS} runs their interval is too narrow: a longer runtime helps")
    return PrintedTable(columns, "ettr", formats, notes)


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    names = rows[0] if rows else {}
    return {
        name: np.array([row[name] for row in rows], dtype=object if isinstance(rows[0][name], str) else None)
        for name in names
    }
