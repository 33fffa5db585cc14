"""The moderator's seat: statements are weighed under their neutral labels, without regard to seat or order.

a statement's score        verified share of its citations, their weight, unanswered points against it, struck
                           arguments
a point is resolved        it was granted, or answered with a verified passage
a point is unresolved      it was answered by reasoning alone, or not at all
the conclusion             the weight that stands for the proposition against the weight of points that stand
the confidence             the verified share, the unresolved share, the distance of the two sides
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.debate.replies import ArgumentScore, Conclusion, ConfidenceLevel, Moderation
from service.simulated.evidence import BearingSentence, describe
from service.simulated.gaps import PRACTICE, item_behind
from service.simulated.passage_choice import Desk
from service.simulated.phrases import does, follows, listed, places, upper
from service.simulated.propositions import negate
from service.simulated.request_reader import ShownReply, ShownTurn
from service.simulated.uncertainties import uncertainties


class WeighedArgument(NamedTuple):
    """An argument with the evidence that its verified citations are."""

    label: str
    round: int
    said: ShownReply
    evidence: tuple[BearingSentence, ...]
    bare: float

    @property
    def weight(self) -> float:
        """Whole weight for verified evidence, little for reasoning."""
        best = max((e.weight * (0.7 + 0.6 * e.relevance) for e in self.evidence), default=0.0)
        return best or self.bare

    @property
    def named(self) -> str:
        """The argument by label and number, with the place that it quotes."""
        where = f" ({self.evidence[0].brief})" if self.evidence else ""
        return f"{self.label}, point {self.said.n}{where}"


class ArgumentTable(NamedTuple):
    """All statements, sorted by function: they open, challenge, reply or grant."""

    opening: tuple[WeighedArgument, ...]
    challenge: tuple[WeighedArgument, ...]
    replies: tuple[WeighedArgument, ...]
    grants: tuple[tuple[str, int, int], ...]

    def reply_to(self, point: WeighedArgument) -> WeighedArgument | None:
        """The reply to a point, by its number, in the round of the point."""
        return next(
            (r for r in self.replies if r.said.answers == (point.label, point.said.n) and r.round == point.round), None
        )

    def granted(self, point: WeighedArgument) -> bool:
        """Whether a point was conceded."""
        return (point.label, point.said.n, point.round) in self.grants

    def fate(self, point: WeighedArgument) -> str:
        """The fate of a point: granted, unanswered, reasoned, answered or outweighed."""
        if self.granted(point):
            return "granted"
        reply = self.reply_to(point)
        if reply is None:
            return "unanswered"
        if not reply.evidence:
            return "reasoned"
        return "answered" if reply.evidence[0].weight >= self._worth(point) - 1 else "outweighed"

    @staticmethod
    def _worth(point: WeighedArgument) -> int:
        return max((e.weight for e in point.evidence), default=0)


_STANDING = {"granted": 1.3, "unanswered": 1.0, "reasoned": 0.8, "outweighed": 0.7, "answered": 0.35}


def moderation(desk: Desk, limit: int, decided: Conclusion | None = None) -> Moderation:
    """The evaluation of the arguments; ``limit`` bounds how many points are listed, ``decided`` is a set conclusion."""
    table = _sort(desk)
    last = max((p.round for p in table.challenge), default=1)
    fates = [(p, table.fate(p)) for p in table.challenge]
    resolved = [(p, f) for p, f in fates if f in ("granted", "answered")]
    unresolved = [(p, f) for p, f in fates if f in ("reasoned", "unanswered", "outweighed")]
    unresolved.sort(key=lambda pf: (-pf[0].round, -pf[0].weight, pf[0].said.n))
    against = _share_against(table, fates)
    struck = sum(len(s.struck) for s in desk.reading.statements)
    weighty = [p for p, _ in unresolved if p.evidence and p.evidence[0].weight >= 4]
    direct = sum(f == "granted" and bool(p.evidence) and p.evidence[0].weight >= 4 for p, f in fates)
    direct = direct if desk.wanted.proposition.kind in _ALL_OR_NOTHING else 0
    conclusion = decided or _conclusion(against, direct)
    confidence = _confidence(table, against, _open_share(fates), struck, len(weighty) + direct)
    cited = [e for w in (*table.challenge, *table.opening, *table.replies) for e in w.evidence]
    open_points = [f"{p.evidence[0].brief} decides the matter, as {p.label} holds" for p, _ in unresolved if p.evidence]
    return Moderation(
        scores=_scores(desk, table),
        resolved_points=tuple(_settled(p, f, table) for p, f in resolved[:limit]),
        unresolved_points=tuple(_open(p, f) for p, f in unresolved[:limit]),
        recommend_another_round=sum(p.round == last for p in weighty) >= 2 and desk.reading.round < 3,
        synthesis=_synthesis(desk, table, fates, conclusion, limit),
        confidence_level=confidence,
        explicit_uncertainties=uncertainties(desk, cited, open_points, struck, limit),
        conclusion=conclusion,
        ranking=_ranking(desk, table),
    )


def _sort(desk: Desk) -> ArgumentTable:
    opening: list[WeighedArgument] = []
    challenge: list[WeighedArgument] = []
    replies: list[WeighedArgument] = []
    grants: list[tuple[str, int, int]] = []
    for spoken in desk.reading.statements:
        grants += [(*c.answers, spoken.round) for c in spoken.concessions if c.answers]
        for said in (a for a in spoken.arguments if a.n):
            weighed = WeighedArgument(spoken.label, spoken.round, said, _verified(desk, said), _bare(desk, said))
            if said.answers:
                replies.append(weighed)
            elif said.against or _challenges(spoken):
                challenge.append(weighed)
            else:
                opening.append(weighed)
    return ArgumentTable(tuple(opening), tuple(challenge), tuple(replies), tuple(grants))


def _bare(desk: Desk, said: ShownReply) -> float:
    """The weight of an argument without a passage: a true omission above reasoning, a missing subject above all."""
    item = item_behind(desk, said.text)
    if item is None:
        return 0.8 if said.basis == "reasoning" else 0.0
    return 6 * _OMISSION if item.name == PRACTICE else _OMISSION


_OMISSION = 2.0


def _challenges(spoken: ShownTurn) -> bool:
    return any(a.against for a in spoken.arguments)


def _verified(desk: Desk, said: ShownReply) -> tuple[BearingSentence, ...]:
    quoted = (
        describe(desk.documents, desk.wanted, c.source_id, c.quote)
        for c in said.citations
        if c.verdict in ("verified", "unchecked", "")
    )
    return tuple(e for e in quoted if e)


def _labels(desk: Desk) -> list[str]:
    return list(dict.fromkeys(s.label for s in desk.reading.statements))


def _scores(desk: Desk, table: ArgumentTable) -> tuple[ArgumentScore, ...]:
    return tuple(ArgumentScore(label, _score(desk, table, label)) for label in _labels(desk))


def _score(desk: Desk, table: ArgumentTable, label: str) -> int:
    own = [w for w in (*table.opening, *table.challenge, *table.replies) if w.label == label]
    struck = sum(len(s.struck) for s in desk.reading.statements if s.label == label)
    granted = sum(1 for s in desk.reading.statements if s.label == label for _ in s.concessions)
    citations = [c for w in own for c in w.said.citations]
    verified = sum(c.verdict == "verified" for c in citations) / len(citations) if citations else 0.3
    weight = sum(w.weight for w in own) / len(own) if own else 1.0
    hits = [p for p in table.challenge if any(a[0] == label for a in p.said.against)]
    open_hits = sum(table.fate(p) in ("granted", "unanswered") for p in hits)
    exposed = open_hits / len(hits) if hits else 0.0
    bare = sum(not w.evidence for w in own) / len(own) if own else 0.0
    score = (
        3.2 + 2.4 * verified + 0.75 * weight - 1.5 * struck - desk.strategy.strictness * (0.8 * exposed + 0.5 * bare)
    )
    score += 0.2 * min(granted, 2)
    return max(1, min(10, round(score)))


def _share_against(table: ArgumentTable, fates: Sequence[tuple[WeighedArgument, str]]) -> float:
    """The share of the standing weight that lies with the points against the proposition (0 to 1)."""
    theirs = sum(p.weight * _STANDING[f] for p, f in fates)
    ours = sum(w.weight for w in table.opening) + sum(w.weight for w in table.replies if w.evidence)
    return theirs / (ours + theirs) if ours + theirs else 0.5


def _open_share(fates: Sequence[tuple[WeighedArgument, str]]) -> float:
    """The share of the challenge's weight that stays unresolved (0 to 1): all of it without a challenge."""
    total = sum(p.weight for p, _ in fates)
    return sum(p.weight for p, f in fates if f not in ("granted", "answered")) / total if total else 1.0


