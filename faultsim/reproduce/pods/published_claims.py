"""The published statements about pods and the training jobs on them, each marked as read or as reported by others.

Sources: [liu2023], [zu2024], [kokolis2025], [saxena2024].  Rules and tolerances were written and committed before the
first full run.
"""

from faultsim.reproduce.claims import NOT_JUDGED, Claims, Finding, Part, Parts, all_of, combine, nearness
from faultsim.reproduce.parts import every, higher, lower, within
from faultsim.reproduce.pods import laws, queues, training
from faultsim.reproduce.pods.runs import MACHINES, OUTAGE_CUBES, OUTAGE_KINDS, Evidence
from faultsim.reproduce.pods.table_claims import CONFIDENCE, SIZES, inside, pinned
from faultsim.reproduce.replicates import difference
from faultsim.sweep.jackknife import Estimate

#: Where a statement was found: in the text itself, or in somebody else's.
READ, REPORTED = "read", "as reported by others"
SETTINGS = {
    "M": "jobs of 4, 8, ... 2,048 chips, equally often, exponential "
    "run times, mean 4 hours, all there from the beginning, Fcfs(), no failures; hosts that are held while the work "
    "goes from a tenth to six tenths of what it would take without idle chips; static: the most cubic shapes, in "
    "aligned blocks, or in any box of the torus of cubes",
    "D": "Pod.tpu_v4(), domains with the reported failures a day: hosts .08 %, 96 cables to each cube .005 %, 48 "
    "switches .04 %, which are routed around; jobs of one size that need a day, always wanted",
    "T": "one long job on a Cluster with spare nodes, independent failures, Periodic() checkpoints, "
    "Requeue(restart_cost=...): it works again at once",
}
#: Of the settings -> what we chose with it.
CHOSEN = {"M": "sizes and run times of the jobs", "D": "size and run time of the jobs, what a cable takes away"}
CLAIMS = Claims[Evidence](CHOSEN)


@CLAIMS.add(
    "P6",
    f"Liu et al., SIGCOMM 2023, abstract; {READ}",
    "number",
    "up to 3",
    settings="Q",
    chosen="what is available is what can be promised with 97 %, hosts up 99.9 % of the time",
)
def _p6(e: Evidence) -> Finding:
    """Optical switches make the system up to three times as available.

    Promised share with switches over that with static wiring, hosts up 99.9 % of the time, over all slices of which
    static wiring promises any: the largest within .3 of 3, and within .6; only of shares that are pinned as in P2.
    """
    found: dict[int, float] = {}
    known: list[Part] = []
    for cubes in laws.TABLE:
        static, switched = (laws.promised_share(cubes, 0.999, wiring) for wiring in laws.WIRINGS)
        known += [pinned(e, cubes, 0.999, wiring) for wiring in laws.WIRINGS]
        if static:
            found[cubes] = switched / static
    best = max(found, key=lambda cubes: found[cubes])
    readings = [laws.best_ratio(a, p) for a in laws.AVAILABILITIES for p in laws.PROBABILITIES]
    near = sum(abs(ratio - 3.0) <= 0.3 for ratio in readings)
    means = {
        cubes: e.of("slices", "table", "switched", cubes, 0.999, "exponential").value
        / e.of("slices", "table", "static", cubes, 0.999, "exponential").value
        for cubes in laws.TABLE
    }
    return Finding(
        f"{found[best]:.3g} at {SIZES[best]} chips; "
        + ", ".join(f"{SIZES[cubes]}: {ratio:.3g}" for cubes, ratio in found.items())
        + "; of larger slices static wiring promises none, so that there is no largest ratio",
        nearness(found[best], 3.0, 0.3, clear=every(*known)),
        "of mean shares: "
        + ", ".join(f"{SIZES[cubes]}: {ratio:.2f}" for cubes, ratio in means.items())
        + f"; with hosts up 99, 99.5, 99.9 and 99.95 % and promises of 90, 95, 97 and 99 % it is within .3 of 3 in "
        f"{near} of {len(readings)} readings, and from {min(readings):.3g} to {max(readings):.3g}",
    )


