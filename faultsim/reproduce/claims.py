"""A paper's claims as a table: what it says, what we measure, and whether the two agree.

A claim names its rule in words, and the rule is applied as it stands: it is written before the numbers are seen (but
for those in `history.MENDED`, which say so), and a claim that does not hold is printed as such.  A rule has parts, each
of them found true, false, or open where an interval of the runs contains the bound (see `parts`), and one count of them
gives the verdict of every claim:

- it holds if all parts are true;
- partly if at least half of them are, so that more speaks for the claim as it is written than against it;
- it does not hold if fewer than half are, and would be if all that is open came out true;
- else it is undecided: the runs can neither show nor refute it.

A number that has to be near the paper's has two parts: within its tolerance, and within twice that.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from faultsim.reproduce.history import MENDED

Evidence = TypeVar("Evidence")
#: One part of a rule: true, false, or open (None).
Part = bool | None


class Verdict(StrEnum):
    """Whether a claim holds under its rule.

    Examples
    --------
    >>> str(Verdict.FAILS)
    'does not hold'
    """

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "does not hold"
    UNDECIDED = "undecided"  # the intervals leave too much open
    NOT_JUDGED = "not judged"  # the runs do not reach the region that the claim is about


class Support(StrEnum):
    """What a verdict is worth: whether anything that the paper leaves out was chosen to come near it.

    Examples
    --------
    >>> str(Support.NOT_SHOWN)
    'not shown'
    """

    CONFIRMED = "confirmed"  # no free parameter
    CALIBRATED = "calibrated"  # we chose a parameter that the paper does not give
    NOT_SHOWN = "not shown"


@dataclass(frozen=True)
class Parts:
    """How many parts of a rule are true, how many are open, and how many there are; none is "not judged".

    Examples
    --------
    >>> print(Parts(9, 2, 16), Parts(9, 2, 16).verdict, sep=": ")
    9 of 16, 2 open: partly
    >>> str(Parts(1, 0, 16).verdict), str(Parts(0, 9, 16).verdict)
    ('does not hold', 'undecided')
    """

    held: int = 0
    open: int = 0
    of: int = 0

    @property
    def verdict(self) -> Verdict:
        """What the count says."""
        if not self.of:
            return Verdict.NOT_JUDGED
        if self.held == self.of:
            return Verdict.HOLDS
        if 2 * self.held >= self.of:
            return Verdict.PARTLY
        return Verdict.FAILS if 2 * (self.held + self.open) < self.of else Verdict.UNDECIDED

    def __str__(self) -> str:
        if not self.of:
            return ""
        return f"{self.held} of {self.of}" + (f", {self.open} open" if self.open else "")


#: The runs do not reach what the claim is about.
NOT_JUDGED = Parts()


@dataclass(frozen=True)
class Finding:
    """What was measured for one claim: our value, the parts of its rule, and a remark."""

    ours: str
    parts: Parts
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds."""
        return self.parts.verdict


@dataclass(frozen=True)
class Claim(Generic[Evidence]):
    """One claim of a paper.

    Parameters
    ----------
    id : str
        Its label, such as ``"K9"``.
    text : str
        The claim in short.
    where : str
        Section, figure or table.
    kind : str
        "number", "order" (an order or a shape) or "unit" (an exact check).
    paper : str
        The paper's value.
    rule : str
        When it holds, and when partly, in words.
    settings : str
        Machine, policies and options of the runs it looks at.
    judge : callable
        From the evidence to a `Finding`.
    chosen : str, optional
        What we chose of the runs it looks at because the paper does not give it; declared before they are made.
    """

    id: str
    text: str
    where: str
    kind: str
    paper: str
    rule: str
    settings: str
    judge: Callable[[Evidence], Finding]
    chosen: str = ""


