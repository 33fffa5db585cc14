"""The critic's seat: the strongest case against the proposition, from other passages than the proposer's.

    points, in this order                                            basis
    passages that cut against it, each aimed at an argument          evidence
    flaws of an argument in the words that it quotes                 reasoning
    omissions of the documents                                       reasoning
    the harm even if the proposition is right                        reasoning

The rating of its own strength follows from the contrary passages: their directness, their number, and the number of
arguments that they reach. Asked again, the critic goes further down its list and uses other words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from service.debate.replies import Conclusion, Critique, Point
from service.debate.turns import split_party
from service.simulated.checklists import Item
from service.simulated.evidence import BearingSentence, describe
from service.simulated.gaps import PRACTICE, missing
from service.simulated.grounds import considerations
from service.simulated.movement import shift
from service.simulated.pairs import counterpart
from service.simulated.passage_choice import Desk, focused, pick, span
from service.simulated.phrases import TAIL, attack, flaw, measured, places, upper
from service.simulated.proposer import cite
from service.simulated.request_reader import ShownReply, ShownTurn
from service.simulated.strategies import Family
from service.simulated.tables import Kind

RETRY_FLOOR = 0.06
_FAMILIES: tuple[Family, ...] = ("alder", "birch", "cedar")


class Target(NamedTuple):
    """An argument of a proposer, and the evidence that it quotes."""

    said: ShownReply
    position: str
    evidence: tuple[BearingSentence, ...]


class Aimed(NamedTuple):
    """A point in the making."""

    text: str
    target: Target | None
    evidence: BearingSentence | None


def critique(desk: Desk, limit: int) -> Critique:
    """The points against the proposition, and an honest rating of them."""
    proposers = _current(desk, "proposer")
    aimed: list[Aimed] = []
    if desk.reading.positions:
        share = max(1, limit // max(1, len(proposers)))
        for spoken in proposers:
            aimed += _against(focused(desk, spoken.position), [spoken], share + desk.reading.retry, _taken(aimed))
    else:
        aimed = _against(desk, proposers, limit + (2 if desk.reading.retry else 0), [])
    aimed = _unlike_before(desk, aimed)
    strength = rate([a for a in aimed if a.evidence], aimed, sum(len(p.arguments) for p in proposers))
    points = tuple(_point(i, a) for i, a in enumerate(aimed, start=1))
    return Critique(
        thesis=_thesis(desk, [a.evidence for a in aimed if a.evidence]),
        points=points,
        challenge_strength=strength,
        conclusion=_conclusion(strength),
        shift=shift(desk, -1),
    )


def _point(n: int, aimed: Aimed) -> Point:
    target = aimed.target
    return Point(
        n=n,
        text=aimed.text,
        attacks=(target.said.n,) if target and target.said.n else (),
        citations=cite(aimed.evidence) if aimed.evidence else (),
        basis="evidence" if aimed.evidence else "reasoning",
        position=(target.position or None) if target else None,
    )


def _current(desk: Desk, seat: str) -> list[ShownTurn]:
    """The replies of a seat in the present round."""
    said = [s for s in desk.reading.statements if split_party(s.by)[0] == seat]
    last = max((s.round for s in said), default=0)
    return [s for s in said if s.round == last]


def _taken(aimed: Sequence[Aimed]) -> list[tuple[str, int, int]]:
    return [span(a.evidence) for a in aimed if a.evidence]


def _targets(desk: Desk, proposers: Sequence[ShownTurn]) -> list[Target]:
    found = []
    for spoken in proposers:
        for said in spoken.arguments:
            quoted = [describe(desk.documents, desk.wanted, c.source_id, c.quote) for c in said.citations]
            found.append(Target(said, spoken.position, tuple(e for e in quoted if e)))
    return found


def _against(desk: Desk, proposers: Sequence[ShownTurn], limit: int, taken: list[tuple[str, int, int]]) -> list[Aimed]:
    """Points against some proposals, at most ``limit``, evidence first."""
    targets = _targets(desk, proposers)
    if not desk.documents:
        return _by_reasoning(desk, targets, limit)
    floor = RETRY_FLOOR if desk.reading.retry else desk.strategy.floor
    found = pick(desk, -1, limit, floor, taken)
    reached: Counter[int] = Counter()
    made = [_aim(desk, e, targets, reached, i) for i, e in enumerate(found)]
    deep = desk.reading.retry or len(made) < 2
    lacks = missing(desk, -1) if desk.reading.round == 1 or desk.reading.retry else []
    if lacks and lacks[0].name == PRACTICE:
        made.insert(0, _aim_at_silence(desk, lacks.pop(0), targets, reached))
    made += [a for a in _flaws(desk.wanted.proposition.kind, targets, reached) if deep or len(made) < limit][
        : 3 if desk.reading.retry else 1
    ]
    for item in lacks[: 3 if desk.reading.retry else 1 if len(made) < limit else 0]:
        made.append(_aim_at_silence(desk, item, targets, reached))
    if desk.reading.retry or not made:
        made.append(Aimed(TAIL[desk.wanted.proposition.kind], _least_reached(targets, reached), None))
    return made[: max(1, limit)]


def _by_reasoning(desk: Desk, targets: Sequence[Target], limit: int) -> list[Aimed]:
    """Points of a case without documents: considerations against the proposition, each aimed at an argument."""
    reached: Counter[int] = Counter()
    made = []
    for text in considerations(desk, -1, min(4, limit)):
        target = _least_reached(targets, reached)
        if target is not None:
            reached[targets.index(target)] += 1
        made.append(Aimed(f"Argument {target.said.n} falls short. {text}" if target else text, target, None))
    return made


def _aim(
    desk: Desk, evidence: BearingSentence, targets: Sequence[Target], reached: Counter[int], variant: int
) -> Aimed:
    """Aim a passage at the argument that it meets most closely, and at none twice while others are untouched."""
    if not targets:
        text = f"{upper(evidence.where)} {evidence.rule.says if evidence.rule else 'speaks against it'}."
        return Aimed(text, None, evidence)
    best = max(range(len(targets)), key=lambda i: (closeness(evidence, targets[i]) - 1.5 * reached[i], -i))
    target = targets[best]
    relation = relation_of(evidence, target)
    if relation in ("near", "elsewhere") and reached[best]:
        relation = ""
    reached[best] += 1
    family, again = _voice(desk), variant + _turn(desk)
    norm = counterpart(desk, evidence)
    text = (
        measured(target.said.n, evidence, norm, again)
        if norm
        else attack(family, relation, target.said.n, evidence, again)
    )
    return Aimed(text, target, evidence)


def _voice(desk: Desk) -> Family:
    """The family's own wording, or another's when asked again or in a later round, so that wordings do not repeat."""
    return _FAMILIES[(_FAMILIES.index(desk.strategy.family) + _turn(desk)) % len(_FAMILIES)]


def _turn(desk: Desk) -> int:
    """The number of the critic's earlier replies."""
    return desk.reading.round - 1 + (1 if desk.reading.retry else 0)


