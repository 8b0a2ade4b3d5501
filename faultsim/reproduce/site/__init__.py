"""What would this site gain?  A week of a site under its own Slurm, with one thing changed, also under failures."""

import math
from pathlib import Path

from faultsim.reproduce.report import Input
from faultsim.reproduce.site.claims import CLAIMS, SETTINGS
from faultsim.reproduce.site.figures import FIGURES, grids, run_rows
from faultsim.reproduce.site.inputs import FILES, GPU, KINDS, LARGE, LIGHT, SMALL, load
from faultsim.reproduce.site.runs import NOW, REPLICATES, Evidence, Key, Plan, plan, run_list
from faultsim.reproduce.study import Prepared, Study, drawings, replicates

__all__ = ["CLAIMS", "STUDY", "reproduce"]


def _prepare(what: Plan, *, data: str | Path | None, quick: bool, seed: int) -> Prepared[Evidence]:
    week = load(data, seed=seed, jobs=what.jobs)
    return run_list(week, what, seed), lambda made: Evidence(week, made, what, quick)


def _inputs(evidence: Evidence) -> list[Input]:
    week = evidence.week
    return [Input("week", "UB-HPC" if week.real else "UB-HPC-like", week.text, week.real, len(week.log))]


def _remarks(evidence: Evidence) -> tuple[str, ...]:
    limited = Key("bf_max_job_user=20")
    limits, killed = (float(evidence.runs[Key(NOW)][name].mean()) for name in ("lost", "killed"))
    change, day = evidence.change("wait", Key(NOW), limited), evidence.largest_day("wait", Key(NOW), limited)
    carried = (
        f": of what days change by {limited.change}, {100 * change.value:+.0f} % in all, {100 * day:.0f} % is one day's"
    )
    carried = "" if math.isnan(day) else carried
    count = {kind: int(evidence.week.rows_of(kind).sum()) for kind in KINDS}
    return (
        "**One week is one week.** All numbers are of one week of one site, whose queue is empty at the beginning. "
        "Intervals over its seven days are of days that share one queue, so they are too narrow rather than too wide, "
        "and none says what another week would give. A site should run its own log: "
        "`faultsim compare --slurm slurm.conf --jobs sacct.txt --set ...`.",
        f"**Why little is clear.** One day can carry the mean of a week{carried}. What is not shown is not refuted.",
        "**What is compared.** The site as its slurm.conf, accounts and QOS say, and the same with one thing changed. "
        f"Numbers are means over {evidence.what.replicates} replicates: the first is the week itself, in the others "
        "each submission is up to a minute later, as two runs of the real Slurm differ by seconds, too. "
        "Exact EASY decides at every event, in order of arrival, with reservations of cores, memory and GPUs; *Slurm, "
        "by arrival* has PriorityType=priority/basic, so that only plans and periods differ.",
        f"**Kinds of jobs**: {count[GPU]:,} with GPUs; {count[LARGE]:,} large: no GPUs, and 32 cores or more, "
        f"several nodes, or a node alone; {count[SMALL]:,} small: the others; {count[LIGHT]:,} of light users: those "
        "with the least work, a tenth of it together.",
        "**Seen before.** Hypotheses and rules were written before the first full run. Seen were the mean wait of the "
        "week with bf_window=1d, which was shorter than today's, and that of the first 1,500 jobs, which was shortest "
        "with bf_max_job_user=0. The first full run had three replicates, and left open nearly all claims on failures; "
        f"their number was raised to {REPLICATES}, and nothing else was changed.",
        "**Limits.** Some jobs ran until Slurm killed them at their limits, seconds after; these are killed here, too, "
        f"under Slurm, and all that they did counts as lost, without a failure: {limits:.1f} % of the work, and "
        f"{killed:.0f} jobs. Checkpoints keep most of that. So lost work is compared under exact EASY, which kills "
        "none of them.",
        "**Failures** of nodes are independent here, which they are not on real machines, and an added node does not "
        "fail. Without failures jobs follow JobRequeue=0 of the site, which then changes nothing.",
    )


STUDY = Study(
    name="site",
    title="What would this site gain? A week of a university cluster under its own Slurm",
    paper=False,
    description="Change one thing of a site's Slurm configuration, without failures and with, and compare.",
    quick="the first 2,000 jobs, two replicates, one rate of failures: under a minute",
    files=tuple(FILES.values()),
    options=replicates(REPLICATES),
    plan=plan,
    prepare=_prepare,
    claims=CLAIMS,
    inputs=_inputs,
    settings=lambda evidence: SETTINGS,
    remarks=_remarks,
    quick_note=lambda what: (
        f"{what.jobs or 0:,} jobs, {what.replicates} replicates, {len(what.rates)} rate of failures, so little is clear"
    ),
    grids=grids,
    figures=drawings(FIGURES),
    tables={"runs.csv": run_rows},
    colours=64,
)
reproduce = STUDY.reproduce