@CLAIMS.add(
    "P7",
    f"Google, 2026; {REPORTED}",
    "number",
    "130 of 144, 95 %",
    settings="Q, with 4x6x6 cubes, as they are needed",
    chosen="the availability, which is fitted to the statement",
)
def _p7(e: Evidence) -> Finding:
    """130 of 144 cubes are healthy with a confidence of 95 %, which means hosts that are up 99.58 % of the time.

    With that availability the share of time with 130 cubes or more: 95 % in the 99.9 % interval, which is at most a
    point to either side; for exponential times and for those of P4.
    """
    a = laws.reported_availability()
    good: list[Part] = []
    ours = []
    for how in queues.OTHERS:
        found = e.of("kept", "healthy", "switched", 1, a, how, confidence=CONFIDENCE)
        good.append(inside(found, laws.WITH))
        ours.append(f"{how} {found.percent(2, '')}")
    return Finding(f"hosts up {100 * a:.2f} %, cubes {100 * a**laws.HOSTS:.2f} %: {'; '.join(ours)}", combine(*good))


@CLAIMS.add(
    "P8",
    f"of Google's pods; {REPORTED}",
    "order",
    "from 99.9 % to 99 %",
    settings="Q",
    chosen="needed for what is read as: to promise as much",
)
def _p8(e: Evidence) -> Finding:
    """With switches, hosts that are up 99 % of the time do what needs 99.9 % with static wiring.

    For each slice of more than one cube: the share promised with switches at 99 % is at least that promised with
    static wiring at 99.9 %, both pinned as in P2; five parts.
    """
    good: list[Part] = []
    ours = []
    for cubes in laws.TABLE:
        if cubes == 1:
            continue
        with_switches, wired = ((cubes, 0.99, "switched"), (cubes, 0.999, "static"))
        shares = [laws.promised_share(*cell) for cell in (with_switches, wired)]
        known = every(pinned(e, *with_switches), pinned(e, *wired))
        good.append(None if known is None else bool(known) and shares[0] >= shares[1])
        ours.append(f"{SIZES[cubes]}: {shares[0]:.3g} and {shares[1]:.3g}")
    return Finding("; ".join(ours), combine(*good))


@CLAIMS.add("P9", f"of Google's pods; {REPORTED}", "number", "0.5 to 8.6 %", settings="none")
def _p9(e: Evidence) -> Finding:
    """Routing around the outage of one switch costs a job 0.5 to 8.6 % of its speed.

    Not judged: it depends on what runs on the network, which is not simulated.
    """
    return Finding("not derivable without collectives and routing: a slice is a block of time and hosts", NOT_JUDGED)


@CLAIMS.add("P10", f"RFold, arXiv 2510.03891, abstract; {READ}", "number", "+57 %", settings="M")
def _p10(e: Evidence) -> Finding:
    """Switches and folded shapes together raise the utilization of 4,096 nodes by 57 % over existing methods.

    Not judged: shapes are not folded here, and the abstract names neither jobs nor methods.
    """
    busy = {name: e.values("hosts_busy", "mixed", name) for name in MACHINES}
    more = {name: difference(busy[name], busy["switched"]) for name in list(MACHINES)[1:]}
    words = [f"{name} {100 * values.mean():.0f} %" for name, values in busy.items()]
    gains = [f"{100 * x.value:+.0f} +- {100 * x.half:.0f} points over {name}" for name, x in more.items()]
    return Finding(
        "folding is not simulated", NOT_JUDGED, f"switches alone, all shapes the most cubic: {', '.join(words + gains)}"
    )


