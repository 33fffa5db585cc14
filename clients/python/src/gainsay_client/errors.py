"""Every error of the client: one base, a class for each family of answers, and one for each way of having none.

    GainsayError
      Refused            400, 406, 413, 415, 422 ...: the request has to change; `errors` has every fault
        KeyReused        422 idempotency_key_reused: another case came before under this key
      Unauthorized       401, 403
      BudgetExhausted    402: `limit`, `left_usd`, `ends`
      NotFound           404, 410
      Conflict           409: not yet, or no longer; `debate_id` where the service names one
      Unavailable        408, 429, 502, 503, 504: a repetition may succeed after `retry_after`
      ServiceFault       500 and other faults of the service
      Unreachable        no answer came
      TimedOut           the debate went on for longer than the caller waits; `debate_id` is waited for again
      UnexpectedAnswer   an answer that this service does not give: a page of a proxy, a redirect
        UntrustedAddress an answer that leads to another origin; nothing is sent there
      LogForked          two heads of one log that cannot both be true
      BadHeadStore       the file of remembered heads cannot be read

A code that is unknown, of a newer service, maps by its status.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gainsay_client.heads import Head


@dataclass(frozen=True, slots=True)
class FieldFault:
    """A fault of a request: the field as a JSON Pointer (RFC 6901), and what is wrong with it."""

    pointer: str
    detail: str


class GainsayError(Exception):
    """The base of all errors of the client.

    ``code`` is stable, ``detail`` is for people, ``request_id`` finds the request in the service's log, and
    ``retry_after`` is in seconds. ``problem`` has all members of the problem document, of a newer service too.
    """

    code = "client_error"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        location: str | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.location = location
        self.code = code or type(self).code
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.problem = dict(problem or {})
        self.key: str | None = None
        """The key of the case that was submitted: under it another try is recorded and billed once with this one."""

    def __str__(self) -> str:
        told = f"{self.code}: {self.detail}"
        return f"{told} (request {self.request_id})" if self.request_id else told

    @property
    def errors(self) -> tuple[FieldFault, ...]:
        """Every fault that the service found, with its field."""
        given = self.problem.get("errors")
        faults = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
        return tuple(FieldFault(str(part.get("pointer", "")), str(part.get("detail", ""))) for part in faults)

    @property
    def debate_id(self) -> str | None:
        """The debate that the error is about, where it is about one."""
        return _text(self.problem.get("debateId"))


class Refused(GainsayError):
    """The service refuses the request as it is; a repetition changes nothing."""

    code = "refused"


class KeyReused(Refused):
    """Another case was sent before under this key; use another key."""

    code = "idempotency_key_reused"


class Unauthorized(GainsayError):
    """The service does not know the caller, or does not let it do this."""

    code = "unauthorized"


class BudgetExhausted(GainsayError):
    """The rest of a tenant's limit does not cover the case. Nothing is recorded, and the key is still free."""

    code = "budget_exhausted"

    @property
    def limit(self) -> str | None:
        """The limit: ``tenantDay`` or ``tenantMonth``."""
        return _text(self.problem.get("limit"))

    @property
    def left_usd(self) -> Decimal | None:
        """What remains of the limit in US dollars."""
        try:
            return Decimal(str(self.problem["leftUSD"]))
        except (KeyError, InvalidOperation):
            return None

    @property
    def ends(self) -> str | None:
        """When the period of the limit ends, as RFC 3339."""
        return _text(self.problem.get("ends"))


class NotFound(GainsayError):
    """The thing does not exist, or not for this caller."""

    code = "not_found"


class Conflict(GainsayError):
    """The debate is not in the state that the request needs."""

    code = "conflict"


class Unavailable(GainsayError):
    """The service, or what stands before it, cannot answer now."""

    code = "unavailable"


class ServiceFault(GainsayError):
    """The service failed, or found its evidence damaged; quote ``request_id`` to its operators."""

    code = "internal"


class Unreachable(GainsayError):
    """No whole answer came within the time that the client has for one call.

    Where that was a case, it may be recorded: submit it again under ``key``, and it is debated and billed once.
    """

    code = "unreachable"

    def under(self, key: str, debate: str | None = None) -> Unreachable:
        """The same of a case, with the key that it was sent under, and its debate where that is known."""
        known = f"debate {debate} is recorded: wait for it again, or "
        fate = "the case may be recorded: " if debate is None else known
        found = Unreachable(
            f"{self.detail}; {fate}submit it again under the key {key!r}, and it is billed once",
            problem=None if debate is None else {"debateId": debate},
        )
        found.key = key
        return found


class TimedOut(GainsayError):
    """The debate is not over in the time that the caller waits. It goes on, and so does its bill: wait again."""

    code = "timed_out"

    def __init__(self, detail: str, debate_id: str) -> None:
        super().__init__(detail, problem={"debateId": debate_id})


class UnexpectedAnswer(GainsayError):
    """An answer that the service does not give; something else answers at this address."""

    code = "unexpected_answer"


class UntrustedAddress(UnexpectedAnswer):
    """An answer leads to another origin than the client was given."""

    code = "untrusted_address"


class LogForked(GainsayError):
    """The service showed two heads of one log that cannot both be true: keep both, and show them to an auditor."""

    code = "log_forked"

    def __init__(self, detail: str, kept: Head, found: Head) -> None:
        super().__init__(detail)
        self.kept = kept
        self.found = found


class BadHeadStore(GainsayError):
    """The file of remembered heads is damaged; the client does not begin anew by itself."""

    code = "bad_head_store"


_BY_STATUS: dict[int, type[GainsayError]] = {
    401: Unauthorized,
    402: BudgetExhausted,
    403: Unauthorized,
    404: NotFound,
    408: Unavailable,
    409: Conflict,
    410: NotFound,
    425: Unavailable,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
_BY_CODE: dict[str, type[GainsayError]] = {KeyReused.code: KeyReused}


def family(status: int, code: str | None) -> type[GainsayError]:
    """The class of an error answer."""
    if code in _BY_CODE:
        return _BY_CODE[code]
    return _BY_STATUS.get(status, ServiceFault if status >= 500 else Refused)


def _text(given: object) -> str | None:
    return given if isinstance(given, str) else None
