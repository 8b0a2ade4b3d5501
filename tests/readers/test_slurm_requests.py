"""What jobs asked Slurm for, from sacct, and lists of nodes."""

import math

import pytest

import faultsim as fs
from faultsim.data.host_lists import expanded
from faultsim.readers.slurm_requests import read_slurm_requests, submit_options


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
