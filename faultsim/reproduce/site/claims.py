"""What a site would gain, as hypotheses.

The hypotheses and rules were written before the first full run; the remarks have what was seen before.  An interval is
a 95 % jackknife interval: over the days of the week, where a change of the configuration is compared with today, each
day of all replicates being one value; over replicates, where failures are. All settings meet the same jobs.
"""

import math

from faultsim.arrays import Floats
from faultsim.reproduce.claims import NOT_JUDGED, Claims, Finding, Part, combine
from faultsim.reproduce.parts import every, higher, known, lower, within
from faultsim.reproduce.site.inputs import ALL, GPU, LARGE, LIGHT, SMALL
from faultsim.reproduce.site.runs import ARRIVAL, EASY, MORE, NOW, Evidence, Key
from faultsim.sweep.jackknife import Estimate, jackknife

SETTINGS = {
    "T": "the week under the site's own slurm.conf, accounts and QOS, without failures; one option is changed",
    "D": "intervals over the seven days of submission",
    "F": "failures of single nodes, independent, exponential, each 4 h; jobs are requeued (JobRequeue=1); "
    "nodes that only the larger site has do not fail",
    "C": "checkpoints of 2 min at Daly's interval for the rate of failures of a node",
    "R": "intervals over replicates: draws of failures, and of submissions within a minute",
}
CHOSEN = {"F": "rates, kind and length of failures", "C": "cost of checkpoints"}
CLAIMS = Claims[Evidence](CHOSEN)
TODAY = Key(NOW)


def _percent(found: Estimate) -> str:
    return f"{100 * found.value:+.1f} % [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def _times(found: Estimate) -> str:
    return f"{math.exp(found.value):.2f} [{math.exp(found.low):.2f}, {math.exp(found.high):.2f}]"


def _hours(e: Evidence, key: Key, kind: str = ALL) -> str:
    return f"{e.mean('wait', TODAY, kind):.2f} h to {e.mean('wait', key, kind):.2f} h"


@CLAIMS.add("W1", "bf_window", "order", "hardly any change", settings="T, D")
def _longer_window(e: Evidence) -> Finding:
    """A backfill window of a week instead of three days hardly changes the mean wait.

    The mean wait changes clearly by less than 5 %: no job may run for more than three days.
    """
    key = Key("bf_window=7d")
    found = e.change("wait", TODAY, key)
    return Finding(f"{_percent(found)}: {_hours(e, key)}", combine(within(found, -0.05, 0.05)))


@CLAIMS.add("W2", "bf_window", "order", "large jobs wait longer", settings="T, D")
def _shorter_window(e: Evidence) -> Finding:
    """A backfill window of a day makes large jobs wait longer.

    The mean wait of large jobs is clearly longer.
    """
    key = Key("bf_window=1d")
    found = e.change("wait", TODAY, key, LARGE)
    return Finding(f"{_percent(found)}: {_hours(e, key, LARGE)}", combine(higher(found)))


@CLAIMS.add("W3", "bf_max_job_user", "number", "-10 %", settings="T, D")
def _no_limit(e: Evidence) -> Finding:
    """Without a limit of jobs of a user in a cycle of backfilling the mean wait is a tenth shorter.

    With bf_max_job_user=0 the mean wait is clearly at least 10 % shorter.
    """
    key = Key("bf_max_job_user=0")
    found = e.change("wait", TODAY, key)
    return Finding(f"{_percent(found)}: {_hours(e, key)}", combine(lower(found, -0.1)))


@CLAIMS.add("W4", "bf_max_job_user", "number", "+10 %", settings="T, D")
def _low_limit(e: Evidence) -> Finding:
    """A limit of 20 jobs of a user, instead of 100, makes the mean wait a tenth longer.

    With bf_max_job_user=20 the mean wait is clearly at least 10 % longer.
    """
    key = Key("bf_max_job_user=20")
    found = e.change("wait", TODAY, key)
    return Finding(f"{_percent(found)}: {_hours(e, key)}", combine(higher(found, 0.1)))


@CLAIMS.add("W5", "fair share", "order", "redistributes", settings="T, D")
def _no_share(e: Evidence) -> Finding:
    """Fair share redistributes waits, and costs none.

    Without it, the mean wait of all jobs changes clearly by less than 10 %.
    """
    key = Key("no fair share")
    found = e.change("wait", TODAY, key)
    return Finding(f"{_percent(found)}: {_hours(e, key)}", combine(within(found, -0.1, 0.1)))


@CLAIMS.add("W6", "fair share", "order", "light users gain", settings="T, D")
def _more_share(e: Evidence) -> Finding:
    """Four times the weight of fair share helps users with little work.

    The geometric mean of the slowdown of the jobs of light users, which together have a tenth of the work, is clearly
    lower with four times the weight, and clearly higher without fair share.
    """
    more, none = (e.slower(TODAY, Key(name), LIGHT) for name in ("fair share x4", "no fair share"))
    return Finding(f"times {_times(more)} with four times, {_times(none)} without", combine(lower(more), higher(none)))


@CLAIMS.add("W7", "8 more GPU nodes", "number", "half the wait", settings="T, D")
def _more_nodes(e: Evidence) -> Finding:
    """Eight more nodes with GPUs halve the wait of jobs with GPUs.

    Their mean wait is clearly at least 50 % shorter.
    """
    key = Key(MORE)
    found = e.change("wait", TODAY, key, GPU)
    return Finding(f"{_percent(found)}: {_hours(e, key, GPU)}", combine(lower(found, -0.5)))


