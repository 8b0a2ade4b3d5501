"""Hypothesis strategies that several test modules share."""

from hypothesis import strategies as st

import faultsim as fs

SECONDS = st.one_of(st.integers(0, 10**9).map(float), st.floats(0, 1e9, allow_nan=False))


@st.composite
def workloads(draw: st.DrawFn, max_jobs: int = 20) -> fs.Workload:
    n = draw(st.integers(1, max_jobs))

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=n, max_size=n))

    return fs.Workload(
        submit=sorted(column(SECONDS)),
        runtime=column(SECONDS),
        size=column(st.integers(1, 2**31 - 1)),
        estimate=column(st.one_of(st.just(-1.0), SECONDS)),
        id=column(st.integers(-(2**40), 2**40)),
        user=column(st.integers(-1, 2**40)),
    )
