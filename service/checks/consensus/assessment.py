"""Whether a panel has reached consensus after a round, with all measures behind the finding."""

from __future__ import annotations

from service.checks.consensus.chance import beyond_chance
from service.checks.consensus.dimensions import (
    claim_jaccard,
    counted,
    dimensions,
    new_ideas,
    overall,
    wording_overlap,
)
from service.checks.consensus.explanation import explain
from service.checks.consensus.transcript import ShownClaims, Transcript, read
from service.checks.consensus.triggers import FEWEST, all_opposed, unanswered, vetoes
from service.debate.facts import Facts
from service.debate.findings import ClaimAgreement, ConsensusFound
from service.debate.model import Check

SUPPORT = 70
"""The least confidence, in per cent, that every voice needs in a claim that counts as supported by all."""


def check_consensus(facts: Facts, check: Check, known: frozenset[str] = frozenset()) -> ConsensusFound:
    """The debaters' agreement after the last round of a check.

    ``known`` are the words of question and documents, which do not count in the word overlap.
    """
    return assess_transcript(read(facts, check), known)


def assess_transcript(t: Transcript, known: frozenset[str] = frozenset()) -> ConsensusFound:
    """The same for a transcript."""
    r = t.rounds
    measured, against = dimensions(t, r), vetoes(t, r)
    score, voices, shown = overall(t, r, measured), t.voices(r), t.shown(r)
    terminated = score >= t.threshold and not against
    # The reference lists what lags only if the debate goes on.
    lagging = () if terminated else tuple(name for name in t.uses if (measured[name] or 0) < t.threshold)
    return ConsensusFound(
        voices=len(voices),
        dimensions=measured,
        overall=score,
        threshold=t.threshold,
        terminated=terminated,
        lagging=lagging,
        notes=explain(t, r, measured, score, against),
        claims=tuple(_agreement(t, claim, {voice.seat for voice in voices}) for claim in shown),
        claim_jaccard=claim_jaccard(t, r),
        beyond_chance=beyond_chance(shown, [voice.seat for voice in voices]),
        wording_overlap=wording_overlap(t, r, known),
        new_ideas=new_ideas(t, r) if t.kind == "brainstorm" else None,
        unanswered=unanswered(t, r),
        counted=counted(t, measured),
        vetoes=against,
        opposed=all_opposed(t, r),
    )


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
