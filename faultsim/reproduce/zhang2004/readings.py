"""The readings of [zhang2004]: where a killed job goes, how long jobs are, which workload, which slowdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faultsim.reproduce.claims import Row, judge
from faultsim.reproduce.readings import Axis, Reading, Readings, reading_of
from faultsim.reproduce.zhang2004 import claims, strategy_claims
from faultsim.reproduce.zhang2004.inputs import load, renewal_counts, shortened
from faultsim.reproduce.zhang2004.runs import READINGS as REQUEUE
from faultsim.reproduce.zhang2004.runs import Evidence, Plan, View, run_list

_WORKLOADS = {"Hyper-Erlang": "fit", "CTC SP2": "ctc"}
_LENGTHS = {"as fitted": 1.0, "a quarter": 0.25}
_SLOWDOWNS = {"unbounded": "slowdown", "bounded by 10 s": "bounded_slowdown"}
AXES = (
    Axis(
        "job length",
        tuple(_LENGTHS),
        "The paper's abscissa has no values and its workload is not public: ours is of another machine's log. A "
        "quarter: as many times more jobs, at the same load.",
    ),
    Axis("a killed job goes", tuple(REQUEUE), "Not said; the study's page counts the parts of both."),
    Axis("workload", tuple(_WORKLOADS), "The model is the paper's; the log is one with its own correlations."),
    Axis("slowdown", tuple(_SLOWDOWNS), "As the paper defines it."),
)


def _made(
    *, data: str | Path | None, seed: int, workers: int | None, what: Plan | None = None
) -> Iterator[tuple[Reading, Sequence[Row]]]:
    plan, checks = _PLAN if what is None else what, {"Z1": renewal_counts(seed)}
    for length, by in _LENGTHS.items():
        few: dict[str, Any] = {"replicates": plan.replicates, "seed": seed, "days": plan.days}
        sources = load(data, **few) if by == 1.0 else shortened(data, by, **few)
        found = run_list(sources, plan, seed).run(workers=workers, progress=False)
        for slowdown, column in _SLOWDOWNS.items():
            tables = {k: {**columns, "slowdown": columns[column]} for k, columns in found.items()}
            evidence = Evidence(sources, plan, tables, checks, seed)
            for workload, name in _WORKLOADS.items():
                for place in REQUEUE:
                    view = evidence.view(name if name in sources else "fit", place)
                    reading = reading_of(AXES, (length, place, workload, slowdown))
                    yield reading, judge([*claims.CLAIMS, *strategy_claims.CLAIMS], view)


#: Fewer replicates and factors than on the study's page.
_PLAN = Plan(replicates=5, factors=(0.4, 0.7, 1.0))
READINGS: Readings[View] = Readings(
    axes=AXES,
    about="Five replicates instead of 24 and three run-time factors instead of nine, so that less is significant than "
    "on the study's page, and each place of a killed job by itself.",
    shown=("Z2", "Z4", "Z9", "Z11", "Z12"),
    made=_made,
)