@CLAIMS.add("P11", f"ours, of Zu et al., NSDI 2024; rates {REPORTED}", "number", "1 - exp(-rate)", settings="D")
def _p11(e: Evidence) -> Finding:
    """How many jobs meet an outage of hardware follows from the reported rates, the size and the time of the jobs.

    Of hosts alone, and of hosts and cables, with jobs of three sizes: the share that is hit is 1 - exp(-rate size time)
    in its 99.9 % interval, which is at most a tenth of it to either side; six parts.  That it is about 1 %, as the
    abstract says, is not judged: the sizes and times of its jobs are not known.
    """
    good: list[Part] = []
    ours = []
    for cubes in OUTAGE_CUBES:
        for how in OUTAGE_KINDS:
            found = e.of("hit", "outages", "switched", cubes, 0.0, how, confidence=CONFIDENCE)
            exact = training.hit_by_law(cubes, how != OUTAGE_KINDS[0])
            narrow = found.half <= 0.1 * exact
            good.append(found.low <= exact <= found.high if narrow else None)
            ours.append(f"{SIZES[cubes]} chips, {how} {found.percent(2, '')} for {100 * exact:.2f} %")
    days = 0.01 / training.DAILY["host"]
    return Finding(
        "; ".join(ours),
        combine(*good),
        f"with the rate of hosts alone, 1 % means jobs of {days:.1f} host-days on average; larger and longer jobs meet "
        "more in proportion",
    )


@CLAIMS.add("P12", f"Zu et al., NSDI 2024, abstract; {READ}; rates {REPORTED}", "number", "99.98 %", settings="D")
def _p12(e: Evidence) -> Finding:
    """The system is available 99.98 % of the time.

    Not judged: neither what counts as available nor how long repairs take is known.
    """
    lost, host = 1.0 - 0.9998, training.DAILY["host"]
    all_of_a_host = host + training.CABLES * training.DAILY["cable"]
    return Finding(
        f"not derivable without repair times: with the reported rates it means repairs in {24 * lost / host:.1f} hours "
        f"on average if hosts alone count, in {60 * 24 * lost / all_of_a_host:.0f} minutes if every cable takes its "
        "cube away",
        NOT_JUDGED,
    )


def _hours(e: Evidence, gpus: int) -> tuple[float, float, float]:
    """Hours between failures of a job, and the ends of its 95 % interval."""
    rate = e.of("kill_rate", "mttf", "cluster", 0, float(gpus))
    each = 24_000.0 * training.GPUS / gpus
    return each / rate.value, each / rate.high, each / rate.low


def _closed(gpus: int) -> float:
    """Hours between failures of a job at 6.5 failures per 1,000 node-days."""
    return 24_000.0 * training.GPUS / gpus / training.RATES[0]


def _mttf(e: Evidence, *sizes: int) -> tuple[list[Part], str]:
    """Whether the runs have the time between failures that follows from the rate, and what they have."""
    good: list[Part] = []
    ours = []
    for gpus in sizes:
        value, low, high = _hours(e, gpus)
        good.append(low <= _closed(gpus) <= high if high - low <= 0.2 * value else None)
        ours.append(f"{gpus:,} GPUs: {_closed(gpus):.4g} h, in the runs {value:.3g} ({low:.3g} to {high:.3g})")
    return good, "; ".join(ours)


@CLAIMS.add("P13", f"Kokolis et al., HPCA 2025; {REPORTED}", "number", "1.8 h; 0.23 h", settings="T, 8 GPUs a node")
def _p13(e: Evidence) -> Finding:
    """At 6.5 failures per 1,000 node-days a job on 16,384 GPUs fails every 1.8 hours, on 131,072 every 0.23 hours.

    The time that follows from the rate rounds to the published one, and lies in the 95 % interval of the runs, which is
    at most 20 % wide; two parts.
    """
    sizes = (16_384, 131_072)
    seen, ours = _mttf(e, *sizes)
    rounds = [round(_closed(gpus), len(f"{training.MTTF[gpus]:g}") - 2) == training.MTTF[gpus] for gpus in sizes]
    return Finding(ours, combine(*(every(*pair) for pair in zip(rounds, seen, strict=True))))


@CLAIMS.add(
    "P14", f"ours, of Kokolis et al., HPCA 2025; {REPORTED}", "number", "not 7.9 h", settings="T, 8 GPUs a node"
)
def _p14(e: Evidence) -> Finding:
    """The 7.9 hours that were measured on 1,024 GPUs do not follow from the same rate.

    7.9 hours are not in the 95 % interval of the runs, which is at most 20 % wide and has the time that follows from
    the rate.
    """
    (seen,), ours = _mttf(e, 1024)
    _, low, high = _hours(e, 1024)
    per_gpu = 24_000.0 * training.GPUS / (1024 * training.MTTF[1024])
    return Finding(
        ours,
        combine(every(seen, not low <= training.MTTF[1024] <= high)),
        f"7.9 h would be {per_gpu:.1f} failures per 1,000 node-days",
    )


