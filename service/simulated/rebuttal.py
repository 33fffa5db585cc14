"""The rebuttal's seat: every point is answered by its number, or granted if the critic's evidence is the stronger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.debate.replies import Answer, Concession, Conclusion, Rebuttal
from service.simulated.critic import _current
from service.simulated.evidence import BearingSentence, describe
from service.simulated.gaps import item_behind
from service.simulated.grounds import considerations
from service.simulated.movement import shift
from service.simulated.passage_choice import Desk, pick, span
from service.simulated.phrases import does, follows, places, upper
from service.simulated.proposer import cite
from service.simulated.request_reader import ShownReply
from service.simulated.words import terms


class Met(NamedTuple):
    """A point of the critic with its evidence, and the evidence of the arguments that it attacks."""

    point: ShownReply
    against: tuple[BearingSentence, ...]
    attacked: tuple[BearingSentence, ...]

    @property
    def gap(self) -> float:
        """The weight of the critic's passage above that of the attacked arguments."""
        theirs = max((e.weight for e in self.against), default=0)
        ours = max((e.weight for e in self.attacked), default=1)
        near = any(a.section == b.section and a.section for a in self.against for b in self.attacked)
        return theirs - ours + (1 if near else 0)


def rebuttal(desk: Desk, limit: int) -> Rebuttal:
    """Answers and concessions; ``limit`` bounds how many answers bring evidence of their own."""
    met = _points(desk)
    granted = _granted(desk, met)
    rebuttals: list[Answer] = []
    concessions: list[Concession] = []
    fresh: list[BearingSentence] = []
    for m in met:
        if m.point.n in granted:
            concessions.append(Concession(m.point.n, _grant(desk, m)))
            continue
        evidence = _counter(desk, m, fresh) if len(fresh) < limit else None
        if evidence:
            fresh.append(evidence)
        rebuttals.append(_answer(m, evidence, rebuttals) if desk.documents else _reasoned(desk, m, len(rebuttals)))
    conceded = [m for m in met if m.point.n in granted]
    return Rebuttal(
        thesis=_thesis(desk, conceded),
        rebuttals=tuple(rebuttals),
        concessions=tuple(concessions),
        conclusion=_conclusion(met, conceded),
        shift=shift(desk, 1),
    )


def _points(desk: Desk) -> list[Met]:
    mine = desk.reading.own_position
    proposals = [s for s in _current(desk, "proposer") if not mine or s.position == mine]
    arguments = {a.n: a for s in proposals for a in s.arguments if a.n}
    found = []
    for spoken in _current(desk, "critic"):
        for point in spoken.arguments:
            if mine and point.position and point.position != mine:
                continue
            attacked = [c for n in point.attacks if n in arguments for c in arguments[n].citations]
            found.append(
                Met(
                    point,
                    _evidence(desk, point),
                    tuple(e for c in attacked if (e := describe(desk.documents, desk.wanted, c.source_id, c.quote))),
                )
            )
    return found


def _evidence(desk: Desk, said: ShownReply) -> tuple[BearingSentence, ...]:
    quoted = (describe(desk.documents, desk.wanted, c.source_id, c.quote) for c in said.citations)
    return tuple(e for e in quoted if e)


def _granted(desk: Desk, met: Sequence[Met]) -> set[int]:
    """The points to grant: true omissions, and passages that outweigh the attacked arguments, at most half of all."""
    ranked = sorted(met, key=lambda m: (-m.gap, m.point.n))
    most = (len(met) + 1) // 2
    strong = [m.point.n for m in ranked if m.against and max(e.weight for e in m.against) >= 4 and m.gap >= 1]
    omissions = [m.point.n for m in ranked if not m.against and item_behind(desk, m.point.text)]
    return set((strong + omissions[:1])[:most])


def _grant(desk: Desk, met: Met) -> str:
    if met.against:
        e = met.against[0]
        return (
            f"Granted: {e.where} {does(e)}, and {follows(e, 1)}. The thesis is kept only outside "
            f"what that passage covers."
        )
    item = item_behind(desk, met.point.text)
    remedy = f" Still to be shown: {item.remedy}." if item else ""
    return f"Granted as an omission: the documents do not settle it, and the thesis is put subject to that.{remedy}"


