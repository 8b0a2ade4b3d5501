"""The readings of [oliner2004]: size of bursts, migration, where a killed job goes, which slowdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from faultsim.policies import Defragment, Requeue
from faultsim.policies.recovery import Place
from faultsim.reproduce.claims import Row, judge
from faultsim.reproduce.oliner2004.checks import run_checks
from faultsim.reproduce.oliner2004.claims import CLAIMS
from faultsim.reproduce.oliner2004.inputs import load
from faultsim.reproduce.oliner2004.runs import Evidence, Plan, over_replicates, run_list
from faultsim.reproduce.readings import Axis, Reading, Readings, reading_of

_AS_CHOSEN, _WITH, _MAX = "8 (5.5)", "with", "max"
AXES = (
    Axis(
        "nodes a burst",
        (_AS_CHOSEN, "1", "32"),
        "The paper's trace has bursts of a size that is not given; 8 in trial runs of other programs, 5.5 where 1,000 "
        "failures are to be one in four days (O2).",
    ),
    Axis("migration", (_WITH, "without"), "The scheduler is Krevat's with backfilling and migration."),
    Axis("a killed job goes", ("by arrival", "to the tail"), "Not said; it keeps its place by its arrival."),
    Axis("slowdown", (_MAX, "min"), "The paper prints min() below the line, which its own axes exclude."),
)
_PLACES: dict[str, Place] = {"by arrival": "arrival", "to the tail": "tail"}


def _made(
    *, data: str | Path | None, seed: int, workers: int | None, what: Plan | None = None
) -> Iterator[tuple[Reading, Sequence[Row]]]:
    plan = _PLAN if what is None else what
    sources, checks = load(data, llnl=None, jobs=plan.jobs, seed=seed), run_checks(quick=False)
    bursts, migration, places, _ = (axis.values for axis in AXES)
    for burst in bursts:
        for moving in migration:
            for place in places:
                runs = run_list(
                    sources,
                    plan,
                    seed,
                    bursts=None if burst == _AS_CHOSEN else float(burst),
                    migration=Defragment() if moving == _WITH else None,
                    recovery=Requeue(place=_PLACES[place]),
                )
                found = over_replicates(runs.run(workers=workers, progress=False), plan)
                for slowdown in AXES[3].values:
                    read = {
                        k: {**columns, "slowdown": columns["slowdown" if slowdown == _MAX else "slowdown_min"]}
                        for k, columns in found.items()
                    }
                    reading = reading_of(AXES, (burst, moving, place, slowdown))
                    yield reading, judge(CLAIMS, Evidence(sources, read, plan, checks))


#: Fewer replicates, confidences and counts than on the study's page.
_PLAN = Plan(replicates=6, grid=(0.0, 0.1, 0.2, 0.9, 1.0), counts=(0, 500, 1000, 2000, 4000))
READINGS: Readings[Evidence] = Readings(
    axes=AXES,
    about="Six replicates instead of ten, five confidences and five failure counts, so that less is significant than "
    "on the study's page.",
    shown=("O2", "O3", "O4"),
    made=_made,
)
