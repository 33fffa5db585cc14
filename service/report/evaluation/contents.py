"""The parts of an evaluation's report in reading order, and its first page.

The first page has the question, the finding, the numbers, what was excluded, the power, and what it does not show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from service.audit.report_forms import Paper
from service.evaluation.scoring.result import Kind, Result, headline
from service.evaluation.scoring.sentences import SIMULATED
from service.report.document.blocks import Banner, Block, Bullets, Fact, FactList, ReportBlocks, ReportPart, Text
from service.report.evaluation import counted
from service.report.evaluation.critic import critic
from service.report.evaluation.lift import lift
from service.report.evaluation.moderator import moderator
from service.report.evaluation.parts import OUTCOME, first_of, said

TITLES: Mapping[Kind, str] = {
    "lift": "Evaluation of debate",
    "critic": "Trial of a critic on planted flaws",
    "moderator": "Audit of a moderator",
}
KINDS: Mapping[Kind, Callable[[Result], Iterator[Block]]] = {"lift": lift, "critic": critic, "moderator": moderator}


def report(r: Result, concluded: str, paper: Paper = "a4") -> ReportBlocks:
    """A result as the blocks of its report; ``concluded`` is when it was concluded (RFC 3339)."""
    return ReportBlocks(
        title=TITLES[r.kind],
        subtitle=f"{r.plan_name}, plan {r.plan[:16]}",
        language="en",
        simulated=r.simulated,
        concluded=concluded,
        blocks=tuple(_blocks(r)),
        first=tuple(_first(r)),
        paper=paper,
        running=SIMULATED if r.simulated else "",
    )


def _first(r: Result) -> Iterator[Block]:
    if r.simulated:
        yield Banner("warn", "Simulated models", said(r, "simulated"))
    tone, title = OUTCOME[headline(r)]
    if r.standing == "exploratory":
        tone, title = "plain", f"Exploratory: {title[0].lower()}{title[1:]}, and nothing is claimed"
    yield FactList((Fact("Question", r.question),))
    yield Banner(tone, title, first_of(said(r, "finding")))
    yield FactList(
        (
            Fact("Standing", " ".join(said(r, "standing"))),
            Fact("Items", f"{r.items} of {r.planned}, in {r.groups} groups"),
            *(Fact(f"Arm {arm.name}", _arm(r, i)) for i, arm in enumerate(r.arms)),
            Fact("Excluded", said(r, "excluded")[0]),
            Fact("Power", said(r, "power")[-1]),
            Fact("Does not show", " ".join(said(r, "notShown"))),
            Fact("Labels", "; ".join(dict.fromkeys(one.provenance for one in r.sets)) or "no set"),
        )
    )


def _arm(r: Result, at: int) -> str:
    arm = r.arms[at]
    missing = arm.items.asked - arm.items.answered
    right = {"lift": "agreed with the labels", "critic": "judged as labelled", "moderator": "judged as labelled"}[
        r.kind
    ]
    return f"{arm.right or 0} of {arm.items.asked} items {right}; without an answer, counted as wrong: {missing}"


def _blocks(r: Result) -> Iterator[Block]:
    yield ReportPart("findings", "Findings")
    yield Bullets((*said(r, "standing"), *said(r, "finding")))
    yield from KINDS[r.kind](r)
    yield from counted.counted(r)
    yield from counted.power(r)
    yield from counted.sets(r)
    yield from counted.plan(r)
    yield ReportPart("not-shown", "What this does not show")
    yield Bullets(said(r, "notShown"))
    if r.simulated:
        yield Text(SIMULATED)
    yield from counted.figures_table(r.figures)
