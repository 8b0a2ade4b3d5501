"""`faultsim/PickBox-v0`: the interface of Gymnasium, and the built-in scheduler where the first box is taken."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.rl import PickBox

TORUS = fs.Torus(3, 2, 4)


def small_log(seed, n=40):
    return fs.synthetic.exponential(n, rng=seed, mean_gap=50, mean_runtime=100, sizes=(1, 2, 3, 4, 5, 8, 12))


def play(env, choose, **options):
    seen, info = env.reset(**options)
    rewards = []
    over = False
    while not over:
        assert env.observation_space.contains(seen)
        seen, reward, over, _, info = env.step(choose(info["action_mask"]))
        rewards.append(reward)
    return rewards


def test_gymnasium_finds_and_checks_it():
    env = gymnasium.make("faultsim/PickBox-v0", jobs=20)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("scheduler", [fs.Fcfs(), fs.EasyBackfill()], ids=["fcfs", "easy"])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_first_box_is_first_fit(scheduler, seed):
    log = small_log(seed)
    easy = isinstance(scheduler, fs.EasyBackfill)
    env = PickBox(log, TORUS, jobs=40, backfill=easy, boxes=200, placement=fs.FirstFit())
    play(env, np.argmax)
    expected = fs.simulate(log, TORUS, scheduler=scheduler, placement=fs.FirstFit())
    for name in ("start", "allocated", "backfilled"):
        assert np.array_equal(env.result.jobs[name], expected.jobs[name]), name


@given(seed=st.integers(0, 2**32 - 1), failing=st.booleans())
def test_rewards_add_up_wherever_jobs_start(seed, failing):
    rng = np.random.default_rng(seed)
    failures = (
        fs.synthetic.exponential_failures(24, 1e4, 4e3, downtime=50.0, rng=rng, any_rate=True) if failing else None
    )
    env = PickBox(small_log(rng), TORUS, jobs=25, metric="mean_wait", failures=failures)
    rewards = play(env, lambda mask: rng.choice(np.flatnonzero(mask)), seed=seed)
    assert sum(rewards) == pytest.approx(-env.result.metrics["mean_wait"], rel=1e-9, abs=1e-9)


def test_the_observation_by_hand():
    log = fs.Workload(submit=[0, 3600], runtime=[9000, 10], size=[2, 2], estimate=[10800, 3600])
    failures = fs.FailureTrace([1], [7], [5000], span=7200)
    env = PickBox(log, fs.Torus(2, 2, 2), jobs=2, boxes=12, failures=failures)
    env.reset()
    env.step(0)
    seen = env._observe(env._decision)
    boxes = env._decision.boxes(1)
    assert np.array_equal(seen["boxes"][: len(boxes)], boxes)
    assert not seen["boxes"][len(boxes) :].any()
    assert seen["job"].tolist() == [0.25, 0.5, 0.0]
    x, y, z, *_ = env._decision.running.where[0]
    assert (seen["nodes"] == np.float32(2 / 3)).sum() == 2
    assert seen["nodes"][x, y, z] == np.float32(2 / 3)
    assert seen["nodes"][1, 1, 1] == 1.0


def test_a_cluster_has_no_boxes():
    with pytest.raises(fs.OptionError, match="PickBox needs a Torus"):
        PickBox(small_log(1), fs.Cluster(24))
