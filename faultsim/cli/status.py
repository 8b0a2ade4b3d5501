"""Show the progress of the sweeps in a store, even while they run; why runs failed; their tables as text or Parquet.

faultsim status SPEC.db
faultsim status SPEC.db --metric mean_wait --against policy=krevat
faultsim status SPEC.db --sweep NAME --csv rows.csv
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faultsim.cli.output import shown, table
from faultsim.cli.parser import Parser, one_line
from faultsim.cli.sweep_output import add_table_arguments, check_table_arguments, show_table, wants_table
from faultsim.results.revision import caveat

if TYPE_CHECKING:
    from faultsim.sweep.store import Store
    from faultsim.sweep.sweep_rows import SweepEntry


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim status``."""
    parser.add_argument("store", metavar="STORE", help="file that 'faultsim sweep' or Sweep.run wrote")
    parser.add_argument(
        "--sweep", metavar="NAME", help="name of a sweep, or the beginning of its id (default: the last)"
    )
    add_table_arguments(parser)
    args = parser.parse_args(argv)

    from faultsim.sweep.store import Store
    from faultsim.sweep.sweep import pick_sweep

    check_table_arguments(args)
    with Store(args.store, write=False, allow_older_results=args.allow_older_results) as store:
        rows, revision = store.sweeps(), store.revision
        if args.sweep is not None:
            rows = [pick_sweep(rows, args.store, args.sweep)]
        size = store.size
        errors = {row["id"]: _errors(store, row["id"]) for row in rows if row["failed"]}
    if args.json:
        said: dict[str, object] = {"store": args.store, "bytes": size, "model_revision": revision}
        said["warnings"] = list(caveat(revision))
        said["sweeps"] = [_document(row, errors) for row in rows]
        show_table(args.store, args.sweep, args, said)
        return 0
    if args.silent:
        show_table(args.store, args.sweep, args, {})
        return 0
    print(f"store   {args.store} ({size / 1e6:,.1f} MB)")
    for text in () if wants_table(args) else caveat(revision):
        print(f"note: {text}")
    if not rows:
        print("no sweep has been started")
        return 0
    print(table([_line(row) for row in rows], ["sweep", "id", "rows", "done", "failed", "left", "last"]))
    for row in rows:
        for error, count in errors.get(row["id"], []):
            print(shown(one_line(f"failed  {row['name'] or row['id'][:8]}: {count:,} runs: {error}")))
        if row["done"] < row["tasks"] and row["command"] and not caveat(revision):
            print(shown(one_line(f"to go on: {row['command']}")))
    show_table(args.store, args.sweep, args, {})
    return 0


def _errors(store: "Store", sweep: str) -> list[tuple[str, int]]:
    query = """SELECT run.error, count(*) FROM task JOIN run ON run.id = task.run
               WHERE task.sweep = ? AND run.status = 'error' GROUP BY run.error ORDER BY 2 DESC LIMIT 5"""
    return list(store.read(query, [sweep]))


def _document(row: "SweepEntry", errors: dict[str, list[tuple[str, int]]]) -> dict[str, object]:
    found = errors.get(row["id"], [])
    return {**row, "errors": [{"error": error, "runs": count} for error, count in found]}


def _line(row: "SweepEntry") -> list[object]:
    return [
        row["name"] or "-",
        row["id"][:8],
        row["tasks"],
        row["done"],
        row["failed"],
        row["tasks"] - row["done"],
        "-" if row["last"] is None else _ago(time.time() - row["last"]),
    ]


def _ago(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{max(0.0, seconds):.0f} s ago"
