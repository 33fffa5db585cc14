"""Every error that Gainsay raises on purpose, with a stable code and an HTTP status.

A message says what was expected, what was found and what to do next. It never holds a secret, a prompt's text or a
document's text. Folders may add subclasses; no other exception leaves a public function.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

SLIP_MAX = 2
"""So many letters more, fewer or other than a known name are a slip."""


class GainsayError(Exception):
    """The base of all deliberate errors.

    Clients branch on ``code``, which is stable across releases. ``status`` is the HTTP status. ``pointers`` name the
    fields of a request that the error is about, as JSON Pointers (RFC 6901).
    """

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Something went wrong inside the service"

    def __init__(self, detail: str, *, pointers: tuple[str, ...] = (), retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.pointers = pointers
        self.retry_after = retry_after
        self._parts: tuple[GainsayError, ...] = ()

    @property
    def parts(self) -> tuple[GainsayError, ...]:
        """The faults of which this is made, or the error itself."""
        return self._parts or (self,)

    @property
    def public_detail(self) -> str:
        """The message for callers: the detail, unless it names internals of the service."""
        return self.detail

    def anew(self) -> Self:
        """A fresh copy to raise again: a raised exception keeps its traceback, and every frame of it, alive."""
        error = type(self).__new__(type(self), *self.args)
        error.__dict__.update(self.__dict__)
        return error


class BadRequest(GainsayError):
    """The request cannot be read: a body that is no JSON, a parameter that is none."""

    code = "bad_request"
    status = 400
    title = "The request cannot be read"


class RequestTimeout(GainsayError):
    """The body of a request did not arrive in time; no part of it was read."""

    code = "request_timeout"
    status = 408
    title = "The request did not come in time"


class InvalidCase(GainsayError):
    """The request can be read, but the service refuses what it asks for."""

    code = "invalid_case"
    status = 422
    title = "The case is not valid"


class WrongShape(InvalidCase):
    """The body is JSON of another shape: a value of a wrong type, an unknown or a missing member."""

    code = "wrong_shape"
    title = "The body has another shape"


class TooLarge(GainsayError):
    """A question, a document or a body is above its limit."""

    code = "too_large"
    status = 413
    title = "The request is too large"


class AddressTooLong(GainsayError):
    """The address of a request is longer than the server reads."""

    code = "address_too_long"
    status = 414
    title = "The address is too long"


class HeadTooLarge(GainsayError):
    """A request has too many headers, or too many bytes of them."""

    code = "headers_too_large"
    status = 431
    title = "The headers are too large"


class RateLimited(GainsayError):
    """A caller asks more often than its rate allows, or holds its share of connections; nothing is recorded."""

    code = "rate_limited"
    status = 429
    title = "The caller's rate is used up"


class _Noting:
    """Notes the refusals that are raised inside it."""

    def __init__(self, found: list[GainsayError]) -> None:
        self._found = found

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> bool:
        if not isinstance(raised, InvalidCase | TooLarge):
            return False
        self._found.append(raised)
        return True


FAULTS_MAX = 50
"""Faults that one refusal lists."""


class Faults:
    """Collects the faults of a request, so that one refusal lists all of them."""

    def __init__(self) -> None:
        self.found: list[GainsayError] = []

    def noted(self) -> _Noting:
        """Notes a refusal that is raised inside, and goes on after it."""
        return _Noting(self.found)

    def refuse(self) -> None:
        """Raise what was noted: the fault itself, or one error with all of them as its ``parts``."""
        if self.found:
            raise together([part for refusal in self.found for part in refusal.parts])


def together(parts: Sequence[GainsayError]) -> GainsayError:
    """One error of several faults: of their own kind where all are of one, else `InvalidCase`.

    It lists the first fault of each field, and at most `FAULTS_MAX`.
    """
    listed: list[GainsayError] = []
    fields: set[str] = set()
    for part in parts:
        if len(listed) < FAULTS_MAX and (not part.pointers or not fields.issuperset(part.pointers)):
            listed.append(part)
            fields.update(part.pointers)
    if len(listed) == 1:
        return listed[0]
    kinds = {type(part) for part in listed}
    kind = kinds.pop() if len(kinds) == 1 else InvalidCase
    details = "; ".join(f"({i}) {part.detail}" for i, part in enumerate(listed, start=1))
    pointers = tuple(dict.fromkeys(pointer for part in listed for pointer in part.pointers))
    whole = kind(f"{len(listed)} faults: {details}", pointers=pointers)
    whole._parts = tuple(listed)
    return whole


class CeilingTooSmall(InvalidCase):
    """The ceiling cannot pay for the first turn and the closing."""

    code = "ceiling_too_small"
    title = "The cost ceiling cannot pay for a debate"


class BudgetExhausted(GainsayError):
    """The rest of a tenant's limit for the day or month does not pay for a debate.

    ``limit`` is ``tenantDay`` or ``tenantMonth``, of an item of an evaluation ``evaluationDay`` or ``evaluationMonth``,
    which no caller is answered. ``left`` is what remains of it in micro-dollars; it is below zero
    after a vendor billed above a reservation. ``ends`` is when its period ends, as RFC 3339 in UTC. ``ever``: waiting
    can help, since the whole limit would pay.
    """

    code = "budget_exhausted"
    status = 402
    title = "The tenant's budget is used up"

    def __init__(self, detail: str, *, limit: str, left: int, ends: str, retry_after: int, ever: bool = True) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.ever = ever
        self.limit = limit
        self.left = left
        self.ends = ends


class NotFound(GainsayError):
    """The thing does not exist, or not for this caller."""

    code = "not_found"
    status = 404
    title = "Not found"


class Unauthenticated(GainsayError):
    """The request names no caller that the service knows.

    ``presented`` says whether a credential came with it, and was refused (RFC 6750, 3.1).
    """

    code = "unauthenticated"
    status = 401
    title = "The caller is not known"

    def __init__(self, detail: str, *, presented: bool = False) -> None:
        super().__init__(detail)
        self.presented = presented


class Forbidden(GainsayError):
    """The caller is known, and what it asks for needs a scope that it does not have.

    ``scope`` is that scope, and empty where none would let the request in.
    """

    code = "forbidden"
    status = 403
    title = "The caller may not do this"

    def __init__(self, detail: str, *, scope: str = "") -> None:
        super().__init__(detail)
        self.scope = scope


class IdentityUnavailable(GainsayError):
    """The keys of an identity provider are not known, so none of its tokens can be verified; no caller is let in."""

    code = "identity_unavailable"
    status = 503
    title = "The identity provider does not answer"


class SettingsError(GainsayError):
    """A setting is unknown, missing or wrong; the service does not start."""

    code = "bad_settings"
    title = "The settings cannot be used"


class NotApproved(SettingsError):
    """A configuration lacks the approval that its policy requires, or has one that does not hold."""


class PromptMismatch(GainsayError):
    """A prompt's bytes are not those of its pin; no call is made."""

    code = "prompt_changed"
    status = 503
    title = "A prompt does not match its pin"


