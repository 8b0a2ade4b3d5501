"""``python -m faultsim`` is the ``faultsim`` command."""

import sys

from faultsim.cli import main

if __name__ == "__main__":
    sys.exit(main())
