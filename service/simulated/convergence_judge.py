"""The convergence judge: the answer that the last round's passages support most, whatever its debater and its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.debate.replies import ConfidenceLevel, Ruling
from service.simulated.answers import conclude
from service.simulated.evidence import BearingSentence
from service.simulated.framing import SIMULATED
from service.simulated.passage_choice import Desk, span
from service.simulated.phrases import does, follows, upper
from service.simulated.transcript import HeardVoice, latest, plain_value, quoted, voices
from service.simulated.uncertainties import uncertainties


class Given(NamedTuple):
    """An answer, the debaters that gave it last, its passages and their weight together."""

    answer: str
    labels: tuple[str, ...]
    evidence: tuple[BearingSentence, ...]
    weight: float


def ruling(desk: Desk, limit: int) -> Ruling:
    """The final answer over the whole transcript; ``limit`` bounds how many uncertainties are listed."""
    said = voices(desk)
    given = weigh(said)
    struck = sum(len(s.struck) for s in desk.reading.statements)
    if not given:
        return Ruling(conclude(desk).words, f"No debater has answered. {SIMULATED}", "LOW", (SIMULATED,))
    first = given[0]
    others = [g.answer.rstrip(".") for g in given[1:]]
    open_points = [f"the other answer holds ({others[0]})"] if others else []
    return Ruling(
        final_answer=first.answer,
        justification=_justification(first, given[1:]),
        confidence_level=_confidence(first, given, struck),
        explicit_uncertainties=uncertainties(desk, quoted(said), open_points, struck, limit),
    )


def weigh(said: Sequence[HeardVoice]) -> list[Given]:
    """The answers of the last statements, the heaviest first: each passage counts once, and each debater a little."""
    groups: dict[str, list[HeardVoice]] = {}
    for voice in latest(said):
        groups.setdefault(" ".join(str(voice.spoken.body.get("finalAnswer", "")).split()), []).append(voice)
    given = []
    for answer, own in groups.items():
        found = {span(e): e for v in own for w in v.arguments for e in w.evidence}
        evidence = tuple(sorted(found.values(), key=lambda e: (-plain_value(e), e.source_id, e.start)))
        weight = sum(plain_value(e) for e in evidence[:4]) + 1.5 * len(own)
        given.append(Given(answer, tuple(v.label for v in own), evidence, round(weight, 6)))
    return sorted((g for g in given if g.answer), key=lambda g: (-g.weight, g.answer))


def _justification(first: Given, rest: Sequence[Given]) -> str:
    parts = [f"{upper(e.where)} {does(e)}: {follows(e)}." for e in first.evidence[:2]]
    if not first.evidence:
        parts.append("Nothing was quoted for this answer; most voices gave it.")
    against = [e for g in rest for e in g.evidence if e not in first.evidence]
    if against:
        parts.append(
            f"Against it was put {against[0].where}, which {does(against[0])}; it weighs less than what carries it."
        )
    parts.append("Every debater came to this answer." if not rest else "What was shown for it weighs most.")
    return " ".join(parts)


def _confidence(first: Given, given: Sequence[Given], struck: int) -> ConfidenceLevel:
    if len(first.evidence) < 2 or struck > 2:
        return "LOW"
    voices_in_all = sum(len(g.labels) for g in given)
    if len(given) == 1:
        return "HIGH" if sum(e.weight >= 4 for e in first.evidence) >= 3 and voices_in_all > 2 else "MODERATE"
    return "MODERATE" if first.weight > 1.15 * given[1].weight else "LOW"
