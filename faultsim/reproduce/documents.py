"""What a study writes as JSON: ``claims.json`` of its report, ``readings.json`` of its readings."""

from typing import NotRequired, TypedDict


class ClaimEntry(TypedDict):
    """A claim with what was found; what older files lack may be missing."""

    id: str
    claim: str
    where: str
    paper: str
    ours: str
    verdict: str
    parts: NotRequired[str]
    support: NotRequired[str]


class SourceEntry(TypedDict):
    """An input of a study, and where it is from."""

    name: str
    source: str


class ClaimsDocument(TypedDict):
    """What the pages need of ``claims.json``."""

    paper: str
    runs: int
    quick: bool
    logs: list[SourceEntry]
    claims: list[ClaimEntry]


class AxisEntry(TypedDict):
    """What a paper leaves open, and how it can be read, the default first."""

    name: str
    values: list[str]
    why: str


class VerdictsEntry(TypedDict):
    """A claim, with its verdict under each reading."""

    id: str
    claim: str
    verdicts: list[str]


class NumberEntry(TypedDict):
    """Our number for a claim under one reading."""

    id: str
    reading: str
    verdict: str
    ours: str


class ReadingsDocument(TypedDict):
    """``readings.json``."""

    study: str
    paper: str
    axes: list[AxisEntry]
    about: str
    cpu_seconds: float
    seconds: float
    claims: list[VerdictsEntry]
    numbers: list[NumberEntry]
