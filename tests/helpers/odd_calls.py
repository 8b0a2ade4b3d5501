"""Calls of every public name with odd values: the calls of the docstrings' examples, with one argument changed.

Examples of docstrings are run while a profile function keeps the arguments with which public functions and methods
are called.  Objects that change, and compiled classes, are made by `OBJECTS`.
"""

import contextlib
import datetime
import decimal
import doctest
import fractions
import inspect
import io
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import faultsim as fs
from faultsim import plot, report
from faultsim._core.decisions import Decision

try:
    from faultsim import rl
except fs.MissingExtraError:  # without gymnasium
    rl = None  # type: ignore[assignment]

ROOT = Path(fs.__file__).parent
MODULES = {"": fs, "synthetic.": fs.synthetic, "partition.": fs.partition, "plot.": plot, "report.": report}
MODULES |= {"rl.": rl} if rl else {}
DUNDERS = ("__getitem__", "__contains__", "__call__", "__add__", "__format__")
#: Where Python's own protocols have these errors.
PROTOCOL = {"__getitem__": (KeyError, IndexError, TypeError), "__contains__": (TypeError,)}


class Foreign:
    """An object of another library, with attributes that look like the wanted ones."""

    columns = dtype = shape = nodes = name = submit = jobs = log = machine = None
    values = index = size = 5

    def __init__(self, *_: object) -> None:
        pass

    def __len__(self) -> int:
        return 3


#: Words of odd values that are called where a function is wanted: their errors are their own.
CALLED = ("<class", "<built-in function", "<function")


class Unusable:
    """An object that raises nothing of its own, but is no number, no text and not iterable."""


def odd_values() -> dict[str, Callable[[], Any]]:
    """A word -> what makes the value anew."""
    log = fs.Workload([0, 1, 2], [10, 10, 5], [2, 4, 2])
    plain = [
        None, True, False, -1, 0, 1, 7, 2**31, 2**63, -(2**63), 10**30, 10**400, 1.5, -0.5, float("nan"),
        float("inf"), float("-inf"), 1e300, 5e-324, "", "x", "-5m", "nan", "no", "1_0", "a\0b", "\ud800", "x" * 10**5,
        "é\n\x1b", b"x",
        b"", (), (1, 2, 3), (None,), frozenset({1}), ..., int, fs.Workload, fs.Fcfs, NotImplemented, 1 + 2j,
        decimal.Decimal("NaN"), decimal.Decimal("2"), fractions.Fraction(1, 3), datetime.timedelta(days=1),
        datetime.timedelta(days=-1), datetime.datetime(2020, 1, 1), range(3), slice(None), Path("/nowhere/x"),
        Path("/"), np.ma.masked, np.datetime64("NaT"), np.timedelta64("NaT"), np.timedelta64(5), np.complex128(1j),
        np.float32("nan"), np.int8(3), np.bool_(True), np.str_("x"), log, fs.Cluster(4), fs.Torus(2, 2, 2), fs.Fcfs(),
        fs.EasyBackfill(), fs.JobState.RUNNING, fs.Blind(), len,
    ]  # fmt: skip
    made: list[Callable[[], Any]] = [
        list, lambda: [None], lambda: [1, 2, 3], lambda: [0, 1, 1, 0], lambda: [1, [2, 3]], lambda: [[1, 2], [3]],
        lambda: [[1, 2], [3, 4]], lambda: ["x"], lambda: ["x", None, "y"], lambda: [float("nan")], lambda: [-1, 5],
        lambda: [2**63], lambda: [10**30, 1], lambda: ["a\0b", "\ud800"], lambda: [object()], lambda: [log, None],
        lambda: [log, log], lambda: [1 + 2j], lambda: [True, None], lambda: [np.ma.masked, 1], lambda: [b"x"],
        dict, lambda: {"x": None}, lambda: {None: 1}, lambda: {"x": [1, 2]}, lambda: {"x": float("nan")},
        lambda: {(1, 2): 3}, lambda: {1, 2}, lambda: {"nodes": 4}, lambda: np.array([]), lambda: np.array(5),
        lambda: np.array([1, 2, 3]), lambda: np.array([1.0, np.nan]), lambda: np.array([[1, 2], [3, 4]]),
        lambda: np.array(["x", "y"]), lambda: np.array([None, 1], object), lambda: np.array([1j, 2]),
        lambda: np.array([True, False]), lambda: np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        lambda: np.array(["NaT", "2020-01-01"], "M8[s]"), lambda: np.array(["NaT", 1], "m8[s]"),
        lambda: np.zeros((2, 0)), lambda: np.zeros(3, [("a", int)]), lambda: iter([1, 2]), lambda: (x for x in "ab"),
        lambda: object(), Foreign, Unusable, lambda: Foreign, lambda: lambda *_, **__: None, lambda: bytearray(b"ab"),
        lambda: memoryview(b"ab"), lambda: types.SimpleNamespace(name=None), lambda: io.StringIO("x"),
        lambda: io.BytesIO(b"x"), lambda: np.random.default_rng(1),
    ]  # fmt: skip
    with contextlib.suppress(ImportError):
        import pandas as pd

        frame = pd.DataFrame({"x": [1, 2], "submit": [None, "a"]})
        made += [lambda: frame, lambda: pd.Series([1, None]), lambda: pd.Series(["x"])]
        plain += [pd.NA, pd.NaT]
    found: dict[str, Callable[[], Any]] = {}
    for value in plain:
        found[f"{value!r:.40}"] = lambda value=value: value
    for each in made:
        found[f"{each()!r:.40}".split(" at 0x")[0] + f" #{len(found)}"] = each
    return found


