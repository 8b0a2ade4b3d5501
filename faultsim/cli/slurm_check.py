"""``faultsim slurm check``: what of a configuration of Slurm is modelled, what is ignored, and what is odd."""

import argparse
from typing import Any

import faultsim as fs
from faultsim.cli.output import print_json, shown
from faultsim.data.slurm_settings import NOTHING, SCHEDULER_WORDS, SETTINGS
from faultsim.errors import FaultsimError


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``check`` to the commands of ``faultsim slurm``."""
    parser = commands.add_parser(
        "check",
        help="what of a slurm.conf is modelled, what is ignored, and what is odd",
        description="Read the configuration of a site, and print what the model takes from it, each key that it "
        "ignores with what that key would change, and what is odd. Exit status: 0, or 2 for bad input.",
    )
    parser.add_argument(
        "conf", metavar="FILE", nargs="+", help="slurm.conf, or what scontrol show config, node and partition print"
    )
    parser.add_argument(
        "--accounts", metavar="F", nargs="+", help="sacctmgr dump and sacctmgr --parsable2 show qos, or a script of "
        "commands of sacctmgr",
    )  # fmt: skip
    parser.add_argument("--gres", metavar="F", help="gres.conf, which says the types of GPUs")
    parser.add_argument("--all", action="store_true", help="list the ignored keys that change no start, too")
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    parser.set_defaults(perform=perform)


def perform(args: argparse.Namespace) -> int:
    """Read and print."""
    conf = fs.read_slurm_conf(args.conf, args.accounts, args.gres)
    found = findings(conf)
    if args.json:
        print_json(found)
    else:
        _print(found, args.all)
    return 0


def findings(conf: fs.SlurmConf) -> dict[str, object]:
    """What there is to say of a configuration, as plain values."""
    site, why = "", ""
    try:
        site = str(conf.site)
    except FaultsimError as error:
        why = str(error)
    users = [each for each in conf.associations if each.user]
    return {
        "version": conf.version,
        "nodes": len(conf.nodes),
        "cpus": sum(node.cpus for node in conf.nodes),
        "memory_mib": sum(node.memory for node in conf.nodes),
        "gpus": sum(node.gpu_count for node in conf.nodes),
        "partitions": [
            {
                "name": part.name, "nodes": len(part.nodes), "max_time": part.max_time, "tier": part.priority_tier,
                "factor": part.priority_job_factor, "state": part.state, "default": part.default, "qos": part.qos,
            }
            for part in conf.partitions
        ],
        "accounts": len(conf.associations) - len(users),
        "users": len({each.user for each in users}),
        "qos": [
            {"name": each.name, "priority": each.priority, "limits": dict(each.limits)} for each in conf.qos.values()
        ],
        "limits": sum(len(each.limits) for each in conf.associations),
        "site": site,
        "no_site": why,
        "settings": {name: _plain(conf.settings[name]) for name in conf.given},
        "ignored": [
            {"name": key.name, "value": key.value, "where": key.where, "effect": key.effect, "unknown": key.unknown}
            for key in conf.ignored
        ],
        "odd": list(conf.odd),
    }  # fmt: skip


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return None if value == float("inf") else value


def _minutes(seconds: float | None) -> str:
    return "no limit" if seconds is None else f"at most {seconds / 60:g} min"


def _setting(value: object) -> str:
    if isinstance(value, list):
        return ",".join("=".join(map(_setting, each)) if isinstance(each, list) else str(each) for each in value)
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _unit(name: str) -> str:
    units = {"minutes": " min", "seconds": " s", "time": " s", "memory": " MiB"}
    return units.get((SETTINGS | SCHEDULER_WORDS)[name.lower()].kind, "")


def _print(found: dict[str, Any], everything: bool) -> None:
    print(f"modelled, by the rules of Slurm {found['version']}:")
    amounts = f"{found['cpus']:,} CPUs, {found['memory_mib'] / 1024:,.0f} GiB, {found['gpus']:,} GPUs"
    print(f"  {found['nodes']:,} nodes: {amounts}")
    for part in found["partitions"]:
        further = [_minutes(part["max_time"]), f"tier {part['tier']}", f"job factor {part['factor']}"]
        further += [f"QOS {part['qos']}"] if part["qos"] else []
        further += ["default"] if part["default"] else []
        print(shown(f"  partition {part['name']}: {part['nodes']:,} nodes, {', '.join(further)}, {part['state']}"))
    if found["accounts"]:
        print(f"  {found['accounts']:,} accounts, {found['users']:,} users, {found['limits']:,} limits of theirs")
        for qos in found["qos"]:
            limits = f", limits: {', '.join(qos['limits'])}" if qos["limits"] else ""
            print(shown(f"  QOS {qos['name']}: priority {qos['priority']:,}{limits}"))
    else:
        print("  no accounts: give --accounts for shares, QOS and limits")
    for name, value in found["settings"].items():
        print(shown(f"  {name}={_setting(value)}{_unit(name)}"))
    print(shown(f"  as a machine: {found['site']}" if found["site"] else f"  no machine: {found['no_site']}"))
    listed = [key for key in found["ignored"] if everything or key["effect"] != NOTHING]
    silent = len(found["ignored"]) - len(listed)
    print("\nignored, and what it would change:" if listed else "\nignored: nothing that would change a start")
    for key in listed:
        given = f"{key['name']}={key['value']}" if key["value"] else key["name"]
        print(shown(f"  {given:.60} ({key['where']}): {key['effect']}"))
    if silent:
        print(f"  {silent:,} keys of daemons, logs, security or steps, which change no start; --all lists them")
    print("\nodd:" if found["odd"] else "\nodd: nothing")
    for sentence in found["odd"]:
        print(shown(f"  {sentence}"))
