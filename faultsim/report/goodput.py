"""What a report of runs says of goodput and energy: tables beside the ledger."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from faultsim.machines.power import Power, power_of
from faultsim.report.numbers import Amount, Term, exact, suited, three_digits
from faultsim.report.table import Cell, Table

if TYPE_CHECKING:
    from faultsim.results.result import Result


def time_between_kills(result: "Result") -> Iterator[Table]:
    """By size; nothing if no job was killed."""
    found = result.mttf()
    if not found["kills"].any():
        return
    rows: list[list[Cell]] = []
    for row in range(len(found)):
        values = found[row]
        rows.append([values["size_class"], values["jobs"], values["kills"]])
        for name in ("exposed", "mttf", "low", "high"):
            unit, factor = suited("s", [values[name]])
            shown = three_digits(values[name] * factor) + (f" {unit}" if math.isfinite(values[name]) else "")
            rows[-1].append(Amount(values[name], shown, exact(values[name], "s")))
        rows[-1].append(values["per_1000_node_days"])
    head: list[str | Term] = [
        Term("nodes, at most", "a class holds the sizes up to a power of two"),
        "jobs",
        "kills",
        Term("exposed", "time for which these jobs held nodes and did not wait for a repair"),
        Term("mean time between kills", "exposed / kills"),
        Term("from", "lower end of its 95 % interval, exact for a constant rate"),
        Term("to", "upper end of its 95 % interval, exact for a constant rate"),
        Term("per 1,000 node-days", "kills in 1,000 days of one node"),
    ]
    yield Table(head, rows, title="Time between kills by size")


def energy_of(runs: Mapping[str, "Result"], power: Power | None) -> Iterator[Table]:
    """What each run took; nothing without a power."""
    if power is None:
        return
    power = power_of(power)
    taken = {label: run.energy(power) for label, run in runs.items()}
    accounts = list(dict.fromkeys(name for energy in taken.values() for name in energy["account"].tolist()))
    rows: list[list[Cell]] = []
    for name in accounts:
        by_run = [dict(zip(e["account"].tolist(), e["kwh"].tolist(), strict=True)) for e in taken.values()]
        rows.append([name, *(kwh.get(name, 0.0) for kwh in by_run)])
    rows.append(["all", *(energy.kwh for energy in taken.values())])
    rows.append([Term("of failures", "of kills and repairs, see model.md#energy"),
                 *(energy.of_failures for energy in taken.values())])  # fmt: skip
    rows.append(["per useful node-hour", *(energy.per_useful_node_hour for energy in taken.values())])
    head = ["account", *(f"{label}, kWh" if len(taken) > 1 else "kWh" for label in taken)]
    yield Table(head, rows, title=f"Energy at {power.idle:g} W idle, {power.busy:g} W busy, {power.down:g} W down")
