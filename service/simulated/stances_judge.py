"""The stances' judge: it weighs each stance by its quotations and the answers to them, and not by speaker or time.

    a stance's weight       its verified passages that are on its side, the four weightiest in full, the rest a quarter;
                            reasoning counts a little; less for passages beside a stronger one of another stance, and
                            for struck arguments
    the winner              the heaviest stance, if it is ahead by a twelfth of its weight at least
    no winner (null)        the stances are closer: the verdict combines them

Statements are sorted before they are weighed, so their order has no effect, with one intended exception: of two stances
with exactly the same weight (for example, without any quotation), the one that was shown last is named. Such a verdict
rests on the order alone, and asking again in the reverse order shows that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from service.debate.replies import ConfidenceLevel, Judgement
from service.simulated.evidence import BearingSentence
from service.simulated.framing import SIMULATED
from service.simulated.passage_choice import Desk, span
from service.simulated.phrases import does, follows, places, upper
from service.simulated.stances_debater import Stood, stand
from service.simulated.standpoints import head
from service.simulated.transcript import HeardVoice, plain_value, voices
from service.simulated.uncertainties import uncertainties

_NAMED = re.compile(r"^.{1,80}? \[(?P<stance>.+)\]$", re.DOTALL)
_IN_FULL = 4
AHEAD = 1 / 12


class Case(NamedTuple):
    """The case for a stance: its passages (the weightiest first), reasoning, and its weight."""

    stance: str
    stood: Stood
    evidence: tuple[BearingSentence, ...]
    weight: float


def stance_of(label: str) -> str:
    """The stance that a label names: all of it, or the words in brackets after a debater's name."""
    found = _NAMED.match(label.strip())
    return found["stance"].strip() if found else label.strip()


def judgement(desk: Desk, limit: int, decided: str | None = None) -> Judgement:
    """The verdict on the whole transcript; ``limit`` bounds the uncertainties, ``decided`` is a stance that is set."""
    cases = weigh(desk)
    if not cases:
        return Judgement("Nothing was argued, so nothing can be decided.", None, SIMULATED, "LOW", (SIMULATED,))
    leader = next((case for case in cases if case.stance == decided), None) or winner(desk, cases)
    cited = [e for case in cases for e in case.evidence]
    struck = sum(len(s.struck) for s in desk.reading.statements)
    second = next((c for c in cases if c is not leader), None)
    open_points = [f"{second.evidence[0].brief} outweighs what was shown"] if second and second.evidence else []
    return Judgement(
        verdict=_verdict(leader, cases),
        winner=leader.stance if leader else None,
        reasoning=_reasoning(leader, cases, limit),
        confidence_level=_confidence(leader, cases, struck),
        explicit_uncertainties=uncertainties(desk, cited, open_points, struck, limit),
    )


def weigh(desk: Desk) -> list[Case]:
    """The case for each stance, the heaviest first, and stances of one weight by their words."""
    groups: dict[str, list[HeardVoice]] = {}
    for voice in voices(desk):
        groups.setdefault(stance_of(voice.label), []).append(voice)
    stood = {stance: stand(desk, stance) for stance in sorted(groups)}
    passages = {stance: _passages(stood[stance], stance) for stance in stood}
    cases = []
    for stance, own in passages.items():
        theirs = [e for other, found in passages.items() if other != stance for e in found]
        worth = sorted((_worth(e, stood[stance], theirs) for e in own), reverse=True)
        bare = sum(not w.evidence for v in groups[stance] for w in v.arguments)
        struck = sum(len(v.spoken.struck) for v in groups[stance])
        full, rest = worth[:_IN_FULL], worth[_IN_FULL:]
        weight = sum(full) + sum(rest) / 4 + 0.3 * min(bare, 2) - desk.strategy.strictness * struck
        cases.append(Case(stance, stood[stance], own, round(weight, 6)))
    return sorted(cases, key=lambda c: (-c.weight, c.stance))


def _passages(stood: Stood, stance: str) -> tuple[BearingSentence, ...]:
    """The passages quoted for a stance, judged for it, each once."""
    own = [v for v in voices(stood.desk) if stance_of(v.label) == stance]
    found = {span(e): e for v in own for w in v.arguments for e in w.evidence}
    return tuple(sorted(found.values(), key=lambda e: (not stood.carries(e), -plain_value(e), e.source_id, e.start)))


def _worth(evidence: BearingSentence, stood: Stood, theirs: Sequence[BearingSentence]) -> float:
    if not stood.carries(evidence):
        return 0.3 * plain_value(evidence)
    beside = [e for e in theirs if e.section and e.section == evidence.section and e.side == -evidence.side]
    answered = any(e.weight >= evidence.weight for e in beside)
    return plain_value(evidence) * (0.7 if answered else 1.0)


def winner(desk: Desk, cases: Sequence[Case]) -> Case | None:
    """The case that prevails, or ``None`` if two are too close."""
    if len(cases) == 1:
        return cases[0]
    first, second = cases[0], cases[1]
    if first.weight == second.weight:
        tied = {c.stance: c for c in cases if c.weight == first.weight}
        shown = [stance_of(s.label) for s in desk.reading.statements]
        return next((tied[stance] for stance in reversed(shown) if stance in tied), None)
    return first if first.weight - second.weight >= AHEAD * abs(first.weight) else None


def _verdict(leader: Case | None, cases: Sequence[Case]) -> str:
    """The answer in one sentence that stands alone: the stance, and the passage that carries it most."""
    if leader is None:
        first, second = head(cases[0].stance), head(cases[1].stance)
        return f"A decision has to meet two views, each of which holds in part: {first}; {second}."
    stance = upper(leader.stance.split(": ", maxsplit=1)[0].rstrip(".;, "))
    carried = [e for e in leader.evidence if leader.stood.carries(e)] or leader.evidence
    if carried:
        return f"{stance}, because {carried[0].where} {does(carried[0])}."
    return f"{stance}, on the arguments alone, because nothing was quoted that decides."


def _reasoning(leader: Case | None, cases: Sequence[Case], limit: int) -> str:
    parts = []
    for case in [leader, *(c for c in cases if c is not leader)] if leader else cases:
        carried = [e for e in case.evidence if case.stood.carries(e)]
        if not carried:
            shown = "no passage was shown that carries it" if case.stood.desk.documents else "reasons were given alone"
            parts.append(f"For [{head(case.stance)}] {shown}.")
            continue
        e = carried[0]
        more = [o for o in carried[1 : max(1, limit)] if o.brief != e.brief][:2]
        also = f", with {places(more)} beside it" if more else ""
        parts.append(f"For [{head(case.stance)}] stands above all {e.where}, which {does(e)}; {follows(e)}{also}.")
    if leader is None:
        parts.append("What was quoted on the two sides weighs too nearly the same to choose one of them.")
    return " ".join(parts)


def _confidence(leader: Case | None, cases: Sequence[Case], struck: int) -> ConfidenceLevel:
    if leader is None or not leader.evidence or struck > 2:
        return "LOW"
    rivals = [c.weight for c in cases if c is not leader]
    ahead = (leader.weight - max(rivals, default=0.0)) / leader.weight if leader.weight > 0 else 0.0
    strong = sum(e.weight >= 4 for e in leader.evidence) >= 3
    return "HIGH" if ahead > 0.4 and strong and not struck else "MODERATE" if ahead >= AHEAD else "LOW"