class StoreUnavailable(GainsayError):
    """PostgreSQL cannot be reached, or refuses a statement; nothing was written."""

    code = "store_unavailable"
    status = 503
    title = "The database is not available"


class AuditUnavailable(GainsayError):
    """A record could not be written, so the step that it stands for was not taken."""

    code = "audit_unavailable"
    status = 503
    title = "The audit log cannot be written"


class QueueFull(GainsayError):
    """The queue has as many debates as it may have; nothing is recorded."""

    code = "queue_full"
    status = 503
    title = "Too many debates wait"


class Overloaded(GainsayError):
    """This process serves as many requests as it can; nothing is recorded. Another process may have capacity."""

    code = "overloaded"
    status = 503
    title = "Too many requests at once"


class IdempotencyKeyReused(GainsayError):
    """The key was used for another case; nothing is recorded."""

    code = "idempotency_key_reused"
    status = 422
    title = "The idempotency key belongs to another case"


class IdempotencyInProgress(GainsayError):
    """The case was accepted under this key before, and its debate has no result yet; ``debate`` is its id."""

    code = "idempotency_in_progress"
    status = 409
    title = "The case of this idempotency key is under way"

    def __init__(self, detail: str, *, debate: str, retry_after: int) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.debate = debate


class NotProvable(GainsayError):
    """The decision is durable, but no checkpoint covers it yet, so the answer is held."""

    code = "not_provable"
    status = 503
    title = "The answer is held until the log proves it"


