"""docs/glossary.md gives each term one place, and its clear-cut old words stay out of the documents."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
OLD: dict[str, str] = {
    r"\b(?:who|whom)ever\b": "the person or process: caller, operator, seat, worker",
    r"\b(?:any|every|some|no)body(?:'s)?\b": "the person or process: caller, operator, seat, worker",
    r"\btold\b": "shown, said, reported, listed",
    r"\b(?:he|him|his|himself)\b": "it, for a machine; a noun, for a person",
    r"\b(?:left|leaves?|leaving) alone\b": "in backoff, or: the circuit is open",
    r"\b(?:given?|gives|gave|giving) up\b": "silent, failed, ended",
    r"\b(?:given?|gives|gave|giving|hand(?:s|ed|ing)?) back\b": "release",
    r"\b(?:tak(?:en?|es|ing)|took) (?:up|over)\b": "claim",
    r"\b(?:fallen|fell) (?:workers?|silent)\b": "a lease that ran out, a worker that is gone",
    r"\basks? nobody\b": "makes no further model calls",
    r"\bhouse prompts?\b": "system prompt",
    r"\bsigned heads?\b": "checkpoint",
    r"\bturned round\b": "in reverse order",
    r"\bbroken? off\b": "aborted, cancelled",
    r"\bmoney held\b": "reservation",
    r"\blazy critics?\b": "weak critique",
}
"""Old words as patterns, each with what to write."""
ALLOWED: dict[tuple[str, str], int] = {("docs/formats.md", "lazy critic"): 1}
"""How often an old word stands in a document, by document and word: exactly so often, so that none comes back."""
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "migrations/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
BLOCK = re.compile(r"^ *```.*?^ *```$|^ {4,}\S.*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r'`[^`]*`|"[^"\n]*"|“[^”]*”|\]\([^)]*\)')
GENERATED = re.compile(r"^\| `gainsay_.*$", re.MULTILINE)
"""Rows of docs/metrics.md: their words are the help texts of the series."""


def prose(text: str) -> str:
    """A document without code, quotations, addresses of links and help texts, on one line."""
    return " ".join(QUOTED.sub("…", GENERATED.sub("", BLOCK.sub("", text))).split())


def old_words(text: str) -> Counter[str]:
    """The old words of a text, with how often each stands there."""
    return Counter(
        found.lower() for pattern in OLD for found in re.findall(pattern, prose(text), re.IGNORECASE | re.ASCII)
    )


def terms() -> list[str]:
    """The terms of the glossary, several of one row apart."""
    cells = re.findall(r"^\| (\*\*.*?) \|", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    return [term for cell in cells for term in re.findall(r"\*\*(.+?)\*\*", cell)]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != GLOSSARY], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_a_document_has_the_old_words_that_are_allowed_and_no_others(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    allowed = Counter({word: number for (place, word), number in ALLOWED.items() if place == name})

    found = old_words(page.read_text("utf-8"))

    instead = {word: next(new for old, new in OLD.items() if re.fullmatch(old, word)) for word in found - allowed}
    assert not instead, f"{name}: old words, with what to write: {instead}; see docs/glossary.md"
    assert found == allowed, f"{name}: these no longer stand there, so take them from ALLOWED: {allowed - found}"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The lease of a fallen\nworker runs out.", "fallen worker"),
        ("Nobody's answer is taken.", "nobody's"),
        ("| a cell | Whoever asks is told |", "whoever"),
        ("A worker gives back a debate", "gives back"),
        ("the provider is left alone for 30 s", "left alone"),
        ("a server cuts him off", "him"),
        ("- the signed heads of logs", "signed heads"),
    ],
)
def test_an_old_word_is_found_wherever_it_stands_in_prose(text: str, word: str) -> None:
    assert old_words(text)[word] == 1


@pytest.mark.parametrize(
    "text",
    [
        "`told_state` and `test_nobody_is_told`",
        'the reference says "nobody is told"',
        "```sql\nSELECT 'told';\n```",
        "    gainsay told\n",
        "| `gainsay_x_total` | counter | none | Debates left by a worker that fell silent. |",
        "[a decision](decisions/0001-told.md)",
        "the heel of this hero",
    ],
)
def test_code_and_quotations_are_no_prose(text: str) -> None:
    assert not old_words(text)


def test_every_term_of_the_glossary_has_one_place() -> None:
    found = terms()

    assert [term for term, number in Counter(found).items() if number > 1] == []
    assert 40 <= len(re.findall(r"^\| \*\*", GLOSSARY.read_text("utf-8"), re.MULTILINE)) <= 50


def test_no_term_of_the_glossary_is_an_old_word_of_another() -> None:
    rows = re.findall(r"^\| \*\*.*\|$", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    # A word in brackets names the sense in which it is old: head (of a log).
    old = {word.strip(' "') for row in rows for word in row.split("|")[3].split(",") if "(" not in word}

    assert set(terms()) & (old - {"–", "hold"}) == set(), "hold is said of an answer, and never of money"
    assert {len(row.split("|")) for row in rows} == {6}
