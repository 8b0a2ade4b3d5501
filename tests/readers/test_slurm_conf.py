"""slurm.conf, gres.conf and accounts: `faultsim.read_slurm_conf`."""

import io
import re
from pathlib import Path
from textwrap import wrap

import pytest

import faultsim as fs
from faultsim.data.slurm_settings import (
    IGNORED_NODE_KEYS,
    IGNORED_PARTITION_KEYS,
    IGNORED_SETTINGS,
    IGNORED_WORDS,
    NODE_KEYS,
    NOTHING,
    PARTITION_KEYS,
    SCHEDULER_WORDS,
    SETTINGS,
)

SCENE = Path(__file__).parent / "slurm" / "08s-scene"
#: Recordings of the real program beside the checkout, if they are there.
SHARED = Path(__file__).parents[3] / "shared" / "data" / "slurm"
RECORDED = [SCENE, *sorted(path for path in SHARED.glob("runs/*") if path.is_dir())]
SITE = """\
ClusterName=test
PriorityType=priority/multifactor   # a comment
PriorityWeightAge=1000
prioritymaxage=7-0
SchedulerParameters=bf_window=4320,bf_busy_nodes,\\
  default_queue_depth=50
NodeName=DEFAULT CPUs=16 RealMemory=64000
NodeName=n[01-03,10] Feature=ib,old Weight=2
NodeName=g[2-1] CPUs=4
PartitionName=DEFAULT MaxTime=60 State=UP
PartitionName=batch Nodes=n[01-03,10] Default=YES DefaultTime=5
"""
SITE = SITE.replace("g[2-1]", "g[1-2] Gres=gpu:v100:2")


@pytest.fixture
def site(tmp_path):
    """Reads a slurm.conf that is the one above with a change, or with lines after it."""

    def read(old="", new="", accounts=None, gres=None, more=""):
        assert old in SITE
        path = tmp_path / "slurm.conf"
        path.write_text(SITE.replace(old, new) if old else SITE + more)
        files = {}
        for name, text in (("accounts", accounts), ("gres", gres)):
            if text is not None:
                files[name] = tmp_path / f"{name}.txt"
                files[name].write_text(text)
        return fs.read_slurm_conf(path, **files)

    return read


def effective(conf):
    """Associations with the priorities and QOS that hold for them, in any order."""
    own = {(each.account, each.user): each for each in conf.associations}

    def priority(each):
        above = own.get((each.account if each.user else each.parent, ""))
        return each.priority if each.priority is not None or above is None else priority(above)

    return {key: (each.parent, each.shares, priority(each), dict(each.limits), each.qos) for key, each in own.items()}


class TestRecordings:
    @pytest.mark.parametrize("folder", RECORDED, ids=lambda path: path.name)
    def test_equals_what_the_real_slurm_prints(self, folder):
        """scontrol and sacctmgr print it independently, from the running controller."""
        conf = fs.read_slurm_conf(folder / "slurm.conf", folder / "accounts.txt", folder / "gres.conf")
        shown = fs.read_slurm_conf(
            [folder / name for name in ("config.txt", "nodes.txt", "partitions.txt")],
            [folder / "sacctmgr.cfg", folder / "qos.txt"],
            folder / "gres.conf",
        )
        table = fs.read_slurm_conf(folder / "slurm.conf", [folder / "assoc.txt", folder / "qos.txt"])
        assert conf.nodes == shown.nodes
        assert conf.partitions == shown.partitions
        assert conf.settings == shown.settings
        assert effective(conf) == effective(shown) == effective(table)
        assert conf.qos == shown.qos == table.qos
        assert not any(key.unknown for key in conf.ignored)
        assert conf.site == shown.site

    @pytest.mark.skipif(not SHARED.exists(), reason="needs the configuration of a university cluster")
    def test_a_university_cluster(self):
        folder = SHARED / "ub-hpc"
        conf = fs.read_slurm_conf(folder / "slurm.conf", folder / "accounts.sacctmgr", folder / "gres.conf")
        assert (len(conf.nodes), conf.site.cores, conf.site.gpus) == (217, 7968, 20)
        assert len({each.user for each in conf.associations if each.user not in ("", "root")}) == 96
        assert [node.name for node in conf.nodes][:1] + [node.name for node in conf.nodes][-1:] == ["b001", "n087"]
        assert conf.scheduler.bf_window == 4320
        assert dict(conf.scheduler.PriorityWeightTRES)["mem"] == 0.03
        part = conf.partition("general-compute")
        assert (part.priority_tier, part.priority_job_factor, part.qos) == (100, 100, "general-compute")
        assert (part.max_time, part.default_time, part.def_mem_per_cpu) == (72 * 3600, 24 * 3600, 2800)
        user = next(each for each in conf.associations if each.user == "user001")
        assert (user.shares, user.account) == (None, "account001")
        assert "normal" not in conf.qos
        assert conf.odd == (
            "partition debug: MaxTime (60 min) is below DefaultTime",
            "3 accounts without users: account021, account033, account056",
        )


