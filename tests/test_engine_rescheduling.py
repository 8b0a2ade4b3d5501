"""The compiled engine equals the reference engine, job by job, when jobs move away from predicted failures."""

import pytest
from hypothesis import given, settings

from tests.failure_strategies import MACHINES, SCHEDULERS
from tests.rescheduling_strategies import fars_cases
from tests.test_engine_failures import both_agree

# -- random cases


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("machine", MACHINES)
def test_engines_agree_on_random_cases(machine, scheduler):
    @given(fars_cases((machine,), (scheduler,)))
    @settings(max_examples=200)
    def agree(case):
        both_agree(case)

    agree()


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("machine", MACHINES)
def test_engines_agree_on_many_random_cases(machine, scheduler):
    @given(fars_cases((machine,), (scheduler,)))
    @settings(max_examples=2000)
    def agree(case):
        both_agree(case, budget=3)

    agree()
