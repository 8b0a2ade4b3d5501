"""What a user sees without the extra."""

from helpers.scripts import python

WITHOUT = """
import sys
sys.modules["gymnasium"] = None
import faultsim as fs
try:
    import faultsim.rl
except fs.MissingExtraError as error:
    print(error)
"""


def test_the_extra_is_named():
    assert python("-c", WITHOUT, check=True).stdout == 'faultsim.rl needs gymnasium: pip install "faultsim[rl]"\n'
