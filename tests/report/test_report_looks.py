"""How reports look in a real browser: on a phone and on a wide screen, light and dark, nothing overlaps or is faint."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.plot.gantt import drawn_gantt
from faultsim.plot.touching import FILLS, job_colours
from faultsim.report import report_run, report_sweep, report_workflows
from helpers.browser import MISSING
from helpers.looks import FAINT, OVERLAPS
from helpers.reproduction_reports import BOTH, report

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

SCHEMES = ("light", "dark")
SCREENS = (400, 1280, 2560)


@pytest.fixture(scope="module")
def result():
    log = fs.synthetic.sdsc_like(150, rng=3)
    span = float(log.submit[-1])
    trace = fs.FailureTrace(np.linspace(0.1, 0.9, 20) * span, np.arange(20) * 7 % 128, [0, 7200] * 10, span=span)
    return fs.simulate(log, fs.Torus(4, 4, 8), failures=trace, record=True)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, result):
    """Reports of a run, of two runs, of a sweep, of workflows, and of a reproduction."""
    from faultsim.reproduce.html import page_of

    folder = tmp_path_factory.mktemp("pages")
    easy, fcfs = result, fs.rerun(result, scheduler=fs.Fcfs())
    base = {"log": lambda rng: fs.synthetic.nasa_like(60, rng=rng), "machine": fs.Cluster(128)}
    grid = {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()], "start_delay": [0.0, 30.0]}
    flows = [fs.Workflow([4] * 12, [(i, i + 1, 2) for i in range(11)], name=f"chain {i}") for i in range(3)]
    made = {
        "run": report_run(easy, command="faultsim run --jobs 150 --machine torus:4x4x8 --report run.html"),
        "compared": report_run(easy, name="EASY", against={"FCFS": fcfs}),
        "sweep": report_sweep(fs.Sweep(base, grid, replicates=3).run(), metrics=["mean_wait"]),
        "workflows": report_workflows(fs.simulate_workflows(flows, fs.Resources(4), record=True)),
        "reproduction": page_of(report("one", folder / "one", *BOTH), command="faultsim reproduce one"),
    }
    for name, page in made.items():
        page.write(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in made}


PAGES = ("run", "compared", "sweep", "workflows", "reproduction")
#: Parts that are wider than their place, and words of figures in letters of less than 7.5 pixels.
CUT = """
const cut = [...document.querySelectorAll("body *")].filter((e) =>
  e.scrollWidth > e.clientWidth + 1 && /auto|scroll|hidden/.test(getComputedStyle(e).overflowX));
