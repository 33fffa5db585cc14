"""The refusals of a request before anything is written, each with the field and the remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import TypeVar

from msgspec.structs import replace

from service.debate.amounts import MicroUSD, micro, usd
from service.debate.model import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Options,
    PanelOptions,
    StancesOptions,
)
from service.debate.neutral import neutral
from service.debate.options import format_of
from service.debate.purpose import PROBE, PURPOSE, is_probe
from service.errors import Faults, InvalidCase, TooLarge, did_you_mean
from service.intake.request import CaseRequest, DocumentRequest, GateRequest, OptionsRequest, document_ids, terms_of
from service.policy import AUTO, FORMATS, ChosenFormat, Policy, seating
from service.policy.task_types import read_type

Request = TypeVar("Request", bound=GateRequest | CaseRequest)
DOCUMENT_ID_MAX = 100
NAME_MAX = 100
"""Characters of a debater's name, and of the id of a prompt."""
VOTE_MAX = 200
"""Characters of an option to vote for: as many as a reply may write."""
DOLLAR_DIGITS = 15
"""Digits before the point: 10^15 US dollars are more than there are, so a larger amount has the wrong unit."""
DIGITS_MAX = 40
_SAID_MAX = 80


def typed(request: Request, policy: Policy) -> tuple[Request, str | None]:
    """The request under a task type that policy knows, and the caller's own where policy puts another in its place.

    A type that is a slip, or that policy refuses or declines, stays; the gate says so.
    """
    outcome, known = read_type(request.task_type, policy.gate)
    if outcome != "mapped":
        return request, None
    return replace(request, task_type=known), request.task_type


def known_format(request: GateRequest | CaseRequest, policy: Policy) -> ChosenFormat:
    """The format that is asked for, or policy's, whose seats policy fills."""
    asked, usable = request.format, ", ".join((*policy.offered, AUTO))
    if asked is not None and asked not in (*FORMATS, AUTO):
        meant = did_you_mean(asked, (*FORMATS, AUTO))
        raise InvalidCase(
            f"unknown format {check_text(asked)}; use one of: {usable}{meant}", pointers=("/options/format",)
        )
    chosen = seating.SEATING.choose_format(policy, asked, request.task_type)
    if missing := policy.missing(chosen.name):
        raise InvalidCase(
            f"the format {chosen.name!r} needs seats that policy does not fill; use one of: {usable}, or add "
            f"{', '.join(f'seats.{seat}' for seat in missing)} to the policy",
            pointers=("/options/format",),
        )
    return chosen


def texts(request: GateRequest | CaseRequest, policy: Policy) -> None:
    """Refuse texts that are too long or not plain Unicode, wherever they stand; documents have limits of their own."""
    faults = Faults()
    for pointer, text, limit in (*_shared_texts(request, policy), *_case_texts(request, policy)):
        with faults.noted():
            _at_most(pointer[1:], text, limit, pointer)
            plain(text, pointer)
    faults.refuse()


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
    yield "/options/instructions", options.instructions or "", limits.persona_characters
    yield "/options/debaterInstructions", options.debater_instructions or "", limits.persona_characters
    yield "/options/judgeInstructions", options.judge_instructions or "", limits.persona_characters
    for i, vote in enumerate(options.votes or ()):
        yield f"/options/votes/{i}", vote, VOTE_MAX
    yield from _debaters_texts(options, policy)


def _debaters_texts(options: OptionsRequest, policy: Policy) -> Iterator[tuple[str, str, int]]:
    for i, debater in enumerate(options.debaters if isinstance(options.debaters, tuple) else ()):
        pointer = f"/options/debaters/{i}"
        yield f"{pointer}/name", debater.name, NAME_MAX
        yield f"{pointer}/stance", debater.stance, policy.limits.note_characters
        yield f"{pointer}/role", debater.role or "", policy.limits.persona_characters
        yield f"{pointer}/prompt", debater.prompt or "", NAME_MAX


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


