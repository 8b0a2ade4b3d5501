"""slurm.conf, gres.conf, accounts of sacctmgr and requests of sacct: what priorities depend on."""

import math
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.data.host_lists import expanded
from faultsim.readers.slurm_priority_files import read_priority_conf
from faultsim.readers.slurm_requests import read_slurm_requests, submit_options

CONF = """\
# comment
ClusterName=c
PriorityWeightAge = 1000   # comment
PriorityParameters="a b"
Include nodes.conf
NodeSet=fat Nodes=g2
PartitionName=DEFAULT PriorityJobFactor=5 State=UP
PartitionName=batch Nodes=ALL Default=YES
PartitionName=gpu Nodes=fat,g1 PriorityJobFactor=7 \\
  TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES/gpu=2.0"
"""
NODES = """\
NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000
NodeName=n[08-10]
NodeName=g[1-2] CPUs=40 RealMemory=128000 Gres=gpu:a100:4(S:0-1),shard:8,gpu:v100:2
"""


@pytest.fixture
def conf(tmp_path):
    (tmp_path / "nodes.conf").write_text(NODES)
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return path


def shares(found):
    """Account, user, parent, shares and priority of each association."""
    lines = found.accounts.values()
    return sorted((each.account, each.user, each.parent, each.shares or -1, each.priority) for each in lines)


def test_conf_with_defaults_and_included_files(conf):
    found = read_priority_conf(conf)
    assert found.settings["priorityweightage"] == "1000"
    assert found.settings["priorityparameters"] == "a b"
    assert {name: (node.cpus, node.memory, node.gpus) for name, node in found.nodes.items()} == {
        "n08": (32, 64000.0, 0.0), "n09": (32, 64000.0, 0.0), "n10": (32, 64000.0, 0.0),
        "g1": (40, 128000.0, 6.0), "g2": (40, 128000.0, 6.0),
    }  # fmt: skip
    assert found.partitions["batch"].nodes == ["g1", "g2", "n08", "n09", "n10"]
    gpu = found.partitions["gpu"]
    assert (gpu.nodes, gpu.job_factor, found.partitions["batch"].job_factor) == (["g1", "g2"], 7, 5)
    assert gpu.billing == {"cpu": 1.0, "mem": 0.25 / 1024, "gres/gpu": 2.0}


def test_commands_and_dumps_say_the_same(conf, tmp_path):
    commands = tmp_path / "commands.txt"
    commands.write_text(
        "sacctmgr -i add account a fairshare=30 description='x y'\nadd account b parent=a\nadd user u,v account=b\n"
        "add user w account=a fairshare=9\nmodify user where name=v account=b set fairshare=parent\n"
        "modify account a set priority=7\nadd user z account=a\ndelete user z where account=a\n"
        "create qos high priority=100\nadd qos low\nmodify qos low set priority=3 UsageFactor=0.5\n"
    )
    dump = tmp_path / "dump.cfg"
    dump.write_text(
        "# To edit this file\nCluster - 'c':Fairshare=1:QOS='normal'\nParent - 'root'\n"
        "User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n"
        "Account - 'a':Description='x:y':Organization='o':Fairshare=30:Priority=7\nParent - 'a'\n"
        "User - 'w':DefaultAccount='a':Fairshare=9\nAccount - 'b':Fairshare=1\nParent - 'b'\n"
        "User - 'u':Fairshare=1\nUser - 'v':Fairshare=parent\n"
    )
    qos = tmp_path / "qos.txt"
    qos.write_text("Name|Priority|GraceTime|UsageFactor|\nnormal|0|0|1.000000|\nhigh|100|0|1.0|\nlow|3|0|0.5|\n")
    one, other = read_priority_conf(conf, [commands]), read_priority_conf(conf, [dump, qos])
    assert shares(one) == shares(other)
    assert ("b", "v", "b", -1, None) in shares(one)
    assert one.qos == other.qos == {"normal": 0, "high": 100, "low": 3}
    assert one.usage_factors["low"] == other.usage_factors["low"] == 0.5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Include nodes.conf", "Include slurm.conf", "the file includes itself"),
        ("Include nodes.conf", "Include none.conf", r"none.conf: no such file"),
        ("Include nodes.conf", "", "no line with NodeName="),
        ("PartitionName=", "#", "no line with PartitionName="),
        ("Nodes=fat", "Nodes=x9", r"line 9: partition gpu: no NodeName=x9 in the file"),
        ("PriorityJobFactor=7", "PriorityJobFactor=-7", r"line 9: PriorityJobFactor=-7: expected a whole number"),
        ("CPU=1.0", "CPU=one", "expected weights as CPU=1.0"),
        ("ClusterName=c", "cluster", "line 2: expected Key=value, got 'cluster'"),
    ],
)
def test_mistakes_in_slurm_conf(conf, old, new, message):
    conf.write_text(CONF.replace(old, new))
    with pytest.raises(fs.InputError, match=message):
        read_priority_conf(conf)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; expected sacctmgr dump"),
        ("7 8 9\n", "line 1: expected sacctmgr dump"),
        ("add user u\n", "line 1: a user without account="),
        ("add account a fairshare=many\n", "line 1: fairshare=many: expected a whole number or parent"),
        ("add qos q priority=high\n", "line 1: priority=high: expected a whole number"),
        ("add account a\narchive dump x=1\n", "line 2: expected add, modify or delete"),
        ("Parent - 'root'\nAcount - 'a'\n", "line 2: expected Account - 'name'"),
        ("Name|Priority\nnormal|x\n", "line 2: Priority=x: expected a whole number"),
    ],
)
def test_mistakes_in_accounts(conf, tmp_path, text, message):
    path = tmp_path / "accounts.txt"
    path.write_text(text)
    with pytest.raises(fs.InputError, match=message):
        read_priority_conf(conf, [path])


