"""What is refused before anything is written, each with the field named and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal

from service import policy as policies
from service.debate.adversarial import SEATS
from service.debate.model import ROUND_CEILING, AdversarialOptions, Case, Position
from service.debate.money import MICRO, MicroUSD, micro, usd
from service.errors import InvalidCase, TooLarge
from service.intake.request import CaseRequest, GateRequest
from service.policy import Policy

FORMATS = policies.FORMATS
DOCUMENT_ID_MAX = 100
POSITION_ID_MAX = 40
DOLLAR_DIGITS = 15
"""Digits before the point: 10^15 US dollars are more than there are, so whoever says more has mistaken the unit."""
DIGITS_MAX = 40
_SAID_MAX = 80


def known_task(task_type: str, policy: Policy) -> None:
    """Refuse a task type that policy does not know."""
    if task_type not in policy.task_types:
        known = ", ".join(policy.task_types)
        raise InvalidCase(f"unknown taskType {said(task_type)}; use one of: {known}", pointers=("/taskType",))


def known_format(name: str | None, policy: Policy) -> str:
    """The format that is asked for, or policy's."""
    chosen = name or policy.debate.format
    if chosen != "adversarial":
        raise InvalidCase(f"unknown format {said(chosen)}; use one of: adversarial", pointers=("/format",))
    return chosen


def options(request: GateRequest | CaseRequest, policy: Policy) -> AdversarialOptions:
    """The format's options, each from the request or from policy, within their limits."""
    asked, rules = request.options, policy.debate
    rounds = asked.max_rounds if asked.max_rounds is not None else _rounds(request, policy)
    _between("maxRounds", rounds, 1, ROUND_CEILING)
    strength = _default(asked.min_challenge_strength, rules.min_challenge_strength)
    retry_below = _default(asked.require_critic_retry_below, rules.require_critic_retry_below)
    _between("minChallengeStrength", strength, 1, 10)
    _between("requireCriticRetryBelow", retry_below, 1, 10)
    for seat, persona in asked.personas.items():
        known_seat(seat, f"/options/personas/{key(seat)}")
        if not persona.strip():
            raise InvalidCase(
                f"the persona of seat {seat!r} is empty; say who speaks, or leave it out",
                pointers=(f"/options/personas/{seat}",),
            )
    _positions(asked.positions, policy)
    return AdversarialOptions(
        max_rounds=rounds,
        min_challenge_strength=strength,
        require_critic_retry_below=retry_below,
        human_review=request.task_type in rules.human_review,
        positions=asked.positions,
        personas=asked.personas,
    )


def _rounds(request: GateRequest | CaseRequest, policy: Policy) -> int:
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
            f"expected two to {limit} positions with distinct ids, found {said(ids)}", pointers=(pointer,)
        )
    for i, position in enumerate(positions):
        plain = position.id.replace("-", "").isalnum() and position.id.isascii()
        if not plain or len(position.id) > POSITION_ID_MAX:
            raise InvalidCase(
                f"a position's id has at most {POSITION_ID_MAX} letters, digits and hyphens, found {said(position.id)}",
                pointers=(f"{pointer}/{i}/id",),
            )
        if not position.text.strip():
            raise InvalidCase("a position needs its text", pointers=(f"{pointer}/{i}/text",))


def known_seat(seat: str, pointer: str) -> None:
    """Refuse a seat that the table does not have."""
    if seat not in SEATS:
        raise InvalidCase(f"unknown seat {said(seat)}; use one of: {', '.join(SEATS)}", pointers=(pointer,))


def texts(request: GateRequest | CaseRequest, policy: Policy) -> None:
    """Refuse texts that are too long or not Unicode, wherever they stand; documents have limits of their own."""
    for pointer, text, limit in (*_shared_texts(request, policy), *_case_texts(request, policy)):
        _at_most(pointer[1:], text, limit, pointer)
        _unicode(text, pointer)


def _shared_texts(request: GateRequest | CaseRequest, policy: Policy) -> Iterator[tuple[str, str, int]]:
    """Where a text stands, the text, and the most characters that it may have."""
    limits, options = policy.limits, request.options
    yield "/taskType", request.task_type, limits.note_characters
    yield "/singleAgentAnswer", request.single_agent_answer or "", limits.answer_characters
    yield "/force/reason", request.force.reason if request.force else "", limits.note_characters
    for seat, persona in options.personas.items():
        yield f"/options/personas/{key(seat)}", persona, limits.persona_characters
    for i, position in enumerate(options.positions):
        yield f"/options/positions/{i}/text", position.text, limits.question_characters


def _case_texts(request: GateRequest | CaseRequest, policy: Policy) -> Iterator[tuple[str, str, int]]:
    if isinstance(request, GateRequest):
        return
    limits = policy.limits
    yield "/question", request.question, limits.question_characters
    yield "/downsideBasis", request.downside_basis or "", limits.note_characters
    yield "/useCase", request.use_case or "", limits.note_characters
    yield "/intendedUse", request.intended_use or "", limits.note_characters
    for i, document in enumerate(request.documents):
        yield f"/documents/{i}/title", document.title or "", limits.note_characters
    for text in (*request.metadata, *request.metadata.values()):
        yield "/metadata", text, limits.note_characters


