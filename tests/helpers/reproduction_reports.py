"""Reports of a reproduction that nobody has run."""

from faultsim.plot import plot_curves, save
from faultsim.reproduce.claims import Claim, Finding, Parts, Verdict, judge
from faultsim.reproduce.report import Grid, Input, Report

HOSTILE = "<script>alert(1)</script> & | co"


PARTS = {Verdict.HOLDS: Parts(2, 0, 2), Verdict.PARTLY: Parts(1, 0, 2), Verdict.FAILS: Parts(0, 0, 2)}


def claims(*verdicts):
    return [
        Claim(f"X{i}", f"claim {i} {HOSTILE}", "Fig. 3" if i else "section 2", "order", "80 %", f"rule {i}", "T",
              lambda evidence, verdict=verdict: Finding("79 %", PARTS[verdict], "a note"))
        for i, verdict in enumerate(verdicts)
    ]  # fmt: skip


def report(name, out, *verdicts, quick=False, seconds=1.0):
    out.mkdir(parents=True, exist_ok=True)
    save(plot_curves({"a": ([1, 2], [3, 4])}), out / "fig3.png")
    done = Report(
        title=f"The paper {name} {HOSTILE}",
        command=name,
        evidence=None,
        rows=judge(claims(*verdicts), None),
        inputs=[Input("log", "LOG", "made up", False, 10)],
        settings={"T": f"Torus(4, 4, 8) {HOSTILE}"},
        quick=quick,
        quick_note="less of it",
        remarks=("A remark.",),
        grids=[Grid("Waits", [["", "s"], ["NASA", "12"]])],
        figures=["fig3", "missing"],
        out=out,
        files=[out / "fig3.png"],
        runs=3,
        seconds=seconds,
    )
    done.write(out / "CLAIMS.md")
    return done


BOTH = (Verdict.HOLDS, Verdict.FAILS, Verdict.PARTLY)
