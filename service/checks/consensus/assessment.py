"""Whether a panel has reached consensus after a round, with all measures behind the finding."""

from __future__ import annotations

from collections.abc import Sequence

from service.checks.consensus.chance import beyond_chance
from service.checks.consensus.dimensions import claim_jaccard, dimensions, new_ideas, wording_overlap
from service.checks.consensus.explanation import explain
from service.checks.consensus.transcript import PanelVoice, ShownClaims, Transcript, read
from service.checks.consensus.triggers import unanswered, veto
from service.debate.facts import Facts
from service.debate.findings import DIMENSIONS, ClaimAgreement, ConsensusFound
from service.debate.model import Check

FEWEST = 2
"""The least number of voices: one alone has no agreement."""
SUPPORT = 70
"""The least confidence, in per cent, that every voice needs in a claim that counts as supported by all."""
ALONE = "Fewer than two debaters spoke, and one voice is no consensus."
STRUCK = "Fewer than two debaters have a claim that stands, and an answer alone shows no agreement."


def check_consensus(facts: Facts, check: Check, known: frozenset[str] = frozenset()) -> ConsensusFound:
    """The debaters' agreement after the last round of a check.

    ``known`` are the words of question and documents, which do not count in the word overlap.
    """
    return assess_transcript(read(facts, check), known)


def assess_transcript(t: Transcript, known: frozenset[str] = frozenset()) -> ConsensusFound:
    """The same for a transcript."""
    r = t.rounds
    measured, objections = dimensions(t, r), unanswered(t, r)
    overall = sum(value or 0 for value in measured.values()) // len(measured)
    voices, shown = t.voices(r), t.shown(r)
    why_not = _unheard(t, voices) or veto(t, r)
    terminated = overall >= t.threshold and why_not is None and not objections
    lagging = tuple(name for name in DIMENSIONS if (measured[name] or 0) < t.threshold)
    return ConsensusFound(
        voices=len(voices),
        dimensions=measured,
        overall=overall,
        threshold=t.threshold,
        terminated=terminated,
        lagging=lagging,
        notes=explain(t, r, measured, overall, why_not, objections),
        claims=tuple(_agreement(t, claim, {voice.seat for voice in voices}) for claim in shown),
        claim_jaccard=claim_jaccard(t, r),
        beyond_chance=beyond_chance(shown, [voice.seat for voice in voices]),
        wording_overlap=wording_overlap(t, r, known),
        new_ideas=new_ideas(t, r) if t.kind == "brainstorm" else None,
        unanswered=objections,
    )


def _unheard(t: Transcript, voices: Sequence[PanelVoice]) -> str | None:
    """Why there are too few voices or claims for any consensus, or ``None``."""
    if len(voices) < FEWEST:
        return ALONE
    return STRUCK if sum(bool(t.standing(voice)) for voice in voices) < FEWEST else None


def _agreement(t: Transcript, shown: ShownClaims, voices: set[str]) -> ClaimAgreement:
    """The voices' opinions of a claim; supported if all accept it, surely enough, and a citation is verified."""
    author = next(voice for voice in t.before(t.rounds) if voice.turn == shown.turn)
    cited = any(verdict.verdict == "verified" for verdict in t.verdicts(author).get(shown.claim.n, ()))
    sure = all(opinion.confidence >= SUPPORT for opinion in shown.opinions.values())
    accept = shown.by("accept")
    return ClaimAgreement(
        turn=shown.turn,
        n=shown.claim.n,
        accept=accept,
        reject=shown.by("reject"),
        unsure=shown.by("unsure"),
        supported=cited and sure and len(voices) >= FEWEST and set(accept) == voices,
    )
