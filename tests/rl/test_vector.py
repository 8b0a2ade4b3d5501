"""`VectorPickJob` does what as many `PickJob` do."""

import gc
import threading

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.rl import PickJob, VectorPickJob
from faultsim.rl.rewards import COSTS

MODES = list(AutoresetMode)


def busy_log(seed, n=60, nodes=8):
    rng = np.random.default_rng(seed)
    unit = (1, 0.1, 1 / 3)[seed % 3]  # sums of whole numbers are the same in any order
    return fs.Workload(
        submit=np.sort(rng.integers(0, 2000, n)) * unit,
        runtime=rng.integers(0, 200, n) * unit,
        size=rng.integers(1, nodes + 1, n),
        estimate=rng.integers(-1, 300, n),
        user=rng.integers(-1, 5, n),
    )


@pytest.mark.parametrize("observation", ["compact", "rlscheduler"])
@pytest.mark.parametrize("mode", MODES)
@given(
    seed=st.integers(0, 2**31),
    metric=st.sampled_from(sorted(COSTS)),
    reward=st.sampled_from(["telescoping", "terminal"]),
    slots=st.sampled_from([1, 3, 16]),
    threads=st.integers(1, 3),
)
def test_it_does_what_single_ones_do(observation, mode, seed, metric, reward, slots, threads):
    n, log = 3, busy_log(seed)
    options = {"observation": observation, "slots": slots, "jobs": 12, "reward": reward, "metric": metric}
    options |= {"log": log, "machine": fs.Cluster(8)}
    envs = VectorPickJob(n, autoreset_mode=mode, threads=threads, **options)
    single = [PickJob(**options) for _ in range(n)]
    seen, info = envs.reset(seed=seed)
    expected = [env.reset(seed=seed + i) for i, env in enumerate(single)]
    rng, over = np.random.default_rng(seed), np.zeros(n, bool)
    for _ in range(60):
        for i, (one, told) in enumerate(expected):
            assert np.array_equal(seen[i], one)
            assert np.array_equal(info["action_mask"][i], told["action_mask"])
            assert (info["now"][i], info["illegal"][i]) == (told["now"], told["illegal"])
        actions = rng.integers(0, slots + 1, n)  # possible or not
        if mode == AutoresetMode.DISABLED and over.any():
            seen, info = envs.reset(options={"reset_mask": over})
            expected = [single[i].reset() if over[i] else expected[i] for i in range(n)]
            over[:] = False
            continue
        seen, rewards, ended, truncated, info = envs.step(actions)
        assert not truncated.any()
        for i, env in enumerate(single):
            if over[i] and mode == AutoresetMode.NEXT_STEP:
                expected[i], over[i] = env.reset(), False
                assert (rewards[i], ended[i]) == (0.0, False)
                continue
            one, paid, over[i], _, told = env.step(actions[i])
            assert rewards[i] == paid  # to the last bit
            assert ended[i] == over[i]
            if over[i]:
                assert info["metric"][i] == pytest.approx(env.result.metrics[metric])
            if over[i] and mode == AutoresetMode.SAME_STEP:
                assert np.array_equal(info["final_obs"][i], one)
                one, told = env.reset()
            expected[i] = one, told
        if mode == AutoresetMode.SAME_STEP:
            over[:] = False
    envs.close()


def test_a_real_log(data_dir):
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")[:5000]
    options = {"log": log, "machine": fs.Cluster(128), "jobs": 5000, "slots": 128}
    envs = VectorPickJob(1, autoreset_mode=AutoresetMode.DISABLED, **options)
    env = PickJob(**options)
    total, over, ended = 0.0, False, [False]
    _, info = envs.reset()
    _, told = env.reset()
    while not (over or ended[0]):
        _, reward, ended, _, info = envs.step(info["action_mask"].argmax(axis=1))
        _, _, over, _, told = env.step(told["action_mask"].argmax())
        total += reward[0]
    assert over == ended[0]
    assert -total == pytest.approx(env.result.metrics["mean_bounded_slowdown"])


def test_gymnasium_makes_it():
    envs = gymnasium.make_vec("faultsim/PickJob-v0", num_envs=3, jobs=20, log=fs.synthetic.lublin(100, rng=1))
    assert isinstance(envs.unwrapped, VectorPickJob)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    seen, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(seen)
    seen, *_ = envs.step(envs.action_space.sample())
    assert envs.observation_space.contains(seen)


def test_seeds_determine_the_episodes():
    log = fs.synthetic.lublin(500, rng=1)
    first, second, other = (VectorPickJob(4, log=log, jobs=20) for _ in range(3))
    assert np.array_equal(first.reset(seed=5)[0], second.reset(seed=[5, 6, 7, 8])[0])
    assert not np.array_equal(first.reset(seed=5)[1]["now"], other.reset(seed=9)[1]["now"])
    assert np.array_equal(first.reset()[1]["now"], second.reset(seed=5)[1]["now"]) is False


