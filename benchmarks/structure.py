"""Count what the structure of a checkout costs: files touched by one more part, import cycles, the largest struct.

    python benchmarks/structure.py [CHECKOUT] [--compare OLDER] [--json] [--files KIND] [--names]

Nothing is imported or built; a checkout is read as text, so one script measures every version of the repository by the
same rule.  ``--compare`` puts the counts of another checkout before those of this one.

Files for one more part
    Nobody can count the files of a part that does not exist, so an existing one stands for its kind: one that came
    late, needs code of its own in the compiled core and in the reference, and has a name that means nothing else.
    A file counts where it names that part by class, by registry word or by compiled function (`KINDS`; --files lists
    the files found).

    ===========  =====================================================================================================
    own          files of the package that exist only for the part: their path has its name
    code         other files of the package that name it in code: registries, dispatch, imports, formulas
    words        files of the package that name it only in docstrings, comments or help
    uses         files that only use the part as an example: studies, `faultsim.bench`, benchmarks/, docs/guides/ and
                 docs/tutorial.md
    tests, docs  files under tests/, and other pages of docs/ (generated pages of docs/reproductions are left out)
    ===========  =====================================================================================================

    "package" is own + code + words: what has to be written or edited for the part to exist.  A study is counted where
    it is the part itself, so for this kind the studies' own folder is part of the package, and nothing else uses it.
    For a machine there are two rows: files that decide by it (the class, a flag, its word, functions made for it), and
    files that name it in any way, its geometry included.

Names
    Structs, enums, functions, function types, extension types and constants that the core defines at module level with
    `cdef` or `ctypedef`, and fields of the tables of `_core/tables`.  A name counts if more than one file defines it (a
    .pyx and its .pxd are one).  Three kinds of files define one meaning together and count once: files that assign the
    function to the table's field of the same name (they implement one contract); files of one source that is compiled
    once per capacity (conservative_counted.pyx and conservative_placed.pyx, which include conservative.pxi; counts.pxi
    and masks.pxi, which define what it needs of a capacity); and files that define a function for the sources that they
    include, if the first comments of all these sources describe it in the same words, and its type is the same but for
    the first argument, the state of the scheduler (`try_start` for easy.pxi and backfill.pxi).  --names lists the names
    with their files.

Cycles
    Modules of the package that import one another in a circle: strongly connected components of all `import` and
    `cimport` statements, wherever they stand.  A .pyx, its .pxd and its .pyi are one module; a package's ``__init__``
    is a module of its own, and importing a submodule is no import of the packages around it.

Scheduling
    Lines of `_core/scheduling` that only conservative backfilling uses: of the files that its policies reach by
    `cimport` or `include`, and neither another policy nor a module outside that folder does.  A policy is a file that
    ends in a factory.

    Hops from `schedule` to the line that decides: calls between them, as the table of docs/background/architecture.md
    lists them; the largest number counts.

    Memories of refusals, and forms of free capacity over time: declarations that match `MEMORIES` and `TIMELINES`.
    Both lists were made by reading; they have what commit cc8bc2d had, too.
"""

import argparse
import ast
import io
import json
import re
import subprocess
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
CODE = (".py", ".pyi", ".pyx", ".pxd", ".pxi", ".h")
LONG = 500


@dataclass(frozen=True)
class Kind:
    """How the representative of a kind is recognised: in the text of a file, and in the path of a file of its own."""

    name: str
    text: str
    path: str


