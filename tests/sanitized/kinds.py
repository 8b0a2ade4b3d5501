"""Random runs in which something outside decides, or that are no runs of jobs alone, for the sanitizers.

python kinds.py KIND FIRST LAST: the runs of these seeds; prints how many there were, how many were refused or given up,
and how many acts, steps or requests they took.  What they give is compared with the reference engine or with the
built-in policy.
"""

import importlib
import json
import math
import random
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), *(str(TESTS / name) for name in ("verification", "simulation", "core"))]

import digests  # noqa: E402
from test_decision_fuzz import check_run  # noqa: E402
from test_live_fuzz import check_drawn, live_run, live_run_on_a_site  # noqa: E402
from test_workflow_engines import both_agree  # noqa: E402

import faultsim as fs  # noqa: E402
from faultsim._core.engine import DEBUG  # noqa: E402
from faultsim.cli.serve import Server  # noqa: E402
from helpers.compiling import build_package  # noqa: E402
from helpers.results import assert_equal  # noqa: E402
from helpers.workflow_draws import drawn_case, drawn_plan  # noqa: E402

FILES = ("random", "pods", "preemption", "shapes")
#: Seconds of the processor after which a run is given up: random acts may go on for ever, and longer runs find no more.
LONGEST = 1.0
#: Files of a package that is built with the sanitizers, too.
FLAGS = "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all"


def case_of(seed: int, *files: str) -> Any:
    return digests.drawn_in((files or FILES)[seed % len(files or FILES)])(seed)


def _has_whole_times(case: Any) -> bool:
    return all((each == np.floor(each)).all() for each in case.log.values())


def decisions(seed: int) -> int:
    """Random acts, legal or not, at decisions of `External`: two simulations and the reference engine agree."""
    tries = (case_of(1000 * seed + at) for at in range(50))
    whole = next(case for case in tries if case.machine.nodes <= 256 and _has_whole_times(case))
    try:
        check_run(whole.run(), seed)
    except AssertionError as error:  # sums of the work that was lost, in another order
        if not re.search(r"Max relative difference among violations: [\d.]+e-1[4-6]\n", str(error)):
            raise
    return 30


def live(seed: int) -> int:
    """Random acts, legal or not, of a caller that owns time; half of them where jobs share nodes."""
    check_drawn(live_run_on_a_site if seed % 2 else live_run, seed)
    return 25


@cache
def package() -> None:
    # Its setup.py imports faultsim, so it needs the sanitizers' library, as this process does.
    sys.path.insert(0, str(build_package(Path(tempfile.mkdtemp()), FLAGS if DEBUG else "-O1")))
    importlib.import_module("outside_policies.easy")  # a run would only refuse what cannot be imported


def compiled(seed: int) -> int:
    """A scheduler that is compiled in another package gives what the built-in one gives, verified after each event."""
    package()
    name, kind = [("fcfs", fs.Fcfs), ("easy", fs.EasyBackfill), ("short_easy", fs.EasyBackfill)][seed % 3]
    run = case_of(seed).run()
    order = getattr(run.scheduler, "order", fs.ArrivalOrder())
    migration = None if isinstance(run.migration, fs.Defragment) else run.migration
    built_in = run.with_options(scheduler=kind(order=order), migration=migration, rescheduling=None, record=True)
    own = fs.CompiledScheduler(f"outside_policies.easy:{name}", order=order, repairs="known")
    sim, steps = _simulation(built_in.with_options(scheduler=own)), 0
    while sim.step():
        sim.verify()
        steps += 1
    assert_equal(sim.result(), built_in.simulate())
    return steps


