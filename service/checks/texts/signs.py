"""Signs that a sentence may not give the words beside it as another's: a plain sentence has none.

    in the sentence, before the words   drafting, a gloss, a falsehood, another text; a condition, a request; a question
    in their own clause before them     a modal, a negation, a belief, an indefinite text; a title, a name
    in the sentence before              drafting, a gloss, a supposition
    behind them                         drafting, a denial, a wish; a question, and what is said of the words themselves

The signs are many on purpose, and none has an exception. Without one of them an honest text is accused; with one too
many an invention is shown as unclear, which a person reads too. English only.
"""

from __future__ import annotations

import re

from service.checks.patterns import lazily
from service.checks.texts.attribution import Context

_IN_ANY = (
    r"(?:an?|any|some|every|each|such) (?:[\w-]+ ){0,2}?(?:contract|agreement|policy|document|clause|section|sentence|"
    r"provision|text|report|article|paragraph|rule)"
)
_DRAFTING = (
    r"propos(?!er|ition)\w*|suggest\w*|recommend\w*|(?:re|counter-?)?draft(?!er)\w*|amend\w*|insert\w*|replac\w+|"
    r"substitut\w+|reword\w*|"
    r"rewrit\w+|rephras\w+|redline\w*|supplement\w*|append\w*|adding|addition\w*|instead|wish\w*|template|"
    r"alternative\w*|fallback|negotiat\w+|counter-?(?:offer|propos)\w*|offer(?:s|ed)?|"
    r"new (?:clause|section|sentence|wording|text|rule|duty|line|words?|paragraph|version)"
)
_SUPPOSING = (
    r"would|could|should|might|ought|if|unless|suppos\w+|imagin\w+|assum\w+|pretend\w*|hypothe\w+|as though|were to"
)
_GLOSSING = (
    r"paraphras\w+|(?<!the )(?<!its )summary|summari[sz]\w+|gloss|"
    r"in (?:short|effect|essence|substance|spirit|other words|plain \w+|"
    r"(?:my|our) words|sum|a word|a nutshell)|"
    r"effectively|roughly|loosely|basically|so to speak|as it were|boils?|amounts?|sounds?|translat\w+|"
    r"(?:in|into) (?:English|German|French|Italian)|for example|for instance|e\.g|example|such as|read as|short for|"
    r"means|meant|meaning|"
    r"motto|slogan|proverb|saying goes"
)
_INVENTING = (
    r"invent(?:s|ed|ion)|misquot\w*|misread\w*|mis-?attribut\w*|fabricat\w*|myth|fiction|false(?:ly)?|untrue|"
    r"wrong(?:ly)?|mistaken\w*|no such|"
    r"does not exist|made up|nowhere|contrary|opposite|imaginary|spurious"
)
_ELSEWHERE = (
    r"other (?:contracts?|agreements?|polic(?:y|ies)|suppliers|banks|customers|vendors)|another|earlier (?:version|"
    r"text|contract|"
    r"draft)|market practice|standard terms|old|older|previous|former version|press|website|brochure|e-?mail"
)
_BEFORE = lazily(
    rf"(?<![\w-])(?:{_DRAFTING}|{_GLOSSING}|{_INVENTING}|{_ELSEWHERE}|if|unless|suppos\w+|imagin\w+|assum\w+|pretend\w*|"
    rf"once|until|whether|after|(?:sign|agree|accept|approve|settle)\b[^.;:]{{0,30}}\bwhen|"
    rf"say(?= (?:clause|section|the))|on condition|conditions?(?= (?:is|that))|conditional|subject to|"
    rf"better|best|ideal\w*|wants?|wanted|ask(?:s|ed|ing)?|request\w*|version|option|changes?(?=:)|new|redraft)(?!\w)"
    rf"|\?|\A\W*(?:which|who|whose|does|do|did|is|are|can|to|go|make|use|write|show|let)\b|"
    rf"\A\s*(?:\||[-*+\u2022]\s|\d{{1,2}}[.)]\s)",
    re.IGNORECASE,
)
"""Signs anywhere before the words, in their own sentence."""
_NEAR = lazily(
    rf"(?<![\w-])(?:{_SUPPOSING}|{_IN_ANY}|where|why|how|what|provided(?= that)|add|added|needs?|needed|"
    rf"must (?:read|say)|let|my|our|your|not|no|nor|never|nothing|none|neither|nobody|cannot|"
    rf"without|hardly|scarcely|rather|lacks?|lacking|"
    rf"missing|absent|silent|in vain|fails?|failed|less than|more than|far from|refus\w+|reject\w*|den(?:y|ies|ied)|"
    rf"doubt\w*|believ\w+|thinks?|thought|feels?|hop(?:e|es|ed|ing)|fear\w*|claims?|alleg\w+|purport\w*|tempt\w*|"
    rf"title|titled|entitled|heading|headed|caption|label\w*|named|so-called|called|like|as if)(?!\w)"
    rf"|n['\u2019]t\b|\w['\u2019]d\b",
    re.IGNORECASE,
)
"""Signs before the words, in their own clause."""
_NEW_CLAUSE = lazily(
    r"[;:.](?=\s)|, (?:and|but|so|for|because|since|as|while|yet) |\b(?:because|since|given that|whereas)\b"
)
_FORMER = lazily(
    rf"(?<![\w-])(?:{_DRAFTING}|{_GLOSSING}|misquot\w*|invented|if only|would|could|imagin\w+|suppos\w+)(?!\w)",
    re.IGNORECASE,
)
"""Signs in the sentence before."""
_BEHIND = lazily(
    rf"(?<![\w-])(?:{_DRAFTING}|paraphras\w+|misquot\w*|misread\w*|invented|fabricat\w+|untrue|no such|nowhere|"
    rf"imaginary|words like|or words|in vain|"
    rf"(?:is|are|was|were|do|does|did|has|have)(?: not|n['\u2019]t| never)(?: \w+)? (?:what|in|there|found|the words|"
    rf"the text|stand|appear|say|state|exist)|"
    rf"(?:would|should|could|ought to|needs to) (?:\w+ )?(?:be|read|say|help|do|suffice|close|cure|fix))(?!\w)"
    rf"|\A[\s.,;\"'\u201d\u2019*_)]*(?:it (?:does|is|did|was)(?: not|n['\u2019]t)|not so|wrong|false)\b",
    re.IGNORECASE,
)
"""Signs behind the words, up to the end of their sentence."""
_RIGHT_BEHIND = lazily(
    rf"\A[\s\"'\u201d\u2019*_)]*\?|\A(?:[^.,;:!?\u2013\u2014]{{0,80}}?|\W{{0,4}})(?<![\w-])(?:{_SUPPOSING}|{_GLOSSING}|"
    rf"{_INVENTING}|my|our|your|not|no|never|cannot|neither)(?!\w)|\A\W*(?:with|in) (?:this|that)\b|"
    rf"\A\W*the [\w'\u2019]+ (?:wording|version|text|proposal)",
    re.IGNORECASE,
)
"""Signs in what is said of the words themselves."""
_OPENING = " \"'(:,*_\u201c\u2018\u2014\u2013-"


def is_plain(around: Context, *, closed: bool = False) -> bool:
    """Whether no sign around some words, or in the sentence before, says that they may be no other's.

    ``closed`` says that what follows is not said of the words: they end their sentence, or are a clause's name, behind
    which its report stands.
    """
    before = around.before.rstrip(_OPENING)
    begins = [found.end() for found in _NEW_CLAUSE.finditer(before)]
    signs = (
        _BEFORE.search(around.before)
        or _NEAR.search(before, max(begins, default=0))
        or _FORMER.search(around.former)
        or _BEHIND.search(around.behind)
        or (not closed and _RIGHT_BEHIND.match(around.behind))
    )
    return not signs
