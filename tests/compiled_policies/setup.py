"""Built against the installed faultsim: its headers are all that is needed."""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup

import faultsim

INCLUDE = faultsim.get_include()
SPEED = os.environ.get("OUTSIDE_CFLAGS", "-O2").split()

setup(
    packages=["outside_policies"],
    ext_modules=cythonize(
        [
            Extension(
                f"outside_policies.{name}",
                [f"outside_policies/{name}.pyx"],
                include_dirs=[INCLUDE],
                extra_compile_args=SPEED,
                extra_link_args=SPEED,  # the library of a sanitizer
            )
            for name in ("easy", "orders", "placements", "wrong")
        ],
        include_path=[INCLUDE],
        compiler_directives={"language_level": 3, "freethreading_compatible": True},
    ),
)
