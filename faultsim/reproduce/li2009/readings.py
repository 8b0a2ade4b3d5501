"""The readings of [li2009]: which nodes a job takes, how good the predictor is, what the residual rule gains."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from faultsim.policies.rescheduling import Residual, Suspicious
from faultsim.reproduce.claims import Row, judge
from faultsim.reproduce.li2009.checks import run_checks
from faultsim.reproduce.li2009.inputs import Parameters, load
from faultsim.reproduce.li2009.runs import Evidence, Plan, plan, run_list
from faultsim.reproduce.readings import Axis, Reading, Readings, reading_of

_SUSPICIOUS: dict[str, Suspicious] = {"the last choice": "last", "as any other": "ignore"}
_RECALL = {".45": 0.45, ".6": 0.6}
_RESIDUAL: dict[str, Residual] = {"as printed": "printed", "difference": "difference"}
AXES = (
    Axis(
        "a suspicious node is",
        tuple(_SUSPICIOUS),
        "The paper does not say whether jobs start on nodes that are predicted to fail.",
    ),
    Axis("recall", tuple(_RECALL), "Not in the paper's text; chosen in trial runs of other programs for Figure 4."),
    Axis(
        "the residual rule gains",
        tuple(_RESIDUAL),
        "As printed it is the probability that the job fails all the same; the other is by how much that falls.",
    ),
)


def _made(
    *,
    data: str | Path | None,
    seed: int,
    workers: int | None,
    what: Plan | None = None,
    baseline: Parameters | None = None,
) -> Iterator[tuple[Reading, Sequence[Row]]]:
    from faultsim.reproduce.li2009 import CLAIMS

    chosen, usual = what or _PLAN, baseline or Parameters()
    for suspicious, recall, residual in itertools.product(*(axis.values for axis in AXES)):
        parameters = replace(
            usual, suspicious=_SUSPICIOUS[suspicious], recall=_RECALL[recall], residual=_RESIDUAL[residual]
        )
        sources = load(data, parameters, seed=seed, days=chosen.days)
        found = run_list(sources, chosen, parameters, seed).run(workers=workers, progress=False)
        checks = run_checks(data, sources, parameters, seed=seed, quick=True)
        reading = reading_of(AXES, (suspicious, recall, residual))
        yield reading, judge(CLAIMS, Evidence(sources, found, chosen, parameters, checks))


#: Fewer replicates, loads, MTBFs, precisions and recalls than on the study's page, and a shorter trace.
_PLAN = replace(plan(True), replicates=4)
READINGS: Readings[Evidence] = Readings(
    axes=AXES,
    about="Four replicates instead of 20, fewer loads, MTBFs, precisions and recalls, and 60 days of the trace instead "
    "of 180, so that less is significant than on the study's page.",
    shown=("F1", "F2", "F4"),
    made=_made,
)
