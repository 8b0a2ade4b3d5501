"""What all studies share: a study is planned, run, judged and drawn in the same way, and written to the same files."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from faultsim import checks
from faultsim.data.whole_files import whole_file
from faultsim.plot import require_matplotlib, save
from faultsim.reproduce.claims import Claim, Row, judge
from faultsim.reproduce.pictures import fewer_colours
from faultsim.reproduce.report import Grid, Input, Report, folder, write_csv
from faultsim.simulation.progress import Progress
from faultsim.sweep.run_list import RunList

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Evidence = TypeVar("Evidence")
Rows = Iterable[Sequence[object]]
#: The runs of a study, and what makes the evidence of what they gave: key -> column -> array.
Prepared = tuple[RunList[Any], Callable[[Any], Evidence]]
#: A name, the figure (None: numbers only), and the numbers behind it (None: the figure only).
Drawing = tuple[str, "Figure | None", Rows | None]


def _no_grids(evidence: object, rows: Sequence[Row]) -> Sequence[Grid]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Study(Generic[Evidence]):
    """A row of `studies.STUDIES`: what one study has of its own.

    Parameters
    ----------
    name, title : str
        For ``faultsim reproduce``, and of the page: authors, title, venue and year.
    paper : bool
        Whether it repeats a paper, so that ``faultsim reproduce all`` runs it.
    description, quick : str
        For --help: what it does; what --quick leaves out, and how long it takes then.
    files : sequence of str
        Names of its logs and traces; a folder that FAULTSIM_DATA names is used if it has one of them.
    options : mapping
        Options of its own: flag -> keywords of `add_argument`; "replicates" goes to `plan`, the others to `prepare`.
    plan : callable
        From quick or not to what is run.
    prepare : callable
        From the plan, data, quick and seed to the list of runs, and to what makes the evidence of what they gave: key
        -> column -> array.  Loads the inputs.
    claims : sequence of Claim
        In the order of the table.
    judge : callable
        From claims and evidence to rows.
    inputs, settings, remarks : callable
        From the evidence to logs and traces; to what the letters in the claims' settings stand for; to paragraphs for
        the page.
    quick_note : callable
        From the plan to what a quick run has left out.
    grids : callable
        From evidence and rows to tables of numbers beside the claims.
    figures : callable
        From the evidence to its drawings, one after the other.
    tables : mapping
        CSV files beside those of the figures: name -> rows, from the evidence.
    colours : int, optional
        To how many colours the figures of a full run are reduced.
    """

    name: str
    title: str
    paper: bool = True
    description: str
    quick: str
    files: Sequence[str]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    plan: Callable[..., object]
    prepare: Callable[..., Prepared[Evidence]]
    claims: Sequence[Claim[Any]]
    judge: Callable[[Sequence[Claim[Any]], Evidence], list[Row]] = judge
    inputs: Callable[[Evidence], Sequence[Input]]
    settings: Callable[[Evidence], Mapping[str, str]]
    remarks: Callable[[Evidence], Sequence[str]]
    quick_note: Callable[[Any], str]
    grids: Callable[[Evidence, Sequence[Row]], Sequence[Grid]] = _no_grids
    figures: Callable[[Evidence], Iterable[Drawing]]
    tables: Mapping[str, Callable[[Evidence], Rows]]
    colours: int | None = None

    def reproduce(
        self,
        *,
        data: str | Path | None = None,
        quick: bool = False,
        out: str | Path | None = None,
        store: str | Path | None = None,
        workers: int | None = None,
        executor: object = None,
        seed: int = 0,
        page: str | Path | None = None,
        what: object = None,
        progress: Progress | None = None,
        command: str = "",
        **options: object,
    ) -> Report[Evidence]:
        """Run the experiments, judge the claims, draw the figures, and write all of it.

        Parameters
        ----------
        data : path, optional
            Folder with the real logs; what is not there is replaced by a stand-in, or left out, and the page says so.
        quick : bool
            Run the quick plan.
        out : path, optional
            Folder for figures (PNG), their numbers (CSV), CLAIMS.md and claims.json; made if needed. By default
            ``NAME-out``.
        store : path, optional
            File of a sweep store that keeps the runs: what it has is not made again.
        workers, executor
            As for `Sweep.run`: threads, processes or a Dask cluster, and how many.
        seed : int
            Seed of all that is drawn, stand-ins included.
        page : path, optional
            Where the claims go as Markdown, with links to the figures in `out`, instead of CLAIMS.md in `out`.
        what : optional
            What to run, instead of the full or the quick plan.
        progress : callable, optional
            Called with (runs done, runs in all, seconds since the beginning).
        command : str
            Command to record in the store.
        **options
            Those that the study has of its own.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        OptionError
            If an option is out of range, `data` has none of the logs, `out` cannot be a folder, or a run failed.
        StoreError, WorkerError, KeyboardInterrupt
            As for `Sweep.run`.
        """
        begin = time.perf_counter()
        require_matplotlib()
        place = folder(f"{self.name}-out" if out is None else out)
        count = options.pop("replicates", None)
        own = {} if count is None else {"replicates": checks.whole("replicates", count, low=1)}
        chosen = self.plan(quick, **own) if what is None else what
        runs, evidence_of = self.prepare(chosen, data=data, quick=quick, seed=seed, **options)
        made = runs.run(
            store,
            workers=workers,
            executor=executor,
            progress=progress or False,
            command=command,
            base={"seed": seed} | {name: str(value) for name, value in options.items()},
        )
        evidence = evidence_of(made)
        rows = self.judge(self.claims, evidence)
        target = place / "CLAIMS.md" if page is None else Path(page)
        drawn = self._draw(evidence, place, None if quick else self.colours)
        for name, numbers in self.tables.items():
            write_csv(numbers(evidence), place / name)
        done = Report(
            title=self.title,
            command=self.name,
            evidence=evidence,
            rows=rows,
            inputs=self.inputs(evidence),
            settings=self.settings(evidence),
            quick=quick,
            quick_note=self.quick_note(chosen),
            usual=not (quick or seed or options) and count is None and what is None,
            remarks=self.remarks(evidence),
            grids=self.grids(evidence, rows),
            figures=[path.stem for path in drawn if path.suffix == ".png"],
            out=place,
            files=[*drawn, *(place / name for name in self.tables), target, place / "claims.json"],
            runs=len(runs),
            seconds=time.perf_counter() - begin,
        )
        done.write(target)
        return done

    def _draw(self, evidence: Evidence, place: Path, colours: int | None) -> list[Path]:
        """Write every figure as PNG and its numbers as CSV; the paths."""
        written = []
        for name, figure, rows in self.figures(evidence):
            picture, numbers = place / f"{name}.png", place / f"{name}.csv"
            if figure is not None:
                save(figure, picture)
                if colours is not None:
                    few = fewer_colours(picture, colours)
                    with whole_file(picture) as file:
                        file.write(few)
                written.append(picture)
            if rows is not None:
                write_csv(rows, numbers)
                written.append(numbers)
        return written


def replicates(default: int) -> dict[str, Mapping[str, object]]:
    """For `Study.options`: ``--replicates``."""
    return {"--replicates": {"type": int, "metavar": "N", "help": f"replicates of a setting (default {default})"}}


def drawings(
    table: Mapping[str, tuple[Callable[[Evidence], "Figure"], Callable[[Evidence], Rows] | None]],
) -> Callable[[Evidence], Iterator[Drawing]]:
    """For `Study.figures`, from a table: name -> (the figure, its numbers)."""
    return lambda evidence: (
        (name, figure(evidence), rows and rows(evidence)) for name, (figure, rows) in table.items()
    )
