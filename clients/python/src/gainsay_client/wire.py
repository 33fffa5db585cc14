"""Requests and answers as values, and what an answer says as an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from gainsay_client.errors import GainsayError, Refused, UnexpectedAnswer, UntrustedAddress, family

JSON = "application/json"
QUOTED = 300
"""The most characters of a foreign answer that an error repeats."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the service. ``query`` has pairs, since a parameter may be given more than once.

    ``repeatable``: a second one changes nothing and costs nothing. ``waits`` are seconds that the service may hold it.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    repeatable: bool = True
    waits: float = 0.0

    def __post_init__(self) -> None:
        """Raises `Refused` for a parameter that is no text."""
        for pair in self.query:
            encoded("".join(pair))

    @property
    def target(self) -> str:
        """Path and query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; names of headers are in small letters. A stream's body is read apart."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        """Whether it is what was asked for."""
        return self.status in (200, 201, 202, 204, 304)

    @property
    def media(self) -> str:
        """Its media type without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def retry_after(self) -> float | None:
        """The seconds of Retry-After; a date, which only proxies send, counts as none."""
        given = self.headers.get("retry-after", "").strip()
        return float(given[:9]) if given.isascii() and given.isdigit() else None

    def json(self) -> Any:
        """The body as JSON; raises `UnexpectedAnswer`."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise UnexpectedAnswer(
                f"expected JSON from the service, found {self.media or 'no media type'}: {_excerpt(self.body)!r}; "
                "check the address of the service and the proxies before it",
                status=self.status,
                request_id=self.headers.get("request-id"),
            ) from None

    def members(self) -> dict[str, Any]:
        """The body as a JSON object; raises `UnexpectedAnswer`."""
        if not isinstance(found := self.json(), dict):
            raise UnexpectedAnswer(f"expected a JSON object from the service, found {_excerpt(self.body)!r}")
        return found


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a service: its origin, and the path before its own paths."""

    origin: str
    prefix: str

    @classmethod
    def at(cls, address: str) -> Server:
        """The server at an address; raises `ValueError`."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"expected the address of a service, such as https://gainsay.example, found {address!r}")
        if parts.username is not None or parts.password is not None:
            raise ValueError("expected an address without a user and a password; give a token instead")
        return cls(_origin(address), parts.path.rstrip("/"))

    def address(self, request: Request) -> str:
        """The whole address of a request."""
        return f"{self.origin}{self.prefix}{request.target}"

    def expect_own(self, location: str | None) -> None:
        """Raise `UntrustedAddress` for the address of another origin."""
        if location is None:
            return
        try:
            found = urljoin(f"{self.origin}{self.prefix}/", location.strip())
            own = urlsplit(found).scheme in ("http", "https") and _origin(found) == self.origin
        except ValueError:  # no address at all
            found, own = location, False
        if not own:
            raise UntrustedAddress(
                f"the answer leads to {found[:QUOTED]!r}, and the client was given {self.origin}; nothing is sent there"
            )


def _origin(address: str) -> str:
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{host}:{port}"


def encode(value: object) -> bytes:
    """A body as JSON: a `Decimal` becomes a string; raises `Refused` for what JSON cannot say exactly."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"expected a body of JSON values and Decimals: {error}", code="wrong_shape") from None


def encoded(text: str) -> bytes:
    """A text in UTF-8; raises `Refused` for half a surrogate pair, which would be sent as another character or none."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"expected whole characters, found half of one at {error.start}", code="bad_request") from None


def part(value: str) -> str:
    """A value as one part of a path; raises `Refused` for one that would be another path."""
    encoded(value)
    if not value or value in (".", ".."):
        raise Refused(f"expected an id, found {value!r}", code="bad_request")
    return quote(value, safe="")


def log_path(log: str, rest: str) -> str:
    """The path of something of a log, which is named by three parts: ``<host>/<tenant>/<epoch>``."""
    return "/".join(["/v1/audit/logs", *map(part, log.split("/")), rest])


def expect_accepted(request: Request, answer: Answer, server: Server) -> None:
    """Raise `UnexpectedAnswer` for an answer of another type than the one that is asked for: a proxy's page is none."""
    wanted, found = request.headers["accept"], answer.media or "no media type"
    if found != wanted:
        raise UnexpectedAnswer(
            f"expected {wanted} from {server.origin}, found {found}; something else may answer there, such as a proxy",
            status=answer.status,
            request_id=answer.headers.get("request-id"),
        )


def error_of(answer: Answer, server: Server) -> GainsayError:
    """The error that an answer says."""
    request_id = answer.headers.get("request-id")
    if 300 <= answer.status < 400:
        where = answer.headers.get("location", "nowhere")[:QUOTED]
        return UnexpectedAnswer(
            f"expected an answer of {server.origin}, found a redirect ({answer.status}) to {where!r}; nothing is sent "
            "there: give the client the address that answers by itself",
            status=answer.status,
            request_id=request_id,
        )
    problem = _problem(answer)
    code = problem.get("code")
    code = code if isinstance(code, str) and code else f"http_{answer.status}"
    detail = problem.get("detail") or problem.get("title") or f"status {answer.status}: {_excerpt(answer.body)}"
    return family(answer.status, code)(
        str(detail),
        code=code,
        status=answer.status,
        request_id=str(problem.get("requestId") or "") or request_id,
        retry_after=answer.retry_after,
        location=answer.headers.get("location"),
        problem=problem,
    )


def _problem(answer: Answer) -> dict[str, Any]:
    """The problem document of an answer; empty where a proxy answered."""
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no amount")
        return format(value, "f")
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _excerpt(body: bytes) -> str:
    text = body[: 4 * QUOTED].decode("utf-8", "replace")
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}..."