_ALL_OR_NOTHING = ("exposure", "sufficiency", "conformity", "presence")
"""Kinds of propositions that one direct passage against them takes apart; a choice or a thesis can bear a cost."""


def _conclusion(against: float, direct: int) -> Conclusion:
    """The conclusion from the weights, one step down for one and two steps for three granted direct passages."""
    if against >= 0.66 or direct >= 3:
        return "rejected"
    return "upheld" if against < 0.42 and not direct else "modified"


def _confidence(table: ArgumentTable, against: float, unresolved: float, struck: int, weighty: int) -> ConfidenceLevel:
    verified = sum(bool(w.evidence) for w in (*table.opening, *table.challenge, *table.replies))
    if any(p.bare > _OMISSION for p in table.challenge):
        return "LOW"
    if any(
        e.rule and e.rule.name == "unproven" for p in table.challenge if table.fate(p) != "answered" for e in p.evidence
    ):
        return "LOW"
    undecided = 0.42 <= against < 0.66
    if verified < 3 or struck > 2 or unresolved > (0.65 if undecided else 0.9):
        return "LOW"
    clear = against < 0.3 or against > 0.7
    contested = against < 0.3 and any(e.weight >= 4 for p in table.challenge for e in p.evidence)
    sure = clear and not contested and not struck and not weighty
    return "HIGH" if verified >= 6 and unresolved <= 0.34 and sure else "MODERATE"


