"""The type of GPU that `read_sacct` takes from the fields that name one."""

import pytest

import faultsim as fs
from faultsim.readers.slurm_submit import gpu_type_of

SITE = "site:a=2x8cx4a100,v=2x8cx4v100"
FIELDS = "JobID|User|Submit|Start|End|ElapsedRaw|NNodes|NCPUS|AllocTRES|ReqTRES|SubmitLine|State"
TIMES = "2024-03-01T08:00:00|2024-03-01T08:00:05|2024-03-01T08:10:05|600"


@pytest.mark.parametrize(("options", "kind"), [
    ("--gres=gpu:a100:2", "a100"), ("--gres gpu:a100:2", "a100"), ("--gres=gpu:a100", "a100"), ("--gres=gpu:2", ""),
    ("--gpus-per-node=a100:2", "a100"), ("--gpus-per-node=2", ""), ("-G a100:2", "a100"), ("-Ga100:2", "a100"),
    ("-G 2", ""), ("--gpus=a100", "a100"), ("--gpus-per-task=v100:1", "v100"),
    ("--tres-per-node=gres/gpu:v100:2", "v100"),
    ("--tres-per-node=gres/gpu:v100=2", "v100"), ("--gres=shard:3,gpu:v100:1(S:0)", "v100"),
    ("--gres=gpu:a100:1,gpu:v100:1", ""), ("--gres=shard:a100:3", ""), ("", ""), ("--wrap \"run --gpus=a100:1\"", ""),
])  # fmt: skip
def test_options_of_sbatch(options, kind):
    assert gpu_type_of(f"sbatch -N 1 {options} job.sh", "", "") == kind


def test_the_line_decides_before_the_request_and_that_before_the_allocation():
    asked, got = "cpu=1,gres/gpu=2,gres/gpu:v100=2", "cpu=1,gres/gpu:a100=2"
    assert gpu_type_of("sbatch --gres=gpu:2 job.sh", asked, got) == ""
    assert gpu_type_of("sbatch job.sh", asked, got) == "v100"
    assert gpu_type_of("", "cpu=1,gres/gpu=2", got) == ""
    assert gpu_type_of("", "", got) == "a100"
    assert gpu_type_of("sbatch --gres=shard:1 job.sh", asked, got) == "v100"


def test_jobs_run_on_gpus_of_their_type(tmp_path):
    tres = "cpu=1,gres/gpu=2,node=1"
    lines = [f"{job}|u|{TIMES}|1|1|{tres}|{tres}|sbatch {option} job.sh|COMPLETED"
             for job, option in enumerate(["-G v100:2", "-G 2", "--gres=gpu:v100:2", "-G 2"])]  # fmt: skip
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join([FIELDS, *lines, ""]))
    log = fs.read_sacct(path)
    assert log.columns["gpu_type"].tolist() == ["v100", "", "v100", ""]
    held = fs.simulate(log, SITE, record=True).allocations
    of = dict(zip(held["job"].tolist(), held["nodes"].tolist(), strict=True))
    assert {of[0], of[2]} <= {2, 3}
    untyped = fs.Site([fs.NodeClass("a", 2, cores=8, gpus=4)])
    assert len(fs.simulate(log, untyped).jobs["wait"]) == 4
    assert "gpu_type" not in fs.read_sacct(path, columns=["gpus"]).further
    assert fs.read_sacct(path, columns=["gpu_type"]).columns["gpu_type"].tolist() == ["v100", "", "v100", ""]


def test_a_node_that_is_a_class_of_its_own_keeps_its_name(tmp_path):
    path = tmp_path / "nodes.txt"
    path.write_text("NODELIST CPUS MEMORY PARTITION\nn1 4 1000 main\nn2 4 1000 main\ng7 8 1000 main\n")
    assert [list(each.hosts) for each in fs.read_site(path).classes] == [["n1", "n2"], ["g7"]]


def test_features_that_sacct_prints_with_another_bar(tmp_path):
    path = tmp_path / "sacct.txt"
    fields = FIELDS.replace("SubmitLine", "Constraints")
    path.write_text(f"{fields}\n1|u|{TIMES}|1|1|cpu=1|cpu=1|ib\u00a6old|COMPLETED\n", encoding="utf-8")
    assert fs.read_sacct(path).columns["features"].tolist() == ["ib|old"]
