"""The rows of a sweep that nothing disturbed."""

import pytest

from helpers import sweep_victim
from helpers.stores import rows


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    store = tmp_path_factory.mktemp("sweep") / "whole.db"
    sweep_victim.sweep().run(store, workers=2)
    return rows(store)
