"""The failures of ``faultsim run``: a file of any format, or synthetic ones, as one word with options after a colon."""

from faultsim.cli.file_words import parted
from faultsim.cli.parser import Parser
from faultsim.cli.traces import (
    FORMATS,
    KINDS,
    TraceSource,
    add_format_arguments,
    add_made_up_arguments,
    made_up,
    read_trace,
)
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import InputError
from faultsim.machines import Site
from faultsim.sweep.what_if import moved

MAPPINGS = ("modulo", "permute", "drop")
_SYNTHETIC = "synthetic"


def reach(log: Workload) -> float:
    """Seconds that synthetic failures should cover: to the last submit plus the longest run time."""
    return float(log.submit[-1]) + float(log.runtime.max())


def open_failures(
    text: str, span: float, nodes: int, *, seed: int, mapping: str | None, sites: tuple[Site, Site] | None = None
) -> TraceSource:
    """The failures that `text` specifies, on a machine of `nodes` nodes.

    Parameters
    ----------
    text : str
        ``FILE``, ``FILE:FORMAT,option=value,...``, ``synthetic`` or ``synthetic:KIND,option=value,...`` with the
        options of ``faultsim failures``.
    span : float
        Seconds to which synthetic failures extend.
    nodes : int
        Nodes of the machine.
    seed : int
        Of synthetic failures and of ``mapping="permute"``.
    mapping : {"modulo", "permute", "drop"} or None
        How to treat failures of nodes that the machine does not have; None leaves them.
    sites : (Site, Site), optional
        The machine, and the site by which a file numbers nodes: added nodes do not fail.
    """
    if text.partition(":")[0] == _SYNTHETIC:
        return _made_up(text.partition(":")[2], span, nodes, seed)
    path, kind, words = parted(text, FORMATS, "--failures ")
    options = _arguments(words)
    parser = Parser(prog="faultsim run --failures", add_help=False)
    parser.explained_by = "faultsim failures summary"
    add_format_arguments(parser)
    trace = read_trace(path, parser.parse_args([*(["--format", kind] if kind else []), *options]))
    where = "standard input" if path == "-" else path
    _refuse_domains(trace, where)
    nodes = nodes if sites is None else sites[1].nodes
    if mapping == "drop":
        trace = trace.drop_outside(nodes)
    elif mapping is not None:
        trace = trace.map_nodes(nodes, mapping, rng=seed)
    if (outside := int((trace.node >= nodes).sum())) > 0:
        raise InputError(
            f"{where}: {outside:,} of {len(trace):,} failures are of nodes that the machine of {nodes:,} nodes does "
            f"not have, up to node {trace.node.max()}; say how to map them: --map-failures {'|'.join(MAPPINGS)}"
        )
    trace.refuse_others(nodes, where, f"say how to map it: --map-failures {'|'.join(MAPPINGS)}")
    left_out = sum(trace.dropped.values())
    if sites is not None:
        trace = moved(trace, sites[1], sites[0])
    counted = f"{len(trace):,} failures" + (f"; {left_out:,} records left out" if left_out else "")
    return TraceSource(trace, f"{where} ({counted})", False)


def _refuse_domains(trace: FailureTrace, where: str) -> None:
    """A file of failures of domains, whose members are in none."""
    if trace.of is not None and trace.of.domains:
        raise InputError(
            f"{where}: the trace is of {trace.of}: its numbers are rows of Domains, not nodes, so that --map-failures "
            f"does not help; map it in Python: read_failures(FILE).map_domains(domains).write_csv(OTHER)"
        )


def _arguments(words: list[str]) -> list[str]:
    """``option=value`` as ``--option=value``."""
    pairs = (word.partition("=") for word in words if word)
    return [f"--{name.strip().replace('_', '-')}{equals}{value.strip()}" for name, equals, value in pairs]


def _made_up(options: str, span: float, nodes: int, seed: int) -> TraceSource:
    words = [word.strip() for word in options.split(",") if word.strip()]
    kind = words.pop(0) if words and "=" not in words[0] else next(iter(KINDS))
    parser = Parser(prog="faultsim run --failures", add_help=False)
    parser.explained_by = "faultsim failures generate"
    add_made_up_arguments(parser)
    args = parser.parse_args(_arguments(words))
    args.nodes, args.seed = nodes, seed
    args.span = max(span, 1.0)
    trace = made_up(kind, args, "--failures synthetic")
    about = f"{len(trace):,} failures of {nodes:,} nodes in {args.span / 86_400:.1f} days, seed {seed}"
    return TraceSource(trace, f"built-in synthetic {kind} ({about})", True)
