"""Slurm on this machine: one node, its controller and its key, in a folder of their own; for root, without cgroups."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel")
CONF = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,defer
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=5
MinJobAge=3600
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def _port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


def _end(pid: int) -> None:
    """Ask a daemon to end, and wait until it has."""
    os.kill(pid, signal.SIGTERM)
    for _ in range(100):
        os.kill(pid, 0)
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)


class Slurm:
    """A running batch system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"SLURM_CONF": str(folder / "slurm.conf")}

    def start_node(self) -> None:
        """Start the daemon of the node."""
        subprocess.run(["slurmd", "-f", self.env["SLURM_CONF"], "-N", "localhost"], check=True, timeout=30)

    def kill_node(self) -> None:
        """End the node's daemon and all that its jobs have begun, as when a machine loses power."""
        steps = subprocess.run(["pgrep", "-f", f"slurmstepd.*|slurmd -f {self.env['SLURM_CONF']}"], **TEXT).stdout
        for pid in steps.split():
            children = subprocess.run(["pgrep", "-P", pid], **TEXT).stdout.split()
            for each in (*children, pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(each), signal.SIGKILL)

    def tell_node(self, state: str) -> None:
        """What the controller finds out itself after minutes without an answer."""
        command = ["scontrol", "update", "nodename=localhost", f"state={state}", "reason=test"]
        subprocess.run(command, env=os.environ | self.env, check=True, timeout=30)

    def queue(self) -> list[str]:
        """States of the jobs that are not done."""
        command = ["squeue", "--noheader", "--format=%T", "--states=PD,R,CG,CF,S", "--array"]
        done = subprocess.run(command, env=os.environ | self.env, timeout=30, **TEXT)
        return done.stdout.split()

    def wait(self, seconds: float = 240.0) -> None:
        """Until nothing is queued."""
        end = time.monotonic() + seconds
        while queue := self.queue():
            assert time.monotonic() < end, (queue, (self.folder / "slurmctld.log").read_text()[-3000:])
            time.sleep(0.5)


TEXT = {"capture_output": True, "text": True}


@contextlib.contextmanager
def slurm():
    """Start Slurm, and end it; skips the test where that is not possible."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"Slurm is not installed: {', '.join(missing)} not found")
    if os.geteuid():
        pytest.skip("a Slurm of one's own needs root here")
    # Munge wants a key, a socket and folders above them that its user can read and only it can write; pytest's are for
    # one user.
    folder = Path(tempfile.mkdtemp(prefix="faultsim-slurm-"))
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    for each in (folder, key):
        shutil.chown(each, "munge", "munge")
    folder.chmod(0o755)
    conf = CONF.format(folder=folder, ports=(_port(), _port()))
    (folder / "slurm.conf").write_text(conf)
    names = [
        f"--{name}={folder}/munge.{name.removesuffix('-file')}"
        for name in ("key-file", "log-file", "pid-file", "seed-file")
    ]
    munge = ["munged", "--force", f"--socket={folder}/munge.socket", *names]
    subprocess.run(["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", *munge], check=True, timeout=30)
    system = Slurm(folder)
    try:
        subprocess.run(["slurmctld", "-f", system.env["SLURM_CONF"]], check=True, timeout=30)
        system.start_node()
        yield system
    finally:
        subprocess.run(["scancel", "--user=root"], env=os.environ | system.env, timeout=30, **TEXT)
        for name in ("slurmd", "slurmctld", "munge"):
            with contextlib.suppress(OSError, ValueError):
                _end(int((folder / f"{name}.pid").read_text()))
        shutil.rmtree(folder, ignore_errors=True)
