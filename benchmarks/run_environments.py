"""Measure decisions per second of the environments and write the section "Environments" of benchmarks/RESULTS.md.

    python benchmarks/run_environments.py [--dry]

First come, first served, on a log of 10,000 jobs by the model of Lublin and Feitelson for 128 nodes, in episodes of 256
jobs.
"""

import argparse
import os
import time

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode
from results import table, write_section

import faultsim as fs
from faultsim.rl import PickJob, VectorPickJob

HEAD = """
Decisions per second: the best of three stretches of two seconds, with 256 environments. The action is always the
first job, which means waiting where it does not fit, so the agent costs nothing. "Steps" are calls of
`VectorPickJob.step`, "core" is their compiled part alone, which writes observations, masks and rewards, and begins
episodes. The engine's share is the time that `Fcfs` takes for the same episodes, once they are set up, over that of
"core". `PickJob` is one environment, each decision a call in Python. Seconds are of the processor; those of the last
column, two threads against one with 1,024 environments, by the clock, which is worth something only on a machine that
does nothing else.
"""
SECONDS, REPEATS, ENVS, MANY = 2.0, 3, 256, 1024


def rate(step, decisions, clock=time.process_time):
    """Decisions per second of the best stretch."""
    best = 0.0
    for _ in range(REPEATS):
        done, began = 0, clock()
        while (spent := clock() - began) < SECONDS:
            step()
            done += decisions
        best = max(best, done / spent)
    return best


def made(observation, threads, log, n=ENVS):
    """Environments, and actions for them."""
    envs = VectorPickJob(n, log=log, observation=observation, threads=threads, copy=False)
    envs.reset(seed=1)
    return envs, np.zeros(n, np.int64)


def vector(observation, log):
    """Calls of `step`, and their compiled part alone."""
    envs, actions = made(observation, 1, log)
    return rate(lambda: envs.step(actions), ENVS), rate(lambda: envs._engine.go(actions, envs._out), ENVS)


def by_the_clock(observation, threads, log):
    """Calls of `step`."""
    envs, actions = made(observation, threads, log, MANY)
    found = rate(lambda: envs.step(actions), MANY, time.perf_counter)
    envs.close()
    return found


def engine(log):
    """Decisions per second if nothing but the engine took time: those of some episodes over its time for them."""
    envs = VectorPickJob(200, log=log, autoreset_mode=AutoresetMode.SAME_STEP)
    envs.reset(seed=1)
    first = [int(np_random(1 + i)[0].integers(0, len(log) - 256 + 1)) for i in range(200)]
    steps, open_ = 0, np.ones(200, bool)
    while open_.any():
        _, _, ended, _, _ = envs.step(np.zeros(200, np.int64))
        steps += int(open_.sum())
        open_ &= ~ended
    best = np.inf
    for _ in range(REPEATS):
        sims = [fs.Simulation(log[row : row + 256], fs.Cluster(128), scheduler=fs.Fcfs()) for row in first]
        began = time.process_time()
        for sim in sims:
            sim._execution.engine.run()
        best = min(best, time.process_time() - began)
    return steps / best


def single(observation, log):
    env = PickJob(log, observation=observation)
    told = env.reset(seed=1)[1]

    def step():
        nonlocal told
        _, _, over, _, told = env.step(told["action_mask"].argmax())
        if over:
            told = env.reset()[1]

    return rate(step, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="print only, do not write RESULTS.md")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    log = fs.synthetic.lublin(10_000, rng=0)
    alone = engine(log)
    rows = []
    for observation in ("compact", "rlscheduler"):
        steps, core = vector(observation, log)
        one, two = (by_the_clock(observation, threads, log) for threads in (1, 2))
        rows.append(
            {
                "observation": observation,
                "steps": steps,
                "core": core,
                "engine's share of core": core / alone,
                "`PickJob`": single(observation, log),
                "2 threads / 1": two / one,
            }
        )
    print(table(rows))
    if not arguments.dry:
        write_section(
            "environments", "Environments", f"{HEAD}\nLoad of the machine before: {load:.1f}.\n\n{table(rows)}"
        )


if __name__ == "__main__":
    main()