KINDS = (
    Kind("scheduler (ConservativeBackfill)", r"ConservativeBackfill|conservative(?![- ]\w)", r"conservative"),
    Kind("placement (SafestFirst)", r"SafestFirst|(?:\b|_)safest", r"safest"),
    Kind("checkpoint rule (Daly)", r"\bDaly\b|(?:\b|_)daly(?:\b|_)", r"daly"),
    Kind("metric (work_loss_ratio)", r"\bwork_loss_ratio\b", r"work_loss"),
    Kind("reader (read_lanl)", r"\bread_lanl\b|\blanl\b", r"/lanl|read_lanl|test_lanl"),
    Kind("machine, decides (Torus)", r"\bTorus\b|[\"']torus|\w_torus\b", r"torus[^/]*$"),
    Kind("machine, names (Torus)", r"[Tt]orus", r"torus[^/]*$"),
    # A study is named by the key of its paper; citations and the entry in the bibliography do not count.
    Kind("study (yu2010)", r"(?<![\[(*#])\byu2010\b(?![\]#])|\byu_\w", r"/yu2010|/yu_"),
)
#: Pattern of a declaration in `_core/scheduling` -> a memory of asks that were refused.
MEMORIES = {
    r"struct refusals?_t\b": "refusal_t",  # by ask and stay, until a time; `refusals_t` where more than one is stored
    r"int32_t none_beside\b": "known_t",  # by size, in a scan
    r"int32_t \*none_permitted\b": "none_permitted",  # by size, in a pass of EASY, or of a compiled scheduler
    r"struct searched_t\b": "searched_t",  # by size, in a pass
    r"int64_t \*refused\b": "refused of site_choice_t",  # by form, until what serves it is given back
    r"double owed, remaining, until\b": "until of known_t",  # by size: stays without a reservation before a time
    r"struct refused_t\b": "refused_t",  # by gap
    r"struct hope_t\b": "hope_t",  # of the last group of jobs
    r"struct shorter_t\b": "shorter_t",  # of the last jobs
    r"double found\[FOUND\]": "found of plan_t",  # of the last jobs without a reservation
}
#: Pattern of a declaration in `_core/scheduling` or `_core/containers` -> a form of free capacity over time.
TIMELINES = {
    r"int open_timeline\(": "timeline_t",
    r"struct releases_t\b": "releases_t",
    r"struct change_t\b": "change_t",
    r"struct profile_t\b": "profile_t",
    r"^    step_t \*step\b": "step_t",
    r"double \*time\b": "time of plan_t",
}
#: Count -> what the third design of the core allows at most; the core is counted before the site machine.
BUDGET = {
    "names of the core with more than one meaning": 0,
    "lines of `_core/scheduling`": 4200,
    "lines there of conservative backfilling alone": 1200,
    "lines of the core": 24_000,
    "hops from `schedule` to the line that decides": 4,
    "memories of refusals": 1,
    "forms of free capacity over time": 2,  # the timeline, and the list of releases
    "`Any` in the package": 300,
    "tests for a class of machine outside machines/": 0,
}
PLACES = ("own", "code", "words", "uses", "tests", "docs")
# This count and its test name every part.
LEFT_OUT = (Path("benchmarks/structure.py"), Path("tests/test_structure.py"))


# -- reading


