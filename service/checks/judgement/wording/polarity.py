"""Agreement by double negation: "it would be wrong to say that this argument fails", "no one could deny it".

A clause is read as a chain of the words below; any other word, and most conjunctions, end a chain. Each negation, each
verb of denying, each name of a fault and each word of failure turns the chain round once. It agrees where an even
number of them, and at least one pair, is about the case or in the critic's mouth:

    a failure that is denied   "argument 1 does not fail", "it would be wrong to say that it fails"
    a denial that is denied    "nobody could deny that argument 2 holds", "I cannot find fault with it"

What the proposer itself denies is no agreement of the critic ("the proposer does not deny it"), and neither is a denial
of a clause about something else ("I do not deny that fines ...").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.checks.judgement.wording.caseless import Caseless, in_small
from service.checks.patterns import lazily

_CASE = (
    r"(?:(?:the|this|that|these|those|its|his|her|their|each|every|any|all|both|either|such)(?: of (?:the|its"
    r"|these))? )?"
    r"(?:(?:proposer's|proposed|first|second|third|fourth|fifth|whole|main|core|central|overall|other|remaining) )*"
    r"(?:arguments?|reasoning|thesis|propositions?|proposals?|readings?|interpretation|analysis|logic"
    r"|inference|premises?"
    r"|conclusions?|proposer)(?: \d+(?:(?:,| and| or|, and) \d+)*)?"
    r"|(?:this|that|the proposer's|its|the) (?:case|claim|point|position)\b(?! \d)"
    r"|(?:what|anything|everything|nothing) (?:that )?(?:it|the proposer) (?:says|argues|claims|writes)"
)
_VERBS_OF_DENYING = (
    r"den(?:y|ies|ied|ying)|disput(?:e|es|ed|ing)|doubt(?:s|ed|ing)?|contest(?:s|ed|ing)?|refut(?:e|es|ed|ing)"
    r"|rebut(?:s|ted|ting)?|reject(?:s|ed|ing)?|gainsa(?:y|id|ying)|contradict(?:s|ed|ing)?|oppos(?:e|es|ed|ing)"
    r"|impugn(?:s|ed|ing)?|disprov(?:e|es|ed|ing)|resist(?:s|ed|ing)?|dismiss(?:es|ed|ing)?|disagree(?:s|d|ing)?"
    r"|undermin(?:e|es|ed|ing)|overturn(?:s|ed|ing)?|criticis(?:e|es|ed|ing)|criticiz(?:e|es|ed|ing)"
    r"|(?<!the )(?<!an )(?<!a )(?<!its )(?<!no )(?<!any )(?<!find )(?<!without )(?:question(?:ed|ing)?"
    r"|challeng(?:e|es|ed|ing)|attack(?:s|ed|ing)?|faulted"
    r"|quarrel(?:led|ling)?|object(?:s|ed|ing)?|fault(?= (?:the|this|that|it|argument|either|any|with)\b"
    r"|\s*[.;:!?,]|\s*$))"
    r"|take (?:any )?(?:issue|exception)|(?:argue|say|hold|say anything|bring|hold anything) against"
    r"|argue with|argued with"
    r"|complain(?:s|ed|ing)?|(?:said|speaks?|tells?|counts?|weighs?|brought|held|argued|raised|advanced) against"
)
_FAULTS = (
    r"faults?|attacks?|challenges?|rebuttals?|refutations?|flaws?|errors?|mistakes?|defects?|weakness(?:es)?"
    r"|gaps?|holes?|objections?|criticisms?"
    r"|complaints?|quarrel"
    r"|contradictions?|inconsistenc(?:y|ies)|fallac(?:y|ies)|slips?|misreadings?|shortcomings?|disagreements?"
)
_FAILURES = (
    r"wrong(?:ly)?|mistaken|false|incorrect|erroneous|unsound|flawed|invalid|untrue|misguided|misplaced"
    r"|misconceived|unfair"
    r"|absurd|fools?|unreasonable|untenable|unfounded|groundless|baseless|unpersuasive|unconvincing"
    r"|implausible|fallacious"
    r"|defective|faulty|incoherent|inaccurate|unjustified|unwarranted|unsupported|illogical|foolish|rash|perverse|amiss"
    r"|dishonest|indefensible|weak|a mistake|an error|a stretch|fail(?:s|ed|ing)?(?! to \w)|falls? (?:short"
    r"|down|apart|flat)"
    r"|fall(?= with\b|\s*[.;:!?]|\s*$)|collapses?|crumbles?|errs?|erred|breaks? down|miss(?:es)? the (?:mark|point)"
    r"|goes (?:wrong|astray)|go (?:wrong|astray)|lacks? (?:any )?(?:merit|force|support|substance|basis)"
    r"|go(?:es)? too far|open to (?:question|attack|doubt|objection)"
)
_SUCCESSES = (
    r"(?:withstands?|survives?|resists?|defeats?) (?:any|every|each|all) (?:\w+ )?(?:attacks?|challenges?|objections?"
    r"|criticisms?|scrutiny)|irrefutable|unassailable|undeniable|indisputable|incontestable|unanswerable"
    r"|unobjectionable"
    r"|holds?(?! (?:\w+ )?against)(?: up| good| water| true)?|stands?(?: up)?|survives?|succeeds?|prevails?"
    r"|convinces?|persuades?|carries"
    r"|sound|correct|right|true|valid|good|convincing|persuasive|compelling|strong|solid|cogent|accurate|tenable"
    r"|reasonable|justified|well[ -]founded|accept(?:s|ed|ing)?|adopt(?:s|ed|ing)?|endors(?:e|es|ed|ing)"
    r"|uph(?:o|e)ld(?:ing)?"
)
_SAYING = (
    r"sa(?:y|ys|id|ying)|claim(?:ed|ing)?|suggest(?:s|ed|ing)?|argu(?:e|es|ed|ing)|pretend(?:s|ed|ing)?"
    r"|maintain(?:s|ed|ing)?|think(?:s|ing)?|thought|believ(?:e|es|ed|ing)|conclud(?:e|es|ed|ing)|call(?:s|ed|ing)?"
    r"|assert(?:s|ed|ing)?|contend(?:s|ed|ing)?|suppos(?:e|es|ed|ing)|insist(?:s|ed|ing)?|impl(?:y|ies|ied|ying)"
    r"|describ(?:e|es|ed|ing)|sees?|seen|find(?:s|ing)?|found|show(?:s|n|ing)?|prov(?:e|es|ed|en|ing)"
    r"|point(?:ed|ing)? to"
    r"|identif(?:y|ies|ied)|detect(?:s|ed)?|discern(?:s|ed)?|spot(?:s|ted)?|discover(?:s|ed)?|accus(?:e|ed|ing)"
    r"|consider(?:s|ed)?|regard(?:s|ed)?|notice(?:s|d)?|admit(?:s|ted)?|acknowledge(?:s|d)?|explain(?:s|ed)?"
)
_NEGATIONS = (
    r"not(?! (?:only|merely|just|simply|even|least)\b)|\w+n't(?! (?:only|merely|just|simply)\b)|cannot|never"
    r"|no one|nobody"
    r"|nothing(?! (?:but|else|more|less)\b)|none|no(?! (?:doubt|longer|less|more|question|later|sooner)\b)|nowhere|nor"
    r"|neither|hardly|scarcely|barely|rarely|seldom|little(?= (?:to|in|wrong|that)\b)|few (?=\w+s? (?:could"
    r"|would|can|will)\b)"
    r"|without(?! (?:(?:a |any )?doubt|it|them|this|that)\b)|far from|anything but|by no means|in no way"
    r"|at no point|free (?:of"
    r"|from)|devoid of"
    r"|unable to|impossible to|(?:hard|difficult)(?:[ -]pressed| put)? (?:for \w+ )?to|fail(?:s|ed)? to"
    r"|in vain|struggles? to"
    r"|refuses? to|declines? to|the last to|who (?:could|would|can|will)|how (?:could|can|would)"
    r"|why (?:would|should)|what is there to"
)
_FUNCTION = (
    r"it|there|that|to|of|in|with|about|on|at|from|by|an?|any|the|whether|how|why|whatever|which|such|so|is"
    r"|are|was|were|be"
    r"|been|being|has|have|had|do|does|did|can|could|would|should|will|may|might|must|shall|ought|dare|need|needs|able"
    r"|reasons?|grounds?|basis|cause|way|room|scope|use|thing|anything|something|much|at all|single|one|ones|slightest"
    r"|trace|ever|really|truly|honestly|seriously|fairly|quite|simply|also|here|indeed|clearly|obviously"
    r"|plainly|possibly"
    r"|properly|reasonably|credibly|rightly|justly|sensibly|substantially|materially|fundamentally|entirely|wholly|very"
    r"|too|even|still|yet|all|else|part|aspect|respect|(?:look|search|hunt|hunted|looked|searched|looking"
    r"|searching) for|tried|try|trying|sought|seek"
    r"|seems?|appears?|remains?|as being|like|as (?:though|if)|possible|contains?|suffers? from|true|case|fact"
    r"|itself|themselves|simple|plain|no doubt"
    r"|and found(?= (?:none|nothing|no)\b)"
)
_ASIDE = (
    r",\s(?:on|in|to|with|at|as|by|for|after|given|I|however|of course|therefore|then|indeed|frankly|again|even)\b"
    r"[^,.;:!?]{0,60},"
)
TAGS = {
    "case": _CASE,
    "success": _SUCCESSES,
    "negation": _NEGATIONS,
    "failure": _FAILURES,
    "denial": _VERBS_OF_DENYING,
    "fault": _FAULTS,
    "saying": _SAYING,
    "critic": (
        r"(?:I|we|you)(?:'(?:d|m|ve|ll|re))?|me|us|(?:this|the|any) critic|one|anyone|anybody|someone|you|(?:fair"
        r"|careful|reasonable|honest) \w+"
        r"|readers?|lawyers?|courts?|judges?|reviewers?|supervisors?|critics?|persons?|people"
    ),
    "pronoun": r"this|these|those|they|them|he|she|either of them|both of them",
    "expletive": r"(?:it|there)(?:'s)?",
    "function": _FUNCTION,
}
_LEXER = Caseless(
    rf"(?P<aside>{_ASIDE})|"
    + "|".join(rf"(?P<{tag}>\b(?:{words})\b)" for tag, words in TAGS.items())
    + r"|(?P<other>\w[\w'-]*|[^\w\s])"
)
_SENTENCE = lazily(r"[^.;:!?\u2014\u2013]+(?:[.](?=\w)[^.;:!?\u2014\u2013]+)*[.;:!?]?")
_BE = lazily(r"(?:be|been|being|is|are|was|were)\s+(?:\w+ly\s+|so\s+)?$", re.IGNORECASE)
_TO = lazily(r"\bto\s+(?:\w+ly\s+)?$", re.IGNORECASE)
LONGEST = 40
"""The most words of a chain."""
_PERSONS = lazily(r"(?:no|no one|nobody|nothing|none|who|few|neither|nowhere|hardly any\w*)\b", re.IGNORECASE)
_THAT = lazily(r"\b(?:that|whether|how|why)\b", re.IGNORECASE)
_OF = lazily(r"\s+of\b", re.IGNORECASE)
_UNLIMITED = frozenset({"", ".", ";", ":", "!", ",", "and", "as", "because", "since"})
_PREDICATES = frozenset({"failure", "denial", "fault"})
_TURNING = _PREDICATES | {"negation"}
_SUBJECTS = frozenset({"case", "pronoun", "critic", "expletive"})
_ABOUT = frozenset({"case", "pronoun"})


class _Word(NamedTuple):
    """A word of a chain: its kind, and its place in the text."""

    tag: str
    start: int
    end: int


class Agreement(NamedTuple):
    """A chain that agrees by its polarity, and its place in the text, end exclusive."""

    start: int
    end: int


def agreements(plain: str) -> Iterator[Agreement]:
    """Every chain of a text without quotations that agrees by an even number of negations."""
    lexer, text = _LEXER.over(plain, in_small(plain))
    for sentence in _SENTENCE.finditer(plain):
        for chain, ended_by in _chains(plain, lexer.finditer(text, *sentence.span())):
            at_start = not plain[sentence.start() : chain[0].start].strip()
            if _agrees(plain, chain, ended_by) or (at_start and _affirms(chain, ended_by)):
                yield Agreement(chain[0].start, chain[-1].end)


def _chains(plain: str, words: Iterator[re.Match[str]]) -> Iterator[tuple[list[_Word], str]]:
    """The chains of a sentence, each with the word that ends it, or with nothing at the sentence's end."""
    chain: list[_Word] = []
    for found in words:
        tag = found.lastgroup or "other"
        if _carries_on(plain, chain, found.group().casefold()):
            continue
        if tag == "other" or len(chain) == LONGEST or _begins_again(plain, chain, found.group().casefold()):
            if chain:
                yield chain, found.group()
            chain = []
        elif tag != "aside":
            chain.append(_Word(tag, found.start(), found.end()))
    if chain:
        yield chain, ""


