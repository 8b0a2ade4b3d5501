"""A copy of the checkout in which one file at a time is another, and the tests that are run there.

Only the module that was changed is translated and compiled, without optimization; the built module is put back from
its copy.  A test that fails is run once on the unchanged program, where it has to pass.
"""

import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Seconds of the processor, and of the clock, after which tests count as failed: ten times what they take, or more.
CPU, WALL = 180, 1500
TOO_LONG = "takes too long"
KIBIBYTES = 6 << 20
#: What pytest returns where it found none to run, or cannot be run.
NO_TESTS, USAGE = 5, 4
SANITIZERS = ["-O1", "-g1", "-UNDEBUG", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-wrapv"]
PLAIN = ["-O0", "-g0", "-DNDEBUG", "-fwrapv"]
OPTIMIZED = ["-O2", "-g0", "-DNDEBUG", "-fwrapv"]


def run(command: Sequence[str | Path], folder: Path, environment: dict[str, str], cpu: int = CPU) -> tuple[int, str]:
    """Return code, that of SIGXCPU where it took too long, as a loop without an end does, and what it printed."""
    most = f"ulimit -c 0 && ulimit -t {cpu}"
    if "LD_PRELOAD" not in environment:  # what the sanitizers reserve is more
        most += f" && ulimit -d {KIBIBYTES}"
    with subprocess.Popen(
        ["sh", "-c", f'{most} && exec "$0" "$@"', *command], cwd=folder, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=WALL)
        except subprocess.TimeoutExpired:
            return -signal.SIGXCPU, ""
        finally:  # its children, too
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, said


def modules_of(path: str) -> list[str]:
    """The compiled modules that a file is in: a `.pyx` file itself, or those that include it; none of Python."""
    if path.endswith(".pyx"):
        return [path]
    if not path.endswith(".pxi"):
        return []
    includes = f'include "{Path(path).name}"'
    files = sorted((ROOT / path).parent.glob("*.pyx"))
    return [file.relative_to(ROOT).as_posix() for file in files if includes in file.read_text()]


class Checkout:
    """The copy, made anew, as a run before may have been stopped in the middle."""

    def __init__(self, folder: Path, thresholds: str = "default") -> None:
        self.folder, self.thresholds = folder, thresholds
        self._copy()
        setup = runpy.run_path(str(ROOT / "setup.py"))
        self._directives, self._shared = setup["DIRECTIVES"], setup["SHARED"]
        include = ["faultsim/_core", "faultsim/_core/torus", ".", sysconfig.get_path("include")]
        self._options = ["-shared", "-fPIC", "-w", "-ffp-contract=off", "-fno-strict-aliasing"]
        self._options += [f"-I{path}" for path in include]
        self._environment = os.environ | {
            "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1",
            "FAULTSIM_THRESHOLDS": thresholds,
        }  # fmt: skip
        self._environment.pop("FAULTSIM_COUNTS", None)
        self._passed: dict[str, bool] = {}

    def _copy(self) -> None:
        named = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        built = [str(path.relative_to(ROOT)) for path in ROOT.glob("faultsim/**/*.so")]
        for name in [*filter(None, named.split("\0")), *built]:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.folder / name)

    # -- the program

    @contextmanager
    def changed(self, path: str, line: int, after: str) -> Iterator[None]:
        """A line of a file is another; afterwards file and compiled module are what they were."""
        file = self.folder / path
        before, times = file.read_bytes(), file.stat()
        kept = {built: built.with_suffix(".kept") for built in map(self.built, modules_of(path))}
        for built, copy in kept.items():
            shutil.copy2(built, copy)
        try:
            lines = before.decode().splitlines(keepends=True)
            lines[line] = after + "\n"
            file.write_text("".join(lines), encoding="utf-8")
            yield
        finally:
            file.write_bytes(before)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # else its bytecode would be older
            for built, copy in kept.items():
                copy.replace(built)

    def built(self, path: str) -> Path:
        """The compiled module of a `.pyx` file."""
        file = self.folder / path
        return file.with_name(file.stem + sysconfig.get_config_var("EXT_SUFFIX"))

    def translated(self, path: str) -> Path | None:
        """The C file of a module; None if Cython refuses it."""
        made = self.folder / f"{path[:-4]}.c"
        directives = ",".join(f"{name}={value}" for name, value in self._directives.items() if name != "language_level")
        command = [sys.executable, "-m", "cython", "-3", "--shared", self._shared, "-X", directives, "-I.", path]
        code, _ = run([*command, "-o", made], self.folder, self._environment)
        return None if code else made

    def compiled(self, source: Path, target: Path, flags: Sequence[str]) -> bool:
        target.unlink(missing_ok=True)  # what is loaded elsewhere stays
        command = ["gcc", *self._options, f"-DFAULTSIM_DEBUG={int('-UNDEBUG' in flags)}", *flags]
        code, _ = run([*command, source.relative_to(self.folder), "-o", target], self.folder, self._environment)
        return code == 0

    def builds(self, path: str, flags: Sequence[str]) -> bool:
        """Whether a module can be translated and compiled, which is done."""
        source = self.translated(path)
        return source is not None and self.compiled(source, self.built(path), flags)

    def means_the_same(self, path: str, module: str) -> bool:
        """Whether a compiler that optimizes makes the same of a module as before a file of it was changed."""
        mine, other = self.folder / "mine.so", self.folder / "other.so"
        source = self.folder / f"{module[:-4]}.c"
        if not self.compiled(source, mine, OPTIMIZED):
            return False
        file = self.folder / path
        text, translated = file.read_bytes(), source.read_bytes()
        try:
            file.write_bytes((ROOT / path).read_bytes())
            before = self.translated(module)  # of the same name, which is part of what is compiled
            same = before is not None and self.compiled(before, other, OPTIMIZED)
        finally:
            file.write_bytes(text)
            source.write_bytes(translated)
        return same and mine.read_bytes() == other.read_bytes()

    # -- the tests

    def script(self, command: Sequence[str], cpu: int = CPU) -> str:
        """How a script of Python ends; "" if well."""
        code, _ = run([sys.executable, *command], self.folder, self._environment, cpu)
        return ended(code) if code else ""

    def tests(self, names: Sequence[str], cpu: int = CPU, sanitized: bool = False, thresholds: str = "") -> str:
        """What fails first in files of tests, or how they end; "" if all pass.  At `thresholds`, or those of all."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
        environment = self._environment | {"FAULTSIM_THRESHOLDS": thresholds or self.thresholds}
        if sanitized:
            asked = ["gcc", "-print-file-name=libasan.so"]
            library = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
            environment = environment | {
                "LD_PRELOAD": library, "PYTHONMALLOC": "malloc",
                "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            }  # fmt: skip
        code, said = run([*command, *names], self.folder, environment, cpu)
        if code in (0, NO_TESTS):
            return ""
        if code == USAGE and "ImportError while loading conftest" not in said:
            raise RuntimeError(f"pytest cannot be run: {said[-2000:]}")
        found = re.search(r"^(?:FAILED|ERROR) (\S+\.py(?:::.*?)?)(?: - .*)?$", said, re.MULTILINE)
        return found[1] if found else ended(code)

    def passes(self, names: Sequence[str], thresholds: str = "") -> bool:
        """Whether tests pass on the program as it is now, which is asked once for each."""
        key = " ".join([thresholds, *names])
        if key not in self._passed:
            self._passed[key] = not self.tests(names, thresholds=thresholds)
        return self._passed[key]


def ended(code: int) -> str:
    """How a process ended that did not end well."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return TOO_LONG
    return signal.Signals(-code).name if code < 0 else f"ends with {code}"
