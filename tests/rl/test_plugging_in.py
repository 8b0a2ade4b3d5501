"""How libraries call environments: `gymnasium.make` with its keywords, pictures, copies and pickles."""

import copy
import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import faultsim as fs
from faultsim.rl import Observation, PickBox, PickJob, Respond, Reward, VectorPickJob
from helpers.scripts import python

CHECKOUT = Path(__file__).resolve().parents[2]
IDS = ["faultsim/PickJob-v0", "faultsim/PickBox-v0", "faultsim/Respond-v0"]


@pytest.mark.parametrize("name", IDS)
def test_the_picture_and_the_text_of_each(name):
    env = gymnasium.make(name, render_mode="rgb_array", jobs=40)
    env.reset(seed=1)
    picture = env.render()
    assert (picture.dtype, picture.ndim, picture.shape[2]) == (np.uint8, 3, 3)
    env.step(int(env.unwrapped.action_masks().argmax()))
    assert env.render().shape == picture.shape
    env = gymnasium.make(name, render_mode="ansi", jobs=40)
    env.reset(seed=1)
    assert "nodes are free" in env.render()
    assert gymnasium.make(name, jobs=40).unwrapped.render() is None


def test_a_picture_by_hand():
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 1])
    down = fs.FailureTrace([0], [3], [99], span=200)
    env = PickJob(log, fs.Cluster(4), jobs=3, failures=down, render_mode="rgb_array")
    env.reset(options={"first": 0})
    env.step(0)  # at 2 s job 2 fits beside job 0, which has half of the nodes; node 3 is down
    picture = env.render()
    busy, free, failed = (tuple(picture[0, x].tolist()) for x in (10, 200, 300))
    assert (free, failed) == ((120, 190, 110), (200, 60, 50))
    assert busy not in (free, failed, (255, 255, 255))
    bars = [picture[48 + 12 * place + 6] for place in range(3)]
    assert [int((bar != 255).any(axis=1).sum()) for bar in bars] == [384, 96, 0]
    assert [tuple(bar[0].tolist()) for bar in bars[:2]] == [(170, 170, 170), (120, 190, 110)]


def test_a_text_by_hand():
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 1])
    env = PickJob(log, fs.Cluster(4), jobs=3, render_mode="ansi")
    env.reset()
    env.step(0)
    assert env.render() == (
        "2 s: 2 of 4 nodes are free, 0 down; 1 jobs run, 2 wait\n"
        "  job 1: 4 nodes for 10 s, has waited 1 s\n"
        "  job 2: 1 nodes for 5 s, has waited 0 s, fits\n"
    )


@pytest.mark.parametrize("cls", [PickJob, PickBox, Respond, VectorPickJob])
def test_another_render_mode_is_refused(cls):
    with pytest.raises(fs.OptionError, match="render_mode 'ascii'"):
        cls(render_mode="ascii")


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("vector", [False, True], ids=["one", "many"])
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"failure": None}, "failures"),
        ({"slot": 3}, "slots"),
        ({"metrics": "mean_wait"}, "metric"),
        ({"checkpoint": None}, "checkpointing"),
        ({"nothing_like_it": 1}, None),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_unknown_keywords_are_refused_at_make(name, vector, given, meant):
    hint = "" if meant is None or (meant == "slots" and "PickJob" not in name) else rf".*did you mean '{meant}'\?"
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{next(iter(given))}'{hint}"):
        gymnasium.make_vec(name, num_envs=2, **given) if vector else gymnasium.make(name, **given)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"failures": 3}, fs.InputError, "failures must be a FailureTrace or the path of one, got"),
        ({"failures": "nowhere.csv"}, fs.InputError, "nowhere.csv: no such file"),
        ({"placement": "first-fitt"}, fs.OptionError, "first-fit"),
        ({"overrun": "kil"}, fs.OptionError, "unknown overrun 'kil'"),
        ({"start_delay": -1}, fs.OptionError, "start_delay must be at least 0"),
        ({"machine": fs.Cluster(2)}, fs.InputError, "larger than the machine"),
        ({"log": [1, 2]}, fs.InputError, "log must be a Workload or the path of one, got"),
    ],
)
@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_values_are_checked_at_make(make, options, error, words):
    with pytest.raises(error, match=words):
        make("faultsim/PickJob-v0", **options)


def test_the_specification_is_json(tmp_path):
    fs.synthetic.lublin(100, rng=4).write_csv(tmp_path / "log.csv")
    MANY.write_csv(tmp_path / "trace.csv")
    files = {"log": str(tmp_path / "log.csv"), "failures": str(tmp_path / "trace.csv")}
    options = {**files, "machine": "cluster:128", "jobs": 30, "recovery": "hold", "order": "f1"}
    for name in IDS:
        given = {"jobs": 30} if "Box" in name else options
        env = gymnasium.make(name, **given)
        again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
        assert env.reset(seed=4)[1]["now"] == again.reset(seed=4)[1]["now"]
        envs = gymnasium.make_vec(name, num_envs=2, **given)
        assert envs.unwrapped.spec.to_json() == gymnasium.make_vec(name, num_envs=2, **given).unwrapped.spec.to_json()
    with pytest.raises(fs.InputError, match=r"log must be the path of a Workload, and .*trace\.csv is a FailureTrace"):
        PickJob(files["failures"])


