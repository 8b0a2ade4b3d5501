"""Repeat a paper's experiments: its figures, their data, and a table that judges each of its claims.

{studies}

The real logs are used when --data (or the environment variable FAULTSIM_DATA) names a folder that holds them (or its
folders swf and failures do), else built-in stand-ins:

{files}
"""

import argparse
import os
import shlex
import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from faultsim.cli.executors import add_executor_arguments, check_executor_arguments, executor_of, term_as_interrupt
from faultsim.cli.output import print_json, table
from faultsim.cli.parser import Parser, choose
from faultsim.cli.targets import add_quiet
from faultsim.data.text_files import write_text
from faultsim.errors import OptionError
from faultsim.reproduce.data_files import find_file
from faultsim.reproduce.report import Report, folder
from faultsim.reproduce.studies import READINGS, STUDIES, papers
from faultsim.reproduce.study import Study
from faultsim.simulation.progress import reporting
from faultsim.version import MODEL_REVISION, __version__

_ALL = """\
Repeat the experiments of all papers and write one report: every claim, the paper's value and ours, the figures.

Each paper's files go to its own folder below --out, next to the report.
"""


def _arguments(parser: Parser, out: str, *, quick: str, data: str, report: str, page: str) -> None:
    """The arguments of every action; the texts are for --help."""
    add = parser.add_argument
    add("--data", metavar="DIR", help=f"folder with the real logs (default: FAULTSIM_DATA, else none){data}")
    add("--quick", action="store_true", help=quick)
    add("--out", default=out, metavar="DIR", help=f"folder for figures, data and claims (default {out})")
    add("--store", metavar="FILE", help="keep the runs there, and make only what it does not have")
    add_executor_arguments(parser)
    add(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="seed of everything drawn, including stand-ins (default 0)",
    )
    add("--report", metavar="FILE", help=report)
    add("--page", metavar="FILE", help=page)
    add("--strict", action="store_true", help="exit with 1 if a claim does not hold")
    add("--json", action="store_true", help="print only one JSON document")
    add_quiet(parser)


def _must_have_folder(path: str | Path, flag: str = "") -> None:
    if not Path(path).absolute().parent.is_dir():
        raise OptionError(f"{flag}{path}: its folder does not exist")


