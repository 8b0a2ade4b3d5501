"""`as_vec_env`: with Stable-Baselines3 where it is installed, and with a double of the class that it builds on."""

import importlib.util
import sys
import types
from abc import ABC, abstractmethod

import numpy as np
import pytest

import faultsim as fs
from faultsim.rl import PickJob, VectorPickBox, VectorPickJob
from helpers.scripts import python

INSTALLED = importlib.util.find_spec("stable_baselines3") is not None
OPTIONS = {"jobs": 12, "slots": 4, "log": fs.synthetic.lublin(300, rng=3), "machine": "cluster:128"}


class VecEnv(ABC):
    """What a subclass must define, and what it is given, as in Stable-Baselines3 2.9."""

    def __init__(self, num_envs, observation_space, action_space):
        self.num_envs, self.observation_space, self.action_space = num_envs, observation_space, action_space
        self.reset_infos = [{} for _ in range(num_envs)]
        self._reset_seeds()
        self._reset_options()
        self.render_mode = self.get_attr("render_mode")[0]

    def _reset_seeds(self):
        self._seeds = [None] * self.num_envs

    def _reset_options(self):
        self._options = [{} for _ in range(self.num_envs)]

    def seed(self, seed):
        self._seeds = [seed + i for i in range(self.num_envs)]

    def set_options(self, options):
        self._options = [options] * self.num_envs

    def step(self, actions):
        self.step_async(actions)
        return self.step_wait()

    def has_attr(self, name):
        try:
            self.get_attr(name)
        except AttributeError:
            return False
        return True

    @abstractmethod
    def reset(self): ...

    @abstractmethod
    def step_async(self, actions): ...

    @abstractmethod
    def step_wait(self): ...

    @abstractmethod
    def close(self): ...

    @abstractmethod
    def get_attr(self, attr_name, indices=None): ...

    @abstractmethod
    def set_attr(self, attr_name, value, indices=None): ...

    @abstractmethod
    def env_method(self, method_name, *args, indices=None, **kwargs): ...

    @abstractmethod
    def env_is_wrapped(self, wrapper_class, indices=None): ...


@pytest.fixture
def as_vec_env(monkeypatch):
    if not INSTALLED:
        for name in ("stable_baselines3", "stable_baselines3.common", "stable_baselines3.common.vec_env"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        sys.modules["stable_baselines3.common.vec_env"].VecEnv = VecEnv
    monkeypatch.delitem(sys.modules, "faultsim.rl.stable_baselines", raising=False)
    from faultsim.rl.stable_baselines import as_vec_env

    yield as_vec_env
    sys.modules.pop("faultsim.rl.stable_baselines", None)


@pytest.mark.parametrize(
    "failures", [None, fs.synthetic.exponential_failures(128, 3e6, 86400 * 5, downtime=60.0, rng=1)]
)
def test_it_gives_what_single_ones_give(as_vec_env, failures):
    options = {**OPTIONS, "failures": failures}
    venv = as_vec_env(VectorPickJob(3, autoreset_mode="SameStep", **options))
    single = [PickJob(**options) for _ in range(3)]
    venv.seed(11)
    seen = venv.reset()
    expected = [env.reset(seed=11 + i)[0] for i, env in enumerate(single)]
    returns, lengths, ends = [0.0] * 3, [0] * 3, 0
    for _ in range(80):
        assert np.array_equal(seen, expected)
        actions = np.stack(venv.env_method("action_masks")).argmax(axis=1)
        assert actions.tolist() == [int(env.action_masks().argmax()) for env in single]
        seen, rewards, dones, infos = venv.step(actions)
        for i, env in enumerate(single):
            expected[i], paid, over, _, _ = env.step(actions[i])
            returns[i], lengths[i] = returns[i] + paid, lengths[i] + 1
            assert (rewards[i], dones[i]) == (pytest.approx(paid, rel=1e-5, abs=1e-5), over)
            assert ("terminal_observation" in infos[i]) == over
            if over:
                assert np.array_equal(infos[i]["terminal_observation"], expected[i])
                assert infos[i]["episode"]["r"] == pytest.approx(returns[i], rel=1e-6)
                assert infos[i]["episode"]["l"] == lengths[i]
                assert infos[i]["metric"] == pytest.approx(env.result.metrics["mean_bounded_slowdown"])
                assert infos[i]["TimeLimit.truncated"] is False
                expected[i], returns[i], lengths[i], ends = env.reset()[0], 0.0, 0, ends + 1
    assert ends > 3
    assert rewards.dtype == np.float32
    venv.close()


def test_attributes_by_index(as_vec_env):
    venv = as_vec_env(VectorPickJob(3, autoreset_mode="SameStep", **OPTIONS))
    venv.reset()
    assert venv.has_attr("action_masks")
    assert not venv.has_attr("lives")
    venv.set_attr("lives", 7, indices=[0, 2])
    assert venv.get_attr("lives") == [7, None, 7]
    assert venv.get_attr("lives", indices=0) == [7]
    assert len(venv.env_method("action_masks", indices=[1])) == 1
    assert venv.reset_infos[1]["now"] >= 0


def test_what_it_does_not_take(as_vec_env):
    with pytest.raises(fs.OptionError, match="autoreset_mode='SameStep', got 'NextStep'"):
        as_vec_env(VectorPickJob(2, **OPTIONS))
    with pytest.raises(fs.OptionError, match="as_vec_env takes a VectorPickJob, VectorPickBox or VectorRespond"):
        as_vec_env(PickJob(**OPTIONS))
    venv = as_vec_env(VectorPickBox(2, jobs=20, autoreset_mode="SameStep"))
    venv.set_options({"first": 3})
    with pytest.raises(fs.OptionError, match="no options of set_options"):
        venv.reset()


@pytest.mark.skipif(not INSTALLED, reason="needs Stable-Baselines3")
@pytest.mark.filterwarnings("ignore")
def test_its_algorithms_train(as_vec_env):
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    venv = as_vec_env(VectorPickJob(4, autoreset_mode="SameStep", **OPTIONS))
    model = PPO("MlpPolicy", venv, n_steps=64, batch_size=64, n_epochs=1, seed=np.int64(3).item())
    model.learn(512)
    mean, _ = evaluate_policy(model, venv, n_eval_episodes=4, warn=False)
    assert np.isfinite(mean)
    made = make_vec_env("faultsim/PickJob-v0", n_envs=2, seed=1, env_kwargs=OPTIONS)
    PPO("MlpPolicy", made, n_steps=32, batch_size=32, n_epochs=1).learn(64)
    assert made.render().shape[2] == 3
    maskable = pytest.importorskip("sb3_contrib").MaskablePPO
    maskable("MlpPolicy", venv, n_steps=64, batch_size=64, n_epochs=1).learn(512)
    boxes = as_vec_env(VectorPickBox(2, jobs=20, autoreset_mode="SameStep"))
    maskable("MultiInputPolicy", boxes, n_steps=32, batch_size=32, n_epochs=1).learn(64)


WITHOUT = """
import sys
sys.modules["stable_baselines3"] = None
import faultsim as fs
from faultsim.rl import VectorPickJob
from faultsim.rl.stable_baselines import as_vec_env
try:
    as_vec_env(VectorPickJob(2, jobs=5, autoreset_mode="SameStep"))
except fs.MissingExtraError as error:
    print(error)
"""


def test_the_package_is_named():
    words = "as_vec_env needs Stable-Baselines3: pip install stable-baselines3\n"
    assert python("-c", WITHOUT, check=True).stdout == words