def _settled(point: WeighedArgument, fate: str, table: ArgumentTable) -> str:
    if fate == "granted":
        return f"{point.named}: granted by the other side."
    reply = table.reply_to(point)
    where = reply.evidence[0].brief if reply and reply.evidence else "a passage"
    return f"{point.named}: answered with {where}."


_OPEN = {
    "unanswered": "no answer was given",
    "reasoned": "the answer brings no passage of its own",
    "outweighed": "the passage brought against it weighs less",
}


def _open(point: WeighedArgument, fate: str) -> str:
    how = _OPEN[fate]
    what = f"{point.evidence[0].brief} {does(point.evidence[0])}" if point.evidence else point.said.text.rstrip(".")
    return f"{point.label}, point {point.said.n}: {what}; {how}."


def _synthesis(
    desk: Desk, table: ArgumentTable, fates: Sequence[tuple[WeighedArgument, str]], conclusion: Conclusion, limit: int
) -> str:
    """The answer in one sentence that stands alone, and then what stands for and against it."""
    strongest = sorted((w for w in table.opening if w.evidence), key=lambda w: (-w.weight, w.said.n))
    contrary = sorted(
        ((p, f) for p, f in fates if p.evidence), key=lambda pf: (-pf[0].weight * _STANDING[pf[1]], pf[0].said.n)
    )
    ours, theirs = [w.evidence[0] for w in strongest], [p.evidence[0] for p, _ in contrary]
    parts = [_answer(desk, table, ours, theirs, conclusion)]
    if ranking := _ranking(desk, table):
        whose = {s.label: s.position for s in desk.reading.statements}
        parts.append(
            f"By what was shown for and against them the order is {listed([whose[label] for label in ranking])}."
        )
    if strongest:
        parts.append(f"For it stands above all {ours[0].where}, which {does(ours[0])}; {follows(ours[0])}.")
        parts.append(_beside(ours[1:3] if limit > 2 else [], "point", "the same way"))
    else:
        none = "No passage of the documents was shown that supports it directly."
        parts.append(none if desk.documents else "No document was given, so reasoning alone was put forward for it.")
    if contrary:
        parts.append(f"Against it stands {theirs[0].where}, which {does(theirs[0])}; {follows(theirs[0])}.")
        parts.append(_beside(theirs[1:3] if limit > 2 else [], "cut", "in the same direction"))
    elif fates:
        parts.append("The challenge brought no passage against it, so it was tested by reasoning alone.")
    else:
        parts.append("No point was raised against it, so it has not been tested.")
    parts.append(_tally(fates))
    return " ".join(part for part in parts if part)


