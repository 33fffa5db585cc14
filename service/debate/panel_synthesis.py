"""The synthesis of a panel that stands, and the one that was written without the flagged passages beside it.

The synthesizer gives the answer of every panel, so it is the seat that is asked once more. Its answer is in words, in
which code reads little (`service.checks.consensus.opposition`):

    other     code finds that the answers exclude each other; in a brainstorm, that other claims carry the first idea
    the same  the same words; in a brainstorm, the same claims
    unknown   anything else: ``maskedNotCompared``, for a person
"""

from __future__ import annotations

from service.debate.answer_keys import folded
from service.debate.findings import SynthesisFound
from service.debate.masked_decider import masked_reply
from service.debate.model import Check, TurnId, seat_of
from service.debate.replies import Synthesis
from service.debate.script import Script
from service.debate.turns import is_masked, round_of


def synthesis_of(s: Script) -> TurnId | None:
    """The synthesis that stands."""
    turns = (turn for turn in s.facts.said if seat_of(turn) == "synthesizer" and not is_masked(turn))
    return next((s.facts.standing(turn) for turn in turns), None)


def masked_check(s: Script, r: int) -> Check | None:
    """The check whether the two syntheses of a round exclude each other; ``None`` without both."""
    final = synthesis_of(s)
    again = masked_reply(s, final)
    return Check(_name(r), "synthesis", (final, again)) if final and again else None


def opposes_claims(s: Script) -> bool:
    """Whether the synthesis excludes a claim that all debaters accept."""
    final = synthesis_of(s)
    masked = _name(round_of(final)) if final else ""
    found = (finding for check, finding in s.facts.found.items() if check != masked)
    return any(isinstance(finding, SynthesisFound) and bool(finding.opposed) for finding in found)


def is_injection_sensitive(s: Script) -> bool:
    """Whether the synthesizer answered otherwise without the flagged passages."""
    first, again = _both(s)
    if first is None or again is None:
        return False
    final = synthesis_of(s)
    found = s.facts.found.get(_name(round_of(final))) if final else None
    return (isinstance(found, SynthesisFound) and bool(found.opposed)) or _lead(first) != _lead(again)


def is_masked_blurred(s: Script) -> bool:
    """Whether code cannot read if the two syntheses say the same."""
    first, again = _both(s)
    if first is None or again is None or first.ideas:
        return False
    return folded(first.answer) != folded(again.answer)


def masked_synthesis(s: Script) -> str | None:
    """The answer that was written without the flagged passages."""
    _, again = _both(s)
    return again.answer if again else None


def _name(r: int) -> str:
    return f"{r}/masked"


def _both(s: Script) -> tuple[Synthesis | None, Synthesis | None]:
    final = synthesis_of(s)
    first, again = s.reply(final), s.reply(masked_reply(s, final))
    return (first if isinstance(first, Synthesis) else None, again if isinstance(again, Synthesis) else None)


def _lead(synthesis: Synthesis) -> list[tuple[str, int]]:
    """The claims that carry the idea of most debaters, as `panel_result.ranked_ideas` ranks them."""
    carried = [sorted({(claim.label, claim.n) for claim in idea.endorsed_by}) for idea in synthesis.ideas]
    return min(carried, key=lambda claims: _rank([label for label, _ in claims]), default=[])


def _rank(labels: list[str]) -> tuple[int, list[str]]:
    distinct = sorted(set(labels))
    return -len(distinct), distinct
