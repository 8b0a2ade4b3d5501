"""Names with control characters, which XML does not have, in figures of reports."""

import pytest

from faultsim.plot import plot_curves
from faultsim.report.svg import inline_svg


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("character", ["\x01", "\x0b", "\x1f"])
def test_a_name_with_a_control_character_does_not_end_a_report(character):
    figure = plot_curves({"a": ([1, 2], [3, 4]), "c": ([1, 2], [3, 5])})
    figure.set_title(f"a{character}b")
    found = inline_svg(figure, "waits", "Waits")
    assert character not in found
    assert found.startswith("<svg")
