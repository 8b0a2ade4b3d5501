"""Reports in a real browser: they open, sort, show every figure, and log no error."""

import re

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.plot.theme import THEMES
from faultsim.plot.touching import FILLS, job_colours
from faultsim.report import report_run, report_sweep
from faultsim.report.waiting import reasons_of
from faultsim.reproduce.studies import papers
from helpers.browser import MISSING
from helpers.results import random_log

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

TABLE = """
const title = {title!r};
const table = [...document.querySelectorAll("table")].find((t) => t.caption && t.caption.textContent.startsWith(title));
"""
COLUMN = """
const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
return [...table.tBodies[0].rows].map((row) => row.cells[heads.indexOf({head!r})].textContent);
"""
CLICK = """
const head = [...table.tHead.rows[0].cells].find((head) => head.textContent === {head!r});
head.querySelector("button").click();
return head.getAttribute("aria-sort");
"""
#: Figures that take no room, or whose picture was not decoded.
UNSEEN = """
const small = (e) => e.getBoundingClientRect().width < 100 || e.getBoundingClientRect().height < 50;
return [...document.querySelectorAll("figure")].filter((figure) => {
  const shown = figure.querySelector("svg, img, canvas");
  return !shown || small(shown) || (shown.tagName === "IMG" && !shown.naturalWidth);
}).length;
"""

#: What the replay tells at points all over it, each with its most frequent colour there.
POINT_EVERYWHERE = """
const c = document.querySelector(".replay canvas"), box = c.getBoundingClientRect(), found = {};
const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, tip = document.querySelector(".tip");
for (let u = 0.5; u < box.width; u += 3) for (let v = 0.5; v < box.height; v += 3) {
  c.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + u, clientY: box.top + v }));
  if (tip.hidden) continue;
  const at = 4 * (Math.floor(v * c.height / box.height) * c.width + Math.floor(u * c.width / box.width));
  const colours = (found[tip.textContent] ??= {}), rgb = JSON.stringify([...data.slice(at, at + 3)]);
  colours[rgb] = (colours[rgb] ?? 0) + 1;
}
const most = (colours) => JSON.parse(Object.entries(colours).sort((a, b) => b[1] - a[1])[0][0]);
return Object.entries(found).map(([words, colours]) => [words, most(colours)]);
"""


@pytest.fixture(scope="module")
def result():
    log = random_log(150, 8)
    trace = fs.FailureTrace(np.arange(5, 3000, 60), np.arange(50) * 7 % 32, [0, 40] * 25, span=3000)
    return fs.simulate(log, fs.Torus(4, 4, 2), record=True, failures=trace)


def numbers(cells):
    return [float(cell.replace(",", "")) for cell in cells]


def test_the_report_of_a_run_opens_sorts_and_shows_its_figures(browser, result, tmp_path):
    path = tmp_path / "run.html"
    report_run(result, source=["<script>document.title = 'taken over'</script>"]).write(path)
    browser.open(path)
    assert browser.run("return document.title").startswith("150 jobs on torus:4x4x2")
    assert browser.run("return document.querySelectorAll('figure').length") == 8
    assert browser.run(UNSEEN) == 0
    # The table of jobs, by wait: up, then down.
    of = {"title": "The 100 of", "head": "wait (s)"}
    before = browser.run((TABLE + COLUMN).format(**of))
    assert browser.run((TABLE + CLICK).format(**of)) == "ascending"
    up = numbers(browser.run((TABLE + COLUMN).format(**of)))
    assert up == sorted(numbers(before))
    assert browser.run((TABLE + CLICK).format(**of)) == "descending"
    assert numbers(browser.run((TABLE + COLUMN).format(**of))) == up[::-1]
    # A column of words; a real click this time.
    browser.click("table.sortable th button")
    names = browser.run(
        "return [...document.querySelector('table').tBodies[0].rows].map((r) => r.cells[0].textContent)"
    )
    assert names == sorted(names, key=str.lower)
    assert browser.logged() == []


