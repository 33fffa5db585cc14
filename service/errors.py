"""Every error that Gainsay raises on purpose, with a stable code and an HTTP status.

A message says what was expected, what was found and what to do next; it never holds a secret, a prompt's text or a
document's text. Folders may add subclasses of their own; nothing else may leave a public function.
"""

from __future__ import annotations

from typing import ClassVar, Self


class GainsayError(Exception):
    """The root of all deliberate errors.

    ``code`` is stable across releases and is what clients switch on; ``status`` is the HTTP status that it becomes;
    ``pointers`` name the offending fields as JSON Pointers (RFC 6901) when the error is about a request.
    """

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Something went wrong inside the service"

    def __init__(self, detail: str, *, pointers: tuple[str, ...] = (), retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.pointers = pointers
        self.retry_after = retry_after

    @property
    def told(self) -> str:
        """What a caller is told: the detail, but for what names our own insides."""
        return self.detail

    def anew(self) -> Self:
        """The same, for one more to raise: a raised one holds on to everything that was at work then."""
        error = type(self).__new__(type(self), *self.args)
        error.__dict__.update(self.__dict__)
        return error


class BadRequest(GainsayError):
    """The request cannot be read at all: not JSON, a wrong type, an unknown field."""

    code = "bad_request"
    status = 400
    title = "The request cannot be read"


class RequestTimeout(GainsayError):
    """The body of a request takes too long to come; nothing of it was looked at."""

    code = "request_timeout"
    status = 408
    title = "The request did not come in time"


class InvalidCase(GainsayError):
    """The request can be read but asks for something that the service refuses."""

    code = "invalid_case"
    status = 422
    title = "The case is not valid"


class TooLarge(GainsayError):
    """A question, a document or a body is above its limit."""

    code = "too_large"
    status = 413
    title = "The request is too large"


class CeilingTooSmall(InvalidCase):
    """The ceiling cannot pay for the first turn and the closing."""

    code = "ceiling_too_small"
    title = "The cost ceiling cannot pay for a debate"


class BudgetExhausted(GainsayError):
    """What is left of a tenant's day or month does not pay for a debate.

    ``limit`` is ``tenantDay`` or ``tenantMonth``, ``left`` what is left of it in micro-dollars (below zero after a
    vendor billed above a reservation), and ``ends`` when its period is over, as RFC 3339 in UTC.
    """

    code = "budget_exhausted"
    status = 402
    title = "The tenant's budget is used up"

    def __init__(self, detail: str, *, limit: str, left: int, ends: str, retry_after: int) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.limit = limit
        self.left = left
        self.ends = ends


class NotFound(GainsayError):
    """There is no such thing, or not for this caller."""

    code = "not_found"
    status = 404
    title = "Not found"


class SettingsError(GainsayError):
    """A setting is unknown, missing or wrong; the service does not start."""

    code = "bad_settings"
    title = "The settings cannot be used"


class PromptMismatch(GainsayError):
    """A prompt's bytes are not those of its pin; no call is made."""

    code = "prompt_changed"
    status = 503
    title = "A prompt does not match its pin"


class StoreUnavailable(GainsayError):
    """PostgreSQL cannot be reached or refuses; nothing was written."""

    code = "store_unavailable"
    status = 503
    title = "The database is not available"


class AuditUnavailable(GainsayError):
    """A record could not be written, so the step it stands for was not taken."""

    code = "audit_unavailable"
    status = 503
    title = "The audit log cannot be written"


class QueueFull(GainsayError):
    """As many debates wait as may; nothing is recorded."""

    code = "queue_full"
    status = 503
    title = "Too many debates wait"


class Overloaded(GainsayError):
    """This process answers as many callers at once as it can; nothing is recorded. Another one may be free."""

    code = "overloaded"
    status = 503
    title = "Too many requests at once"


class IdempotencyKeyReused(GainsayError):
    """The key was used for another case; nothing is recorded."""

    code = "idempotency_key_reused"
    status = 422
    title = "The idempotency key belongs to another case"


class IdempotencyInProgress(GainsayError):
    """The case was taken under this key before, and its debate has no answer yet; ``debate`` is its id."""

    code = "idempotency_in_progress"
    status = 409
    title = "The case of this idempotency key is under way"

    def __init__(self, detail: str, *, debate: str, retry_after: int) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.debate = debate


class NotProvable(GainsayError):
    """What was decided is recorded, but no signed head of the log covers it yet, so the answer is held."""

    code = "not_provable"
    status = 503
    title = "The answer is held until the log proves it"


class IllegalEntry(GainsayError):
    """An entry is not legal after the entries before it; the debate stays as it was."""

    code = "illegal_entry"
    title = "The entries do not follow from each other"


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
