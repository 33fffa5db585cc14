"""What a request says in its headers: its key, the last event that it has seen, and what it accepts."""

from __future__ import annotations

import pytest

from service.errors import BadRequest
from service.web.headers import KEY_MAX, idempotency_key, last_event


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ('"8e03978e-40d5-43dd-bc93-6894a57f9324"', "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ('  "a b"\t', "a b"),
        (r'"say \"no\" \\ yes"', r'say "no" \ yes'),
        ("a,b;c=d", "a,b;c=d"),
        ("k" * KEY_MAX, "k" * KEY_MAX),
        (f'"{"k" * KEY_MAX}"', "k" * KEY_MAX),
    ],
)
def test_a_key_is_the_same_with_and_without_quotes(given: str, key: str) -> None:
    assert idempotency_key([given]) == key


def test_a_request_without_the_header_has_no_key() -> None:
    assert idempotency_key([]) is None


@pytest.mark.parametrize(
    "given",
    [
        [""],
        [" "],
        ['""'],
        ['"half'],
        ['half"" "'],
        [r'"wrong \escape"'],
        ['"a"; b=c'],
        ["two words"],
        ["caf\u00e9"],
        ['"caf\u00e9"'],
        ["tab\tbed"],
        ["k" * (KEY_MAX + 1)],
        [f'"{"k" * (KEY_MAX + 1)}"'],
        ["a", "a"],
        ['"a", "b"'],
    ],
)
def test_anything_else_is_refused_with_what_was_expected(given: list[str]) -> None:
    with pytest.raises(BadRequest, match="Idempotency-Key must be given once, as 1 to 255 ASCII characters"):
        idempotency_key(given)


@pytest.mark.parametrize(
    ("header", "query", "seen"),
    [(None, None, None), ("", "", None), ("5", None, 5), (None, "3", 3), ("5", "3", 5), ("", "3", 3), (" 7 ", "", 7)],
)
def test_the_header_of_the_last_event_overrides_the_query(
    header: str | None, query: str | None, seen: int | None
) -> None:
    assert last_event(header, query) == seen


@pytest.mark.parametrize(("header", "query"), [("5", "now"), ("now", "3"), ("\u0663", None), (None, "-1")])
def test_an_event_that_is_none_is_refused_in_either_place(header: str | None, query: str | None) -> None:
    with pytest.raises(BadRequest, match="a whole number"):
        last_event(header, query)
