"""The common end of debates of all formats: flags, caps on the confidence, human review, unverified citations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from service.debate.alike import alike
from service.debate.findings import CitationsFound, TextsFound
from service.debate.model import (
    Cap,
    Check,
    HumanReview,
    Outcome,
    Status,
    StopReason,
    Turn,
    TurnId,
    ValidationFailure,
)
from service.debate.replies import ConfidenceLevel, statements
from service.debate.results import FormatResult
from service.debate.roster import Roles
from service.debate.script import Script
from service.debate.suspicions import InjectionFound
from service.debate.takes import Compared
from service.debate.turns import MODERATOR, SCREENER, seat_of

INJECTION = Check("case/injection", "injection", ())
"""The check of what came with the case; it is over the screener's turn where that has spoken."""
State = tuple[Status, StopReason, str]
"""How a debate ended: its status, the reason for its stop, and the reason in words."""
LEVELS: tuple[ConfidenceLevel, ...] = ("LOW", "MODERATE", "HIGH")


class Conclusion(Struct, frozen=True):
    """A format's conclusion of a debate: the decider's own level, the turn that states it, and the format's result.

    ``words`` are the turns whose texts carry the outcome: the decider's standing takes, or without one the answers that
    were counted for it. ``takes`` are the deciders' replies that differ.
    """

    level: ConfidenceLevel
    final_turn: TurnId | None
    result: FormatResult | None
    words: tuple[TurnId, ...] = ()
    takes: Compared = Compared()


def end(
    s: Script,
    state: State,
    conclusion: Conclusion,
    *,
    roles: Roles,
    flags: Mapping[str, bool],
    caps: Sequence[tuple[bool, str, ConfidenceLevel]] = (),
) -> Outcome:
    """The outcome of a debate between debaters, with or without a decider.

    The common caps and those of the format lower the level. ``flags`` and ``caps`` are the format's own, and ``roles``
    says which seats must not think alike. The flags ``orderSensitive`` and ``injectionSensitive`` cap at LOW, because
    the decision on the same transcript was different in another order, or without the flagged passages.
    """
    status, reason, detail = state
    failures, near = validation_failures(s), alike(s, roles)
    common = {**common_flags(s, status), **quotation_flags(s, conclusion.words), **conclusion.takes.flags}
    raised = tuple(name for name, holds in {**common, **near.flags, **flags}.items() if holds)
    family: tuple[bool, str, ConfidenceLevel] = (
        near.decider_of_proposers_family,
        "deciderOfDebatersFamily",
        "MODERATE",
    )
    lowered = (
        *common_caps(status, raised, bool(failures)),
        *unverified(s),
        *(Cap(why, at_most) for holds, why, at_most in (*conclusion.takes.caps, *caps, family, *near.caps) if holds),
    )
    level = at_most(conclusion.level, lowered)
    return Outcome(
        status=status,
        stop_reason=reason,
        detail=detail,
        confidence_level=level,
        final_turn=conclusion.final_turn,
        caps=lowered,
        flags=raised,
        critical_validation_failures=failures,
        human_review=human_review(s, lowered, level),
        result=conclusion.result,
        differing=conclusion.takes.differing,
    )


def at_most(level: ConfidenceLevel, caps: Iterable[Cap]) -> ConfidenceLevel:
    """The level that the caps leave: code can only lower it."""
    return min([level, *(cap.at_most for cap in caps)], key=LEVELS.index)


def common_flags(s: Script, status: Status) -> dict[str, bool]:
    """The flags that all formats share."""
    return {
        "DEBATE_TRUNCATED": status == "truncated",
        **screening_flags(s),
        "providerOverrun": s.facts.excess > 0,
        "usageBelowFloor": s.facts.below_floor,
        "fallbackModel": s.used_fallback,
    }


