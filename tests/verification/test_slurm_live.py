"""Scenes that a real Slurm plays while the test runs: the model reproduces its decisions, and a free run its starts.

They need root, the programs of Debian's slurm-wlm, slurmdbd, munge, mariadb-server and faketime, and the program that
plays and records a scene (slurm/kit of FAULTSIM_DATA).  A scene takes some minutes, on a clock that goes twelve times
as fast; where other programs keep the processors busy, ends of jobs and passes meet in another order than the log says.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.app import main
from faultsim.readers.slurm_requests import read_slurm_requests

PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd", "faketime")
#: Passes, cycles or starts of a scene that may be races of ends and clean-ups with the loops.
RACES = 2

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]


class Player:
    """The program that plays scenes, with its database in a folder with a short name, as sockets need."""

    def __init__(self, kit: Path, folder: Path) -> None:
        self.kit, self.folder = kit, folder
        self.call("record.py", "db-start")
        self.call("scenarios.py", folder / "scenes")

    def call(self, script: str, *arguments: object) -> None:
        env = os.environ | {"SLURMREC": str(self.folder)}
        command = [sys.executable, self.kit / script, *map(str, arguments)]
        subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)

    def play(self, scene: str) -> Path:
        out = self.folder / "out" / scene
        out.parent.mkdir(exist_ok=True)
        self.call("record.py", "run", self.folder / "scenes" / scene, out, 0)
        assert (out / "slurmctld.log.xz").exists(), "Slurm did not run"
        return out


@pytest.fixture(scope="module")
def player(data_dir):
    kit = data_dir / "slurm" / "kit"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid() != 0 or not kit.is_dir():
        why = f"no {', '.join(missing)}" if missing else "not root" if os.geteuid() else f"no folder {kit}"
        pytest.skip(f"no Slurm can be run here: {why}")
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    made = Player(kit, folder)
    yield made
    made.call("record.py", "cleanup")
    shutil.rmtree(folder)


@pytest.mark.parametrize("scene", ["03s-scene", "13-mixed-memory"])
def test_decisions_of_a_scene_are_reproduced(player, scene, capsys):
    """As many as the command wants, but for a few races."""
    main(["slurm", "compare-decisions", str(player.play(scene)), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["version"].startswith("22.05")
    assert found["priorities"]["total"] > 0
    assert found["priorities"]["reproduced"] >= 0.998 * found["priorities"]["total"]
    for loop in ("main_passes", "backfill_cycles"):
        assert found[loop]["total"] > 10
        assert found[loop]["total"] - found[loop]["reproduced"] <= RACES


def test_a_free_run_starts_jobs_when_the_scene_did(player):
    folder = player.play("03s-scene-lln")
    conf = fs.read_slurm_conf(folder / "slurm.conf", [folder / "accounts.txt"], folder / "gres.conf")
    log, requests = fs.read_sacct(folder / "sacct.txt"), read_slurm_requests(folder / "sacct.txt")
    result = fs.simulate(log, conf.site, scheduler=conf.scheduler)
    runs = [requests[int(job)].runs[-1] for job in log.id]
    day = 86400.0 * np.floor(runs[0].submit / 86400.0)
    late = np.abs(np.array([run.start for run in runs]) - day - result.jobs["start"])
    assert (late > 1.0).sum() <= RACES
