"""Every claim under every reading: what a paper leaves open is an axis, and the study is judged at all combinations.

An axis has a default, on which the page of the study rests, and a reason for it.  The verdict of a claim at the default
says less than in how many readings it holds, and which axis decides.
"""

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from faultsim.data.text_files import write_text
from faultsim.plot import new_figure, save
from faultsim.reproduce.claims import Row, Verdict, markdown_table
from faultsim.reproduce.documents import ReadingsDocument, VerdictsEntry
from faultsim.reproduce.report import folder, write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Evidence = TypeVar("Evidence")
#: Axis -> its value.
Reading = Mapping[str, str]
#: How much a verdict counts for the share of an axis.
_SCORE = {Verdict.HOLDS: 1.0, Verdict.PARTLY: 0.5}
#: An axis decides a claim if its values differ by so much in the mean score of their readings.
_DECIDES = 0.25


@dataclass(frozen=True)
class Axis:
    """What a paper leaves open: its name, how it can be read (the default first), and why that is the default."""

    name: str
    values: tuple[str, ...]
    why: str


def reading_of(axes: Sequence[Axis], values: Sequence[str]) -> dict[str, str]:
    """The reading with these values, in the order of the axes."""
    return dict(zip((axis.name for axis in axes), values, strict=True))


@dataclass(frozen=True, kw_only=True)
class Readings(Generic[Evidence]):
    """The readings of one study.

    Parameters
    ----------
    axes : sequence of Axis
        The readings are all combinations of their values.
    about : str
        What is run less than for the study's page.
    shown : sequence of str
        Claims whose numbers are printed, too, for the default and for each reading that differs from it in one axis.
    made : callable
        From data, seed and workers to each reading with its judged claims; the readings in any order.
    """

    axes: Sequence[Axis]
    about: str
    shown: Sequence[str] = ()
    made: Callable[..., Iterator[tuple[Reading, Sequence[Row]]]]

    def all(self) -> list[dict[str, str]]:
        """Every reading, the default first."""
        return [reading_of(self.axes, values) for values in itertools.product(*(axis.values for axis in self.axes))]

    def _near(self, readings: Sequence[Reading]) -> Iterator[tuple[int, str]]:
        """The default, and the readings that differ from it in one axis, in words."""
        for at, reading in enumerate(readings):
            other = [f"{name}: {value}" for name, value in reading.items() if value != readings[0][name]]
            if len(other) < 2:
                yield at, other[0] if other else "the default"

    def judge(
        self, name: str, title: str, *, data: str | Path | None, seed: int, workers: int | None, out: str | Path
    ) -> ReadingsDocument:
        """Judge all claims under all readings; writes readings.json, readings.csv and readings.png to `out`.

        Returns
        -------
        dict
            What readings.json has.
        """
        began, clock = time.perf_counter(), time.process_time()
        place, readings = folder(out), self.all()
        found: dict[int, Sequence[Row]] = {}
        for reading, rows in self.made(data=data, seed=seed, workers=workers):
            found[readings.index(dict(reading))] = rows
        claims: list[VerdictsEntry] = [
            {
                "id": row.claim.id,
                "claim": row.claim.text,
                "verdicts": [str(found[at][number].finding.verdict) for at in range(len(readings))],
            }
            for number, row in enumerate(found[0])
        ]
        document: ReadingsDocument = {
            "study": name,
            "paper": title,
            "axes": [{"name": axis.name, "values": list(axis.values), "why": axis.why} for axis in self.axes],
            "about": self.about,
            "cpu_seconds": round(time.process_time() - clock, 1),
            "seconds": round(time.perf_counter() - began, 1),
            "claims": claims,
            "numbers": [
                {"id": row.claim.id, "reading": words, "verdict": row.verdict_words, "ours": row.finding.ours}
                for row_number, row in enumerate(found[0])
                if row.claim.id in self.shown
                for at, words in self._near(readings)
                for row in [found[at][row_number]]
            ],
        }
        write_text(place / "readings.json", json.dumps(document, indent=1) + "\n")
        table = [
            [*reading.values(), *(claim["verdicts"][at] for claim in claims)] for at, reading in enumerate(readings)
        ]
        write_csv([[*readings[0], *(claim["id"] for claim in claims)], *table], place / "readings.csv")
        save(picture(document), place / "readings.png")
        return document


