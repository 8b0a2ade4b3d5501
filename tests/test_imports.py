"""The import arrows of the architecture, and what `import faultsim` may cost."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import faultsim

PACKAGE = Path(faultsim.__file__).parent

# What every room may use: errors, checks of options, and the version.
BASE = {"errors", "checks", "version"}
MODEL = BASE | {"data", "machines", "policies"}

# Room -> the rooms it may import; every room may import itself.  A room is a folder, or a module beside the folders;
# "faultsim" is the package itself, which gathers the public names: only the command line reads from it.
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "include": set(),
    "checks": {"errors"},
    "_core": set(),
    "reference": BASE,
    "data": BASE,
    "machines": BASE | {"data"},
    "policies": BASE | {"data"},
    "kernels": BASE | {"machines", "_core"},
    "readers": BASE | {"data"},
    "synthetic": BASE | {"data"},
    "results": BASE | {"data", "machines"},
    # The reference engine is an engine too: `simulate(..., engine="reference")`.
    "simulation": MODEL | {"results", "_core", "reference"},
    "sweep": MODEL | {"readers", "synthetic", "simulation", "results"},
    "plot": BASE | {"results"},
    "report": BASE | {"results", "plot"},
    "reproduce": MODEL | {"readers", "synthetic", "simulation", "results", "kernels", "plot", "report"},
    "bench": MODEL | {"simulation", "kernels", "reference", "_core"},
}
ARROWS["faultsim"] = set(ARROWS)
ARROWS["cli"] = set(ARROWS)
ARROWS["__main__"] = {"cli"}
GATHERS = ("faultsim", "cli", "__main__")


def module_name(path: Path) -> str:
    parts = ["faultsim", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    """The folder that holds a module."""
    return module.split(".")[1] if "." in module else module


def absolute(importer: Path, level: int, module: str | None) -> str:
    """The full name behind a relative import."""
    if level == 0:
        return module or ""
    package = module_name(importer).split(".")
    if importer.stem != "__init__":
        package = package[:-1]
    base = package[: len(package) - level + 1]
    return ".".join([*base, *([module] if module else [])])


def is_module(name: str) -> bool:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path.is_dir() or any(path.with_suffix(end).exists() for end in (".py", ".pyx", ".pyi"))


def python_imports(path: Path) -> set[str]:
    """Every faultsim module that a Python file imports: at the top, in functions, relatively, by name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = absolute(path, node.level, node.module)
            for alias in node.names:
                full = f"{source}.{alias.name}"
                found.add(full if source.split(".")[0] == "faultsim" and is_module(full) else source)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
            "import_module",
            "__import__",
            "extra",  # `faultsim.checks.extra`
        ):
            first = node.args[0] if node.args else None
            if path.name == "checks.py" and isinstance(first, ast.Name):
                continue  # what it is called with is read where it is called
            assert isinstance(first, ast.Constant), f"{path}:{node.lineno}: an import whose name cannot be read"
            found.add(first.value)
    return {name for name in found if name.split(".")[0] == "faultsim"}


CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+(\.*)([\w.]*)\s+c?import\s+(\(?[\w, ]+)|c?import\s+(faultsim[\w.]*))")


def cython_imports(path: Path) -> set[str]:
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := CYTHON_IMPORT.match(line):
            dots, source, names, plain = match.groups()
            if plain:
                found.add(plain)
                continue
            source = absolute(path, len(dots), source)
            for name in re.findall(r"\w+", names):
                full = f"{source}.{name}"
                found.add(full if source.split(".")[0] == "faultsim" and is_module(full) else source)
    return {name for name in found if name.split(".")[0] == "faultsim"}


def edges() -> list[tuple[str, str]]:
    found = []
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".pyi"):
            targets = python_imports(path)
        elif path.suffix in (".pyx", ".pxd"):
            targets = cython_imports(path)
        else:
            continue
        found += [(module_name(path), target) for target in sorted(targets)]
    return found


EDGES = edges()


def test_every_module_has_a_room():
    rooms = {room(module) for edge in EDGES for module in edge}
    assert rooms <= set(ARROWS), f"give these a row in ARROWS: {sorted(rooms - set(ARROWS))}"


def test_imports_follow_the_arrows():
    against = [
        f"{importer} imports {target}"
        for importer, target in EDGES
        if room(target) != room(importer) and room(target) not in ARROWS.get(room(importer), set())
    ]
    assert not against, "against the arrows of the architecture:\n  " + "\n  ".join(against)


def test_arrows_have_no_circle():
    # The package itself gathers from every room, and only the command line reads from it.
    left = {name: targets - {"faultsim"} for name, targets in ARROWS.items() if name not in GATHERS}
    while left:
        free = [name for name, targets in left.items() if not targets & set(left)]
        assert free, f"a circle among {sorted(left)}"
        for name in free:
            del left[name]


def test_the_reader_of_imports_sees_every_kind():
    importers = {importer for importer, _ in EDGES}
    assert {"faultsim", "faultsim.kernels.event_queue"} <= importers
    assert ("faultsim.kernels.knapsack", "faultsim._core.fars.knapsack") in EDGES
    assert ("faultsim.kernels.knapsack", "faultsim.errors") in EDGES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from . import simulate", {"faultsim.simulate"}),
        ("from .errors import InputError", {"faultsim.errors"}),
        ("def f():\n    from faultsim import errors", {"faultsim.errors"}),
        ("from faultsim import __version__", {"faultsim"}),
        ("import faultsim.cli as c", {"faultsim.cli"}),
        ("import importlib\nimportlib.import_module('faultsim.plot')", {"faultsim.plot"}),
        ("checks.extra('faultsim.plot', 'plot', 'this')", {"faultsim.plot"}),
        ("import numpy", set()),
    ],
)
def test_python_imports_are_read(tmp_path, monkeypatch, text, expected):
    # Beside the real modules, so that `from . import name` can tell a module from a name.
    monkeypatch.setattr(f"{__name__}.is_module", lambda name: name.rsplit(".", 1)[1] in ("simulate", "errors"))
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    path = tmp_path / "case.py"
    path.write_text(text, encoding="utf-8")
    assert python_imports(path) == expected


FRESH = """
import json, sys
before = set(sys.modules)
import faultsim
print(json.dumps(sorted({name.split(".")[0] for name in set(sys.modules) - before})))
"""


def test_import_pulls_in_numpy_only():
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", FRESH], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(json.loads(done.stdout)) - set(sys.stdlib_module_names)
    # Cython keeps its own types in modules of its own, one named after its version.
    expected = {"faultsim", "numpy", "cython_runtime"}
    strangers = {name for name in loaded - expected if not name.startswith("_cython_")}
    assert not strangers, f"import faultsim also imports {sorted(strangers)}"
    assert "numpy" in loaded
