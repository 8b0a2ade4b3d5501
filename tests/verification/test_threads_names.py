"""Every public name in four threads at once: shared objects give each the answer that one thread alone gets."""

import inspect
import pickle
import random
import sys
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_threads

import faultsim as fs
from helpers.bounded_reading import STANDS_FOR
from helpers.counts import record
from helpers.seed_files import seeds

THREADS = 4
#: Names whose objects a thread may change, or that have much to be asked -> the test that misuses them.
OF_THEIR_OWN = {
    "Decision": test_threads.TestFourThreads.test_decisions,
    "External": test_threads.TestFourThreads.test_decisions,
    "EventQueue": test_threads.TestFourThreads.test_event_queue,
    "Simulation": test_threads.TestFourThreads.test_simulation,
    "partition": test_threads.TestFourThreads.test_kernels_and_data,
    "Sweep": test_threads.TestFourThreads.test_many_runs_and_sweeps,
    "simulate_many": test_threads.TestFourThreads.test_many_runs_and_sweeps,
}
#: Names that only say what a policy is: there are no objects of them, or they are programs of one's own.
KINDS = {
    "Checkpointing", "CompiledOrder", "CompiledPlacement", "CompiledScheduler", "Placement", "Predictor", "QueueOrder",
    "Recovery", "Rescheduling", "Scheduler", "ShapeAdvice", "TopologyChoice", "IgnoredKey",
    "Slurm", "SlurmAssociation", "SlurmConf", "SlurmNode", "SlurmPartition", "SlurmQos",
    "TopologyShape", "TopologyTorus", "TorusTopology", "advise_shapes",
    "Calibration", "Forecast", "QueueState", "calibrate_forecast", "forecast",
}  # fmt: skip
ERRORS = {
    name for name in fs.__all__ if inspect.isclass(getattr(fs, name)) and issubclass(getattr(fs, name), Exception)
}

rng = np.random.default_rng(1)
LOG = fs.Workload(
    submit=np.sort(rng.integers(0, 80, 40)), runtime=rng.integers(1, 40, 40), estimate=rng.integers(40, 60, 40),
    size=rng.integers(1, 8, 40), user=rng.integers(1, 4, 40),
)  # fmt: skip
FAILURES = fs.synthetic.exponential_failures(
    nodes=16, span=300, mtbf=600, downtime=7, rng=np.random.default_rng(3), any_rate=True
)
#: What says how long a run took.
TIMED = ("provenance", "record")
GAIN, WEIGHT = rng.random(20), rng.integers(1, 9, 20)
FLOWS = [fs.Workflow(rng.integers(1, 9, 6), edges=[(0, 1, 2.0), (0, 2, 1.0), (2, 4, 3.0)])]
SEEN = fs.IntervalPredictor(1, 1, 10)
CLUSTER, TORUS, SHAPED = fs.Cluster(16), fs.Torus(4, 2, 2), fs.Cluster(16, shape=(4, 2, 2))
SAVING = {"failures": FAILURES, "predictor": SEEN, "checkpointing": fs.Periodic(5, 1)}
#: Kind of policy -> options of a run that has one, which is shared.
RUNS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "scheduler": lambda policy: {"scheduler": policy},
    "order": lambda policy: {"scheduler": fs.EasyBackfill(order=policy)},
    "placement": lambda policy: {"placement": policy, "failures": FAILURES, "predictor": SEEN},
    "migration": lambda policy: {"migration": policy},
    "recovery": lambda policy: {"recovery": policy, "failures": FAILURES},
    "predictor": lambda policy: {"predictor": policy, "failures": FAILURES, "placement": fs.SafestFirst()},
    "checkpointing": lambda policy: {**SAVING, "checkpointing": policy},
    "victims": lambda policy: {
        "failures": FAILURES, "predictor": fs.Buckets("20s"),
        "checkpointing": fs.PredictedWindows("20s", victims=policy),
    },
    "rescheduling": lambda policy: {**SAVING, "rescheduling": policy},
    "strategy": lambda policy: {**SAVING, "rescheduling": fs.Fars(10, policy)},
    "spares": lambda policy: {**SAVING, "rescheduling": fs.Fars(10, fs.FailureSlowdown(), spares=policy)},
}  # fmt: skip
#: Policies that the words of the table do not make, or not for so small a machine.
MADE = {
    "Static": fs.Static(2), "PredictionTrace": fs.PredictionTrace([20, 90], [3, 5]), "Buckets": fs.Buckets("20s"),
    "Fars": fs.Fars(10, fs.ServiceUnitLoss()), "PredictedWindows": fs.PredictedWindows("20s", victims=fs.AllJobs()),
}  # fmt: skip

