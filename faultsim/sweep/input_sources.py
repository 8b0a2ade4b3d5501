"""Inputs as named in a sweep file: a path, or a function of `faultsim.synthetic` for each replicate."""

import inspect
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from faultsim import checks, renames, synthetic
from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.machines import Machine, Site
from faultsim.machines.resources import Resources, longest_run
from faultsim.readers.krevat import krevat_span
from faultsim.readers.table import detect, read_as, readers_of, what_is
from faultsim.slurm_site import SlurmConf, more_nodes, read_slurm_conf
from faultsim.sweep.what_if import moved

#: Name -> synthetic log; each takes the number of jobs and a generator.
LOGS = ("sdsc_like", "nasa_like", "llnl_like", "lublin", "exponential")
#: Name -> synthetic failures.
FAILURES: dict[str, Callable[..., FailureTrace]] = {
    "weibull": synthetic.weibull_failures,
    "exponential": synthetic.exponential_failures,
    "renewal": synthetic.renewal_failures,
}
#: Name -> synthetic workflows, what their first parameter is called, and its default.
WORKFLOWS: dict[str, tuple[Callable[..., object], str, int]] = {
    "bench_dags": (synthetic.bench_dags, "count", 10),
    "random_dag": (synthetic.random_dag, "jobs", 200),
}
#: Parameters of failures that follow from machine, log and replicate.
_GIVEN = ("nodes", "rng")