def _counter(desk: Desk, met: Met, fresh: Sequence[BearingSentence]) -> BearingSentence | None:
    """A passage not used before that bears on the same matter as the point."""
    found = pick(desk, 1, 8, desk.strategy.floor / 2, [span(e) for e in fresh])
    if not met.against:
        return None
    theirs = frozenset().union(*(e.shared for e in met.against))
    words = frozenset().union(*(terms(e.quote) for e in met.against))
    related = [
        (len(e.shared & theirs) + len(terms(e.quote) & words) + (2 if e.section == met.against[0].section else 0), e)
        for e in found
        if e.weight >= 3
    ]
    best = max(related, key=lambda pair: pair[0], default=None)
    return best[1] if best and best[0] >= 3 else None


_MEETS = (
    "Point {n} is met by {where}, which {what}: {so}.",
    "Against point {n} stands {where}: it {what}, and {so}.",
    "{Where} answers point {n}. It {what}, so {so}.",
)
_STANDS = (
    "What was argued does not depend on that passage.",
    "The argument attacked keeps its own footing.",
    "The point narrows the argument without displacing it.",
)


def _reasoned(desk: Desk, met: Met, before: int) -> Answer:
    """The answer to a point in a case without documents: a consideration that no seat has put forward yet."""
    found = considerations(desk, 1, before + 1)
    return Answer(met.point.n, f"Point {met.point.n} does not decide the matter. {found[-1]}", (), "reasoning")


def _answer(met: Met, evidence: BearingSentence | None, before: Sequence[Answer]) -> Answer:
    n, i = met.point.n, len(before)
    if evidence:
        text = _MEETS[i % 3].format(
            n=n, where=evidence.where, Where=upper(evidence.where), what=does(evidence), so=follows(evidence, i)
        )
        return Answer(n, text, cite(evidence))
    if met.against and met.against[0].rule:
        meet = met.against[0].rule.meet
        like = next((a.n for a in before if a.text.startswith(meet)), None)
        if like:
            return Answer(n, _LIKE[i % 2].format(n=n, like=like), (), "reasoning")
        return Answer(n, f"{meet} {_STANDS[i % 3]}", (), "reasoning")
    return Answer(n, _BARE[i % 2], (), "reasoning")


_LIKE = (
    (
        "Point {n} is of one kind with point {like} and meets the same answer: it narrows "
        "the argument and leaves it standing."
    ),
    (
        "What was said to point {like} holds for point {n} too; a second passage of the same "
        "kind adds number and not weight."
    ),
)
_BARE = (
    (
        "The point names a possibility and no passage. An argument that quotes the documents "
        "is not displaced by one that does not."
    ),
    (
        "No document is quoted for this point; it asks for more than the question requires, "
        "and the arguments that quote stand."
    ),
)


def _thesis(desk: Desk, conceded: Sequence[Met]) -> str:
    thesis = (desk.reading.proposition or desk.wanted.proposition.thesis).split(": ")[0].rstrip(".")
    if desk.reading.own_position:
        text = dict(desk.reading.positions).get(desk.reading.own_position, "").strip().rstrip(".")
        thesis = f"The position remains the best supported: {text}"
    found = [e for m in conceded for e in m.against[:1]]
    if found:
        return f"{thesis}, except so far as {places(found)} cut{'s' if len(found) == 1 else ''} it back."
    return f"{thesis}, subject to what the documents leave open." if conceded else f"{thesis}."


def _conclusion(met: Sequence[Met], conceded: Sequence[Met]) -> Conclusion:
    def weight(of: Sequence[Met]) -> int:
        return sum(max((e.weight for e in m.against), default=1) for m in of)

    whole = weight(met)
    share = weight(conceded) / whole if whole else 0.0
    return "rejected" if share > 0.7 else "modified" if share > 0.2 else "upheld"
