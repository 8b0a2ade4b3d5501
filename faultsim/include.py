"""Location of the headers for `cimport faultsim`."""

import os

from faultsim.entries import entry

__all__ = ["get_include"]


@entry
def get_include() -> str:
    """Return the folder to put on Cython's include path for ``cimport faultsim``.

    The public C surface is listed in ``faultsim/__init__.pxd``: the event heap, the knapsack, the torus with its
    occupancy, and the partition finder; all ``noexcept nogil``.

    Returns
    -------
    str
        The folder that holds the package ``faultsim``.

    Examples
    --------
    In a ``setup.py``: ``cythonize("mine.pyx", include_path=[faultsim.get_include()])``.

    >>> import faultsim as fs
    >>> from pathlib import Path
    >>> (Path(fs.get_include()) / "faultsim" / "__init__.pxd").exists()
    True
    """
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