@pytest.mark.parametrize("copy", [True, False])
def test_copies_stay_as_they_were(copy):
    envs = VectorPickJob(2, jobs=20, copy=copy)
    seen, info = envs.reset(seed=1)
    before = seen.copy()
    envs.step(info["action_mask"].argmax(axis=1))
    assert np.array_equal(seen, before) == copy


def test_what_a_caller_writes_into_the_arrays_breaks_nothing():
    envs = VectorPickJob(2, jobs=20, copy=False)
    seen, info = envs.reset(seed=1)
    seen[:], info["action_mask"][:] = 7, True
    *_, info = envs.step(np.array([15, 15]))
    assert info["illegal"].tolist() == [1, 1]


def test_another_thread_is_refused():
    envs = VectorPickJob(2, jobs=20)
    _, info = envs.reset(seed=1)
    inside = envs._door.enter()
    errors = []

    def act():
        try:
            envs.step(info["action_mask"].argmax(axis=1))
        except fs.BusyError as error:
            errors.append(str(error))

    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    inside.leave()
    (error,) = errors
    assert error.startswith("another thread is in the middle of a step of this environment")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"machine": fs.Torus(4, 4, 8)}, fs.NotAvailableError, "VectorPickJob is for clusters"),
        ({"observation": "cqgym"}, fs.NotAvailableError, "no observation 'cqgym'; use PickJob"),
        ({"reward": "lost"}, fs.NotAvailableError, "no failures, so no reward 'lost'"),
        ({"metric": "makespan"}, fs.OptionError, "unknown metric 'makespan'"),
        ({"num_envs": 0}, fs.OptionError, "num_envs must be at least 1"),
        ({"machine": fs.Cluster(2)}, fs.InputError, "jobs are larger than the machine"),
    ],
)
def test_invalid_options(options, error, words):
    with pytest.raises(error, match=words):
        VectorPickJob(**options)


@pytest.mark.parametrize(
    "actions",
    [[0.5, 0.5], [0.0, 0.0], ["0", "0"], [True, False], [0, None], None, [[0], [0, 1]], np.array([2**63, 0], "u8")],
)
def test_actions_are_whole_numbers(actions):
    envs = VectorPickJob(2, log=busy_log(1), machine=fs.Cluster(8), jobs=1)
    envs.reset(seed=1)
    with pytest.raises(fs.OptionError, match="actions must be 2 whole numbers from 0 to 16, got"):
        envs.step(actions)
    envs.step(np.array([0, 0], "u1"))


def test_invalid_calls():
    envs = VectorPickJob(2, log=busy_log(1), machine=fs.Cluster(8), jobs=1, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(fs.OptionError, match="call reset"):
        envs.step(np.zeros(2, int))
    with pytest.raises(fs.OptionError, match="the option 'reset_mask', got 'first'"):
        envs.reset(options={"first": 1})
    with pytest.raises(fs.OptionError, match="reset_mask must be 2 booleans"):
        envs.reset(options={"reset_mask": np.zeros(2, bool)})
    with pytest.raises(fs.OptionError, match="seed must be a number or 2 of them, got 3"):
        envs.reset(seed=[1, 2, 3])
    envs.reset()
    with pytest.raises(fs.OptionError, match="actions must be 2 whole numbers from 0 to 16, got array"):
        envs.step(np.array([0, 17]))
    envs.step(np.array([0, 0]))
    with pytest.raises(fs.OptionError, match="an episode has ended"):
        envs.step(np.array([0, 0]))


@pytest.mark.parametrize("threads", [2, 5, 64])
def test_threads_share_many_and_episodes_are_drawn_again(threads):
    """Episodes of five jobs: more of them than are drawn at once."""
    options = {"log": busy_log(2), "machine": fs.Cluster(8), "jobs": 5, "slots": 3}
    alone, together = (VectorPickJob(150, threads=count, **options) for count in (1, threads))
    (seen, told), (other, _) = alone.reset(seed=4), together.reset(seed=4)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(300):
        assert np.array_equal(seen, other)
        actions = rng.integers(0, 4, 150)
        seen, rewards, over, _, told = alone.step(actions)
        other, paid, same, _, others = together.step(actions)
        assert np.array_equal(rewards, paid)
        assert np.array_equal(over, same)
        assert np.array_equal(told["now"], others["now"])
        ended += int(over.sum())
    assert ended > 150 * 20
    together.close()
    assert np.array_equal(together.step(actions)[0], alone.step(actions)[0])  # on one thread, from now on


def test_threads_end_with_what_they_served():
    envs = VectorPickJob(8, jobs=20, threads=3)
    helpers = envs._helpers
    envs.reset(seed=1)
    envs.step(np.zeros(8, int))
    assert all(helper.is_alive() for helper in helpers)
    del envs
    gc.collect()
    for helper in helpers:
        helper.join(10)
    assert not any(helper.is_alive() for helper in helpers)