class TestConf:
    def test_what_is_read(self, site):
        conf = site()
        assert [node.name for node in conf.nodes] == ["g1", "g2", "n01", "n02", "n03", "n10"]
        assert conf.nodes[2] == fs.SlurmNode("n01", 16, 64000, {}, 2, ("ib", "old"))
        assert dict(conf.nodes[0].gpus) == {"v100": 2}
        assert conf.partitions[0].max_time == 3600
        assert conf.settings["PriorityMaxAge"] == 7 * 86400
        assert (conf.settings["bf_window"], conf.settings["bf_busy_nodes"]) == (4320, True)
        assert conf.settings["default_queue_depth"] == 50
        assert "2 nodes in no partition: g1, g2" in conf.odd
        given = fs.Slurm(
            PriorityType="priority/multifactor", PriorityWeightAge=1000, bf_window="3d", bf_busy_nodes=True,
            default_queue_depth=50,
        )  # fmt: skip
        assert conf.scheduler.options == given.options
        assert conf.scheduler == given.replace(conf=conf) != given

    def test_files_that_are_included(self, site, tmp_path):
        (tmp_path / "more.conf").write_text("PartitionName=gpu Nodes=g[1-2] PriorityTier=3\n")
        conf = site(more="Include more.conf\n")
        assert (conf.partitions[1].priority_tier, conf.partitions[1].max_time) == (3, 3600)

    def test_every_ignored_key_is_listed(self, site):
        more = (
            "Licenses=matlab:20\nSchedulerParameters=bf_max_time=60,bf_windw=3\nBogus=1\n"
            "NodeName=x1 CPUs=1 CoreSpecCount=1\nPartitionName=p Nodes=x1 AllowGroups=a MaxTme=5\n"
        )
        conf = site(more=more)
        listed = {key.name: (key.where.rpartition(", ")[2], key.effect, key.unknown) for key in conf.ignored}
        assert listed["Licenses"] == ("line 12", "jobs would wait for licences", False)
        assert listed["bf_windw"] == ("line 13", "unknown key (did you mean 'bf_window'?)", True)
        assert listed["bf_max_time"][0] == "line 13"
        assert listed["Bogus"][2]
        assert listed["CoreSpecCount"][1] == "so many cores of the node would be kept for the system"
        assert listed["AllowGroups"][1] == "jobs of other groups would be refused"
        assert listed["MaxTme"][1] == "unknown key (did you mean 'MaxTime'?)"

    def test_other_resources_of_nodes_are_listed(self, site):
        conf = site("gpu:v100:2", "gpu:v100:2,shard:8")
        assert [(key.name, key.value, key.effect) for key in conf.ignored] == [
            ("Gres", "shard:8", "jobs would wait for this resource")
        ]
        assert conf.nodes[0].gpu_count == 2

    def test_standard_input_is_read_once(self, site, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(SITE.encode()))))
        assert fs.read_slurm_conf("-").nodes == site().nodes

    def test_nodes_on_which_no_job_starts_are_not_on_the_site(self, site):
        assert site().site.nodes == 6
        assert site(more="DownNodes=g1,n10 State=DOWN\nNodeName=z CPUs=1 State=FUTURE\n").site.nodes == 4
        with pytest.raises(fs.OptionError, match="no node on which jobs start"):
            site(more="DownNodes=g[1-2],n[01-03,10] State=DRAIN\n").site  # noqa: B018

    def test_modes_of_preemption(self, site):
        conf = site(more="PreemptMode=GANG,SUSPEND\nPartitionName=p Nodes=g1 PreemptMode=OFF\n")
        assert [part.preempt_mode for part in conf.partitions] == ["SUSPEND", "OFF"]

    def test_no_key_is_both_read_and_ignored(self):
        for read, ignored in (
            (SETTINGS, IGNORED_SETTINGS),
            (SCHEDULER_WORDS, IGNORED_WORDS),
            (NODE_KEYS, IGNORED_NODE_KEYS),
            (PARTITION_KEYS, IGNORED_PARTITION_KEYS),
        ):
            assert not set(read) & {name.lower() for name in ignored}

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("PriorityWeightAge=1000", "PriorityWeightAge", "line 3: expected Key=value, got 'PriorityWeightAge'"),
            ("PriorityWeightAge=1000", "PriorityWeightAge=x", "line 3: PriorityWeightAge=x: expected a whole number"),
            ("PriorityWeightAge=1000", "PriorityFlags=FAIR_TRE", r"FAIR_TRE: .*did you mean 'FAIR_TREE'"),
            ("prioritymaxage=7-0", "PriorityMaxAge=week", "line 4: PriorityMaxAge=week: expected minutes"),
            ("bf_window=4320", "bf_window", "line 5: SchedulerParameters: bf_window needs a value"),
            ("CPUs=16", "CPUs=0", "line 8: node n01 has no CPUs"),
            ("RealMemory=64000", "RealMemory=64X", "line 8: RealMemory=64X: expected an amount of memory"),
            ("n[01-03,10] F", "n[01-03,10 F", "expected names of nodes such as"),
            ("n[01-03,10] F", "n[03-01] F", "expected names of nodes such as"),
            ("NodeName=g[1-2]", "NodeName=n[1-2],n01", "node n01 appears twice"),
            ("gpu:v100:2", "gpu:v100:x", "line 9: Gres=x: expected a whole number"),
            ("Nodes=n[01-03,10]", "Nodes=n[01-04]", "line 11: partition batch: there is no node n04"),
            ("Default=YES", "Default=PERHAPS", "line 11: Default=PERHAPS: expected YES or NO"),
            ("State=UP", "State=UPP", r"State=UPP: not one of .*did you mean 'UP'"),
            ("Default=YES", "OverSubscribe=OFTEN", "OverSubscribe=OFTEN: expected NO, EXCLUSIVE"),
            ("DefaultTime=5", "TRESBillingWeights=CPU", "expected weights such as CPU=1.0"),
            ("ClusterName=test", "Include no.conf", "line 1: Include: no such file no.conf"),
            ("ClusterName=test", "Include slurm.conf", "the file includes itself"),
            ("PartitionName=batch", "PartitionName=DEFAULT", "no line with PartitionName="),
        ],
    )  # fmt: skip
    def test_mistakes(self, site, old, new, message):
        with pytest.raises(fs.InputError, match=message) as caught:
            site(old, new)
        assert "\n" not in str(caught.value)

    def test_no_nodes(self, tmp_path):
        (tmp_path / "a.conf").write_text("ClusterName=a\n")
        with pytest.raises(fs.InputError, match="no line with NodeName="):
            fs.read_slurm_conf(tmp_path / "a.conf")

    def test_two_defaults(self, site):
        with pytest.raises(fs.InputError, match="Default=YES in more than one partition: batch, b"):
            site(more="PartitionName=b Nodes=g1 Default=YES\n")

    def test_gpus_of_gres_conf(self, site):
        conf = site("gpu:v100:2", "gpu:2", gres="NodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n")
        assert dict(conf.nodes[0].gpus) == {"a100": 2}
        with pytest.raises(fs.InputError, match=r"line 1: node g1 has 1 GPUs in gres.conf, but 2 in slurm.conf"):
            site(gres="NodeName=g[1-2] Name=gpu Count=1\n")

    def test_nodes_of_several_types_of_gpus_are_no_site(self, site):
        conf = site("gpu:v100:2", "gpu:v100:2,gpu:a100:1")
        assert conf.nodes[0].gpu_count == 3
        with pytest.raises(fs.OptionError, match="node g1 has GPUs of several types"):
            conf.site  # noqa: B018

    @pytest.mark.parametrize(
        ("more", "sentence"),
        [
            ("PartitionName=d Nodes=g1 State=DOWN", "partition d is DOWN: none of its jobs starts"),
            ("PartitionName=d Nodes=g1 DefaultTime=90", r"partition d: MaxTime \(60 min\) is below DefaultTime"),
            ("PartitionName=d", "partition d has no nodes"),
            ("PartitionName=d Nodes=g1 MinNodes=2", "partition d: MinNodes is 2, but it has 1 node"),
            ("PartitionName=d Nodes=g1 MinNodes=2 MaxNodes=1", r"MaxNodes \(1\) is below MinNodes \(2\)"),
            ("PartitionName=d Nodes=g1 DefMemPerCPU=99999", "is more than a node of it has"),
            ("PriorityWeightPartition=5", "PriorityWeightPartition never decides"),
            ("PreemptMode=REQUEUE", "PreemptMode=REQUEUE has no effect"),
            ("PreemptType=preempt/partition_prio", "never preempts: PriorityTier is the same"),
            ("PriorityType=priority/basic", "PriorityWeightAge decide nothing"),
            ("SchedulerParameters=bf_window=30", "bf_window .30 min. is shorter than the longest MaxTime .60 min."),
            ("DownNodes=g1 State=DRAIN", "1 node with a State that no job starts on: g1"),
        ],
    )
    def test_oddities(self, site, more, sentence):
        found = [line for line in site(more=more + "\n").odd if re.search(sentence, line)]
        assert len(found) == 1
        assert not [line for line in site().odd if re.search(sentence, line)]