@CLAIMS.add(
    "P15",
    f"Kokolis et al., HPCA 2025; {REPORTED}",
    "number",
    "(1 - N r (u0 + dt/2)) / (1 + w/dt)",
    settings="T, 8 GPUs a node; a checkpoint of a minute an hour, five minutes to restart",
    chosen="period and costs",
)
def _p15(e: Evidence) -> Finding:
    """Meta's formula gives the effective training time ratio.

    At 6.5 and 2.34 failures per 1,000 node-days, on 1,024, 4,096 and 16,384 GPUs: the simulated ratio is clearly
    within a point of the formula; six parts.
    """
    good: list[Part] = []
    ours = []
    for rate in training.RATES:
        for gpus in training.ETTR_GPUS:
            formula = training.of_meta(gpus, rate).formula()
            found = e.of("ettr", "ettr", "cluster", gpus, rate)
            good.append(within(Estimate(found.value - formula, found.half), -0.01, 0.01))
            ours.append(f"{gpus:,} at {rate}: {found.value:.3f} +- {found.half:.3f} for {formula:.3f}")
    return Finding("; ".join(ours), combine(*good))


@CLAIMS.add(
    "P16",
    f"Llama 3; {REPORTED}",
    "number",
    "419 in 54 days, above 90 %",
    settings="T, 16,384 GPUs, 8 a node; five minutes to restart, checkpoints are free",
    chosen="restart, periods and costs",
)
def _p16(e: Evidence) -> Finding:
    """More than 90 % of the time is effective if an interruption costs less than 18.6 minutes, and only then.

    An interruption costs the restart and half a period. Checkpoints every 10 and 20 minutes: clearly above 90 %;
    every 40 and 60: clearly below; four parts.
    """
    good: list[Part] = []
    ours = []
    for interval in training.LLAMA_INTERVALS:
        found = e.of("ettr", "llama", "cluster", 0, interval)
        cost = training.RESTART + interval / 2.0
        cheap = cost < (1.0 - training.EFFECTIVE) * training.SPAN / training.INTERRUPTIONS
        good.append(higher(found, training.EFFECTIVE) if cheap else lower(found, training.EFFECTIVE))
        ours.append(f"every {interval / 60:.0f} minutes: {found.percent(1, '')}")
    return Finding(
        "; ".join(ours),
        combine(*good),
        "that it was above 90 % does not follow from the interruptions alone: how long they were is not known",
    )


@CLAIMS.add(
    "P17",
    f"Saxena et al., 2024; {REPORTED}",
    "number",
    "C + sqrt(2 (m + R) C + C^2)",
    settings="T, 256 nodes; a failure every 1.8 or 3.1 hours, 2 minutes a checkpoint, 10 to repair",
    chosen="times",
)
def _p17(e: Evidence) -> Finding:
    """This period maximizes the share of time that is useful.

    At both rates of failures: the share is clearly higher than with a quarter, half, twice and four times the period
    (paired replicates), and clearly within a point of the paper's availability; ten parts.
    """
    counts: list[Parts] = []
    ours = []
    for how, mean in training.MEANS.items():
        best = e.values("ettr", "period", "cluster", 0, 1.0, how)
        gains = {
            factor: difference(e.values("ettr", "period", "cluster", 0, factor, how), best)
            for factor in training.FACTORS
        }
        period = training.best_period(mean)
        exact = training.availability(mean, period)
        found = e.of("ettr", "period", "cluster", 0, 1.0, how)
        counts.append(combine(*(higher(gains[factor]) for factor in (0.25, 0.5, 2.0, 4.0))))
        counts.append(combine(within(Estimate(found.value - exact, found.half), -0.01, 0.01)))
        less = ", ".join(f"{f:g} of it {-100 * gains[f].value:+.1f}" for f in gains if f != 1.0)
        ours.append(
            f"every {how}: {period / 60:.0f} minutes give {found.percent(1, '')} for {100 * exact:.1f} %; points with "
            f"{less}"
        )
    return Finding("; ".join(ours), all_of(counts))
