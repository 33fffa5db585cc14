"""Whether a sentence reports what a document says, or speaks of words that need not stand anywhere.

    reported     clause 9 states "…", the policy demands that "…", clause 9: "…", "…" (clause 9)
    not reported clause 9 should state "…", a clause stating "…", if clause 9 stated "…", clause 9 does not state "…"
    unreal       a modal, a condition, a negation, a request, a draft, a comparison or an indefinite author in the
                 clause around words that are not reported

A report has a document for its subject and a verb of content in the indicative; nothing between the two, and nothing
between the verb and the words, denies or wishes. A condition or a causative before the subject ends the report. English
only.
"""

from __future__ import annotations

import re

from service.checks.citations.text.clause_names import PLACE
from service.checks.patterns import lazily
from service.checks.texts.attribution import TITLES, Context, is_sourced

CONTENT = (
    r"(?:says?|said|states?|stated|reads?|provide[sd]?|requires?|required|stipulate[sd]?|specif(?:y|ies|ied)|"
    r"declare[sd]?|confirm(?:s|ed)?|demands?|guarantees?|promise[sd]?|grants?|granted|gives?|gave|"
    r"entitles?|allow(?:s|ed)?|"
    r"permits?|obliges?|imposes?|contain(?:s|ed)?|includes?|(?:has|have)(?! to\b)|holds?|held|puts?|runs?|"
    r"goes|adds?|added|ends?|begins?|"
    r"closes?|concludes?|note[sd]?|record(?:s|ed)?|report(?:s|ed)?|warn(?:s|ed)?|admit(?:s|ted)?|"
    r"concedes?|explain(?:s|ed)?|"
    r"lists?|sets?|define[sd]?|uses?|mention(?:s|ed)?|tells?|makes?|caps|capped|limits?|excludes?|"
    r"exempts?|covers?|forbids?|"
    r"prohibits?|insists?|assures?|acknowledges?|describe[sd]?|estimate[sd]?|finds?|found|writes?|wrote|shows?|"
    r"helps?|"
    r"lets|speaks?|instructs?|orders?|rules?|binds|protects?|calls?|counts?|names?|rated|recommend(?:s|ed)?|"
    r"(?:was|were|has been|have been) (?:amended|changed|extended|supplemented|redrafted|"
    r"reworded) to (?:say|read|state)|"
    r"applies|dispels? it|lautet|sagt|besagt|bestimmt|regelt|clear that|at its word|leaves|softens|"
    r"tempers|answers|settles|wants it|does say|do say|bears? the words)"
)
_DOCUMENT = rf"(?:{PLACE}|\b(?:{TITLES}|D\d{{1,3}})\b)"
_SUBJECT = lazily(rf"{_DOCUMENT}|\bit\b", re.IGNORECASE)
_PREDICATE = lazily(
    rf"(?:['\u2019]s \w+)?(?P<between>[^.;!?]{{0,70}}?)(?<![\w-]){CONTENT}\b(?P<rest>[^;!?]{{0,70}})\Z", re.IGNORECASE
)
_BESIDE = lazily(
    r"(?:['\u2019]s)?(?: of the [\w ]{1,30})?(?: (?:own |very |exact )?(?:words|text|terms|"
    r"language))?[\s,:(\u2013\u2014-]{1,4}(?:namely |i\.e\. |under which |by which |"
    r"whereby |that )?[\"'\u201c\u2018*_]*\Z",
    re.IGNORECASE,
)
_NEGATION = (
    r"not|n['\u2019]t|no|nor|never|none|neither|nothing|nowhere|nobody|cannot|without|hardly|scarcely|barely|rarely|"
    r"lack(?:s|ed|ing)?|absen(?:t|ce)|missing|silen(?:t|ce)|fail(?:s|ed)?|short of|far from|in vain|less than|"
    r"refus\w+|reject\w*|struck|unsupported|rather than|instead of|unlike|open whether|whether|disappoint\w*"
)
_MODAL = (
    r"would|could|should|might|must|ought|needs?|needed|shall|may|can|to be|ha(?:s|ve|d) to|is to|are to|"
    r"let|let['\u2019]s|"
    r"want(?:ed)?|wish(?:es)?|\w+['\u2019]d"
)
_CONDITION = (
    r"if|unless|once|until|suppos\w+|imagin\w+|assum\w+|provided that|on condition|condition|conditional|"
    r"(?:had|were)(?= (?:the|it|this|that|there|they|he|she|we|one|anyone|someone|clause|section|article)\b)|"
    r"as though|as soon as|whoever|whenever|footing|subject to|so long as|before signing"
)
_DRAFTING = (
    r"(?:re-?|counter-?)?draft\w*|reworded|worded as|wording|rephras\w+|rewrit\w+|amend\w*|insert\w*|"
    r"replac\w+|substitut\w+|"
    r"swap\w*|append\w*|supplement\w*|propos(?:e|es|ed|ing|als?)|recommend\w*|suggest\w*|advi[sc]e\w*|request\w*|"
    r"ask(?:s|ed|ing)?|obtain\w*|negotiat\w*|seek|sought|agree on|table|fall(?:s|ing)? back|fallback|alternative\w*|"
    r"instead|better|one more|fix(?:es)?|cure[sd]?|remed\w+|new|additional|further|another|formula|"
    r"template|rider|footnote|"
    r"side letter|carve-?out|caveat|proviso|qualifier|threshold|addition|change|version|try|turn|make|"
    r"revis\w+|repair\w*|belongs?|compromise|deserve\w*|mute|turns out|write|put|narrow|"
    r"tighten\w*|extend|shorten\w*|add|adding|strike|delete|adopt|introduc\w+|attach\w*|place is"
)
_THINKING = (
    r"paraphras\w+|gloss|summar\w+|in short|in brief|in effect|effect|bluntly|plainly put|boil\w*|amounts? to|"
    r"mean(?:s|t|ing)?|think(?:s|ing)?|thought|tempt\w*|feel\w*|believ\w+|hop(?:e|es|ed|ing)|fear\w*|"
    r"expect\w*|dream\w*|"
    r"like|as if|kind|sort|(?:I|we) (?:use|call)|call(?:s|ed)?|named|slogan|motto|saying|proverb|mantra|"
    r"spirit|attitude|logic|problem|"
    r"thrust|gist|upshot|c[ao]mes? down to|sounds|cynic|sceptic|my rule|question|literally|translat\w+|"
    r"in my words|image|metaphor|picture|analogy|screen|button|banner|menu|label|search|"
    r"click|status page|type|for example|for instance|say,|hypothetical\w*"
)
_IN_ANY = rf"in an? (?:[\w-]+ ){{0,2}}(?:{TITLES})"
_UNREAL = lazily(
    rf"(?<![\w-])(?:{_NEGATION}|{_MODAL}|{_CONDITION}|{_DRAFTING}|{_THINKING}|{_IN_ANY})(?!\w)|n['\u2019]t\b",
    re.IGNORECASE,
)
_TURNED = lazily(
    rf"(?<!\w)(?:{_NEGATION}|{_MODAL}|to|like|had|if|whether|as though)(?!\w)|n['\u2019]t\b", re.IGNORECASE
)
"""What ends a report between its subject and the words: a negation, a modal, an infinitive."""
_COMPOUND = lazily(
    r" (?!(?:of|in|on|for|from|to|with|under|at|by|as|which|that|who|itself|also|now|then|already|still|only|just|too|"
    r"again|even|does|do|did|is|has|had|will|would|can|may|and|or|but|both|here|there|thus|therefore|indeed|so|one|we|"
    r"you|they|it|he|she)\b|\w+ly\b|\d)"
    r"[a-z]+s?\b(?! and\b)"
)
"""A noun behind the document's: the audit team is no document."""
_OTHER_SUBJECT = lazily(
    r"(?<!\bof )(?<!\bin )(?<!\bto )(?<!\bon )(?<!\bfrom )(?<!\bby )\b(?:the|her|his|their|its|our|my|"
    r"your|an?|she|he|they|we|you|I|does one|do we)\b",
    re.IGNORECASE,
)
_DENIED_IN = lazily(
    rf"(?<!\w)(?:{_NEGATION}|like|means?|meant|meaning|as though|as if|those who|anyone who|twice for)(?!\w)|"
    rf"n['\u2019]t\b",
    re.IGNORECASE,
)
_ANEW = lazily(
    r"[.;:,?!]|\b(?:because|since|as|for|given|where|while|and|but|than|though|although|which|when)\b"
    r"|\bis (?:the one|that) of\b",
    re.IGNORECASE,
)
"""Where a clause begins that what stands before no longer governs."""
_SUSPENDED = lazily(
    rf"(?<!\w)(?:{_CONDITION})(?!\w)(?!.*\bthat\b)"
    rf"|(?<!\w)(?:{_DRAFTING})(?!\w)(?! (?:re-?)?reading| that)(?: \w+){{0,4}} ?\Z"
    r"|\b(?:propos|recommend|suggest|request|ask|demand|insist|advis)\w*(?: (?:\w+ )?that)(?: the)? ?\Z"
    r"|(?<!\w)(?:an?|any|some|another|each|every|such|neither|nor|no|nowhere (?:does|do|did)|or) (?:[\w-]+ ){0,3}\Z"
    r"|\b(?:nothing|nobody|no one|none|not a (?:word|line|syllable)) (?:in|of|from) (?:[\w-]+ ){0,2}\Z"
    r"|(?<!\w)(?:myth|false|untrue|wrong|incorrect|mistaken|pretend\w*|den(?:y|ies|ied)|suppos\w+|imagin\w+|"
    r"assum\w+) "
    r"(?:to say |to claim )?(?:that )?(?:the )?\Z",
    re.IGNORECASE,
)
"""What suspends a report before its subject: a condition, a causative, an indefinite author, a matrix that denies."""
_LEADING = lazily(
    r"\b(?:in|under|pursuant to|according to|per|by virtue of)\s+(?:the |this |its )?(?:[\w-]+ )?\Z", re.IGNORECASE
)
_BOUND = lazily(
    r"\b(?:bound|obliged|required|forbidden|allowed|entitled|permitted) (?:by|under|in)\s+(?:the |its )?\Z",
    re.IGNORECASE,
)
_DEONTIC = lazily(
    rf"(?!.*(?<!\w)(?:{_DRAFTING}|{_CONDITION}|would|could|should|might|ought|needs?|stop|"
    rf"asks?)(?!\w))[^.;:!?]{{1,60}}\b(?:may|shall|must|can|is|are|has|"
    r"have|cannot)\b[^.;:!?]{0,40}\Z",
    re.IGNORECASE,
)
"""What a clause lets or makes a party do: under clause 9 the Bank may "…"."""
_DOUBLE = lazily(
    r"\b(?:does|do|did) not (?:only|merely|just|simply) (?=say|state|provide|require)|"
    r"(?<!why )\bnot (?:only|merely|just|simply)\b"
    r"|\b(?:anything but(?!\W*\Z)|without (?:exception|reservation)|would anyone deny|(?:there is )?no doubt|"
    r"without (?:a |any )?doubt|(?:is|are) not (?:in doubt|"
    r"silent|missing)|never in doubt)\b"
    r"|\bwhy (?:would|should|does|did)\b"
    r"|\b(?:is|was|does|do|has|are|did) (?:it|there|he|she|they) not\b"
    r"|\b(?:not|never|cannot|can hardly|no ?one(?: can| could)?|nobody(?: can| could)?|neither (?:side|"
    r"party|debater)|nothing) "
    r"(?:\w+ )?(?:den|disput|doubt|overlook|miss|contest|hid|ignor|chang)\w*\b(?: that)?"
    r"|\b(?:could|can|need|does|do|did) not (?:miss|overlook|deny|look far|hide|ignore)\b"
    r"|\b(?:nobody|no ?one|none|nothing) but\b|\b(?:could|can) not be (?:more )?\w+\b"
    r"|\bnot even (?:the )?\w+ (?:den|disput|doubt|contest)\w* (?:it|that)\b"
    r"|\b(?:let us|do|we must|one must|must) (?:not|never) (?:forget|overlook|ignore|miss)\b"
    r"|\bno (?:choice|room|escape)\b|\bnowhere is (?:this|it|that) \w+er than\b|\bnot an? [\w-]+ but\b|"
    r"\bwrong to (?:overlook|miss|ignore)\b",
    re.IGNORECASE,
)
"""Negations and questions that affirm."""
_VAGUE = lazily(
    r"\b(?:other (?:suppliers|vendors|banks|providers|customers|contracts|agreements|parties|firms|companies)|"
    r"others|elsewhere|"
    r"market practice|offers?|offered|counter-?(?:proposals?|offers?)|redline\w*|the minimum|options?|variants?|"
    r"version \w+|"
    r"demand\w*|bargain\w*|talks|negotiat\w+|try|vote for|on condition|(?:one|this) (?:condition|change)|"
    r"conditions?:|changes?:|"
    r"as (?:we|it) (?:want|need|should)\w*|we need|needs?|propos(?!er)\w+|recommend(?!s that)\w*|suggest\w*|wish\w*|"
    r"hop(?:e|ed|ing)|want\w*|amend(?!ed)\w*|(?:re)?draft(?!ers)\w*|wording|rewrit\w+|reword\w*|instead|"
    r"replac\w+|insert\w*|"
    r"believ\w+|thinks?|thought|claims? that|tempt\w+|inclined|standard terms|templates?|long way|ideal\w*|"
    r"desirable|preferable|someone|somebody|lawyers|people|in vain|unlike|far from|misread\w*)\b|\(new\)|"
    r"\A\W*(?:(?:my|our|plan|first|second|third|next|last) \w+|fix|cure|remedy|ask|draft|text|goal|aim|"
    r"wish)(?: \w+)?:|(?:\A|[.!?;:] )\W*new [\d\u00a7]"
    r"|(?:\A|[.!?;:] )(?:correct|leave|set|lift|cut|fix|drop|adjust|alter|modify|take|use|say|write|read|put|"
    r"go for)\b(?!:|,)"
    rf"|\b(?:an?|any|most|many|some|typical|usual|standard|comparable) (?:[\w-]+ ){{0,2}}(?:{TITLES})\b",
    re.IGNORECASE,
)
_SUBJUNCTIVE = lazily(
    r"\b(?:would|could|should|might|ought|if|unless|once|until|whether|had|were)\b|\w['\u2019]d\b|"
    r"\b(?:not|never|no|nor|nothing|nobody|nowhere|neither|without)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_SUBJUNCTIVE_BEHIND = lazily(
    r"\A[\s\"'\u201d\u2019*,)]*(?:would|could|might|should|ought|if|is not|was not|are not|replaces|instead|"
    r"rather|is my|is our|"
    r"was my|was our|or words like|\W*with this)\b|\A[^.;]{0,60}\b(?:could|would|should|might|my|our)\b",
    re.IGNORECASE,
)
_RESTS = lazily(
    r"\b(?:is|are|was|were|has|have|stands?|holds?) [^.;:]{0,40}:[\s\"'\u201c\u2018\u00ab*_(]*\Z|"
    r"\b(?:says?|states?|writes?|wrote|promises?|prescribes?|commands?|warns?|declares?|in (?:its|"
    r"their) own words|own words)"
    r"(?: that)?[\s,:\"'\u201c\u2018\u00ab*_(]*\Z|"
    r"(?:\A|[.;!?]\s)(?:\W*(?:and|but|yet|so|then|right|yes|no|true|correct|indeed|further|moreover|thus|hence|"
    r"also|still|as|for|"
    r"since|because|given|with|on [\w ]{1,30}|in fact)\b){0,2}[\s,:\"'\u201c\u2018\u00ab*_(]*\Z"
    r"|\b(?:because|since|for|as|given(?: that)?|now that|seeing that|considering that|"
    r"(?:I|we|one|you|they|he|she|must|to|and) (?:\w+ )?(?:note|see|accept|know|find|observe|rely|trust|build|"
    r"count|grant|hold|read|"
    r"found|saw|learn|concede)(?: (?:that|on|upon|in|from))?(?: now| here)?(?: that)?|(?:is|"
    r"was) (?:\w+ )?(?:right|true|correct|clear|"
    r"plain|certain)(?: to (?:note|say|add|see))?(?: that)?|rel(?:y|ies|ied) on|"
    r"rests? on)[\s,:\"'\u201c\u2018\u00ab*_(]*\Z",
    re.IGNORECASE,
)
"""What leads to words on which a text rests."""
_CLOSING = " \"'\u201d\u2019*,.)"
_OPENING = " \"'(\u201c"
_OWN = lazily(r"\b(?:my|our|his|her|your) (?:[\w-]+ )?\Z", re.IGNORECASE)
_WHY_NOT = lazily(r"\W*(?:and |but )?why (?:do|does|did|could|can|should)\b.*\bnot\b", re.IGNORECASE)
_ASKED_NOT = lazily(r"\b(?:is|does|has) (the \w+) not\b", re.IGNORECASE)
_NEW_CLAUSE = lazily(r", (?:and|but|yet|while|so) (?=the |it |clause |section |\u00a7)|, (?:but|yet)\Z", re.IGNORECASE)
_ASKS = lazily(r"\A\W*(?:and |but )?(?:which|what|who|whose|how|where|when)\b", re.IGNORECASE)
_PART = lazily(
    r"(?:rules?|sentences?|provisions?|terms|headings?|definitions?|standards?|plans?|tables?|notices?|letters?|"
    r"texts?|"
    r"notes?|sheets?|laws?)\Z",
    re.IGNORECASE,
)
"""Nouns that name a document only with a verb of content: the sentence "…" names its own words."""
_COUNTS = lazily(r"\A\W*(?:first|second|third|fourth|finally|lastly|and),?\W*\Z", re.IGNORECASE)
_FOR = lazily(r"\A\W*an? [^.;:,]{1,60}\bfor (?:the )?\Z", re.IGNORECASE)
_SHOWN_BEHIND = lazily(
    rf"\A[\s\"'\u201d\u2019*_,.\u2013-]*(?:(?:as |so |wie )(?:the |this |"
    rf"its )?(?:[\w-]+ )?{_DOCUMENT} (?:\w+ly )?{CONTENT}\b"
    rf"|(?:the |this |its )?(?:[\w-]+ )?{_DOCUMENT} (?:\w+ly )?(?:says|states|reads|provides)\b(?= *(?:[.,;:)]|\Z)))",
    re.IGNORECASE,
)
_CLAUSE_END = lazily(r"[;!?](?=\s|\Z)|\.(?=\s|\Z)")
_INDEFINITE = lazily(
    r"(?:\A|[\s(])an? (?:[\w-]+ ){1,6}?[(:]?(?:that|of|like|such as|whose|stating|saying|reading|which|"
    r"to)?[\s,:(\"'\u201c\u2018*_]*\Z"
    r"|(?:\A|[.:] )an? [^.;,]{1,60}[:(][\s\"'\u201c\u2018*_]*\Z",
    re.IGNORECASE,
)
_LOOSE = lazily(
    r"\b(?:bluntly|plainly|literally|unkindly|boiled down|paraphras\w+|in plain (?:words|terms|english)|in effect|"
    r"in other words|in short|put differently|my gloss|gloss|summary|summari[sz]\w+)\b",
    re.IGNORECASE,
)
_LITERAL = lazily(r"\b(?:states?|reads?|says?|provides?|stipulates?|requires?|specifies)\b", re.IGNORECASE)


