"""The strong forms of evidence: words are marked only where one of these gives them as another's, in a plain sentence.

    says        clause 9 states "…", the policy demands that "…", it says "…", in the words of clause 9: "…"
    contains    clause 9 obliges the Supplier to "…"
    under       under clause 9 the Bank may "…", in section 3 we read "…"
    beside      clause 9: "…", the contract's own words "…"
    source      "…" (clause 9), "…", says the contract, "…" is what clause 9 says
    reports     any other report of a document's words in the indicative (`mood`, `reports`)
    speaker     the critic says "…"
    distorted   "…" on which the text rests, and which a document has but for a number, a negation or a party
    noClause    clause 99 states, under clause 99, clause 99, which
    repeated    "…" for which a shown reply, or the author's former take, was marked, and whose speaker is not named

Words that stand nowhere and have no such form are unclear: a reader is warned of them, and no seat is asked again. The
list is closed: a new way to give words as a document's is unclear until it has a form. What a plain sentence is stands
in `signs`. Quoted words with brackets or an inner quotation are never marked, and those with dots only if nothing but
a negation is hidden, or if no piece of them stands anywhere. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from service.checks.citations.text.clause_names import PLACE
from service.checks.citations.text.cue_words import is_negation
from service.checks.citations.text.quoted_words import Quotation
from service.checks.patterns import lazily
from service.checks.texts.attribution import SPEAKER, TITLES, Context, names_speaker
from service.checks.texts.given_words import Given
from service.checks.texts.signs import is_plain
from service.debate.findings import CitationVerdict, Edit

Form = Literal[
    "says", "contains", "under", "beside", "source", "reports", "speaker", "distorted", "noClause", "repeated"
]

_OPEN = r"[\s:,;(\[*_|>~=`\"'\u201c\u2018\u2013\u2014-]*\Z"
_NUMBER = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){1,4}(?![\w]|\.\d)"
_TITLED = (
    rf"(?:\b(?:the|this|its|their|both) (?:[\w'\u2019-]+ ){{0,3}}?(?:{TITLES})|"
    r"(?:\A|[.;:,] )\W*(?:adr|audit|management|validators|testers|auditors|authors|drafters|findings?))\b"
)
_NAME = rf"(?:(?:{PLACE}|{_NUMBER}|{_TITLED}|\bD\d{{1,3}}\b)(?: \d{{1,3}}\b)?(?:['\u2019]s?(?: [\w-]+){{0,2}})?)"
"""A document, or a clause by its name or number; with what it owns."""
_ADVERB = (
    r"(?: (?:\w+ly|now|then|also|already|still|itself|thus|therefore|indeed|in fact|in turn|too|only|just|even|again|"
    r"on its face|as it stands))"
)
_OF = (
    r"(?: (?:of|in) (?:the |this )?[\w.-]{1,30}(?: [\w-]{1,20}){0,3}?)?(?:,[^,.;:]{1,40},|\s?\([^()]{1,40}\))?"
    r"(?:,? (?:which|that|and it))?"
)
_VERB = (
    r"(?:(?:does |do |did )?(?:states?|says?|provides?|stipulates?|requires?|declares?|specif(?:y|ies))|reads|stated|"
    r"said|provided|required|confirms?|promises|guarantees|demands?|orders|prescribes|commands|warns|notes|records|"
    r"adds|concludes|admits|finds|found|reports|explains|writes?|wrote|runs|is worded|puts? it|has it|lautet|bestimmt|"
    r"closes|ends|begins|goes on|continues|concedes|has|is that)"
)
_TO = (
    r"(?:,? (?:that|as follows|verbatim|in full|word for word|the following|this|thus|(?:with|by) (?:the words|saying)|"
    r"the words|under \w+))*"
)
_SAYS = lazily(
    rf"{_NAME}{_OF}{_ADVERB}{{0,2}} {_VERB}{_ADVERB}{{0,2}}{_TO}{_OPEN}|\bit{_ADVERB}? {_VERB}{_TO}{_OPEN}",
    re.IGNORECASE,
)
_IN_WORDS = lazily(
    rf"(?:\b(?:in the (?:very |exact |own )?words of|quoting|(?:I|we) quote|to quote|as per|according to|as stated in) "
    rf"(?:the )?(?:{_NAME}|{TITLES})|{_NAME}{_OF}(?:[^.;:]{{0,40}}? and (?:I|we) quote|"
    rf",? (?:verbatim|word for word|literally)))"
    rf"{_OPEN}|(?:\A|[,;:] |\b(?:for|because|since|and) )(?:the|its) (?:(?:plain|very|exact|actual) )?(?:text|wording)"
    rf"(?: of [^,;:]{{1,40}})? (?:is|reads|says)(?: this| as follows)?{_OPEN}",
    re.IGNORECASE,
)
_CONTENT = (
    r"(?:requires?|obliges?|allows?|permits?|lets|gives|grants?|entitles?|limits?|caps|excludes?|forbids?|prohibits?|"
    r"makes|imposes?|sets?|defines?|contains?|includes?|covers?|has|keeps?|binds?|holds?|describes?|reserves?|exempts?|"
    r"guarantees?|promises?|says?|states?|provides?|records?|reports?|finds?|found|notes?|ties|treats|calls|names|lists|"
    r"adds?|explains?|warns?|admits?|concedes?|confirms?|writes?|speaks of|expects?|commits|shows?|mentions?)"
)
_CONTAINS = lazily(
    rf"(?:{_NAME}{_OF}{_ADVERB}{{0,2}} {_CONTENT}|\b(?:stated|said|written|recorded|provided|laid down) in {_NAME})\b"
    rf"[^.;:!?\"\u201c\u201d]{{1,70}}{_OPEN}",
    re.IGNORECASE,
)
_BEGINS = r"(?:\A|[.;:,] |\b(?:and|but|because|as|since|for|that) )\W*"
_UNDER = lazily(
    rf"{_BEGINS}(?:under|in|by|per|pursuant to|nach|laut) {_NAME}{_OF},?[^.;:!?\"\u201c\u201d]{{0,60}}{_OPEN}",
    re.IGNORECASE,
)
_BESIDE = lazily(
    rf"{_NAME}{_OF}(?: (?:own |very |exact )?(?:words|text|language))?[\s]*[:,(\u2013\u2014-]{{1,2}}{_OPEN}",
    re.IGNORECASE,
)
_SOURCED = lazily(
    rf"\A[\s,;:)\]\"'\u201d\u2019*_.\u00bb]{{0,4}}[(\[](?:see |cf\.? )?(?:the )?(?:[\w-]+,? )?(?:{PLACE}|D\d{{1,3}}\b|"
    rf"\d+\.\d+)",
    re.IGNORECASE,
)
_SOURCE = lazily(
    rf"\A[\s\"'\u201d\u2019*_,.)\u00bb\u2013\u2014-]*(?:(?:so )?(?:says|states|reads|provides|stipulates|prescribes) "
    rf"(?:the )?(?:{PLACE}|{TITLES}|\d+\.\d+)|(?:as )?(?:the |its )(?:\w+ )?(?:{TITLES}) (?:says|states|reads|provides|"
    rf"explains|records|tells us|has it|puts it)\b|"
    rf"(?:is|are) (?:what|how) (?:the )?(?:{PLACE}|{TITLES}) (?:says|states|provides|reads|is worded)|"
    rf"(?:is|stands|is found|is written) in (?:the )?{PLACE}|is (?:already )?the text of (?:the )?(?:{PLACE}|{TITLES})|"
    rf"{PLACE}\W*\Z)",
    re.IGNORECASE,
)
_SPEAKS = lazily(
    rf"(?:{SPEAKER})(?:['\u2019]s (?:own )?words|{_ADVERB}? (?:says?|said|states?|stated|writes?|wrote|claims?|argues?|"
    rf"asserts?|insists?|answers?|replies|adds?|notes?|concedes?|admits?|objects?|contends?|warns?|concludes?|"
    rf"puts it))"
    rf"(?:,? (?:that|literally|verbatim|word for word))*{_OPEN}",
    re.IGNORECASE,
)
_RESTS = lazily(
    r"(?:\A|[.;!] )\W*(?:(?:and|but|yet|so|then|right|yes|correct|indeed|further|moreover|thus|hence|also|still|as|for|"
    r"since|because|(?:I|we) (?:note|accept|see|rely|find|observe)(?: on| that)?|"
    r"on [\w ]{1,30})\b,?){0,2}[\s,:\"'\u201c\u2018\u00ab*_(]*\Z"
    r"|\b(?:because|since|for|given(?: that)?|(?:rely|relies|rest|rests) on|(?:note|see|hold|accept|see now) that|"
    r"in writing that)[\s,\"'\u201c\u2018*_(]*\Z|"
    r"(?:\A|[.;!] )[^.;:]{3,60}? (?:is|are) [\w ]{3,40}:[\s\"'\u201c\u2018*_(]*\Z",
    re.IGNORECASE,
)
"""What leads to words on which a text rests, and to nothing else."""
_MISSING = lazily(
    r"\A(?: of (?:the |this )?[\w.-]{1,30}(?: [\w-]{1,20}){0,2})?,?(?: (?:which|that|\w+ly|also|then|even))*"
    r" (?!is\b|was\b|does\b|has\b)[a-z]{3,}s\b|\A(?: of the [\w-]+)?, (?:(?:under|by|in) )?which\b|"
    r"\A: ?[\"'\u201c\u2018]|\A\)",
    re.IGNORECASE,
)
_MISSING_UNDER = lazily(
    rf"{_BEGINS}(?:under|by|per|pursuant to|according to|in|nach) (?:the )?\Z|[(\[](?:see |cf\.? |per )?(?:the )?\Z",
    re.IGNORECASE,
)

_OF_CONTRACTS = lazily(r"(?:sub-?)?clauses?\b|cl\.|findings?\b|actions?\b", re.IGNORECASE)
"""The kinds of parts that contracts and reports have, and laws have not."""
_LEADING_NUMBER = lazily(r"\s?(\d{1,4})")
_BEYOND = 10
"""By how much a number may be higher than any of the documents' and still be meant for one of these."""
_STANDS_ALONE = lazily(r"(?:\A|[.;:,(\u2013\u2014]|\b[a-z]+|(?:\A|[.;:] )\W*[A-Z][a-z]+)[\s\"'\u201c\u2018*_(]*\Z")
"""Before a clause's name: the beginning of a sentence, or a word without a capital; a law's name has one."""
_LAW = lazily(r"\b(?:[A-Z]{3,}|Act|Acts|Regulation|Directive|Code|Law|Convention|Treaty|Statute|Ordinance|Rules)\b")
"""What names a law or a standard that a clause may be of."""
_VISIBLE = lazily(r"[\[\]]|\?\W*\Z|[\"\u201c\u201d\u201e\u00ab\u00bb]|(?<!\w)['\u2018]\w[^'\u2019]{3,}['\u2019](?!\w)")
"""Brackets and inner quotation marks, and a question."""
DOTS = lazily(r" ?(?:\.\.+|\u2026) ?")
"""Dots that show that something is left out."""
_TURNS = frozenset("number negation name date currency modal word dropped inserted".split())
"""Edits that make a passage another one. Those of a notation, an article or a plural, and dots, do not for certain."""
_CUT_OFF = "negation cut off"
_MOST_EDITS, _FEW_WORDS = 3, 3
_LEAST_WORDS, _LEAST_DISTORTED = 4, 6
_LITERAL = lazily(r"\b(?:states?|stated|reads|words of|verbatim|text is|wording is)\b", re.IGNORECASE)

