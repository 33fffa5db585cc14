"""Whether a sentence leaves it in doubt that it gives the words beside it as another's: the last look before a mark.

    no one has shown where it says "…"           the words' own clause denies, wishes, supposes or proposes
    "…" is not what clause 9 says                so does what is said of them right behind
    "…". The contract says the opposite          so does the next sentence, of what stands before it
    a sentence from other contracts, "…"         the author is none of the documents

A sign does not excuse the words: they are shown as unclear, for a person. English only.
"""

from __future__ import annotations

import re

from service.checks.patterns import lazily
from service.checks.texts.attribution import Context

_DENIES = (
    r"not|no|nor|never|none|neither|nothing|nowhere|nobody|cannot|without|wrong(?:ly)?|false(?:ly)?|untrue|"
    r"mistaken(?:ly)?|"
    r"opposite|contrary|mis(?:quot|read|cit|stat|tak|represent|attribut|understand|understood)\w*|invent(?:s|ed|ion)|"
    r"overst\w+|exaggerat\w+|myth|fiction|incorrect(?:ly)?|refut\w+|unsupported|den(?:y|ies|ied|ial)|in vain|"
    r"abstain\w*|refrain\w*|lack(?:s|ed|ing)?|missing|miss(?:es)?|free of|absen(?:t|ce)|fail(?:s|"
    r"ed)? to (?!mention|note|see|cite|"
    r"read|quote)|doubt(?:s|ed|ful)? (?:that|"
    r"whether)|unproven|"
    r"disput\w+|uncertain|questionable|surpris\w+|"
    r"(?:leav|left|leaving)\w* out|omit\w*|differ\w*|stretch\w*|leap|silent|withdr[ae]w\w*|retract\w*|"
    r"(?:other|else|rather|less|more|anything|apart|far|away|way) (?:than|but|from)"
)
_SUPPOSES = (
    r"would|could|should|might|ought|will(?! not)|if|unless|whether|suppos\w+|imagin\w+|assum\w+|wish\w*|"
    r"hop(?:e|es|ed|ing)|"
    r"as though|propos(?!er)\w*|suggest\w*|recommend\w*|(?:re)?draft(?!er)\w*|(?:once|when|if|"
    r"after) \w*amend\w*|reword\w*|"
    r"replac\w+|insert\w*|added|becomes?|someone|anyone|hypothe\w+|to do|fallback|minimum|"
    r"what [^;:]{1,60}? (?:needs?|wants?)(?: [^;:]{1,30})? is\W*\Z|"
    r"(?:gap|hole|problem|point|worry|concern|loophole)s?[^;,]{0,40}? (?:closed|filled|cured|met|solved|mended|"
    r"answered) (?:by|with)\W*\Z|"
    r"(?:my|our|his|her|their) (?:own )?(?:text|wording|version|language|formula|offer|change|ask|request|condition)|"
    r"may (?:\w+ )?(?:accept|agree|sign|offer|grant)|so that|too \w+ to|ideal(?:ly)?|add\W*\Z|(?:text|wording|"
    r"sentence|line|words) for|"
    r"(?:is|was|were|been|are) (?:claimed|alleged|asserted|argued|contended|asked|believed)|believe[sd]?|"
    r"\w+ (?:for|against|beyond)\W*\Z|ask(?:s|"
    r"ed|ing)? (?:\w+ ){0,2}(?:where|which|how)|(?:in|into) \S+(?: \S+)? goes"
)
_ELSEWHERE = (
    r"(?:other|another|earlier|later|similar|comparable|usual|standard|typical|common|foreign|model|new|revised|"
    r"amended|next) "
    r"(?:[\w-]+ ){0,2}?(?:contracts?|agreements?|polic(?:y|ies)|documents?|clauses?|sentences?|terms|wordings?|"
    r"templates?|"
    r"cases?|banks?|suppliers?|vendors?|customers?|compan(?:y|ies)|firms?|providers?|regulators?|version)|"
    r"market (?:standard|practice)|customary"
)
_IN_CLAUSE = lazily(
    rf"(?<![\w-])(?:{_DENIES}|{_SUPPOSES}|{_ELSEWHERE})(?!\w)|n['\u2019]t\b|\w['\u2019]d\b", re.IGNORECASE
)
_OVER_PLAIN = lazily(
    r"\b(?:doubt(?:s|ed|ful)?|unproven|uncertain|questionable|(?:is|was|were|been|are) (?:claimed|alleged|asserted|"
    r"argued|contended|believed)|believe[sd]?|assum\w+|impression|ask(?:s|ed|ing)?|"
    r"withdr[ae]w\w* \w+ claim) (?:\w+ ){0,2}?"
    r"(?:that|whether|where|in which|which)\b|\b(?:other|else|anything|apart|far|away|way) (?:than|but|from)\W*\Z|"
    r"\b(?:my|our) (?:own )?(?:text|wording|version|language|formula|draft)\b|\bin a (?:version|form|world)\b|"
    r"\b(?:in (?:substance|effect|essence|spirit|sum)|roughly|loosely|more or less)\b",
    re.IGNORECASE,
)
"""What leaves in doubt even a plain statement: hearsay, a contrast right before the words, an author's own text."""
_OPENS = lazily(
    r"(?:\A|[.;:!?] )\W*(?:(?:once|when|if|after|following|with|upon|on|under|"
    r"in) (?:[\w'\u2019-]+ ){0,3}?(?:amend\w*|chang\w+|"
    r"redraft\w*|revis\w+|version|propos(?!er)\w*|wording)[\w ]{0,30}|(?:to do|proposed|suggested|"
    r"wanted)\b[^,:]{0,30})[,:] ",
    re.IGNORECASE,
)
"""What a sentence begins with: a change that would have to be made first."""
_OF_THEM = lazily(
    rf"\A[\"'\u201d\u2019*_)\]]* (?![A-Z])(?:(?!and\b|but\b|so\b|which\b)[\w'-]+ ){{0,2}}?"
    rf"(?:{_DENIES}|would|could|should|might|replaces|[a-z]+n['\u2019]t)(?!\w)"
    r"(?![^.;]{0,40}, (?:it is|but)\b)"
    r"|\A[\"'\u201d\u2019*_)\]]* (?:is|are|was) what [^;,]{0,40}?(?:lacks?|needs?|misses|wants?|is missing)\b"
)
_NEXT = lazily(
    r"\A[\s.,;!\"'\u201d\u2019*_)\]\u2013\u2014-]*(?:(?:[\w.]+ ){0,4}?(?:says?|states?|provides?|means|proves|"
    r"shows|is) "
    r"(?:quite |just |exactly |precisely )?the (?:opposite|contrary|reverse)\b"
    r"|(?:(?:it|they|that|this|he|she|the [\w-]+) (?:does|do|did|is|was|are|were|has|have|says?)"
    r"(?:n['\u2019]t| not| no| nothing| false| wrong| untrue)|not so|nowhere|wrong|false|untrue|hardly|by no means)\b)",
    re.IGNORECASE,
)
_ASKED = lazily(r"\A[\"'\u201d\u2019*_)\]]*\?")
_ASKS = lazily(
    r"(?:\A|[.;:!?,] )\W*(?:and |but |so )?(?:(?:in|at|on) )?(?:where|which|what|who|how|does|do|did|is|can)\b",
    re.IGNORECASE,
)
_CLAUSE = lazily(
    r"[.;:,?!](?=\s)|\b(?:because|since|while|and|but|though|although|whereas|which)\b|(?<=,) (?:for|as|where|"
    r"when)\b",
    re.IGNORECASE,
)
_ASIDE = lazily(
    r", (?:in|as|after|once|if|with|when|under|following)\b[^,;.:]{1,60},(?: \w+){1,2}\Z|, (?:redrafted|amended|"
    r"mended)\Z",
    re.IGNORECASE,
)
"""What stands between a subject and its verb: clause 9, in a form that I could sign, says."""
_FACTIVE = lazily(
    r"\b(?:should|must|would|will|could|can|may|cannot|could not|need not) (?:\w+ )?(?:note|recall|see|remember|"
    r"know|find|"
    r"admit|concede|overlook|ignore|forget|deny)\b",
    re.IGNORECASE,
)
_OPENING = " \"'(:,*_\u201c\u2018\u2014\u2013-"


def is_doubtful(around: Context, *, plainly: bool = False) -> bool:
    """Whether a denial, a wish, a draft or another author stands in the words' own clause, or is said of them.

    ``plainly`` says that the sentence states that a clause which exists has the words: only what governs that counts.
    """
    before = around.before.rstrip(_OPENING)
    aside = _ASIDE.search(before)
    begins = [found.end() for found in _CLAUSE.finditer(before, 0, aside.start() if aside else len(before))]
    clause = _FACTIVE.sub(" ", before[max(begins, default=0) :])
    asked = _ASKED.match(around.behind) and _ASKS.search(before)
    if plainly:
        return bool(asked or _OVER_PLAIN.search(clause) or _OVER_PLAIN.match(before) or _OPENS.search(before))
    said = _OF_THEM.match(around.behind) or _NEXT.match(around.behind)
    return bool(asked or said or _IN_CLAUSE.search(clause) or _OPENS.search(before))
