"""What the parts of an evaluation's report share: sentences by part, figures as cells, notes in the place of a plot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from service.evaluation.scoring.result import Figure, Outcome, Result
from service.evaluation.scoring.written import dollars, interval, per_cent
from service.report.document.blocks import Bar, Block, Chart, Segment, TableBlock, Text, Tone

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