def _places(document: ReadingsDocument) -> list[tuple[str, ...]]:
    return list(itertools.product(*(axis["values"] for axis in document["axes"])))


def _score(verdicts: Sequence[str]) -> float:
    return sum(_SCORE.get(Verdict(verdict), 0.0) for verdict in verdicts) / len(verdicts)


def decides(document: ReadingsDocument, verdicts: Sequence[str]) -> str:
    """Which axis decides a claim, and how often it holds with each of its values.

    Examples
    --------
    >>> axes = [{"name": "box order", "values": ["a", "b"]}, {"name": "log", "values": ["x", "y"]}]
    >>> decides({"axes": axes}, ["holds", "holds", "does not hold", "partly"])
    'box order: a holds in 2 of 2, b in 0 of 2'
    >>> decides({"axes": axes}, ["holds"] * 4)
    'none: the same in all'
    """
    if len(set(verdicts)) == 1:
        return "none: the same in all"
    places, best, spread = _places(document), "no axis by itself", _DECIDES
    for at, axis in enumerate(document["axes"]):
        by = {
            value: [v for place, v in zip(places, verdicts, strict=True) if place[at] == value]
            for value in axis["values"]
        }
        scores = [_score(found) for found in by.values()]
        if max(scores) - min(scores) >= spread + (0.0 if best == "no axis by itself" else 1e-9):
            spread = max(scores) - min(scores)
            held = {found.count(str(Verdict.HOLDS)) for found in by.values()}
            word = str(Verdict.HOLDS if len(held) > 1 else Verdict.PARTLY)
            shown = [f"{value} {{}}in {found.count(word)} of {len(found)}" for value, found in by.items()]
            best = f"{axis['name']}: " + ", ".join(
                text.format(f"{word} " if number == 0 else "") for number, text in enumerate(shown)
            )
    return best


def rows(document: ReadingsDocument) -> list[list[str]]:
    """The table of one study, the head first: claims, the verdict at the default, how often it holds, what decides."""
    table = [["id", "claim", "at the default", "holds in", "partly in", "which axis decides"]]
    for claim in document["claims"]:
        verdicts = claim["verdicts"]
        counts = [f"{verdicts.count(str(v))} of {len(verdicts)}" for v in (Verdict.HOLDS, Verdict.PARTLY)]
        table.append([claim["id"], claim["claim"], f"**{verdicts[0]}**", *counts, decides(document, verdicts)])
    return table


def text(document: ReadingsDocument) -> str:
    """The same for a terminal."""
    lines = [document["paper"], document["about"], ""]
    lines += [f"{axis['name']}: {', '.join(axis['values'])}. {axis['why']}" for axis in document["axes"]]
    lines.append("")
    for label, _, default, holds, partly, axis in rows(document)[1:]:
        lines.append(f"{label:<4}{default.strip('*').upper():<14} holds in {holds}, partly in {partly}; {axis}")
    return "\n".join(lines)


