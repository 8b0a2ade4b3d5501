"""Builds the Cython core.  Everything else about the package is in pyproject.toml.

Switches, environment variables set to 1 (but for FAULTSIM_SANITIZE):

FAULTSIM_DEBUG     bounds checks, C assertions and ``verify()`` after every chunk of events
FAULTSIM_NATIVE    ``-march=native`` for this machine only
FAULTSIM_SANITIZE  sanitizers of the compiler, as ``address,undefined`` or ``thread``, and all of FAULTSIM_DEBUG but
                   bounds checks; run with their library preloaded, ``LD_PRELOAD=$(cc -print-file-name=libasan.so)``
                   or ``libtsan.so``
FAULTSIM_GCOV      counts how often each line runs, for gcov
"""

import gc
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - pip asks setup.py before it reads what the package requires
    sys.exit(f"faultsim needs Python 3.11 or newer, and this is {sys.version.split()[0]} ({sys.executable})")

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Cython keeps what it makes of a module until the module is written, and Python's default is to look for garbage in all
# of it again and again: two fifths of the time of translating, saved for 200 MB a process.  Spawned processes import
# this.
gc.set_threshold(5_000_000, 20, 20)

# What compiles; metadata and source archives need neither a compiler nor Cython's translation.
COMPILING = {"build", "build_ext", "bdist_wheel", "editable_wheel", "install", "develop", "bdist"}
NO_COMPILER = """\
faultsim has a compiled core, and {what}. Install a C compiler and the headers of Python, then try again:
  Debian, Ubuntu   apt install gcc libc6-dev python3-dev
  Fedora, Rocky    dnf install gcc python3-devel
  macOS            xcode-select --install
  conda            conda install -c conda-forge c-compiler
The variable CC names another compiler."""


def check_compiler() -> None:
    """End at once, not after a minute of translation, where nothing can be compiled."""
    if sys.platform == "win32":  # setuptools finds Visual Studio, and says where to get it
        return
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if shutil.which(compiler[0]) is None:
        sys.exit(NO_COMPILER.format(what=f"there is no C compiler: {compiler[0]!r} is not on the PATH"))
    command = [*compiler, "-E", "-I", sysconfig.get_path("include"), "-"]
    tried = subprocess.run(command, input="#include <Python.h>\n", capture_output=True, text=True)
    if tried.returncode:
        said = next((line for line in tried.stderr.splitlines() if "error" in line), f"status {tried.returncode}")
        sys.exit(NO_COMPILER.format(what=f"{shlex.join(compiler)} cannot read Python's header ({said.strip()})"))


def switch(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


DEBUG, NATIVE = switch("FAULTSIM_DEBUG"), switch("FAULTSIM_NATIVE")
GCOV, SANITIZE = switch("FAULTSIM_GCOV"), os.environ.get("FAULTSIM_SANITIZE", "")

# Every .pyx of the core is an extension of its own name.
EXTENSIONS = sorted(path.with_suffix("") for path in Path("faultsim/_core").rglob("*.pyx"))

DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": not DEBUG,
    "overflowcheck": False,
    "emit_code_comments": DEBUG or GCOV or bool(SANITIZE),  # the lines of the source: a fifth of the C
}

if sys.platform == "win32":
    compile_args, link_args = ["/O2"], []
