"""Every study, run once on a tiny plan, for all tests that look at what it gives."""

from types import SimpleNamespace

import pytest

from faultsim.reproduce.studies import STUDIES
from faultsim.sweep.run_list import RunList
from helpers.tiny_studies import TINY


@pytest.fixture(scope="session")
def tiny_study(tmp_path_factory):
    """Name -> what `Study.reproduce` and its runs gave for its tiny plan, the folder and the page that it wrote."""
    made = {}

    def run(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            out, page = folder / "out", folder / "page.md"
            tiny = TINY[name]
            kept = {}

            def keeping(runs, *args, **options):
                kept.update(found := whole(runs, *args, **options))
                return found

            with pytest.MonkeyPatch.context() as patch:
                whole = RunList.run
                patch.setattr(RunList, "run", keeping)
                options = {"quick": True, "what": tiny.what, "workers": 2, **tiny.options}
                done = STUDIES[name].reproduce(out=out, page=page, **options)
            made[name] = SimpleNamespace(done=done, out=out, page=page, made=kept)
        return made[name]

    return run
