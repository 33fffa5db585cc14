"""The proposer's seat: the best case for the proposition that the documents allow."""

from __future__ import annotations

from collections import Counter

from service.debate.findings import Citation
from service.debate.replies import Conclusion, Objection, Proposal, Statement
from service.simulated.evidence import BearingSentence
from service.simulated.gaps import missing
from service.simulated.grounds import considerations
from service.simulated.movement import shift
from service.simulated.pairs import counterpart
from service.simulated.passage_choice import Desk, pick
from service.simulated.phrases import claim, does, follows, upper


def cite(evidence: BearingSentence) -> tuple[Citation, ...]:
    """The passage as a citation."""
    return (Citation(evidence.quote, evidence.source_id, evidence.location or None),)


def proposal(desk: Desk, limit: int) -> Proposal:
    """Arguments in order of priority, the likeliest objections, and the conclusion."""
    side = 1
    found = pick(desk, side, limit, desk.strategy.floor)
    against = pick(desk, -side, 3, desk.strategy.floor)
    arguments = _arguments(desk, found, limit)
    return Proposal(
        thesis=_thesis(desk),
        arguments=tuple(arguments),
        conclusion=_conclusion(found, against),
        objections=_objections(against, min(limit, 2 if desk.strategy.most < 5 else 3), len(found)),
        shift=shift(desk, side),
    )


def _thesis(desk: Desk) -> str:
    reading = desk.reading
    if reading.own_position:
        text = dict(reading.positions).get(reading.own_position, "").strip().rstrip(".")
        named = text or reading.own_position
        return f"Of the positions put forward, this one is best supported by the documents: {named}."
    return reading.proposition or desk.wanted.proposition.thesis


def _arguments(desk: Desk, found: list[BearingSentence], limit: int) -> list[Statement]:
    if not desk.documents:
        grounds = considerations(desk, 1, min(3, limit))
        return [Statement(n, text, (), "reasoning") for n, text in enumerate(grounds, start=1)]
    seen: Counter[str] = Counter()
    silent = [] if desk.reading.round > 1 else missing(desk, 1)
    made = [Statement(1, f"{upper(item.lacks)}.", (), "reasoning") for item in silent[:1]]
    for e in found[: max(1, limit - len(made)) if found else 0]:
        name = e.rule.name if e.rule else ""
        made.append(Statement(len(made) + 1, claim(desk.strategy.family, e, seen[name], counterpart(desk, e)), cite(e)))
        seen[name] += 1
    made.extend(_for_want_of_evidence(desk, made, limit, [item.lacks for item in silent[1:]]))
    return made


def _for_want_of_evidence(desk: Desk, made: list[Statement], limit: int, silent: list[str]) -> list[Statement]:
    """Arguments without a passage that supports the proposition, and the statement that there is none."""
    more: list[Statement] = []
    if len(made) < 2:
        more = [Statement(len(made) + 1 + i, f"{upper(lacks)}.", (), "reasoning") for i, lacks in enumerate(silent[:1])]
    if len(made) + len(more) < 2 and (near := _nearest(desk)):
        text = (
            f"The nearest that the documents come to the question is {near.where}, which touches "
            f"it without deciding it."
        )
        more.append(Statement(len(made) + len(more) + 1, text, cite(near)))
    if not made and not more:
        more.append(Statement(1, _NOTHING if desk.reading.round == 1 else _NO_MORE, (), "reasoning"))
    return more[: max(1, limit - len(made))]


_NOTHING = (
    "No passage of the documents supplied shares its words with the question, so the proposition rests on the question "
    "alone and cannot be shown from the file."
)
_NO_MORE = (
    "The documents hold no further passage for the proposition than those cited before; the case stands on those."
)


def _nearest(desk: Desk) -> BearingSentence | None:
    near = pick(desk, 0, 1, 0.1)
    return near[0] if near else None


def _objections(against: list[BearingSentence], most: int, own: int) -> tuple[Objection, ...]:
    made = []
    for i, e in enumerate(against[:most]):
        text = f"It will be said that {e.where} {does(e)}, so that {follows(e, i)}."
        answer = e.rule.meet if e.rule else "The passage does not decide the point."
        made.append(Objection(text, f"{answer} {_STANDS[i % len(_STANDS)] if own else _BARE}"))
    if not made:
        made.append(
            Objection(
                "It will be said that the documents do not go far enough to decide the question.",
                "They go as far as the passages cited; nothing in them points the other way.",
            )
        )
    return tuple(made)


_STANDS = (
    "It leaves the arguments above in place.",
    "The first argument does not depend on it.",
    "It is one passage among several.",
)
_BARE = "Without a passage of its own the case has to rest on that."


def _conclusion(found: list[BearingSentence], against: list[BearingSentence]) -> Conclusion:
    own, other = sum(e.weight for e in found), sum(e.weight for e in against)
    return "upheld" if own and own * 2 >= other else "modified"