def _simulation(run: fs.Run) -> fs.Simulation:
    options = {name: getattr(run, name) for name in run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    return fs.Simulation(run.log, run.machine, **options)


def environments(seed: int) -> int:
    """Episodes with random actions, allowed ones and others."""
    from faultsim import rl

    draw = random.Random(seed)
    case = case_of(seed, "random", "pods")
    log = case.workload()
    jobs = min(len(log), draw.randint(2, 12))
    kind = draw.choice(["PickJob", "PickJob", "PickBox", "Respond", "VectorPickJob"])
    options: dict[str, Any] = {"jobs": jobs}
    if kind == "VectorPickJob":
        made: Any = rl.VectorPickJob(
            draw.randint(1, 4), log=log, machine=case.machine, threads=draw.randint(1, 2), **options
        )
    else:
        further = {
            name: each for name, each in case.options.items() if name in ("predictor", "checkpointing", "recovery")
        }
        if kind == "Respond" or draw.random() < 0.5:
            options |= {**further, "failures": case.trace()}
        made = getattr(rl, kind)(log, case.machine, **options)
    made.reset(seed=seed)
    steps = 0
    for _ in range(draw.randint(10, 80)):
        n = made.single_action_space.n if kind == "VectorPickJob" else made.action_space.n
        action = [draw.randrange(n) for _ in range(made.num_envs)] if kind == "VectorPickJob" else draw.randrange(n)
        found = made.step(np.array(action) if kind == "VectorPickJob" else action)
        steps += 1
        if kind != "VectorPickJob" and (found[2] or found[3]):
            made.reset()
    return steps


def servers(seed: int) -> int:
    """Messages, good and bad, to a server; what it answers is JSON."""
    draw = random.Random(seed)
    case = case_of(seed)
    decides = draw.random() < 0.7
    options = {**case.options, **({"scheduler": fs.External()} if decides else {})}
    sim = fs.Simulation(case.workload(), case.machine, failures=case.trace(), **options)
    server, time, count = Server(sim, decides=decides), 0.0, 0
    ids = case.workload().id.tolist()
    for _ in range(draw.randint(5, 60)):
        time += draw.choice([0, 0, 1, 30, -1])
        request = draw.choice(["GET", "ADVANCE", "ADVANCE", "START", "START", "START", "REQUEUE", "WAKE", "INIT", "X"])
        message: dict[str, Any] = {"request": request}
        if request in ("GET", "WAKE") or (request == "ADVANCE" and draw.random() < 0.5):
            message["t"] = draw.choice([time, time, sim.now + 5, "x", None, math.inf])
        if request in ("START", "REQUEUE"):
            message["id"] = draw.choice([*ids, -1, "x"])
            if draw.random() < 0.3:
                message[draw.choice(["nodes", "box", "cubes"])] = draw.choice(
                    [[0], [0, 1], [0, 0, 0, 1, 1, 1], "x", [2**40]]
                )
        text = json.dumps(message).encode()
        if draw.random() < 0.1:
            text = bytes(draw.choices(text, k=len(text)))
        json.dumps(server.answer(text))
        count += 1
        sim.verify()
    return count


def workflows(seed: int) -> int:
    """Workflows with failures and predictions, in slices: the engines agree decision by decision."""
    draw = drawn_plan if seed % 5 == 0 else drawn_case
    case = draw(seed, moving=seed % 3 == 0)
    both_agree(case, budget=seed % 7 + 1)
    return len(case[1]["cost"])


KINDS: dict[str, Callable[[int], int]] = {
    each.__name__: each for each in (decisions, live, compiled, environments, servers, workflows)
}


class GivenUp(BaseException):
    """A run took too long."""


#: Whether the time of the present run is over.
over = False


def _give_up(*_: object) -> None:
    global over
    over = True
    raise GivenUp


def _limited(act: Callable[[int], int], seed: int) -> int:
    """What it gives within the time; the alarm may come in any line, the last one too."""
    global over
    over = False
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        return act(seed)
    except Exception as error:
        if over:  # libraries make errors of their own of one that comes in the middle
            raise GivenUp from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def main() -> None:
    """Complain, and end, at the first that goes wrong."""
    signal.signal(signal.SIGVTALRM, _give_up)
    assert DEBUG or "--undebugged" in sys.argv, "a build without assertions"
    warnings.simplefilter("ignore")
    kind, seeds = sys.argv[1], range(*map(int, sys.argv[2:4]))
    runs = refused = acts = 0
    for seed in seeds:
        try:
            acts += _limited(KINDS[kind], seed)
        except (fs.OptionError, fs.InputError, fs.NotAvailableError, fs.DecisionError, GivenUp):
            refused += 1  # combinations that there are not, deadlocks, random acts that never come to an end
        except BaseException:
            print(f"{kind} {seed}", file=sys.stderr)
            raise
        runs += 1
    print(runs, refused, acts)


if __name__ == "__main__":
    main()