PLAN = partial(fs.plan, "pod:tpu-v4", {"4x4x8": 3}, mtbf="100d", downtime="4h")


def columns(result: Any) -> list[bytes]:
    return [np.asarray(result.jobs[name]).tobytes() for name in result.jobs]


def of_policy(row: Any) -> Callable[[], object]:
    """A run with one policy, which all runs share."""
    policy = MADE.get(row.cls.__name__) or fs.parse_policy(row.kind, row.example or row.name)
    if row.kind in ("workflow_scheduler", "outputs"):
        option = {"scheduler" if row.kind == "workflow_scheduler" else "outputs": policy}
        option |= {"predictor": fs.Blind()} if policy.name == "flaw" else {}
        return lambda: columns(fs.simulate_workflows(FLOWS, fs.Resources(2), **option))
    machine = CLUSTER if "cluster" in row.machines else TORUS
    options = RUNS[row.kind](policy)
    if policy.name == "buckets":  # which knows no nodes
        options = RUNS["victims"](fs.AllJobs()) | {"predictor": policy}
    if policy.name == "predicted_windows":
        options["predictor"] = MADE["Buckets"]
    if policy.name == "curve_best_fit":
        machine = SHAPED
    return lambda: (pickle.loads(pickle.dumps(policy)) == policy, columns(fs.simulate(LOG, machine, **options)))


def looks(thing: Any) -> Callable[[], object]:
    """All that a shared object answers without being told anything."""
    kinds = (property, cached_property)
    names = [name for name, member in inspect.getmembers_static(type(thing)) if isinstance(member, kinds)]
    public = [name for name in names if not name.startswith("_") and name not in TIMED]
    return lambda: (repr(thing), pickle.loads(pickle.dumps(thing)) is not None,
                    [(name, answer(thing, name)) for name in public])  # fmt: skip


def answer(thing: Any, name: str) -> str:
    """What an attribute is, or why the object does not have it."""
    try:
        return repr(getattr(thing, name))
    except fs.OptionError as error:
        return str(error)


def of_files(folder: Path) -> dict[str, Callable[[], object]]:
    """Functions that read, each a file that all threads read."""
    stands = {next(iter(names)): entry for entry, names in STANDS_FOR.items() if len(names) == 1}
    stands |= {row.read.__name__: f"{row.gives.__name__} {row.name}" for row in fs.READERS}
    known, found = seeds(folder), {}
    for name, entry in stands.items():
        if name not in ("Key", "parse_policy"):
            path = folder / f"{name}.seed"
            path.write_bytes(known[entry])
            found[name] = partial(read, getattr(fs, name), path)
    return found


def read(reader: Callable[[Path], object], path: Path) -> str:
    return repr(reader(path))


