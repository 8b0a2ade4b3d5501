"""What other processes can have of the caller's policies and metrics: by name, by value, or not at all."""

import importlib
import io
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from faultsim.errors import WorkerError

_FAILS = (pickle.PicklingError, AttributeError, TypeError)  # it depends on the version of Python


def of_main(things: Iterable[object]) -> list[str]:
    """Names of the classes and functions of the main program that a process needs to make these things.

    Examples
    --------
    >>> import faultsim as fs
    >>> of_main([fs.Fcfs(), fs.Perfect()])
    []
    """
    names: dict[str, None] = {}

    class Noting(pickle.Pickler):
        def reducer_override(self, obj: object) -> Any:
            if getattr(obj, "__module__", "") == "__main__" and hasattr(obj, "__qualname__"):
                names[obj.__qualname__] = None
            return NotImplemented

    for thing in {id(thing): thing for thing in things}.values():
        try:
            Noting(io.BytesIO()).dump(thing)
        except _FAILS:
            continue  # which `by_value` says
    return list(names)


def lacking(names: Iterable[str]) -> list[str]:
    """Those that the main program, as this process has imported it, does not have.

    Examples
    --------
    >>> lacking(["NoSuchClass"])
    ['NoSuchClass']
    """
    return [name for name in names if not _found(name)]


def _found(name: str) -> bool:
    at: object = sys.modules["__main__"]
    for part in name.split("."):
        if not hasattr(at, part):
            return False
        at = getattr(at, part)
    return True


def by_value(
    things: Mapping[str, object], missing_of: Callable[[list[str]], list[str]]
) -> Callable[[object], bytes] | None:
    """How to send things that other processes do not find by their names; None if they find all.

    Parameters
    ----------
    things : mapping of str to object
        Policies and metrics, by what messages call them.
    missing_of : callable
        Which names of the main program the other processes lack.

    Raises
    ------
    WorkerError
        If they cannot be sent, with what is missing, before any work begins.

    Examples
    --------
    >>> import faultsim as fs
    >>> by_value({"a policy": fs.Fcfs()}, lacking) is None
    True
    """
    why = _stuck(things, pickle.dumps)
    if not why:
        of = {what: of_main([thing]) for what, thing in things.items()}
        names = list(dict.fromkeys(name for found in of.values() for name in found))
        missing = missing_of(names) if names else []
        if not missing:
            return None
        what = next(what for what, found in of.items() if missing[0] in found)
        why = f"{what} needs {missing[0]}, which other processes do not find: {advice()}"
    try:
        cloudpickle: Any = importlib.import_module("cloudpickle")
    except ImportError:
        raise WorkerError(f'{why}, or install what sends it as it is: pip install "faultsim[processes]"') from None
    if stuck := _stuck(things, cloudpickle.dumps):
        raise WorkerError(stuck)
    dumps: Callable[[object], bytes] = cloudpickle.dumps
    return dumps


def _stuck(things: Mapping[str, object], dumps: Callable[[object], bytes]) -> str:
    """What cannot be sent, and why; empty if all can."""
    for what, thing in things.items():
        try:
            dumps(thing)
        except _FAILS as error:
            kind = "class" if what == "a policy" else "function"
            return f"{what} cannot be sent to other processes unless its {kind} is defined in a module: {error}"
    return ""


def advice() -> str:
    """Where to define what a process lacks.

    Examples
    --------
    >>> "define it in a module" in advice()
    True
    """
    if getattr(sys.modules["__main__"], "__file__", None) is None:
        return "other processes cannot import an interactive session or standard input: define it in a module"
    return "other processes import the script without what is below if __name__ == '__main__', so define it in a module"
