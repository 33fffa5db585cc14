"""The table [traces]: what is refused, and what spans have of a text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import SettingsError
from service.policy.file.reading import read_policy
from service.policy.settings import SHIPPED_POLICY
from service.policy.traces import REDACTED, Traces


def read(folder: Path, table: str) -> Traces:
    path = folder / "policy.toml"
    path.write_text(f"{SHIPPED_POLICY.read_text('utf-8')}\n[traces]\n{table}\n", "utf-8")
    return read_policy(path).traced


def test_without_the_table_no_content_is_shown_and_the_policy_is_the_same() -> None:
    policy = read_policy(SHIPPED_POLICY)

    assert not policy.traced.content
    assert policy.traced == Traces()


def test_the_table_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, 'content = true\nredact = ["Acme"]\ncharacters = 20')

    assert found == Traces(content=True, redact=("Acme",), characters=20)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('redact = ["("]', "expected a regular expression of 1 to 500 characters, found one with a fault"),
        ('redact = [""]', "found 0"),
        ('redact = ["a*"]', "not found in an empty text"),
        ("redact = ['" + "a" * 501 + "']", "found 501"),
        ("redact = [" + "'a'," * 51 + "]", "at most 50 patterns"),
        ("characters = 0", "1 to 20000"),
        ('content = "yes"', "content"),
        ("documents = true", "documents"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_place(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(SettingsError, match="traces") as refused:
        read(tmp_path, table)

    assert said in refused.value.detail


@pytest.mark.parametrize(
    "text",
    [
        "write to ada.lovelace+x@mail.bank.example now",
        "account DE89 3704 0044 0532 0130 00 is",
        "the card 4111 1111 1111 1111 is",
        "call 030-1234567 or",
    ],
)
def test_the_usual_patterns_take_out_what_names_a_person_or_an_account(text: str) -> None:
    shown = Traces().shown(text)

    assert REDACTED in shown
    assert not any(word in shown for word in ("ada", "3704", "4111", "1234567"))


def test_the_usual_patterns_end_in_a_long_text_too() -> None:
    """One whose time grows with the square of a text would hold the worker's loop for minutes here."""
    assert Traces().shown("a" * 300_000) == "a" * 4_000


@given(st.text(max_size=60), st.integers(1, 80))
def test_a_text_is_cut_after_it_was_redacted(around: str, characters: int) -> None:
    """Or half of a number would be left at its end, where no pattern finds it."""
    shown = Traces(characters=characters, redact=("secret-[a-z]+",)).shown(f"{around} secret-canary {around}")

    assert len(shown) <= characters
    assert "secret-c" not in shown
