"""What identifies Python objects in a sweep: equal content and nothing else, in every process."""

import contextlib
import json
import sqlite3
import threading

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.policies.contract import Compiled
from faultsim.sweep.identity import identity
from helpers import identities
from helpers.identities import Order, Own, Rule, Slots, closure, written
from helpers.refusals import refused
from helpers.scripts import environment, python

DIFFERENT = list(identities.pairs_that_differ())
EQUAL = list(identities.pairs_that_are_equal())
REFUSED = identities.without_content()


def of(thing):
    return identity(thing, "it")


def why_not(thing):
    with pytest.raises(fs.OptionError) as raised:
        identity(thing, "policy Order")
    return str(raised.value)


@pytest.mark.parametrize("place", range(len(DIFFERENT)))
def test_other_content_has_another_identity(place):
    one, other = DIFFERENT[place]
    for around in (lambda thing: thing, Order, lambda thing: lambda: thing, lambda thing: [{"key": (thing,)}]):
        assert of(around(one)) != of(around(other))


@pytest.mark.parametrize("place", range(len(EQUAL)))
def test_equal_content_has_an_equal_identity(place):
    one, other = EQUAL[place]
    for around in (lambda thing: thing, Order, lambda thing: lambda: thing, lambda thing: [{"key": (thing,)}]):
        assert of(around(one)) == of(around(other))


def test_all_of_them_differ_from_each_other():
    found = [of(pair[0]) for pair in EQUAL]
    assert len(set(found)) == len(EQUAL)


def test_identities_are_the_same_in_every_process():
    """Whatever the order of sets is; classes and functions are of ``__main__`` there."""
    said = []
    for seed in ("0", "1", "4242", "random"):
        done = python(identities.__file__, env={**environment("tests"), "PYTHONHASHSEED": seed})
        assert done.returncode == 0, done.stderr
        said.append(json.loads(done.stdout))
    assert said[1:] == said[:-1]
    assert [one != other for one, other in said[0]] == [True] * len(DIFFERENT) + [False] * len(EQUAL)


@pytest.mark.parametrize("called", REFUSED)
def test_objects_without_content_are_refused_by_name(called):
    held = REFUSED[called]
    for thing in (held, Order({"k": [held]}), lambda: held):
        message = why_not(thing)
        assert message.startswith("policy Order")
        assert called in message
        assert "__faultsim_identity__(self)" in message
    if "deep" not in called:
        assert "policy Order, attribute x, key 'k', item 0: a" in why_not(Order({"k": [REFUSED[called]]}))


def test_an_object_may_give_its_own_identity():
    lock = threading.Lock()
    assert of(Own("a", lock)) == of(Own("a")) != of(Own("b", lock))
    assert of(Own(["a", {1, 2}])) == of(Own(["a", {2, 1}]))

    class Other(Own):
        pass

    assert of(Own("a")) != of(Other("a"))  # one method may serve many classes
    rule = closure(lock)
    refused(fs.OptionError, "variable k: a _thread.lock", of, rule)
    rule.__faultsim_identity__ = lambda: "locked, version 1"
    assert of(rule) == of(rule)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (None, "__faultsim_identity__ of Bad must return text or numbers that identify the object, got None"),
        (..., "got the object itself"),
        (threading.Lock(), "__faultsim_identity__: a _thread.lock has no content"),
    ],
)
def test_an_identity_must_identify(word, message):
    class Bad(fs.QueueOrder):
        def __faultsim_identity__(self):
            return self if word is ... else word

    Bad.__module__, Bad.__qualname__ = "__main__", "Bad"
    assert message in why_not(Bad())


def test_an_identity_that_fails_is_told_by_name():
    class Failing:
        def __faultsim_identity__(self):
            raise ZeroDivisionError("of nothing")

    class Text:
        __faultsim_identity__ = "text"

    refused(fs.OptionError, "__faultsim_identity__ of .*Failing raised ZeroDivisionError: of nothing", of, Failing())
    refused(fs.OptionError, "__faultsim_identity__ must be a method, got str", of, Text())


def test_code_that_is_installed_is_identified_by_name():
    assert of(json.dumps) == of(json.dumps) != of(json.loads)
    assert of(np.testing.assert_array_equal) != of(np.testing.assert_allclose)
    assert of(Compiled) != of(fs.Fcfs)


def test_a_global_of_another_module_of_the_caller_counts(monkeypatch):
    """Through the name of the module, too."""
    text = "from helpers import identities\ndef f(): return identities.closure"
    before = of(written(text))
    assert of(written(text)) == before
    monkeypatch.setattr(identities, "closure", lambda: 0)
    assert of(written(text)) != before
    assert of(written(text.replace(".closure", ".recursive"))) != before


def test_names_of_files_and_lines_do_not_count():
    assert of(written("def f(): return 1")) == of(written("\n\n\ndef f():\n\n    return 1"))


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.sets(st.text(), max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | inner.map(Slots)
        | inner.map(Rule)
    ),
    max_leaves=8,
)