@CLAIMS.add("W8", "8 more GPU nodes", "order", "others gain, too", settings="T, D")
def _others_gain(e: Evidence) -> Finding:
    """Large jobs without GPUs gain from them, too, as the partition is common.

    The mean wait of large jobs is clearly shorter.
    """
    key = Key(MORE)
    found = e.change("wait", TODAY, key, LARGE)
    return Finding(f"{_percent(found)}: {_hours(e, key, LARGE)}", combine(lower(found)))


@CLAIMS.add("W9", "Slurm's plans", "number", "10 %", settings="T, D")
def _plans(e: Evidence) -> Finding:
    """Plans of whole nodes and periods of the loops cost a tenth of the mean wait.

    In the same order, of arrival, the mean wait under exact EASY is clearly at least 10 % shorter than under Slurm.
    """
    slurm, exact = Key(ARRIVAL), Key(EASY)
    found = e.change("wait", slurm, exact)
    hours = f"{e.mean('wait', slurm):.2f} h to {e.mean('wait', exact):.2f} h"
    return Finding(f"{_percent(found)}: {hours}", combine(lower(found, -0.1)))


@CLAIMS.add("W10", "Slurm's plans", "order", "small jobs", settings="T, D")
def _small_jobs(e: Evidence) -> Finding:
    """Against the site as it is, exact EASY is better for small jobs.

    The geometric mean of the slowdown of small jobs is clearly lower under exact EASY than under the site's Slurm.
    """
    found = e.slower(TODAY, Key(EASY), SMALL)
    return Finding(f"times {_times(found)}", combine(lower(found)))


def _by_rate(e: Evidence, rate: float) -> Estimate | None:
    return e.over_failures("delay", TODAY, Key(NOW, rate)) if rate in e.what.rates else None


@CLAIMS.add("W11", "failures", "order", "not seen", settings="T, F, R")
def _few_failures(e: Evidence) -> Finding:
    """One failure of a node in a year is not seen in what jobs lose to the queue.

    The mean time in the system beyond the run time changes clearly by less than 5 %.
    """
    found = _by_rate(e, 1.0)
    if found is None:
        return Finding("not run", NOT_JUDGED)
    return Finding(_percent(found), combine(within(found, -0.05, 0.05)))


@CLAIMS.add("W12", "failures", "order", "longer", settings="T, F, R")
def _many_failures(e: Evidence) -> Finding:
    """Sixteen failures of a node in a year are seen.

    The mean time in the system beyond the run time is clearly longer.
    """
    found = _by_rate(e, 16.0)
    if found is None:
        return Finding("not run", NOT_JUDGED)
    return Finding(_percent(found), combine(higher(found)))


@CLAIMS.add("W13", "checkpoints", "number", "half of the loss", settings="T, F, C, R")
def _checkpoints_save(e: Evidence) -> Finding:
    """Checkpoints halve the work that failures waste, where nodes fail often.

    Under exact EASY and at 16 failures of a node in a year, lost work and checkpoints together are clearly at most half
    of the lost work without checkpoints; at one failure in a year they are clearly more than it.
    """
    ours, good = [], list[Part]()
    for rate, bound in ((16.0, -0.5), (1.0, 0.0)):
        if rate in e.what.rates:
            without, kept = (e.runs[Key(EASY, rate, each)]["lost"] for each in (False, True))
            found = relative(without, kept)
            good.append(lower(found, bound) if bound else higher(found))
            ours.append(f"{rate:g} a year {without.mean():.2f} % to {kept.mean():.2f} %, {_percent(found)}")
    return Finding("; ".join(ours), combine(*good))


@CLAIMS.add("W14", "checkpoints", "order", "shorter", settings="T, F, C, R")
def _checkpoints_help(e: Evidence) -> Finding:
    """Checkpoints shorten the time in the system, where nodes fail often.

    At 16 failures of a node in a year, the mean time in the system beyond the run time is clearly shorter with them.
    """
    rate = e.what.rates[-1]
    found = e.over_failures("delay", Key(NOW, rate), Key(NOW, rate, True))
    return Finding(_percent(found), combine(lower(found)))


@CLAIMS.add("W15", "what-ifs under failures", "order", "the same", settings="T, F, C, R")
def _robust(e: Evidence) -> Finding:
    """What a change is worth does not depend on failures.

    For each change that meets failures, at each rate and with and without checkpoints, the change of the mean time in
    the system has the sign that it has without failures, clearly.
    """
    ours, good = [], list[Part]()
    for change in e.what.failing[1:]:
        plain = e.over_failures("delay", TODAY, Key(change))
        said = []
        for rate in e.what.rates:
            for kept in (False, True):
                found = e.over_failures("delay", Key(NOW, rate, kept), Key(change, rate, kept))
                same = lower(found) if plain.value < 0 else higher(found)
                good.append(every(same, known(plain.value != 0, plain.value)))
                said.append(f"{100 * found.value:+.1f}")
        ours.append(f"{change} {100 * plain.value:+.1f} %, then {', '.join(said)}")
    return Finding(f"{good.count(True)} of {len(good)}: {'; '.join(ours)}", combine(*good))


def relative(base: Floats, other: Floats) -> Estimate:
    """By which share the mean of `other` is above that of `base`; a replicate is one value."""
    return jackknife(lambda a, b: float(b.mean() / a.mean()) - 1 if a.mean() else math.nan, base, other)
