"""Limits of QOS and associations (model.md#slurm-limits)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from faultsim.data.slurm_site import Limit, SlurmAssociation, SlurmQos
from faultsim.reference.slurm.state import Running, SlurmNodes, State, Waiting

#: Order in which resources are tested, and their names in reasons.
RESOURCES = {"cpu": "Cpu", "mem": "Mem", "node": "Node", "billing": "Billing", "gres/gpu": "GRES"}


@dataclass(frozen=True)
class _Of:
    """Whose limit: a QOS, or an association with the jobs that count for it."""

    kind: str
    name: tuple[str, str]
    limits: Mapping[str, Limit]
    own: bool


class Limits:
    """Tests of limits.

    Parameters
    ----------
    site : SlurmNodes
        The site, whose configuration has QOS and associations.
    """

    def __init__(self, site: SlurmNodes) -> None:
        conf = site.conf
        self._site = site
        words = {word.lower() for word in conf.settings["AccountingStorageEnforce"]}
        self.enforced = bool(words & {"limits", "safe", "qos", "all", "1"})
        self._safe = "safe" in words
        self._users: dict[tuple[str, str], SlurmAssociation] = {}
        for each in conf.associations:
            self._users[each.account, each.user] = each
        self._below: dict[str, set[str]] = {}
        for each in conf.associations:
            if not each.user:
                here: str = each.account
                above: str | None = each.account
                for _ in range(100):
                    if not above:
                        break
                    self._below.setdefault(above, set()).add(here)
                    found = self._users.get((above, ""))
                    above = found.parent if found is not None else None

    def _all(self, job: Waiting, partition: str) -> Iterator[_Of]:
        """Limits that hold for a job, in their order: QOS of the partition, its own, its association, accounts."""
        conf = self._site.conf
        names = [self._site.partitions[partition].qos, job.qos]
        own = conf.qos.get(job.qos)
        if own is not None and "OverPartQOS" in own.flags:
            names.reverse()
        for name in dict.fromkeys(filter(None, names)):
            qos: SlurmQos | None = conf.qos.get(name)
            if qos is not None and qos.limits:
                yield _Of("QOS", ("QOS", name), qos.limits, True)
        account, user = job.account, job.user
        for _ in range(100):
            each = self._users.get((account, user))
            if each is None:
                if not user:
                    break
            elif each.limits:
                yield _Of("Assoc", (account, user), each.limits, bool(user))
            if not user:
                account = each.parent if each is not None else ""
                if not account:
                    break
            user = ""

    def _jobs(self, of: _Of, running: Sequence[Running]) -> list[Running]:
        if of.kind == "QOS":
            return [
                each for each in running
                if of.name[1] in (each.qos, self._site.partitions[each.partition].qos)
            ]  # fmt: skip
        account, user = of.name
        if user:
            return [each for each in running if (each.account, each.user) == of.name]
        below = self._below.get(account, {account})
        return [each for each in running if each.account in below]

    def before(self, job: Waiting, partition: str, running: Sequence[Running]) -> str:
        """The reason why a job may not start whatever its nodes; "" if there is none."""
        if not self.enforced:
            return ""
        switched_off: set[str] = set()
        for of in self._all(job, partition):
            limits, kind = of.limits, of.kind
            jobs = self._jobs(of, running)
            if _number(limits, "GrpJobs") is not None and "GrpJobs" not in switched_off:
                switched_off.add("GrpJobs") if kind == "QOS" else None
                if len(jobs) >= _whole(limits, "GrpJobs"):
                    return f"{kind}GrpJobsLimit"
            if kind == "QOS":
                if (most := _number(limits, "MaxJobsPerAccount")) is not None:
                    switched_off.add("MaxJobs")
                    if sum(each.account == job.account for each in jobs) >= most:
                        return "QOSMaxJobsPerAccountLimit"
                if (most := _number(limits, "MaxJobsPerUser")) is not None:
                    switched_off.add("MaxJobs")
                    if sum(each.user == job.user for each in jobs) >= most:
                        return "QOSMaxJobsPerUserLimit"
            elif of.own and "MaxJobs" not in switched_off:
                most = _number(limits, "MaxJobs")
                if most is not None and len(jobs) >= most:
                    return "AssocMaxJobsLimit"
            if (most := _number(limits, "MaxWall")) is not None and (kind == "QOS" or of.own):
                if "MaxWall" not in switched_off and job.limit > most:
                    return f"{kind}MaxWallDurationPerJobLimit"
                switched_off.add("MaxWall")
        return ""

    def after(self, job: Waiting, partition: str, amounts: Mapping[str, float], nodes: Sequence[int], state: State,
              running: Sequence[Running]) -> str:  # fmt: skip
        """The reason why a job may not start with these amounts; "" if there is none.

        Parameters
        ----------
        job : Waiting
            The job.
        partition : str
            In which it would start.
        amounts : mapping of str to float
            Those of the selection, or if it failed those asked for.
        nodes : sequence of int
            Those of the selection: limits on nodes count each only once.
        state : State
            Used for what was used so far.
        running : sequence of Running
            Jobs that count now.
        """
        if not self.enforced:
            return ""
        off: set[tuple[str, str]] = set()
        for of in self._all(job, partition):
            reason = self._after(of, job, amounts, nodes, state, running, off)
            if reason:
                return reason
        return ""

    def _after(self, of: _Of, job: Waiting, amounts: Mapping[str, float], nodes: Sequence[int], state: State,
               running: Sequence[Running], off: set[tuple[str, str]]) -> str:  # fmt: skip
        limits, kind = of.limits, of.kind
        jobs = self._jobs(of, running)
        minutes = int(job.limit)

        def each(name: str) -> Iterator[tuple[str, str, float]]:
            found = limits.get(name)
            if isinstance(found, Mapping):
                for resource in sorted(found, key=_order):
                    generic = name.replace("PerJob", "").replace("PerUser", "").replace("PerAccount", "")
                    plain = name if name.startswith("Grp") or not name.endswith("PerJob") else generic
                    if (plain, resource) in off and kind != "QOS":
                        continue
                    if kind == "QOS":
                        off.add((plain, resource))
                    yield resource, RESOURCES.get(resource, "GRES"), float(found[resource])

        def held(resource: str, of_jobs: Sequence[Running]) -> float:
            if resource == "node":
                return float(len({node for one in of_jobs for node in one.nodes} | set(nodes)) - len(set(nodes)))
            return sum(one.amounts().get(resource, 0.0) for one in of_jobs)

        used = state.used_minutes.get(of.name, {})
        for resource, name, most in each("GrpTRESMins"):
            so_far = used.get(resource, 0.0)
            if so_far >= most:
                return f"{kind}Grp{_minutes_name(name)}MinutesLimit"
            if self._safe:
                left = run_minutes(jobs, resource, state.last_period)
                if int(so_far) + left + minutes * amounts.get(resource, 0.0) > most:
                    return f"{kind}Grp{_minutes_name(name)}MinutesLimit"
        for resource, name, most in each("GrpTRES"):
            if held(resource, jobs) + amounts.get(resource, 0.0) > most:
                return f"{kind}Grp{name}Limit" if name != "GRES" else f"{kind}GrpGRES"
        for resource, name, most in each("GrpTRESRunMins"):
            left = run_minutes(jobs, resource, state.last_period)
            if left + minutes * amounts.get(resource, 0.0) > most:
                return f"{kind}Grp{_minutes_name(name)}RunMinutesLimit"
        if kind != "QOS" and not of.own:
            return ""
        for resource, name, most in each("MaxTRESMinsPerJob"):
            if minutes * amounts.get(resource, 0.0) > most:
                return f"{kind}Max{_minutes_name(name)}MinutesPerJobLimit"
        for resource, name, most in each("MaxTRESPerJob"):
            if amounts.get(resource, 0.0) > most:
                return f"{kind}Max{name}PerJobLimit"
        for resource, name, most in each("MaxTRESPerNode"):
            if amounts.get(resource, 0.0) / max(1, len(nodes)) > most:
                return f"{kind}Max{name}PerNode"
        if kind != "QOS":
            return ""
        for resource, name, least in each("MinTRESPerJob"):
            if amounts.get(resource, 0.0) < least:
                return f"QOSMin{name}"
        of_account = [one for one in jobs if one.account == job.account]
        for resource, name, most in each("MaxTRESPerAccount"):
            if held(resource, of_account) + amounts.get(resource, 0.0) > most:
                return f"Max{name}PerAccount"
        of_user = [one for one in jobs if one.user == job.user]
        for resource, name, most in each("MaxTRESPerUser"):
            if held(resource, of_user) + amounts.get(resource, 0.0) > most:
                return f"QOSMax{name}PerUser" + ("" if name == "GRES" else "Limit")
        return ""


def run_minutes(jobs: Sequence[Running], resource: str, last_period: float) -> int:
    """What running jobs may still use of a resource, in minutes, as counted at the last calculation period."""
    seconds = 0.0
    for job in jobs:
        left = max(0.0, 60.0 * job.limit - max(0.0, last_period - job.start))
        seconds += job.amounts().get(resource, 0.0) * left
    return math.floor(seconds / 60.0)


def _order(resource: str) -> int:
    names = list(RESOURCES)
    return names.index(resource) if resource in names else len(names)


def _minutes_name(name: str) -> str:
    return "CPU" if name == "Cpu" else name


def _number(limits: Mapping[str, Limit], name: str) -> int | None:
    found = limits.get(name)
    return found if isinstance(found, int) else None


def _whole(limits: Mapping[str, Limit], name: str) -> int:
    found = _number(limits, name)
    return 0 if found is None else found
