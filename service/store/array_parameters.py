"""Arrays as parameters of statements, written straight in PostgreSQL's binary format.

psycopg makes the same of plain lists after it has looked at each element several times. An append has five arrays, and
that was an eighth of what it took this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Packing
from typing import Any, ClassVar

from psycopg import BaseConnection
from psycopg.adapt import Dumper
from psycopg.pq import Format

_BYTEA, _BYTEAS, _TEXT, _TEXTS = 17, 1001, 25, 1009
"""PostgreSQL's numbers of the types."""
_head = Packing("!iiIii").pack
_length = Packing("!i").pack


class Byteas(tuple[bytes, ...]):
    """A ``bytea[]`` without nulls."""

    __slots__ = ()


class Texts(tuple[str, ...]):
    """A ``text[]`` without nulls."""

    __slots__ = ()


class _Byteas(Dumper):
    """One dimension that counts from 1: dimensions, nulls, the elements' type, how many, and each with its length."""

    format = Format.BINARY
    oid = _BYTEAS
    element: ClassVar[int] = _BYTEA

    def dump(self, obj: Any) -> bytes:
        """The array as PostgreSQL reads it."""
        return _array(self.element, obj)


class _Texts(_Byteas):
    oid = _TEXTS
    element = _TEXT

    def dump(self, obj: Any) -> bytes:
        """The same of texts."""
        return _array(self.element, [text.encode() for text in obj])


def register(connection: BaseConnection[Any]) -> None:
    """Teach a connection these arrays."""
    connection.adapters.register_dumper(Byteas, _Byteas)
    connection.adapters.register_dumper(Texts, _Texts)


def _array(element: int, values: Sequence[bytes]) -> bytes:
    if not values:
        return _head(0, 0, element, 0, 0)[:12]
    parts = [_head(1, 0, element, len(values), 1)]
    for value in values:
        parts += (_length(len(value)), value)
    return b"".join(parts)
