"""What the parts of an evaluation's report share: sentences by part, figures as cells, notes in the place of a plot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from service.evaluation.scoring.result import Figure, Outcome, Result
from service.evaluation.scoring.written import dollars, interval, p_value, per_cent
from service.report.document.blocks import Bar, Block, Chart, Quarters, Segment, TableBlock, Text, Tone

OUTCOME: dict[Outcome, tuple[Tone, str]] = {
    "better": ("info", "A difference was shown, in favour of the first arm"),
    "worse": ("info", "A difference was shown, in favour of the second arm"),
    "inconclusive": ("plain", "Inconclusive"),
    "passes": ("good", "The rules of a release hold"),
    "stops": ("bad", "The release stops"),
    "blindSpot": ("bad", "A family of flaws was missed"),
    "tilt": ("bad", "A pull was seen"),
    "noneSeen": ("plain", "No pull was seen"),
    "notEnough": ("plain", "Too few cases to say anything"),
}
"""The tone and the title of each finding."""

Part = Literal["finding", "excluded", "power", "notShown", "provenance", "simulated", "standing"]


def said(r: Result, part: Part) -> tuple[str, ...]:
    """The sentences of a part, in their order."""
    return tuple(sentence.text for sentence in r.sentences if sentence.part == part)


def no_figure(what: str, because: str) -> Text:
    """What stands in the place of a plot that would have no case."""
    return Text(f"No figure of {what}: {because}.", "note")


def rate(figure: Figure) -> tuple[str, str, str]:
    """A rate's cells: k of n, the rate, its interval."""
    output, given = figure.output, figure.input
    return f"{given['k']} of {given['n']}", per_cent(output["rate"]), interval(output["low"], output["high"])


_FIRST_FINDINGS = 4
"""The most findings on the first page; the part about them has all."""


def first_of(found: tuple[str, ...]) -> tuple[str, ...]:
    """The first sentences of the findings; what is left is said to be left."""
    rest = len(found) - _FIRST_FINDINGS
    return (*found[:_FIRST_FINDINGS], f"More in the part Findings: {rest}.") if rest > 0 else found


def orders(name: str, figure: Figure, windows: Sequence[tuple[str, Figure]] = ()) -> Iterator[Block]:
    """Pairs of orders as two by two, with their table; ``windows`` are rows of single windows below the whole."""
    found, pairs = figure.output, [tuple(pair) for pair in figure.input["pairs"]]
    counts = tuple((pairs.count((first, "first")), pairs.count((first, "second"))) for first in ("first", "second"))
    yield Quarters(
        name=name,
        title="Which place the conclusion favoured, in the first order and in the reverse order",
        columns=("reverse: first place", "reverse: second place"),
        rows=("first order: first place", "first order: second place"),
        counts=(counts[0], counts[1]),
        shown=(
            f"n = {found['n']}: {found['consistent']} concluded alike in both orders, {found['firstTwice']} favoured "
            f"the first place twice, {found['secondTwice']} the second, {found['oneUndecided']} a side in one only."
        ),
    )
    head: tuple[str, ...] = (
        "Cases",
        "Alike",
        "Rate",
        "95 % interval",
        "First twice",
        "Second twice",
        "One undecided",
        "p",
    )
    rows: tuple[tuple[str, ...], ...] = (_order_row(figure), *(_order_row(one) for _, one in windows))
    if windows:
        named = ("whole", *(window for window, _ in windows))
        head, rows = ("Window", *head), tuple((label, *row) for label, row in zip(named, rows, strict=True))
    yield TableBlock(
        "Alike is the same side in both orders; the same place twice is a pull of the place",
        head,
        rows,
        numeric=tuple(at + bool(windows) for at in (0, 1, 4, 5, 6)),
    )


def _order_row(figure: Figure) -> tuple[str, ...]:
    found = figure.output
    return (
        str(found["n"]),
        str(found["consistent"]),
        per_cent(found["rate"]),
        interval(found["low"], found["high"]),
        *(str(found[name]) for name in ("firstTwice", "secondTwice", "oneUndecided")),
        p_value(found["p"]),
    )


def spend(r: Result) -> Iterator[Block]:
    """What each arm was charged, as bars and as a table."""
    most = max((arm.charge for arm in r.arms), default=0)
    if most == 0:
        yield no_figure("spend", "nothing was charged")
        return
    yield Chart(
        "Charged in US dollars",
        tuple(
            Bar(
                arm.name,
                (Segment(arm.name, arm.charge, "info"),),
                most,
                f"{dollars(arm.charge)}, n = {arm.debates.asked}",
            )
            for arm in r.arms
        ),
    )
    yield TableBlock(
        "Money by arm; calls lost in interruptions are in no row",
        ("Arm", "Debates", "Calls", "Unreadable replies", "Charged", "Charged per item"),
        tuple(
            (
                arm.name,
                str(arm.debates.asked),
                str(arm.attempts),
                str(arm.unusable),
                dollars(arm.charge),
                dollars(arm.charge // arm.items.asked) if arm.items.asked else "no item",
            )
            for arm in r.arms
        ),
        numeric=(1, 2, 3, 4, 5),
    )
    if r.lost_to_interruptions:
        yield Text(f"Lost in interruptions: {dollars(r.lost_to_interruptions)}, which enters no figure.", "note")