class Call(NamedTuple):
    """A call that works: what is called, by which name, and its arguments by the names of its parameters."""

    name: str
    function: Callable[..., Any]
    owner: Any  #: the object of a method, None for a function
    arguments: dict[str, Any]
    options: tuple[str, ...]  #: further keyword arguments that the signature shows


def subjects() -> dict[types.CodeType, tuple[str, str, Any]]:
    """Code of a public function or method -> its name, its last part, and the class or function."""
    found: dict[types.CodeType, tuple[str, str, Any]] = {}
    for prefix, module in MODULES.items():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                for part in dir(thing):
                    if part.startswith("_") and part not in ("__init__", "__new__", *DUNDERS):
                        continue
                    if part in fs.checks.INTERNAL or part in ("call", "get_attr", "set_attr"):  # names of others
                        continue
                    if thing is fs.Result and part == "__init__":  # results are made by runs
                        continue
                    member = inspect.getattr_static(thing, part)
                    function = inspect.unwrap(getattr(member, "__func__", member))
                    if hasattr(function, "__code__") and _is_ours(function):
                        found.setdefault(function.__code__, (f"{prefix}{name}.{part}", part, thing))
            elif callable(thing):
                function = inspect.unwrap(thing)
                if hasattr(function, "__code__"):
                    found.setdefault(function.__code__, (f"{prefix}{name}", "", thing))
    return found


def _is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("faultsim")


def fresh(value: Any) -> Any:
    """A copy of what a call may change."""
    if isinstance(value, np.ndarray | fs.Simulation):
        return value.copy()
    return value.copy() if type(value) in (list, dict, set) else value