def common_caps(status: Status, flags: Sequence[str], failures: bool) -> tuple[Cap, ...]:
    """The caps on the confidence that all formats share."""
    facts: list[tuple[bool, str, ConfidenceLevel]] = [
        (status == "truncated", "truncated", "LOW"),
        (status in ("failed", "aborted"), "incomplete", "LOW"),
        ("orderSensitive" in flags, "orderSensitive", "LOW"),
        *masked_caps(flags),
        *passage_caps(flags),
        (failures, "criticalValidationFailure", "MODERATE"),
    ]
    return tuple(Cap(reason, level) for holds, reason, level in facts if holds)


def screening_flags(s: Script) -> dict[str, bool]:
    """The flags for what came with the case: passages that speak to a model, and a screener that has not spoken."""
    found = s.facts.found.get(INJECTION.id)
    return {
        "injectionSuspected": isinstance(found, InjectionFound) and found.suspicious,
        "notScreened": s.started.options.screened and not s.said(SCREENER),
    }


def passage_caps(flags: Collection[str]) -> tuple[tuple[bool, str, ConfidenceLevel], ...]:
    """The caps for passages of the case and of replies."""
    return (*screening_caps(flags), *quotation_caps(flags))


def screening_caps(flags: Collection[str]) -> tuple[tuple[bool, str, ConfidenceLevel], ...]:
    """The caps for these flags, which all formats share."""
    return (
        ("injectionSuspected" in flags, "injectionSuspected", "LOW"),
        ("notScreened" in flags, "notScreened", "MODERATE"),
    )


def quotation_flags(s: Script, words: Collection[TurnId]) -> dict[str, bool]:
    """The flags for passages that mislead, in ``words``, which carry the outcome, and in any other reply; for unclear
    ones, in any reply; and for words that carry the outcome and say the opposite of the typed verdict beside them.
    Without documents, that nothing could be compared.

    A first take that a second one replaced does not count.
    """
    misled = {turn for turn in s.facts.said if marked(s, turn) and s.facts.standing(turn) == turn}
    return {
        "inventedQuotation": not misled.isdisjoint(words),
        "unfoundQuotation": not misled <= set(words),
        "unclearQuotation": any(unclear(s, turn) and s.facts.standing(turn) == turn for turn in s.facts.said),
        "wordsOpposeVerdict": any(opposed(s, turn) for turn in words),
        "noDocuments": not s.facts.documented,
        "uncheckedEvidence": any(unchecked(s, turn) and s.facts.standing(turn) == turn for turn in s.facts.said),
    }


def quotation_caps(flags: Collection[str]) -> tuple[tuple[bool, str, ConfidenceLevel], ...]:
    """The caps for these flags, which all formats share."""
    return (
        ("inventedQuotation" in flags, "inventedQuotation", "LOW"),
        ("unfoundQuotation" in flags, "unfoundQuotation", "MODERATE"),
        ("unclearQuotation" in flags, "unclearQuotation", "MODERATE"),
        ("wordsOpposeVerdict" in flags, "wordsOpposeVerdict", "MODERATE"),
        ("noDocuments" in flags, "noDocuments", "MODERATE"),
    )


def masked_caps(flags: Collection[str]) -> tuple[tuple[bool, str, ConfidenceLevel], ...]:
    """The caps for the flags of a decider that was to be asked once more with the flagged passages masked."""
    return (
        ("injectionSensitive" in flags, "injectionSensitive", "LOW"),
        ("maskedUnchecked" in flags, "maskedUnchecked", "MODERATE"),
        ("maskedNotCompared" in flags, "maskedNotCompared", "MODERATE"),
    )


def marked(s: Script, turn: TurnId) -> bool:
    """Whether a turn's texts have a passage that misleads: words that a strong form gives as another's, who has not
    said them."""
    found = s.facts.found.get(f"{turn}/texts")
    return isinstance(found, TextsFound) and bool(found.marked)