def test_gpus_are_checked_against_gres_conf(conf, tmp_path):
    gres = tmp_path / "gres.conf"
    gres.write_text("NodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3]\nNodeName=g1 Name=gpu Count=2\n")
    with pytest.raises(fs.InputError, match=r"node g2 has 4 GPUs, but 6 in slurm.conf"):
        read_priority_conf(conf, gres=gres)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[08-10],g1", ["n08", "n09", "n10", "g1"]),
        ("r[1-2]n[1,3]-x", ["r1n1-x", "r1n3-x", "r2n1-x", "r2n3-x"]),
        ("a,b", ["a", "b"]),
        ("n[1-", ["n[1-"]),
        ("n[0-99999999]", ["n[0-99999999]"]),
    ],
)
def test_host_lists(text, names):
    assert expanded(text) == names


def test_requests_of_requeued_jobs_and_arrays(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(
        "JobID|JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|ReqNodes|ReqTRES|Timelimit|"
        "SubmitLine\n"
        "7|7|u|a|long|q|2026-12-01T00:10:00|2026-12-01T00:12:01|Unknown|Unknown|PENDING|1|cpu=8,mem=4000M,node=2|"
        "1-00:30:00|sbatch -N 2-4 -p batch,long --nice=5 --exclusive --wrap exec sleep 8 -p x\n"
        "7|7|u|a|long|q|2026-12-01T00:00:00|2026-12-01T00:00:00|2026-12-01T00:01:00|2026-12-01T00:10:00|NODE_FAIL|1|"
        "cpu=8,mem=4000M,node=2|1-00:30:00|sbatch -N 2-4 -p batch,long --nice=5 --exclusive --wrap exec sleep 8 -p x\n"
        "8_1|9|u|a|batch|q|2026-12-01T00:00:00|Unknown|Unknown|Unknown|PENDING|1|cpu=1|UNLIMITED|\n"
        "7.batch|7.batch||a||||||||||\n"
    )
    found = read_slurm_requests(path)
    assert sorted(found) == [7, 9]
    job = found[7]
    assert (job.nodes, job.cpus, job.tres["mem"], job.limit, job.nice, job.exclusive) == (
        2, 8.0, 4000.0, 1470.0, 5.0, True,
    )  # fmt: skip
    assert job.partitions == ("batch", "long")
    assert [run.state for run in job.runs] == ["NODE_FAIL", "PENDING"]
    assert (found[9].special, found[9].limit) == (("array",), math.inf)


def test_requests_need_fields(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text("JobID|State\n7|COMPLETED\n")
    with pytest.raises(fs.InputError, match="no field submit, reqnodes, reqtres; print the table with sacct"):
        read_slurm_requests(path)


def test_what_follows_wrap_is_the_job_s_own():
    assert submit_options("sbatch -n4 --mem 10G --hold job.sh -p x") == {"ntasks": "4", "mem": "10G", "hold": ""}


def test_a_dump_of_a_recording():
    folder = Path(__file__).parent / "slurm" / "08s-scene"
    one = read_priority_conf(folder / "slurm.conf", [folder / "accounts.txt"], folder / "gres.conf")
    other = read_priority_conf(folder / "slurm.conf", [folder / "sacctmgr.cfg", folder / "qos.txt"])
    assert shares(one) == shares(other)
    assert one.qos == other.qos