else:
    # -ffp-contract=off: the same doubles on every machine; never -ffast-math, never -march by default.
    compile_args, link_args = ["-ffp-contract=off"], []
    if SANITIZE:  # -fno-wrapv: Python's own flags may have said that overflows wrap around, and then none is found
        compile_args += [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-fno-wrapv"]
        compile_args += ["-O1", "-g1", "-UNDEBUG"]
        link_args += [f"-fsanitize={SANITIZE}"]
    else:
        compile_args += ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O3", "-g0", "-DNDEBUG"]
    if NATIVE:
        compile_args.append("-march=native")
    if GCOV:  # -O1 keeps the lines apart; asserts and error paths of Python are not what is counted
        compile_args += ["--coverage", "-O1", "-fprofile-update=atomic"]
        link_args += ["--coverage"]

macros = [("FAULTSIM_DEBUG", "1" if DEBUG or SANITIZE else "0")]

# What Cython needs for memoryviews, once and not in each module that has one: half of the time of a build.  Cython
# enters the module without its package in sys.modules, too, so the name is one that nobody else has.
SHARED = "faultsim._core.faultsim_memoryviews"

# Modules that carry arguments and results between Python and the core, with no loop over events: a third of all
# compiling, which -O1 halves, and they execute as many instructions as at -O3.
CARRIERS = {
    SHARED,
    *(
        f"faultsim._core.{name}"
        for name in (
            "border",
            "changes",
            "checkpointing.rules",
            "cluster.counted",
            "decisions",
            "engine",
            "fars.ticks",
            "inputs",
            "job_columns",
            "live",
            "outlook",
            "places",
            "pod.machine_face",
            "pod.opening",
            "questions",
            "recovery.rules",
            "scheduling.external",
            "signals",
            "so_far",
            "state",
            "tables.factory",
            "team",
            "torus.chooser",
            "torus.listed_face",
            "verify",
            "workflow.engine",
        )
    ),
}

# Modules that reach values of one type by another: pointers of any type by `void **`, tables of policies by what they
# begin with, boxes as the places of any machine.  No others do, so there the compiler can keep more in registers: a
# tenth of the instructions of the finders of partitions.
RETYPING = {
    f"faultsim._core.{name}"
    for name in (
        "containers.memory",
        "fars.knapsack",
        "job_terms",
        "placement.compiled_rules",
        "placement.most_cubic",
        "placement.placed_rules",
        "placement.slurm_torus",
        "state",
        "torus.choose",
        "torus.listed_machine",
        "torus.machine",
    )
}


def arguments(name: str) -> list[str]:
    """Of the compiler, for one module."""
    if sys.platform == "win32":
        return compile_args
    carrier, retyping = name in CARRIERS, name in RETYPING
    return [*compile_args, *["-O1"] * carrier, *["-fno-strict-aliasing"] * retyping]


modules = [
    Extension(
        ".".join(path.parts),
        [str(path.with_suffix(".pyx"))],
        include_dirs=[".", "faultsim/_core", "faultsim/_core/torus"],
        extra_compile_args=arguments(".".join(path.parts)),
        extra_link_args=link_args,
        define_macros=macros,
    )
    for path in EXTENSIONS
]

modules.append(
    Extension(
        SHARED,
        [SHARED.replace(".", "/") + ".c"],
        extra_compile_args=arguments(SHARED),
        extra_link_args=link_args,
        define_macros=macros,
    )
)

# What each module includes first: half of what a compiler reads of a small one.
HEADER = """\
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <math.h>
#include <stdatomic.h>
"""


# What a module does once, when it is imported, is not worth optimising: a tenth of the compiler's time.
ONCE = ("CYTHON_SMALL_CODE", '__attribute__((cold, optimize("O0")))')


class BuildCore(build_ext):
    """Reads Python's header once, in place of once a module, and leaves alone what runs once, where that is known to
    work: GCC, and the usual flags.
    """

    def build_extensions(self) -> None:
        missing = sum(not os.path.exists(self.get_ext_fullpath(each.name)) for each in self.extensions)
        if missing > 20 and not (DEBUG or SANITIZE or GCOV) and self.plain_gcc():
            # Of its own at -O1, as the functions of the header stay at the level that it is read at.
            headers = {level: self.read_header(level) for level in ((), ("-O1",))}
            if all(headers.values()):
                for each in self.extensions:
                    each.define_macros = [*each.define_macros, ONCE]
                    header = headers[("-O1",) if "-O1" in each.extra_compile_args else ()]
                    each.extra_compile_args = [*each.extra_compile_args, "-include", header]
        super().build_extensions()

    def read_header(self, level: tuple[str, ...]) -> str:
        """Its path; "" if the compiler does not keep it."""
        folder = Path(self.build_temp).resolve() / "".join(("header", *level))
        folder.mkdir(parents=True, exist_ok=True)
        header = folder / "first.h"
        header.write_text(HEADER)
        flags = [*compile_args, *level, *(f"-D{name}={value}" for name, value in (*macros, ONCE))]
        flags += [f"-I{path}" for path in self.compiler.include_dirs]
        made = [*self.compiler.compiler_so, *flags, "-x", "c-header", str(header), "-o", f"{header}.gch"]
        return "" if subprocess.run(made, capture_output=True, check=False).returncode else str(header)

    def plain_gcc(self) -> bool:
        """Is it GCC, and not behind ccache, which would keep nothing that includes a compiled header?"""
        command = getattr(self.compiler, "compiler_so", None)
        path = shutil.which(command[0]) if command else None
        if path is None or "ccache" in os.path.realpath(path):
            return False
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        return "Free Software Foundation" in said.stdout


# The guard is for the processes that translate: where they are spawned, they import this file.
if __name__ == "__main__":
    if COMPILING.isdisjoint(sys.argv):
        setup(ext_modules=modules[:-1])  # without the file that Cython writes
    else:
        check_compiler()
        from Cython.Build import cythonize

        setup(
            ext_modules=cythonize(
                modules,
                compiler_directives=DIRECTIVES,
                nthreads=os.cpu_count() or 1,
                emit_linenums=GCOV,
                shared_utility_qualified_name=SHARED,
            ),
            cmdclass={"build_ext": BuildCore},
            options={"build_ext": {"parallel": os.cpu_count()}},
        )