_CALLED = lazily(
    r"\b(?:is|are|was|were|be|being|been|remains?|becomes?|sounds?|about|on|to|with|of|from|by|than|into|against|at|"
    r"over|as|down to|defeats?|pressed)[\s,\"'\u201c\u2018*_(]*\Z"
    r"|\b(?:an?|one|two|three|some|any|another|such|my|our|deserves?|gives?|model|first|second|third|someone|"
    r"everyone|anyone|who) "
    r"[^.;]{0,80}(?:[:,(\u2013\u2014]|says?|reads?|states?)[\s\"'\u201c\u2018*_(]*\Z|\A\W*\w+:\W*\Z",
    re.IGNORECASE,
)
"""Words that no author says: a predicate, the object of a preposition, an example of what is indefinite."""
_RELIES = lazily(
    r"\b(?:rel(?:y|ies|ied)|rests?|bas(?:ed?|es)|turns?|built|depends?) (?:up)?on\W*\Z|\bgiven\W*\Z", re.IGNORECASE
)
_STRONG = lazily(
    r"\b(?:(?:re-?|counter-?)?draft(?!ing|s? letters)\w*|reworded|worded as|wording|rephras\w+|rewrit\w+|"
    r"amend\w*|insert\w*|"
    r"replac\w+|substitut\w+|"
    r"swap\w*|append\w*|supplement\w*|propos\w+|recommend\w*|suggest\w*|advi[sc]e\w*|request\w*|ask(?:s|"
    r"ed|ing)?|obtain\w*|"
    r"negotiat\w*|seek|agree on|revis\w+|repair\w*|fallback|alternative|instead|better still|formula|"
    r"template|rider|footnote|"
    r"side letter|"
    r"carve-?out|proviso|compromise|belongs?|strike|delete|adopt|turn \w+ [\d.]+ into|"
    r"(?:change|set|convert|shorten|raise|lower|cut|recast|widen|narrow|extend) [^.;:]{1,60} (?:to|into)\W*\Z|"
    r"(?:make|let|"
    r"have) (?:\w+ )?[\d.]+ \w+|"
    r"(?:new|better|further|additional|another|one more) (?:clause|sentence|line|rule|step|section|wording|"
    r"words?|text|"
    r"version|duty|provision|paragraph|formula|test|trigger|condition|right))(?!\w)",
    re.IGNORECASE,
)
"""Drafting that may lead to words which a document has but for changes."""
_BECAUSE = lazily(r"\b(?:because|since|but|given that|although|when|though)\b", re.IGNORECASE)
_UNDER = lazily(
    rf"\A[\s\"'\u201d\u2019*,)]*(?:under|in|of|per|pursuant to|by|from|according to) (?:the )?(?:{PLACE}|"
    rf"{TITLES})\W*\Z",
    re.IGNORECASE,
)
"""A clause named behind the words as their source."""
_MODAL_BEHIND = lazily(r"\A[\s\"'\u201d\u2019*,)]*(?:would|could|might)\b(?! be\b)", re.IGNORECASE)
_DRAFTED = lazily(rf"(?<![\w-])(?:{_DRAFTING})(?!\w)", re.IGNORECASE)
_NOT_THERE = lazily(
    r"\bin vain\b|\bin (?:neither|none|no)\b|\brather than\b|\binstead of\b|\bfar from\b|\bnowhere\b", re.IGNORECASE
)


