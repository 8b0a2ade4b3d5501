"""What is said of reservations that are given wrong."""

import pytest

import faultsim as fs
from faultsim.errors import OptionError

LOG = fs.Workload(submit=[0], runtime=[1], size=[1])
USERS = "numbers of the log's column 'user'"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: fs.Reservation("all", 0, 1, users="ann"), f"are {USERS}, such as users=7 or users=.7, 9., not names"),
        (
            lambda: fs.Reservation("all", 0, 1, users=["ann"]),
            "whole numbers, those of the log's column 'user', got 'ann'",
        ),
        (
            lambda: fs.simulate(LOG, "cluster:4", reservations="all:begin=0,end=1,users=ann"),
            f"'ann' is none of {USERS}",
        ),
    ],
)
def test_users_are_numbers(made, said):
    with pytest.raises(OptionError, match=said):
        made()