def closeness(evidence: BearingSentence, target: Target) -> float:
    """The nearness of a passage to an argument's quotations: by shared words, and by a common part of the document."""
    shared = max((len(evidence.shared & e.shared) for e in target.evidence), default=0)
    near = any(e.section == evidence.section and e.section for e in target.evidence)
    return min(shared, 5) * 0.5 + (1.5 if near else 0.0) + (0.0 if target.evidence else -0.5)


def relation_of(evidence: BearingSentence, target: Target) -> str:
    """Whether a passage is near an argument's quotation, in another document, or neither."""
    if any(e.section == evidence.section and evidence.section for e in target.evidence):
        return "near"
    if target.evidence and all(e.source_id != evidence.source_id for e in target.evidence):
        return "elsewhere"
    return ""


def _flaws(kind: Kind, targets: Sequence[Target], reached: Counter[int]) -> list[Aimed]:
    made = []
    forms: set[str] = set()
    for i, target in enumerate(targets):
        cues = frozenset().union(*(e.cues for e in target.evidence)) if target.evidence else frozenset()
        text = flaw(kind, target.said.n, cues)
        if text and (form := re.sub(r"\d+", "", text)) not in forms:
            forms.add(form)
            reached[i] += 1
            made.append(Aimed(text, target, None))
    return made


