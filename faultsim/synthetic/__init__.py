"""Made-up workloads; every function takes a count and a NumPy generator (or a seed), and returns a `Workload`."""

from faultsim.synthetic.exponential import exponential
from faultsim.synthetic.hyper_erlang import (
    HyperErlang,
    HyperErlangModel,
    SizeClass,
    hyper_erlang,
    hyper_erlang_fit,
)
from faultsim.synthetic.lublin import lublin
from faultsim.synthetic.sites import llnl_like, nasa_like, sdsc_like

__all__ = [
    "HyperErlang",
    "HyperErlangModel",
    "SizeClass",
    "exponential",
    "hyper_erlang",
    "hyper_erlang_fit",
    "llnl_like",
    "lublin",
    "nasa_like",
    "sdsc_like",
]


def __getattr__(name: str) -> object:
    """Names of the design that are not here yet are refused by name."""
    from faultsim.planned import refuse_synthetic

    refuse_synthetic(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
