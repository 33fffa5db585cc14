"""Real documents: true passages in disguises verify, passages with one material change in disguises do not.

Drawn from the documents beside the checkout with a fixed seed, so that every run sees the same cases.
"""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.checks.citations import Sources, check
from service.checks.citations.text.lexicon import words
from service.debate.findings import Citation

_NAMES = ("cuad-aura", "cuad-kallo", "nist-63b-auth", "owasp-session", "reg-m-1013", "adr-govuk", "oauth-2-1")
_PASSAGES = 12
Draw = random.Random
Change = Callable[[str, Draw], str | None]


def _one(pattern: str, change: Callable[[re.Match[str], Draw], str | None], flags: int = 0) -> Change:
    """One match of a pattern changed, or nothing where it has none."""

    def changed(text: str, draw: Draw) -> str | None:
        matches = list(re.finditer(pattern, text, flags))
        if not matches:
            return None
        match = draw.choice(matches)
        new = change(match, draw)
        return None if new is None else text[: match.start()] + new + text[match.end() :]

    return changed


def _another(*choices: str) -> Callable[[re.Match[str], Draw], str]:
    return lambda match, draw: draw.choice([c for c in choices if c != match[0].casefold()])


def _slip(match: re.Match[str], draw: Draw) -> str | None:
    word = match[0]
    at = draw.randrange(1, len(word) - 2)
    slipped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return slipped if word in words() and slipped not in words() and slipped != word else None


def _digit(match: re.Match[str], draw: Draw) -> str:
    at = draw.choice([i for i, c in enumerate(match[0]) if c.isdigit()])
    return match[0][:at] + str((int(match[0][at]) + draw.randrange(1, 10)) % 10) + match[0][at + 1 :]


_DISGUISES: dict[str, Change] = {
    "as it is": lambda text, _: text,
    "white space": lambda text, draw: re.sub(r"\s+", lambda _: draw.choice([" ", "\n", "  \n", "\u00a0", "\t"]), text),
    "upper case": lambda text, _: text.upper(),
    "ligatures": lambda text, _: text.replace("fi", "ﬁ").replace("fl", "ﬂ"),
    "dashes": lambda text, _: re.sub(r"(?<=\w)-(?=\w)", "‑", text),
    "full width": lambda text, _: text.translate(str.maketrans("0123456789", "０１２３４５６７８９")),
    "entities": lambda text, _: text.replace('"', "&quot;").replace("'", "&#39;"),
    "strong": _one(r"(?<=[a-z] )[a-z]{4,}(?= [a-z])", lambda match, _: f"**{match[0]}**"),
    "hyphenated": _one(r"(?<=[a-z] )[a-z]{7,}(?= [a-z])", lambda match, _: f"{match[0][:4]}-\n{match[0][4:]}"),
    "note": _one(r"(?<=[a-z]) (?=[a-z])", lambda _match, draw: draw.choice([" [sic] ", " [as defined above] "])),
    "wrapped": lambda text, _: f"“{text.rstrip('.;: ')}…”",
    "slip": _one(r"(?<=[a-z] )[a-z]{6,}(?= [a-z])", _slip),
}
_CHANGES: dict[str, Change] = {
    "number": _one(r"\d[\d.,]*\d|\d", _digit),
    "number word": _one(r"\b(?:one|two|three|five|ten|thirty)\b", _another("one", "two", "five", "ten", "sixty")),
    "negation": _one(r"(?<=\w )(?:not|no|never|without) (?=\w)", lambda _match, _draw: ""),
    "negation added": _one(r"\b(?:shall|will|may|must|is|are)\b(?! not)(?= \w)", lambda match, _: f"{match[0]} [not]"),
    "modal": _one(r"\b(?:shall|will|may|must|should|can)\b", _another("shall", "may", "must", "should", "can")),
    "unit": _one(r"\b(?:days|months|years|hours)\b", _another("days", "months", "years", "hours")),
    "word dropped": _one(r"(?<=[a-z] )[a-z]{3,} (?=[a-z])", lambda _match, _draw: ""),
    "word added": _one(r"(?<=[a-z]) (?=[a-z])", lambda _match, draw: draw.choice([" only ", " exclusive "])),
    "and, or": _one(r"\b(?:and|or)\b", _another("and", "or")),
    "plural": _one(r"(?<=[a-z] )[a-z]{4,}[a-rt-z](?= [a-z])", lambda match, _: match[0] + "s"),
}


@pytest.fixture(scope="module")
def documents(shared: Path) -> dict[str, str]:
    return {name: (shared / "data" / "documents" / f"{name}.txt").read_text("utf-8") for name in _NAMES}


def _passages(text: str, draw: Draw) -> Iterator[str]:
    """Sentences without links, tables, tags or code, of which no end lies beside a negation."""
    sentences = [m[0] for m in re.finditer(r"(?<=[.;] )[A-Z][^<>|`#\[\]{}*_\n]{80,500}?[.;](?=\s)", text)]
    yield from draw.sample(sentences, min(_PASSAGES, len(sentences)))


def _plain(text: str) -> str:
    return " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])


@pytest.mark.parametrize("disguise", _DISGUISES)
def test_a_true_passage_is_verified_in_its_disguise(documents: dict[str, str], disguise: str) -> None:
    refused, count = [], 0
    for name, text in documents.items():
        draw = Draw(f"{name} {disguise}")
        for passage in _passages(text, draw):
            quote = _DISGUISES[disguise](passage, draw)
            if quote is not None:
                count += 1
                verdict = check(Citation(quote=quote), Sources({name: text}))
                refused += [] if verdict.verdict == "verified" else [(name, quote, verdict.edits)]

    assert count >= 30
    assert refused == []


@pytest.mark.parametrize("change", _CHANGES)
def test_a_changed_passage_is_never_verified_in_any_disguise(documents: dict[str, str], change: str) -> None:
    accepted, count = [], 0
    for name, text in documents.items():
        draw, plain = Draw(f"{name} {change}"), _plain(text)
        for passage in _passages(text, draw):
            bent = _CHANGES[change](passage, draw)
            if bent is None or _plain(bent) in plain:
                continue
            for disguise in draw.sample(sorted(_DISGUISES), 3):
                quote = _DISGUISES[disguise](bent, draw) or bent
                count += 1
                verdict = check(Citation(quote=quote), Sources({name: text}))
                accepted += [(name, quote, verdict.edits)] if verdict.verdict == "verified" else []

    assert count >= 3
    assert accepted == []
