"""Which clauses a document has: by its outline, or because it names them itself.

    clause 14.7       a part with that number, or "clause 14.7", "§ 14.7", "14.7" at the beginning of a line in the text
    clause 9          the same, or one of its parts: "9.2" at the beginning of a line
    clause 9.2(z)     the same, and where the part has items, an item (z)
    finding F3        "F3" anywhere in the text
    Schedule A        a division with that word and numeral, or those words in the text

A clause of another instrument that the text names (Article 28 GDPR, section 3 of the Data Protection Act) is none of a
document's, unless the instrument is one: no document can show what it says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from service.checks.citations.text.document import Document
from service.checks.citations.text.steps import Steps
from service.checks.patterns import lazily

_A_SEARCH = 1_000
_KEPT = 256
"""Of how many names of clauses a document keeps whether it mentions them: a reply asks for the same ones often."""
_CODE = lazily(r"[a-z]-?\d{1,3}")
"""A letter and a number: a code that a document has for a finding, and says nothing of its kind."""
_NAME = lazily(
    r"(?P<word>.*?)\s{0,3}(?P<numeral>[\dA-Za-z][\w.-]*?)\.?(?P<items>(?: ?\([a-z0-9]{1,6}\))*)\Z", re.IGNORECASE
)
_PART = frozenset(("abs", "absatz", "satz", "nr", "lit", "ziffer", "unterabsatz", "para", "sentence"))
_IN_BRACKETS = lazily(r"(?<=[a-z])\s?\((\d{1,2})\)\Z", re.IGNORECASE)
_ITEM = lazily(r"\(([a-z0-9]{1,6})\)", re.IGNORECASE)
_OTHER = lazily(
    r"\A,?\s(?:(?:of|in|to|under|from)\s(?:the\s)?)?(?P<name>[A-Z][\w&.-]*(?:\s(?:of|on|and|for|the|in|"
    r"[A-Z][\w&.-]*|\d{4}(?:/\d+)?))*)"
)
_OWNED = lazily(
    r"(?P<name>[A-Z][\w&.-]*(?:\s(?:of|on|and|for|the|[A-Z][\w&.-]*|\d{4}(?:/\d+)?))*)(?:['\u2019]s)?,?\s\Z"
)
_LAW = lazily(
    r"\b(?:act|regulation|directive|code|law|statute|gdpr|treaty|convention|ordinance|rules|"
    r"(?-i:[A-Z]{3,}))\b(?: \d+)?",
    re.IGNORECASE,
)
_UNDER_LAW = lazily(
    r"\b(?:[Uu]nder|[Ii]n|[Bb]y|[Pp]er) (?:the )?(?P<name>(?:[A-Z][\w.&-]* (?:of |on |and |for |the )?)*"
    r"(?:Act|Regulation|Directive|Code|GDPR|Treaty|Convention|Ordinance)(?: \d{4})?)[\s,:\"'\u201c\u2018]*\Z"
)
_FIRST = lazily(
    r"\A(?:(?:under|by|in|per|the|of|see|with|as|and|but|if|when|where|since|because|for|neither|both|also|"
    r"even)(?: |\Z))+",
    re.IGNORECASE,
)
_OURS = lazily(
    r"\b(?:agreements?|contracts?|document|policy|annex|appendix|schedule|clause|section|article|terms|D\d{1,3}|"
    r"statement|debater|"
    r"model|position|msa|sow|dpa|draft|deed|lease|licen[cs]e|order|exhibit|under|per|if|in|as|and|but|the|by|when|"
    r"what|that|"
    r"both|also|because|since|while|where|neither|nor|only|thus|yet|so|for|with|from|see|then|even|this|read|"
    r"supplier|bank|"
    r"customer|buyer|seller|company|distributor|client|vendor|party|licensor|licensee|tenant|landlord|provider)\b",
    re.IGNORECASE,
)


def has_clause(name: str, document: Document, steps: Steps) -> bool:
    """Whether a document has a clause of this name; raises `OutOfSteps`."""
    steps.take(_A_SEARCH)
    found = _NAME.fullmatch(_IN_BRACKETS.sub(r" \1", name.strip()))
    if found is None:
        return True
    items = [item.lower() for item in _ITEM.findall(found["items"])]
    if parts := words_of_clause(name, document):
        return not items or any(_has_items(part, items) for part in parts)
    steps.take(len(document.original))
    return _names(_numeral(found), found["word"], items, document)


def words_of_clause(name: str, document: Document) -> list[str]:
    """The texts of the parts that a document has under the number of a clause, with the parts under them."""
    found = _NAME.fullmatch(_IN_BRACKETS.sub(r" \1", name.strip()))
    numeral = _numeral(found) if found else ""
    places = [place for place in document.outline if numeral and place.number.lower() == numeral]
    return [document.original[slice(*place.span)] for place in places]


def is_elsewhere(before: str, behind: str, known: Sequence[str]) -> bool:
    """Whether the words beside a clause name another instrument than the documents; ``known`` are texts that have none.

    ``known`` are the titles of the documents and the texts of the caller.
    """
    for found in (_OTHER.match(behind), _OWNED.search(before)):
        name = _FIRST.sub("", found["name"]) if found else ""
        if not name or name.split()[0].lower().strip(".") in _PART:
            continue
        if (_LAW.search(name) or not _OURS.search(name)) and not any(
            name.casefold() in text.casefold() for text in known
        ):
            return True
    return False


def names_law(before: str, known: Sequence[str]) -> bool:
    """Whether a law that was not given stands right before some words as their source: under the GDPR "…"."""
    found = _UNDER_LAW.search(before)
    return found is not None and not any(found["name"].casefold() in text.casefold() for text in known)


def _numeral(found: re.Match[str]) -> str:
    return found["numeral"].lower().rstrip(".")


def _has_items(text: str, items: list[str]) -> bool:
    listed = {item.lower() for item in _ITEM.findall(text)}
    return all(item in listed for item in items)


def _names(numeral: str, word: str, items: list[str], document: Document) -> bool:
    """Whether the text itself names the clause, or has its number at the beginning of a line or of a sentence."""
    asked = (numeral, word.lower().rstrip("s. "))
    if asked not in document.mentions:
        if len(document.mentions) == _KEPT:
            document.mentions.clear()
        document.mentions[asked] = _mentions(*asked).search(document.original) is not None
    return document.mentions[asked] and (not items or _has_items(document.original, items))


@lru_cache(maxsize=512)
def _mentions(numeral: str, word: str) -> re.Pattern[str]:
    number = re.escape(numeral)
    own = rf"{re.escape(word)}s?"
    kinds = rf"(?:sub-?)?(?:sections?|clauses?|articles?|paragraphs?|sec\.|cl\.|art\.|para\.)|\u00a7{{1,2}}|{own}"
    beginning = ""
    if numeral[:1].isdigit():
        part = r"(?:\.\d{1,4})*" if numeral.isdigit() else ""
        beginning = rf"|^[ \t#*>]*\(?{number}{part}(?=[.):]?[ \t])|(?<=[.;:,] )(?:{number}(?=\.? [A-Z])|\({number}\))"
    else:
        kinds = own
        beginning = rf"|\b{number}\b" if _CODE.fullmatch(numeral) else ""
    return re.compile(rf"(?:{kinds})\s{{0,3}}(?:no\. ?)?{number}(?![\w]|\.\d){beginning}", re.IGNORECASE | re.MULTILINE)


def instruments(titles: Sequence[str], asked: Sequence[str], documents: Mapping[str, str]) -> tuple[str, ...]:
    """The texts that name an instrument which is given: titles and the caller's texts, and how each document begins."""
    return (*titles, *asked, *(text[:600] for text in documents.values()))
