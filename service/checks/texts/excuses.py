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

from service.checks.citations.text.clause_names import PLACE
from service.checks.patterns import lazily
from service.checks.texts.attribution import Context, is_sourced
from service.debate.findings import Attributed

Excuse = Literal["question", "title", "proposed", "hypothetical", "denied"]

_SAY = (
    r"(?:say|state|read|provide|require|stipulate|specify|contain|include|use|mention|appear|speak|promise|impose|"
    r"grant|"
    r"exist|have|give|find|see)"
)
_SAYS = (
    r"(?:says?|states?|reads?|provides?|requires?|stipulates?|specif(?:y|ies)|contains?|includes?|uses?|mentions?|"
    r"grants?|"
    r"imposes?|shows?|has|have|supports?)"
)
_REPORT = lazily(
    r"\bis (?:the one|that) of\b|"
    r"\b(?:since|because|as|for|that|where|which|and|but|contract|agreement|document|policy|clause|section|"
    r"article|paragraph|"
    r"\u00a7|[\d.]+(?:\([a-z0-9]+\))*),? (?:it |the (?:contract|agreement|document|policy|text) |clause [\d.]+ |"
    r"section [\d.]+ )?(?:clearly |expressly |already |also |then |now )?(?:says|states|reads|provides|requires|"
    r"stipulates|"
    r"specifies|contains|includes|uses|mentions|grants|imposes|has|holds|gives|runs|say|state|provide)\b",
    re.IGNORECASE,
)
_DRAFTS = (
    r"(?:add|insert|append|introduce|propose|recommend|suggest|draft|redraft|amend|replace|reword|rephrase|"
    r"substitute|revise|"
    r"rewrite|supplement|delete|strike)"
)
_CHANGES = (
    rf"(?:{_DRAFTS}|include|negotiate|request|ask for|demand|seek|adopt|write|use|require|change|attach|restate|"
    rf"complement|"
    r"qualify|limit|prefer|have preferred|soften|harden|tighten|narrow|widen|extend|shorten|raise|lower|reduce|"
    r"relax|loosen|"
    r"sharpen|strengthen)"
)
_WISHES = (
    r"(?:settle for|go for|push for|opt for|hold out for|welcome|love|like|wish|put|table|trade|offer|accept|"
    r"back|vote for|bring|"
    r"move|turn)"
)
_NOUNS = (
    r"(?:clause|sentence|wording|words|language|text|section|provision|duty|rule|covenant|line|term|test|definition)"
)
_MARKS = r"[\s,:\"'\u201c\u2018*_]*\Z"
_PROPOSED = lazily(
    r"\b(?:should|could|must|would|might|ought to|needs? to|ha(?:s|ve) to|better|to|is to|are to)"
    r"(?: (?:then|instead|therefore|rather|simply|at least|also|now|expressly|be made to)){0,2}"
    r" (?:(?:read|say|state)\b(?! (?:the |this |in |what )?(?:clause|section|article|contract|agreement|document|"
    r"\u00a7|\d))|"
    r"(?:end|begin|close) with|run|be (?:amended|changed|reworded|replaced|worded|revised|"
    r"redrafted|rephrased|extended|"
    r"supplemented|"
    r"added|inserted|included|drafted|rewritten|restated|completed|qualified|limited|clearer|better|phrased|put|"
    r"safer|"
    rf"complete|enough|fine)|have (?:said|read|stated|provided)|{_CHANGES})\b"
    r"|\b(?:should|ought to|would have to|needs? to) provide\b"
    rf"|(?:^|[,;:(]\s?|\b(?:we|i|and|or|then|please|would|the (?:bank|parties|customer|buyer|board)) ){_DRAFTS}\b"
    r"|\b(?:propos(?:es?|ed|ing|al)|recommend(?:s|ed|ing|ation)?|suggest(?:s|ed|ing|ion)?|amendment|redraft(?:s|"
    r"ed|ing)?|"
    rf"insert(?:ing|ions?)|additions?|adding|addition of|replacing|rewording|rephrasing|(?:a|an) (?:cleaner|"
    rf"clearer|better|safer|simpler|shorter|fuller|tighter|stricter|firmer|plainer|different) "
    rf"{_NOUNS}|(?:another|further|additional|"
    rf"new) (?:\w+ )?{_NOUNS}|"
    rf"(?:alternative|better|draft) {_NOUNS}|(?:wording|language) (?:such as|like|along)|carve-out|in the form|"
    rf"version (?:two|three|four|five|six|seven|eight|\d+) whose)\b"
    rf"|\b(?:would|could|might|should|\w['\u2019]d) (?:\w+ )?(?:{_CHANGES}|{_WISHES})\b|\b(?:if only|would that)\b"
    r"|(?:\A|[.!?:;] |\b(?:then|so|and|or) )(?:go|opt|settle|aim|push|press|fight|hold out|ask|vote|insist|call|"
    r"plead) (?:for|on)\b"
    r"|(?:\u00a7|\bclause|\bsection|\bitem|\bpoint) new\b|\b(?:ideal(?:ly)?|desirable|preferable|preferred|"
    r"optimal|wish(?:ed)?[- ]for)\b"
    rf"|\b(?:is|are|reads?|works?|looks?|becomes?|gets?) (?:\w+ )?(?:better|safer|clearer|stronger|fairer|"
    rf"sounder|complete|"
    r"improved|mended|repaired|cured) (?:with|by|if|as|when|once)\b"
    r"|\bso that (?:it|they|clause [\d.]+|section [\d.]+|the [\w ]{1,30}?) (?:reads?|says?|states?|provides?)\b"
    r"|\b(?:k\u00f6nnte|sollte|m\u00fcsste|erg\u00e4nz\w*|einf\u00fcgen|einzuf\u00fcgen|ersetz\w*|vorschlag\w*|"
    r"vorgeschlagen)\b|\b(?:on|under) (?:the )?conditions? that\b|\bwhy not\b"
    r"|\b(?:once|only if|provided(?: that)?|until|as soon as|when) (?:the |a |an |its |clause |"
    r"section )?[\w .'\u2019-]{0,60}?"
    r"\b(?:provides?|says?|states?|reads?|contains?|includes?|ends?)\b"
    rf"|(?:\bwould be|[,;:.(] say,?|\ba {_NOUNS}(?: \w+){{0,3}} (?:like|such as|to the effect|saying|reading|stating|"
    rf"that says)){_MARKS}",
    re.IGNORECASE,
)
_BEHIND = r"\A[\s,.;:)\]\"'\u201d\u2019*_]*(?:\([^()]{0,60}\) ?)?(?:(?:but|yet|although|though|while|and) )?"
_PROPOSED_BEHIND = lazily(
    _BEHIND
    + r"(?:(?:or|and|that|which) [^.;]{1,60}? )?(?:should|could|would|needs? to|ought to|has to|is to|are to) (?:\w+ )?"
    r"(?:be (?:added|inserted|included|agreed|negotiated|adopted|substituted|written|appended|incorporated|better|"
    r"clearer|"
    r"safer|enough)|solve|fix|cure|help|suffice|do\b|close the|remedy)|(?:is|are) (?:then )?(?:added|inserted|"
    r"appended)|is what [^.;,]{1,40}? (?:would|should|could|needs?|ought|lacks?|misses)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = lazily(
    r"\bas (?:though|if)\b[^.;\"]{0,60}\Z|"
    r"\b(?:might|may|could|would|will|can|should)(?: (?:well|also|still|then|always|perhaps|easily|fairly|simply|"
    r"only)){0,2}"
    r" (?:say|answer|reply|argue|object|respond|claim|ask|contend|counter|think|write|insist|protest|tell|plead|"
    r"conclude|"
    r"take it to mean)\b"
    r"|\b(?:if|had|were|suppose|supposing|imagine|assume|assuming|even if|as if|as though|unless) (?:the |a |an |"
    r"it |clause |"
    r"section |such |this |that |one )?[^.;]{0,60}?\b(?:said|read|stated|provided|ran|were|had|meant|contained|"
    r"ended|found|"
    r"seen|used)\b[^.;]{0,20}\Z"
    r"|\b(?:for example|e\.g\.|for instance|such as|something like|along the lines of|to the effect|"
    r"hypothetical(?:ly)?|"
    r"in the sense of|as (?:the|an old) (?:saying|proverb|adage) (?:goes|has it)|as they say|in other words|"
    r"so to speak|"
    r"to paraphrase|put differently|loosely speaking|read (?:this|it|that) as|the moral is|"
    r"(?:a|the) (?:principle|maxim|adage|saying|proverb|motto|slogan|mantra|approach|attitude|question|logic|"
    r"mindset|posture|"
    r"strategy|scenario|heuristic|fallacy|assumption|intuition|belief|hope|fear|message|headline|view|notion|idea|"
    r"rule of thumb)"
    rf"(?: (?:of|that|is|was))?){_MARKS}",
    re.IGNORECASE,
)
_HYPOTHETICAL_BEHIND = lazily(
    _BEHIND + r"(?:(?:if|were) (?:it|there|this|that|one)\b|(?:\w+ )?(?:overstates?|understates?|exaggerates?|"
    r"goes too far|sums? up)\b|"
    r"is (?:my|our|a|only|merely) (?:\w+ )?(?:summary|paraphrase|gloss|reading)\b)",
    re.IGNORECASE,
)
_LOOSELY = lazily(
    r"(?:\b(?:in (?:a|one|two|three|a few) (?:words?|sentences?|lines?|phrases?)|in (?:effect|substance|essence|"
    r"spirit|plain (?:words|terms|english)|short|sum|(?:my|our|"
    r"other) (?:own )?words)|"
    r"(?:my|our) (?:own )?(?:summary|paraphrase|gloss|reading|words|shorthand)(?: (?:is|of [^.;:]{1,30}))?|"
    r"loosely|roughly|so to "
    r"speak|as it were|to paraphrase|(?:which|that|this) means|meaning|misread(?:s|ing)? [^.;:,]{1,40} as|(?:so-|"
    r"is |are )called)\b)[\s,:\"'\u201c\u2018*_(]*\Z",
    re.IGNORECASE,
)
"""Right before words: they are a gloss or a name, and no other author's."""
_NEW = lazily(r"\b(?:new|further|additional|another|separate) \Z", re.IGNORECASE)
_DENIED = lazily(
    r"\b(?:do(?:es)?|did|is|are|was|were|has|have|had|can|could|would|will)(?: not|n['\u2019]t| never)(?: \w+){1,3}"
    r"[\s\"'\u201c\u2018*]*\Z|\b(?:can(?:not| not|['\u2019]t)|could(?: not|n['\u2019]t)|failed to|unable to|"
    r"fails? to)"
    r" (?:\w+ )?(?:point|find|see|show|locate|spot|identify|name|cite|discover|trace)\b[^.;:]{0,40}\Z"
    r"|\b(?:nobody|no one|none|nothing|neither|never|cannot|not|no \w+|nowhere|n['\u2019]t)\b(?:[^.;:,]|"
    r"\.(?=\d)){0,80}?\bthat"
    r"[\s\"'\u201c\u2018*]*\Z"
    r"|\bno (?:\w+ ){0,3}?(?:of (?:the|this|that) (?:type|kind|sort|form)|like|such as|saying|reading|"
    r"to the effect|akin to)"
    r"[\s,:\"'\u201c\u2018*]*(?:that )?[\s\"'\u201c\u2018*]*\Z|"
    r"\b(?:do(?:es)?|did|is|are|was|were|has|have|can|could|would|will)(?: not|n['\u2019]t| never|"
    r" nowhere)(?: \w+){0,2}"
    rf" {_SAY}(?:ed|s|d)?\b(?! (?:why|how|whether|when|what)\b)|\bcannot (?:\w+ )?{_SAY}\b"
    rf"|\b(?:nowhere|never)(?: \w+){{0,6}}? (?:{_SAYS}|{_SAY}|said|stated|written|found)\b"
    r"|\b(?:no(?:ne of the)?|neither)(?: other| such| single)? (?:clause|section|article|sentence|provision|word|"
    r"text|document|"
    rf"language|part|passage|line|paragraph|source)s?\b(?:[^.;]{{0,60}}?\b{_SAYS}\b|[^.;]{{0,20}}\Z)"
    rf"|\b(?:at|in|on) no (?:point|time|place|page|occasion|part|way)\b[^.;]{{0,60}}?\b(?:{_SAY}|{_SAYS}|warn|"
    rf"confirm)\b"
    r"|\b(?:myth|false|untrue|not true|wrong|incorrect|mistaken|misread\w*|misconception) (?:to say |"
    r"to claim )?that\b"
    rf"|\b(?:nothing|neither)\b[^.;,:]{{0,60}}?\b{_SAYS}\b"
    r"|\bwithout (?:saying|stating|adding|using|the words?|any (?:rule|clause|sentence|provision|word|"
    r"duty))\b[^.;]{0,30}\Z"
    r"|\b(?:lacks?|lacking|omits?|omitted|omitting|leaves? out|left out|missing|absent|silent (?:on|about|as to)|"
    r"drop(?:s|ped)|"
    r"stops? short of|falls? short of|fails? to (?:say|state|mention|provide|use)|avoid(?:s|ed|ing)?|look(?:ed|"
    r"ing)? for|"
    r"search(?:ed|ing)? for|there (?:is|was) no|has no|have no)\b[^.;]{0,40}\Z"
    r"|(?<!is there )(?<!is it )(?<!are there )\b(?:not|rather than|instead of|as opposed to|than|no)"
    rf"(?: (?:the words?|merely|just|simply|to|of|a|an|any|as|by|on))*{_MARKS}",
    re.IGNORECASE,
)
_DENIED_BEHIND = lazily(
    _BEHIND
    + r"(?:(?:as [\w ]{1,40},|which|that|it|this|these words|the words?|the phrase|the quotation|a phrase|words?) )?"
    r"(?:(?:do(?:es)?|is|are|was|were|did|has|have|can|could)(?: not|n['\u2019]t| nowhere| never| no)\b[^.;]{0,20}?"
    r"\b(?:appear|occur|stand|exist|found|in the|in any|in clause|part of|there|said|written|quot|support|state|"
    r"say|contain|"
    r"word|present|any|what the|what clause|words of|taken|from|clause|section|documented|recorded|mentioned)"
    r"|(?:appears?|stands?|occurs?|is|are|exists?|can be found|is to be found) (?:nowhere|in (?:no|none|neither))\b"
    r"|(?:turns? out|proves?) to be (?:\w+ )?(?:air|nothing|wrong|false|an invention|made|a paraphrase|unfounded|"
    r"no quotation)\b"
    r"|and (?:\w+ )?(?:did|do|could|can) ?not find|cannot be (?:found|located|traced|verified)"
    r"|(?:is|are|was|were) (?:\w+ )?(?:missing|absent|my (?:own )?paraphrase|a paraphrase|unsupported|struck))",
    re.IGNORECASE,
)
_NOT_THERE = lazily(
    _BEHIND + r"(?:(?:which|that|it|this|these words|the words?|the phrase|the quotation|words?) )?"
    r"(?:(?:do(?:es)?|is|are|was|were|did|has|have|can|could)(?: not|n['\u2019]t| nowhere| never)(?: \w+)?"
    r" (?:appear|occur|stand|exist|be found|found|there\b|in (?:the|any|its) (?:contract|agreement|document|"
    r"policy|text|clause|file|"
    r"record|report)|part of)|(?:appears?|stands?|occurs?|is|are|exists?|can be found) (?:nowhere|in (?:no|none|"
    r"neither))\b"
    r"|(?:on|in|at) no (?:page|clause|place|line|section|point|part)\b|nowhere\b"
    r"|(?:it|this|that|they|the \w+) (?:does|did|do|is|was|has)(?:n['\u2019]t| not| nothing| no such thing)(?: at all|"
    r" so)?\s*(?:[.;!]|\Z)"
    r"|(?:they |it |these )?(?:is|are) not (?:before us|given|here|among|in evidence)"
    r"|cannot be (?:found|located|traced|verified)|(?:is|are) (?:\w+ )?(?:missing|absent|a paraphrase|struck))",
    re.IGNORECASE,
)
_REFUTED = lazily(
    r"\b(?:misquot|fabricat|invented|made[- ]up|non-?existent|spurious|hallucinat|mis-?cit|mis-?attribut)\w*"
    r"|\b(?:do(?:es)?|did) not exist\b|\bnever existed\b|\bnot a quotation\b|\bnot (?:in|among) the documents?\b"
    r"|\b(?:no|not a|without a) (?:such )?(?:clause|section|article|provision|sentence|passage|"
    r"document)\b(?: \w+){0,3}?"
    r" (?:exists?|of that|with that|by that|says|states|shows|supports|contains|has)\b|\bno such (?:clause|"
    r"section|article|"
    r"provision|sentence|passage|words?|document|text)\b",
    re.IGNORECASE,
)
_ANSWERED = lazily(
    r"\A[\s\"'\u201d\u2019)]*\?[\"'\u201d\u2019)]*\s+(?:no\b|it (?:does|did|is|has|says) (?:not|no)|nowhere|"
    r"hardly|not\b|nothing|never|"
    r"neither)",
    re.IGNORECASE,
)
_WISHED = lazily(
    r"\b(?:(?:would|could|should|ought)(?! not|n['\u2019]t)|want(?:s|ed)?|wish(?:es)?|if|unless|acceptable|"
    r"conditions?|once|provided|"
    r"asks? for|demands?|"
    r"insist(?:s|ed)? on|gains?|missing|lack(?:s|ing)?|whose)\b",
    re.IGNORECASE,
)
_SAID_SO = lazily(
    r"\b(?:says?|states?|reads?|provides?|stipulates?|specif(?:y|ies)|confirms?|requires?|warns?|promises?|grants?)\b"
    r"[^.;]{0,60}\Z|\bwords\b[^.;]{0,20}\Z"
    r"|\b(?:clause|section|article|contract|agreement|document|policy)(?: [\d.]+)? (?:has|holds|contains|includes|"
    r"gives)\b"
    r"[^.;]{0,30}\Z",
    re.IGNORECASE,
)
_BESIDE_NAME = lazily(rf"{PLACE}(?:['\u2019]s)?[\s,:(\u2013\u2014-]{{1,4}}[\"'\u201c\u2018]*\Z", re.IGNORECASE)
_NO_WORDS = " \"'*_(\u201c\u2018"
_ASKED_FOR = lazily(
    r"\b(?:would|could|should|might|cure|fix|remedy|help|instead|better)\b[^.?!]*\?\W*\Z", re.IGNORECASE
)
"""A question for words that are not there yet, which the next sentence gives: what would cure it?"""
_ABSENT = lazily(
    r"(?:\b(?:not|never|nowhere|nobody|no one)|n['\u2019]t)\b[^.;]{0,30}?\b(?:given|provided|shown|supplied|"
    r"attached|included|exists?|"
    r"find|found|see|seen|there|before us|part of|in (?:the|our) (?:files?|bundle|extract|case|papers|documents?))\b"
    r"|\b(?:missing|absent|lacking|in vain|non-?existent)\b",
    re.IGNORECASE,
)
"""What says that something is not there, wherever in a sentence it stands."""
_NEAR = 90
"""The most characters behind a passage in which it is refuted."""
_OF_THE_DEBATE = lazily(
    r"\A,? (?:of|in) (?:the |its |their |my |our |your )?(?:critique|critic|rebuttal|proposal|proposer|statement|"
    r"reply|answer|"
    r"synthesis|debate|opponent|thesis)",
    re.IGNORECASE,
)
_TITLED = lazily(
    r"\b(?:titled|entitled|headed|called|named|labell?ed|heading|title|caption|known as|so-called|"
    r"under the heading|section|"
    r"document|chapter|file|column|tab|field)\b[\s,:\"'\u201c\u2018*_(]*\Z",
    re.IGNORECASE,
)
_LONGEST_TITLE = 12
_VERB = lazily(
    r"\b(?:shall|must|may|might|can|could|will|would|should|is|are|was|were|be|has|have|had|does|do|did|not|"
    r"cannot)\b",
    re.IGNORECASE,
)
_DIGIT = lazily(r"\d")
_WORD = lazily(r"[^\W\d_]{4,}")


