"""What an environment shows to people: `as_text` and `as_picture`."""

import numpy as np
from numpy.typing import NDArray

from faultsim._core.decisions import Decision
from faultsim.machines import Machine
from faultsim.rl.observations import squash, time_to_end

#: Waiting jobs that are shown; there may be more.
SHOWN = 16
#: Pixels of the picture: its width, and the heights of the nodes and of a job.
WIDTH, BAND, BAR = 384, 48, 12

_WHITE, _GREEN, _GREY, _RED = (255, 255, 255), (120, 190, 110), (170, 170, 170), (200, 60, 50)
#: Colours of nodes whose job is expected to end now, and never.
_SOON, _LATE = np.array([190.0, 215.0, 240.0]), np.array([10.0, 40.0, 110.0])


def as_text(decision: Decision | None, machine: Machine, now: float) -> str:
    """The machine in one line, then a line for each of the first waiting jobs."""
    if decision is None:
        return f"{now:g} s: no decision waits\n"
    queue = decision.queue
    lines = [
        f"{now:g} s: {decision.free} of {machine.nodes} nodes are free, {len(decision.down)} down; "
        f"{len(decision.running)} jobs run, {len(queue)} wait"
    ]
    columns = (queue.tolist(), queue.size.tolist(), queue.estimate.tolist(), queue.wait.tolist())
    for row, size, estimate, wait in list(zip(*columns, strict=True))[:SHOWN]:
        fits = ", fits" if decision.fits(row) else ""
        lines.append(f"  job {row}: {size} nodes for {estimate:g} s, has waited {wait:g} s{fits}")
    return "\n".join([*lines, f"  and {len(queue) - SHOWN} more"] if len(queue) > SHOWN else lines) + "\n"


def as_picture(decision: Decision | None, machine: Machine, now: float) -> NDArray[np.uint8]:
    """The nodes from left to right, then a bar for each of the first waiting jobs."""
    picture = np.full((BAND + SHOWN * BAR, WIDTH, 3), _WHITE, np.uint8)
    column = np.arange(WIDTH) * machine.nodes // WIDTH
    if decision is None:
        picture[:BAND] = _GREEN
        return picture
    late = squash(time_to_end(decision, machine)).ravel()[:, None]
    colour = _SOON + late * (_LATE - _SOON)
    colour[~decision.occupancy.ravel()] = _GREEN
    colour[decision.down] = _RED
    picture[:BAND] = colour.astype(np.uint8)[column]
    for place, row in enumerate(decision.queue.tolist()[:SHOWN]):
        top = BAND + place * BAR
        length = max(1, int(decision.queue.size[place]) * WIDTH // machine.nodes)
        picture[top + 2 : top + BAR, :length] = _GREEN if decision.fits(row) else _GREY
    return picture
