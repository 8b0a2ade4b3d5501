"""Vector environments do what as many single ones do."""

import copy
import gc
import pickle
import threading

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.rl import (
    Observation,
    PickBox,
    PickJob,
    Respond,
    Reward,
    VectorPickBox,
    VectorPickJob,
    VectorRespond,
)
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


def failing(nodes, seed, recovery=None):
    rng = np.random.default_rng(seed)
    times, k = np.sort(rng.integers(0, 3000, 40)).astype(float), 40
    trace = fs.FailureTrace(times, rng.integers(0, nodes, k), rng.choice([0.0, 5.0, 300.0], k), span=4000)
    return {"failures": trace} | ({} if recovery is None else {"recovery": recovery})


@pytest.mark.parametrize("observation", ["compact", "rlscheduler"])
@pytest.mark.parametrize(
    "recovery", [None, fs.Requeue(place="tail", restart_cost=7.0), fs.Hold(restart_cost=3.0)], ids=["", "tail", "hold"]
)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**31),
    metric=st.sampled_from(sorted(COSTS)),
    reward=st.sampled_from(["telescoping", "terminal"]),
    mode=st.sampled_from(MODES[:2]),
)
def test_failures_are_as_in_single_ones(observation, recovery, seed, metric, reward, mode):
    options = {"observation": observation, "slots": 4, "jobs": 12, "reward": reward, "metric": metric}
    options |= {"log": busy_log(seed), "machine": fs.Cluster(8), **failing(8, seed, recovery)}
    envs, single = VectorPickJob(2, autoreset_mode=mode, **options), [PickJob(**options) for _ in range(2)]
    assert envs.compiled
    rng, over = np.random.default_rng(seed), [False, False]
    seen, info = envs.reset(seed=seed)
    expected = [env.reset(seed=seed + i) for i, env in enumerate(single)]
    for _ in range(60):
        for i, (one, told) in enumerate(expected):
            assert np.array_equal(seen[i], one)
            assert np.array_equal(info["action_mask"][i], told["action_mask"])
            assert (info["now"][i], info["illegal"][i]) == (told["now"], told["illegal"])
        actions = rng.integers(0, 5, 2)
        seen, rewards, ended, _, info = envs.step(actions)
        for i, env in enumerate(single):
            if over[i]:
                expected[i], over[i] = env.reset(), False
                continue
            one, paid, finished, _, told = env.step(actions[i])
            assert (rewards[i], ended[i]) == (pytest.approx(paid, rel=1e-9, abs=1e-9), finished)
            if finished:
                assert info["metric"][i] == pytest.approx(env.result.metrics[metric])
            over[i] = finished and mode == AutoresetMode.NEXT_STEP
            expected[i] = env.reset() if finished and mode == AutoresetMode.SAME_STEP else (one, told)


def test_all_nodes_that_stay_down_are_a_deadlock():
    trace = fs.FailureTrace([0, 0], [0, 1], [np.inf, np.inf], span=10)
    envs = VectorPickJob(
        1, log=fs.Workload(submit=[0], runtime=[9], size=[1]), machine="cluster:2", failures=trace, jobs=1
    )
    with pytest.raises(fs.DecisionError, match="deadlock: jobs wait, none runs"):
        envs.reset()


class Idle(Reward):
    """Minus the share of nodes that are free."""

    def begin(self, sim, log):
        self._nodes = sim.decision.free if sim.decision else 8

    def step(self, decision):
        return -decision.free / 8


class Waiting(Observation):
    """The number of waiting jobs."""

    def __init__(self, log, machine, slots):
        self.space = Box(0, 1e9, (1,), np.float32)

    def __call__(self, decision, fits):
        return np.array([len(decision.queue)], np.float32)


