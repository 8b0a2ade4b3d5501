"""Programs outside the package, as modules; and programs in processes of their own."""

import importlib.util
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


@cache
def script(name, folder="benchmarks"):
    spec = importlib.util.spec_from_file_location(name, CHECKOUT / folder / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def environment(*folders):
    """That of this process, in which the package is imported from where it is here, and modules of other folders."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (CHECKOUT, *folders)))}


def hear_ctrl_c():
    """Ctrl-C means what it means to a program in the foreground; a shell ignores it for what runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def begun(*arguments, folders=(), **options):
    """A Python process whose output is text, and which Ctrl-C interrupts."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment(*folders)}
    if os.name != "nt":
        pipes["preexec_fn"] = hear_ctrl_c
    return subprocess.Popen([sys.executable, *map(str, arguments)], **{**pipes, **options})


def python(*arguments, **options):
    """What became of a Python process."""
    common = {"capture_output": True, "text": True, "timeout": 300, "env": environment(), "check": False}
    return subprocess.run([sys.executable, *map(str, arguments)], **{**common, **options})