class Harvest:
    """Keeps the first calls of all subjects, such that every parameter is given in one of them, if it is in any."""

    def __init__(self) -> None:
        self.known, self.calls = subjects(), dict[str, list[Call]]()
        self.given: dict[str, set[str]] = {}

    def __call__(self, frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in self.known:
            sys.setprofile(None)
            try:
                self.keep(frame)
            finally:
                sys.setprofile(self)

    def keep(self, frame: types.FrameType) -> None:
        name, part, thing = self.known[frame.f_code]
        code, values = frame.f_code, frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:count])
        owner, function = None, thing
        if part:
            owner = values.get(names[0]) if names and names[0] in ("self", "cls") else None
            names = names[1:] if owner is not None else names
            if part in ("__init__", "__new__"):
                if type(owner) is not thing and owner is not thing:
                    return
                owner = None
            else:
                function = part
                owner = owner if owner is not None else thing
                if not isinstance(owner, thing) and not (isinstance(owner, type) and issubclass(owner, thing)):
                    return
        more = code.co_varnames[count : count + 2]
        arguments = {each: values[each] for each in names if each in values}
        star = bool(code.co_flags & inspect.CO_VARARGS)
        if star:
            arguments["*"] = tuple(values[more[0]])
        if code.co_flags & inspect.CO_VARKEYWORDS:
            arguments |= values[more[star]]
        shown = signature_of(function if callable(function) else getattr(owner, function))
        defaults = {each.name: each.default for each in shown}
        new = {key for key, value in arguments.items() if not _same(defaults.get(key, ...), value)}
        seen = self.given.setdefault(name, set())
        if name in self.calls and new <= seen:
            return
        seen |= new
        kept = {key: fresh(value) for key, value in arguments.items()}
        options = tuple(each.name for each in shown if each.name not in kept and each.kind == each.KEYWORD_ONLY)
        self.calls.setdefault(name, []).append(Call(name, function, fresh(owner), kept, options))


