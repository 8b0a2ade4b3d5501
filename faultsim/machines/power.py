"""`Power`: what a node takes, in watts."""

from dataclasses import KW_ONLY, dataclass, fields
from typing import Protocol

from faultsim import checks
from faultsim.errors import OptionError

#: Watts of a node that are refused as no node's, and keep every energy finite.
MOST_WATTS = 1e12


@dataclass(frozen=True)
class Power:
    """What one node takes, in watts; `Result.energy` multiplies it by the accounts of the ledger (model.md#energy).

    Parameters
    ----------
    idle : float
        Watts of a node that is up and does nothing: it is free, or waits with a job, or the job did not ask for it.
    busy : float
        Watts of a node that works, saves, restarts or moves.
    down : float, default 0
        Watts of a node that is down.

    Raises
    ------
    OptionError
        For what is not a number of at least 0, or if a node that works takes less than one that is idle or down.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 0], runtime=[3600, 7200], size=[2, 4])
    >>> result = fs.simulate(log, fs.Cluster(4))
    >>> print(result.energy(fs.Power(idle=100, busy=300)))
    account              node_hours  watts  kwh   share
    useful                       10    300    3  93.75%
    idle despite demand           2    100  0.2   6.25%
    3.2 kWh: 0.32 kWh per useful node-hour, 0 kWh of failures
    """

    _: KW_ONLY
    idle: float
    busy: float
    down: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = checks.number(f"{field.name} of Power", getattr(self, field.name), low=0.0, unit="watts")
            checks.number(f"{field.name} of Power", value, high=MOST_WATTS, unit="watts")
            object.__setattr__(self, field.name, value)
        for name in ("idle", "down"):
            if getattr(self, name) > self.busy:
                raise OptionError(
                    f"{name} of Power must be at most busy, {self.busy:g} watts, got {getattr(self, name):g} watts: a "
                    f"node that works takes no less; are they swapped?"
                )

    @classmethod
    def parse(cls, text: str) -> "Power":
        """From text such as ``"idle=100,busy=300,down=0"``.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Power.parse("idle=100,busy=300")
        Power(idle=100.0, busy=300.0, down=0.0)
        """
        given: dict[str, str] = {}
        usual = "watts as in idle=100,busy=300,down=0"
        if not isinstance(text, str):
            raise OptionError(f"power: expected {usual}, got {checks.shown(text)}")
        for part in text.split(","):
            name, equals, value = (word.strip() for word in part.partition("="))
            known = [field.name for field in fields(cls)]
            if not equals or name not in known or name in given:
                again = " again" if name in given else ""
                raise OptionError(f"power: expected {usual}, got {part.strip()!r}{again} in {text!r:.80}")
            given[name] = value
        missing = [name for name in ("idle", "busy") if name not in given]
        if missing:
            raise OptionError(f"power: {' and '.join(missing)} missing in {text!r:.80}; expected {usual}")
        try:
            watts = {name: checks.parsed(value, float) for name, value in given.items()}
        except ValueError:
            raise OptionError(f"power: expected {usual}, got {text!r:.80}") from None
        return cls(**watts)

    def kwh(self, result: object) -> float:
        """All that a run took, in kWh; as `per_useful_node_hour` and `of_failures` a metric for sweeps.

        Examples
        --------
        >>> import faultsim as fs
        >>> base = {"log": fs.Workload(submit=[0], runtime=[3600], size=[2]), "machine": fs.Cluster(4)}
        >>> table = fs.Sweep(base, {"start_delay": [0, 3600]}, metrics={"kwh": fs.Power(idle=100, busy=300).kwh}).run()
        >>> table["kwh"]
        array([0.8, 1.2])
        """
        return float(_energy(result, self).kwh)

    def per_useful_node_hour(self, result: object) -> float:
        """The same per node-hour of work that was done and kept, in kWh; NaN if there is none."""
        return float(_energy(result, self).per_useful_node_hour)

    def of_failures(self, result: object) -> float:
        """The part of the accounts that are empty without kills and repairs, in kWh; see `Energy`."""
        return float(_energy(result, self).of_failures)

    def __str__(self) -> str:
        return ",".join(f"{field.name}={getattr(self, field.name)!r}".removesuffix(".0") for field in fields(self))


def power_of(power: Power | str) -> Power:
    """A power, or that which a text says.

    Examples
    --------
    >>> power_of("idle=100,busy=300")
    Power(idle=100.0, busy=300.0, down=0.0)
    """
    return power if isinstance(power, Power) else Power.parse(power)


class _Used(Protocol):
    """What is needed of a `faultsim.Energy`."""

    kwh: float
    per_useful_node_hour: float
    of_failures: float


def _energy(result: object, power: Power) -> _Used:
    if not hasattr(result, "energy"):
        raise OptionError(f"energy: expected a Result, got {checks.shown(result)}")
    used: _Used = result.energy(power)
    return used
