"""The panel's synthesizer: the debate's answer, for the question itself, and its uncertainties."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import mean, median

from service.debate.replies import ConfidenceLevel, Synthesis
from service.debate.replies.panel import Endorsement, Idea
from service.simulated.answers import NO_ANSWER, NO_DOCUMENTS, in_words
from service.simulated.evidence import BearingSentence
from service.simulated.leaning import Level
from service.simulated.moderator import WeighedArgument
from service.simulated.panel_debater import LEVELS
from service.simulated.passage_choice import Desk
from service.simulated.phrases import does, follows, listed, upper
from service.simulated.propositions import lowered
from service.simulated.transcript import HeardVoice, latest, quoted, voices
from service.simulated.uncertainties import uncertainties
from service.simulated.words import terms

ALIKE = 0.6
"""The share of the shorter text's words from which two ideas are the same."""


def synthesis(desk: Desk, limit: int) -> Synthesis:
    """A direct answer; ``limit`` bounds the uncertainties and, twice over, the ideas."""
    said = voices(desk)
    last = latest(said)
    brainstorm = desk.reading.asks("panel.ideas") or desk.reading.asks("panel.brainstorm")
    ideas = _ideas(last)[: 2 * limit] if brainstorm else ()
    found = quoted(last)
    struck = sum(len(s.struck) for s in desk.reading.statements)
    return Synthesis(
        answer=_best_ideas(ideas) if brainstorm else _answer(desk, last, found, limit),
        confidence_level=_confidence(last, found),
        explicit_uncertainties=uncertainties(desk, found, _open_points(last), struck, limit),
        ideas=tuple(ideas),
    )


def _level(last: Sequence[HeardVoice]) -> Level | None:
    """The conclusion of most debaters; without a majority, one between them."""
    stances = [str(v.spoken.body.get("stance", "")) for v in last]
    levels = [LEVELS[s] for s in stances if s in LEVELS]
    if not levels:
        return None
    counted = Counter(levels)
    leading = [level for level, n in counted.items() if n == max(counted.values())]
    return leading[0] if len(leading) == 1 else "part"


def _answer(desk: Desk, last: Sequence[HeardVoice], found: Sequence[BearingSentence], limit: int) -> str:
    level = _level(last)
    if level is None:
        found = sorted(found, key=lambda e: (-e.relevance, e.source_id, e.start))
    if probability := _probability(last):
        first = _likely(desk, *probability)
    elif level is None:
        first = _shown(desk, found)
    else:
        first = in_words(desk, level)
    side = {"yes": 1, "no": -1, "part": 1, None: 0}[level]
    carrying = [e for e in found if not side or e.side == side]
    against = [e for e in found if side and e.side == -side]
    stated = carrying[: 2 if limit > 2 else 1]
    parts = [first, *(f"{upper(e.where)} {does(e)}: {follows(e)}." for e in stated if level or probability)]
    if stated and not (level or probability):
        parts.append(f"So {listed([follows(e) for e in stated])}.")
    if against:
        e = against[0]
        lead = "It is qualified by" if level == "part" else "It has to be read with"
        parts.append(f"{lead} {e.where}, which {does(e)}.")
    if not desk.documents and level is not None:
        parts.append("It rests on general considerations alone, because no document was given.")
    return " ".join(parts)


def _likely(desk: Desk, low: int, high: int) -> str:
    """How likely it is, of what the question asks it."""
    asked = _LIKELY.search(" ".join(desk.reading.question.split()))
    thesis = desk.wanted.proposition.thesis.rstrip(".") if desk.wanted.proposition.settled else ""
    question = " ".join(desk.reading.question.split())
    to_what = f" to “{question}”" if len(question) <= _LONGEST_QUESTION else ""
    of_what = (asked[1] if asked else lowered(thesis)) or f"the answer{to_what} is yes"
    return f"It is {low} to {high} per cent likely that {of_what}."


_LONGEST_QUESTION = 200
"""The most characters of a question that a sentence about its answer repeats."""
_LIKELY = re.compile(r"\b(?:likely|probable)\b.{0,20}?\bthat\s+(.+?)\?", re.IGNORECASE)


def _shown(desk: Desk, found: Sequence[BearingSentence]) -> str:
    """What the passages nearest to an open question say, those of two places."""
    if not found:
        return NO_ANSWER if desk.documents else NO_DOCUMENTS
    other = next((e for e in found if e.where != found[0].where), None)
    more = f", and {other.where} {does(other)}" if other else ""
    return f"{upper(found[0].where)} {does(found[0])}{more}."


def _probability(last: Sequence[HeardVoice]) -> tuple[int, int] | None:
    ranges = [p for v in last if isinstance(p := v.spoken.body.get("probability"), dict)]
    if not ranges:
        return None
    low, high = (round(median(p.get(end, 50) for p in ranges)) for end in ("low", "high"))
    return low, high


def _confidence(last: Sequence[HeardVoice], found: Sequence[BearingSentence]) -> ConfidenceLevel:
    """High if all agree, are sure and rest on passages; low if they differ or rest on no passage."""
    stances = Counter(str(v.spoken.body.get("stance", "")) for v in last)
    sure = [n for v in last if isinstance(n := v.spoken.body.get("overallConfidence"), int)]
    one_mind = len(stances) == 1
    if len(found) < 2 or {"affirmative", "negative"} <= set(stances) or not sure:
        return "LOW"
    return "HIGH" if one_mind and mean(sure) >= 80 and len(found) >= 4 else "MODERATE"


def _open_points(last: Sequence[HeardVoice]) -> list[str]:
    """The challenges that debaters still hold, as open points."""
    for voice in last:
        objection = voice.spoken.body.get("objection")
        if isinstance(objection, dict) and objection.get("severity") == "high":
            return ["the strongest objection that was raised is met"]
        if voice.spoken.body.get("stillChallenges"):
            return [f"what {voice.label} still challenges would change the answer"]
    return []


def _ideas(last: Sequence[HeardVoice]) -> list[Idea]:
    """The ideas with the claims that surfaced or endorsed each, those of most debaters first."""
    groups: list[list[WeighedArgument]] = []
    for claim in (w for v in last for w in v.arguments):
        group = next((g for g in groups if _same(g[0], claim)), None)
        if group is None:
            groups.append([claim])
        else:
            group.append(claim)
    groups.sort(key=lambda g: (-len({w.label for w in g}), -max(w.weight for w in g), g[0].label, g[0].said.n))
    return [Idea(g[0].said.text, tuple(Endorsement(w.label, w.said.n) for w in g)) for g in groups]


def _same(one: WeighedArgument, other: WeighedArgument) -> bool:
    quotes = {c.quote for c in one.said.citations}
    if quotes and quotes & {c.quote for c in other.said.citations}:
        return True
    a, b = terms(one.said.text), terms(other.said.text)
    return bool(a) and len(a & b) > ALIKE * min(len(a), len(b)) and not quotes


def _best_ideas(ideas: Sequence[Idea]) -> str:
    if not ideas:
        return "No idea was put forward that the documents bear out."
    return " ".join(f"({n}) {idea.idea}" for n, idea in enumerate(ideas[:3], start=1))
