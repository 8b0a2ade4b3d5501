"""The job log in a file of any format that faultsim reads, named as one word: ``jobs.csv:csv,submit=submitted``."""

from faultsim.checks import did_you_mean
from faultsim.cli.file_words import moment, parted
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.readers.table import detect, read_as, readers_of

FORMATS = readers_of(Workload)
HELP = (
    "job log, .gz, .xz and .bz2 too, or - for standard input (as SWF, unless it says another format): FILE or "
    "FILE:FORMAT,option=value with the options of its reader in Python; " +
    "; ".join(f"{name}: {row.summary}" for name, row in FORMATS.items()) +
    " (default: told by the first line)"
)  # fmt: skip


def read_log(text: str, columns: str | None = None) -> tuple[Workload, str]:
    """The log that a word of the command line names, and its path.

    Parameters
    ----------
    text : str
        ``FILE``, ``FILE:FORMAT``, ``FILE:option=value,...`` or ``FILE:FORMAT,option=value,...``; several columns are
        joined with "+".
    columns : str, optional
        Names of further columns to keep, with commas.
    """
    path, kind, words = parted(text, FORMATS)
    reader = FORMATS[kind or ("swf" if path == "-" else "")] if kind or path == "-" else detect(path, Workload)
    options: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in reader.options:
            known = ", ".join(reader.options)
            raise OptionError(
                f"{text}: {reader.name} has no option {name!r}{did_you_mean(name, reader.options)}; it has {known}"
            )
        if name in options:
            raise OptionError(f"{text}: {name} is given twice")
        options[name] = _value(name, value.strip())
    if columns is not None:
        if "columns" in options:
            raise OptionError(f"--columns {columns}: {text} says which columns, too; give one of the two")
        options["columns"] = [name.strip() for name in columns.split(",") if name.strip()]
    if kind or path == "-":
        return reader.read(path, **options), path
    return read_as(path, Workload, reader, **options), path


def _value(name: str, value: str) -> object:
    if name == "columns":
        return [column.strip() for column in value.split("+") if column.strip()]
    if name == "strict":
        if value.lower() not in ("true", "false"):
            raise OptionError(f"strict: expected true or false, got {value!r}")
        return value.lower() == "true"
    return moment(value) if name in ("begin", "end") else value
