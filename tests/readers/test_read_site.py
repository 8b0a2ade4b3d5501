"""Sites from tables: what scontrol and sinfo print, and CSVs; one site, whichever form it has."""

import pytest

import faultsim as fs

SCONTROL = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=0 CPUEfctv=32 CPUTot=32 CPULoad=0.04
   AvailableFeatures=ib,cascade
   ActiveFeatures=ib,cascade
   Gres=(null)
   RealMemory=191488 AllocMem=0 FreeMem=1000 Sockets=2 Boards=1
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=10 Owner=N/A MCS_label=N/A
   Partitions=main

NodeName=n2 Arch=x86_64
   CPUTot=32 AvailableFeatures=ib,cascade Gres=(null) RealMemory=191488 Weight=10 Partitions=main

NodeName=g1 Arch=x86_64
   CPUTot=40 AvailableFeatures=(null) Gres=gpu:v100:2(S:0-1) RealMemory=191488 Weight=50 Partitions=main,gpu
"""
SINFO = """\
NODELIST  CPUS  MEMORY  GRES             AVAIL_FEATURES  PARTITION  WEIGHT  TIMELIMIT
n1        32    191488  (null)           ib,cascade      main*      10      3-00:00:00
n2        32    191488  (null)           ib,cascade      main*      10      3-00:00:00
g1        40    191488  gpu:v100:2       (null)          main*      50      3-00:00:00
g1        40    191488  gpu:v100:2       (null)          gpu        50      infinite
"""
BY_NODE = """\
node,cores,memory,gpus,features,weight,partition
n1,32,187G,,ib;cascade,10,main
n2,32,187G,,ib;cascade,10,main
g1,40,191488,v100:2,,50,main;gpu
"""
BY_CLASS = """\
class,count,cores,memory,gpus,gpu_type,features,weight,partition,max_time
n,2,32,187G,0,,ib+cascade,10,main,3d
g,1,40,187G,2,v100,,50,main+gpu,
"""
CLASSES = "site:n=2x32c187G@10+ib+cascade,g=1x40c187Gx2v100@50"


@pytest.fixture
def read(tmp_path):
    def reads(text):
        (tmp_path / "nodes").write_text(text)
        return fs.read_site(tmp_path / "nodes")

    return reads


@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        (SCONTROL, "main=n+g/gpu=g"),
        (SINFO, "main=n+g,max_time=259200s,default/gpu=g"),
        (BY_NODE, "main=n+g/gpu=g"),
        (BY_CLASS, "main=n+g,max_time=259200s/gpu=g"),
    ],
    ids=["scontrol", "sinfo", "a row per node", "a row per class"],
)
def test_each_form_is_the_same_site(read, text, partitions):
    assert str(read(text)) == f"{CLASSES}/{partitions}"


def test_nodes_keep_their_names(read):
    assert [each.hosts for each in read(SINFO).classes] == [("n1", "n2"), ("g1",)]


def test_groups_of_other_tools_are_named_after_their_first_node(read):
    assert str(read("name,cores\nrack1-a,4\nrack2-b,8\n")) == "site:rack=1x4c,rack_2=1x8c"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,cores,memory\nn1,4,1e999G\n", "line 2: memory '1e999G' is no amount"),
        ("a,b\n1,2\n", "no table of nodes; expected the output of 'scontrol show node'"),
        ("name,cores\nn1,many\n", "line 2: cores 'many' is no whole number"),
        ("name,cores\nn1,\n", "line 2: the number of cores of 'n1' is missing"),
        ("name,cores,memory\nn1,4,lots\n", "line 2: memory 'lots' is no amount"),
        ("name,cores,gpus\nn1,4,gpu:a:1;gpu:b\n", "line 2: GPUs 'gpu:a:1;gpu:b' cannot be read"),
        ("NODELIST CPUS GRES\nn1 4 gpu:a:1,gpu:b:1\n", "no table|several types"),
        ("NODELIST CPUS\nn1 4 5\n", "line 2: 3 values for 2 columns; give sinfo wider columns"),
        ("NODELIST CPUS TIMELIMIT\nn1 4 long\n", "'long' is no time limit"),
    ],
)
def test_what_is_no_table_says_why(read, text, said):
    with pytest.raises(fs.InputError, match=said):
        read(text)