def _same(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except Exception:
        return False


def signature_of(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def harvest() -> dict[str, list[Call]]:
    """Run all examples; call it in a folder that may be written to."""
    keep, finder, held = Harvest(), doctest.DocTestFinder(), io.StringIO()
    for module in MODULES.values():
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, types.ModuleType) or not callable(thing):
                continue
            for example in finder.find(thing, name, globs={"fs": fs}):
                names: dict[str, Any] = {"fs": fs, "__name__": "__main__"}
                for part in example.examples:
                    with contextlib.redirect_stdout(held), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        sys.setprofile(keep)
                        try:
                            exec(compile(part.source, "<example>", "single"), names)
                        except Exception:
                            if part.exc_msg is None:
                                raise
                        finally:
                            sys.setprofile(None)
    for call in made_calls():
        keep.calls.setdefault(call.name, []).append(call)
    for name, call in uncalled(keep.calls).items():
        keep.calls[name] = [call]
    return keep.calls


def uncalled(calls: dict[str, list[Call]]) -> dict[str, Call]:
    """Calls of methods that no example makes, on an object that one makes, with None for what they need."""
    owners = {type(call.owner): call.owner for each in calls.values() for call in each}
    found = {}
    for name, part, thing in subjects().values():
        made = [call for call in calls.get(f"{name.rpartition('.')[0]}.__init__", ()) if "*" not in call.arguments]
        owner = owners.get(thing) or (Make(lambda call=made[0]: call.function(**call.arguments)) if made else None)
        shown = signature_of(getattr(thing, part))[1:] if part and not part.startswith("__init") else []
        if name not in calls and owner is not None and shown:
            needed = [each for each in shown if each.default is each.empty and each.kind < each.VAR_POSITIONAL]
            rest = tuple(each.name for each in shown if each not in needed and each.kind in (1, 3))
            found[name] = Call(name, part, owner, dict.fromkeys((each.name for each in needed), None), rest)
    return found


# -- objects that change


def decision(kind: str = "schedule") -> Decision:
    """A decision of a run with two waiting jobs and two that run."""
    log = fs.Workload([0, 0, 0, 0, 50], [50, 60, 30, 20, 5], [2, 1, 4, 1, 1], estimate=[60, 60, 60, 60, 60])
    trace = fs.FailureTrace([20, 40], [0, 2], 5.0, span=100)
    sim = fs.Simulation(
        log, fs.Cluster(4), scheduler=fs.External(at=["schedule", "failure"]), failures=trace, predictor=fs.Perfect()
    )
    found = sim.advance()
    found.start(0)
    found.start(1)
    if kind == "failure":
        while found.kind != "failure":
            found = sim.advance()
    HELD.append(sim)
    del HELD[:-9]
    return found


HELD: list[Any] = []


def live() -> fs.Simulation:
    log = fs.Workload([0, 0, 0], [50, 60, 30], [2, 1, 4], estimate=[60, 60, 60])
    sim = fs.Simulation(log, fs.Cluster(4), live=9, scheduler=fs.EasyBackfill())
    sim.advance(until=5)
    return sim


def queue() -> fs.EventQueue:
    found = fs.EventQueue(4)
    found.push(1.0, 0, 0)
    return found


def environment(name: str) -> Callable[[], Any]:
    def make() -> Any:
        log = fs.Workload(np.arange(12.0), [9.0] * 12, [1, 2, 4] * 4)
        if name == "VectorPickJob":
            found = rl.VectorPickJob(2, log=log, machine=fs.Cluster(4), jobs=8)
        elif name == "PickBox":
            found = rl.PickBox(fs.Workload(np.arange(12.0), [9.0] * 12, [1, 2, 4] * 4), fs.Torus(2, 2, 2))
        elif name == "Respond":
            trace = fs.FailureTrace([20, 40], [0, 2], 5.0, span=100)
            found = rl.Respond(log, fs.Cluster(4), failures=trace)
        else:
            found = rl.PickJob(log, fs.Cluster(4), jobs=8)
        found.reset(seed=1)
        return found

    return make


def made_calls() -> Iterator[Call]:
    """Calls of objects that change: the owner is a function without a name of its own, which makes it."""

    def call(owner: str, make: Callable[[], Any], method: str, /, **arguments: Any) -> Call:
        return Call(f"{owner}.{method}", method, Make(make), arguments, ())  # type: ignore[arg-type]

    for method, given in {
        "start": {"job": 3, "nodes": [3]}, "fits": {"job": 2}, "boxes": {"job": 2, "size": 2}, "slices": {"job": 2},
        "expected_end": {"job": 0, "at": 5.0}, "shadow": {"job": 2}, "wake": {"at": 30.0}, "foreseen": {"window": 30.0},
        "may_backfill": {"job": 3, "head": 2, "max_growth": 1}, "backfill": {"job": 3, "head": 2, "max_growth": 1},
        "requeue": {"job": 0}, "hold": {"job": 3}, "kill": {"job": 0}, "checkpoint": {"job": 0},
    }.items():  # fmt: skip
        yield call("Decision", decision, method, **given)
    yield call("Decision", decision, "start", job=3)
    yield call("Decision", decision, "start", job=3, box=[0, 0, 0, 1, 1, 1])
    yield call("Decision", decision, "start", job=3, cubes=[0])
    for method in ("requeue", "kill", "checkpoint", "hold"):
        yield call("Decision", lambda: decision("failure"), method, job=1)
    yield call("Decision", lambda: decision("failure"), "move", job=0, nodes=[1, 3], live=True, checkpoint_cost=1.0)
    for kind in ("queue", "running"):
        for method, given in {"row": {"job": 3}, "__getitem__": {"i": 0}, "__contains__": {"job": 0}}.items():
            if hasattr(getattr(decision(), kind), method):
                yield call(f"Decision.{kind}", lambda kind=kind: getattr(decision(), kind), method, **given)
    for method, given in {
        "finish": {"job": 0}, "extend": {"job": 0, "seconds": 5.0}, "fail": {"node": 3, "downtime": 5.0},
        "down": {"node": 3}, "up": {"node": 3}, "foresee": {"node": 1, "begin": 9.0, "end": 20.0},
        "submit": {"log": fs.Workload([9], [9], [2], id=[7])}, "advance": {"until": 9.0}, "run": {"until": 9.0},
        "job": {"job": 0}, "why": {"job": 2}, "rollout": {"scheduler": fs.Fcfs()},
    }.items():  # fmt: skip
        if hasattr(fs.Simulation, method):
            names = [each.name for each in signature_of(getattr(fs.Simulation, method))][1:]
            yield call("Simulation", live, method, **dict(zip(names, given.values(), strict=False)))
    for method, given in {"push": {"time": 2.0, "kind": 1}, "cancel": {"event": 0}}.items():
        if hasattr(fs.EventQueue, method):
            names = [each.name for each in signature_of(getattr(fs.EventQueue, method))][1:]
            yield call("EventQueue", queue, method, **dict(zip(names, given.values(), strict=False)))
    if rl:
        for name in ("PickJob", "PickBox", "Respond", "VectorPickJob"):
            given = {"actions": np.array([0, 0])} if name == "VectorPickJob" else {"action": 0}
            yield call(f"rl.{name}", environment(name), "step", **given)
            yield call(f"rl.{name}", environment(name), "reset", seed=1, options=None)


class Make:
    """A call's owner that is made anew for each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


# -- changed calls


class Changed(NamedTuple):
    """A call with odd values: parameter -> the word of a value."""

    call: Call
    odd: dict[str, str]

    def __str__(self) -> str:
        return f"{self.call.name}({', '.join(f'{key}={word}' for key, word in self.odd.items())})"


def places(call: Call) -> list[str]:
    """Where an odd value may stand: each argument, each element of ``*arguments``, and what else the signature has."""
    found = [key for key in call.arguments if key != "*"]
    found += [f"*{i}" for i in range(min(3, len(call.arguments.get("*", ()))))] or ["*0"] * ("*" in call.arguments)
    return [*found, *call.options]


def systematic(calls: dict[str, list[Call]], words: list[str]) -> Iterator[Changed]:
    """Each parameter of each call with each odd value, once."""
    for name in sorted(calls):
        done: set[str] = set()
        for call in reversed(calls[name]):
            for key in places(call):
                if key not in done:
                    done.add(key)
                    for word in words:
                        yield Changed(call, {key: word})


def at_random(calls: dict[str, list[Call]], words: list[str], draw: random.Random) -> Iterator[Changed]:
    """One to three arguments of any call changed, or what stands inside one (``name/``)."""
    names = sorted(calls)
    while True:
        call = draw.choice(calls[draw.choice(names)])
        keys = places(call)
        if keys:
            chosen = draw.sample(keys, min(len(keys), draw.choice((1, 1, 2, 3))))
            yield Changed(call, {key + draw.choice(("", "", "/")): draw.choice(words) for key in chosen})


def inside(value: Any, odd: Any) -> Any:
    """A container with one element that is odd."""
    if isinstance(value, dict) and value:
        return {**value, next(iter(value)): odd}
    if isinstance(value, list | tuple) and len(value) and type(value) in (list, tuple):
        return type(value)([*value[:-1], odd])
    if isinstance(value, np.ndarray) and value.ndim:
        return [*value.tolist()[:-1], odd]
    return [odd]


def act(changed: Changed, odd: dict[str, Callable[[], Any]]) -> Any:
    """Make the call; and look at what it gives."""
    call = changed.call
    arguments = {key: fresh(value) for key, value in call.arguments.items()}
    star = list(arguments.pop("*", ()))
    for key, word in changed.odd.items():
        value, name = odd[word](), key.rstrip("/")
        if name.startswith("*"):
            at = int(name[1:])
            star[at : at + 1] = [inside(star[at], value) if key.endswith("/") and at < len(star) else value]
        else:
            arguments[name] = inside(arguments.get(name), value) if key.endswith("/") else value
    owner = call.owner.make() if isinstance(call.owner, Make) else fresh(call.owner)
    function = call.function if callable(call.function) else getattr(owner, call.function)
    shown = {each.name: each for each in signature_of(function)}
    first = [] if not star and "*" not in call.arguments else [
        arguments.pop(key) for key in list(arguments)
        if key in shown and shown[key].kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]  # fmt: skip
    for key in list(arguments):
        if key in shown and shown[key].kind is inspect.Parameter.POSITIONAL_ONLY:
            first.append(arguments.pop(key))
    given = function(*first, *star, **arguments)
    if isinstance(given, Iterator):
        for _, _ in zip(range(5), given, strict=False):
            pass
    repr(given)
    return given