SCRIPT = """\
# accounts
sacctmgr -i add qos high priority=100 MaxWall=1-0 preempt=normal flags=DenyOnLimit
add account science fairshare=30 GrpTRES=cpu=64,mem=1G
add account physics parent=science
add user ann,bob account=physics fairshare=parent
modify user where name=ann account=physics set qos+=high MaxJobs=4
"""


class TestAccounts:
    def test_commands(self, site):
        conf = site(accounts=SCRIPT)
        rows = {each.user or each.account: each for each in conf.associations}
        assert (rows["science"].parent, rows["science"].shares) == ("root", 30)
        assert rows["science"].limits == {"GrpTRES": {"cpu": 64, "mem": 1024}}
        assert rows["physics"].parent == "science"
        assert (rows["ann"].shares, rows["ann"].qos, rows["ann"].limits) == (None, ("high", "normal"), {"MaxJobs": 4})
        assert rows["bob"].qos == ("normal",)
        high = conf.qos["high"]
        assert (high.priority, high.preempt, high.limits, high.flags) == (
            100, ("normal",), {"MaxWall": 1440}, ("DenyOnLimit",)
        )  # fmt: skip

    def test_commands_that_take_back(self, site):
        more = "modify user name=ann set MaxJobs=-1 qos-=high\ndelete user name=bob\nmodify qos high set priority=7\n"
        conf = site(accounts=SCRIPT + more)
        rows = {each.user or each.account: each for each in conf.associations}
        assert (rows["ann"].qos, rows["ann"].limits) == (("normal",), {})
        assert "bob" not in rows
        assert conf.qos["high"].priority == 7
        assert "QOS high has no users, and is that of no partition" in conf.odd

    def test_a_removed_account_takes_all_below_with_it(self, site):
        conf = site(accounts=SCRIPT + "remove account science\n")
        assert {each.account for each in conf.associations} == {"root"}

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ("add account x parent=nope", "line 7: the parent 'nope' is no account so far"),
            ("add user eve account=nope", "line 7: 'nope' is no account so far"),
            ("add user eve", "line 7: add user: its account is missing"),
            ("modify user anne set MaxJobs=1", r"line 7: no user 'anne' \(did you mean 'ann'\?\)"),
            ("modify account science set", "line 7: modify account: nothing to set"),
            ("modify qos hihg set priority=3", "line 7: no QOS 'hihg'"),
            ("add account y fairshare=much", "line 7: fairshare=much: expected a whole number or parent"),
            ("add account y GrpTRES=cpu", "line 7: GrpTRES: expected amounts such as cpu=96"),
            ("add qos q priority=-3", "line 7: priority=-3: expected a whole number"),
            ("add thing x", "line 7: expected account, user, qos or cluster after the command, got 'thing'"),
            ("frob account x", "line 7: expected add, modify or delete"),
            ('add account "x', "line 7: No closing quotation"),
            ("modify account science set parent=physics", "is below itself"),
        ],
    )
    def test_mistakes(self, site, more, message):
        with pytest.raises(fs.InputError, match=message):
            site(accounts=SCRIPT + more + "\n")

    @pytest.mark.parametrize("text", ["", "hello\n", "Account - bio\n", "Parent - 'x'\n", "Name|Priority\nhigh\n"])
    def test_files_of_other_kinds(self, site, text):
        with pytest.raises(fs.InputError, match=r"accounts\.txt"):
            site(accounts=text)

    def test_a_dump_without_qos(self, site):
        conf = site(accounts="Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a'\nParent - 'a'\n"
                             "User - 'u':QOS='+high':Coordinator='a':MaxJbs=3\n")  # fmt: skip
        assert conf.associations[-1].qos == ("high", "normal")
        assert any("no file defines the QOS high" in line for line in conf.odd)
        assert [(key.name, key.effect) for key in conf.ignored if key.unknown] == [
            ("Coordinator", "unknown key"), ("MaxJbs", "unknown key (did you mean 'MaxJobs'?)")
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("more", "sentence"),
        [
            ("add qos none GrpTRES=cpu=0", "QOS none: GrpTRES is 0: no job can meet it"),
            ("modify account science set MaxWall=600", "account science: MaxWall (600 min) limits nothing"),
            ("modify account science set GrpTRES=cpu=9999", "GrpTRES of 9999 CPUs limits nothing"),
            ("add account empty", "1 account without users: empty"),
        ],
    )
    def test_oddities(self, site, more, sentence):
        assert any(sentence in line for line in site(accounts=f"{SCRIPT}{more}\n").odd)
        assert not any(sentence in line for line in site(accounts=SCRIPT).odd)


