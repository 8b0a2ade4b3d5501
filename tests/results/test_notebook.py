"""What notebooks show: HTML that is small, escaped, and takes nothing from elsewhere."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import faultsim as fs

NASTY = "<script>alert('&')<b>"
LOG = fs.synthetic.nasa_like(60, rng=1).with_columns(**{NASTY: [NASTY] * 60}).renamed(NASTY)
TRACE = fs.FailureTrace([60, 90.5], [0, 2], [0, 30], name=NASTY)


def things():
    result = fs.simulate(LOG, fs.Cluster(128), failures=TRACE, record=True)
    flow = fs.simulate_workflows(fs.Workflow([4, 4], [(0, 1, 1)], name=NASTY), fs.Resources(2), record=True)
    table = fs.Sweep(fs.Run(LOG, fs.Cluster(128)), {"start_delay": [0, 5.0]}, name=NASTY).run()
    return {
        "log": LOG,
        "log summary": LOG.summary(nodes=128),
        "trace": TRACE,
        "trace summary": TRACE.summary(),
        "result": result,
        "jobs": result.jobs,
        "events": result.events,
        "allocations": result.allocations,
        "users": result.by("user"),
        "sweep": table,
        "statistics": table.summary("mean_wait"),
        "workflows": flow,
        "decisions": flow.decisions,
    }


class Cells(HTMLParser):
    """The tags of a page, all closed in their order, and the text of its cells by row."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.rows = [], set(), []

    def handle_starttag(self, tag, attrs):
        assert attrs == []
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += data


THINGS = things()


@pytest.mark.parametrize("name", THINGS)
def test_html(name):
    text = THINGS[name]._repr_html_()
    page = Cells()
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.tags <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert len(text) < 20_000
    assert not re.search(r"https?:|src=|href=|style", text)
    assert len({len(row) for row in page.rows}) == 1
    assert 2 <= len(page.rows) <= 60


def test_what_it_shows():
    page = Cells()
    page.feed(LOG._repr_html_())
    assert page.rows[0] == [*LOG]
    assert page.rows[1][-1] == NASTY
    assert len(page.rows) == 9
    assert "and 52 more rows" in LOG._repr_html_()
    page = Cells()
    result = THINGS["result"]
    page.feed(result._repr_html_())
    shown = dict(page.rows[1:])
    assert shown["n_jobs"].split()[0] == "60"
    printed = str(result)
    assert all(f"\n{name} " in printed for name in shown)
    assert all(f"note: {warning}" in printed for warning in result.warnings)
    assert np.isnan(THINGS["statistics"]["sd"]).all()
    assert "<td>-</td>" in THINGS["statistics"]._repr_html_()