class _Drawn:
    """A factory with a name that says what it draws, and with which parameters."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name, self._call = name, call

    def __repr__(self) -> str:
        return self.name


class DrawnLog(_Drawn):
    def __call__(self, rng: np.random.Generator) -> Workload:
        log: Workload = self._call(rng)
        return log.renamed(self.name)


class _DrawnWorkflows(_Drawn):
    def __call__(self, rng: np.random.Generator) -> list[Workflow]:
        made: Workflow | list[Workflow] = self._call(rng)
        return [made] if isinstance(made, Workflow) else made


class _DrawnFailures(_Drawn):
    """Of the nodes and the span of a run, of jobs or of workflows."""

    def __call__(
        self,
        rng: np.random.Generator,
        machine: Machine | None = None,
        log: Workload | None = None,
        resources: Resources | None = None,
        workflows: Sequence[Workflow] = (),
    ) -> FailureTrace:
        if resources is not None:
            nodes, span = resources.nodes, longest_run(workflows, resources)
        else:
            assert machine is not None  # a sweep has these or those
            assert log is not None
            nodes, span = machine.nodes, float(log.submit[-1]) + float(log.runtime.max())
        trace: FailureTrace = self._call(rng, nodes, max(span, 1.0))
        return trace.renamed(self.name)


class SiteFailures(_Drawn):
    """Failures of the nodes of a site, for one that has more nodes of some classes."""

    def __init__(self, trace: FailureTrace, site: Site) -> None:
        super().__init__(trace.name, moved)
        self._trace, self._site = trace, site

    def __call__(self, rng: np.random.Generator, machine: Machine) -> FailureTrace:
        parts = machine.site_parts()
        assert parts is not None  # all machines of such a sweep are sites
        trace: FailureTrace = self._call(self._trace, self._site, Site(*parts))
        return trace


def slurm_source(given: object, folder: Path) -> SlurmConf:
    """The configuration of Slurm named by text or a table.

    Parameters
    ----------
    given : str or mapping
        The path of slurm.conf; ``{"conf": path, "accounts": path or list of paths, "gres": path}``.
    folder : Path
        Folder that paths are relative to.
    """
    table = {"conf": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    if "conf" not in table:
        raise OptionError(
            f'slurm is the path of slurm.conf, or {{ conf = "slurm.conf", accounts = ["sacctmgr.cfg", "qos.txt"] }}, '
            f"got {checks.shown(given)}"
        )
    _refuse_rest(table, ("conf", "accounts", "gres"))
    paths = {
        name: [_file(folder, each) for each in (names if isinstance(names, list) else [names])]
        for name, names in table.items()
    }
    gres = paths.get("gres", [None])
    if len(gres) > 1:
        raise OptionError("gres of slurm is one file")
    return read_slurm_conf(paths["conf"], paths.get("accounts"), gres[0])


def slurm_site(conf: SlurmConf, text: str) -> Site:
    """The site of a configuration, with more nodes if the text says so: ``slurm``, ``slurm+gpu:8+cpu:4``."""
    word, *more = text.split("+")
    if word.strip() != "slurm":
        raise OptionError(f'must be "slurm" or, with more nodes of a class, "slurm+gpu:8", got {text!r}')
    site = conf.site
    for each in more:
        site = more_nodes(site, each.strip())
    return site


def log_source(given: object, folder: Path) -> object:
    """The log named by text or a table: a `Workload`, or a factory of one.

    Parameters
    ----------
    given : str or mapping
        A path; ``{"file": path, "format": name, "krevat": "nasa" or "sdsc", option: ...}`` with the options of the
        format's reader, such as ``"columns": [name, ...]`` (by default the format is told by the first line);
        ``{"synthetic": name, "jobs": n, parameter: ...}``.
    folder : Path
        Folder that paths are relative to.

    Examples
    --------
    >>> log_source({"synthetic": "nasa_like", "jobs": 100}, Path("."))
    nasa_like:jobs=100
    """
    table = {"file": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    if ("file" in table) == ("synthetic" in table):
        raise OptionError(
            f'a log is a path, {{ file = "..." }} or {{ synthetic = "nasa_like", jobs = 1000 }}, '
            f"got {checks.shown(given)}"
        )
    if "file" in table:
        path, span, formats = _file(folder, table.pop("file")), table.pop("krevat", None), readers_of(Workload)
        said = table.pop("format", None)
        reader = detect(path, Workload) if said is None else formats[checks.choice("format", said, formats)]
        known = list(reader.options)
        _refuse_rest(table, ("file", "format", "krevat", *known), known)
        log = read_as(path, Workload, reader, **table) if said is None else reader.read(path, **table)
        return log if span is None else krevat_span(log, checks.choice("span", span, ("nasa", "sdsc")))
    name = checks.choice("synthetic log", _folded(table.pop("synthetic")), LOGS)
    jobs = checks.whole("jobs", table.pop("jobs", 10_000), low=1)
    function: Callable[..., Workload] = getattr(synthetic, name)
    known = [key for key in inspect.signature(function).parameters if key not in ("jobs", "rng")]
    _refuse_rest(table, ("synthetic", "jobs", *known), known)
    _refuse_missing(f"synthetic log {name!r}", function, known, table)
    function(1, rng=0, **table)  # its parameters, before anything runs
    return DrawnLog(_named(name, {"jobs": jobs, **table}), lambda rng: function(jobs, rng=rng, **table))


def failures_source(given: object, folder: Path) -> object:
    """The failures named by text or a table: a trace, a factory of one, or None for "none".

    Parameters
    ----------
    given : str or mapping
        "none"; a path; ``{"file": path, "format": name, "map": "modulo", "permute" or "drop", option: ...}`` with the
        options of the format's reader; or ``{"synthetic": "weibull", "exponential" or "renewal", parameter: ...}`` with
        the parameters of that function; ``nodes`` is the machine's, and ``span`` the log's last submit plus its
        longest run time, or of workflows what the slowest node would take for all of them.
    folder : Path
        Folder that paths are relative to.

    Examples
    --------
    >>> failures_source({"synthetic": "weibull", "shape": 0.85, "scale": 18000.0}, Path("."))
    weibull:shape=0.85,scale=18000
    """
    if given == "none":
        return None
    table = {"file": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    if ("file" in table) == ("synthetic" in table):
        raise OptionError(
            f'failures are "none", a path, {{ file = "..." }} or '
            f'{{ synthetic = "weibull", shape = 0.85, scale = 18000 }}, got {checks.shown(given)}'
        )
    return _from_file(table, folder) if "file" in table else _made_up(table)


def workflows_source(given: object, folder: Path) -> object:
    """The workflows named by text, a table, or a list of these: a list of `Workflow`, or a factory of one.

    Parameters
    ----------
    given : str, mapping or list
        A path; ``{"file": path, "format": name}``; ``{"synthetic": "bench_dags", "count": n, parameter: ...}`` or
        ``{"synthetic": "random_dag", "jobs": n, parameter: ...}``; a list may have paths and files.
    folder : Path
        Folder that paths are relative to.

    Examples
    --------
    >>> workflows_source({"synthetic": "bench_dags", "count": 5}, Path("."))
    bench_dags:count=5
    """
    if isinstance(given, list) and given:
        return [_workflow_file({"file": each} if isinstance(each, str) else each, folder) for each in given]
    table = {"file": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    if "synthetic" not in table:
        return [_workflow_file(table, folder)]
    name = checks.choice("synthetic workflows", _folded(table.pop("synthetic")), WORKFLOWS)
    function, what, default = WORKFLOWS[name]
    number = checks.whole(what, table.pop(what, default), low=1)
    known = [key for key in inspect.signature(function).parameters if key not in ("n", what, "rng", "name")]
    _refuse_rest(table, ("synthetic", what, *known), [what, *known])
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    function(number, rng=0, **options)  # its parameters, before anything runs
    return _DrawnWorkflows(_named(name, {what: number, **table}), lambda rng: function(number, rng=rng, **options))


def _workflow_file(table: object, folder: Path) -> Workflow:
    if not isinstance(table, Mapping) or "file" not in table:
        raise OptionError(
            f'workflows are a path, a list of paths, {{ file = "..." }} or {{ synthetic = "bench_dags", count = 5 }}, '
            f"got {checks.shown(table)}"
        )
    rest, formats = dict(table), readers_of(Workflow)
    path, said = _file(folder, rest.pop("file")), rest.pop("format", None)
    reader = what_is(str(path)) if said is None else formats[checks.choice("format", said, formats)]
    if reader.gives is not Workflow:
        raise OptionError(
            f"{path}: a {reader.called}, and no workflow by its name and first line; give format: {', '.join(formats)}"
        )
    _refuse_rest(rest, ("file", "format"), [])
    flow: Workflow = reader.read(path)
    return flow


def resources_source(given: object) -> Resources:
    """The nodes of workflows: a number, or a table with ``nodes``, ``speed`` and ``bandwidth`` of `Resources`.

    Examples
    --------
    >>> resources_source(32), resources_source({"speed": [1, 2], "bandwidth": 125e6})
    (Resources(32), Resources(speed=[1, 2], bandwidth=1.25e+08))
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return Resources(given)
    if not isinstance(given, Mapping):
        raise OptionError(
            f"resources are a number of nodes, or {{ speed = [1, 2], bandwidth = 1e9 }}, got {checks.shown(given)}"
        )
    _refuse_rest(given, ("nodes", "speed", "bandwidth"))
    return Resources(**given)


