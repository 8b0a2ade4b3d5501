"""Writes the reference pages from the package itself, so that they cannot drift from it.

Names are grouped by what people do with them; metrics, policies, columns and readers are the package's own tables.
"""

import importlib
import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING
from pathlib import Path
from types import ModuleType

import faultsim
from faultsim.checks import INTERNAL as INTERNAL
from faultsim.policies.base import Policy

# Headings of the kinds of policies, where the kind's own name is none.
KINDS = {
    "scheduler": "Schedulers", "order": "Queue orders", "placement": "Placements", "predictor": "Predictors",
    "checkpointing": "Checkpoints", "victims": "Victims of PredictedWindows", "strategy": "Strategies of Fars",
    "spares": "Spare nodes of Fars", "workflow_scheduler": "Schedulers of workflows", "outputs": "Outputs of workflows",
}  # fmt: skip


#: What people do -> the names for it, in the order of the page.  Readers stand with what they return; policies are
#: groups of their own, by kind, after the machines.
GROUPS: dict[str, tuple[str, ...]] = {
    "Simulate": ("simulate", "simulate_many", "rerun", "Run", "MODEL_REVISION"),
    "Logs": ("read", "Workload", "concat", "Limits", "krevat_span", "READERS"),
    "Machines": (
        "Cluster", "Torus", "Pod", "Site", "NodeClass", "Partition", "read_site", "Box", "Reservation", "Power",
    ),
    "Sites that run Slurm": (
        "read_slurm_conf", "SlurmConf", "SlurmNode", "SlurmPartition", "SlurmAssociation", "SlurmQos", "IgnoredKey",
        "read_squeue", "QueueState", "forecast", "Forecast", "calibrate_forecast", "Calibration",
    ),
    "Policies": ("POLICIES", "parse_policy"),
    "Failures": ("FailureTrace", "Domains", "Slowdown"),
    "Results": (
        "Result", "load_result", "METRICS", "JobState", "Why", "Reason", "Cause", "kiviat_gain", "expected_ettr",
    ),
    "Workflows": ("simulate_workflows", "Workflow", "Resources", "WorkflowResult", "load_workflow_result"),
    "Sweeps": ("Sweep", "SweepTable", "read_sweep", "load_sweep"),
    "Plans of pods": ("plan", "PodPlan"),
    "Synthetic logs and failures": ("synthetic",),
    "Drive from outside": ("Simulation", "Decision"),
    "Kernels": ("partition", "knapsack", "EventQueue", "get_include"),
    "Errors": (),
}  # fmt: skip
#: Optional modules -> the group after which their names stand.
AFTER = {"faultsim.plot": "Results", "faultsim.report": "Results", "faultsim.rl": "Drive from outside"}


def groups() -> dict[str, list[str]]:
    """Public names by what people do with them, `simulate` first; a name that no group has is in "Other"."""
    gives = {"Workload": "Logs", "FailureTrace": "Failures", "Workflow": "Workflows"}
    found = {heading: list(names) for heading, names in GROUPS.items()}
    for row in faultsim.READERS:
        name = row.read.__name__
        if name in faultsim.__all__ and name not in found[gives[row.gives.__name__]]:
            found[gives[row.gives.__name__]].append(name)
    taken = {name for names in found.values() for name in names}
    policies = {heading: names for heading, names in _by_kind().items() if names}
    taken |= {name for names in policies.values() for name in names}
    rest = [name for name in faultsim.__all__ if name not in taken]
    found["Errors"] = [name for name in rest if name.endswith("Error")]
    if other := [name for name in rest if not name.endswith("Error")]:
        found["Other"] = other
    ordered: dict[str, list[str]] = {}
    for heading, names in found.items():
        ordered[heading] = names
        if heading == "Policies":
            ordered |= policies
    return ordered


def _by_kind() -> dict[str, list[str]]:
    """Policies by their kinds, the base of a kind first."""
    kind_of = {row.cls.__name__: row.kind for row in faultsim.POLICIES}
    policies: dict[str, list[str]] = {row.kind: [] for row in faultsim.POLICIES}
    for name in faultsim.__all__:
        value = getattr(faultsim, name)
        if name in kind_of:
            policies[kind_of[name]].append(name)
        elif inspect.isclass(value) and issubclass(value, Policy) and value.kind:
            policies.setdefault(value.kind, []).insert(0, name)
    return {KINDS.get(kind, kind.capitalize()): names for kind, names in policies.items()}


def documented(module: ModuleType, names: Iterable[str]) -> list[str]:
    """Those that a page can be made for: functions and classes."""

    def has_page(value: object) -> bool:
        return inspect.isclass(value) or inspect.isfunction(value)

    return [name for name in names if has_page(getattr(module, name))]


def summary(prefix: str, names: Sequence[str]) -> list[str]:
    """An autosummary of the names, with a page for each."""
    return [
        "```{eval-rst}", f".. currentmodule:: {prefix}", "", ".. autosummary::", "   :toctree: api", "",
        *(f"   {name}" for name in names), "```", "",
    ]  # fmt: skip