def _beside(found: Sequence[BearingSentence], verb: str, how: str) -> str:
    if not found:
        return ""
    one = len({e.where for e in found}) == 1
    return f"{upper(places(found))} {verb}{'s' if one else ''} {how}."


def _answer(
    desk: Desk,
    table: ArgumentTable,
    ours: Sequence[BearingSentence],
    theirs: Sequence[BearingSentence],
    conclusion: Conclusion,
) -> str:
    """The answer to the question, with the passage on which it depends most."""
    if ranking := _ranking(desk, table):
        whose = {s.label: s.position for s in desk.reading.statements}
        if first := dict(desk.reading.positions).get(whose[ranking[0]]):
            return f"{first.rstrip('.')}."
    thesis = _head(desk.reading.proposition or desk.wanted.proposition.thesis)
    if not desk.wanted.proposition.settled:
        shown = [*ours, *theirs][:1]
        return f"{upper(shown[0].where)} {does(shown[0])}." if shown else f"{thesis} only in part."
    if conclusion == "rejected":
        why = f"{theirs[0].where} {does(theirs[0])}" if theirs else "too little was shown for it"
        return f"{negate(thesis)}, because {why}."
    if conclusion == "modified":
        limit = f"subject to {theirs[0].where}, which {does(theirs[0])}" if theirs else _UNSHOWN
        return f"{thesis}, {limit}."
    why = f", because {ours[0].where} {does(ours[0])}" if ours else ""
    return f"{thesis}{why}{f', though {theirs[0].where} {does(theirs[0])}' if ours and theirs else ''}."


_UNSHOWN = "provided that what was only assumed for it proves true"


def _head(thesis: str) -> str:
    """A proposition without the reason that an answer under review adds to it."""
    return upper(thesis.rstrip(".").split(": ", maxsplit=1)[0])


def _tally(fates: Sequence[tuple[WeighedArgument, str]]) -> str:
    total = len(fates)
    if not total:
        return ""
    counts = {fate: sum(f == fate for _, f in fates) for fate in _STANDING}
    said = [
        f"{counts['granted']} granted" if counts["granted"] else "",
        f"{counts['answered']} answered with a passage" if counts["answered"] else "",
        f"{counts['reasoned']} answered by reasoning alone" if counts["reasoned"] else "",
        f"{counts['outweighed']} answered with a weaker passage" if counts["outweighed"] else "",
        f"{counts['unanswered']} not answered" if counts["unanswered"] else "",
    ]
    return f"Of {total} point{'s' if total > 1 else ''} raised, {listed([s for s in said if s])}."


def _ranking(desk: Desk, table: ArgumentTable) -> tuple[str, ...]:
    """The labels that put a position, best first; a reply that defends one is not a position of its own."""
    labels = list(dict.fromkeys(s.label for s in desk.reading.statements if s.position and not s.replies))
    if not labels:
        return ()

    def standing(label: str) -> float:
        own = sum(w.weight for w in table.opening if w.label == label)
        against = sum(
            p.weight * _STANDING[table.fate(p)] for p in table.challenge if any(a[0] == label for a in p.said.against)
        )
        return own - against

    return tuple(sorted(labels, key=lambda label: (-_score(desk, table, label), -standing(label), label)))
