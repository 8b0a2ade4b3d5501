"""Every study, run once on a tiny plan, for all tests that look at what it gives."""

from types import SimpleNamespace

import pytest

from faultsim.reproduce.studies import STUDIES
from helpers.tiny_studies import TINY


@pytest.fixture(scope="session")
def tiny_study(tmp_path_factory):
    """Name -> what `Study.reproduce` gave for its tiny plan, the folder and the page that it wrote."""
    made = {}

    def run(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            out, page = folder / "out", folder / "page.md"
            tiny = TINY[name]
            done = STUDIES[name].reproduce(quick=True, out=out, page=page, what=tiny.what, workers=2, **tiny.options)
            made[name] = SimpleNamespace(done=done, out=out, page=page)
        return made[name]

    return run