def test_no_file():
    with pytest.raises(fs.InputError, match="no such file"):
        fs.read_slurm_conf("nowhere.conf")
    with pytest.raises(fs.OptionError, match="no file given"):
        fs.read_slurm_conf([])


PAGE = Path(__file__).parents[2] / "docs" / "background" / "slurm-ignored.md"


def tables():
    """The tables of the page, from those of the reader."""
    found = []
    for title, table in (
        ("Settings", {name: effect for name, effect in IGNORED_SETTINGS.items() if effect != NOTHING}),
        ("Words of SchedulerParameters", IGNORED_WORDS),
        ("Keys of NodeName lines", IGNORED_NODE_KEYS),
        ("Keys of PartitionName lines", IGNORED_PARTITION_KEYS),
    ):
        rows = [f"| `{name}` | {table[name]} |" for name in sorted(table, key=str.lower)]
        found.append("\n".join([f"## {title}", "", "| key | what it would change |", "|---|---|", *rows]))
    silent = sorted((name for name, effect in IGNORED_SETTINGS.items() if effect == NOTHING), key=str.lower)
    found.append("\n".join(["## Settings that change no start", "", *wrap(", ".join(f"`{n}`" for n in silent), 118)]))
    return found


def test_the_page_lists_every_ignored_key():
    text = PAGE.read_text(encoding="utf-8")
    for table in tables():
        assert table in text
    assert text.count("\n| `") == sum(table.count("\n| `") for table in tables())
