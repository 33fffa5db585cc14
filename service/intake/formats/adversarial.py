"""The options of the adversarial format."""

from __future__ import annotations

from service.debate.adversarial import SEATS
from service.debate.amounts import MICRO
from service.debate.model import (
    ROUND_CEILING,
    AdversarialOptions,
    Position,
)
from service.debate.replies import Critique, Framing, Moderation, Proposal, Rebuttal
from service.errors import InvalidCase, did_you_mean
from service.intake.formats.shared import (
    Reading,
    Request,
    default,
    masked,
    reviewed,
    screened,
    swapped,
)
from service.intake.request import CaseRequest, OptionsRequest, terms_of
from service.intake.validation import between, check_text, key
from service.policy import Policy

POSITION_ID_MAX = 40


def _read(request: Request, asked: OptionsRequest, policy: Policy) -> AdversarialOptions:
    rules, until = policy.debate, terms_of(request).until
    rounds = default(asked.max_rounds, 1 if until else _rounds(request, policy))
    between("maxRounds", rounds, 1, 1 if until else ROUND_CEILING)
    strength = default(asked.min_challenge_strength, rules.min_challenge_strength)
    retry_below = default(asked.require_critic_retry_below, rules.require_critic_retry_below)
    between("minChallengeStrength", strength, 1, 10)
    between("requireCriticRetryBelow", retry_below, 1, 10)
    for seat, persona in asked.personas.items():
        pointer = f"/options/personas/{key(seat)}"
        if seat not in SEATS:
            raise InvalidCase(
                f"unknown seat {check_text(seat)}; use one of: {', '.join(SEATS)}{did_you_mean(seat, SEATS)}",
                pointers=(pointer,),
            )
        if not persona.strip():
            raise InvalidCase(
                f"the persona of seat {seat!r} is empty; say who speaks, or leave it out", pointers=(pointer,)
            )
    _positions(asked.positions, policy)
    return AdversarialOptions(
        max_rounds=rounds,
        min_challenge_strength=strength,
        require_critic_retry_below=retry_below,
        human_review=reviewed(request, policy),
        positions=asked.positions,
        personas=asked.personas,
        swapped=swapped(request, policy),
        screened=screened(policy),
        masked=masked(request, policy),
        until=until,
    )


def _rounds(request: Request, policy: Policy) -> int:
    """One round; more where policy marks the case high-stakes, or where evidence is introduced later."""
    rules, downside = policy.debate, request.estimated_downside
    high = request.materiality in rules.high_stakes_materiality or (
        downside is not None and downside.is_finite() and downside * MICRO > rules.high_stakes_downside
    )
    evidence = max((d.round for d in request.documents), default=1) if isinstance(request, CaseRequest) else 1
    return max(rules.high_stakes_rounds if high else rules.rounds, min(evidence, ROUND_CEILING))


def _positions(positions: tuple[Position, ...], policy: Policy) -> None:
    ids = [p.id for p in positions]
    pointer = "/options/positions"
    if len(positions) == 1 or len(positions) > policy.limits.positions or len(set(ids)) != len(ids):
        limit = policy.limits.positions
        raise InvalidCase(
            f"expected two to {limit} positions with distinct ids, found {check_text(ids)}", pointers=(pointer,)
        )
    for i, position in enumerate(positions):
        plain = position.id.replace("-", "").isalnum() and position.id.isascii()
        if not plain or len(position.id) > POSITION_ID_MAX:
            raise InvalidCase(
                f"a position's id has at most {POSITION_ID_MAX} letters, digits and hyphens, found"
                f" {check_text(position.id)}",
                pointers=(f"{pointer}/{i}/id",),
            )
        if not position.text.strip():
            raise InvalidCase("a position needs its text", pointers=(f"{pointer}/{i}/text",))


READING = Reading(
    options=("maxRounds", "minChallengeStrength", "requireCriticRetryBelow", "positions", "personas", "models"),
    read=_read,
    replies={
        "framing": Framing("-", "-", ("-",), ()),
        "proposer": Proposal("-", (), "upheld"),
        "critic": Critique("-", (), 1, "rejected"),
        "rebuttal": Rebuttal("-", (), (), "upheld"),
        "moderator": Moderation((), (), ("-",), True, "-", "LOW", ("-",), "modified"),
    },
    draws=None,
    replaceable=None,
)
