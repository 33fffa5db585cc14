"""The headers by which no answer is taken for another type, kept by a shared cache, or loaded by a foreign page."""

from __future__ import annotations

Headers = list[tuple[bytes, bytes]]

EVERY: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""What every answer has that says nothing else in their place."""


def add_safe_headers(headers: Headers) -> None:
    """Add those of `EVERY` that an answer has not. A caller's own cache keeps an answer for one credential alone."""
    said = {name: place for place, (name, _) in enumerate(headers)}
    headers.extend(field for field in EVERY if field[0] not in said)
    if (place := said.get(b"cache-control")) is not None and headers[place][1].startswith(b"private"):
        if (vary := said.get(b"vary")) is None:
            headers.append((b"vary", b"Authorization"))
        else:
            headers[vary] = b"vary", headers[vary][1] + b", Authorization"