def affirmed(around: Context) -> Context:
    """The same without negations and questions that affirm: no side denies that …, is it not so that …."""
    if _WHY_NOT.match(around.before):
        return around
    before, behind = (_DOUBLE.sub("", _ASKED_NOT.sub(r"\1", words)) for words in (around.before, around.behind))
    return Context(before, behind, around.former)


def is_reported(around: Context) -> bool:
    """Whether the sentence says, in the indicative, that a document has the words."""
    if is_sourced(around) or _SHOWN_BEHIND.match(around.behind):
        return True
    if _LOOSE.search(around.before) and not _LITERAL.search(around.before):
        return False
    return any(_reports(around.before, found) for found in _SUBJECT.finditer(around.before))


def is_beside(around: Context) -> bool:
    """Whether the name of a document stands right before the words, or ends in a possessive: clause 9: …."""
    found = [each for each in _SUBJECT.finditer(around.before) if each.group().lower() != "it"]
    return any(_stands_beside(around.before, each) for each in found)


def is_unreal(around: Context, *, altered: bool, given: bool) -> bool:
    """Whether the clause around the words speaks of what need not stand in any text.

    Words that stand in a document but for material changes need a stronger sign: drafting, or an indefinite author. A
    copula or a preposition before them is a sign where the text names no document: they are not ``given`` as one's.
    """
    before = _CLAUSE_END.split(around.before.rstrip(" \"'(\u201c"))[-1]
    before = _NEW_CLAUSE.split(before)[-1]
    if _COUNTS.match(before):
        before = f"{around.former} {before}"
    if not around.before.strip() and around.former.rstrip(" ").endswith((":", "\n")):
        before = around.former
    behind = around.behind.lstrip("\"')]\u201d\u2019*_. ")
    stop = _CLAUSE_END.search(behind)
    behind = behind[: stop.start() if stop else None]
    if _ASKS.match(before) and around.behind.lstrip("\"')\u201d\u2019 ").startswith("?"):
        return True
    if altered and _MODAL_BEHIND.match(around.behind):
        return True
    if altered:
        before = _BECAUSE.split(before)[-1]
        return bool(_STRONG.search(before) or _INDEFINITE.search(before) or _NOT_THERE.search(f'{before} " {behind}'))
    if not (given or _UNDER.match(around.behind)) and _CALLED.search(before) and not _RELIES.search(before):
        return True
    indefinite = _INDEFINITE.search(before) and not _UNDER.match(around.behind)
    return bool(_UNREAL.search(before) or _UNREAL.search(behind) or indefinite)


