"""To what a text attributes the words that it quotes: a document, a participant of the debate, or nothing that it says.

    clause 9 states "…", "…" (clause 9), the contract's "…"      document
    It states "…", after a sentence that names clause 9          document
    the critic's "…", Statement 2 says "…"                       debate
    Statement 2 claims that clause 9 states "…"                  debate: the words are in a participant's mouth
    Statement 2 shows that clause 9 states "…"                   document: the text says it too
    anything else                                                open

The words of the passage's own sentence decide, those before it first, the nearest of them last. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from service.checks.citations.text.clause_names import PLACE
from service.checks.patterns import lazily
from service.debate.findings import Attributed

FARTHEST = 300
"""The most characters of a sentence that are read before a passage, and behind it."""

_MARKS = " \t\n*\"'(\u201c\u2018\u00ab"
_ITEM = lazily(r"[ \t>]*(?:[-*+\u2022\u2013]|\(?(?:\d{1,3}|[a-z])[.)])?[ \t*\"'(\u201c\u2018\u00ab]*")
_LISTED = lazily(r"[ \t>]*(?:[-*+\u2022\u2013]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]")
_EMPHASIS = lazily(r"[ \t*]+")
_END = lazily(
    r"(?<!\bNo)(?<!\b[A-Za-z])(?<!\bcl)(?<!\bart)(?<!\bsec)(?<!\bpara)(?<!\be\.g)(?<!\bi\.e)"
    r"(?<!\.\.)[.!?](?![.)\]]*\.)[\"')\]\u201d\u2019]*\s+|(?<!:)(?<!:\*)\n\s*\n"
)
TITLES = (
    r"leases?|adr|testers|auditors|chapters?|licen[cs]es?|extracts?|term sheet|findings?|vertrag\w*|bericht\w*|"
    r"abschnitt|ziffer|"
    r"covenants?|undertakings?|addend(?:um|a)|file|dossier|material|transcript|"
    r"contracts?|agreements?|documents?|polic(?:y|ies)|reports?|memo(?:randum)?|papers?|stud(?:y|ies)|"
    r"regulations?|rules?|"
    r"statutes?|acts?|laws?|guidelines?|guidance|standards?|annex(?:es)?|appendi(?:x|ces)|schedules?|clauses?|"
    r"sub-?clauses?|"
    r"sections?|articles?|paragraphs?|sentences?|provisions?|texts?|records?|audits?|manuals?|specifications?|"
    r"minutes|"
    r"letters?|notices?|notes?|terms|deeds?|filings?|prospectus|sources?|exhibits?|amendments?|addend(?:um|a)|plans?|"
    r"logs?|sheets?|"
    r"directives?|codes?|charters?|assessments?|reviews?|summar(?:y|ies)|tables?|headings?|definitions?|recitals?|"
    r"validators|drafters|authors|management|backlog|runbooks?|playbooks?|handbooks?|procedures?|protocols?|guides?"
)
"""The nouns that name a document or a part of one, as a regular expression."""
_NOUN = lazily(rf"{PLACE}|\b(?:{TITLES})\b|\bD\d{{1,3}}\b|(?P<word>\b[\w-]{{3,}}\b)", re.IGNORECASE)
_BEHIND = lazily(
    r"[\s,;:)\]\"'\u201d\u2019*_.\u2013\u2014-]{0,6}(?:[(\[]|(?:as |so )?(?P<verb>says?|said|states?|reads?|"
    r"provides?|writes?|wrote|puts?|runs?|goes|adds?|added|argue[sd]?|note[sd]?|observe[sd]?|repl(?:y|ies|ied)|"
    r"answer(?:s|ed)?|object(?:s|ed)?|claim(?:s|ed)?|sagt|hei\u00dft)\b(?: it)?"
    r"|(?:according to|in|of|under|per|from|to quote|quoth|is what|are the words of|as)\b)",
    re.IGNORECASE,
)
_SUBJECT = lazily(
    r"\s+(?:the|this|that|its|their|our|an?|der|die|das|statement|debater|model|clause|section|article|adr|"
    r"\u00a7|\d)",
    re.IGNORECASE,
)
_SOURCED = lazily(
    rf"[\s,;:)\]\"'\u201d\u2019*_.]{{0,4}}(?:[(\[](?:see |cf\.? )?|(?:says|states|reads|provides) )(?:the [\w-]+,? )?"
    rf"(?:{PLACE}|D\d{{1,3}}\b)",
    re.IGNORECASE,
)
_NEAR = 40
"""The most characters between such a lead and the author that it names."""
SPEAKER = (
    r"\b(?:statement|debater|model|voice|seat|participant|position|party|argument|point|objection|claim|rebuttal|"
    r"answer|speaker|reviewer) "
    r"(?:no\. ?)?(?:[A-Z]|\d{1,2})\b(?!\.\d)"
    r"|\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|[1-8](?:st|nd|rd|th)|other|opposing|opposite|"
    r"last|next|"
    r"former|latter|affirmative|negative) (?:debater|speaker|seat|participant|model|voice|statement|reviewer|"
    r"panel+ist|"
    r"expert|advocate|author|side|bench)s?\b"
    r"|\b(?:my|our|his|her) (?:\w+ )?(?:opponent|counterpart|adversary|colleague)s?\b"
    r"|\b(?:proposer|critic|rebutter|moderator|judge|synthesi[sz]er|adjudicator|opponents?|opposition|opposing side|"
    r"(?-i:(?<!Annex )(?<!Schedule )(?<!Appendix )(?<!Exhibit )(?<!Part )\b[A-H])(?=['\u2019]s\b|,? (?:says|"
    r"said|writes|wrote|"
    r"argue[sd]|claim(?:s|ed)|add(?:s|ed)|answer(?:s|ed)|calls|called|thinks)\b)|"
    r"other (?:side|debaters?|models?|seats?)|another debater|debaters?|devil's advocate|critique|rebuttal|"
    r"concession|"
    r"proposal|thesis|my own (?:earlier )?(?:answer|argument|thesis)|earlier (?:answer|statement|round|reply)|"
    r"both (?:sides|statements|debaters)|the (?:claim|assertion|allegation|contention|suggestion|submission) that)\b"
)
"""What names a participant of the debate, as a regular expression."""
_SPEAKER = lazily(SPEAKER, re.IGNORECASE)
_ANY = lazily(r"\b(?:an?|any|no|every) \Z", re.IGNORECASE)
_SPEAKS = lazily(
    r"\b(?:claim|assert|alleg|contend|argu|sa(?:y|id)|maintain|read|quot|cit|invok|rel(?:y|ie)|writ|attribut|"
    r"believ|suggest|"
    r"insist|purport|put|object|report|repl|respond|counter|think|conced|grant|treat|describ|call|tell|ascrib|phras|"
    r"word)\w*",
    re.IGNORECASE,
)
_FACTIVE = lazily(
    r"\b(?:show|prov(?:e|es|ed|ing)\b|demonstrat|establish|confirm|recall|remind|point(?:s|ed)? out|not(?:es|ed|"
    r"ing)\b|"
    r"right(?:ly)?\b|correct|accurat|true|truly|verif|observ|reveal|find(?:s|ing)?\b|found\b|undisput|agree(?:s|"
    r"d)?\b)\w*",
    re.IGNORECASE,
)
_PRONOUN = lazily(
    r"(?:^|[,;:(] ?|\b(?:and|but|as|because|for|where|there|does|\w+s) )(?:it|this|that|there|here|which|they|these|"
    r"the (?:same|next|"
    r"second|first|last|following) (?:sentence|paragraph|words?))\b",
    re.IGNORECASE,
)
_SAYING = lazily(
    r"\b(?:stat|provid|sa[iy]|read|requir|specif|declar|stipulat|confirm|word|quot|put|define|add|continu|"
    r"go(?:es)? on)\w*",
    re.IGNORECASE,
)
_IT_SAYS = lazily(r"\b(?:it|one) (?:not )?(?:\w+ )?(?:says?|reads?|states?|provides?)\b", re.IGNORECASE)
_DIRECTLY = lazily(
    r"\b(?:states?|says?|reads?|provides?|stipulates?|specif(?:y|ies)|declares?|in the words of [^.]{1,40}|"
    r"(?:the|these|its) (?:exact )?words(?: are)?)(?: only| expressly| clearly| plainly| just)?(?: that|"
    r" as follows)?[:,]?"
    r"[\s\"'\u201c\u2018*_]{0,4}\Z",
    re.IGNORECASE,
)


class Context(NamedTuple):
    """The sentence around a passage: what stands before it and behind it, and the sentence before that."""

    before: str
    behind: str
    former: str


def context_of(text: str, start: int, end: int) -> Context:
    """The sentence around a stretch of a text; an item of a list belongs to the sentence that leads to it."""
    near = text[max(0, start - 2 * FARTHEST) : start]
    ends = [match.end() for match in _END.finditer(near)]
    begin = ends[-1] if ends else 0
    former = near[ends[-2] if len(ends) > 1 else 0 : begin] if ends else ""
    before = near[begin:]
    if _ITEM.fullmatch(near[near.rfind("\n") + 1 :]) and (lead := _lead(near)):
        before = f"{lead} "
    elif not before.strip(_MARKS) and former.rstrip(f"{_MARKS}.").endswith(("as follows", "the following", ":")):
        before = f"{former.rstrip(f'{_MARKS}.')} "
    after = text[end : end + FARTHEST]
    stop = _END.search(after)
    asked = stop is not None and stop.group().lstrip().startswith("?")
    upto = None if stop is None or asked else stop.end()  # the answer to a question belongs to it
    return Context(_bare(before[-FARTHEST:]), _bare(after[:upto]), _bare(former[-FARTHEST:]))


def _lead(near: str) -> str | None:
    """The sentence that leads to the list of which an item begins at the end of some words."""
    for line in reversed(near.split("\n")[:-1]):
        if line.rstrip().endswith(":"):
            sentences = [found.end() for found in _END.finditer(line)]
            return line[sentences[-1] if sentences else 0 :].rstrip()
        if line.strip() and not _LISTED.match(line):
            return None
    return None


def _bare(words: str) -> str:
    """The words without marks of emphasis."""
    return _EMPHASIS.sub(" ", words)


def attribution(around: Context, titles: frozenset[str] = frozenset()) -> Attributed:
    """To what the sentence attributes the passage; ``titles`` are the words by which the documents are known."""
    if found := _of_lead(around.before, titles):
        return found
    if found := _of_tail(around.behind, titles):
        return found
    if _PRONOUN.search(around.before) and _SAYING.search(around.before):
        return _of_lead(around.former, titles) or ("document" if _IT_SAYS.search(around.before) else "open")
    return "open"


def is_said(around: Context) -> bool:
    """Whether a verb of saying stands before the passage, of any author."""
    return _SAYING.search(around.before) is not None


def names_speaker(words: str) -> bool:
    """Whether words name a participant of the debate."""
    return _SPEAKER.search(words) is not None


def is_shared(words: str) -> bool:
    """Whether a text agrees with what it reports: the critic rightly notes that …."""
    return _FACTIVE.search(words) is not None


def is_direct(around: Context) -> bool:
    """Whether a verb of saying stands right before the passage: the text says that the words are the author's own."""
    return _DIRECTLY.search(around.before) is not None