def tracked(root: Path) -> list[Path]:
    """Files of the checkout that are not generated, relative to it: those in git, or all where there is no git."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = [Path(name) for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    else:
        paths = [path.relative_to(root) for path in root.rglob("*") if path.is_file()]
    wanted = {*CODE, ".md", ".js", ".css"}
    skipped = (Path("docs/reproductions"), Path("docs/_build"), Path("docs/reference/generated"))
    return sorted(
        path for path in paths if path.suffix in wanted and not any(map(path.is_relative_to, (*skipped, *LEFT_OUT)))
    )


def without_docstrings(text: str) -> str:
    """A Python source with its docstrings and comments blanked; lines keep their places."""
    lines = text.splitlines()
    spans: list[tuple[int, int, int, int]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            spans.append((node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            spans.append((token.start[0], token.start[1], token.end[0], token.end[1]))
    for first, start, last, end in sorted(spans, reverse=True):
        for number in range(first, last + 1):
            line = lines[number - 1]
            lines[number - 1] = line[: start if number == first else 0] + line[end if number == last else len(line) :]
    return "\n".join(lines)


def blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def without_words(path: Path, text: str) -> str:
    """The code of a file: without comments and docstrings, in which parts are only spoken of."""
    if path.suffix in (".py", ".pyi"):
        return without_docstrings(text)
    if path.suffix in (".pyx", ".pxd", ".pxi"):
        text = re.sub(r'"""(?:.|\n)*?"""', blank, text)
        return re.sub(r"#[^\"'\n]*$", "", text, flags=re.M)
    if path.suffix in (".h", ".js", ".css"):
        return re.sub(r"/\*(?:.|\n)*?\*/|//[^\n]*", blank, text)
    return ""


@dataclass(frozen=True)
class Checkout:
    """Texts of a checkout by path; `code` is without docstrings and comments."""

    text: dict[Path, str]
    code: dict[Path, str]

    @classmethod
    def read(cls, root: Path) -> "Checkout":
        texts = {path: (root / path).read_text(encoding="utf-8") for path in tracked(root)}
        return cls(texts, {path: without_words(path, text) for path, text in texts.items()})

    def under(self, place: str, *suffixes: str) -> list[Path]:
        return [path for path in self.text if path.is_relative_to(place) and (path.suffix in suffixes or not suffixes)]

    def lines(self, paths: Iterable[Path]) -> int:
        return sum(len(self.text[path].splitlines()) for path in paths)


# -- files for one more part


def place_of(path: Path, kind: Kind, checkout: Checkout) -> str | None:
    """Where a file counts for a kind; None where it does not name the representative."""
    name, study = path.as_posix(), kind.name.startswith("study")
    own = re.search(kind.path, name) is not None
    if not own and not re.search(kind.text, checkout.text[path]):
        return None
    if path.parts[0] == "tests":
        return "tests"
    if path.parts[0] == "benchmarks" or name.startswith("docs/guides") or name == "docs/tutorial.md":
        return "uses"
    if path.parts[0] == "docs":
        return "docs"
    if path.parts[0] != "faultsim":
        return None
    if path.parts[1] == "bench" or (path.parts[1] == "reproduce" and not study):
        return "uses"
    if own:
        return "own"
    return "code" if re.search(kind.text, checkout.code[path]) else "words"


def files_for(kind: Kind, checkout: Checkout) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {place: [] for place in PLACES}
    for path in checkout.text:
        place = place_of(path, kind, checkout)
        if place is not None:
            found[place].append(path.as_posix())
    return found


# -- imports


def module_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def absolute(path: Path, dots: int, name: str) -> str:
    """The full name behind a relative import."""
    if not dots:
        return name
    folders = path.parts[:-1]
    base = folders[: len(folders) - dots + 1]
    return ".".join([*base, *([name] if name else [])])


def python_imports(path: Path, code: str) -> set[tuple[str, str]]:
    """(source, name) of every import in a Python file; the name is empty for ``import source``."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = absolute(path, node.level, node.module or "")
            found |= {(source, alias.name) for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
            "import_module",
            "extra",  # `faultsim.checks.extra`: the import of an optional part
        ):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.add((first.value, ""))
    return found


FROM = re.compile(r"^[ \t]*from\s+(\.*)([\w.]*)\s+c?import\s+(\([^)]*\)|[^\n#]+(?:\\\n[^\n#]+)*)", re.M)
PLAIN = re.compile(r"^[ \t]*c?import\s+([\w., ]+)", re.M)


def cython_imports(path: Path, code: str) -> set[tuple[str, str]]:
    """The same for `import` and `cimport` of a Cython file."""
    found = set()
    for dots, source, names in FROM.findall(code):
        for name in names.strip("()\n ").replace("\\", " ").split(","):
            if name.strip():
                found.add((absolute(path, len(dots), source), name.split()[0]))
    for names in PLAIN.findall(code):
        found |= {(name.split()[0], "") for name in names.split(",") if name.strip()}
    return found


