"""What `import faultsim` costs in CPU time, NumPy included: below 0.3 s is the aim.

pytest benchmarks/bench_import.py --benchmark-enable -s
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import faultsim

MEASURE = "import time; begin = time.process_time(); import {}; print(time.process_time() - begin)"


@pytest.mark.parametrize("module", ["numpy", "faultsim"])
def test_import(module, benchmark):
    environment = {**os.environ, "PYTHONPATH": str(Path(faultsim.__file__).parents[1])}

    spent = []

    def fresh_process():
        command = [sys.executable, "-c", MEASURE.format(module)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        spent.append(float(done.stdout))

    benchmark.pedantic(fresh_process, rounds=10)
    print(f"\nimport {module}: {min(spent):.3f} s CPU, the least of {len(spent)} fresh processes")
