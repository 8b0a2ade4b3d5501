"""Synthetic workloads, workflows and failure traces; every function takes a NumPy generator, or a seed."""

from faultsim.checks import no_name as _no_name
from faultsim.checks import show_types_of as _show_types_of
from faultsim.entries import guard as _guard
from faultsim.synthetic.dags import DagProperties, bench_dags, dag_properties, random_dag
from faultsim.synthetic.domains import domain_failures
from faultsim.synthetic.exponential import exponential
from faultsim.synthetic.failures import exponential_failures, weibull_failures
from faultsim.synthetic.hyper_erlang import (
    HyperErlang,
    HyperErlangModel,
    SizeClass,
    hyper_erlang,
    hyper_erlang_fit,
)
from faultsim.synthetic.lublin import lublin
from faultsim.synthetic.patience import with_patience
from faultsim.synthetic.renewal import renewal_failures
from faultsim.synthetic.sites import llnl_like, nasa_like, sdsc_like
from faultsim.synthetic.times import ExponentialTimes, LognormalTimes, WeibullTimes

__all__ = [
    "DagProperties",
    "ExponentialTimes",
    "HyperErlang",
    "HyperErlangModel",
    "LognormalTimes",
    "SizeClass",
    "WeibullTimes",
    "bench_dags",
    "dag_properties",
    "domain_failures",
    "exponential",
    "exponential_failures",
    "hyper_erlang",
    "hyper_erlang_fit",
    "llnl_like",
    "lublin",
    "nasa_like",
    "random_dag",
    "renewal_failures",
    "sdsc_like",
    "weibull_failures",
    "with_patience",
]

_show_types_of(globals())
_guard(globals())


def __getattr__(name: str) -> object:
    """A wrong name gets a did-you-mean."""
    raise _no_name(__name__, name, __all__)
