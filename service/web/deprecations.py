"""Operations on their way out: how long they stay, and what each of their answers says of it (docs/versions.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any, Protocol
from urllib.parse import quote

from litestar.connection import ASGIConnection
from msgspec import Struct

from service.web.middleware import OPERATION_HEADERS, route_of
from service.web.safe_headers import Headers

KEPT_MONTHS = 12
"""The least months from the day on which an operation is deprecated to the first day without it."""
NAMES = ("Deprecation", "Sunset", "Link")
"""The headers of an answer of such an operation."""


class Deprecation(Struct, frozen=True):
    """An operation's end: since when another is to be used, the first day without it, and the path of the other.

    Raises `ValueError` for an end that comes sooner than callers are promised.
    """

    since: date
    sunset: date
    replacement: str | None = None

    def __post_init__(self) -> None:
        months = (self.sunset.year - self.since.year) * 12 + self.sunset.month - self.since.month
        if months - (self.sunset.day < self.since.day) < KEPT_MONTHS:
            raise ValueError(
                f"expected at least {KEPT_MONTHS} months from {self.since} to the last day, found {self.sunset}; "
                "docs/versions.md promises them to callers"
            )

    def headers(self, page: str) -> Headers:
        """What an answer says: RFC 9745 (a structured date), RFC 8594 (a date of HTTP), and where to read on."""
        links = [f'<{page}>; rel="deprecation"; type="text/html"']
        if self.replacement is not None:
            links.append(f'<{self.replacement}>; rel="successor-version"')
        return [
            (b"deprecation", f"@{int(_begin(self.since).timestamp())}".encode()),
            (b"sunset", format_datetime(_begin(self.sunset), usegmt=True).encode()),
            (b"link", ", ".join(links).encode()),
        ]

    @property
    def words(self) -> str:
        """The sentence of the description."""
        instead = f"; use {self.replacement}" if self.replacement else ""
        return f"Deprecated since {self.since}, answered until {self.sunset}{instead}."


class _Operation(Protocol):
    """What of an operation is of interest here."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def tag(self) -> str: ...
    @property
    def deprecated(self) -> Deprecation | None: ...


def ends_of(operations: Sequence[_Operation]) -> Mapping[tuple[str, str], Headers]:
    """The headers of each operation that is deprecated, by its method and path."""
    return {
        (each.method.upper(), each.path): each.deprecated.headers(f"/docs#/{quote(each.tag)}/{each.id}")
        for each in operations
        if each.deprecated is not None
    }


def announce(connection: ASGIConnection[Any, Any, Any, Any], ends: Mapping[tuple[str, str], Headers]) -> None:
    """Have every answer of a deprecated operation say so, a refusal too."""
    route = str(connection.scope["method"]), route_of(connection.scope.get("path_template") or "")  # type: ignore[typeddict-item]
    if (headers := ends.get(route)) is not None:
        connection.scope["state"][OPERATION_HEADERS] = headers


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