def purpose(request: CaseRequest, *, probe: bool) -> None:
    """Refuse a case that poses as the prober's, and one of the prober's tenant (``probe``) that does not say so."""
    if is_probe(request.metadata) is probe:
        return
    raise InvalidCase(
        f'metadata.{PURPOSE} is "{PROBE}" in the cases of the prober\'s tenant, and '
        + (
            "this is that tenant: simulated models decide here; bring a case of your own under another tenant"
            if probe
            else "this is another: simulated models decide there; leave it out"
        ),
        pointers=("/metadata",),
    )


def terms(request: CaseRequest | GateRequest, options: Options) -> None:
    """Refuse an end of the debate that only another format has."""
    own, found = terms_of(request), format_of(options)
    if own.until and not isinstance(options, AdversarialOptions):
        raise InvalidCase(f"until belongs to the adversarial format, and this item asks for {found!r}")
    if own.drafts and not isinstance(options, BallotOptions):
        raise InvalidCase(f"drafts belong to a ballot, and this item asks for {found!r}")


def amounts(request: GateRequest | CaseRequest) -> None:
    """Refuse amounts that no arithmetic should be asked to hold; the gate says which of the others have a meaning."""
    faults = Faults()
    given = {"/estimatedDownside": request.estimated_downside, "/confidenceScore": request.confidence_score}
    for pointer, amount in given.items():
        with faults.noted():
            _amount(pointer, amount)
    faults.refuse()


def comparable(request: Request) -> Request:
    """The request for the checks that compute with its amounts: one that `amounts` refuses counts as none there."""
    with suppress(InvalidCase):
        amounts(request)
        return request
    return replace(request, estimated_downside=Decimal(0), confidence_score=None)


def _amount(pointer: str, amount: Decimal | None) -> None:
    if amount is None or not amount.is_finite():
        return
    digits, size = len(amount.as_tuple().digits), amount.adjusted()
    if digits > DIGITS_MAX or not -DIGITS_MAX <= size < DOLLAR_DIGITS:
        raise InvalidCase(
            f"{pointer[1:]} must be below 10^{DOLLAR_DIGITS} and have at most {DIGITS_MAX} digits, found {digits} "
            f"of them, the first at 10^{size}; send US dollars, or a share of one",
            pointers=(pointer,),
        )


def sizes(request: CaseRequest, policy: Policy) -> None:
    """Refuse what is empty, too large or not plain Unicode."""
    limits, faults = policy.limits, Faults()
    with faults.noted():
        if not request.question.strip():
            raise InvalidCase("question is empty; say what is to be reviewed", pointers=("/question",))
    with faults.noted():
        _documents(request, policy)
    for i, document in enumerate(request.documents[: limits.documents]):
        with faults.noted():
            _document_id(document, i)
        with faults.noted():
            _document(document, i, limits.document_characters)
    with faults.noted():
        if len(request.metadata) > limits.metadata:
            raise InvalidCase(
                f"expected at most {limits.metadata} metadata keys, found {len(request.metadata)}",
                pointers=("/metadata",),
            )
    faults.refuse()


def _documents(request: CaseRequest, policy: Policy) -> None:
    limits = policy.limits
    if len(request.documents) > limits.documents:
        raise TooLarge(
            f"expected at most {limits.documents} documents, found {len(request.documents)}; "
            "send those that the question turns on",
            pointers=("/documents",),
        )
    total = sum(len(d.text) for d in request.documents)
    if total > limits.total_characters:
        raise TooLarge(
            f"expected at most {limits.total_characters} characters in all documents, found {total}; "
            "send the parts that the question turns on",
            pointers=("/documents",),
        )
    if twice := [name[:_SAID_MAX] for name, times in Counter(document_ids(request)).items() if times > 1]:
        raise InvalidCase(
            f"documents must have distinct ids, found {twice[:5]} more than once", pointers=("/documents",)
        )


