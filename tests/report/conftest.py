"""A browser for the tests of a module."""

import pytest

from helpers.browser import Browser


@pytest.fixture(scope="module")
def browser():
    opened = Browser()
    try:
        opened.__enter__()
    except (RuntimeError, OSError) as error:  # it says nothing about a report
        pytest.skip(f"the browser does not start: {error}")
    yield opened
    opened.__exit__()
