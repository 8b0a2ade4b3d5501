"""The tables of a plan: what is promised, spare cubes, training time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.data.failures import FailureTrace
from faultsim.errors import OptionError
from faultsim.machines.pod import Pod
from faultsim.planning import over_time
from faultsim.planning.blocks import block_of_host, count_blocks, nested_levels
from faultsim.planning.chances import promised, slices_up
from faultsim.planning.hosts import Hosts
from faultsim.planning.spares import Spares, spares_by_formula, spares_by_trace
from faultsim.planning.training import Ratio, Training, ratio, simulated, usual_rules
from faultsim.planning.wanted import Wanted, together
from faultsim.policies.checkpointing import Checkpointing
from faultsim.results.printed_table import PrintedTable

INDEPENDENT, TRACE = "independent", "trace"


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
    if not wanted or fits(pod, wanted):
        return
    room = []
    for i, each in enumerate(wanted):
        rest = [*wanted[:i], *wanted[i + 1 :]]
        most = next((n for n in range(each.number - 1, 0, -1) if fits(pod, [*rest, each._replace(number=n)])), 0)
        if most:
            room.append(f"{most} of {each.slice}")
    said = f"at most {' or '.join(room)} fit{' beside the others' if len(wanted) > 1 else ''}"
    raise OptionError(
        f"{together(wanted)} need more than {pod} has, {pod.n_cubes} cubes: "
        + (said if room else "even one of each does not fit")
    )


def fits(pod: Pod, wanted: Sequence[Wanted]) -> bool:
    """Whether the pod has room for these slices when nothing is down."""
    levels = nested_levels(pod, wanted)
    if levels is None:
        return all(fits(pod, [each]) for each in wanted)
    return all(level.need <= level.blocks for level in levels)


def promises_table(
    pod: Pod, wanted: Sequence[Wanted], hosts: Hosts, probabilities: Sequence[float], trace: FailureTrace | None
) -> PrintedTable:
    rows: list[dict[str, Any]] = []
    for of, _ in wanted:
        blocks, of_one = count_blocks(pod, of)
        most = blocks // of_one
        laws = {INDEPENDENT: slices_up(blocks, of_one, hosts.availability ** (of.hosts // of_one))}
        if trace is not None:
            counted = over_time.slices_up(over_time.blocks_up(trace, block_of_host(pod, of)), of_one)
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
) -> PrintedTable:
    rows: list[dict[str, Any]] = []
    notes = []
    groups = [[each] for each in wanted] + ([list(wanted)] if at_once and len(wanted) > 1 else [])
    for group in groups:
        found: list[Spares | None] = [spares_by_formula(pod, group, hosts.availability, probabilities)]
        if trace is not None:
            found.insert(0, spares_by_trace(pod, group, trace, probabilities))
        for each in found:
            if each is None:
                continue
            row: dict[str, Any] = {"wanted": together(group)}
            row |= {} if trace is None else {"failures": TRACE if each.method == TRACE else INDEPENDENT}
            row |= {"cubes": each.cubes, "chance": each.chance}
            row |= {f"spare_{name_of(p)}": spare for p, spare in zip(probabilities, each.spare, strict=True)}
            rows.append(row)
            notes += _too_few(pod, group, each, probabilities) if each.method != TRACE else []
    formats = {"chance": "{:.4%}"} | {f"spare_{name_of(each)}": "{:,.0f}" for each in probabilities}
    return PrintedTable(_columns(rows), "spares", formats, notes)


def _too_few(pod: Pod, group: Sequence[Wanted], found: Spares, probabilities: Sequence[float]) -> list[str]:
    """A line for the least probability with which the pod is too small."""
    for probability, spare in zip(probabilities, found.spare, strict=True):
        if found.cubes + spare > pod.n_cubes:
            return [
                f"{together(group)} with {name_of(probability)} %: {found.cubes + spare:,.0f} cubes are needed, "
                f"{pod.n_cubes} are there"
            ]
    return []


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
    for of, _ in wanted:
        for name, rule in (rules or usual_rules(job, hosts.mtbf)).items():
            found = ratio(of, hosts, rule, job)
            if rng is not None:
                found = simulated(pod, of, hosts, rule, job, found, trace=trace, rng=rng)
            row: dict[str, Any] = {"shape": str(of), "hosts": of.hosts, "mttf": hosts.mtbf / of.hosts}
            row |= {"checkpointing": name, **found._asdict()}
            rows.append(row)
    columns = _columns(rows)
    if rng is None:
        for name in Ratio._fields[3:]:
            del columns[name]
    formats = dict.fromkeys(("first_order", "renewal", "simulated", "low", "high"), "{:.2%}")
    formats |= dict.fromkeys(("mttf", "interval"), "{:,.0f}")
    off = np.abs(columns["first_order"] - columns["renewal"]) > 0.01
    notes = ["mttf and interval in seconds" + ("" if trace is None else "; of hosts as if they failed independently")]
    if off.any():
        notes.append(
            f"first_order is off by more than a point in {int(off.sum())} of {len(off)} rows; renewal is exact"
        )
    return PrintedTable(columns, "ettr", formats, notes)


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    names = rows[0] if rows else {}
    return {
        name: np.array([row[name] for row in rows], dtype=object if isinstance(rows[0][name], str) else None)
        for name in names
    }