def excuse(words: str, around: Context, attributed: Attributed, *, reported: bool, stated: bool) -> Excuse | None:
    """Why quoted words are not given as another's, or ``None``.

    Only a denial excuses what a sentence reports, and only one behind it what the sentence states plainly.
    """
    if words.rstrip(" \"'*_)").endswith("?") and attributed != "document":
        return "question"
    if _is_title(words, around, attributed):
        return "title"
    if stated:
        refuted = _REFUTED.search(around.behind[:_NEAR]) or _NOT_THERE.match(around.behind)
        return "denied" if refuted or _ANSWERED.search(around.behind) else None
    if reported:
        return "denied" if _is_refuted(around) else None
    return excuse_of_clause(around)


def excuse_of_clause(around: Context) -> Excuse | None:
    """Why a sentence does not give a clause, or the words beside it, as a document's, or ``None``."""
    if _is_denied(around):
        return "denied"
    if not around.before.strip(_NO_WORDS) and _ASKED_FOR.search(around.former):
        return "proposed"
    if _NEW.search(around.before) or _governs(_PROPOSED, around.before) or _PROPOSED_BEHIND.search(around.behind):
        return "proposed"
    hypothetical = (
        _LOOSELY.search(around.before)
        or _governs(_HYPOTHETICAL, around.before)
        or _HYPOTHETICAL_BEHIND.search(around.behind)
    )
    return "hypothetical" if hypothetical else None


def is_of_debate(around: Context) -> bool:
    """Whether a numbered part is one of a reply: section 2 of the critique."""
    return _OF_THE_DEBATE.search(around.behind) is not None


def is_absent(around: Context) -> bool:
    """Whether a sentence says of a clause that it is missing, or was not given: clause 9 is not among these pages."""
    return any(_ABSENT.search(words) for words in (around.before, around.behind))


def is_wished(around: Context) -> bool:
    """Whether a sentence speaks of what is not the case, or not yet, and no verb tells the words that it quotes."""
    return _WISHED.search(around.before.rsplit(";", 1)[-1]) is not None and not (
        _SAID_SO.search(around.before) or _BESIDE_NAME.search(around.before) or is_sourced(around)
    )


def _is_denied(around: Context) -> bool:
    return _is_refuted(around) or _governs(_DENIED, around.before)


def _is_refuted(around: Context) -> bool:
    """Whether words are denied that the sentence may report before: they are invented, or stand nowhere."""
    refuted = (
        _NOT_THERE.match(around.behind) or _governs(_REFUTED, around.before) or _REFUTED.search(around.behind[:_NEAR])
    )
    return bool(refuted or _DENIED_BEHIND.search(around.behind) or _ANSWERED.search(around.behind))


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