@pytest.mark.parametrize("seed", [np.int64(3), np.uint8(3), np.array(3)])
@pytest.mark.parametrize("name", IDS)
def test_seeds_may_be_numbers_of_numpy(name, seed):
    env, same = (gymnasium.make(name, jobs=30).unwrapped for _ in range(2))
    left, right = env.reset(seed=seed)[1], same.reset(seed=3)[1]
    assert left["now"] == right["now"]
    for other in (-1, 1.5, "3"):
        with pytest.raises(fs.OptionError, match="seed must be"):
            env.reset(seed=other)


class Paid(Reward):
    """The number of starts so far, which is state of its own."""

    def begin(self, sim, log):
        self.starts = 0

    def started(self, job, now):
        self.starts += 1

    def step(self, decision):
        return float(self.starts)

    end = step


FAILING = fs.synthetic.exponential_failures(128, 3e7, 30 * 86400, downtime=3600.0, rng=2)
MANY = fs.synthetic.exponential_failures(128, 3e6, 3 * 86400, downtime=3600.0, rng=2)
CASES = {
    "plain": ("faultsim/PickJob-v0", {"jobs": 40}),
    "failing": ("faultsim/PickJob-v0", {"jobs": 40, "failures": MANY, "observation": "cqgym", "reward": "lost"}),
    "own reward": ("faultsim/PickJob-v0", {"jobs": 40, "reward": Paid, "order": "shortest"}),
    "box": ("faultsim/PickBox-v0", {"jobs": 60, "machine": "torus:4x4x8"}),
    "respond": ("faultsim/Respond-v0", {"jobs": 300, "failures": FAILING, "checkpointing": "periodic:7d,60s"}),
}


def go_on(env, steps=60):
    """What the rest of the episode gives, and of the one after it, by the last possible action."""
    given, over, info = [], False, {"action_mask": env.action_masks()}
    for _ in range(steps):
        if over:
            seen, info = env.reset()
            reward, over = 0.0, False
        else:
            action = np.flatnonzero(info["action_mask"])[-1]
            seen, reward, over, _, info = env.step(action)
        parts = list(seen.values()) if isinstance(seen, dict) else [seen]
        given.append(([part.tobytes() for part in parts], reward, over, info["now"], info["action_mask"].tobytes()))
    return given


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])
@pytest.mark.parametrize("how", ["pickle", "deepcopy"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_copies_in_mid_episode_go_on_equally(case, how, wrapped, steps):
    name, options = CASES[case]
    env = gymnasium.make(name, **options)
    env.reset(seed=5)
    for _ in range(steps):
        env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
    whole = env if wrapped else env.unwrapped
    copied = pickle.loads(pickle.dumps(whole)) if how == "pickle" else copy.deepcopy(whole)
    ours = go_on(env.unwrapped)
    theirs = go_on(copied.unwrapped)  # after the other, with which it has nothing in common
    assert ours == theirs


def test_a_copy_before_and_after_an_episode():
    env = PickJob(jobs=5)
    with pytest.raises(fs.OptionError, match=r"call reset\(\)"):
        copy.deepcopy(env).step(0)
    env.reset(seed=1)
    while not env.step(int(env.action_masks().argmax()))[2]:
        pass
    assert pickle.loads(pickle.dumps(env)).result.metrics == env.result.metrics


def test_branches_of_a_search_do_not_touch_each_other():
    env = PickJob(jobs=30, metric="mean_wait")
    env.reset(seed=2)
    while env.action_masks().sum() < 3:  # some wait
        env.step(int(np.flatnonzero(env.action_masks())[-1]))
    branches = {int(action): copy.deepcopy(env) for action in np.flatnonzero(env.action_masks())}
    before = env.action_masks().copy()
    for action, branch in branches.items():
        if not branch.step(action)[2]:
            go_on(branch, 20)
    assert np.array_equal(env.action_masks(), before)
    assert env._log is branch._log  # a copy costs what the simulation costs, not the log


def test_own_observations_and_rewards_are_classes():
    with pytest.raises(fs.OptionError, match="write reward=Paid, without brackets"):
        PickJob(reward=Paid("mean_wait"))
    with pytest.raises(fs.OptionError, match=r"or a subclass of faultsim\.rl\.Reward, got the class dict"):
        PickJob(reward=dict)
    with pytest.raises(fs.OptionError, match=r"subclass of faultsim\.rl\.Observation that sets its space"):
        PickJob(observation=lambda log, machine, slots: np.zeros(3))

    class Blank(Observation):
        def __init__(self, log, machine, slots):
            self.space = gymnasium.spaces.Discrete(2)

        def __call__(self, decision, fits):
            return 1

    env = PickJob(jobs=1, observation=Blank)
    assert env.reset()[0] == 1
    with pytest.raises(NotImplementedError, match="has to define nothing"):
        env.step(0)
    with pytest.raises(fs.OptionError, match="write observation=Blank"):
        PickJob(observation=Blank(None, None, 3))


def test_the_first_line_of_the_guide_says_how_to_register():
    """Gymnasium loads no plugins, so that nothing is registered without the import."""
    lines = (CHECKOUT / "docs" / "guides" / "environments.md").read_text().splitlines()
    assert "import faultsim.rl" in lines[2]
    code = "import gymnasium; print(any(name.startswith('faultsim') for name in gymnasium.registry)); "
    code += "gymnasium.make('faultsim.rl:faultsim/PickJob-v0', jobs=3); print('made')"
    assert python("-c", code, check=True).stdout == "False\nmade\n"