def unclear(s: Script, turn: TurnId) -> bool:
    """Whether a turn's texts have words of which code cannot say that they are given as a document's."""
    found = s.facts.found.get(f"{turn}/texts")
    return isinstance(found, TextsFound) and any(passage.unclear for passage in found.passages)


def opposed(s: Script, turn: TurnId) -> bool:
    """Whether a sentence of a turn says the opposite of its own typed verdict."""
    found = s.facts.found.get(f"{turn}/texts")
    return isinstance(found, TextsFound) and any(passage.opposed for passage in found.passages)


def unchecked(s: Script, turn: TurnId) -> bool:
    """Whether a turn quotes, cites or claims evidence in a case without documents, where code can compare nothing."""
    if s.facts.documented:
        return False
    found, said = s.facts.found.get(f"{turn}/texts"), statements(s.facts.said[turn])
    passages = found.passages if isinstance(found, TextsFound) else ()
    claimed = any(argument.citations or argument.basis == "evidence" for argument in said)
    return claimed or any(passage.unchecked for passage in passages)


def human_review(s: Script, caps: Sequence[Cap], level: ConfidenceLevel) -> HumanReview:
    """Whether a person has to decide, because of a cap, a low confidence, money that was not held, or policy.

    An overrun says nothing about the answer, so it lowers no confidence.
    """
    reasons = [cap.reason for cap in caps]
    reasons += ["confidenceLow"] if level == "LOW" else []
    reasons += ["providerOverrun"] if s.facts.excess > 0 else []
    reasons += ["moderatorTilt"] if _moderated_by_one_that_tilts(s) else []
    reasons += ["policy"] if s.started.options.human_review else []
    return HumanReview(bool(reasons), tuple(reasons))


def _moderated_by_one_that_tilts(s: Script) -> bool:
    """Whether a model spoke a moderation whose recorded tilt stood when the debate began."""
    tilted = {tilt.model for tilt in s.started.tilts}
    return any(seat_of(turn) == MODERATOR and s.facts.spoke(turn) in tilted for turn in s.facts.said)


def unverified(s: Script) -> tuple[Cap, ...]:
    """The cap if no standing argument rests on a verified citation: agreement of models is no evidence by itself.

    If every argument is struck, the decider had no basis for its decision. A case without documents has a cap of its
    own.
    """
    if not s.facts.documented:
        return ()
    found = [a for f in s.facts.found.values() if isinstance(f, CitationsFound) for a in f.arguments]
    standing = [a for a in found if not a.struck]
    if not found or any(v.verdict == "verified" for a in standing for v in a.verdicts):
        return ()
    return (Cap("nothingVerified", "MODERATE" if standing else "LOW"),)


def validation_failures(s: Script) -> tuple[ValidationFailure, ...]:
    """Every citation that is not verified and all evidence without one, in the order of the turns' ids."""
    failures = []
    for turn in sorted(s.facts.said):
        found = s.facts.found.get(f"{turn}/citations")
        quotes = {a.n: a.citations for a in statements(s.facts.said[turn])}
        for argument in found.arguments if isinstance(found, CitationsFound) else ():
            if argument.struck == "uncited":
                failures.append(ValidationFailure(turn, argument.n, "uncited"))
            for citation, verdict in zip(quotes[argument.n], argument.verdicts, strict=True):
                match verdict.verdict:
                    case "altered" | "too_short" | "not_found" as reason:
                        named = citation.quote, citation.source_id, verdict.found_in
                        failures.append(ValidationFailure(turn, argument.n, reason, *named))
                    case "verified" | "unchecked":
                        pass
    return tuple(failures)


def citations(turn: TurnId) -> Check:
    """The check of a turn's citations."""
    return Check(f"{turn}/citations", "citations", (turn,))


def texts(turn: Turn) -> Check:
    """The check of what a turn's texts quote, over the replies that it was shown and its own, which is the last."""
    return Check(f"{turn.id}/texts", "texts", (*turn.sees, turn.id))
