"""The parts of a report about a panel: consensus round by round, who made what of whose claims, ideas and scores."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from service.debate.findings import DIMENSIONS
from service.debate.replies import BlindAnswer, RevisedAnswer
from service.debate.results import ConsensusRound, PanelResult
from service.report.courses import thousandths
from service.report.outline import Block, Bullets, Course, Fact, Facts, Part, Table, Text
from service.report.people import by_label, latest, who, whose
from service.report.shape import Result, Spoken
from service.report.wording import AGREEMENT, DIMENSION, SCORED, say

Claimed = tuple[str, int]


def consensus(r: Result) -> Iterator[Block]:
    """Where the panel stood after each round, and what was lacking."""
    if not isinstance(r.result, PanelResult):
        return
    found = r.result
    yield Part("consensus", "Consensus by round")
    yield Text(AGREEMENT, "note")
    if found.consensus:
        yield _course(found)
        yield _table(found)
        if any(score is None for one in found.consensus for score in one.dimensions.values()):
            yield Text("A dimension that is undefined counts as 0 in the mean.", "note")
        yield Bullets(tuple(_noted(one) for one in found.consensus))
    yield from _seats(r, found)
    yield from _ideas(r, found)
    yield from _accuracy(r, found)


def _course(found: PanelResult) -> Course:
    rounds = found.consensus
    told = ", ".join(f"round {one.round}: {thousandths(one.overall)}" for one in rounds)
    wanted = rounds[-1].threshold
    return Course(
        name="consensus-course",
        title="Consensus score after each round",
        places=tuple(f"Round {one.round}" for one in rounds),
        values=tuple(one.overall for one in rounds),
        wanted=wanted,
        shown=f"{told[:1].upper()}{told[1:]}; {thousandths(wanted)} was wanted.",
    )


def _table(found: PanelResult) -> Table:
    rows = (
        (
            f"{one.round}, blind" if one.blind else str(one.round),
            *(thousandths(one.dimensions.get(dimension)) for dimension in DIMENSIONS),
            thousandths(one.overall),
            "yes" if one.terminated else "no",
            say(SCORED, one.by),
            str(one.unanswered_objections),
        )
        for one in found.consensus
    )
    head = ("Round", "Stance", "Empirical", "Framework", "Confidence", "Overall", "Reached", "Scored by", "Objections")
    caption = f"{', '.join(DIMENSION.values())} and their mean, from 0 to 1; objections are strong ones left unanswered"
    return Table(caption, head, tuple(rows), numeric=(1, 2, 3, 4, 5, 8))


def _noted(one: ConsensusRound) -> str:
    lagging = ", ".join(say(DIMENSION, dimension).lower() for dimension in one.lagging)
    return f"Round {one.round}: {f'lagging were {lagging}' if lagging else 'nothing lagged'}. {one.notes}"


def _seats(r: Result, found: PanelResult) -> Iterator[Block]:
    aliases = {one.seat: (one.alias, one.family) for one in r.seats}
    rows = tuple(
        (label, seat, *aliases.get(seat, ("not told", "not told")), "given up" if seat in found.missing else "stayed")
        for seat, label in sorted(found.labels.items(), key=lambda item: item[1])
    )
    yield Table("Who was behind the letters", ("Letter", "Seat", "Model", "Family", "To the end"), rows, code=(1,))


def _ideas(r: Result, found: PanelResult) -> Iterator[Block]:
    rows = tuple(
        (str(idea.rank), idea.idea, str(len(idea.endorsed_by)), ", ".join(by_label(r, who) for who in idea.endorsed_by))
        for idea in found.ideas
    )
    yield Table(
        "Ideas, by how many debaters surfaced or endorsed them", ("Rank", "Idea", "Debaters", "Who"), rows, (0, 2)
    )


def _accuracy(r: Result, found: PanelResult) -> Iterator[Block]:
    rows = tuple(
        (
            whose(r, one.seat),
            *map(str, (one.factual_accuracy, one.logical_consistency, one.evidence_quality, one.trajectory_score)),
        )
        for one in found.accuracy
    )
    head = ("Debater", "Factual accuracy", "Logical consistency", "Evidence quality", "Trajectory")
    yield Table(
        f"How each debater did, from 0 to 100, scored by {say(SCORED, found.accuracy_by)}", head, rows, (1, 2, 3, 4)
    )
    if rows:
        yield Text("These scores are about conduct in the debate. They do not show who was right.", "note")


def challenged(r: Result) -> Iterator[Block]:
    """Whose claims were marked by whom, and what was still held against the others at the end."""
    if not isinstance(r.result, PanelResult) or not r.transcript:
        return
    yield Part("dissent", "What was challenged, and by whom")
    marked = _marked(r)
    rows = tuple(
        (by_label(r, label), str(n), _claim(r, label, n), *(", ".join(marks.get(mark, ())) or "-" for mark in _MARKS))
        for (label, n), marks in sorted(marked.items())
    )
    head = ("Claim of", "Number", "Claim", "Accepted by", "Rejected by", "Unsure")
    yield Table("What the last round makes of the others' claims", head, rows, numeric=(1,))
    held = [
        Fact(who(r, one), reply.still_challenges)
        for one in _last_round(r)
        if isinstance(reply := _reply(one), RevisedAnswer) and reply.still_challenges
    ]
    if held:
        yield Text("Still challenged in the last round:", "note")
        yield Facts(tuple(held))
    if not rows and not held:
        yield Text("Nobody saw another's answer, so nothing was challenged.")


_MARKS = ("accept", "reject", "unsure")


def _marked(r: Result) -> dict[Claimed, dict[str, list[str]]]:
    """Claim -> mark -> who gave it, in the last round: marks of an earlier one were on other words."""
    found: dict[Claimed, dict[str, list[str]]] = {}
    for one in _last_round(r):
        reply = _reply(one)
        for mark in reply.marks if isinstance(reply, RevisedAnswer) else ():
            found.setdefault((mark.label, mark.n), {}).setdefault(mark.mark, []).append(who(r, one))
    return found


def _last_round(r: Result) -> tuple[Spoken, ...]:
    last = max((one.round for one in r.transcript), default=0)
    return tuple(one for one in latest(r) if one.round == last)


def _claim(r: Result, label: str, n: int) -> str:
    """The words of a claim in the answer that the replies of the last round were about: the one before that round."""
    last = max((one.round for one in r.transcript), default=0)
    before = [one for one in r.transcript if one.label == label and one.round < last]
    reply = _reply(before[-1]) if before else None
    return next((claim.text for claim in reply.claims if claim.n == n), "") if reply else ""


def _reply(one: Spoken) -> BlindAnswer | RevisedAnswer:
    return msgspec.convert(one.reply, BlindAnswer | RevisedAnswer)