def plain(thing):
    """What a value is, as text: types and order where it counts."""
    if isinstance(thing, Slots | Rule):
        return f"{type(thing).__name__}({plain(thing.a if isinstance(thing, Slots) else thing.k)})"
    if isinstance(thing, set):
        return f"set({sorted(map(plain, thing))})"
    if isinstance(thing, dict):
        return f"dict({sorted((plain(key), plain(value)) for key, value in thing.items())})"
    if isinstance(thing, list | tuple):
        return f"{type(thing).__name__}({[*map(plain, thing)]})"
    return f"{type(thing).__name__}({thing!r})"


@given(NESTED, NESTED)
def test_identities_are_equal_if_and_only_if_values_are(one, other):
    assert (of(one) == of(other)) == (plain(one) == plain(other))


# -- in sweeps


class Weighted(fs.QueueOrder):
    """Jobs by a number of the class of their size, in whatever holds these numbers."""

    def __init__(self, weights):
        self.weights = weights

    def keys(self, queue, now):
        return np.array([float(np.asarray(self.weights)[100 * size]) for size in queue.size])


LOG = fs.Workload(submit=[0, 0, 0, 0], runtime=[10, 20, 30, 40], size=[4, 1, 2, 4])


def rows_of(policies, store=None, **options):
    base = {"log": LOG, "machine": fs.Cluster(4)}
    grid = {"policy": {name: {"scheduler": fs.Fcfs(order=order)} for name, order in policies.items()}}
    return fs.Sweep(base, grid, **options).run(store)


def holders():
    up, down = np.arange(1000.0), np.arange(1000.0)
    down[100:500] *= -1.0  # which no repr shows
    found = {"array": (up, down), "slots": (_Held(up), _Held(down))}
    if identities.pd is not None:
        found["series"] = tuple(map(identities.pd.Series, (up, down)))
    return found


class _Held:
    __slots__ = ("values",)

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __repr__(self):
        return "numbers"


@pytest.mark.parametrize("name", list(holders()))
def test_no_cell_receives_the_numbers_of_another(name, tmp_path):
    up, down = holders()[name]
    table = rows_of({"up": Weighted(up), "down": Weighted(down)}, tmp_path / "a.db")
    assert table["run"][0] != table["run"][1]
    assert table["mean_wait"][0] != table["mean_wait"][1]
    alone = rows_of({"up": Weighted(up)})["mean_wait"][0], rows_of({"down": Weighted(down)})["mean_wait"][0]
    assert tuple(table["mean_wait"]) == alone


def test_no_metric_receives_the_numbers_of_another(tmp_path):
    def above(limits):
        return lambda result: float((result.jobs["wait"] > limits.values[0]).sum())

    base = fs.Run(LOG, fs.Cluster(4))
    few, many = (fs.Sweep(base, metrics={"n": above(_Held(np.array([limit])))}) for limit in (60.0, 1.0))
    assert few.run(tmp_path / "a.db")["n"] != many.run(tmp_path / "a.db")["n"]
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as db:
        assert db.execute("SELECT count(*) FROM run").fetchone() == (2,)


def test_a_sweep_refuses_what_it_cannot_identify(tmp_path):
    refused(
        fs.OptionError, "policy Weighted, attribute weights: a numpy.random._generator.Generator changes as it is used",
        rows_of, {"up": Weighted(np.random.default_rng(0))}, tmp_path / "a.db",
    )  # fmt: skip
    lock = threading.Lock()
    refused(
        fs.OptionError, "metric 'n', variable lock: a _thread.lock has no content",
        fs.Sweep, fs.Run(LOG, fs.Cluster(4)), metrics={"n": lambda result: lock is None},
    )  # fmt: skip


SCRIPT = """
import faultsim as fs

class Order(fs.QueueOrder):
    big = {"four", "five", "six"}

    def __init__(self, names):
        self.names = names

    def keys(self, queue, now):
        return queue.size * len(self.names & self.big)

def kept(result):
    return float("fcfs" in {"fcfs", "easy", "other"})

if __name__ == "__main__":
    log = fs.Workload(submit=[0, 0], runtime=[10, 5], size=[2, 1])
    run = fs.Run(log, fs.Cluster(2), scheduler=fs.Fcfs(order=Order({"two", "three", "four"})))
    print(fs.Sweep(run, metrics={"kept": kept}).run(executor=EXECUTOR)["run"][0])
"""


def test_a_run_has_one_name_in_every_process_and_executor(tmp_path):
    names = set()
    for seed, executor in [("0", "'threads'"), ("7", "'threads'"), ("8", "'processes'")]:
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.replace("EXECUTOR", executor))
        done = python(script, env={**environment(), "PYTHONHASHSEED": seed})
        assert done.returncode == 0, done.stderr
        names.add(done.stdout)
    assert len(names) == 1


def test_run_lists_identify_their_functions():
    from typing import NamedTuple

    from faultsim.sweep.run_list import RunList

    class Setting(NamedTuple):
        nodes: int

    def listed(limit):
        held = _Held(np.array([limit]))
        make = lambda setting, c: fs.Run(LOG, fs.Cluster(setting.nodes))  # noqa: E731
        columns = {"n": lambda result: float((result.jobs["wait"] > held.values[0]).sum())}
        return RunList("list", {Setting(4): {"c": [1.0]}}, make, columns)

    assert listed(1.0).at(0).id == listed(1.0).at(0).id != listed(60.0).at(0).id
