"""Arrays as parameters of statements, encoded directly in PostgreSQL's binary format.

psycopg would encode plain lists to the same bytes, but inspects each element several times first. It also chooses the
type of integers by their size, and prepares a statement for each combination of types. Here each column has one type.

A column of `Elements` is encoded piece by piece, so that the pieces of several debates make one array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from struct import Struct as Packing
from typing import Any, ClassVar, NamedTuple

from psycopg import BaseConnection
from psycopg.adapt import Dumper
from psycopg.pq import Format

_BYTEA, _BYTEAS, _TEXT, _TEXTS = 17, 1001, 25, 1009
"""PostgreSQL's type OIDs."""
_head = Packing("!iiIii").pack
_length = Packing("!i").pack
_NULL = _length(-1)


class ByteaArray(tuple[bytes, ...]):
    """A ``bytea[]`` without nulls."""

    __slots__ = ()


class TextArray(tuple[str, ...]):
    """A ``text[]`` without nulls."""

    __slots__ = ()


class Encoded(bytes):
    """A value in PostgreSQL's binary format; each type is a class of its own.

    The values of a query are all encoded or none: encoded ones are sent as they are (`service/store/exchange.py`).
    """

    oid: ClassVar[int]


class Boolean(Encoded):
    """A ``boolean``: `TRUE` or `FALSE`."""

    oid = 16


TRUE, FALSE = Boolean(b"\x01"), Boolean(b"\x00")


class Elements(NamedTuple):
    """A type of arrays: the element's OID, how an element is encoded with its length, and the class of arrays."""

    element: int
    encode: Callable[[Any], bytes]
    array: type[Encoded]

    def one(self, value: Any) -> bytes:
        """One element; ``None`` is a null."""
        return _NULL if value is None else self.encode(value)

    def piece(self, values: Iterable[Any]) -> bytes:
        """Consecutive elements, without nulls."""
        return b"".join(map(self.encode, values))

    def whole(self, pieces: Iterable[bytes], count: int) -> Encoded:
        """The array of these pieces, which have ``count`` elements in all."""
        if not count:
            return self.array(_head(0, 0, self.element, 0, 0)[:12])
        # PostgreSQL looks for nulls itself (array_recv); the flag only has to be 0 or 1.
        return self.array(_head(1, 1, self.element, count, 1) + b"".join(pieces))


def _type(element: int, oid: int, encode: Callable[[Any], bytes]) -> Elements:
    return Elements(element, encode, type(f"Array{oid}", (Encoded,), {"oid": oid}))


def _bytes(value: bytes) -> bytes:
    return _length(len(value)) + value


def _text(value: str) -> bytes:
    encoded = value.encode()
    return _length(len(encoded)) + encoded


_int4, _int8, _float8 = Packing("!ii").pack, Packing("!iq").pack, Packing("!id").pack

BYTEAS = _type(_BYTEA, _BYTEAS, _bytes)
TEXTS = _type(_TEXT, _TEXTS, _text)
UUIDS = _type(2950, 2951, lambda value: _bytes(value.bytes))
INTEGERS = _type(23, 1007, lambda value: _int4(4, value))
BIGINTS = _type(20, 1016, lambda value: _int8(8, value))
FLOATS = _type(701, 1022, lambda value: _float8(8, value))
ENCODED = frozenset((Boolean, *(each.array for each in (BYTEAS, TEXTS, UUIDS, INTEGERS, BIGINTS, FLOATS))))
"""The types of encoded values."""


class _Byteas(Dumper):
    """One dimension from index 1: dimensions, nulls, element type, length, lower bound, then the elements."""

    format = Format.BINARY
    oid = _BYTEAS
    element: ClassVar[int] = _BYTEA

    def dump(self, obj: Any) -> bytes:
        """The array in PostgreSQL's binary format."""
        return _array(self.element, obj)


class _Texts(_Byteas):
    oid = _TEXTS
    element = _TEXT

    def dump(self, obj: Any) -> bytes:
        """The array of UTF-8 texts in PostgreSQL's binary format."""
        return _array(self.element, [text.encode() for text in obj])


def register(connection: BaseConnection[Any]) -> None:
    """Register these arrays with a connection."""
    connection.adapters.register_dumper(ByteaArray, _Byteas)
    connection.adapters.register_dumper(TextArray, _Texts)


def _array(element: int, values: Sequence[bytes]) -> bytes:
    if not values:
        return _head(0, 0, element, 0, 0)[:12]
    parts = [_head(1, 0, element, len(values), 1)]
    for value in values:
        parts += (_length(len(value)), value)
    return b"".join(parts)
