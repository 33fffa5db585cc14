"""The kinds of payloads, each in every version that it was written in.

A payload names its kind, and the envelope beside it the version (``schema``). Today's type of a kind is its last
version. A payload of an earlier version is decoded by its own type and converted to today's. So stored bytes are never
rewritten, and code that works on entries needs one type for each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar, Union

import msgspec
from msgspec import Struct

T = TypeVar("T")


Older = tuple[type[Struct], Callable[[Any], Any]]
"""An earlier version of a kind: the type of its payloads, with the same tag, and its conversion to today's type."""


class UnknownSchema(ValueError):
    """No kind has payloads of such a version."""


class Kinds(Generic[T]):
    """The kinds of a union. ``older`` has every version before today's, by kind and number, from 1 without gaps.

    Raises `ValueError` if one is missing, so that a build without it does not start.
    """

    def __init__(self, today: Iterable[type[Struct]], older: Mapping[tuple[str, int], Older]) -> None:
        forms = {str(form.__struct_config__.tag): form for form in today}
        self.last: Mapping[str, int] = {kind: 1 + sum(kind == k for k, _ in older) for kind in forms}
        """The version of each kind's type of today."""
        needed = {(kind, version) for kind, last in self.last.items() for version in range(1, last)}
        if wrong := sorted(needed ^ older.keys()):
            listed = ", ".join(f"{kind}/{version}" for kind, version in wrong)
            raise ValueError(
                f"expected the earlier versions of each kind from 1 without gaps, found {listed} out of place"
            )
        self._older = older
        by_version: dict[int, list[Any]] = {}
        for kind, last in self.last.items():
            for version in range(1, last + 1):
                form = forms[kind] if version == last else older[kind, version][0]
                by_version.setdefault(version, []).append(form)
        self._decoders = {v: msgspec.json.Decoder(Union[tuple(forms)]) for v, forms in by_version.items()}  # noqa: UP007
        self._encoder = msgspec.json.Encoder(order="sorted")

    def decode(self, payload: bytes, schema: int) -> T:
        """The payload in these bytes, written in version ``schema`` of its kind, as today's type.

        Raises `msgspec.DecodeError` for other bytes, and `UnknownSchema` for a version that no kind has.
        """
        read = self._read(payload, schema)
        older = self._older.get((str(read.__struct_config__.tag), schema))
        found: T = older[1](read) if older else read
        return found

    def exact(self, found: T, payload: bytes, schema: int) -> bool:
        """Whether a payload has the bytes that its version writes for ``found``: each member once, in order."""
        return self.written(found, payload, schema) == payload

    def written(self, found: T, payload: bytes, schema: int) -> bytes:
        """The bytes that version ``schema`` writes for the known members of a payload that holds ``found``."""
        today = self.last[str(found.__struct_config__.tag)] == schema  # type: ignore[attr-defined]
        return self._encoder.encode(found if today else self._read(payload, schema))

    def _read(self, payload: bytes, schema: int) -> Any:
        if schema not in self._decoders:
            raise UnknownSchema(f"expected a version of payloads from 1 to {max(self._decoders)}, found {schema}")
        return self._decoders[schema].decode(payload)
