"""`faultsim/Respond-v0`: the interface of Gymnasium, warnings and answers by hand, and what rewards add up to."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import assume, given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.rl import Respond

LOG = fs.Workload(submit=[0, 0], runtime=[5000, 600], size=[2, 4], estimate=[5400, 600])
FAILURES = fs.FailureTrace([3600], [0], [60], span=9000)


def play(env, choose, **options):
    try:
        seen, info = env.reset(**options)
    except fs.OptionError:  # nobody is warned
        assume(False)
    rewards, times = [], []
    over = False
    while not over:
        times.append(info["now"])
        assert env.observation_space.contains(seen)
        seen, reward, over, _, info = env.step(choose())
        rewards.append(reward)
    return rewards, times


@pytest.mark.parametrize("machine", [None, fs.Pod((2, 2, 2))], ids=["cluster", "pod"])
def test_gymnasium_finds_and_checks_it(machine):
    env = gymnasium.make("faultsim/Respond-v0", machine=machine, jobs=100)
    check_env(env.unwrapped, skip_render_check=True)


#: Pods of four hosts: in cubes of one, which switches join; in one cube; in cubes of two, which are wired.
PODS = [fs.Pod((1, 2, 2), (1, 1, 1), 1), fs.Pod((1, 1, 1), (2, 2, 2), 4), fs.Pod((1, 1, 2), (2, 2, 2), 2, "static")]
MACHINES = pytest.mark.parametrize(
    "machine", [fs.Cluster(4), fs.Torus(2, 2, 1), *PODS], ids=["cluster", "torus", "pod", "cube", "wired"]
)


@MACHINES
def test_a_warning_by_hand(machine):
    env = Respond(LOG, machine, failures=FAILURES, jobs=2)
    seen, info = env.reset()
    shown = [0.5, 3000 / 6600, 2400 / 6000, 600 / 4200, 0.0, 1.0, 0.5, 1 / 17]
    assert (info["now"], seen.tolist()) == (3000.0, np.array(shown, np.float32).tolist())
    assert env.step(0)[1] == -2 * 3600.0


def test_a_job_that_is_requeued_loses_less():
    log = fs.Workload(submit=[0, 0], runtime=[2900, 5000], size=[2, 2])
    failures = fs.FailureTrace([3600], [2], [60], span=9000)
    env = Respond(log, fs.Cluster(4), failures=failures, placement=fs.SafestFirst(), jobs=2)
    assert play(env, lambda: 1) == ([-2 * 3000.0], [3000.0])
    assert env.result.jobs["start"].tolist() == [0.0, 3000.0]  # at once on the other nodes


EIGHT = [fs.Cluster(8), fs.Torus(2, 2, 2), fs.Pod((1, 2, 2), (2, 2, 2), 2), fs.Pod((1, 1, 2), (2, 2, 2), 4, "static")]


@given(seed=st.integers(0, 2**32 - 1), machine=st.sampled_from(EIGHT))
def test_rewards_add_up_whatever_is_done(seed, machine):
    rng = np.random.default_rng(seed)
    log = fs.synthetic.exponential(20, rng=rng, mean_gap=50, mean_runtime=100, sizes=(1, 2, 4))
    failures = fs.synthetic.exponential_failures(8, 1e4, 5e2, downtime=50.0, rng=rng, any_rate=True)
    for reward in ("lost", "telescoping"):
        env = Respond(
            log, machine, failures=failures, lead=20.0, jobs=15, reward=reward, checkpointing=fs.Periodic(80.0, 2.0)
        )
        rewards, times = play(env, lambda: rng.integers(4), seed=seed)
        expected = env.result.ledger["lost"] if reward == "lost" else env.result.metrics["mean_bounded_slowdown"]
        assert sum(rewards) == pytest.approx(-expected, rel=1e-9, abs=1e-9)
        assert times == sorted(times)


@given(seed=st.integers(0, 2**32 - 1), machine=st.sampled_from(EIGHT))
def test_doing_nothing_is_easy_backfilling(seed, machine):
    rng = np.random.default_rng(seed)
    log = fs.synthetic.exponential(20, rng=rng, mean_gap=50, mean_runtime=100, sizes=(1, 2, 4))
    failures = fs.synthetic.exponential_failures(8, 1e4, 5e2, downtime=50.0, rng=rng, any_rate=True)
    env = Respond(log, machine, failures=failures, lead=20.0, jobs=20)
    play(env, lambda: 0, options={"first": 0})
    expected = fs.simulate(log, machine, failures=failures, predictor=fs.Perfect())
    for name in ("start", "finish", "restarts", "lost_work"):
        assert np.array_equal(env.result.jobs[name], expected.jobs[name]), name


@MACHINES
@pytest.mark.parametrize("action", ["checkpoint", "move"])
def test_what_saves_the_work_of_a_job(machine, action):
    """Warned at 3,000 s: 60 s for a checkpoint, or 30 s and 30 s for a move; the failure is at 3,600 s."""
    env = Respond(LOG, machine, failures=FAILURES, checkpointing=fs.Periodic(1e9, 60), jobs=2)
    _, info = env.reset()
    assert info["action_mask"].all()
    reward, over = env.step(env.unwrapped._actions.index(action))[1:3]
    assert over
    jobs = env.result.jobs
    if action == "checkpoint":  # what was done between its end and the failure is lost
        assert (reward, jobs["lost_work"][0]) == (-2 * 540.0, 1080.0)
        assert (jobs["restarts"][0], env.result.counters["checkpoints"]) == (1, 1)
    else:
        assert (reward, jobs["restarts"][0], jobs["moves"][0], jobs["finish"][0]) == (0.0, 0, 1, 5060.0)


def test_the_mask_knows_what_is_not_possible():
    log = fs.Workload(submit=[0], runtime=[5000], size=[4])
    env = Respond(log, fs.Cluster(4), failures=FAILURES, jobs=1)
    _, info = env.reset()
    assert info["action_mask"].tolist() == [True, True, False, False]  # no checkpoints, no free node
    assert env.step(3)[1] == -4 * 3600.0
    assert env.action_masks().tolist() == [False, False, False, True]


def test_an_episode_without_a_warning_is_not_one():
    env = Respond(LOG, fs.Cluster(4), failures=fs.FailureTrace([1e6], [0], [60], span=2e6), jobs=1)
    with pytest.raises(fs.OptionError, match="the episode of 1 jobs from row 1 ends without a decision"):
        env.reset(options={"first": 1})
    with pytest.raises(fs.OptionError, match="each of 100 episodes drawn ends without a decision"):
        env.reset()


def test_invalid_options():
    with pytest.raises(fs.OptionError, match=r"unknown action 'requeu' \(did you mean 'requeue'\?\)"):
        Respond(LOG, fs.Cluster(4), actions=("nothing", "requeu"), jobs=2)
    for actions in (("requeue",), ("nothing",), ("nothing", "move", "move"), ()):
        with pytest.raises(fs.OptionError, match="actions must be 'nothing' and then others"):
            Respond(LOG, fs.Cluster(4), actions=actions, jobs=2)
    with pytest.raises(fs.OptionError, match="lead must be at least 0 seconds"):
        Respond(LOG, fs.Cluster(4), lead=-1, jobs=2)
