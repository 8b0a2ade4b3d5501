"""The reservations of a run, as pictures need them."""

from typing import TYPE_CHECKING

from faultsim.machines.reservation import Reservation, as_reservations

if TYPE_CHECKING:
    from faultsim.results.result import Result


def reservations_of(result: "Result") -> tuple[Reservation, ...]:
    """What its provenance keeps as text.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[1])
    >>> reservations_of(fs.simulate(log, fs.Cluster(4), reservations="0+2-3:begin=2,end=4"))
    (Reservation('0+2-3', begin=2, end=4),)
    """
    return as_reservations(result.settings.get("reservations"))
