"""Citations: quotations from two documents of our own, as they stand and changed in many ways; and who is struck."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256

import msgspec

from service.checks.citations import ENGINES, Judge
from service.debate.findings import ArgumentVerdict, Citation
from service.debate.replies import Critique, Point
from service.debate.turns import TurnId
from tests.vectors.goldens import CASES, Golden, file_of, lines

SOURCES: Mapping[str, str] = {name: (CASES / f"{name}.txt").read_text() for name in ("agreement", "memo")}
CLAIMS = (
    "The fee is high.",
    '"one two three four"',
    '"one two three four five"',
    '"a b c d e f"',
    '"aa bb cc d e"',
    '"aaaaa b c d"',
    "\u201cone two three four five\u201d",
    "\u00abone two three four five\u00bb",
    "Section 9 is silent on fines.",
)

Change = Callable[[str], str]


def _swap(old: str, new: str) -> Change:
    return lambda quote: re.sub(old, new, quote, count=1)


def _without(n: int) -> Change:
    return lambda quote: " ".join(word for i, word in enumerate(quote.split()) if i != n)


def _slip(n: int) -> Change:
    """Two letters of a word in each other's place."""

    def change(quote: str) -> str:
        words = quote.split()
        if len(words) > n and len(words[n]) > 3:
            words[n] = words[n][0] + words[n][2] + words[n][1] + words[n][3:]
        return " ".join(words)

    return change


CHANGES: Mapping[str, Change] = {
    "as it stands": str,
    "in capitals": str.upper,
    "in small letters": str.lower,
    "with curly quotes": lambda quote: quote.replace('"', "\u201c").replace("'", "\u2019"),
    "between quotes": lambda quote: f"\u201c{quote}\u201d",
    "without stops": lambda quote: re.sub(r"[.;:,]", "", quote),
    "without the first stop": _swap(r"[.;:] ", " "),
    "with a full stop": lambda quote: quote.rstrip(".;:,") + ".",
    "with three dots at the end": lambda quote: quote + "...",
    "with dots in the middle": lambda quote: _gap(quote, "..."),
    "with an ellipsis in brackets": lambda quote: _gap(quote, "[...]"),
    "with a silent gap": lambda quote: _gap(quote, ""),
    "with a note": lambda quote: quote.replace(" the ", " the [said] ", 1),
    "with emphasis": lambda quote: _middle(quote, "**{}**"),
    "with a tag": lambda quote: _middle(quote, "<b>{}</b>"),
    "with a link": lambda quote: _middle(quote, "[{}](#here)"),
    "over lines": lambda quote: quote.replace(" ", "\n", 3),
    "hyphenated at a line's end": lambda quote: re.sub(r"(\w{3})(\w{3,})", "\\1-\n\\2", quote, count=1),
    "with soft hyphens": lambda quote: re.sub(r"(\w{3})(\w{3})", "\\1\u00ad\\2", quote),
    "one digit more": _swap(r"(\d)", r"\g<1>1"),
    "another digit": lambda quote: re.sub(r"\d", lambda m: str((int(m[0]) + 1) % 10), quote, count=1),
    "no separators": _swap(r"(\d),(\d)", r"\1\2"),
    "shall is may": _swap(r"\bshall\b", "may"),
    "may is shall": _swap(r"\bmay\b", "shall"),
    "not is gone": _swap(r"\b(?:not|no|neither|nothing|nobody)\b ?", ""),
    "a not more": _swap(r"\b(is|are|shall|may|has)\b", r"\1 not"),
    "contracted": _swap(r"\b(has|is|does|are) not\b", r"\1n't"),
    "written out": _swap(r"n't\b", " not"),
    "any for all": _swap(r"\ball\b", "any"),
    "and for or": _swap(r"\bor\b", "and"),
    "or for and": _swap(r"\band\b", "or"),
    "only is gone": _swap(r"\bonly ", ""),
    "an exception is gone": _swap(r",? (?:unless|except|provided|if) .*", ""),
    "American": lambda quote: quote.replace("licence", "license").replace("wilful", "willful"),
    "a number as a word": lambda quote: quote.replace("ninety", "90").replace("twelve", "12").replace("five (5)", "5"),
    "a word as a number": lambda quote: quote.replace("30", "thirty").replace("14", "fourteen").replace("20", "twenty"),
    "% as a word": _swap(r" %", " per cent"),
    "another unit": lambda quote: quote.replace("MW", "mW").replace("EUR", "USD").replace("minutes", "hours"),
    "without the first word": _without(0),
    "without the second word": _without(1),
    "without the fifth word": _without(4),
    "the first word cut": lambda quote: quote[2:],
    "the last word cut": lambda quote: quote[:-3],
    "a slip in the second word": _slip(1),
    "a slip in the third word": _slip(2),
    "a slip in the fourth word": _slip(3),
    "slips in two words": lambda quote: _slip(2)(_slip(5)(quote)),
    "slips in four words": lambda quote: _slip(1)(_slip(3)(_slip(5)(_slip(7)(quote)))),
    "a letter doubled": _swap(r"([a-z]{2})([a-z]{3})", r"\1\1\2"),
    "a plural": _swap(r"\b([a-z]{4,})\b", r"\1s"),
    "a word more": _swap(r"\bthe\b", "the entire"),
    "another word": _swap(r"\b(?:Supplier|ledger|party|step)\b", "Customer"),
    "two words turned round": _swap(r"(\w+) (\w+)", r"\2 \1"),
    "the halves turned round": lambda quote: " ".join([*quote.split()[5:], *quote.split()[:5]]),
    "with a label": lambda quote: f"Clause 3.2: {quote}",
    "with its number": lambda quote: f"3.2 {quote}",
    "with a bullet": lambda quote: f"\u2022 {quote}",
    "with a page number": lambda quote: _gap(quote, "\n- 4 -\n", whole=True),
    "only its beginning": lambda quote: " ".join(quote.split()[:4]),
    "something else at the end": lambda quote: " ".join([*quote.split()[:-3], "on", "demand", "alone"]),
    "half of it is something else": lambda quote: " ".join([*quote.split()[:6], *("nothing like this at all",)]),
}