def is_sourced(around: Context) -> bool:
    """Whether the source follows in brackets, or a verb and its source: (clause 9.2), says clause 9.2."""
    return _SOURCED.match(around.behind) is not None


def is_followed(around: Context, titles: frozenset[str]) -> bool:
    """Whether a document is named right behind the passage as its author: is what clause 9 says."""
    return _of_tail(around.behind, titles) == "document"


def _of_lead(before: str, titles: frozenset[str]) -> Attributed | None:
    speakers = [found for found in _SPEAKER.finditer(before) if not _ANY.search(before, 0, found.start())]
    documents = [found for found in _documents(before, titles) if not _within(found, speakers)]
    if not speakers:
        return "document" if documents else None
    if not documents or documents[-1].start() < speakers[-1].start():
        return "debate"
    between = before[speakers[-1].end() :]
    return "debate" if _SPEAKS.search(between) and not is_shared(before[speakers[-1].start() :]) else "document"


def _within(found: re.Match[str], others: list[re.Match[str]]) -> bool:
    return any(other.start() <= found.start() < other.end() for other in others)


def _of_tail(behind: str, titles: frozenset[str]) -> Attributed | None:
    """By the author that follows at once: (clause 9), says the contract, as Statement 2 puts it."""
    lead = _BEHIND.match(behind)
    if lead is None:
        return None
    rest = behind[lead.end() : lead.end() + _NEAR]
    if lead["verb"] and not _SUBJECT.match(rest):
        return None
    document, speaker = _first_document(rest, titles), _SPEAKER.search(rest)
    if speaker and (document is None or speaker.start() <= document.start()):
        return "debate"
    return "document" if document else None


def _first_document(words: str, titles: frozenset[str]) -> re.Match[str] | None:
    return next(_documents(words, titles), None)


def _documents(words: str, titles: frozenset[str]) -> Iterator[re.Match[str]]:
    """What names a document: its kind, a clause, its id or a word of its title."""
    for found in _NOUN.finditer(words):
        if found["word"] is None or found["word"].casefold() in titles:
            yield found