def _one(study: Study[object], parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim reproduce NAME``."""
    parser.description = study.description
    _arguments(
        parser,
        f"{study.name}-out",
        quick=study.quick,
        data="",
        report="also write claims, tables and figures as one HTML file",
        page="write the claims there instead of DIR/CLAIMS.md",
    )
    for flag, keywords in study.options.items():
        parser.add_argument(flag, default=argparse.SUPPRESS, **keywords)
    if study.name in READINGS:
        words = "judge the claims under every reading of what the paper leaves open, with fewer runs for each"
        parser.add_argument("--readings", action="store_true", help=words)
    args = parser.parse_args(argv)
    check_executor_arguments(args)
    given = {name: value for name, value in vars(args).items() if name not in ("processes", "dask")}
    given["data"] = _ambient(given["data"], study)
    if given.pop("readings", False):
        return _readings(study, given)
    strict, as_json, report, quiet = (given.pop(name) for name in ("strict", "json", "report", "quiet"))
    if report:
        _must_have_folder(report, "--report ")
    command = shlex.join(["faultsim", "reproduce", study.name, *argv])
    with executor_of(args) as executor, term_as_interrupt(), reporting(not quiet, "runs") as progress:
        done = study.reproduce(**given, executor=executor, progress=progress, command=command)
    if report:
        from faultsim.reproduce.html import page_of

        page_of(done, command=command).write(report)
    if as_json:
        print_json({"faultsim": __version__, **done.document()})
    elif not quiet:
        print(done.summary() if done.quick else done.text())
        if report:
            print(f"written  {report}")
    return 1 if strict and done.failed else 0


def _readings(study: Study[object], given: dict[str, Any]) -> int:
    """``faultsim reproduce NAME --readings``."""
    from faultsim.plot import require_matplotlib
    from faultsim.reproduce import readings

    require_matplotlib()
    wanted = {name: given.pop(name) for name in ("data", "seed", "out", "workers")}
    as_json, quiet = given.pop("json"), given.pop("quiet")
    for name, value in given.items():
        if value not in (None, False):
            raise OptionError(f"--readings has plans of its own, and takes no --{name.replace('_', '-')}")
    done = READINGS[study.name].judge(study.name, study.title, **wanted)
    if as_json:
        print_json({"faultsim": __version__, "model_revision": MODEL_REVISION, **done})
    elif not quiet:
        print(readings.text(done))
        print(f"readings.png, .csv and .json are in {wanted['out']}")
    return 0


def _ambient(given: str | None, study: Study[object]) -> str | None:
    """--data, else FAULTSIM_DATA if it has one of the study's logs: unlike --data, it may be meant for others."""
    ambient = os.environ.get("FAULTSIM_DATA")
    return given or (ambient if ambient and find_file(ambient, study.files) else None)


def _data(given: str | None) -> dict[str, str | None]:
    """Name of the paper -> the folder, if one of its logs is there; --data must have one for some paper."""
    data = given or os.environ.get("FAULTSIM_DATA")
    found = {name: data if data and find_file(data, study.files) else None for name, study in papers().items()}
    if given and not any(found.values()):
        raise OptionError(f"--data {given}: none of the papers' logs are there (nor in its folders swf and failures)")
    return found


def _all(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim reproduce all``."""
    from faultsim.plot import require_matplotlib

    parser.description = _ALL
    _arguments(
        parser,
        "reproduce-all-out",
        quick="every paper's quick run: about two minutes",
        data="; a paper none of whose logs are there runs on stand-ins",
        report="where the HTML report goes (default DIR/report.html)",
        page="where the claims go as Markdown (default DIR/CLAIMS.md)",
    )
    args = parser.parse_args(argv)
    check_executor_arguments(args)
    require_matplotlib()
    from faultsim.reproduce import everything
    from faultsim.reproduce.html import page_of_all

    out = folder(args.out)
    data = _data(args.data)
    report, page = Path(args.report or out / "report.html"), Path(args.page or out / "CLAIMS.md")
    for path in (report, page):
        _must_have_folder(path)
    done: list[Report[object]] = []
    command = shlex.join(["faultsim", "reproduce", "all", *argv])
    with executor_of(args) as executor, term_as_interrupt():
        for name, study in papers().items():
            with reporting(not args.quiet, f"{name} runs") as progress:
                done.append(
                    study.reproduce(
                        data=data[name],
                        quick=args.quick,
                        out=out / name,
                        store=args.store,
                        workers=args.workers,
                        executor=executor,
                        seed=args.seed,
                        progress=progress,
                        command=command,
                    )
                )
    page_of_all(done, command=command).write(report)
    documents = {one.command: one.document() for one in done}
    relative = Path(os.path.relpath(out, page.absolute().parent))
    links = {name: (relative / name / "CLAIMS.md").as_posix() for name in documents}
    write_text(page, everything.page(documents, links=links))
    if args.json:
        print_json({"faultsim": __version__, "papers": documents, "report": str(report), "page": str(page)})
    elif not args.quiet:
        print(table([row[:-1] for row in everything.overview(documents)], everything.COLUMNS[:-1]))
        for one in done:
            if one.failed:
                print(f"{one.command}: does not hold: {', '.join(one.failed)}")
        print(everything.closing(documents))
        print(f"written  {report}")
        print(f"written  {page}")
    return 1 if args.strict and any(one.failed for one in done) else 0


def _listed(names: dict[str, str], indent: str) -> str:
    return "\n".join(
        textwrap.fill(
            text, 118, initial_indent=f"{indent}{name:<12}", subsequent_indent=" " * (len(indent) + 12),
            break_on_hyphens=False, break_long_words=False,
        )
        for name, text in names.items()
    )  # fmt: skip


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim reproduce``."""
    titles = {name: study.title for name, study in STUDIES.items()} | {"all": "every paper, with one report"}
    files = {name: ", ".join(f"{file}.gz" for file in study.files) for name, study in STUDIES.items()}
    parser.description = (__doc__ or "").format(
        studies=_listed(titles, "  faultsim reproduce "), files=_listed(files, "  ")
    )
    return choose(
        parser, argv, {name: partial(_one, study) for name, study in STUDIES.items()} | {"all": _all}, "paper"
    )