Test = Callable[[Context], object]
Known = Callable[[str], bool]

_GIVEN_AS: Mapping[Form, Test] = {
    "says": lambda at: _SAYS.search(at.before) or _IN_WORDS.search(at.before),
    "source": lambda at: _SOURCED.match(at.behind) or _SOURCE.match(at.behind),
    "beside": lambda at: _BESIDE.search(at.before),
    "under": lambda at: _UNDER.search(at.before),
    "contains": lambda at: _CONTAINS.search(at.before),
}
"""The forms in which a sentence gives words as a document's, strongest first."""


def form_of_words(quoted: Quotation, given: Given, verdict: CitationVerdict, is_known: Known) -> Form | None:
    """The strong form in which a sentence gives words that stand nowhere, or not there, as another's; else ``None``.

    ``verdict`` is the one on the words in the documents; ``is_known`` says whether a word is theirs or a
    title's.
    """
    around = given.around
    closed = quoted.text.rstrip().endswith((".", "!"))
    if not _is_whole(quoted, verdict):
        return None
    if given.spoken:
        named = _SPEAKS.search(around.before)
        plain = named and is_plain(around._replace(before=around.before[: named.start()]), closed=closed)
        return "speaker" if plain else None
    if names_speaker(around.before) or not is_plain(around, closed=closed):
        return None
    if not given.stated and _names_law(around.before, is_known):
        return None
    if not quoted.in_marks and not _LITERAL.search(around.before):
        return None
    given_as = next((form for form, test in _GIVEN_AS.items() if test(around)), None)
    if given_as or given.reported:
        return given_as or "reports"
    distorted = verdict.verdict == "altered" and _is_distorted(quoted, verdict.edits)
    return "distorted" if distorted and _RESTS.search(around.before) else None


