"""`faultsim/PickJob-v0`: the interface of Gymnasium, observations by hand, rewards that add up."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.rl import OBSERVATIONS, REWARDS, PickJob
from faultsim.rl.rewards import COSTS

LOG = fs.Workload(submit=[0, 1, 2, 3], runtime=[10, 10, 5, 4], size=[2, 4, 2, 1], estimate=[12, 10, 5, 9])
FAILING = fs.FailureTrace([4, 9], [0, 3], [2, 6], span=60, coin=[0.1, 0.9])


def play(env, choose, **options):
    """Rewards and infos of an episode."""
    seen, info = env.reset(**options)
    rewards, infos = [], [info]
    while True:
        assert env.observation_space.contains(seen)
        seen, reward, terminated, truncated, info = env.step(choose(info["action_mask"]))
        rewards.append(reward)
        infos.append(info)
        if terminated or truncated:
            return rewards, infos


def first(mask):
    return int(np.argmax(mask))


@pytest.mark.parametrize(
    ("machine", "observation"),
    [
        *((fs.Cluster(128), name) for name in OBSERVATIONS if name != "cubes"),
        *((fs.Torus(4, 4, 8), name) for name in OBSERVATIONS if name != "cubes"),
        *((fs.Pod((2, 2, 2)), name) for name in OBSERVATIONS),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_gymnasium_finds_and_checks_each_preset(machine, observation):
    log = fs.synthetic.sdsc_like(100, rng=1)
    log = log[(log.size & (log.size - 1)) == 0]
    env = gymnasium.make("faultsim/PickJob-v0", log=log, machine=machine, observation=observation, jobs=20)
    check_env(env.unwrapped, skip_render_check=True)


def test_without_arguments_there_is_a_log():
    env = gymnasium.make("faultsim.rl:faultsim/PickJob-v0")
    env.reset(seed=3)
    assert env.unwrapped.action_masks().any()


@pytest.mark.parametrize("metric", COSTS)
@pytest.mark.parametrize("reward", ["terminal", "telescoping"])
@given(seed=st.integers(0, 2**32 - 1), failing=st.booleans())
def test_rewards_of_an_episode_add_up_to_the_metric(reward, metric, seed, failing):
    rng = np.random.default_rng(seed)
    log = fs.synthetic.exponential(12, rng=rng, mean_gap=100, mean_runtime=150, sizes=(1, 2, 3, 4))
    failures = (
        fs.synthetic.exponential_failures(4, 1e4, 2e3, downtime=50.0, rng=rng, any_rate=True) if failing else None
    )
    env = PickJob(log, fs.Cluster(4), slots=3, jobs=9, reward=reward, metric=metric, failures=failures)
    rewards, _ = play(env, lambda mask: rng.choice(np.flatnonzero(mask)), seed=seed)
    assert sum(rewards) == pytest.approx(-env.result.metrics[metric], rel=1e-9)
    if reward == "telescoping" and not failing:
        assert max(rewards) <= 1e-9


def test_lost_work_is_paid_when_it_is_lost():
    env = PickJob(LOG, fs.Cluster(4), slots=4, jobs=4, reward="lost", failures=FAILING)
    rewards, infos = play(env, first)
    lost = {info["now"]: reward for info, reward in zip(infos[1:], rewards, strict=True) if reward}
    assert lost == {4.0: -8.0}  # job 0 ran on two nodes from 0 s, and its node 0 fails at 4 s
    assert sum(rewards) == -env.result.ledger["lost"]


@pytest.mark.parametrize("machine", [fs.Cluster(128), fs.Pod((2, 2, 2), spares=1)], ids=["cluster", "pod"])
@pytest.mark.parametrize("order", ["arrival", "shortest"])
def test_the_first_that_fits_by_hand(order, machine):
    log = fs.synthetic.lublin(300, rng=5)
    log = log[log.size <= 112]
    env = PickJob(log, machine, jobs=len(log), slots=300, order=order)
    play(env, first)
    sim = fs.Simulation(log, machine, scheduler=fs.External(order=order))
    while (d := sim.advance()) is not None:
        for job in d.queue.tolist():
            if d.fits(job):
                d.start(job)
    assert np.array_equal(env.result.jobs["start"], sim.result().jobs["start"])


def test_a_seed_determines_the_episodes():
    log = fs.synthetic.lublin(500, rng=5)
    episodes = []
    for _ in range(2):
        env = PickJob(log, jobs=20)
        rewards = play(env, first, seed=4)[0] + play(env, first)[0]
        episodes.append((rewards, env.result.jobs["submit"].tolist()))
    assert episodes[0] == episodes[1]
    env.reset(seed=4, options={"first": 7, "jobs": 5})
    assert env._sim.log == log[7:12]


def hour(seconds):
    return np.float32(seconds / (seconds + 3600))


def test_compact_by_hand():
    env = PickJob(LOG, fs.Cluster(4), slots=2, jobs=4)
    seen, info = env.reset()
    assert seen.tolist() == [[1, 0, np.float32(1 / 3), 1], [0, hour(12), 0.5, 1], [0, 0, 0, 0]]
    assert info["action_mask"].tolist() == [True, False, True]
    seen, *_, info = env.step(0)  # at 1 s job 1 does not fit; at 2 s job 2 does
    assert info["now"] == 2.0
    assert seen.tolist() == [[0.5, 0, 0.5, hour(10)], [hour(1), hour(10), 1, 0], [0, hour(5), 0.5, 1]]
    assert info["action_mask"].tolist() == [False, True, True]


def test_rlscheduler_by_hand():
    log = fs.Workload(submit=[0, 43200], runtime=[90000, 10], size=[4, 1], estimate=[90000, 45000], user=[4, -1])
    env = PickJob(log, fs.Cluster(4), observation="rlscheduler", jobs=2)
    seen, _ = env.reset()
    assert seen.shape == (128, 8)
    near, tiny = np.float32(1 - 1e-5), np.float32(1e-5)
    assert seen[0].tolist() == [0, near, near, 1, near, 1, 1, near]
    assert seen[1].tolist() == [0, 1, 1, 1, 1, 1, 1, 0]
    env.step(128)
    seen = env._preset(env._decision, [False, True])
    assert seen[0].tolist() == [near, near, near, 1, near, 1, 1, tiny]
    assert seen[1].tolist() == [0, 0.5, 0.25, 1, 1, 1, 1, near]


def test_cqgym_by_hand():
    env = PickJob(LOG, fs.Cluster(4), observation="cqgym", slots=2, jobs=4)
    env.reset()
    seen = env.step(0)[0]
    assert seen[:4].tolist() == [[4, 10], [0, 1], [2, 5], [0, 0]]
    assert seen[4:].tolist() == [[0, 10], [0, 10], [1, 0], [1, 0]]


def test_cubes_by_hand():
    """Two cubes of four hosts: host 5 is down, and job 0 takes the hosts 6 and 7 of the cube that is broken up."""
    pod, down = fs.Pod((1, 1, 2), (2, 2, 2), 4), fs.FailureTrace([0], [5], [90], span=99)
    env = PickJob(LOG, pod, observation="cubes", slots=2, jobs=4, failures=down)
    assert env.reset()[0].tolist() == [[0, hour(12), 0.25, 1], [0] * 4, [1, 0, 1, 0], [0.75, 0.25, 0, 0]]
    seen, *_, info = env.step(0)
    assert (info["now"], info["action_mask"].tolist()) == (1.0, [True, False, True])
    assert seen.tolist() == [[0, hour(10), 0.5, 1], [0] * 4, [1, 0, 1, 0], [0.25, 0.25, 0, hour(11)]]
    assert not env._preset.nothing().any()


def test_time_to_end_wraps_around_a_torus():
    env = PickJob(
        fs.Workload(submit=[0, 0], runtime=[8, 9], size=[2, 2]), fs.Torus(2, 1, 3), observation="cqgym", jobs=2
    )
    env.reset()
    env._decision.start(0, box=(1, 0, 2, 1, 1, 2))
    seen = env._preset(env._decision, [True])[100:]
    assert seen.tolist() == [[1, 0]] * 3 + [[0, 8], [1, 0], [0, 8]]


def test_what_is_not_possible_is_counted():
    log = fs.Workload(submit=[0], runtime=[1], size=[1])
    env = PickJob(log, fs.Cluster(4), slots=2, jobs=1)
    _, info = env.reset()
    assert info["action_mask"].tolist() == [True, False, False]  # waiting would be for ever
    *_, terminated, _, info = env.step(2)
    assert (terminated, info["illegal"]) == (True, 1)
    with pytest.raises(fs.OptionError, match="the episode has ended"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"observation": "cubes"}, "the observation 'cubes' is of a Pod, got Cluster"),
        ({"observation": "compat"}, r"unknown observation 'compat' \(did you mean 'compact'\?\)"),
        ({"reward": "none"}, "unknown reward 'none'"),
        ({"metric": "makespan"}, "metric must be one of 'mean_wait'"),
        ({"jobs": 9}, "an episode of 9 jobs needs a longer log, this one has 4: give jobs=4 or less"),
        ({"slots": 0}, "slots must be at least 1"),
        ({"scheduler": fs.Fcfs()}, "an environment has no option 'scheduler'"),
    ],
)
def test_invalid_options(options, words):
    with pytest.raises(fs.OptionError, match=words):
        PickJob(LOG, fs.Cluster(4), **{"jobs": 4, **options})


def test_invalid_calls():
    env = PickJob(LOG, fs.Cluster(4), jobs=4)
    with pytest.raises(fs.OptionError, match="call reset"):
        env.step(0)
    with pytest.raises(fs.OptionError, match="the options 'first' and 'jobs', got 'start'"):
        env.reset(options={"start": 3})
    env.reset()
    with pytest.raises(fs.OptionError, match="action must be at least 0 and at most 16, got 17"):
        env.step(17)
    with pytest.raises(fs.OptionError, match="the episode has not ended"):
        _ = env.result


@pytest.mark.parametrize("action", [0.5, 0.0, "0", True, None, np.float64(0), np.array([0, 0]), np.array(0.5), [0]])
def test_actions_are_whole_numbers(action):
    env = PickJob(LOG, fs.Cluster(4), jobs=4)
    env.reset(seed=1)
    with pytest.raises(fs.OptionError, match="action must be a whole number, got"):
        env.step(action)
    seen = [PickJob(LOG, fs.Cluster(4), jobs=4) for _ in range(4)]
    for each in seen:
        each.reset(seed=1)
    steps = [each.step(same) for each, same in zip(seen, (0, np.int64(0), np.array(0), np.array([0])), strict=True)]
    assert len({(step[1], step[0].tobytes()) for step in steps}) == 1


@pytest.mark.parametrize("option", [{"live": 5}, {"unknown": True}, {"oracle_runtimes": True}])
def test_options_of_a_simulation_that_have_no_effect_here(option):
    with pytest.raises(fs.OptionError, match=f"an environment has no option '{next(iter(option))}': "):
        PickJob(LOG, fs.Cluster(4), jobs=4, **option)


def test_every_reward_is_tested():
    assert set(REWARDS) == {"terminal", "telescoping", "lost"}