_SILENCES = (
    "{lacks}. Argument {n} passes over that silence.",
    "{lacks}, and as long as that is so argument {n} proves less than it claims.",
    "Argument {n} would need what is not there: {lacks_low}.",
)


def _aim_at_silence(desk: Desk, item: Item, targets: Sequence[Target], reached: Counter[int]) -> Aimed:
    target = _least_reached(targets, reached)
    if target is None:
        return Aimed(f"{upper(item.lacks)}.", None, None)
    reached[targets.index(target)] += 1
    form = _SILENCES[_turn(desk) % len(_SILENCES)]
    return Aimed(form.format(lacks=upper(item.lacks), lacks_low=item.lacks, n=target.said.n), target, None)


def _least_reached(targets: Sequence[Target], reached: Counter[int]) -> Target | None:
    return targets[min(range(len(targets)), key=lambda i: (reached[i], i))] if targets else None


_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
MOST_ALIKE = 0.47
"""The share of words in common with an earlier critique from which points are left out again, the weakest first."""


def _unlike_before(desk: Desk, aimed: list[Aimed]) -> list[Aimed]:
    """Leave out points that only repeat the critic's earlier ones, while a new one remains."""
    former = [_long_words(a.text for a in s.arguments) for s in desk.reading.statements if s.by == "critic"]
    quoted = {c.quote for s in desk.reading.statements if s.by == "critic" for a in s.arguments for c in a.citations}
    said = {a.text for s in desk.reading.statements if s.by == "critic" for a in s.arguments}
    kept = list(aimed)
    while len(kept) > 1 and any(_overlap(_long_words(a.text for a in kept), f) > MOST_ALIKE for f in former):
        kept.remove(min(kept, key=lambda a: (_worth(a, quoted, said), -kept.index(a))))
    return kept


def _worth(aimed: Aimed, quoted: set[str], said: set[str]) -> float:
    """The value of a point in a repetition: new evidence most, the same words again least."""
    if aimed.text in said:
        return -1.0
    if aimed.evidence is None:
        return 6.0 if "practice in question" in aimed.text else 1.5
    return aimed.evidence.weight - (2.0 if aimed.evidence.quote in quoted else 0.0) + 1.0


def _long_words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _LONG_WORD.findall(text.casefold())}


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def rate(found: Sequence[Aimed], aimed: Sequence[Aimed], arguments: int) -> int:
    """The challenge's strength (1 to 10): directness and number of contrary passages, and the arguments reached."""
    weights = sorted(
        (a.evidence.weight * min(1.0, 0.5 + a.evidence.relevance) for a in found if a.evidence), reverse=True
    )
    directness = sum(w / 5 * 1.5 for w in weights[:4])
    reached = len({(a.target.position, a.target.said.n) for a in found if a.target}) / arguments if arguments else 0.0
    reasoning = min(1.0, 0.35 * sum(a.evidence is None for a in aimed))
    return max(1, min(10, round(1 + directness + 2.5 * reached + reasoning)))


def _conclusion(strength: int) -> Conclusion:
    return "rejected" if strength >= 7 else "modified"


def _thesis(desk: Desk, found: Sequence[BearingSentence]) -> str:
    thesis = (desk.reading.proposition.split(": ")[0] or desk.wanted.proposition.thesis).rstrip(".")
    if desk.reading.positions:
        return "None of the positions is supported as it is put: each leaves out passages that cut against it."
    if not found:
        return f"It has not been shown that {thesis[:1].lower() if thesis[1:2].islower() else thesis[:1]}{thesis[1:]}."
    return f"The proposition is wrong as it stands: {places(found)} cut{'s' if len(found) == 1 else ''} against it."
