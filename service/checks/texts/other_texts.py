"""Whether a sentence gives words to a text that is none of the documents: then they cannot be compared with its words.

    the old contract of 2019 says "…"        a word beside the noun is in no title, question or beginning of a document
    our procurement rules say "…"            the same
    under English law "…"                    a law that was not given
    section 377 of the commercial code       the same, behind a clause
    Maria said "…", she told us "…"          a person, who is no participant by name

A noun alone ("the contract", "the report") is a document's, and so is one with words of its title. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from service.checks.citations.text.clause_names import PLACE
from service.checks.citations.text.lexicon import is_english
from service.checks.patterns import lazily

_LAW = r"acts?|laws?|statutes?|regulations?|directives?|codes?|constitution|treat(?:y|ies)|conventions?|ordinances?"
_WHOLE = (
    rf"{_LAW}|leases?|licen[cs]es?|contracts?|agreements?|polic(?:y|ies)|reports?|memo(?:randum)?|papers?|"
    rf"stud(?:y|ies)|"
    r"rules?|guidelines?|guidance|standards?|circulars?|manuals?|minutes|letters?|deeds?|filings?|prospectus|"
    r"handbooks?|charters?|decks?|slides?|brochures?|websites?|particulars|forms?|templates?|press release|"
    r"e-?mails?|blogs?"
)
_PHRASE = lazily(
    rf"(?P<place>{PLACE})|\b(?P<noun>{_WHOLE})\b(?P<year> (?:of|from) (?:the )?\d{{4}}\b)?|\bD\d{{1,3}}\b",
    re.IGNORECASE,
)
_BEFORE = lazily(
    r"(?:\b(?:the|this|that|these|those|its|their|our|my|your|his|her|an?|any|every|each|under|in|by|per|to|of|from)|"
    r"(?P<owner>[\w.-]+(?:['\u2019]s|s['\u2019])))\s(?P<words>(?:(?!(?:the|an?|of|in|to|from|by|per|under|and|"
    r"or)\s)[\w'\u2019-]+\s){0,3})\Z",
    re.IGNORECASE,
)
_PLAIN = frozenset(
    "the this that present current same whole very signed executed said given attached enclosed full actual final "
    "entire own complete short long written agreed underlying relevant above governing main two three both".split()
)
_OF_LAW = lazily(rf"\A,? (?:of|in|under) (?:the )?(?P<words>(?:[\w-]+ ){{0,2}})(?P<noun>{_LAW})\b", re.IGNORECASE)
_OF = lazily(rf"\A,? (?:of|in|under|to) (?:[\w'\u2019-]+ ){{0,4}}?(?:{_WHOLE})\b", re.IGNORECASE)
_PERSON = lazily(
    r"(?:\A|[,;:(.] |\b(?:and|but|as|that|because|since|when|what|how) )(?:(?P<pronoun>[Ss]?[Hh]e)|"
    r"(?P<name>[A-Z][a-z]+)(?: [A-Z][a-z]+)?)"
    r"(?: \([^()]{1,30}\))? (?:has |had |once |then |later |also |always )?"
    r"(?:says?|said|tells?|told|wrote|writes|put|puts|called|calls|argued|asked|asks|answered|added|warned|"
    r"remarked|joked|repl\w+)\b"
    r"[^.;:\"]{0,50}[,:]?[\s\"'\u201c\u2018*_(]*\Z",
)
_WORD = lazily(r"[^\W\d_]{3,}|\d{4}")


def words_of(instruments: Sequence[str]) -> frozenset[str]:
    """The words of titles, the caller's texts and the beginnings of documents: those that may name a document."""
    return frozenset(word for text in instruments for word in _WORD.findall(text.casefold()))


def is_other_text(before: str, known: frozenset[str]) -> bool:
    """Whether the document that is named last before some words is none of those that were given."""
    last = max(_PHRASE.finditer(before), key=lambda found: found.end(), default=None)
    return last is not None and last["noun"] is not None and _is_strange(before, last, known)


def is_person(before: str, has_word: Callable[[str], bool]) -> bool:
    """Whether a person who is in no document says some words: she told us; Maria said."""
    found = _PERSON.search(before)
    if found is None or found["pronoun"]:
        return found is not None
    name = found["name"].casefold()
    return not (has_word(name) or is_english(name))


def is_of_other(before: str, behind: str, known: frozenset[str]) -> bool:
    """Whether a text that was not given stands beside the name of a clause: of the commercial code, the old lease, ….

    A law needs no other word: none was given unless a title names it.
    """
    if (law := _OF_LAW.match(behind)) and law["noun"].casefold() not in known:
        return True
    if of := _OF.match(behind):
        return any(
            _is_strange(behind, found, known) for found in _PHRASE.finditer(behind, 0, of.end()) if found["noun"]
        )
    last = max(_PHRASE.finditer(before), key=lambda found: found.end(), default=None)
    beside = last is not None and last["noun"] and re.fullmatch(r"(?:['\u2019]s)?,?\s?\(?", before[last.end() :])
    return bool(last and beside and _is_strange(before, last, known))


def _is_strange(before: str, found: re.Match[str], known: frozenset[str]) -> bool:
    if found["year"] and not known & set(_WORD.findall(found["year"])):
        return True
    beside = _BEFORE.search(before, max(0, found.start() - 80), found.start())
    if beside is None:
        return False
    named = list(_words(beside["words"]))
    if beside["owner"]:
        named += _words(beside["owner"])
    return any(word not in known and word not in _PLAIN and not word.endswith("ly") for word in named)


def _words(text: str) -> Iterator[str]:
    yield from _WORD.findall(text.casefold())
