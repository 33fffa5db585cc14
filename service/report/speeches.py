"""The parts of a report about what debaters said: round by round, first drafts named apart from what followed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from service.debate.options import BallotOptions, ConvergenceOptions, PanelOptions, StancesOptions
from service.debate.replies import BlindAnswer, RevisedAnswer
from service.report.exchange import argued
from service.report.outline import Block, Bullets, Fact, Facts, Heading, Part, Text
from service.report.people import by_label, by_round, who
from service.report.shape import Result, Spoken
from service.report.wording import BLIND, EXCHANGED, PHASE, say

Titles = dict[str, str]


def transcript(r: Result) -> Iterator[Block]:
    """Every round of a debate between debaters, in the order in which they are shown."""
    titles = {d.id: d.title for d in r.case.documents}
    for number, turns in by_round(r):
        yield Part(f"round-{number}", _title(r, number))
        if isinstance(r.options, BallotOptions):
            yield from _phases(r, turns, titles)
            continue
        if not isinstance(r.options, StancesOptions):
            yield Text(BLIND if turns[0].blind else EXCHANGED, "note")
        for one in turns:
            yield from _turn(r, one, titles)


def _title(r: Result, number: int) -> str:
    if isinstance(r.options, PanelOptions) and number == 1:
        return "Round 1: blind"
    if isinstance(r.options, ConvergenceOptions) and number == 0:
        return "Round 0: independent"
    return f"Round {number}"


def _phases(r: Result, turns: tuple[Spoken, ...], titles: Titles) -> Iterator[Block]:
    for phase, spoken in groupby(turns, key=lambda one: one.phase):
        yield Heading(3, say(PHASE, phase or ""))
        for i, one in enumerate(spoken):
            if i == 0 and one.blind:
                yield Text(BLIND, "note")
            yield Heading(4, who(r, one), f"votes {one.vote}" if one.vote else "abstains: its vote names no option")
            yield Text(one.stance or "", "lead")
            for argument in one.arguments:
                yield argued(f"Reason {argument.n}", argument, titles)


def _turn(r: Result, one: Spoken, titles: Titles) -> Iterator[Block]:
    if isinstance(r.options, StancesOptions):
        yield Heading(3, one.stance or "", one.name or "")
        yield from (argued(f"Argument {argument.n}", argument, titles) for argument in one.arguments)
    elif isinstance(r.options, PanelOptions):
        yield from _answered(r, one, titles)
    else:
        yield Heading(3, who(r, one))
        yield Text(one.answer or "", "lead")
        yield from (argued(f"Argument {argument.n}", argument, titles) for argument in one.arguments)


def _answered(r: Result, one: Spoken, titles: Titles) -> Iterator[Block]:
    """A panel's answer with its claims, and what it makes of the others'."""
    reply = msgspec.convert(one.reply, BlindAnswer | RevisedAnswer)
    sure = {claim.n: claim.confidence for claim in reply.claims}
    yield Heading(
        3, who(r, one), f"{reply.stance}, framework {_spaced(reply.framework)}, {reply.overall_confidence} % sure"
    )
    yield Text(reply.answer, "lead")
    for argument in one.arguments:
        yield argued(f"Claim {argument.n}, {sure[argument.n]} % sure", argument, titles)
    if reply.probability:
        yield Text(f"Probability: {reply.probability.low} to {reply.probability.high} %.", "note")
    if reply.assumptions:
        yield Text("It assumes:", "note")
        yield Bullets(reply.assumptions)
    if isinstance(reply, RevisedAnswer):
        yield Facts(tuple(_exchanged(r, reply)))


def _exchanged(r: Result, reply: RevisedAnswer) -> Iterator[Fact]:
    for term, said in (
        ("Learned from others", reply.learned_from_others),
        ("Corrected in its own", reply.corrections),
        ("Still challenges", reply.still_challenges),
        ("Leaves open", reply.unresolved),
    ):
        yield Fact(term, said or "nothing")
    rejected = [f"{by_label(r, mark.label)} {mark.n}" for mark in reply.marks if mark.mark == "reject"]
    unsure = [f"{by_label(r, mark.label)} {mark.n}" for mark in reply.marks if mark.mark == "unsure"]
    yield Fact("Claims it rejects", ", ".join(rejected) or "none of those that it was shown")
    if unsure:
        yield Fact("Claims it is unsure of", ", ".join(unsure))
    if reply.objection:
        against = f"against claim {reply.objection.n} of {by_label(r, reply.objection.label)}"
        yield Fact("As devil's advocate", f"{reply.objection.flaw} ({reply.objection.severity}, {against})")
    for answer in reply.answers_to_objections:
        yield Fact(f"Answers the objection of {by_label(r, answer.label)}", answer.text)


def _spaced(code: str) -> str:
    """``rightsAndDuties`` in words."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in code)