def _document_id(document: DocumentRequest, i: int) -> None:
    name = document.id
    if name and not (name.isprintable() and name.strip() and neutral(name) == name and len(name) <= DOCUMENT_ID_MAX):
        raise InvalidCase(
            f"a document's id has at most {DOCUMENT_ID_MAX} printable characters, all of them visible",
            pointers=(f"/documents/{i}/id",),
        )


def _document(document: DocumentRequest, i: int, limit: int) -> None:
    pointer = f"/documents/{i}/text"
    if not document.text.strip():
        raise InvalidCase(f"document {document.id or i + 1} is empty", pointers=(pointer,))
    _at_most(f"document {document.id or i + 1}", document.text, limit, pointer)
    plain(document.text, pointer)


def _at_most(what: str, text: str, limit: int, pointer: str) -> None:
    if len(text) > limit:
        raise TooLarge(f"{what} may have {limit} characters, found {len(text)}; shorten it", pointers=(pointer,))


def plain(text: str, pointer: str) -> None:
    """Refuse half a surrogate pair, which has no bytes, and a NUL.

    The database's text type holds no NUL, and many readers end a text at one: two readers of one record would not see
    the same question.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidCase(
            f"the text holds half a surrogate pair, {_place(text, error.start)}; send valid Unicode",
            pointers=(pointer,),
        ) from None
    if (nul := text.find("\0")) >= 0:
        raise InvalidCase(
            f"the text holds a NUL character (U+0000), {_place(text, nul)}; leave it out, or send the text that it "
            "stands for",
            pointers=(pointer,),
        )


def _place(text: str, at: int) -> str:
    """Where a character of a text is: its line and column from 1, and how many characters come before it."""
    before = text[:at]
    column = at - before.rfind("\n")
    return f"at line {before.count(chr(10)) + 1}, column {column} of the text (after {at} characters)"


def check_text(value: object) -> str:
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
            f"deadline must be RFC 3339 with an offset, such as 2027-01-31T17:00:00Z, found {check_text(deadline)}",
            pointers=("/deadline",),
        )
    if at <= now:
        raise InvalidCase(f"deadline {check_text(deadline)} has passed", pointers=("/deadline",))
    return at.isoformat()


def documented(request: CaseRequest, chosen: ChosenFormat, policy: Policy) -> None:
    """Refuse a case without documents in a format that does not take it, by policy."""
    if request.documents or policy.undocumented(chosen.name):
        return
    others = ", ".join(name for name in policy.offered if policy.undocumented(name)) or "none has its seats filled"
    why = f" ({chosen.reason})" if chosen.reason else "" if request.format else " (the policy's usual format)"
    raise InvalidCase(
        f"documents is empty, and the format {chosen.name!r}{why} argues from at least one document; send documents, "
        f"ask for one of the formats that take a case without them ({others}), or have the "
        'policy say debate.adversarial_without_documents = "allowed"',
        pointers=("/documents",),
    )


def evidence(request: CaseRequest, options: Options) -> None:
    """Refuse documents of rounds that the debate does not have; only the adversarial format brings any later."""
    rounds = {d.round for d in request.documents}
    if not rounds:
        return
    match options:
        case AdversarialOptions():
            if min(rounds) != 1 or max(rounds) > options.max_rounds:
                raise InvalidCase(
                    f"documents must begin in round 1 and stay within maxRounds ({options.max_rounds}), "
                    f"found rounds {sorted(rounds)}",
                    pointers=("/documents",),
                )
        case StancesOptions() | BallotOptions() | PanelOptions() | ConvergenceOptions():
            if rounds != {1}:
                raise InvalidCase(
                    f"documents of a later round belong to the adversarial format, found rounds {sorted(rounds)}; "
                    "leave out round, or ask for that format",
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


def between(name: str, value: int, low: int, high: int) -> None:
    """Refuse an option that is out of its range."""
    if not low <= value <= high:
        raise InvalidCase(f"{name} must be from {low} to {high}, found {value}", pointers=(f"/options/{name}",))