class Claims(list[Claim[Evidence]]):
    """Claims in the order of the table, each written down beside the function that judges it.

    `chosen`: what was chosen with a letter or word of the settings; every claim whose settings have it rests on that.
    """

    def __init__(self, chosen: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._chosen = dict(chosen or {})

    def add(
        self, id: str, where: str, kind: str, paper: str, *, settings: str, chosen: str = ""
    ) -> Callable[[Callable[[Evidence], Finding]], Callable[[Evidence], Finding]]:
        """Adds the claim that a function judges: its docstring is the claim in a sentence, and below that the rule."""

        def added(judge: Callable[[Evidence], Finding]) -> Callable[[Evidence], Finding]:
            text, _, rule = (" ".join(part.split()) for part in (judge.__doc__ or "").partition("\n\n"))
            inherited = [what for key, what in self._chosen.items() if re.search(rf"\b{re.escape(key)}\b", settings)]
            rests = "; ".join(filter(None, [*inherited, chosen]))
            self.append(Claim(id, text.removesuffix("."), where, kind, paper, rule, settings, judge, rests))
            return judge

        return added


@dataclass(frozen=True)
class Row:
    """A claim with what was found for it."""

    claim: Claim[Any]
    finding: Finding

    @property
    def support(self) -> Support:
        """What the verdict is worth."""
        if self.finding.verdict not in (Verdict.HOLDS, Verdict.PARTLY):
            return Support.NOT_SHOWN
        return Support.CALIBRATED if self.claim.chosen else Support.CONFIRMED

    @property
    def support_words(self) -> str:
        """Its support with what was chosen, or that it is for a part only."""
        partly = " in part" if self.finding.verdict is Verdict.PARTLY else ""
        return f"{self.support}{partly}" + (f": {self.claim.chosen}" if self.support is Support.CALIBRATED else "")

    @property
    def rule_words(self) -> str:
        """Its rule, and whether that was written again after the runs."""
        why = MENDED.get(self.claim.id)
        return self.claim.rule + (f" (Mended after the runs: {why}.)" if why else "")

    @property
    def verdict_words(self) -> str:
        """Its verdict with the count of parts, where that says more."""
        parts = self.finding.parts
        return f"{parts.verdict}" + (f", {parts}" if parts.of and parts.verdict is not Verdict.HOLDS else "")


def combine(*parts: Part) -> Parts:
    """Counts the parts of a rule.

    Examples
    --------
    >>> combine(True, False, None)
    Parts(held=1, open=1, of=3)
    """
    known = [bool(part) for part in parts if part is not None]
    return Parts(sum(known), len(parts) - len(known), len(parts))


def all_of(counts: Iterable[Parts]) -> Parts:
    """The counts of several, together; "not judged" if one of them is, as the rule asks for all.

    Examples
    --------
    >>> all_of([Parts(1, 0, 1), Parts(0, 0, 1)]), str(all_of([Parts(1, 0, 1), NOT_JUDGED]).verdict)
    (Parts(held=1, open=0, of=2), 'not judged')
    """
    found = list(counts)
    if not all(count.of for count in found):
        return NOT_JUDGED
    return Parts(*(sum(column) for column in zip(*((c.held, c.open, c.of) for c in found), strict=True)))


def nearness(value: float, target: float, tolerance: float, *, clear: Part = True) -> Parts:
    """Two parts: within `tolerance` of `target`, and within twice that; neither is true where `clear` is not.

    Examples
    --------
    >>> str(nearness(66.0, 63.0, 2.0).verdict), str(nearness(66.0, 63.0, 2.0, clear=None).verdict)
    ('partly', 'undecided')
    """
    if math.isnan(value):
        return NOT_JUDGED
    off = abs(value - target)
    return combine(*(clear if off <= bound else False for bound in (tolerance, 2 * tolerance)))


def judged(parts: Parts, *numbers: float) -> Parts:
    """`parts`, or "not judged" if one of the numbers that they rest on is missing.

    Examples
    --------
    >>> str(judged(combine(True), 1.0, float("nan")).verdict)
    'not judged'
    """
    return NOT_JUDGED if any(math.isnan(number) for number in numbers) else parts


def number(value: float) -> str:
    """A number of any size in few characters.

    Examples
    --------
    >>> number(12345.0), number(0.1234)
    ('12,345', '0.123')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def judge(claims: Sequence[Claim[Evidence]], evidence: Evidence) -> list[Row]:
    """Apply every claim's rule to the evidence."""
    return [Row(claim, _readable(claim.judge(evidence))) for claim in claims]


def _readable(finding: Finding) -> Finding:
    """A number that the runs did not give prints as "n/a"."""
    return replace(finding, ours=re.sub(r"\bnan\b", "n/a", finding.ours), note=re.sub(r"\bnan\b", "n/a", finding.note))


def counts(rows: Sequence[Row]) -> str:
    """How many claims hold, and so on, in words."""
    found = {verdict: sum(row.finding.verdict is verdict for row in rows) for verdict in Verdict}
    return ", ".join(f"{count} {verdict}" for verdict, count in found.items() if count)


def supports(rows: Sequence[Row]) -> str:
    """How many of the claims that hold are confirmed, and how many calibrated."""
    held = [row.support for row in rows if row.finding.verdict is Verdict.HOLDS]
    found = ", ".join(f"{held.count(kind)} {kind}" for kind in Support if kind in held)
    return f"Of those that hold, {found}." if held else "None of them holds."


def text(rows: Sequence[Row], width: int = 100) -> str:
    """The table for a terminal: one block of lines per claim."""
    import textwrap

    lines = []
    for row in rows:
        claim, finding = row.claim, row.finding
        head = f"{claim.id:<4}{str(finding.verdict).upper():<14}"
        parts = "" if finding.verdict is Verdict.HOLDS else str(finding.parts)
        lines += textwrap.wrap(claim.text + f" ({claim.where})", width, initial_indent=head, subsequent_indent=" " * 18)
        for label, value in (
            ("paper", claim.paper),
            ("ours", finding.ours),
            ("note", finding.note),
            ("parts", parts),
            ("support", row.support_words),
            ("settings", claim.settings),
        ):
            if value:
                lines += textwrap.wrap(value, width, initial_indent=f"{label:>16}  ", subsequent_indent=" " * 18)
    return "\n".join(lines)


def markdown_table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a table in Markdown.

    Examples
    --------
    >>> markdown_table(["a", "b"], [[1, "x|y"]])
    ['| a | b |', '|---|---|', '| 1 | x\\\\|y |']
    """

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def markdown(rows: Sequence[Row]) -> str:
    """The table as Markdown, one row per claim, followed by the rules in words."""
    table = []
    for row in rows:
        claim, finding = row.claim, row.finding
        ours = finding.ours + (f" *({finding.note})*" if finding.note else "")
        words, support = row.verdict_words, row.support_words
        verdict = f"**{finding.verdict}**" + words.removeprefix(str(finding.verdict))
        table.append((claim.id, claim.text, claim.where, claim.paper, ours, verdict, support, claim.settings))
    lines = markdown_table(("id", "claim", "where", "paper", "ours", "verdict", "support", "settings"), table)
    lines += ["", "## How each claim is judged", ""]
    lines += [f'- <a id="{row.claim.id}"></a>**{row.claim.id}** ({row.claim.kind}): {row.rule_words}' for row in rows]
    return "\n".join(lines)


def document(rows: Sequence[Row]) -> list[dict[str, str]]:
    """The table as plain data for JSON."""
    return [
        {
            "id": row.claim.id,
            "claim": row.claim.text,
            "where": row.claim.where,
            "kind": row.claim.kind,
            "paper": row.claim.paper,
            "ours": row.finding.ours,
            "verdict": str(row.finding.verdict),
            "parts": str(row.finding.parts),
            "support": str(row.support),
            "chosen": row.claim.chosen,
            "note": row.finding.note,
            "rule": row.claim.rule,
            "mended": MENDED.get(row.claim.id, ""),
            "settings": row.claim.settings,
        }
        for row in rows
    ]