def _carries_on(plain: str, chain: Sequence[_Word], said: str) -> bool:
    """Whether a word only joins: a comma before there is a subject, or "nor" between two subjects of "neither"."""
    if said == ",":
        return not any(word.tag in _SUBJECTS for word in chain)
    if said != "nor" or any(word.tag in _PREDICATES for word in chain):
        return False
    return any(_is(plain, word, "neither") for word in chain)


def _begins_again(plain: str, chain: Sequence[_Word], said: str) -> bool:
    """Whether a word joins a second predicate: "neither wrong nor weak" says the same twice."""
    return said == "nor" and any(_is(plain, word, "neither") for word in chain)


def _agrees(plain: str, chain: Sequence[_Word], ended_by: str) -> bool:
    """Whether a chain turns round an even number of times, at least once in a pair, about the case."""
    turning = [word for word in chain if word.tag in _TURNING]
    if not turning or len(turning) % 2 or any(_by_the_proposer(plain, chain, n) for n in range(len(chain))):
        return False
    last = next(word for word in reversed(chain) if word.tag in _TURNING or word.tag == "success")
    after = plain[last.end : chain[-1].end]
    if last.tag == "denial":
        if not (_PERSONS.match(plain, chain[0].start) or any(word.tag in _SUBJECTS for word in chain)):
            return False
        within = any(word.tag in _ABOUT for word in chain if word.start > last.end)
        return within or not (ended_by and _THAT.search(after))
    if "fault" in {word.tag for word in turning}:
        return any(word.tag in _SUBJECTS for word in chain)
    to_the_case = any(word.tag == "case" for word in chain if word.start > last.start)
    if (last.tag == "negation" and not to_the_case) or (ended_by and _OF.match(after)):
        return False
    return any(word.tag in _ABOUT or _is(plain, word, "it") or _is(plain, word, "it's") for word in chain)


def _affirms(chain: Sequence[_Word], ended_by: str) -> bool:
    """Whether a chain says of the case, without any negation, that it stands, and nothing limits that."""
    tags = [word.tag for word in chain if word.tag != "function"]
    return tags[:2] == ["case", "success"] and not _TURNING & set(tags) and ended_by.casefold() in _UNLIMITED


def _is(plain: str, word: _Word, said: str) -> bool:
    return plain[word.start : word.end].casefold() == said


def _by_the_proposer(plain: str, chain: Sequence[_Word], n: int) -> bool:
    """Whether the case, or its author, is what denies or says something at this place of a chain."""
    word = chain[n]
    if word.tag not in ("denial", "saying") or _BE.search(plain[max(0, word.start - 24) : word.start]):
        return False
    subject = next((chain[k] for k in range(n - 1, -1, -1) if chain[k].tag in _SUBJECTS), None)
    if subject is None or subject.tag == "critic":
        return False
    if subject.tag == "expletive":
        return _is(plain, subject, "it") and not _TO.search(plain[max(0, word.start - 24) : word.start])
    return True
