"""A panel's synthesis beside the claims that its debaters accept: a synthesis must not say the opposite of them.

    accepted      the claims in the last round's requests that every voice accepts, its author among them; a claim that
                  its author's last answer excludes has been corrected and is left out. Where no claim was marked, as
                  after the blind round, the claims of that round
    excluded      a sentence of the synthesis and the claim exclude each other (`opposition`)

    without       the synthesis that was written without the flagged passages of the case: whether the two answers
                  exclude each other

The ideas of a brainstorm stand beside each other, so nothing is compared there.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.checks.consensus.dimensions import ANSWER
from service.checks.consensus.matter import Compared
from service.checks.consensus.opposition import contradicts, contrary, opposed
from service.checks.consensus.transcript import Transcript, read
from service.debate.facts import Facts
from service.debate.findings import NamedClaims, SynthesisFound
from service.debate.model import Check, TurnId
from service.debate.replies import Synthesis
from service.debate.turns import is_masked


def check_synthesis(facts: Facts, check: Check) -> SynthesisFound:
    """The accepted claims that a synthesis excludes; it is the reply of the check's last turn."""
    turn = check.over[-1]
    reply = facts.said[turn]
    if is_masked(turn):
        return _compare_masked(facts, check)
    answer = reply.answer if isinstance(reply, Synthesis) else ""
    return compare_synthesis(read(facts, check), turn, answer)


def _compare_masked(facts: Facts, check: Check) -> SynthesisFound:
    """Whether the synthesis excludes the one that was written without the flagged passages."""
    first, again = (facts.said[turn] for turn in check.over)
    kind = read(facts, check).kind
    if kind == "brainstorm" or not (isinstance(first, Synthesis) and isinstance(again, Synthesis)):
        return SynthesisFound(())
    apart = contrary(first.answer, again.answer, predicts=kind == "prediction")
    pair = NamedClaims((check.over[1], check.over[0]), (ANSWER, ANSWER))
    return SynthesisFound((pair,) if apart else ())


def compare_synthesis(t: Transcript, turn: TurnId, answer: str) -> SynthesisFound:
    """The same for a transcript."""
    predicts = t.kind == "prediction"
    claims = () if t.kind == "brainstorm" else _accepted(t)
    return SynthesisFound(
        tuple(
            NamedClaims((turn, author), (ANSWER, n))
            for author, n, claim in claims
            if contradicts(answer, claim, predicts=predicts)
        )
    )


def _accepted(t: Transcript) -> Iterator[tuple[TurnId, int, Compared]]:
    """The claims that every voice of the last round accepts, with their turns and numbers."""
    r = t.rounds
    voices, shown = t.voices(r), t.shown(r)
    if not shown:
        yield from ((voice.turn, n, claim) for voice in voices for n, claim in t.compared(voice).items())
        return
    seats = {voice.seat for voice in voices}
    compared = {voice.turn: t.compared(voice) for voice in t.before(r)}
    last = {voice.seat: t.compared(voice).values() for voice in voices}
    for one in shown:
        claim = compared[one.turn][one.claim.n]
        corrected = any(opposed(claim, now) for now in last.get(one.author, ()))
        if seats <= set(one.by("accept")) and not corrected:
            yield one.turn, one.claim.n, claim
