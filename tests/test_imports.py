"""The import arrows of the architecture, and what `import faultsim` may cost."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import faultsim
from faultsim.cli.app import COMMANDS
from faultsim.policies.registry import MACHINES, POLICIES, WRITTEN

PACKAGE = Path(faultsim.__file__).parent


def modules(paths: Iterable[str | Mapping[str, str]]) -> set[str]:
    """The modules that rows of the registry name as module:object, for all machines or by machine."""
    each = [path for row in paths for path in ([row] if isinstance(row, str) else row.values())]
    return {path.partition(":")[0] for path in each if path}


ROWS = (*POLICIES, *WRITTEN)
#: Folder of modules that are imported by the name that a table has for them -> those names.
NAMED_IN = {
    "faultsim._core.": modules(
        (*(row.compiled for row in ROWS), *(path for row in MACHINES.values() for path in (row.counted, row.named)))
    ),
    "faultsim.reference.": modules(row.reference for row in ROWS),
    "faultsim.cli.": COMMANDS,
}

PAGE = (PACKAGE.parent / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")

#: What every room may use.
COMMON = {"errors", "checks", "version"}
#: Modules beside the folders, and what they import; "faultsim" is the package itself, which gathers the public names.
SINGLE = {"errors": set(), "version": set(), "include": set(), "checks": {"errors"}, "__main__": {"cli"}}


def arrows() -> dict[str, set[str]]:
    """Room -> the rooms that it may import, by the table of the page; every room may import itself."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    found = SINGLE | {name: set(re.findall(r"`(\w+)`", targets)) | COMMON for name, targets in rows}
    everything = {*found, "faultsim"}
    found |= {name: everything for name, targets in rows if targets.strip() == "everything"}
    return found | {"faultsim": set(found)}


ARROWS = arrows()


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
            if isinstance(first, ast.JoinedStr):  # modules that a table names: it can only be one of these
                folder, _, _ = ast.unparse(first)[2:].partition("{")
                found |= {folder + name for name in NAMED_IN[folder]}
                continue
            assert isinstance(first, ast.Constant), f"{path}:{node.lineno}: an import whose name cannot be read"
            found.add(first.value)
    return {name for name in found if name.split(".")[0] == "faultsim"}


CYTHON_IMPORT = re.compile(
    r"^[ \t]*(?:from\s+(\.*)([\w.]*)\s+c?import\s+(\([^)]*\)|[\w, ]+)|c?import\s+(faultsim[\w.]*))", re.MULTILINE
)


def cython_imports(path: Path) -> set[str]:
    found = set()
    for dots, source, names, plain in CYTHON_IMPORT.findall(path.read_text(encoding="utf-8")):
        if plain:
            found.add(plain)
            continue
        source = absolute(path, len(dots), source)
        for name in re.findall(r"\w+", re.sub(r"#.*", "", names)):
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


def circle(graph: dict[str, set[str]]) -> list[str]:
    """A circle of a graph, if it has one."""
    try:
        TopologicalSorter({node: targets - {node} for node, targets in graph.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def graph_of(name: Callable[[str], str]) -> dict[str, set[str]]:
    """What imports what, modules taken together by name."""
    graph: dict[str, set[str]] = {}
    for importer, target in EDGES:
        graph.setdefault(name(importer), set()).add(name(target))
    return graph


def folder(module: str) -> str:
    """The innermost folder of a module; a module beside folders stands for itself."""
    path = PACKAGE.joinpath(*module.split(".")[1:-1])
    alone = any(entry.is_dir() and entry.name != "__pycache__" for entry in path.iterdir())
    return module if alone else module.rpartition(".")[0]


def test_every_room_is_on_the_page():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert folders | modules | {"faultsim"} == set(ARROWS)


def test_imports_follow_the_arrows():
    against = [
        f"{importer} imports {target}"
        for importer, target in EDGES
        if room(target) not in {room(importer)} | ARROWS[room(importer)]
    ]
    assert not against, "against the table of docs/background/architecture.md:\n  " + "\n  ".join(against)


def test_every_arrow_is_needed():
    used = graph_of(room)
    spare = {name: targets - COMMON - used[name] for name, targets in ARROWS.items() if name in used}
    del spare["cli"], spare["faultsim"]
    assert not any(spare.values()), spare


def test_arrows_lead_down_the_picture():
    (picture,) = (text for text in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if text.startswith("cli\n"))
    level = {name: row for row, line in enumerate(picture.splitlines()) for name in line.split()}
    assert set(level) == set(ARROWS) - {"faultsim", "__main__"}
    upward = [(a, b) for a in level for b in ARROWS[a] - {a} if b in level and level[b] <= level[a]]
    assert not upward


def test_arrows_of_the_core_lead_down_its_picture():
    (picture,) = (text for text in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if text.startswith("engine\n"))
    level = {name: row for row, line in enumerate(picture.splitlines()) for name in line.split()}
    core = PACKAGE / "_core"
    parts = {path.parent.name for path in core.glob("*/__init__.py")} | {path.stem for path in core.glob("*.p[yx]*")}
    assert set(level) == parts - {"__init__"}
    inside = [[name.split(".")[2] for name in edge if name.startswith("faultsim._core.")] for edge in EDGES]
    upward = [edge for edge in inside if len(set(edge)) == 2 and level[edge[1]] <= level[edge[0]]]
    assert not upward


@pytest.mark.parametrize("name", [str, folder], ids=["modules", "folders"])
def test_nothing_imports_in_a_circle(name):
    found = circle(graph_of(name))
    assert not found, " -> ".join(found)


def test_the_reader_of_imports_sees_every_kind():
    importers = {importer for importer, _ in EDGES}
    assert {"faultsim", "faultsim.kernels.event_queue"} <= importers
    assert ("faultsim.kernels.knapsack", "faultsim._core.fars.knapsack") in EDGES
    assert ("faultsim.kernels.knapsack", "faultsim.errors") in EDGES
    assert ("faultsim._core.engine", "faultsim._core.state") in EDGES  # a cimport over several lines


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
from faultsim.simulation.core_engine import core_engine
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
