"""`faultsim.Slurm`: options under Slurm's names."""

import copy
import json
import pickle

import pytest

import faultsim as fs
from faultsim.policies.registry import from_lowered


def test_defaults_and_units():
    options = fs.Slurm()
    assert (options.bf_window, options.bf_interval, options.bf_max_job_test) == (1440, 30, 500)
    assert (options.PriorityMaxAge, options.PriorityCalcPeriod) == (7 * 86400, 300)
    for window in ("3d", "3-0", "4320", 4320, "3-00:00:00", "72h"):
        assert fs.Slurm(bf_window=window).bf_window == 4320
    assert fs.Slurm(bf_interval="2m").bf_interval == 120
    assert fs.Slurm(PriorityMaxAge="2d") == fs.Slurm(PriorityMaxAge="2-0") == fs.Slurm(PriorityMaxAge=2 * 86400)


def test_other_options():
    one = fs.Slurm(PriorityWeightAge=1000, SchedulerParameters="bf_window=60,bf_busy_nodes")
    other = one.replace(bf_window="1d", SchedulerParameters="bf_interval=20")
    assert (other.bf_window, other.bf_interval, other.bf_busy_nodes, other.PriorityWeightAge) == (1440, 20, True, 1000)
    assert one.bf_window == 60
    assert one != other
    assert other == fs.Slurm(PriorityWeightAge=1000, bf_interval=20, bf_busy_nodes=True)
    assert hash(other) == hash(fs.Slurm(PriorityWeightAge=1000, bf_interval=20, bf_busy_nodes=True))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bf_window": "3d", "PriorityWeightTRES": {"CPU": 3, "GRES/gpu": 4.5}, "PriorityFlags": ["MAX_TRES"]},
        {"PreemptMode": "REQUEUE", "DefMemPerCPU": 2000, "JobRequeue": False, "PriorityFavorSmall": "YES"},
    ],
)
def test_copies_are_equal(options):
    one = fs.Slurm(**options)
    name, version = one.lower().pop("name"), one.lower().pop("version")
    plain = {key: value for key, value in one.lower().items() if key not in ("name", "version", "order", "repairs")}
    assert (name, version) == ("slurm", "22.05")
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    assert eval(repr(one), {"Slurm": fs.Slurm}) == one
    tupled = {key: [tuple(each) if isinstance(each, list) else each for each in value] if isinstance(value, list) else
              value for key, value in plain.items()}  # fmt: skip
    assert fs.Slurm(**tupled) == one


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bf_windw": 1}, r"Slurm has no option 'bf_windw' \(did you mean 'bf_window'\?\)"),
        ({"bf_max_time": 1}, "option bf_max_time of Slurm is not modelled: cuts passes short"),
        ({"Licenses": "x"}, "option Licenses of Slurm is not modelled: jobs would wait for licences"),
        ({"bf_window": -1}, "bf_window of Slurm must be at least 0, got -1"),
        ({"bf_window": "long"}, "bf_window of Slurm must be"),
        ({"bf_max_job_test": 2.5}, "bf_max_job_test of Slurm must be a whole number"),
        ({"bf_busy_nodes": 3}, "bf_busy_nodes of Slurm must be True or False"),
        ({"PriorityFlags": "FAIR_TRE"}, "did you mean 'FAIR_TREE'"),
        ({"PriorityWeightTRES": [3]}, "PriorityWeightTRES"),
        ({"SchedulerParameters": "bf_window"}, "bf_window needs a value"),
        ({"SchedulerParameters": 3}, "SchedulerParameters of Slurm must be text"),
        ({"version": "1.0"}, "unknown version of Slurm '1.0'"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(fs.OptionError, match=message) as caught:
        fs.Slurm(**options)
    assert "\n" not in str(caught.value)


def test_options_do_not_change():
    with pytest.raises(fs.OptionError, match="write replace"):
        fs.Slurm().bf_window = 3
    with pytest.raises(AttributeError, match="did you mean 'bf_window'"):
        fs.Slurm().bf_windw  # noqa: B018


def test_it_needs_a_site():
    with pytest.raises(fs.OptionError, match="scheduler Slurm needs a Site"):
        fs.simulate(fs.Workload([0], [1], [1]), fs.Cluster(2), scheduler=fs.Slurm())


def test_it_is_saved_with_its_accounts(tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text(
        "PriorityType=priority/multifactor\nPriorityWeightTRES=CPU=3\nNodeName=n1 CPUs=4\nPartitionName=a Nodes=n1\n"
    )
    accounts = tmp_path / "accounts.txt"
    accounts.write_text("add account bio fairshare=3\nadd user u1 account=bio\n")
    one = fs.read_slurm_conf(conf, accounts).scheduler
    back = from_lowered("scheduler", json.loads(json.dumps(one.lower())))
    assert back == one == pickle.loads(pickle.dumps(one)) != fs.Slurm(**dict(one.options))
    assert [each.user for each in back.associations] == [each.user for each in one.associations]
