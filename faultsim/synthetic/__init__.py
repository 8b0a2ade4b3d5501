"""Made-up workloads and failure traces; every function takes a NumPy generator, or a seed."""

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
from faultsim.synthetic.renewal import renewal_failures
from faultsim.synthetic.sites import llnl_like, nasa_like, sdsc_like
from faultsim.synthetic.times import ExponentialTimes, LognormalTimes, WeibullTimes

__all__ = [
    "ExponentialTimes",
    "HyperErlang",
    "HyperErlangModel",
    "LognormalTimes",
    "SizeClass",
    "WeibullTimes",
    "exponential",
    "exponential_failures",
    "hyper_erlang",
    "hyper_erlang_fit",
    "llnl_like",
    "lublin",
    "nasa_like",
    "renewal_failures",
    "sdsc_like",
    "weibull_failures",
]


def __getattr__(name: str) -> object:
    """Names of the design that are not here yet are refused by name."""
    from faultsim.planned import refuse_synthetic

    refuse_synthetic(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
