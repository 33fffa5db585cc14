"""Arrays that we write ourselves mean to PostgreSQL what psycopg's own mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from service.store import array_parameters
from service.store.array_parameters import ByteaArray, TextArray
from tests.fixtures.postgres import Database

BYTES = [[], [b""], [b"", b"\x00", b"\\x00"], [bytes(range(256)), b"{a,b}", b"NULL", b'"'], [b"x" * 100_000] * 3]
TEXTS = [[], [""], ["", "NULL", "null"], ["{a,b}", 'a"b', "a\\b", "a b"], ["Übergröße 😀", "\n\t", "é" * 50_000]]


@pytest.fixture
def connection(module_database: Database) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(module_database.service_url, autocommit=True) as connection:
        array_parameters.register(connection)
        yield connection


@pytest.mark.parametrize("values", BYTES, ids=len)
@pytest.mark.parametrize("placeholder", ["%s", "%b"])
def test_arrays_of_bytes_arrive_as_they_are(
    connection: psycopg.Connection[Any], values: list[bytes], placeholder: str
) -> None:
    statement = f"SELECT {placeholder}::bytea[] AS it, {placeholder}::bytea[] = %s::bytea[], array_ndims({placeholder})"
    row = connection.execute(
        statement.encode(), (ByteaArray(values), ByteaArray(values), values, ByteaArray(values))
    ).fetchone()
    assert row == (values, True, 1 if values else None)


@pytest.mark.parametrize("values", TEXTS, ids=len)
def test_arrays_of_texts_arrive_as_they_are(connection: psycopg.Connection[Any], values: list[str]) -> None:
    row = connection.execute(
        "SELECT %s AS it, %s = %s::text[]", (TextArray(values), TextArray(values), values)
    ).fetchone()
    assert row == (values, True)


def test_elements_keep_their_places(connection: psycopg.Connection[Any]) -> None:
    rows = connection.execute(
        "SELECT nth, leaf, word FROM unnest(%s, %s) WITH ORDINALITY AS r (leaf, word, nth)",
        (ByteaArray([b"a", b"bc", b""]), TextArray(["x", "", "yz"])),
    ).fetchall()
    assert rows == [(1, b"a", "x"), (2, b"bc", ""), (3, b"", "yz")]


def test_a_text_that_postgresql_cannot_hold_is_refused(connection: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.DataError):
        connection.execute("SELECT %s", (TextArray(["a\x00b"]),))