def amounts(request: GateRequest | CaseRequest) -> None:
    """Refuse amounts that no arithmetic should be asked to hold; the gate says which of the others have a meaning."""
    given = {"/estimatedDownside": request.estimated_downside, "/confidenceScore": request.confidence_score}
    for pointer, amount in given.items():
        if amount is None or not amount.is_finite():
            continue
        digits, size = len(amount.as_tuple().digits), amount.adjusted()
        if digits > DIGITS_MAX or not -DIGITS_MAX <= size < DOLLAR_DIGITS:
            raise InvalidCase(
                f"{pointer[1:]} must be below 10^{DOLLAR_DIGITS} and have at most {DIGITS_MAX} digits, found {digits} "
                f"of them, the first at 10^{size}; send US dollars, or a share of one",
                pointers=(pointer,),
            )


def sizes(request: CaseRequest, policy: Policy) -> None:
    """Refuse what is empty, too large or not Unicode."""
    limits = policy.limits
    if not request.question.strip():
        raise InvalidCase("question is empty; say what is to be reviewed", pointers=("/question",))
    if not request.documents:
        raise InvalidCase("documents is empty; a debate argues from at least one document", pointers=("/documents",))
    if len(request.documents) > limits.documents:
        raise TooLarge(
            f"expected at most {limits.documents} documents, found {len(request.documents)}; "
            "send those that the question turns on",
            pointers=("/documents",),
        )
    for i, document in enumerate(request.documents):
        pointer = f"/documents/{i}/text"
        name = document.id
        if name and not (name.isprintable() and name.strip() and len(name) <= DOCUMENT_ID_MAX):
            raise InvalidCase(
                f"a document's id has at most {DOCUMENT_ID_MAX} printable characters", pointers=(f"/documents/{i}/id",)
            )
        if not document.text.strip():
            raise InvalidCase(f"document {document.id or i + 1} is empty", pointers=(pointer,))
        _at_most(f"document {document.id or i + 1}", document.text, limits.document_characters, pointer)
        _unicode(document.text, pointer)
    total = sum(len(d.text) for d in request.documents)
    if total > limits.total_characters:
        raise TooLarge(
            f"expected at most {limits.total_characters} characters in all documents, found {total}; "
            "send the parts that the question turns on",
            pointers=("/documents",),
        )
    if len(request.metadata) > limits.metadata:
        raise InvalidCase(
            f"expected at most {limits.metadata} metadata keys, found {len(request.metadata)}", pointers=("/metadata",)
        )


def _at_most(what: str, text: str, limit: int, pointer: str) -> None:
    if len(text) > limit:
        raise TooLarge(f"{what} may have {limit} characters, found {len(text)}; shorten it", pointers=(pointer,))


def _unicode(text: str, pointer: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidCase("the text holds half a surrogate pair; send valid Unicode", pointers=(pointer,)) from None


def said(value: object) -> str:
    """What was found, as far as a message should repeat it."""
    found = repr(value)
    return found if len(found) <= _SAID_MAX else f"{found[:_SAID_MAX]}..."


def key(name: str) -> str:
    """A member's name in a JSON Pointer (RFC 6901), whatever the caller has called it, as far as it is worth saying."""
    plain = name[:_SAID_MAX].encode("utf-8", "backslashreplace").decode()
    return plain.replace("~", "~0").replace("/", "~1")


def deadline(deadline: str | None, now: datetime) -> str | None:
    """The deadline as RFC 3339 in UTC, in the future; PostgreSQL knows fewer offsets than the calendar allows."""
    if deadline is None:
        return None
    at: datetime | None = None
    with suppress(ValueError, OverflowError):
        read = datetime.fromisoformat(deadline)
        at = read.astimezone(UTC) if read.tzinfo else None
    if at is None:
        raise InvalidCase(
            f"deadline must be RFC 3339 with an offset, such as 2027-01-31T17:00:00Z, found {said(deadline)}",
            pointers=("/deadline",),
        )
    if at <= now:
        raise InvalidCase(f"deadline {said(deadline)} has passed", pointers=("/deadline",))
    return at.isoformat()


def evidence(case: Case, options: AdversarialOptions) -> None:
    """Refuse documents of rounds that the debate does not have."""
    rounds = {d.round for d in case.documents}
    if min(rounds) != 1 or max(rounds) > options.max_rounds:
        raise InvalidCase(
            f"documents must begin in round 1 and stay within maxRounds ({options.max_rounds}), "
            f"found rounds {sorted(rounds)}",
            pointers=("/documents",),
        )


def ceiling(asked: Decimal | None, policy: Policy) -> MicroUSD:
    """The most that the debate may cost, in micro-dollars."""
    if asked is None:
        return policy.debate.ceiling
    try:
        ceiling = micro(asked)
    except ValueError as error:
        raise InvalidCase(f"costCeilingUSD: {error}", pointers=("/costCeilingUSD",)) from None
    if not 0 < ceiling <= policy.debate.ceiling_max:
        most = usd(policy.debate.ceiling_max)
        raise InvalidCase(
            f"costCeilingUSD must be above 0 and at most {most}, found {str(asked)[:_SAID_MAX]}",
            pointers=("/costCeilingUSD",),
        )
    return ceiling


def _between(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidCase(f"{name} must be from {low} to {high}, found {value}", pointers=(f"/options/{name}",))


def _default(asked: int | None, policy: int) -> int:
    return policy if asked is None else asked
