"""The model revision of results: which ones this version reads, and what it says of the others.

Numbers of another revision (model.md#revisions) may differ from those that this version computes, so
that they are read only where ``allow_older_results`` is given, and never joined with others.
"""

from typing import Any

from faultsim.errors import FaultsimError, InputError
from faultsim.version import MODEL_REVISION

#: The keyword and the option by which older results are read.
ALLOW = "allow_older_results=True (--allow-older-results)"


def in_words(revision: int | None) -> str:
    """A revision as messages have it; None stands for results of versions that did not record it.

    Examples
    --------
    >>> in_words(2), in_words(None)
    ('of model revision 2', 'of an older version without a model revision')
    """
    older = "of an older version without a model revision"
    return older if revision is None else f"of model revision {revision}"


def is_revision(value: object) -> bool:
    """Whether a value read from a file is a revision.

    Examples
    --------
    >>> is_revision(2), is_revision(None), is_revision(True), is_revision(0)
    (True, True, False, False)
    """
    return value is None or (type(value) is int and 1 <= value < 2**31)


def check_revision(
    name: str,
    revision: int | None,
    again: str,
    *,
    allow_older_results: bool = False,
    error: type[FaultsimError] = InputError,
) -> None:
    """Refuse results of another revision; older ones unless they are allowed.

    Parameters
    ----------
    name : str
        The file.
    revision : int or None
        Its revision.
    again : str
        How to make it again.
    allow_older_results : bool
    error : type
        What is raised.

    Examples
    --------
    >>> check_revision("a.npz", 2, "simulate again")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: a.npz: of model revision 2, and this version computes revision 3, whose numbers may ...
    """
    if revision == MODEL_REVISION:
        return
    now = f"this version computes revision {MODEL_REVISION}"
    if revision is not None and revision > MODEL_REVISION:
        raise error(f"{name}: {in_words(revision)}, and {now}: update faultsim")
    if not allow_older_results:
        raise error(
            f"{name}: {in_words(revision)}, and {now}, whose numbers may differ: {again}, or read it as it is with "
            f"{ALLOW}"
        )


def caveat(revision: int | None) -> tuple[str, ...]:
    """What should be known of results of this revision.

    Examples
    --------
    >>> caveat(2), caveat(MODEL_REVISION)
    (('of model revision 2, whose numbers may differ from those of revision 3, which this version computes',), ())
    """
    if revision == MODEL_REVISION:
        return ()
    words, now = in_words(revision), f"revision {MODEL_REVISION}, which this version computes"
    return (f"{words}, whose numbers may differ from those of {now}",)


def check_pickle(what: str, revision: object) -> None:
    """Refuse a pickle that another revision wrote; None stands for one without a revision.

    Raises
    ------
    InputError
        Naming what was pickled.

    Examples
    --------
    >>> check_pickle("Result", None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: this pickle of a Result is of an older version without a model revision, and ...
    """
    if revision != MODEL_REVISION or type(revision) is not int:
        found = revision if type(revision) is int else None
        raise InputError(
            f"this pickle of a {what} is {in_words(found)}, and this version computes revision {MODEL_REVISION}: "
            f"make it again; files of save() and stores of sweeps can be read as they are, with {ALLOW}"
        )


class Pickled:
    """A result whose pickles have the revision of the version that wrote them, and are read by no other."""

    __slots__ = ()

    def __getstate__(self) -> dict[str, object]:
        return {"model_revision": MODEL_REVISION, "attributes": dict(self.__dict__)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        is_ours = isinstance(state, dict) and state.keys() == {"model_revision", "attributes"}
        check_pickle(type(self).__name__, state["model_revision"] if is_ours else None)
        self.__dict__.update(state["attributes"])
