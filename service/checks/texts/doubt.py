"""Whether a sentence leaves it in doubt that it gives the words beside it as another's: the last look before a mark.

    no one has shown where it says "…"           the words' own clause denies, wishes, supposes or proposes
    "…" is not what clause 9 says                so does what is said of them right behind
    "…". The contract says the opposite          so does the next sentence, of what stands before it
    a sentence from other contracts, "…"         the author is none of the documents

A sign does not excuse the words: they are shown as unclear, for a person. English only.
"""

from __future__ import annotations

import re

from service.checks.texts.attribution import Context

_DENIES = (
    r"not|no|nor|never|none|neither|nothing|nowhere|nobody|cannot|without|wrong(?:ly)?|false(?:ly)?|untrue|mistaken(?:ly)?|"
    r"opposite|contrary|mis(?:quot|read|cit|stat|tak|represent|attribut|understand|understood)\w*|invent(?:s|ed|ion)|"
    r"overst\w+|exaggerat\w+|myth|fiction|incorrect(?:ly)?|refut\w+|unsupported|den(?:y|ies|ied|ial)|in vain|lack(?:s|ed|ing)?|"
    r"missing|absen(?:t|ce)|fail(?:s|ed)? to"
)
_SUPPOSES = (
    r"would|could|should|might|ought|if|unless|whether|suppos\w+|imagin\w+|assum\w+|wish\w*|hop(?:e|es|ed|ing)|as though|"
    r"propos(?!er)\w*|suggest\w*|recommend\w*|(?:re)?draft(?!er)\w*|amend(?!ed)\w*|reword\w*|someone|anyone|hypothe\w+"
)
_ELSEWHERE = (
    r"(?:other|another|earlier|later|similar|comparable|usual|standard|typical|common|foreign|model) (?:[\w-]+ ){0,2}?"
    r"(?:contracts?|agreements?|polic(?:y|ies)|documents?|clauses?|sentences?|terms|wordings?|templates?|cases?|banks?|"
    r"suppliers?|vendors?|customers?|compan(?:y|ies)|firms?|providers?|regulators?)"
)
_IN_CLAUSE = re.compile(
    rf"(?<![\w-])(?:{_DENIES}|{_SUPPOSES}|{_ELSEWHERE})(?!\w)|n['\u2019]t\b|\w['\u2019]d\b", re.IGNORECASE
)
_OF_THEM = re.compile(
    rf"\A[\"'\u201d\u2019*_)\]]* (?![A-Z])(?:(?!and\b|but\b|so\b|which\b)[\w'-]+ ){{0,2}}?(?:{_DENIES}|would|could|should|might|"
    r"[a-z]+n['\u2019]t)(?!\w)"
)
_NEXT = re.compile(
    r"\A[\s.!\"'\u201d\u2019*_)\]\u2013\u2014-]*(?:(?:[\w.]+ ){0,4}?(?:says?|states?|provides?|means|proves|shows|is) "
    r"(?:quite |just |exactly |precisely )?the (?:opposite|contrary|reverse)\b"
    r"|(?:(?:it|they|that|this|he|she|the [\w-]+) (?:does|do|did|is|was|are|were|has|have|says?) "
    r"(?:not|no|nothing|false|wrong|untrue)|not so|nowhere|wrong|false|untrue|hardly|by no means)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[.;:,?!](?=\s)|\b(?:because|since|as|for|given|where|while|and|but|than|though|although|which|when|that is)\b",
    re.IGNORECASE,
)
_OPENING = " \"'(:,*_\u201c\u2018\u2014\u2013-"


def is_doubtful(around: Context) -> bool:
    """Whether a denial, a wish, a draft or another author stands in the words' own clause, or is said of them."""
    before = around.before.rstrip(_OPENING)
    clause = before[max((found.end() for found in _CLAUSE.finditer(before)), default=0) :]
    return bool(_IN_CLAUSE.search(clause) or _OF_THEM.match(around.behind) or _NEXT.match(around.behind))