def _gap(quote: str, mark: str, *, whole: bool = False) -> str:
    words = quote.split()
    return " ".join([*words[:4], *([mark] if mark else []), *words[4 if whole else 7 :]])


def _middle(quote: str, mark: str) -> str:
    words = quote.split()
    return " ".join([*words[:2], mark.format(" ".join(words[2:4])), *words[4:]])


def citations() -> Iterator[tuple[str, Citation]]:
    """Quotations of each sentence under each change, some of them from another document or place than is said."""
    for name, text in SOURCES.items():
        for n, sentence in enumerate(re.findall(r"[A-Z\"][^\n]{30,170}?[.;:](?= |\n)", text)):
            for i, (what, change) in enumerate(CHANGES.items()):
                source = (name, None, name, "memo", "agreement", name)[(n + i) % 6]
                location = (None, f"Clause {n % 5 + 1}.{i % 3 + 1}", f"page {n % 4}", f"section {n}")[(n * i) % 4]
                yield f"{name} {n} {what}", Citation(change(sentence), source, location)
    for letters in range(9, 16):
        yield f"{letters} letters", Citation("The Supplier may not"[: letters + 3], "agreement")
    yield "an unknown source", Citation("The Supplier may not subcontract", "D9")
    yield "nothing", Citation("", "memo")


def goldens() -> dict[str, Golden]:
    """Two goldens for every version."""
    made = {"verdicts": _verdicts, "strikes": _strikes}
    return {
        file_of(name, what): Golden(name, partial(make, name, engine))
        for name, engine in ENGINES.items()
        for what, make in made.items()
    }


def _verdicts(name: str, engine: Callable[[Mapping[str, str]], Judge]) -> bytes:
    judge = engine(SOURCES)
    found = ((what, *_short(_one(judge, "It is so.", citation))) for what, citation in citations())
    return lines(name, {1: found})


def _strikes(name: str, engine: Callable[[Mapping[str, str]], Judge]) -> bytes:
    judge = engine(SOURCES)
    said = [*CLAIMS, *(CASES / "claims.txt").read_text().splitlines()]
    struck = [(text, _one(judge, text).struck) for text in said]
    cited = Citation("Neither party is liable for indirect", "agreement")
    other = Citation("Either party is liable for indirect", "agreement")
    both = [_one(judge, "It is so.", *given).struck for given in ((cited,), (other,), (cited, other))]
    return lines(name, {1: [*struck, both, _one(judge, "It is so.", basis="evidence").struck]})


def _one(judge: Judge, text: str, *given: Citation, basis: str = "reasoning") -> ArgumentVerdict:
    point = Point(1, text, citations=given, basis=basis)  # type: ignore[arg-type]
    return judge({TurnId("1.critic.1"): Critique("-", (point,), 7, "rejected")}).arguments[0]


def one_verdict(judge: Judge, citation: Citation) -> str:
    """A verdict in a word: its first letter, and the kinds of its edits or its reason."""
    verdict, said, _ = _short(_one(judge, "It is so.", citation))
    return f"{verdict[0]}:{said.replace(' ', '_')[:24]}"


def _short(found: ArgumentVerdict) -> tuple[str, str, str]:
    """A verdict and its reason, and a hash of the whole verdict."""
    (verdict,) = found.verdicts
    whole = msgspec.json.encode(verdict, order="sorted")
    kinds = ",".join(f"{edit.kind}{'!' if edit.material else ''}" for edit in verdict.edits)
    return verdict.verdict, verdict.reason or kinds, sha256(whole).hexdigest()[:12]