def _from_file(table: dict[str, object], folder: Path) -> object:
    path = _file(folder, table.pop("file"))
    formats = readers_of(FailureTrace)
    reader = formats[checks.choice("format", table.pop("format", "csv"), formats)]
    mapping = table.pop("map", None)
    known = list(reader.options)
    _refuse_rest(table, ("file", "format", "map", *known), known)
    trace = reader.read(path, **table)
    if mapping is None:
        return trace
    how = checks.choice("way to map nodes", mapping, ("modulo", "permute", "drop"))

    def mapped(rng: np.random.Generator, nodes: int, span: float) -> FailureTrace:
        return trace.drop_outside(nodes) if how == "drop" else trace.map_nodes(nodes, how, rng=rng)

    return _DrawnFailures(f"{path.name}:map={how}", mapped)


def _file(folder: Path, name: object) -> Path:
    """The file that a specification names: a pipe or a device could let it wait for ever."""
    if not isinstance(name, str) or not name:
        raise OptionError(f"file: expected a path, got {checks.shown(name)}")
    path = folder / name
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return path  # the reader says what is wrong with it
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(f"{path}: no regular file (a pipe or a device), which a specification cannot name")
    return path


def _made_up(table: dict[str, object]) -> object:
    name = checks.choice("synthetic failures", table.pop("synthetic"), FAILURES)
    function = FAILURES[name]
    table = renames.current("key", "failures", table, called="synthetic failures")
    known = [key for key in inspect.signature(function).parameters if key not in _GIVEN]
    _refuse_rest(table, ("synthetic", *known), known)
    _refuse_missing(f"synthetic failures {name!r}", function, [key for key in known if key != "span"], table)
    # Its parameters, before anything runs; a rate that depends on the machine and its run is checked when it is drawn.
    depends = {"any_rate": True} if name == "weibull" or "count" in table else {}
    function(**{"nodes": 1, "span": 1.0, **table, **depends}, rng=0)

    def draw(rng: np.random.Generator, nodes: int, span: float) -> FailureTrace:
        return function(**{"nodes": nodes, "span": span, **table}, rng=rng)

    return _DrawnFailures(_named(name, table), draw)


def _folded(name: object) -> object:
    return name.strip().lower().replace("-", "_") if isinstance(name, str) else name


def _named(name: str, options: Mapping[str, object]) -> str:
    said = ",".join(
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in options.items()
    )
    return f"{name}:{said}" if said else name


def _refuse_missing(what: str, function: Callable[..., object], known: list[str], table: Mapping[str, object]) -> None:
    parameters = inspect.signature(function).parameters
    missing = [key for key in known if parameters[key].default is inspect.Parameter.empty and key not in table]
    if missing:
        raise OptionError(f"{what} needs {' and '.join(missing)}")


def _refuse_rest(table: Mapping[str, object], known: tuple[str, ...], parameters: list[str] | None = None) -> None:
    legal = known if parameters is None else tuple(parameters)
    for key in table:
        if key not in legal:
            raise OptionError(f"unknown key {key!r}{checks.did_you_mean(key, known)}; known: {', '.join(known)}")
