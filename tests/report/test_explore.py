"""The chart of a report that zooms: in a browser without a network, with job, user, nodes and the reason of waiting."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.plot.gantt import drawn_gantt
from faultsim.report import report_run
from faultsim.report.chart import _dependencies, _listed
from faultsim.report.page import asset
from faultsim.report.waiting import MOST_REASONS, reasons_of
from helpers.browser import MISSING

needs_browser = pytest.mark.skipif(bool(MISSING), reason=MISSING)
PLACE = """
const box = document.querySelector("figure.chart"), u = box.plot, over = u.over.getBoundingClientRect();
const at = {{ clientX: over.left + u.valToPos({time!r}, "x"), clientY: over.top + u.valToPos({row!r}, "y") }};
"""


def run_on(machine, failures=None):
    rng = np.random.default_rng(5)
    columns = [np.sort(rng.integers(0, 2000, 60)), rng.integers(200, 900, 60), rng.integers(1, 5, 60)]
    log = fs.Workload(*columns, user=rng.integers(0, 4, 60), id=np.arange(60) + 500)
    return fs.simulate(log, machine, failures=failures, record=True)


@pytest.fixture(scope="module")
def cluster():
    return run_on(fs.Cluster(8), fs.FailureTrace([300.0, 900.0], [7, 2], [400.0, 100.0], span=5000))


@pytest.fixture(scope="module")
def opened(browser, cluster, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "run.html"
    report_run(cluster).write(path)
    browser.screen(1280, 1200)
    browser.open(path)
    browser.until("return document.querySelector('figure.chart').dataset.explore === 'yes'")
    browser.run("document.querySelector('button.explore').click()")
    browser.until("return document.querySelector('figure.chart').plot.scales.y.max === 8")
    return browser


def words_at(browser, time, row):
    return browser.run(
        PLACE.format(time=time, row=row)
        + "u.over.dispatchEvent(new PointerEvent('pointermove', at)); return document.querySelector('.tip').textContent"
    )


def bars(result):
    """Longest bars: stay, middle of its time in the unit of the axis, a row of it."""
    (row, first, count), held = drawn_gantt(result)[1], result.allocations
    origin = result.span[0]
    middle = (held["begin"][row] + held["end"][row]) / 2 - origin
    order = np.argsort(held["begin"][row] - held["end"][row], kind="stable")[:15]
    return [(int(row[i]), float(middle[i]) / 60.0, float(first[i] + 0.5 * count[i])) for i in order]


@needs_browser
def test_it_shows_job_user_nodes_and_the_reason_of_waiting(opened, cluster):
    why = reasons_of(cluster)
    assert len(why) > 10
    explained = 0
    for stay, time, row in bars(cluster):
        job = int(cluster.allocations["job"][stay])
        lines = words_at(opened, time, row).split("\n")
        user, size = cluster.users[job], cluster.jobs["size"][job]
        assert lines[0] == f"job {cluster.jobs['id'][job]}, user {user}: {size} node{'s' * int(size > 1)}"
        held = cluster.allocations
        nodes = held["nodes"][held["node_offsets"][stay] : held["node_offsets"][stay + 1]]
        said = set()
        for part in lines[1].removeprefix("on nodes ").split():
            low, _, high = part.partition("-")
            said |= set(range(int(low), int(high or low) + 1))
        assert said == set(nodes.tolist())
        assert lines[3].startswith("waited ")
        assert (lines[-1] == f"why it waited: {why[job]}") if job in why else not lines[-1].startswith("why")
        explained += job in why
    assert explained > 3
    opened.run(PLACE.format(time=1.0, row=1.0) + "u.over.dispatchEvent(new PointerEvent('pointerleave', at))")
    assert opened.run("return document.querySelector('.tip').hidden")
    assert opened.logged() == []


@needs_browser
def test_it_zooms_by_buttons_and_by_dragging_and_back(opened):
    scales = "document.querySelector('figure.chart').plot.scales"
    limits = f"const {{ x, y }} = {scales}; return [x.min, x.max, y.min, y.max]"
    press = "document.querySelector('[data-action={}]').click()"
    whole = opened.run(limits)
    opened.run(press.format("in"))
    opened.until(f"return (() => {{ {limits} }})()[1] < {whole[1]!r}")
    closer = opened.run(limits)
    assert closer[1] - closer[0] == pytest.approx((whole[1] - whole[0]) / 2)
    opened.run(press.format("later"))
    opened.until(f"return (() => {{ {limits} }})()[0] > {closer[0]!r}")
    assert opened.run(limits)[1] <= whole[1] + 1e-9
    opened.run(press.format("all"))
    opened.until(f"return (() => {{ {limits} }})()[1] === {whole[1]!r}")
    opened.run("""
      const u = document.querySelector("figure.chart").plot, over = u.over.getBoundingClientRect();
      const send = (kind, x, y, buttons, where) => where.dispatchEvent(new MouseEvent(kind, { bubbles: true, buttons,
        button: 0, clientX: over.left + x, clientY: over.top + y, movementX: 9 }));
      send("mousemove", 100, 60, 0, u.over);
      send("mousedown", 100, 60, 1, u.over);
      send("mousemove", 300, 200, 1, document);
      send("mousemove", 300, 200, 1, u.over);
      send("mouseup", 300, 200, 0, document);
    """)
    opened.until(f"return (() => {{ {limits} }})()[1] < {whole[1]!r}")
    dragged = opened.run(limits)
    assert dragged[2] > 0
    assert dragged[3] < 8
    opened.run("document.querySelector('figure.chart').plot.over.dispatchEvent(new MouseEvent('dblclick'))")
    opened.until(f"const [a, b, c, d] = (() => {{ {limits} }})(); return b === {whole[1]!r} && d === 8")


@needs_browser
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_drawn_on_narrow_and_on_dark_screens(opened, width, scheme):
    opened.screen(width, 1200, scheme)
    found = """
    const box = document.querySelector("figure.chart"), u = box.plot, pen = u.ctx, c = pen.canvas, colours = new Set();
    const data = pen.getImageData(0, 0, c.width, c.height).data;
    for (let i = 0; i < data.length; i += 400) colours.add(data.slice(i, i + 3).join());
    return [u.width <= document.documentElement.clientWidth, colours.size,
      document.documentElement.scrollWidth <= document.documentElement.clientWidth];
    """
    opened.until(f"return (() => {{ {found} }})()[0]")
    inside, colours, fits = opened.run(found)
    assert inside
    assert fits
    assert colours > 6


@needs_browser
def test_boxes_of_a_torus_are_named(browser, tmp_path):
    result = run_on(fs.Torus(2, 2, 2))
    report_run(result).write(tmp_path / "torus.html")
    browser.screen(1280, 1200)
    browser.open(tmp_path / "torus.html")
    browser.logged()  # of the tests before
    browser.until("return document.querySelector('figure.chart').dataset.explore === 'yes'")
    browser.run("document.querySelector('button.explore').click()")
    browser.until("return document.querySelector('figure.chart').plot.scales.y.max === 8")
    held = result.allocations
    for stay, time, row in bars(result):
        a, b, c, x, y, z = (int(held[name][stay]) for name in "abcxyz")
        assert words_at(browser, time, row).split("\n")[1] == f"box {a}x{b}x{c} at ({x}, {y}, {z})"
    assert browser.logged() == []


def test_the_library_is_in_pages_that_need_it_with_its_licence(cluster):
    library = asset("uplot/uPlot.iife.min.js")
    assert library in report_run(cluster).html()
    unrecorded = fs.simulate(cluster.workload, fs.Cluster(8))
    assert library not in report_run(unrecorded).html()
    assert "The MIT License" in asset("uplot/LICENSE")
    assert len(library) < 60_000


def test_reasons_are_those_of_the_jobs_that_waited_longest(cluster):
    found = reasons_of(cluster, 3)
    assert list(found) == np.argsort(-cluster.jobs["wait"], kind="stable")[:3].tolist()
    for job, text in found.items():
        why = cluster.why(job)
        assert text.startswith(str(max(why.seconds, key=why.seconds.get)))
        assert str(max(why, key=lambda span: span.end - span.begin).reason) in text
    assert len(reasons_of(cluster)) <= MOST_REASONS
    assert reasons_of(cluster, 0) == {}
    assert '"why": {}' in report_run(cluster, reasons=0).html()
    with pytest.raises(fs.FaultsimError, match="reasons must be"):
        report_run(cluster, reasons=-1)


def dependent(ids, **columns):
    log = fs.Workload(submit=[0] * 4, runtime=[60] * 4, size=[2] * 4, id=ids).with_columns(**columns)
    return fs.simulate(log, fs.Cluster(8), record=True)


def test_dependencies_are_those_of_the_log():
    after = ["", "afterok:7", "afterany:7+5s,afterok:8", ""]
    assert _dependencies(dependent([7, 8, 9, 10], after=after)) == (
        {"1": "afterok:7", "2": "afterany:7+5s,afterok:8"},
        {"0": "8, 9", "1": "9"},
    )
    result = dependent([1, 2, 3, 4], preceding_job=[-1, 1, 99, 1], think_time=[-1, 5, 0, 0])
    assert _dependencies(result) == ({"1": "job 1", "3": "job 1"}, {"0": "2, 4"})
    both = dependent([1, 2, 3, 4], after=["", "", "afterok:2", ""], preceding_job=[-1, -1, 2, -1])
    assert _dependencies(both) == ({"2": "afterok:2, job 2"}, {"1": "3"})
    assert _dependencies(dependent([1, 2, 3, 4])) == ({}, {})
    assert _listed([str(job) for job in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"


@needs_browser
def test_it_shows_dependencies(browser, tmp_path):
    result = dependent([7, 8, 9, 10], after=["", "afterok:7", "", ""])
    report_run(result).write(tmp_path / "run.html")
    browser.open(tmp_path / "run.html")
    browser.until("return document.querySelector('figure.chart').dataset.explore === 'yes'")
    browser.run("document.querySelector('button.explore').click()")
    browser.until("return document.querySelector('figure.chart').plot.scales.y.max === 8")
    shown = [words_at(browser, time, row).split("\n") for time, row in ((90.0, 1.0), (30.0, 1.0))]
    assert "depends on: afterok:7" in shown[0]
    assert "jobs that depend on it: 8" in shown[1]
