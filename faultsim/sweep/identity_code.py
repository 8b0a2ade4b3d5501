"""What identifies code: the constants of a function, the globals that it uses, the members of a class.

Code of the caller is read: of ``__main__``, of modules that are not installed, and of the package in which the object
at hand is defined.  Other installed code, and that of Python and faultsim, is identified by its name.
"""

import dis
import functools
import sys
import types
from collections.abc import Iterator, Mapping

#: Packages that are never read, although a policy or metric may be one of their functions.
_LIBRARIES = {"faultsim", "numpy", "scipy", "pandas", *sys.builtin_module_names, *sys.stdlib_module_names}
#: Members of classes without an effect on what methods compute, or that Python adds when a class is used.
_NO_CONTENT = {"_abc_impl", "__annotate__", "__annotate_func__"}


def home_of(thing: object) -> set[str]:
    """The package in which an object or its class is defined.

    Examples
    --------
    >>> home_of(home_of), home_of(functools.partial(max, 1))
    (set(), set())
    """
    while isinstance(thing, functools.partial):
        thing = thing.func
    modules = (getattr(thing, "__module__", None), type(thing).__module__)
    return {str(name).partition(".")[0] for name in modules if name} - _LIBRARIES


def is_own(module: str | None, home: set[str]) -> bool:
    """Whether the code of a module is read.

    Examples
    --------
    >>> is_own("json.decoder", set()), is_own("__main__", set()), is_own("hypothesis", {"hypothesis"})
    (False, True, True)
    """
    top = str(module).partition(".")[0]
    if top in home or top in ("__main__", "__mp_main__"):
        return True
    if top in _LIBRARIES:
        return False
    file = getattr(sys.modules.get(str(module)), "__file__", None) or ""
    return not any(f"{folder}-packages" in file for folder in ("site", "dist"))


def module_of(thing: object, name: str) -> str | None:
    """The module in which an object is found under a name; None if it is in none.

    Examples
    --------
    >>> import numpy as np
    >>> module_of(np.add, "add"), module_of(np.mean, "mean"), module_of(lambda: 0, "<lambda>")
    ('numpy', 'numpy', None)
    """
    given = getattr(thing, "__module__", None)
    if given is not None:
        return given if _attribute(given, name) is thing else None
    # A ufunc: the installed module with the shortest name, which does not depend on what else is imported.
    found = [module for module in list(sys.modules) if _attribute(module, name) is thing and not is_own(module, set())]
    return min(found, key=lambda module: (module.count("."), module), default=None)


def _attribute(module: str, name: str) -> object:
    first, *rest = name.split(".")
    # Not by `getattr` of the module, at which some import others or warn.
    found = getattr(sys.modules.get(module), "__dict__", {}).get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found


def code_parts(code: types.CodeType) -> list[object]:
    """What a code object computes, without names of files and numbers of lines.

    Examples
    --------
    >>> code_parts((lambda x: x + 1).__code__) == code_parts((lambda x: x + 2).__code__)
    False
    """
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return [code.co_code, code.co_exceptiontable, arguments, names, code.co_consts]


@functools.lru_cache(1024)
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """Names that code looks up among globals, and that of functions within it."""
    found = [
        str(one.argval)
        for one in dis.get_instructions(code)
        if one.opname == "LOAD_NAME" or ("GLOBAL" in one.opname and one.opname.startswith("LOAD"))
    ]
    found += [name for inner in _inner(code) for name in _global_names(inner)]
    return tuple(dict.fromkeys(found))


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def _all_names(code: types.CodeType) -> set[str]:
    return {*code.co_names, *(name for inner in _inner(code) for name in _all_names(inner))}


def used_globals(function: types.FunctionType, home: set[str]) -> dict[str, object]:
    """The globals that a function uses by name; of the caller's modules, what it may use of them as well.

    Examples
    --------
    >>> sorted(used_globals(used_globals, {"faultsim"}))[:3]
    ['_all_names', '_global_names', '_of_module']
    """
    code, known = function.__code__, function.__globals__
    found: dict[str, object] = {name: known[name] for name in _global_names(code) if name in known}
    for name, value in list(found.items()):
        if isinstance(value, types.ModuleType) and is_own(value.__name__, home):
            found |= _of_module(name, value, _all_names(code), home, set())
    return found


def _of_module(
    called: str, module: types.ModuleType, names: set[str], home: set[str], seen: set[int]
) -> dict[str, object]:
    """What a module has under these names, and its modules."""
    seen.add(id(module))
    found: dict[str, object] = {}
    for name in sorted(names & vars(module).keys()):
        value = vars(module)[name]
        found[f"{called}.{name}"] = value
        if isinstance(value, types.ModuleType) and is_own(value.__name__, home) and id(value) not in seen:
            found |= _of_module(f"{called}.{name}", value, names, home, seen)
    return found


def class_parts(cls: type) -> tuple[tuple[type, ...], Mapping[str, object]]:
    """Its bases, and its members that have an effect on what its methods compute.

    Examples
    --------
    >>> class Rule:
    ...     factor = 2
    >>> class_parts(Rule)
    ((<class 'object'>,), {'factor': 2})
    """
    members = {
        name: value
        for name, value in vars(cls).items()
        if name not in _NO_CONTENT and (not (name.startswith("__") and name.endswith("__")) or callable(value))
    }
    return cls.__bases__, members
