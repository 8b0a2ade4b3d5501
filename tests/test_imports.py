"""The import arrows of the architecture, and what `import faultsim` may cost."""

import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import faultsim
from faultsim.cli.app import COMMANDS
from faultsim.policies.registry import MACHINES, POLICIES, WRITTEN
from helpers.scripts import python, script

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
    "faultsim.": {module or name for name, module in faultsim._LATER.items()},
}

PAGE = (PACKAGE.parent / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")

#: What every room may use.
COMMON = {"arrays", "errors", "checks", "entries", "rates", "renames", "version", "vocabulary"}
#: Modules beside the folders, and what they import; "faultsim" is the package itself, which gathers the public names.
SINGLE = {
    "arrays": set(),
    "errors": set(),
    "version": set(),
    "include": {"entries"},
    "vocabulary": {"errors"},
    "checks": {"errors", "renames", "vocabulary"},
    "entries": {"checks", "errors"},
    "rates": {"checks", "errors"},
    "renames": {"errors"},
    "__main__": {"cli"},
}


def arrows() -> dict[str, set[str]]:
    """Room -> the rooms that it may import, by the table of the page; every room may import itself."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    found = SINGLE | {name: set(re.findall(r"`(\w+)`", targets)) | COMMON for name, targets in rows}
    everything = {*found, "faultsim"}
    found |= {name: everything for name, targets in rows if targets.strip() == "everything"}
    return found | {"faultsim": set(found)}


ARROWS = arrows()


def room(module: str) -> str:
    """The folder that holds a module."""
    return module.split(".")[1] if "." in module else module


def read_graph() -> dict[str, set[str]]:
    """Module -> the modules that it imports or cimports, those included that a table names."""
    paths = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".pyi", ".pyx", ".pxd")]
    texts = {path.relative_to(PACKAGE.parent): path.read_text(encoding="utf-8") for path in paths}
    structure = script("structure")
    checkout = structure.Checkout(texts, {path: structure.without_words(path, text) for path, text in texts.items()})
    graph = structure.import_graph(checkout)
    for path, text in texts.items():
        for name in names_by_table(path, text) if path.suffix == ".py" else ():
            graph[structure.module_of(path)].add(name)
    return graph


def names_by_table(path: Path, text: str) -> set[str]:
    """The modules behind ``import_module(f"folder.{name}")``; any other name must be readable."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if called not in ("import_module", "__import__", "extra"):  # `faultsim.checks.extra`
            continue
        first = node.args[0] if node.args else None
        if path.name == "checks.py" and isinstance(first, ast.Name):
            continue  # what it is called with is read where it is called
        if isinstance(first, ast.JoinedStr):
            folder, _, _ = ast.unparse(first)[2:].partition("{")
            found |= {folder + name for name in NAMED_IN[folder]}
            continue
        assert isinstance(first, ast.Constant), f"{path}:{node.lineno}: an import whose name cannot be read"
    return found


EDGES = [(importer, target) for importer, targets in sorted(read_graph().items()) for target in sorted(targets)]


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


def test_arrows_lead_up_the_table():
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|[^|]*\|$", PAGE, re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == set(ARROWS) - {"faultsim"} - set(SINGLE)
    level = {name: row for row, name in enumerate(rows)}
    downward = [(a, b) for a in rows for b in ARROWS[a] - {a} if level.get(b, -1) > level[a]]
    assert not downward


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


FRESH = """
import json, sys
before = set(sys.modules)
import faultsim
from faultsim.simulation.core_engine import core_engine
print(json.dumps(sorted({name.split(".")[0] for name in set(sys.modules) - before})))
"""


def test_import_pulls_in_numpy_only():
    done = python("-c", FRESH, check=True)
    loaded = set(json.loads(done.stdout)) - set(sys.stdlib_module_names)
    # Cython keeps its own types in modules of its own, one named after its version, and what ours share in another.
    expected = {"faultsim", "numpy", "cython_runtime", "faultsim_memoryviews"}
    strangers = {name for name in loaded - expected if not name.startswith("_cython_")}
    assert not strangers, f"import faultsim also imports {sorted(strangers)}"
    assert "numpy" in loaded


#: What only some uses need, and what took a quarter of the time of the import when modules imported it at once.
LATE = {"bz2", "csv", "difflib", "hashlib", "html", "json", "logging", "lzma", "numpy.random", "pathlib", "zipfile"}
LEAN = f"""
import sys, numpy
before = set(sys.modules)
import faultsim
print(*sorted({LATE} & (set(sys.modules) - before)))
"""


def test_import_leaves_what_only_some_uses_need():
    assert python("-c", LEAN, check=True).stdout.split() == []
