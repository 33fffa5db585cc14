"""The dimensions of consensus that lag, with reasons, in words: for readers, and never parsed by code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from service.checks.consensus.dimensions import new_ideas, spread
from service.checks.consensus.transcript import Transcript
from service.debate.findings import Dimension, Veto
from service.debate.replies.panel import Framework, Stance

_STANCES: Mapping[Stance, str] = {
    "affirmative": "yes",
    "qualified": "yes under conditions",
    "negative": "no",
    "open": "neither yes nor no",
}
_FRAMEWORKS: Mapping[Framework, str] = {
    "textual": "the words of the documents",
    "empirical": "data",
    "riskAssessment": "risks",
    "costBenefit": "costs against benefits",
    "consequences": "consequences",
    "rightsAndDuties": "rights and duties",
    "precedent": "precedent",
    "other": "something else",
}


def explain(
    t: Transcript, r: int, measured: Mapping[Dimension, int | None], overall: int, against: Sequence[Veto]
) -> str:
    """The differences between the debaters, dimension by dimension, or a sentence that there are none."""
    reached = "reaches" if overall >= t.threshold else "is below"
    parts = [f"Overall {decimal(overall)} {reached} {decimal(t.threshold)}."]
    for name in t.uses:
        value = measured[name]
        if (value or 0) < t.threshold:
            level = "is undefined and does not count" if value is None else f"is {decimal(value)}"
            parts.append(f"{name.replace('_', ' ').capitalize()} {level}: {_REASONS[name](t, r)}.")
    if against and overall >= t.threshold:
        parts.append("It is no consensus all the same.")
    return " ".join((*parts, *(veto.text for veto in against)))


def decimal(per_mille: int) -> str:
    """A share as the reference writes it: ``0.80``; a third digit only where there is one."""
    text = f"{per_mille // 1_000}.{per_mille % 1_000:03d}"
    return text.removesuffix("0")


def _stance(t: Transcript, r: int) -> str:
    voices = t.voices(r)
    if t.kind == "brainstorm":
        fresh = new_ideas(t, r)
        return f"{decimal(fresh)} of the claims say something new" if fresh is not None else "no round came before"
    if t.kind == "prediction":
        given = [(voice.label, voice.reply.probability) for voice in voices]
        return _and([f"{label} says {p.low} to {p.high} %" if p else f"{label} says nothing" for label, p in given])
    said = _and([f"{voice.label} answers {_STANCES[voice.reply.stance]}" for voice in voices])
    rejected = sum(bool(claim.by("reject")) for claim in t.shown(r))
    unsure = sum(bool(claim.by("unsure")) for claim in t.shown(r))
    marks = f"; {rejected} of {len(t.shown(r))} claims are rejected by somebody, {unsure} left unsure"
    return said + (marks if rejected or unsure else "")


def _empirical(t: Transcript, r: int) -> str:
    shown = t.shown(r)
    quoted = sum(bool(t.spans(voice)) for voice in t.voices(r))
    if not shown:
        return "no claim has been marked yet, and code finds few or none alike that rest on one verified passage"
    voices = {voice.seat for voice in t.voices(r)}
    accepted = sum(voices <= set(claim.by("accept")) for claim in shown)
    claims = f"all accept {accepted} of {len(shown)} claims, and "
    return f"{claims}{quoted} of {len(voices)} rest on verified passages, which overlap in part at most"


def _framework(t: Transcript, r: int) -> str:
    return _and([f"{voice.label} reasons by {_FRAMEWORKS[voice.reply.framework]}" for voice in t.voices(r)])


def _confidence(t: Transcript, r: int) -> str:
    voices = sorted(t.voices(r), key=lambda voice: (voice.reply.overall_confidence, voice.label))
    if len(voices) < 2:
        return "there is only one voice"
    low, high = voices[0], voices[-1]
    said = f"{low.label} is {low.reply.overall_confidence} % sure and {high.label} {high.reply.overall_confidence} %"
    earlier = [voice for voice in t.voices(r - 1) if voice.seat in {v.seat for v in voices}]
    grown = len(earlier) == len(voices) and spread(voices) > spread(earlier)
    return said + (", further apart than in the round before" if grown else "")


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else "nobody speaks"


_REASONS: Mapping[Dimension, Callable[[Transcript, int], str]] = {
    "stance_alignment": _stance,
    "empirical_overlap": _empirical,
    "framework_agreement": _framework,
    "confidence_convergence": _confidence,
}