OTHERS = {
    "torus": (PickJob, VectorPickJob, {"machine": fs.Torus(2, 2, 2), "observation": "cqgym"}),
    "pod": (PickJob, VectorPickJob, {"machine": fs.Pod((2, 2, 2)), "observation": "cubes"}),
    "lost": (PickJob, VectorPickJob, {"machine": fs.Cluster(8), "reward": "lost", **failing(8, 1)}),
    "own": (PickJob, VectorPickJob, {"machine": fs.Cluster(8), "reward": Idle, "observation": Waiting}),
    "order": (
        PickJob,
        VectorPickJob,
        {"machine": fs.Cluster(8), "order": "shortest", "checkpointing": "periodic:1m,5"},
    ),
    "box": (PickBox, VectorPickBox, {"machine": fs.Torus(2, 2, 2)}),
    "respond": (Respond, VectorRespond, {"machine": fs.Cluster(8), "lead": 20, **failing(8, 2)}),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_stepped_in_python_is_as_single_ones(name, mode):
    one, many, options = OTHERS[name]
    options = {"log": busy_log(3), "jobs": 9, **options}
    envs, single = many(2, autoreset_mode=mode, **options), [one(**options) for _ in range(2)]
    assert not envs.compiled
    seen, info = envs.reset(seed=4)
    expected = [env.reset(seed=4 + i) for i, env in enumerate(single)]
    over, ends = [False, False], 0
    for _ in range(50):
        assert envs.observation_space.contains(seen)
        for i, (shown, told) in enumerate(expected):
            for key, values in shown.items() if isinstance(shown, dict) else [(..., shown)]:
                assert np.array_equal(seen[i] if key is ... else seen[key][i], values)
            assert np.array_equal(info["action_mask"][i], told["action_mask"])
            assert info["now"][i] == told["now"]
        if mode == AutoresetMode.DISABLED and any(over):
            seen, info = envs.reset(options={"reset_mask": np.array(over)})
            expected = [single[i].reset() if over[i] else expected[i] for i in range(2)]
            over = [False, False]
            continue
        actions = info["action_mask"].argmax(axis=1)
        seen, rewards, ended, _, info = envs.step(actions)
        for i, env in enumerate(single):
            if over[i]:
                expected[i], over[i] = env.reset(), False
                continue
            shown, paid, over[i], _, told = env.step(actions[i])
            assert (rewards[i], ended[i]) == (paid, over[i])
            ends += over[i]
            if over[i] and mode == AutoresetMode.SAME_STEP:
                final = info["final_obs"][i]
                assert (
                    all(np.array_equal(final[k], shown[k]) for k in shown)
                    if isinstance(shown, dict)
                    else (np.array_equal(final, shown))
                )
                shown, told = env.reset()
                over[i] = False
            expected[i] = shown, told
    assert ends > 2


@pytest.mark.parametrize("seed", [np.int64(7), np.uint8(7), np.array(7), [7, np.int32(8)], (7, 8), np.array([7, 8])])
def test_seeds_may_be_numbers_of_numpy(seed):
    envs, same = VectorPickJob(2, jobs=20), VectorPickJob(2, jobs=20)
    assert np.array_equal(envs.reset(seed=seed)[0], same.reset(seed=7)[0])
    assert np.array_equal(envs.reset()[0], same.reset()[0])


@pytest.mark.parametrize("seed", [-1, 1.5, "7", [1, -2], True])
def test_other_seeds_are_refused(seed):
    for envs in (VectorPickJob(2, jobs=20), VectorPickBox(2, jobs=20)):
        with pytest.raises(fs.OptionError, match="seed must be"):
            envs.reset(seed=seed)


@pytest.mark.parametrize("kind", [VectorPickJob, VectorPickBox])
def test_attributes_of_each(kind):
    envs = kind(3, jobs=20)
    _, info = envs.reset(seed=1)
    assert np.array_equal(np.stack(envs.call("action_masks")), info["action_mask"])
    assert envs.get_attr("action_space") == (envs.single_action_space,) * 3
    envs.set_attr("worker", [1, 2, 3])
    envs.set_attr("where", "here")
    envs.set_attr("worker", (4, 5, 6))
    assert (envs.get_attr("worker"), envs.call("where")) == ((4, 5, 6), ("here",) * 3)
    with pytest.raises(AttributeError, match="no attribute 'workers'"):
        envs.get_attr("workers")
    for name in ("action_masks", "action_space", "_out" if envs.compiled else "_log"):
        with pytest.raises(fs.OptionError, match=f"set_attr cannot change '{name}'"):
            envs.set_attr(name, 1)
    with pytest.raises(fs.OptionError, match="a list of 3, got 2"):
        envs.set_attr("worker", [1, 2])


@pytest.mark.parametrize("how", ["pickle", "deepcopy"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["plain", "failing", "box", "own"])
def test_copies_in_mid_episode_go_on_equally(kind, mode, how):
    many, options = {
        "plain": (VectorPickJob, {"machine": fs.Cluster(8), "observation": "rlscheduler"}),
        "failing": (VectorPickJob, {"machine": fs.Cluster(8), "threads": 2, **failing(8, 5)}),
        "box": OTHERS["box"][1:],
        "own": OTHERS["own"][1:],
    }[kind]
    envs = many(3, log=busy_log(6), jobs=8, autoreset_mode=mode, **options)
    _, info = envs.reset(seed=2)
    envs.set_attr("mark", [1, 2, 3])
    play_some(envs, info, 17)
    copied = pickle.loads(pickle.dumps(envs)) if how == "pickle" else copy.deepcopy(envs)
    assert copied.get_attr("mark") == (1, 2, 3)
    ours, theirs = (play_some(each, {"action_mask": each.action_masks()}, 40) for each in (envs, copied))
    assert len(ours) == 40
    for left, right in zip(ours, theirs, strict=True):
        assert left == right
    for each in (envs, copied):
        each.close()


def play_some(envs, info, steps):
    """What the steps give, of actions that are possible; all copied to bytes."""
    given = []
    for _ in range(steps):
        ended = envs._out["ended"].astype(bool)
        if envs.metadata["autoreset_mode"] == AutoresetMode.DISABLED and ended.any():
            _, info = envs.reset(options={"reset_mask": ended})
        seen, rewards, over, _, info = envs.step(info["action_mask"].argmax(axis=1))
        parts = list(seen.values()) if isinstance(seen, dict) else [seen]
        given.append([part.tobytes() for part in [*parts, rewards, over, info["action_mask"], info["now"]]])
    return given


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
        ({"observation": "cqgym", "threads": 2}, fs.NotAvailableError, "threads: with observation='cqgym' the environ"),
        ({"autoreset_mode": "same"}, fs.OptionError, "unknown autoreset_mode 'same'"),
        ({"metric": "makespan"}, fs.OptionError, "metric must be one of 'mean_wait'"),
        ({"scheduler": fs.Fcfs()}, fs.OptionError, "an environment has no option 'scheduler'"),
        ({"failure": None}, TypeError, r"unexpected keyword argument 'failure' \(did you mean 'failures'\?\)"),
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
    helpers = envs._engine._helpers
    envs.reset(seed=1)
    envs.step(np.zeros(8, int))
    assert all(helper.is_alive() for helper in helpers)
    del envs
    gc.collect()
    for helper in helpers:
        helper.join(10)
    assert not any(helper.is_alive() for helper in helpers)