def of_names(folder: Path) -> dict[str, Callable[[], object]]:
    """An act for each public name that stands in none of the tables above."""
    result = fs.simulate(LOG, SHAPED, **SAVING, record=True)
    run = fs.Run(LOG, CLUSTER, **SAVING)
    flows = fs.simulate_workflows(FLOWS, fs.Resources(2), record=True)
    many = np.full(10_000, 2)
    span = fs.Workload(np.arange(10_000), 30 * many, many, id=np.arange(20_001, 30_001))
    table = fs.Sweep(fs.Run(LOG, CLUSTER), {"load": [0.7, 0.9]}).run(folder / "sweep.db", workers=1)
    moved = fs.simulate(LOG, SHAPED, **SAVING, rescheduling=MADE["Fars"])
    shared = {
        "Box": fs.Box(0, 1, 0, 2, 1, 1), "Cluster": SHAPED, "FailureTrace": FAILURES, "JobState": fs.JobState.RUNNING,
        "Domains": fs.Domains({"left": [0, 1, 2], "right": [3, 4, 5]}, nodes=6), "Limits": fs.Limits(),
        "Slowdown": fs.Slowdown(0.5), "Reservation": fs.Reservation("all", 1, 2),
        "NodeClass": fs.NodeClass("cpu", 4, cores=32), "Partition": fs.Partition("general", "cpu"),
        "Site": fs.Site([fs.NodeClass("cpu", 4, cores=32)]),
        "Pod": fs.Pod.tpu_v4(), "PodPlan": PLAN(), "Power": fs.Power(idle=100, busy=300),
        "Resources": fs.Resources(2), "Result": result, "Run": run,
        "SweepTable": table, "Torus": TORUS, "Workflow": FLOWS[0], "WorkflowResult": flows, "Workload": LOG,
    }  # fmt: skip
    found = {name: looks(thing) for name, thing in shared.items()}
    of_sites = [row for row in fs.POLICIES if set(row.machines) == {"site"}]  # made; other tests run them
    others = [row for row in fs.POLICIES if row not in of_sites and row.name != "slurm_torus"]
    found |= {row.cls.__name__: of_policy(row) for row in others}
    found |= {row.cls.__name__: lambda row=row: repr(row.cls()) for row in of_sites}
    found |= of_files(folder)
    return found | {
        "Cause": lambda: list(fs.Cause),
        "Reason": lambda: [span.reason.as_dict() for span in result.why(5)],
        "Why": lambda: repr(result.why(6)),
        "MODEL_REVISION": lambda: fs.MODEL_REVISION,
        "SlurmTorus": lambda: repr(fs.SlurmTorus(unlisted="round_up")),
        "METRICS": lambda: [row.formula for row in fs.METRICS.values()],
        "POLICIES": lambda: [row.summary for row in fs.POLICIES],
        "READERS": lambda: [row.options for row in fs.READERS],
        "concat": lambda: repr(fs.concat([LOG, LOG])),
        "expected_ettr": lambda: fs.expected_ettr(64, "100d", "1h", cost="1m"),
        "get_include": fs.get_include,
        "kiviat_gain": lambda: repr(fs.kiviat_gain(moved, result)),
        "knapsack": lambda: repr(fs.knapsack(GAIN, WEIGHT, 40)),
        "krevat_span": lambda: repr(fs.krevat_span(span, "nasa")),
        "parse_policy": lambda: repr(fs.parse_policy("checkpointing", "young:cost=30,mtbf=56d")),
        "plan": lambda: repr(PLAN()),
        "rerun": lambda: columns(fs.rerun(result)),
        "simulate": lambda: columns(fs.simulate(LOG, TORUS, placement="mfp")),
        "simulate_workflows": lambda: columns(fs.simulate_workflows(FLOWS, fs.Resources(3))),
        "synthetic": lambda: [repr(fs.synthetic.lublin(50, rng=2, nodes=64)), repr(fs.synthetic.nasa_like(50, rng=1))],
    }


def test_every_public_name_gives_four_threads_what_it_gives_one(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "alone").mkdir()
    acts = of_names(tmp_path / "alone")
    assert not set(acts) & (ERRORS | KINDS | set(OF_THEIR_OWN))
    assert set(acts) | ERRORS | KINDS | set(OF_THEIR_OWN) == set(fs.__all__)
    alone = {name: act() for name, act in acts.items()}
    fresh, told = of_names(tmp_path), []  # what is worked out when first asked is asked first by four at once

    def go(seed: int) -> None:
        names = list(fresh)
        random.Random(seed).shuffle(names)
        together = sorted(names)[:: 1 if seed % 2 else -1]  # some at the same time, some in any order
        told.extend((name, fresh[name]()) for name in (*together, *names))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        errors = test_threads.in_threads(*(partial(go, seed) for seed in range(THREADS)))
    finally:
        sys.setswitchinterval(before)
    assert not errors, errors
    assert len(told) == 2 * THREADS * len(acts)
    assert {name for name, answer in told if answer != alone[name]} == set()
    record(
        "threads", "trouble",
        "Every public name in four threads at once, objects shared: each thread gets what one alone gets; objects that "
        "change are misused at random for some time and stay whole.",
        {"public names": len(fs.__all__), "used by all threads": len(acts), "misused by tests of their own":
         len(OF_THEIR_OWN), "kinds and errors without objects": len(KINDS | ERRORS), "other answers": 0},
        "pytest tests/verification/test_threads_names.py tests/verification/test_threads.py",
    )  # fmt: skip
