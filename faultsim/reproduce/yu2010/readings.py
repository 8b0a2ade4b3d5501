"""The readings of [yu2010]: the order across workflows, which workflows, which makespan, which answers count."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from faultsim.reproduce.claims import Row, judge
from faultsim.reproduce.readings import Axis, Reading, Readings, reading_of
from faultsim.reproduce.yu2010.runs import READINGS as ORDERS
from faultsim.reproduce.yu2010.runs import Evidence, Plan, View, plan

_WORKFLOWS = {"bench-like": "bench", "recorded": "real"}
_MAKESPANS = {"mean over workflows": "makespan", "end of the last": "end"}
_ANSWERS = {"every free node": "aaa", "only what was asked": "aaa_asked"}
AXES = (
    Axis(
        "order across workflows",
        tuple(ORDERS),
        "That of RANK_HYBD as others tell it; the paper's Figure 3 shows the other one, for a single workflow.",
    ),
    Axis("workflows", tuple(_WORKFLOWS), "The paper's bench, which is not public, is of random workflows."),
    Axis("makespan", tuple(_MAKESPANS), 'The figures say "average makespan".'),
    Axis("answers", tuple(_ANSWERS), "Only so are there 10 queries in the worked example (L2)."),
)


def _made(
    *, data: str | Path | None, seed: int, workers: int | None, what: Plan | None = None
) -> Iterator[tuple[Reading, Sequence[Row]]]:
    from faultsim.reproduce.yu2010 import CLAIMS, prepared

    chosen = _PLAN if what is None else what
    runs, evidence_of = prepared(chosen, data=data, quick=False, seed=seed)
    whole = evidence_of(runs.run(workers=workers, progress=False))
    for makespan, column in _MAKESPANS.items():
        for answers, counted in _ANSWERS.items():
            tables = {
                key: {**values, "makespan": values[column], "aaa": values[counted]}
                for key, values in whole.tables.items()
            }
            evidence: Evidence = replace(whole, tables=tables)
            for workflows, name in _WORKFLOWS.items():
                for order in ORDERS:
                    view = evidence.view(name if name in evidence.sources else "bench", order)
                    yield reading_of(AXES, (order, workflows, makespan, answers)), judge(CLAIMS, view)


#: Fewer windows and prediction traces than on the study's page.
_PLAN = replace(plan(False), windows=6, traces=3, mixes=6, redraws=0)
READINGS: Readings[View] = Readings(
    axes=AXES,
    about="Six windows instead of ten and three prediction traces instead of five, so that less is significant than on "
    "the study's page.",
    shown=("L10", "L11"),
    made=_made,
)