def test_the_replay_draws_what_the_columns_say(browser, result, tmp_path):
    from faultsim.plot import occupancy

    path = tmp_path / "run.html"
    report_run(result, reasons=len(result)).write(path)
    browser.open(path)
    browser.until("return document.querySelector('.replay').dataset.ready === 'yes'")
    begin, end = result.span
    for at in (100, 400, 800):
        label = browser.run(
            f"const s = document.querySelector('.replay input'); s.valueAsNumber = {at};"
            "s.dispatchEvent(new Event('input')); return document.querySelector('.replay output').textContent"
        )
        state = occupancy(result, (end - begin) * at / 1000)
        jobs = len(set(state[state >= 0].tolist()))
        assert label.endswith(f"{jobs} jobs on {(state >= 0).sum()} of 32 nodes")
    painted = """
    const c = document.querySelector(".replay canvas");
    const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
    let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] < 250 || d[i + 1] < 250) n++; return n / (d.length / 4);
    """
    assert browser.run(painted) > 0.02
    # Every node tells who holds it, where it has the colour of the job.
    whole = dict(browser.run(POINT_EVERYWHERE))
    told = {words.split("\n")[0]: shade for words, shade in whole.items()}
    ids, colours = result.jobs["id"], job_colours(result)
    users = [f", user {user}" if user >= 0 else "" for user in result.users.tolist()]
    expected = {}
    for place in np.ndindex(state.shape):
        job = int(state[place])
        words = f"job {ids[job]}{users[job]}" if job >= 0 else "free" if job == -1 else "down"
        shade = FILLS[colours[job]] if job >= 0 else THEMES["light"].free if job == -1 else THEMES["light"].down
        expected[f"node {place}: {words}"] = [int(shade[i : i + 2], 16) for i in (1, 3, 5)]
    assert told == expected
    rows, why = {str(name): row for row, name in enumerate(ids.tolist())}, reasons_of(result, len(ids))
    for words in whole:
        if found := re.search(r": job (\d+)", words):
            row = rows[found[1]]
            assert "\nwaited " in words
            assert words.endswith(f"\nwhy it waited: {why[row]}") if row in why else "why" not in words
    browser.click(".replay button")
    browser.until("return document.querySelector('.replay input').valueAsNumber !== 800")
    assert browser.run("return document.querySelector('.replay button').textContent") == "Pause"
    browser.click(".replay button")
    # That this test reads the picture again and again is not the page's doing.
    assert [line for line in browser.logged() if "getImageData" not in line] == []


def test_a_browser_that_complains_is_heard(browser, tmp_path):
    path = tmp_path / "broken.html"
    path.write_text("<!doctype html><title>x</title><script>nothing.here()</script>")
    browser.open(path)
    browser.until("return document.readyState === 'complete'")
    assert any("SEVERE" in line for line in browser.logged())


def test_the_report_of_reproductions_opens_and_sorts(browser, tmp_path):
    from faultsim.reproduce.html import page_of_all
    from helpers.reproduction_reports import BOTH, report

    path = tmp_path / "all.html"
    done = [report(name, tmp_path / name, *BOTH) for name in ("one", "two")]
    page_of_all(done, command="faultsim reproduce all").write(path)
    browser.open(path)
    assert browser.run(UNSEEN) == 0
    assert browser.run("return document.querySelectorAll('figure img').length") == 2
    assert browser.run("return document.title") == "The claims of the papers and their verdicts"
    verdicts = """
    const table = document.querySelectorAll("table")[1], heads = [...table.tHead.rows[0].cells];
    heads.find((head) => head.textContent === "verdict").querySelector("button").click();
    return [...table.tBodies[0].rows].map((row) => row.cells[5].textContent);
    """
    assert browser.run(verdicts) == ["does not hold"] * 2 + ["partly"] * 2
    assert browser.run(verdicts) == ["partly"] * 2 + ["does not hold"] * 2
    assert browser.logged() == []


def test_the_report_of_a_sweep_opens_and_sorts(browser, tmp_path):
    base = {"log": lambda rng: fs.synthetic.nasa_like(60, rng=rng), "machine": fs.Cluster(128)}
    grid = {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}
    path = tmp_path / "sweep.html"
    report_sweep(fs.Sweep(base, grid, replicates=3).run(), metrics=["mean_wait"]).write(path)
    browser.open(path)
    assert browser.run("return document.querySelectorAll('figure').length") == 2
    assert browser.run(UNSEEN) == 0
    of = {"title": "Means over replicates", "head": "mean wait (s)"}
    before = browser.run((TABLE + COLUMN).format(**of))
    browser.run((TABLE + CLICK).format(**of))
    assert numbers(browser.run((TABLE + COLUMN).format(**of))) == sorted(numbers(before))
    assert browser.logged() == []


def test_heat_maps_and_kiviat_graphs_are_shown(browser, result, tmp_path):
    base = {"log": lambda rng: fs.synthetic.nasa_like(60, rng=rng), "machine": fs.Cluster(128)}
    grid = {"load": [0.7, 0.9], "start_delay": [0.0, 30.0], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}
    table = fs.Sweep(base, grid, replicates=2).run()
    report_sweep(table.select(scheduler="easy"), metrics=["mean_wait"]).write(tmp_path / "sweep.html")
    other = fs.rerun(result, scheduler=fs.Fcfs())
    report_run(result, name="EASY", against={"FCFS": other}).write(tmp_path / "run.html")
    for name, words in (("sweep", "as colours"), ("run", "Kiviat")):
        browser.open(tmp_path / f"{name}.html")
        captions = browser.run("return [...document.querySelectorAll('figure')].map((figure) => figure.textContent)")
        assert any(words in caption for caption in captions), captions
        assert browser.run(UNSEEN) == 0
        assert browser.logged() == []


@pytest.mark.slow
def test_the_report_of_all_papers_opens(browser, tmp_path):
    assert main(["reproduce", "all", "--quick", "--data", "", "--out", str(tmp_path / "all")]) == 0
    browser.open(tmp_path / "all" / "report.html")
    assert browser.run("return document.querySelectorAll('figure img').length") >= 30
    assert browser.run(UNSEEN) == 0
    rows = browser.run("return [...document.querySelectorAll('table')].map((table) => table.tBodies[0].rows.length)")
    assert rows[0] == len(papers())
    assert sum(rows[1:]) >= 90
    assert browser.logged() == []
