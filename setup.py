"""Builds the Cython core.  Everything else about the package is in pyproject.toml.

Switches, all environment variables set to 1:

FAULTSIM_DEBUG   bounds checks, C assertions and ``verify()`` after every chunk of events
FAULTSIM_NATIVE  ``-march=native`` for this machine only
FAULTSIM_ASAN    address sanitizer (run with ``LD_PRELOAD=$(cc -print-file-name=libasan.so)``)
FAULTSIM_TRACE   line tracing for coverage
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup


def switch(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


DEBUG, NATIVE = switch("FAULTSIM_DEBUG"), switch("FAULTSIM_NATIVE")
ASAN, TRACE = switch("FAULTSIM_ASAN"), switch("FAULTSIM_TRACE")

# Every .pyx of the core is an extension of its own name.
EXTENSIONS = sorted(path.with_suffix("") for path in Path("faultsim/_core").rglob("*.pyx"))

DIRECTIVES = {
    "language_level": 3,
    "freethreading_compatible": True,
    "embedsignature": True,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": not DEBUG,
    "overflowcheck": False,
    "linetrace": TRACE,
}

if sys.platform == "win32":
    compile_args, link_args = ["/O2"], []
else:
    # -ffp-contract=off: the same doubles on every machine; never -ffast-math, never -march by default.
    # -fno-strict-aliasing: containers/memory.pyx reaches pointers of any type, and tables of policies, by one type.
    compile_args, link_args = ["-ffp-contract=off", "-fno-strict-aliasing"], []
    compile_args += ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O3", "-g0", "-DNDEBUG"]
    if NATIVE:
        compile_args.append("-march=native")
    if ASAN:
        compile_args += ["-fsanitize=address", "-fno-omit-frame-pointer", "-g"]
        link_args += ["-fsanitize=address"]

macros = [("CYTHON_TRACE_NOGIL", "1")] if TRACE else []
macros.append(("FAULTSIM_DEBUG", "1" if DEBUG else "0"))

modules = [
    Extension(
        ".".join(path.parts),
        [str(path.with_suffix(".pyx"))],
        include_dirs=[".", "faultsim/_core", "faultsim/_core/torus"],
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        define_macros=macros,
    )
    for path in EXTENSIONS
]

# What Cython needs for memoryviews, once and not in each module that has one: half of the time of a build.  Cython
# enters the module without its package in sys.modules, too, so the name is one that nobody else has.
SHARED = "faultsim._core.faultsim_memoryviews"
modules.append(
    Extension(
        SHARED,
        [SHARED.replace(".", "/") + ".c"],
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        define_macros=macros,
    )
)

# The guard is for the processes that translate: where they are spawned, they import this file.
if __name__ == "__main__":
    setup(
        ext_modules=cythonize(
            modules,
            compiler_directives=DIRECTIVES,
            nthreads=os.cpu_count() or 1,
            shared_utility_qualified_name=SHARED,
        ),
        options={"build_ext": {"parallel": os.cpu_count()}},
    )
