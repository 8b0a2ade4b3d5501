"""Names of files that a system cannot write."""

import os
import subprocess
import sys

import numpy as np

import faultsim as fs
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
WRITES = """
import faultsim as fs
from faultsim.sweep.merge import merge
log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
for call in (
    lambda name: log.write_swf(name), lambda name: fs.Sweep(fs.Run(log, fs.Cluster(2))).run(name),
    lambda name: merge(name, ["a.db"]), lambda name: merge("a.db", [name]), fs.read_swf, fs.load_result, fs.read,
    fs.read_sweep,
):
    try:
        call("caf\\xe9.x")
    except fs.OptionError as error:
        print(error)
"""


def test_a_name_with_a_null_character(tmp_path):
    said = r"has a null character"
    refused(fs.OptionError, said, LOG.write_swf, "a\0b")
    refused(fs.OptionError, said, fs.Sweep(fs.Run(LOG, fs.Cluster(2))).run, "a\0b")
    refused(fs.OptionError, said, fs.simulate(LOG, fs.Cluster(2)).save, str(tmp_path / "a\0b"))


def test_a_name_that_the_locale_cannot_write():
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", WRITES], env=os.environ | plain, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("cannot be written in ascii, the encoding of file names here") == 8, done.stdout


def test_text_that_standard_output_cannot_write_is_escaped():
    code = "import faultsim as fs; fs.Workload([0], [1], [1]).with_columns(queue=['caf\\xe9']).write_csv('-')"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | plain, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].endswith("caf\\xe9"), done.stdout


def test_a_specification_names_regular_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.swf")
    for name in (str(tmp_path / "pipe.swf"), "/dev/zero"):
        spec = tmp_path / "a.toml"
        spec.write_text(f'[base]\nmachine = "cluster:4"\nlog = "{name}"\n')
        refused(fs.InputError, "no regular file", fs.read_sweep, spec)
        spec.write_text(
            f'[base]\nmachine = "cluster:4"\nlog = {{ synthetic = "nasa_like", jobs = 9 }}\nfailures = "{name}"\n'
        )
        refused(fs.InputError, "no regular file", fs.read_sweep, spec)
    assert np.all(LOG.size == 2)
