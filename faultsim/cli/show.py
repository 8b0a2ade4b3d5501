"""Show what is in a file: a saved result, the store of a sweep, a job log, a failure trace or a workflow.

faultsim show RESULT.npz                   settings and metrics, as 'faultsim run' printed them
faultsim show RESULT.npz --report R.html   its table, pictures and report, without running again
faultsim show RESULT.npz --why 17          why the job with the id 17 waited, span by span
faultsim show FLOWS.npz --figure F.svg     a saved result of workflows, with the output of 'faultsim workflow run'
faultsim show STORE.db                     as 'faultsim status'
faultsim show site:cpu=180x32c187G         the classes and partitions of a machine whose nodes jobs share
faultsim show FILE                         as the summary of 'faultsim log', 'failures' or 'workflow'

Options for other files than results are those of the command that is named here.
"""

import os
from collections.abc import Sequence

import faultsim as fs
from faultsim.cli import failures, log, status, workflow
from faultsim.cli.output import print_json, shown
from faultsim.cli.own_words import notes_in_own_words
from faultsim.cli.parser import Parser
from faultsim.cli.result_output import (
    add_report,
    add_tables,
    check_report,
    document,
    power_of,
    require_pictures,
    tables,
    write_result,
)
from faultsim.cli.targets import add_older, add_quiet, check_targets
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.machines.site import parse_site
from faultsim.readers.table import what_is
from faultsim.results.saved_file import OF_WORKFLOWS, form_of

#: Options that only a saved result has.
_OF_RESULTS = frozenset({"--gantt", "--why", "--report", "--reasons", "--title", "--against"})
_SQLITE = b"SQLite format 3\0"


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim show``."""
    if not argv or argv[0].startswith("-"):
        _add_arguments(parser)
        parser.parse_args(argv)
    word = argv[0]
    if word.startswith("site:") and not os.path.exists(word):
        if argv[1:]:
            raise OptionError(f"{argv[1]} is for a file, and {word!r:.60} is a machine: leave it out")
        print(parse_site(word, word.partition(":")[2]).table())
        return 0
    path = word if os.path.exists(word) else word.rpartition(":")[0] or word
    if path.lower().endswith(".toml"):
        raise OptionError(f"{path}: the file of a sweep, which has no results yet: 'faultsim sweep {path}' runs it")
    reader = what_is(path)
    if reader.name == "result":
        with open(path, "rb") as file:
            is_store = file.read(len(_SQLITE)) == _SQLITE
        if is_store:
            done: int = status.main(Parser(prog=parser.prog, description=status.__doc__), argv)
            return done
        return _workflows(parser, argv) if form_of(path) is OF_WORKFLOWS else _result(parser, argv)
    for option in argv[1:]:
        if option.partition("=")[0] in _OF_RESULTS:
            first = f"'faultsim run {path} --save run.npz'" if reader.gives is Workload else "a run with --save"
            raise OptionError(f"{option} is for a saved result, and {path} is a {reader.called}: make one by {first}")
    command = {Workload: log.main, FailureTrace: failures.main}.get(reader.gives, workflow.main)
    if "--json" not in argv and "--quiet" not in argv and path == word:
        print(f"file {path}: a {reader.called}")
    return command(parser, ["summary", *argv])


def _add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a file that Result.save, 'run --save' or 'sweep' wrote, or an input"
    )
    out = parser.add_argument_group("of a saved result (- for FILE is standard output)")
    out.add_argument("--json", action="store_true", help="print only one JSON document")
    out.add_argument("--csv", metavar="FILE", help="write one line per job")
    out.add_argument("--gantt", metavar="FILE", help="draw who ran where and when, if it was recorded")
    add_report(out, "write the report; figures of who ran where need a run with --record")
    out.add_argument(
        "--against",
        metavar="RESULT",
        action="append",
        default=[],
        help="another saved result of the same jobs, with which the report compares the first; may be given again",
    )
    out.add_argument(
        "--why",
        metavar="ID",
        action="append",
        help="print why the job with this id of the log waited (of several jobs with one id, the first submitted); "
        "may be given again; simulates the run again up to the end of the wait",
    )
    add_tables(out)
    add_older(out)
    add_quiet(out)


def _result(parser: Parser, argv: Sequence[str]) -> int:
    _add_arguments(parser)
    args = parser.parse_args(argv)
    files = {
        f"--{name.replace('_', '-')}": getattr(args, name) for name in ("csv", "gantt", "report", "recorded_figure")
    }
    silent = check_targets(files, json=args.json) or args.quiet
    require_pictures(args)
    power_of(args)  # complains before the work
    check_report(args)
    result = fs.load_result(args.file, allow_older_results=args.allow_older_results)
    reasons = [_why(result, text) for text in args.why or ()]
    others = {path: fs.load_result(path, allow_older_results=args.allow_older_results) for path in args.against}
    write_result(result, args, source=[f"saved result: {args.file}"], name=args.file, against=others or None)
    written = [path for path in files.values() if path]
    if args.json:
        found = {"why": [{**why.as_dict(), "same_id": same} for why, same in reasons]} if reasons else {}
        print_json({"file": args.file, **document(result, args), **found, "files": written})
    elif not silent:
        said = [notes_in_own_words(str(result)), *tables(result, args)]
        if reasons:
            said = [line for why, same in reasons for line in (str(why), *_note(why, same))]
        print(shown("\n".join([f"result   {args.file}", *said, *(f"written  {path}" for path in written)])))
    return 0


def _why(result: fs.Result, text: str) -> tuple[fs.Why, int]:
    """Why the job with an id waited, and how many jobs have this id: the first submitted is explained."""
    ids = result.jobs["id"]
    rows = [row for row, value in enumerate(ids.tolist()) if str(value) == text]
    if not rows:
        raise OptionError(f"--why {text}: no job of the result has this id; the first has {ids[0]}, the last {ids[-1]}")
    return result.why(rows[0]), len(rows)


def _note(why: fs.Why, same: int) -> list[str]:
    first = f"note: {same} jobs have the id {why.id}: this is the first submitted, row {why.job} of the result"
    return [first] if same > 1 else []


def _workflows(parser: Parser, argv: Sequence[str]) -> int:
    parser.add_argument("file", metavar="FILE", help="a file that WorkflowResult.save or 'workflow run --save' wrote")
    workflow.add_output(parser)
    add_older(parser)
    args = parser.parse_args(argv)
    silent = workflow.check_output(args)
    result = fs.load_workflow_result(args.file, allow_older_results=args.allow_older_results)
    if args.events or args.figure:  # a report says where the run was not recorded
        bool(result.events)  # complains before anything is written
    workflow.give(result, args, [f"result   {args.file}"], silent=silent)
    return 0