const scale = (e) => Math.hypot(e.getScreenCTM().c, e.getScreenCTM().d);
const size = (e) => parseFloat(e.getAttribute("font-size")) * scale(e);
const small = [...document.querySelectorAll("figure svg text")].filter((e) => e.checkVisibility() && size(e) < 7.5);
return [cut.map((e) => e.textContent.trim().slice(0, 40)), small.map((e) => `${e.textContent} ${size(e)}`)];
"""


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_overlaps_or_runs_off_the_side(browser, pages, name, width):
    browser.screen(width, 1000)
    browser.open(pages[name])
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    seen, found = browser.run(OVERLAPS)
    assert seen > 50
    assert found == []
    assert browser.logged() == []


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("name", PAGES)
def test_tables_and_figures_fit_the_screen_and_can_be_read(browser, pages, name, width):
    browser.screen(width, 1000)
    browser.open(pages[name])
    cut, small = browser.run(CUT)
    assert cut == []
    assert small == []


def test_cards_of_a_narrow_screen_name_their_columns_and_sort(browser, pages):
    browser.screen(400, 1000)
    browser.open(pages["run"])
    cards = """
    const table = [...document.querySelectorAll("table.cards")].find((t) => t.innerText.startsWith("The 100"));
    const heads = [...table.tHead.rows[0].cells];
    heads[6].querySelector("button").click();
    return [heads.map((head) => head.textContent), [...table.tBodies[0].rows].map((row) =>
      [...row.cells].map((cell) => [cell.dataset.head, cell.dataset.value]))];
    """
    heads, rows = browser.run(cards)
    assert heads[6] == "wait (s)"
    assert all([head for head, _ in row] == heads for row in rows)
    waits = [float(row[6][1]) for row in rows]
    assert waits == sorted(waits)
    browser.screen(1280, 1000)
    browser.until("return document.querySelector('table.cards') === null")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_every_word_can_be_read(browser, pages, name, scheme):
    browser.screen(1280, 12_000, scheme)
    browser.open(pages[name])
    seen, found = browser.run(FAINT)
    assert seen > 50
    assert found == []
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is (scheme == "light")
    assert browser.logged() == []


@pytest.mark.parametrize(("ground", "ink"), [("#111111", "#e0e0e0"), ("#ffffff", "#212121")], ids=SCHEMES)
def test_what_notebooks_show_can_be_read_on_their_ground(browser, result, tmp_path, ground, ink):
    table = fs.Sweep(fs.Run(fs.synthetic.nasa_like(60, rng=1), fs.Cluster(128)), {"load": [0.7, 0.9]}).run()
    log = result.workload
    things = (result, result.jobs, result.by("user"), log, log.summary(nodes=128), table, table.summary("mean_wait"))
    path = tmp_path / "notebook.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8><title>x</title><body style='background:{ground};color:{ink}'>"
        + "".join(thing._repr_html_() for thing in things),
        encoding="utf-8",
    )
    for scheme in SCHEMES:  # of the system, which need not be that of the notebook
        browser.screen(6000, 4000, scheme)
        browser.open(path)
        seen, faint = browser.run(FAINT)
        assert seen > 200
        assert faint == []
        assert browser.run(OVERLAPS)[1] == []


def test_overlaps_and_faint_words_are_found(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8><title>x</title><body><p style='color:#999'>faint</p>"
        "<p>one<span style='position:absolute;left:10px'>other</span></p><svg width='300' height='100' fill='#000'>"
        "<rect width='90' height='30' fill='#0072b2'/><text x='10' y='20'>dark</text><text x='12' y='22'>on it</text>"
        "<text transform='translate(150 90) rotate(-45)'>slanted</text>"
        "<text transform='translate(170 90) rotate(-45)'>slanted</text></svg>"
    )
    browser.screen(1280, 1000)
    browser.open(path)
    assert browser.run(OVERLAPS)[1] == [["one", "other"], ["dark", "on it"]]
    assert [words for words, *_ in browser.run(FAINT)[1]] == ["faint", "dark", "on it"]


def test_two_columns_on_a_wide_screen_and_one_on_a_phone(browser, pages):
    columns = """
    const lefts = (parts) => new Set([...parts.children].map((part) => Math.round(part.getBoundingClientRect().left)));
    return Math.max(...[...document.querySelectorAll(".parts")].map((parts) => lefts(parts).size));
    """
    for name in ("run", "compared", "sweep"):
        for width, expected in ((400, 1), (1280, 2), (2560, 2)):
            browser.screen(width, 1000)
            browser.open(pages[name])
            assert browser.run(columns) == expected


def test_the_page_runs_and_fetches_nothing_of_others(browser, pages):
    inject = """
    const made = (name, text) => Object.assign(document.createElement(name), { textContent: text });
    const said = [];
    document.addEventListener("securitypolicyviolation", (event) => said.push(event.effectiveDirective));
    document.head.append(made("style", "body { display: none }"), made("script", "document.title = 'taken over'"));
    document.body.append(Object.assign(new Image(), { src: "http://127.0.0.1:9/x.png" }));
    document.querySelector("h1").setAttribute("style", "display: none");
    window.said = said;
    return [document.title, getComputedStyle(document.body).display,
      getComputedStyle(document.querySelector("h1")).display];
    """
    for name in PAGES:
        browser.screen(1280, 1000)
        browser.open(pages[name])
        title, body, heading = browser.run(inject)
        assert title != "taken over"
        assert (body, heading) == ("block", "block")
        browser.until("return window.said.length >= 4")
        assert set(browser.run("return said")) == {"style-src-elem", "script-src-elem", "img-src", "style-src-attr"}
        assert len(browser.logged()) >= 4  # the browser says so


def test_the_chart_tells_the_job_where_one_points(browser, pages, result):
    browser.screen(1280, 6000)
    browser.open(pages["run"])
    browser.until("return document.querySelector('figure.chart').dataset.ready === 'yes'")
    _, drawn = drawn_gantt(result)
    row, first, count = drawn
    held, (origin, end) = result.allocations, result.span
    long = np.flatnonzero((held["end"] - held["begin"])[row] > 0.02 * (end - origin))
    colours = job_colours(result, (row, first, count))
    seen = set()
    for bar in long[:: max(1, len(long) // 12)].tolist():
        job = int(held["job"][row[bar]])
        # Off the middle: a cross may be there.
        begin, stop = held["begin"][row[bar]], held["end"][row[bar]]
        across = float(begin + 0.7 * (stop - begin) - origin) / (end - origin)
        up = float(first[bar] + 0.6 * count[bar]) / result.machine.nodes
        words, outline, fill = browser.run(f"""
            const box = document.querySelector("figure.chart"), svg = box.querySelector("svg");
            const [left, top, width, height] = JSON.parse(box.querySelector(".about").textContent).boxes[0];
            const at = new DOMPoint(left + width * {across!r}, top + height * (1 - {up!r}));
            const there = at.matrixTransform(svg.getScreenCTM()), where = {{ clientX: there.x, clientY: there.y }};
            const shape = document.elementsFromPoint(there.x, there.y).find((e) => /^(path|use)$/.test(e.tagName));
            svg.dispatchEvent(new PointerEvent("pointermove", where));
            return [document.querySelector(".tip").textContent, svg.querySelector(".outline").getAttribute("d"),
              getComputedStyle(shape).fill];
        """)
        assert words.startswith(f"job {result.jobs['id'][job]}: {result.jobs['size'][job]} node")
        assert outline.count("M") == (held["job"][row] == job).sum()
        if not fill.startswith("url"):  # a hatched one
            shade = FILLS[colours[job]]
            assert fill == f"rgb({', '.join(str(int(shade[i : i + 2], 16)) for i in (1, 3, 5))})"
        seen.add(job)
    assert len(seen) > 5
    browser.run("document.querySelector('figure.chart svg').dispatchEvent(new PointerEvent('pointerleave'))")
    assert browser.run("return document.querySelector('.tip').hidden")
    assert browser.logged() == []


def test_metrics_explain_themselves_to_the_keyboard(browser, pages):
    browser.screen(1280, 1000)
    browser.open(pages["run"])
    told = """
    const term = [...document.querySelectorAll(".term")].find((e) => e.textContent === "mean wait");
    term.focus();
    const tip = document.querySelector("[role=tooltip]");
    return [tip.hidden, tip.textContent, term.title];
    """
    hidden, words, title = browser.run(told)
    assert not hidden
    assert words == title == f"{fs.METRICS['mean_wait'].formula}, in s; {fs.METRICS['mean_wait'].source}"
    browser.run("document.activeElement.blur()")
    assert browser.run("return document.querySelector('[role=tooltip]').hidden")
    assert browser.logged() == []
