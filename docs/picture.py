"""Draws the picture of README.md and of the documentation's first page, in light and dark.

    python docs/picture.py [FOLDER]

A few days of a torus whose nodes fail: who held which nodes, and where the node-seconds of three such runs went.
"""

import sys
from pathlib import Path

import faultsim as fs
from faultsim.plot import new_figure, plot_gantt, plot_ledger, save

HERE = Path(__file__).resolve().parent / "_static"


def draw(folder: Path) -> None:
    """Write picture-light.png and picture-dark.png."""
    log = fs.synthetic.sdsc_like(220, rng=5).with_load(0.95, nodes=128)
    torus = fs.Torus.bluegene_l()
    failures = fs.synthetic.weibull_failures(
        torus.nodes, float(log.submit[-1]), shape=0.85, scale="5h", zipf=0.5, downtime="2h", count=40, rng=2
    )
    run = fs.Run(log, torus, scheduler="easy", failures=failures, record=True)
    saved = run.with_options(checkpointing="young:cost=60s,mtbf=30d").simulate()
    moved = run.with_options(migration="defragment", checkpointing="young:cost=60s,mtbf=30d").simulate()
    for theme in ("light", "dark"):
        figure = new_figure(10.0, 4.0, theme=theme)
        left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
        plot_gantt(saved, ax=left)
        plot_ledger({"no checkpoints": run.simulate(), "checkpoints": saved, "and migration": moved}, ax=right)
        save(figure, folder / f"picture-{theme}.png")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