def form_of_clause(name: str, around: Context, is_known: Known, most: int) -> Form | None:
    """The strong form in which a sentence rests on a clause that no document has, or ``None``.

    ``is_known`` says whether a word is one of the documents or their titles, and ``most`` is the highest number of a
    clause of theirs. A part that laws have too (section, article, annex) counts only with a number that a contract may
    have, as a subject or a source, and beside no law.
    """
    if not is_plain(around, closed=True) or names_speaker(around.before):
        return None
    if _OF_CONTRACTS.match(name):
        return "noClause"
    number = _LEADING_NUMBER.search(name)
    named = _MISSING.match(around.behind) or _MISSING_UNDER.search(around.before)
    if not named or (number and int(number[1]) > most + _BEYOND) or not _STANDS_ALONE.search(around.before):
        return None
    return None if any(_names_law(words, is_known) for words in around) else "noClause"


def _names_law(words: str, is_known: Known) -> bool:
    """Whether words name a law or a standard of which no document speaks."""
    return any(not is_known(found.group().casefold()) for found in _LAW.finditer(words))


def _is_whole(quoted: Quotation, verdict: CitationVerdict) -> bool:
    """Whether quoted words are enough, and hide, explain and quote nothing that a reader sees."""
    if quoted.words < _LEAST_WORDS or quoted.depth or _VISIBLE.search(quoted.text):
        return False
    material = [edit for edit in verdict.edits if edit.material]
    if DOTS.search(quoted.text):
        return bool(material) and all(map(_hides_negation, material))
    return verdict.verdict != "altered" or any(edit.kind in _TURNS or edit.kind == _CUT_OFF for edit in material)


def _hides_negation(edit: Edit) -> bool:
    """Whether dots stand for a negation and hardly another word."""
    words = edit.from_.split()
    return edit.to == "\u2026" and len(words) <= _FEW_WORDS and any(is_negation(word.lower()) for word in words)


def _is_distorted(quoted: Quotation, edits: Sequence[Edit]) -> bool:
    """Whether words are a passage of a document but for few changes that make it another one."""
    material = [edit for edit in edits if edit.material]
    return (
        quoted.words >= _LEAST_DISTORTED
        and 0 < len(material) <= _MOST_EDITS
        and all(edit.kind in _TURNS for edit in material)
    )
