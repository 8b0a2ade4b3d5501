"""Whether other processes find the classes of policies that are defined in the program itself."""

import io
import pickle
import sys
from collections.abc import Iterable
from typing import Any

from faultsim.policies.base import Policy


def of_main(policies: Iterable[object]) -> list[str]:
    """Names of the classes and functions of the main program that a process needs to make these policies.

    Examples
    --------
    >>> import faultsim as fs
    >>> of_main([fs.Fcfs(), fs.Perfect()])
    []
    """
    names: dict[str, None] = {}
    own = vars(sys.modules["__main__"]).values()
    if not any(isinstance(value, type) and issubclass(value, Policy) for value in own):
        return []

    class Noting(pickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if getattr(obj, "__module__", "") == "__main__" and hasattr(obj, "__qualname__"):
                names[obj.__qualname__] = None
            return NotImplemented

    for policy in {id(policy): policy for policy in policies}.values():
        try:
            Noting(io.BytesIO()).dump(policy)
        except (pickle.PicklingError, AttributeError, TypeError):
            continue  # which is said when it is sent
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
    at: Any = sys.modules["__main__"]
    for part in name.split("."):
        if not hasattr(at, part):
            return False
        at = getattr(at, part)
    return True


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