def linked(line: str) -> str:
    """The line of a generated page with links for citations."""
    line = re.sub(r"\b[\w-]+\.md#[\w-]+", r"[\g<0>](../../background/\g<0>)", line)
    return re.sub(r"\[([a-z]+\d{4})\]", r"[\1](../../background/papers.md#\1)", line)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown."""

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(head), "|" + " --- |" * len(head), *(line(row) for row in rows), ""]


def api_page() -> list[str]:
    lines = ["# Names", "", "`import faultsim as fs`; every name has an example that the tests run.", ""]
    for heading, names in groups().items():
        here = documented(faultsim, names)
        modules = [name for name in names if inspect.ismodule(getattr(faultsim, name))]
        after = [name for name, group in AFTER.items() if group == heading]
        if here or modules or after:
            lines += [f"## {heading}", ""]
        if here:
            lines += summary("faultsim", here)
        for name in modules:
            lines += module_section(f"faultsim.{name}", getattr(faultsim, name), "###")
        for name in after:
            lines += module_section(name, importlib.import_module(name), "###")
    return lines


def module_section(name: str, module: ModuleType, level: str) -> list[str]:
    first = (inspect.getdoc(module) or "").split("\n\n")[0]
    return [f"{level} {name}", "", first, "", *summary(module.__name__, documented(module, module.__all__))]


def metrics_page() -> list[str]:
    rows = [(f"`{row.name}`", row.formula, row.unit, row.source) for row in faultsim.METRICS.values()]
    return [
        "# Metrics", "", "The table `faultsim.METRICS`: what `result.metrics` and `print(result)` show.", "",
        *table(("name", "formula", "unit", "source"), rows),
    ]  # fmt: skip


def policies_page() -> list[str]:
    first = "The table `faultsim.POLICIES`: names for the command line, and where each has a meaning."
    lines = ["# Policies", "", first, ""]
    kinds = list(dict.fromkeys(row.kind for row in faultsim.POLICIES))
    for kind in kinds:
        rows = [
            (", ".join(f"`{name}`" for name in (row.name, *row.aliases)), f"`{row.cls.__name__}`", row.summary,
             ", ".join(row.machines), row.source)
            for row in faultsim.POLICIES if row.kind == kind
        ]  # fmt: skip
        heading = kind.capitalize().replace("_", " ")
        lines += [f"## {heading}", "", *table(("name", "class", "what", "machines", "source"), rows)]
        parameters = [
            (f"`{row.cls.__name__}`", f"`{p.name}`", " ".join(filter(None, (p.type.replace("``", "`"), p.unit))),
             "required" if p.default is MISSING else f"`{p.default!r}`", p.meaning.replace("``", "`"))
            for row in faultsim.POLICIES if row.kind == kind for p in row.parameters
        ]  # fmt: skip
        if parameters:
            lines += table(("class", "parameter", "type, unit", "default", "meaning"), parameters)
        if kind == "order":
            presets = [(f"`{row.name}`", f"`{row.text}`", row.source) for row in faultsim.Key.presets.values()]
            lines += table(("preset of `Key`", "expression", "source"), presets)
    return lines


def columns_page() -> list[str]:
    from faultsim.data import columns

    first = "The data dictionary: every column of a workload, a workflow, a failure trace and a result."
    lines = ["# Columns", "", first, ""]
    tables = (
        ("Workload", columns.WORKLOAD), ("Workflow, jobs", columns.WORKFLOW_JOBS),
        ("Workflow, edges", columns.WORKFLOW_EDGES), ("Failure trace", columns.FAILURES),
        ("Jobs of a result", columns.JOBS),
        ("Jobs of a result of workflows", columns.WORKFLOW_RESULTS), ("Decisions", columns.DECISIONS),
        ("Events of a result of workflows", columns.WORKFLOW_EVENTS),
    )  # fmt: skip
    for heading, rows in tables:
        cells = [(f"`{row.name}`", row.dtype, row.unit, row.meaning, row.source) for row in rows]
        lines += [f"## {heading}", "", *table(("name", "type", "unit", "meaning", "source"), cells)]
    return lines


def readers_page() -> list[str]:
    rows = [
        (f"`{row.name}`", row.summary, row.extension, f"`{row.read.__name__}`", f"`{row.gives.__name__}`",
         ", ".join(f"`{name}`" for name in row.options))
        for row in faultsim.READERS
    ]  # fmt: skip
    return [
        "# Readers", "", "The table `faultsim.READERS`: the files that faultsim reads, plain, gzip, xz or bzip2.", "",
        *table(("name", "files", "extension", "function", "gives", "options"), rows),
    ]  # fmt: skip


PAGES = {
    "names": api_page, "metrics": metrics_page, "policies": policies_page, "columns": columns_page,
    "readers": readers_page,
}  # fmt: skip


def claims_page(folder: Path) -> list[str]:
    """Every claim of every paper, from the ``claims.json`` that its reproduction wrote below `folder`."""
    from faultsim.reproduce import everything

    documents = everything.documents_in(folder)
    return everything.page(documents, links={name: f"{name}.md" for name in documents}).split("\n")


def readings_page(folder: Path) -> list[str]:
    """Every reading of every claim, from the ``readings.json`` that each study wrote below `folder`."""
    from faultsim.reproduce import readings
    from faultsim.reproduce.studies import papers

    documents = readings.documents_in(folder, list(papers()))
    return readings.page(documents, [name for name in papers() if name not in documents]).split("\n")


def notebooks(pages: Iterable[Path]) -> list[Path]:
    """Write an .ipynb file beside each page that is a notebook, and return these pages."""
    import jupytext

    found = [page for page in pages if page.read_text(encoding="utf-8").startswith("---\nfile_format: mystnb")]
    for page in found:
        book = jupytext.reads(page.read_text(encoding="utf-8"), fmt="md:myst")
        jupytext.write(book, page.with_suffix(".ipynb"))
    return found


def write(folder: Path, reproductions: Path) -> None:
    """Write every page; one that is as it was stays untouched, so that Sphinx does not read it again."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {folder / f"{name}.md": list(map(linked, page())) for name, page in PAGES.items()}
    pages[reproductions / "all.md"] = claims_page(reproductions)
    pages[reproductions / "readings.md"] = readings_page(reproductions)
    for path, lines in pages.items():
        text = "\n".join(lines)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