class IllegalEntry(GainsayError):
    """An entry is not legal after the entries before it; the debate stays as it was."""

    code = "illegal_entry"
    title = "The entries do not follow from each other"


class EvidenceDamaged(GainsayError):
    """What is stored of a debate is not what was recorded, so nothing of the debate is shown or continued.

    ``debate`` and ``place`` name the damage: a record by its number, the context, a document, the head row.
    """

    code = "evidence_damaged"
    title = "Stored evidence is not what was recorded"

    def __init__(self, debate: str, place: str, what: str) -> None:
        super().__init__(
            f"debate {debate} is damaged: {place} {what}. Nothing of it is shown, continued or handed out until it is "
            "restored. Keep the database as it is, find out who changed what, and restore the rows from a backup or "
            "from a bundle that verifies (docs/runbook.md, *Evidence is damaged*)"
        )
        self.debate, self.place = debate, place


class IncompleteFormat(GainsayError):
    """A layer does not know one of the formats, so the service does not start."""

    code = "incomplete_format"
    title = "A format is not complete"


class Fenced(GainsayError):
    """Another worker, or an abort, has written to this debate since it was read; read it again."""

    code = "fenced"
    status = 409
    title = "The debate has moved on"


class IncompleteWire(GainsayError):
    """A layer does not know one of the wires, so the service does not start."""

    code = "incomplete_wire"
    title = "A wire is not complete"


class IncompleteTable(GainsayError):
    """A table lacks a name of another closed list (kinds of checks, sealed parts), so the service does not start."""

    code = "incomplete_table"
    title = "A table is not complete"


def slips(written: str, known: str, most: int = SLIP_MAX) -> int | None:
    """The letters in which two spellings differ, case aside; ``None`` for more than ``most``, or for another word."""
    mine, theirs = written.strip().casefold(), known.casefold()
    most = min(most, len(mine) - 1, len(theirs) - 1)
    if abs(len(mine) - len(theirs)) > most:
        return None
    distance = _distance(mine, theirs)
    return distance if distance <= most else None


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """``; did you mean 'question'?`` where a known name is written almost so, else an empty text."""
    near = nearest(written, known)
    return f"; did you mean {near!r}?" if near else ""


def nearest(written: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, or ``None``.

    It is written almost so: another case, ``snake_case`` for ``camelCase``, a letter in three and at most `SLIP_MAX` of
    them other than they should be, a part of the known name, or the known name with more around it.
    """
    names = [*known]
    most = min(SLIP_MAX, max(1, len(written) // 3))
    mine = _joined(written)
    near = [(found, name) for name in names if (found := _near(mine, _joined(name), most)) is not None]
    if near:
        return min(near, key=lambda one: one[0])[1]
    parts = [name for name in names if _contained(mine, _joined(name))]
    return min(parts, key=lambda name: abs(len(_joined(name)) - len(mine)), default=None)


def _contained(mine: str, theirs: str) -> bool:
    """Whether one is a part of the other, and long enough to say something."""
    return min(len(mine), len(theirs)) >= _PART and (mine in theirs or theirs in mine)


def _near(mine: str, theirs: str, most: int) -> int | None:
    """As `slips`, where letters in another order count as one slip."""
    return 1 if mine != theirs and sorted(mine) == sorted(theirs) else slips(mine, theirs, most)


_PART = 3
"""A part of a name that is so short says nothing."""


def _joined(name: str) -> str:
    return name[:100].replace("_", "").replace("-", "").casefold()


def _distance(mine: str, theirs: str) -> int:
    """The fewest letters to put in, take out or exchange (Levenshtein)."""
    row = list(range(len(theirs) + 1))
    for i, letter in enumerate(mine, start=1):
        before, row = row, [i]
        for j, other in enumerate(theirs, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != other)))
    return row[-1]