def is_under(around: Context) -> bool:
    """Whether a clause is named behind the words as their source: "…" under clause 9."""
    return _UNDER.match(around.behind) is not None


def is_asserted(around: Context) -> bool:
    """Whether the words stand where a text rests on them: alone, at its beginning, behind "because" or "note that"."""
    return _RESTS.search(around.before) is not None


def is_unclear(around: Context) -> bool:
    """Whether the sentence has any sign of a wish, a draft, a denial or another's text.

    It may not give the words as a document's, but the sign is too weak to excuse words that a document has but for
    changes.
    """
    before = _CLAUSE_END.split(around.before.rstrip(_OPENING))[-1]
    explains = before.rstrip().endswith(":")
    return any(
        (
            _VAGUE.search(before),
            not explains and _SUBJUNCTIVE.search(_NEW_CLAUSE.split(_BECAUSE.split(before)[-1])[-1]),
            _VAGUE.search(around.behind),
            _SUBJUNCTIVE_BEHIND.match(around.behind),
        )
    )


def _reports(before: str, subject: re.Match[str]) -> bool:
    ahead, rest = before[: subject.start()], before[subject.end() :]
    if _SUSPENDED.search(_governing(ahead)):
        return False
    if _LEADING.search(ahead) and _DEONTIC.match(rest):
        return True
    if _BOUND.search(ahead) and re.fullmatch(r" (?:to|that)?\W*", rest):
        return True
    said = _PREDICATE.match(rest)
    return said is not None and not any(
        (
            _COMPOUND.match(said["between"]),
            _TURNED.search(said["between"]),
            _OTHER_SUBJECT.search(said["between"]),
            _DENIED_IN.search(said["rest"]),
        )
    )


def _stands_beside(before: str, subject: re.Match[str]) -> bool:
    ahead = _governing(before[: subject.start()])
    unlike = (
        _PART.search(subject.group())
        or _OWN.search(before, 0, subject.start())
        or _SUSPENDED.search(ahead)
        or _FOR.match(before[: subject.start()])
    )
    drafted = _DRAFTED.search(ahead) or _LOOSE.search(ahead)
    return not (unlike or drafted) and _BESIDE.match(before, subject.end()) is not None


def _governing(ahead: str) -> str:
    """The last clause of the words before a subject."""
    return ahead[max((found.end() for found in _ANEW.finditer(ahead)), default=0) :]