def page(documents: Mapping[str, ReadingsDocument], missing: Sequence[str]) -> str:
    """All studies' readings as Markdown.

    Parameters
    ----------
    documents : mapping of str to mapping
        Name of the study -> what `Readings.judge` gave.
    missing : sequence of str
        Papers whose readings are not done.
    """
    lines = [
        "# Every reading of every claim",
        "",
        "A paper leaves things open, and a reproduction has to read them in some way. Here each is an axis, and every "
        "claim is judged, by the rule on its study's page, at all combinations of their values. `faultsim reproduce "
        "NAME --readings` makes them; nothing here is edited by hand. A claim that holds in all readings rests on none "
        "of them. An axis decides a claim where the mean score of its values (1 for holds, a half for partly) differs "
        "by at least a quarter; where several do, the one that differs most is named.",
        "",
        f"All of them take {sum(document['cpu_seconds'] for document in documents.values()):.0f} s of one processor; "
        "each reading has fewer replicates than the study's page.",
        "",
        *([f"Not done: {', '.join(missing)}.", ""] if missing else []),
    ]
    for name, document in documents.items():
        axes = [[axis["name"], f"**{axis['values'][0]}**, {', '.join(axis['values'][1:])}", axis["why"]]
                for axis in document["axes"]]  # fmt: skip
        count = len(document["claims"][0]["verdicts"])
        lines += [
            f"## {document['paper']}",
            "",
            f"{count} readings. {document['about']} {document['cpu_seconds']:.0f} s of one processor.",
            "",
            *markdown_table(["axis", "readings, the default first", "why it is the default"], axes),
            "",
            f"![{name}]({name}/readings.png)",
            "",
            *markdown_table(rows(document)[0], rows(document)[1:]),
            "",
        ]
        numbers = [[entry["id"], entry["reading"], entry["verdict"], entry["ours"]] for entry in document["numbers"]]
        if numbers:
            lines += ["With one axis read otherwise:", ""]
            lines += [*markdown_table(["id", "reading", "verdict", "ours"], numbers), ""]
    return "\n".join(lines)


def documents_in(place: str | Path, names: Sequence[str]) -> dict[str, ReadingsDocument]:
    """What was written into ``place/NAME/readings.json``, for those studies that are there."""
    paths = {name: Path(place) / name / "readings.json" for name in names}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.is_file()}


#: Verdict -> its colour in the figure, all of one lightness but for what was not judged.
_COLOURS = {
    Verdict.HOLDS: "#009E73",
    Verdict.PARTLY: "#E8C66A",
    Verdict.UNDECIDED: "#C9CDD2",
    Verdict.FAILS: "#D55E00",
    Verdict.NOT_JUDGED: "#FFFFFF",
}


def picture(document: ReadingsDocument) -> "Figure":
    """Claims by readings, and below them what each reading is; the first column is the default."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    kinds, places, claims, axes = list(_COLOURS), _places(document), document["claims"], document["axes"]
    cells = [[kinds.index(Verdict(verdict)) for verdict in claim["verdicts"]] for claim in claims]
    wide = max(7.5, 2.2 + 0.16 * len(places))
    figure = new_figure(wide, 1.6 + 0.2 * len(claims) + 0.26 * len(axes))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[len(claims), 1.4 * len(axes)])
    upper.imshow(cells, aspect="auto", cmap=ListedColormap(list(_COLOURS.values())), vmin=-0.5, vmax=len(kinds) - 0.5)
    upper.set_yticks(range(len(claims)), [claim["id"] for claim in claims], fontsize=7)
    upper.set_title(f"{len(claims)} claims under {len(places)} readings, the default at the left", fontsize=10)
    strips = [[axis["values"].index(place[at]) for place in places] for at, axis in enumerate(axes)]
    lower.imshow(strips, aspect="auto", cmap="Greys", vmin=-1.5, vmax=4)
    names = [f"{axis['name']}: {' | '.join(axis['values'])}" for axis in axes]
    lower.set_yticks(range(len(axes)), names, fontsize=7)
    lower.set_xlabel("readings; below, a darker shade is a later value of the axis", fontsize=8)
    for ax in (upper, lower):
        ax.set_xticks([])
        ax.tick_params(length=0)
        ax.grid(visible=False)
        for edge in range(1, len(places)):
            ax.axvline(edge - 0.5, color="white", linewidth=0.6)
    for row in range(1, len(claims)):
        upper.axhline(row - 0.5, color="white", linewidth=0.6)
    shown = [kind for kind in kinds if any(str(kind) in claim["verdicts"] for claim in claims)]
    handles = [Patch(facecolor=_COLOURS[kind], edgecolor="#5F6368", linewidth=0.4, label=str(kind)) for kind in shown]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8, frameon=False)
    return figure
