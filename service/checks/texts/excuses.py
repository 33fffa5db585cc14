"""Quoted words that a text does not give as another's, and clauses of which it does not say that they exist.

    question      "What follows from this?"
    title         words in capitals without a verb; entitled "…", the heading "…"
    proposed      clause 9 should read "…", we propose to insert "…", "…" should be added
    hypothetical  a court might say "…", if the clause said "…", for example "…"
    denied        clause 9 does not say "…", nowhere "…", "…" stands nowhere, there is no clause 99.9

An excuse holds for the words that it governs: what comes between the two must not be a report of its own, as in "we
propose to sign, since clause 9 states …". A denial stands beside the verb of saying. English only.
"""

from __future__ import annotations

import re
from typing import Literal

from service.checks.texts.attribution import Attributed, Context

Excuse = Literal["question", "title", "proposed", "hypothetical", "denied"]

_SAY = (
    r"(?:say|state|read|provide|require|stipulate|specify|contain|include|use|mention|appear|speak|promise|impose|"
    r"grant|"
    r"exist|have|give)"
)
_SAYS = (
    r"(?:says?|states?|reads?|provides?|requires?|stipulates?|specif(?:y|ies)|contains?|includes?|uses?|mentions?|"
    r"grants?|"
    r"imposes?)"
)
_REPORT = re.compile(
    r"\b(?:since|because|as|for|that|where|which|and|but|contract|agreement|clause|section|article|paragraph|§|"
    r"[\d.]+(?:\([a-z0-9]+\))*),? (?:it |the (?:contract|agreement|document|policy|text) |clause [\d.]+ |"
    r"section [\d.]+ )?"
    r"(?:clearly |expressly |already |also |then |now )?(?:says|states|reads|provides|requires|stipulates|"
    r"specifies|contains|"
    r"includes|uses|mentions|grants|imposes|say|state|provide)\b",
    re.IGNORECASE,
)
_CHANGE = (
    r"(?:add|insert|append|introduce|include|propose|recommend|suggest|draft|redraft|amend|replace|reword|"
    r"rephrase|substitute|"
    r"revise|rewrite|supplement|negotiate|request|ask for|demand|seek|agree|adopt|strike|delete|write|use|require|"
    r"change|"
    r"attach|restate|complement|qualify|limit)"
)
_PROPOSED = re.compile(
    r"\b(?:should|could|must|would|might|ought to|needs? to|ha(?:s|ve) to|can|may|better|to|is to|are to)"
    r"(?: (?:then|instead|therefore|rather|simply|at least|also|now|expressly|be made to)){0,2}"
    r" (?:read|say|state|provide|be (?:amended|changed|reworded|replaced|worded|revised|redrafted|rephrased|extended|"
    r"supplemented|added|inserted|included|drafted|rewritten|restated|completed|qualified|limited)"
    rf"|have (?:said|read|stated|provided)|be (?:clearer|better|phrased|put|safer|complete|enough|fine)|{_CHANGE})\b"
    rf"|(?:^|[,;:(]\s?|\b(?:we|i|and|or|then|please|would|the (?:bank|parties|customer|buyer|board|"
    rf"supplier)) ){_CHANGE}\b"
    r"|\b(?:propos(?:es?|ed|ing|al)|recommend(?:s|ed|ing|ation)?|suggest(?:s|ed|ing|ion)?|amendment|redraft(?:s|"
    r"ed|ing)?|"
    r"insert(?:ing|ion)|adding|addition of|replacing|rewording|rephrasing|new (?:clause|sentence|wording|words|"
    r"language|text|"
    r"section|provision)|alternative (?:wording|language)|better (?:wording|language)|draft (?:wording|language|"
    r"clause)|"
    r"wording (?:such as|like|along)|language (?:such as|like|along)|carve-out)\b"
    r"|\bso that (?:it|they|clause [\d.]+|section [\d.]+|the [\w ]{1,30}?) (?:reads?|says?|states?|provides?)\b"
    r"|\b(?:on|under) (?:the )?conditions? that\b|\bwhy not\b|\b(?:once|only if|provided(?: that)?|until|"
    r"as soon as|when) (?:the |a |an |"
    r"its |clause |"
    r"section )?[\w .'\u2019-]{0,60}?\b(?:provides?|says?|states?|reads?|contains?|includes?|ends?)\b"
    r"|\b(?:would be|, say,?|a (?:duty|clause|sentence|rule|covenant|provision|line|term|test|"
    r"definition)(?: \w+){0,3} (?:like|"
    r"such as|to the effect|saying|reading|stating|that says))[\s,:\"'\u201c\u2018*_]*\Z",
    re.IGNORECASE,
)
_PROPOSED_BEHIND = re.compile(
    r"\A[\s,.;:)\]\"'\u201d\u2019*_]*(?:\([^()]{0,60}\) ?)?(?:(?:or|and) [^.]{1,60}? )?"
    r"(?:should|could|must|would|might|needs? to|"
    r"ought to|has to|is to|are to|can) (?:\w+ )?(?:be (?:added|inserted|included|agreed|negotiated|adopted|used|put|"
    r"substituted|written|appended|incorporated|required)|solve|fix|cure|help|suffice|do\b|close|remove|go\b|"
    r"meet|settle|"
    r"work|read|replace|answer|satisfy|resolve|address|make|remedy|restore)",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:might|may|could|would|will|can|should)(?: (?:well|also|still|then|always|perhaps|easily|fairly|simply|"
    r"only)){0,2}"
    r" (?:say|answer|reply|argue|object|respond|claim|ask|contend|counter|think|write|insist|protest|tell|plead|"
    r"conclude)\b"
    r"|\b(?:if|had|were|suppose|supposing|imagine|assume|assuming|even if|as if|as though|unless) (?:the |a |an |"
    r"it |clause |"
    r"section |such |this |that |one )?[^.;]{0,60}?\b(?:said|read|stated|provided|ran|were|had|says|reads|states|"
    r"meant|contained|ended|found|seen|used)"
    r"\b[^.;]{0,20}\Z"
    r"|\b(?:for example|e\.g\.|for instance|such as|something like|along the lines of|to the effect|"
    r"hypothetical(?:ly)?|"
    r"in the sense of|(?:a|the) (?:principle|maxim|adage|saying|proverb|motto|slogan|mantra|approach|attitude|"
    r"test|question|logic|mindset|posture|strategy|scenario|heuristic|fallacy|assumption|intuition|belief|hope|"
    r"fear|message|"
    r"headline|view|notion|idea)(?: (?:of|that|is|was))?)[\s,:\"'\u201c\u2018*_]*\Z",
    re.IGNORECASE,
)
_DENIED = re.compile(
    rf"\b(?:do(?:es)?|did|is|are|was|were|has|have|can|could|would|will)(?: not|n['\u2019]t| never|"
    rf" nowhere)(?: \w+){{0,2}} {_SAY}(?:ed|s|d)?\b"
    rf"|\bcannot (?:\w+ )?{_SAY}\b"
    rf"|\b(?:nowhere|never)(?: \w+){{0,6}}? (?:{_SAYS}|{_SAY}|said|stated|written|found)\b"
    r"|\bno(?:ne of the)? (?:other )?(?:such )?(?:clause|section|article|sentence|provision|word|words|text|"
    r"document|documents|language|part|"
    rf"passage|party|line|statement)s?\b(?:[^.;]{{0,60}}?\b{_SAYS}\b)?"
    rf"|\bnothing\b[^.;]{{0,60}}?\b{_SAYS}\b|\bneither\b[^.;]{{0,60}}?\b{_SAYS}\b"
    r"|\bwithout (?:saying|stating|adding|using|the words?|any|a)\b"
    r"|\b(?:lacks?|lacking|omits?|omitted|omitting|leaves? out|left out|missing|absent|silent (?:on|about|as to)|"
    r"drop(?:s|ped)|"
    r"stops? short of|falls? short of|fails? to|avoid(?:s|ed|ing)?)\b"
    r"|(?<!is there )(?<!is it )(?<!are there )\b(?:not|rather than|instead of|as opposed to|than|"
    r"no)(?: (?:the words?|merely|just|simply|to|of|a|an|any|"
    r"as|by|on))*"
    r"[\s\"'\u201c\u2018*_:]*\Z",
    re.IGNORECASE,
)
_DENIED_BEHIND = re.compile(
    r"\A[\s,;:)\]\"'\u201d\u2019*_]*"
    r"(?:(?:which|that|it|this|these words|the words?|the phrase|the quotation|a phrase|words?)"
    r"(?: that)? )?(?:(?:do(?:es)?|is|are|was|were|did|has|have|can|could)(?: not|n['\u2019]t| nowhere| never|"
    r" no)\b[^.;]{0,20}?"
    r"\b(?:appear|occur|stand|exist|found|in the|in any|in clause|part of|there|said|written|quot|support|state|"
    r"say|contain|"
    r"word|present|any|what the|what clause|words of|taken|from|clause|section)"
    r"|(?:appears?|stands?|occurs?|is|are|exists?|can be found|is to be found) (?:nowhere|in no)\b"
    r"|cannot be (?:found|located|traced|verified)|(?:is|are|was|were) (?:\w+ )?(?:missing|absent|"
    r"my (?:own )?paraphrase|a paraphrase|"
    r"invented|fabricated|unsupported|unverified|struck))",
    re.IGNORECASE,
)
_REFUTED = re.compile(
    r"\b(?:misquot|fabricat|invented|made[- ]up|non-?existent|spurious|purported|paraphras|unverified|hallucinat|"
    r"do(?:es)? not exist|did not exist|no such|not a quotation|never existed|mis-?cit|mis-?attribut|not (?:in|"
    r"among) the documents?)\w*",
    re.IGNORECASE,
)
_TITLED = re.compile(
    r"\b(?:titled|entitled|headed|called|named|labell?ed|heading|title|caption|known as|so-called|"
    r"under the heading|section|"
    r"document|chapter|file|column|tab|field)\b[\s,:\"'\u201c\u2018*_(]*\Z",
    re.IGNORECASE,
)
_LONGEST_TITLE = 12
_VERB = re.compile(
    r"\b(?:shall|must|may|might|can|could|will|would|should|is|are|was|were|be|has|have|had|does|do|did|not|cannot)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{4,}")


def excuse(words: str, around: Context, attributed: Attributed) -> Excuse | None:
    """Why quoted words are not given as another's, or ``None``."""
    if words.rstrip(" \"'*_)").endswith("?") and attributed != "document":
        return "question"
    if _is_title(words, around, attributed):
        return "title"
    return excuse_of_clause(around)


def excuse_of_clause(around: Context) -> Excuse | None:
    """Why a sentence does not give a clause, or the words beside it, as a document's, or ``None``."""
    sentence = f"{around.before}\0{around.behind}"
    if _REFUTED.search(sentence) or _governs(_DENIED, around.before) or _DENIED_BEHIND.search(around.behind):
        return "denied"
    if _governs(_PROPOSED, around.before) or _PROPOSED_BEHIND.search(around.behind):
        return "proposed"
    return "hypothetical" if _governs(_HYPOTHETICAL, around.before) else None


def _governs(cue: re.Pattern[str], before: str) -> bool:
    """Whether the last of some cues governs the end of the words: no report stands between."""
    ends = [found.end() for found in cue.finditer(before)]
    return bool(ends) and _REPORT.search(before, ends[-1]) is None


def _is_title(words: str, around: Context, attributed: Attributed) -> bool:
    count = len(words.split())
    if count > _LONGEST_TITLE or _VERB.search(words):
        return False
    if _TITLED.search(around.before):
        return True
    long = _WORD.findall(words)
    return (
        len(long) > 1
        and not _DIGIT.search(words)
        and words[:1].isupper()
        and all(word[0].isupper() for word in long)
        and attributed != "document"
    )