def import_graph(checkout: Checkout) -> dict[str, set[str]]:
    """Module -> modules of the package that it imports or cimports."""
    paths = checkout.under("faultsim", ".py", ".pyi", ".pyx", ".pxd")
    modules = {module_of(path) for path in paths}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for path in paths:
        read = python_imports if path.suffix in (".py", ".pyi") else cython_imports
        texts = checkout.text if path.suffix in (".py", ".pyi") else checkout.code
        for source, name in read(path, texts[path]):
            full = f"{source}.{name}"
            target = full if full in modules else source
            if target in modules and target != module_of(path):
                graph[module_of(path)].add(target)
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module (Tarjan), the largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in sorted(graph[module]):
            if target not in index:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == index[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return sorted(found, key=lambda circle: (-len(circle), circle))


# -- names

DEFINITIONS = (
    re.compile(r"^(?:cdef|ctypedef)\s+(?:packed\s+)?(?:struct|union|enum|class)\s+(\w+)", re.M),
    re.compile(r"^ctypedef\s+.*?\(\*(\w+)\)", re.M),
    re.compile(r"^(?:cdef|cpdef)\s+(?:inline\s+|public\s+)?(?:[\w\[\], ]+?[ *&]+)??\**(\w+)\((?=[^*])", re.M),
    re.compile(r"^cdef\s+(?:const\s+)?\w+\s+\*?([A-Z][A-Z_]+)\b", re.M),
)
ENUM = re.compile(r"^cdef enum\b[^\n]*:\n((?:[ \t]+[^\n]*\n|\n)+)", re.M)
ASSIGNED = re.compile(r"^\s*([\w.\[\], ]+?)\s*=\s*([\w, ]+)$", re.M)
INCLUDED = re.compile(r'^include "([^"]+)"', re.M)
CAPACITY = re.compile(r"counts|counted|masks|placed|shared")
CORE = "faultsim/_core"


def defined_names(code: str) -> set[str]:
    """What a Cython file without comments defines at module level."""
    found = {name for pattern in DEFINITIONS for name in pattern.findall(code)}
    for body in ENUM.findall(code):
        found |= set(re.findall(r"^\s+([A-Z]\w+)\s*(?:=|$)", body, re.M))
    return found


def implemented(code: str) -> set[str]:
    """Functions that a file assigns to a field of the same name: implementations of one contract."""
    found = set()
    for left, right in ASSIGNED.findall(code):
        fields, values = ([part.strip() for part in side.split(",")] for side in (left, right))
        if len(fields) == len(values):
            found |= {value for field, value in zip(fields, values, strict=True) if field.endswith(f".{value}")}
    return found


def shared_names(checkout: Checkout) -> dict[str, list[str]]:
    """Name -> the places, more than one, that define it with a meaning of their own."""
    codes: dict[str, str] = {}
    for path in checkout.under(CORE, ".pyx", ".pxd", ".pxi"):
        unit = path.with_suffix("").as_posix()
        text = without_words(path.with_suffix(".pyx"), checkout.text[path])
        codes[unit] = codes.get(unit, "") + "\n" + text
    places: dict[str, set[str]] = {}
    hooks = {unit: described_functions(unit, codes, checkout) for unit in codes}
    for unit, code in codes.items():
        contracts = implemented(code)
        for name in defined_names(code) - contracts:
            places.setdefault(name, set()).add(unit)
        if unit.startswith(f"{CORE}/tables/"):
            for struct, body in re.findall(r"^cdef struct (\w+):\n((?:[ \t]+[^\n]*\n|\n)+)", code + "\n", re.M):
                for field in set(re.findall(r"\(\*(\w+)\)", body)) - {"copy", "close"}:  # part_t of memory.pxd
                    places.setdefault(field, set()).add(f"{unit}:{struct}")
    found = {}
    for name in sorted(places):
        contracts = {hooks.get(unit, {}).get(name) for unit in places[name]}
        merged = once_per_source(places[name], codes)
        if len(merged) > 1 and (len(contracts) > 1 or None in contracts):
            found[name] = merged
    return found


def described_functions(unit: str, codes: dict[str, str], checkout: Checkout) -> dict[str, tuple[str, str]]:
    """Function that a unit defines for the sources that it includes -> their words for it, and its other arguments."""
    found = {}
    for source in included(unit, codes[unit]):
        words = {name: text for path in CODE for name, text in described(checkout.text.get(Path(source + path), ""))}
        for name, arguments in re.findall(r"^cdef (?:inline )?[\w *]*?\b(\w+)\(([^)]*)\)", codes[unit], re.M):
            if name in words:
                others = arguments.replace("const ", "").partition(",")[2]
                found[name] = (words[name], " ".join(others.split()))
    return found


def described(text: str) -> list[tuple[str, str]]:
    """Names and descriptions in the table of a file's first comment."""
    head = re.match(r"(?:#.*\n)*", text)
    lines = re.sub(r"\n#  {6,}", "  ", head[0] if head else "")
    return [(name, " ".join(words.split())) for name, words in re.findall(r"^# (\w+)  +(\S.*)$", lines, re.M)]


def once_per_source(units: set[str], codes: dict[str, str]) -> list[str]:
    """The places of a name, where the files of one source compiled once per capacity count once."""
    pairs: dict[str, set[str]] = {}
    for unit in units:
        pairs.setdefault(CAPACITY.sub("*", unit), set()).add(unit)
    merged = set(units)
    for pair in pairs.values():
        if len(pair) > 1 and set.intersection(*(sources_of(unit, codes) for unit in pair)):
            merged -= set(sorted(pair)[1:])
    return sorted(merged)


def sources_of(unit: str, codes: dict[str, str]) -> set[str]:
    """Sources that a unit includes, or that are included beside it."""
    beside = [included(other, code) for other, code in codes.items()]
    return included(unit, codes.get(unit, "")).union(*(each for each in beside if unit in each)) - {unit}


def included(unit: str, code: str) -> set[str]:
    """Included files of a unit, also those included by them, as units."""
    folder = unit.rsplit("/", 1)[0]
    return {f"{folder}/{name.rsplit('.', 1)[0]}" for name in INCLUDED.findall(code)}


# -- structs, lines


STRUCT = re.compile(r"^(\s*)(?:cdef|ctypedef)\s+(?:packed\s+)?struct\s+(\w+)\s*:")


def structs(text: str) -> list[tuple[str, int]]:
    """Name and number of lines (blank ones left out, the head included) of every C struct defined in a .pxd."""
    found, lines = [], text.splitlines()
    for at, line in enumerate(lines):
        head = STRUCT.match(line)
        if head is None:
            continue
        count = 1
        for below in lines[at + 1 :]:
            if below.strip() and len(below) - len(below.lstrip()) <= len(head[1]):
                break
            count += bool(below.strip())
        found.append((head[2], count))
    return found


def counts(checkout: Checkout) -> dict[str, int | str]:
    """All counts that are not about one more part, by what they are called in the table."""
    package, core = checkout.under("faultsim", *CODE), checkout.under("faultsim/_core", *CODE)
    python, tests = checkout.under("faultsim", ".py", ".pyi"), checkout.under("tests", ".py")
    circles = cycles(import_graph(checkout))
    headers = {path: structs(checkout.text[path]) for path in checkout.under("faultsim", ".pxd")}
    largest = sorted((item for found in headers.values() for item in found), key=lambda item: -item[1])
    most = max(headers, key=lambda path: len(headers[path]))
    types = [re.sub(r"import .*", "", checkout.code[path]) for path in python]
    flags = [re.findall(r"^.*\bis_torus\b", checkout.text[path], re.M) for path in core]
    shared = shared_names(checkout)
    scheduling = f"{CORE}/scheduling/"
    machines = "|".join(
        name for path in python for name in re.findall(r"^class (\w+)\(Machine\)", checkout.text[path], re.M)
    )
    return {
        "names of the core with more than one meaning": len(shared),
        "such names, outside scheduling/": sum(
            sum(not unit.startswith(scheduling) for unit in units) > 1 for units in shared.values()
        ),
        "modules in import cycles": sum(map(len, circles)),
        "import cycles": "; ".join(f"{len(circle)} with {short(circle[0])}" for circle in circles) or "none",
        "modules at the root of the package": len({module_of(path) for path in python if len(path.parts) == 2}),
        "lines of the largest struct": largest[0][1],
        "largest structs": ", ".join(f"{name} {lines}" for name, lines in largest[:3]),
        "structs in one .pxd, at most": len(headers[most]),
        "the .pxd with most structs": most.relative_to("faultsim").as_posix(),
        "`is_torus` in the core, lines": sum(map(len, flags)),
        "`is_torus` in the core, files": sum(map(bool, flags)),
        "tests for a class of machine outside machines/": sum(
            len(re.findall(rf"isinstance\([^)]*\b(?:{machines or '(?!)'})\b", checkout.text[path]))
            for path in python
            if "machines" not in path.parts
        ),
        "`Any` in the package": sum(len(re.findall(r"\bAny\b", text)) for text in types),
        "`Any` as a whole type": sum(len(re.findall(r"(?::|->) Any\b", text)) for text in types),
        "lines of the package": checkout.lines(package),
        "lines of the core": checkout.lines(core),
        "lines of the reference": checkout.lines(checkout.under("faultsim/reference", *CODE)),
        "lines of the tests": checkout.lines(tests),
        f"files above {LONG} lines, package": sum(checkout.lines([path]) > LONG for path in package),
        f"files above {LONG} lines, tests": sum(checkout.lines([path]) > LONG for path in tests),
    } | scheduling_counts(checkout)


def short(module: str) -> str:
    return module.removeprefix("faultsim.").removeprefix("_core.")


def short_path(unit: str) -> str:
    return unit.removeprefix(f"{CORE}/")


def measure(root: Path) -> dict[str, Any]:
    """Both tables of one checkout."""
    checkout = Checkout.read(root)
    parts = {}
    for kind in KINDS:
        found = {place: len(paths) for place, paths in files_for(kind, checkout).items()}
        parts[kind.name] = {"package": found["own"] + found["code"] + found["words"]} | found
    return {"parts": parts, "counts": counts(checkout)}


# -- scheduling

SCHEDULING = Path("faultsim/_core/scheduling")
INCLUDE = re.compile(r'^include "(.+)"', re.M)


def reached(path: Path, used: dict[Path, set[Path]]) -> set[Path]:
    """A file, and what it uses, directly or not."""
    found, open_ones = {path}, [path]
    while open_ones:
        new = used[open_ones.pop()] - found
        found |= new
        open_ones += new
    return found


def conservative_only(checkout: Checkout) -> list[Path]:
    """The files of `_core/scheduling` that conservative backfilling uses, and no other policy or module outside."""
    core = checkout.under("faultsim/_core", ".pyx", ".pxd", ".pxi", ".h")
    modules: dict[str, list[Path]] = {}
    for path in core:
        if path.suffix in (".pyx", ".pxd"):
            modules.setdefault(module_of(path), []).append(path)
    used: dict[Path, set[Path]] = {path: set() for path in core}
    for path in core:
        for source, name in cython_imports(path, checkout.code[path]):
            used[path] |= {*modules.get(source, ()), *modules.get(f"{source}.{name}", ())}
        used[path] |= {path.parent / name for name in INCLUDE.findall(checkout.text[path])} & used.keys()
        used[path] |= set(modules.get(module_of(path), ())) if path.suffix != ".pxi" else set()
    of_policies = {path for path in core if re.search(r"^\w+ = factory\(", checkout.text[path], re.M)}
    own = {path for path in of_policies if "conservative" in path.name}
    others = (of_policies - own) | {path for path in core if not path.is_relative_to(SCHEDULING)}
    only = set().union(*(reached(path, used) for path in own)) - set().union(*(reached(path, used) for path in others))
    return sorted(only)


def deciding_calls(page: str) -> list[tuple[str, str, str, list[str], str]]:
    """Scheduler, capacity, module, calls, and text of the deciding line, of the rows of the architecture page."""
    rows = re.findall(r"^\| `(\w+)`, (\w+) \| `(\w+)`: (.+?) \| `(.+)` \|$", page, re.M)
    return [
        (name, capacity, module, re.findall(r"`(\w+)`", calls), line) for name, capacity, module, calls, line in rows
    ]


def declared(patterns: dict[str, str], checkout: Checkout, *folders: str) -> list[str]:
    """What a list of declarations is found as, in these folders of the core."""
    texts = [checkout.code[path] for folder in folders for path in checkout.under(f"faultsim/_core/{folder}", *CODE)]
    return [name for pattern, name in patterns.items() for text in texts if re.search(pattern, text, re.M)]


def scheduling_counts(checkout: Checkout) -> dict[str, int | str]:
    hops = [(len(calls) - 1, f"{name} on {kind}") for name, kind, _, calls, _ in deciding_calls(architecture(checkout))]
    memories = declared(MEMORIES, checkout, "scheduling")
    timelines = declared(TIMELINES, checkout, "scheduling", "containers")
    return {
        "lines of `_core/scheduling`": checkout.lines(checkout.under(SCHEDULING.as_posix(), *CODE)),
        "lines there of conservative backfilling alone": checkout.lines(conservative_only(checkout)),
        "hops from `schedule` to the line that decides": max(hops)[0] if hops else "not listed",
        "schedulers with most hops": ", ".join(name for n, name in hops if n == max(hops)[0]) or "not listed",
        "memories of refusals": len(memories),
        "these memories": ", ".join(memories) or "none",
        "forms of free capacity over time": len(timelines),
        "these forms": ", ".join(timelines) or "none",
    }


def architecture(checkout: Checkout) -> str:
    return checkout.text.get(Path("docs/background/architecture.md"), "")


# -- printing


def table(head: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def show(measured: list[dict[str, Any]], names: list[str]) -> str:
    """Both tables in Markdown, a column (or, in one cell, "before > after") for each checkout."""
    columns = ("package", *PLACES)
    rows = [
        [kind.name, *(" > ".join(str(each["parts"][kind.name][column]) for each in measured) for column in columns)]
        for kind in KINDS
    ]
    first = table(["files for one more", *columns], rows)
    found = [
        [name, *(str(each["counts"][name]) for each in measured), str(BUDGET.get(name, ""))]
        for name in measured[0]["counts"]
    ]
    return f"{first}\n\n{table(['count', *names, 'budget'], found)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="?", type=Path, default=HERE, help="the one that this script is in")
    parser.add_argument("--compare", type=Path, metavar="OLDER", help="another checkout, shown before it")
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    parser.add_argument("--files", metavar="KIND", help="list the files counted for a kind (its first word)")
    parser.add_argument("--names", action="store_true", help="list names of the core with more than one meaning")
    options = parser.parse_args()
    roots = {"before": options.compare, "after": options.checkout} if options.compare else {"here": options.checkout}
    for root in roots.values():
        if not (root / "faultsim" / "__init__.py").is_file():
            parser.error(f"{root} is no checkout: it has no faultsim/__init__.py")
    if options.names:
        for name, root in roots.items():
            found = {
                each: [short_path(unit) for unit in units] for each, units in shared_names(Checkout.read(root)).items()
            }
            print(f"{name}: {json.dumps(found, indent=1)}")
        return
    if options.files:
        kinds = [kind for kind in KINDS if kind.name.startswith(options.files)]
        if not kinds:
            parser.error(f"unknown kind {options.files!r}: known are {', '.join(kind.name for kind in KINDS)}")
        for name, root in roots.items():
            checkout = Checkout.read(root)
            for kind in kinds:
                print(f"{name}: {kind.name}", json.dumps(files_for(kind, checkout), indent=2))
        return
    measured = {name: measure(root) for name, root in roots.items()}
    print(json.dumps(measured, indent=2) if options.json else show(list(measured.values()), list(measured)))


if __name__ == "__main__":
    main()
