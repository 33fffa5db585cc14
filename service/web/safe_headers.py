"""The headers by which no answer is taken for another type, kept by a shared cache, or loaded by a foreign page."""

from __future__ import annotations

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""What every answer has that says nothing else in their place."""
_OWN = frozenset(name for name, _ in HEADERS)


def add_safe_headers(headers: list[tuple[bytes, bytes]]) -> None:
    """Add to an answer's headers those of `HEADERS` that it has not."""
    said = {name for name, _ in headers} & _OWN
    headers.extend(HEADERS if not said else [field for field in HEADERS if field[0] not in said])
