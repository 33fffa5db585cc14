"""Whether a sentence states, plainly and in the indicative, that a document has the words: no excuse holds for these.

    stated      clause 9.2 states "…", clause 9.2, as it should, reads "…", 9.2, which says "…", the text is "…",
                in the words of clause 9.2: …, "…" is what clause 9.2 says, clause 9.2 should read "…", and it does
    not stated  if clause 9.2 states "…", we ask that clause 9.2 says "…", it is false that clause 9.2 says "…",
                our clause 9.2 reads "…", a sentence in clause 9.2 that reads "…"

The subject stands right before its verb, and the verb right before the words. Only a condition, a request or a denial
right before the subject takes the statement back. The clause is one that a document has. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from service.checks.citations.text.clause_names import PLACE
from service.checks.patterns import lazily
from service.checks.texts.attribution import TITLES, Context
from service.checks.texts.mood import CONTENT

_OPEN = r"[\s:,;(\[*_|\"'\u201c\u2018\u2013\u2014-]*\Z"
_ADVERB = (
    r"(?: (?:\w+ly|now|then|also|already|still|itself|thus|therefore|indeed|in fact|in turn|too|only|just|"
    r"all the same|as it "
    r"stands|on its face))"
)
_VERB = (
    r"(?:states?|stated|says?|said|reads?|provides?|provided|stipulates?|stipulated|requires?|required|"
    r"declares?|declared|"
    r"specifies|specified|confirms?|confirmed|promises|promised|guarantees|guaranteed|grants|granted|adds|added|"
    r"has it|"
    r"ends|begins|continues|goes on|is worded|was worded|(?:is|was) phrased|(?:does|do|did) (?:\w+ly )?(?:say|"
    r"state|read|provide)|"
    r"contains|includes|uses|has)"
)
_REST = (
    r"(?: (?:that|as follows|verbatim|in terms|in full|word for word|the (?:very |exact |following )?words?|"
    r"the (?:phrase|sentence"
    r"|text|rule)|the following|expressly|plainly|clearly|just|only|this))*"
)
_PREDICATE = lazily(
    rf"(?: of (?:the |this )?[\w -]{{1,30}}?)?(?:,[^,.;:]{{1,40}},|\s?\([^()]{{1,40}}\))?,?(?: which| that| and it)?"
    rf"{_ADVERB}{{0,3}} {_VERB}{_ADVERB}{{0,2}}{_REST}{_OPEN}",
    re.IGNORECASE,
)
_SAYS = lazily(
    rf"(?: of (?:the |this )?[\w -]{{1,30}}?)?,?(?: which| that)?{_ADVERB}{{0,3}} (?:{_VERB}|"
    rf"{CONTENT}){_ADVERB}{{0,2}}{_REST}{_OPEN}",
    re.IGNORECASE,
)
_PLACE = lazily(rf"{PLACE}|(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{1,4}}(?![\w]|\.\d)", re.IGNORECASE)
_SUBJECT = lazily(rf"{_PLACE.pattern}|\b(?:{TITLES})\b", re.IGNORECASE)
_WORDS = r"(?:words?|text|wording|language|terms)"
_ANNOUNCED = lazily(
    rf"\b(?:(?:in|to use|quoting|to quote|(?:I|we) quote|following|by|"
    rf"according to) (?:the )?(?:\w+ )?{_WORDS} of|quoting|"
    rf"to quote|(?:I|we) quote|quote from) (?:the )?\Z",
    re.IGNORECASE,
)
_VERBATIM = lazily(
    rf",? ?\(?(?:verbatim|word for word|literally|in full|in (?:its|their) own words)\)?{_OPEN}", re.IGNORECASE
)
_I_QUOTE = lazily(
    rf"(?:\b(?:and )?(?:I|we) quote|\bverbatim|\bword for word|\bin (?:its|their|his) own words)[^.;\w]{{0,4}}{_OPEN}",
    re.IGNORECASE,
)
"""What announces words of whatever is named before: clause 9, and I quote, …."""
_QUOTED = lazily(
    rf"\b(?:I|we) (?:stand by|repeat|insist|maintain|confirm)(?: (?:it|this|that|here|again))?[:,]?{_OPEN}"
    rf"|\b(?:is|are|stands?|appears?|written|found|printed|put)(?! not| nowhere| never)(?: \w+)? in (?:the |"
    rf"its )?(?:{PLACE}|{TITLES})[\s]*[:,(\u2013\u2014]{_OPEN}"
    rf"|\b(?:{TITLES})['\u2019]s? (?:\w+ )?(?:opinion|view|finding|conclusion|words?|wording|answer|rule|text|"
    rf"opening|"
    rf"sentence|title|statement|summary|verdict|point|reason|message|remark|warning)(?: (?:of|on|"
    rf"in) [^,.;:]{{1,30}})? "
    rf"(?:is|are|was|were|reads|says)(?: that| this)?{_OPEN}",
    re.IGNORECASE,
)
"""What announces words as a document's: is in the text: …, the review's finding is that …."""
_TEXT_IS = lazily(
    rf"(?:\A|[,;:] |\b(?:for|because|since|as|and|but|that) )(?P<text>(?:the|its) (?:(?:plain|very|exact|actual|"
    rf"full|clear) )?"
    rf"(?:text|wording|language)(?: of (?:the )?[^,;:]{{1,40}}?)? (?:is|reads|says|runs|states)(?: this|"
    rf" as follows)?{_OPEN})",
    re.IGNORECASE,
)
_TAKEN = lazily(
    r"\b(?:should|must|may|can|has to|is to|ought to)(?: \w+)? be (?:taken|understood|deemed|held|construed|"
    r"known) to "
    r"(?P<verb>read|say|state|provide|mean)\b",
    re.IGNORECASE,
)
_SO_IT_DOES = lazily(
    r"\A[\s\"'\u201d\u2019*,)]*(?:and|which|as)(?: (?:so|indeed|in fact|already|now|luckily|happily|today))*"
    r"(?: (?:it|this|that|the \w+|clause [\d.]+))?(?: (?:indeed|in fact|already|now|really|actually))*"
    r" (?:does|did|reads so|says so|says it|is so|is what it says)\b(?! not|n['\u2019]t| nothing)",
    re.IGNORECASE,
)
_IS_OF = lazily(
    rf"\A[\s\"'\u201d\u2019*,)]*(?:is not [^.;\"]{{1,40}}?(?:,|;| but) ?(?:it is |that is |it stands )?(?:in |"
    rf"what )?|"
    rf"(?:is|are|stands?|appears?)(?: (?:already|still|exactly|also|now|just|indeed|precisely))* "
    rf"(?:what|how|the (?:very |exact )?{_WORDS} of|written in|stated in|printed in|found in|"
    rf"in) (?:the )?)(?P<place>{PLACE})"
    r"(?! (?:\w+ )?(?:refus|reject|den(?:y|ies)|exclud|lack|avoid|rul|omit|forbid|does not|doesn|would|could|"
    r"should|might|"
    r"ought|needs?\b|miss|wants?\b))",
    re.IGNORECASE,
)
_FOLLOWED = lazily(
    rf"\A[\s\"'\u201d\u2019*.)]*(?:[,\u2013\u2014-]\s*(?:the |see |in |from |per |"
    rf"at )?(?:[\w-]+ ){{0,2}}(?:{PLACE}|{TITLES})"
    rf"(?:,? (?:the )?(?:[\w-]+ ){{0,2}}(?:{PLACE}|{TITLES}))?\s*(?:[.;)](?=\s|\Z)|\Z)"
    rf"|,? ?as (?:is )?(?:listed|stated|recorded|set out|written|printed|noted|provided|shown|reported|laid down|"
    rf"agreed|defined|"
    rf"required|can be read|(?:we|you|one) (?:can )?read) (?:in|under|at|by|on)\b"
    rf"|,? (?:the |this |its )(?:[\w-]+ )?(?:{TITLES}) (?:\w+ly )?(?:says|states|reads|provides|explains|adds|"
    rf"notes|warns|"
    rf"concludes|admits|records|reports|goes on|continues|tells us|insists|finds|observes|declares|orders|"
    rf"demands|recommends?)\b)",
    re.IGNORECASE,
)
_SAYS_BEHIND = lazily(
    rf"\A[\s\"'\u201d\u2019*,.)\u00ab\u2013\u2014-]*(?:so )?(?:says|states|reads|provides|prescribes|orders|"
    rf"requires|notes|records|adds|"
    rf"warns|explains|concludes|stands in|stand in) (?:the )?(?:{PLACE}|{TITLES}|\d+\.\d+)",
    re.IGNORECASE,
)
_READ_IN = lazily(
    rf"(?:\A|[.;!?] )\W*(?:as per|per|according to|pursuant to|(?:we|you|one) (?:can )?(?:read|find|"
    rf"see) in) (?:the )?"
    rf"(?:{PLACE}|{TITLES}|\d+\.\d+){_OPEN}",
    re.IGNORECASE,
)
"""The source right behind the words: "…", section 4; "…", as listed under Team; "…", the review explains."""
_FRAME = (
    r"(?:version|template|proposal|counter-?proposal|offer|draft|redraft|mark-?up|redline|amendments?|changes?|"
    r"wording|standard terms|"
    r"model|alternative|scenario|world|form)"
)
_SUSPENDED = lazily(
    r"\b(?:if only|(?:\A|[.;] )say,?)(?: that)? (?:the )?\Z|(?:\A|[.;!?] )\W*(?:and |but |so )?(?:where|which|"
    r"what)(?: does| do| did)? "
    r"(?:the )?\Z|\b(?:show|tell|ask|asks|asked|asking|point)(?: \w+){1,3} (?:where|which|how|whether)(?: does|"
    r" do)? (?:the )?\Z"
    r"|\b(?:think|thinks|thought|believ\w+|expect\w*|fear\w*|dream\w*|wonder\w*|guess\w*|feel\w*|infer\w*|"
    r"impl(?:y|ies)|claims?|"
    r"alleg\w+|purports?)(?: that| whether)? (?:the )?\Z"
    rf"|\b(?:in|under|with|after|on|by|per|to) (?!(?:the |its )?(?:signed|final|current|present|agreed|amended|"
    rf"actual))"
    rf"(?:[\w'\u2019-]+ ){{1,3}}?{_FRAME},? (?:the )?\Z|\b(?:our|my|your) [^.;:\"]{{1,40}}: (?:the )?\Z"
    r"|\b(?:sign|agree|accept|approve|settle|content|satisfied|happy)\b[^.;:]{0,20}\b(?:when|after) (?:the )?\Z|"
    r"\b(?:if|once|unless|until|whether|provided(?: that)?|as soon as|suppos\w+(?: that)?|imagin\w+(?: that)?|"
    r"assum\w+(?: that)?|so that|as if|as though|in case|on condition that|condition that|on the footing that|"
    r"so long as|"
    r"as long as|had|were|should|would|could|may|might) (?:the |that )?\Z"
    r"|\b(?:nowhere|nor|never|neither|not once|hardly|scarcely|at no point) (?:does|do|did) (?:the )?\Z"
    r"|\b(?:nothing|nobody|no one|none|not a (?:word|line|syllable)) (?:in|of|from) (?:the )?(?:[\w-]+ )?\Z"
    r"|\b(?:let|make|makes|making|have|having|want|wants|get) (?:the )?\Z"
    r"|\b(?:propos(?!er)|recommend|suggest|request|ask|demand|insist|advis|prefer|wish|want|hope|pretend|ensur|"
    r"requir|condition)\w*"
    r"(?: \w+){0,3}? that (?:the (?:[\w-]+ )?)?\Z|\b(?:see to it|make sure|sure) (?:that )?(?:the )?\Z"
    r"|\b(?:false|untrue|true|wrong|incorrect|mistaken|myth|error|mistake|misreading|den(?:y|ies|ied|ying)|"
    r"no evidence|"
    r"no sign|no proof|the case|(?:nobody|no one|none|neither \w+)(?: \w+){1,4}|"
    r"(?:do|does|did|can|could|is|would|will|has|have)(?: not|n['\u2019]t| never)(?: \w+){1,3}|"
    r"cannot(?: be)?(?: \w+){1,2}|"
    r"never \w+|nor \w+|refus\w+|impossible|hard)"
    r"(?: to (?:say|claim|write|assert|argue|show|read))? (?:that|as if) (?:the (?:[\w-]+ )?)?\Z",
    re.IGNORECASE,
)
"""Right before a subject: a condition, a request or a denial, which takes the statement back."""
_DRAFT = lazily(
    r"\b(?:propos(?!er)\w+|suggest\w+|recommend\w+|draft\w*|redraft\w*|reworded|rewritten|revised|ideal|"
    r"hypothetical|imaginary|better|"
    r"an?|any|some|no|neither|nor|each|every|such|another|alternative|future|nowhere in|not|our|my|"
    r"your) (?:[\w-]+ )?\Z"
    r"|\b(?:an?|our|my|your|one|another|any|some|no|neither|nor|proposed|draft\w*|suggested|recommended|alternative) "
    r"[\w -]{1,40}? (?:in|of|for|to|under|below|behind|after|into|beside) (?:the )?\Z",
    re.IGNORECASE,
)
"""Right before a subject: what makes it a draft, or a part of one."""
_PREPOSITION = lazily(
    r"\b(?:for|to|into|after|behind|beside|beyond|under|than|without|against|with|on|about|from) (?:the )?\Z",
    re.IGNORECASE,
)
"""Right before a name: a preposition, which makes it no subject."""
_TRUE = lazily(r"\b(?:is|it is|quite|also|still) true that (?:the )?\Z", re.IGNORECASE)

Exists = Callable[[str], bool]
"""Whether a document has a clause of this name."""


def asserted(around: Context) -> Context:
    """The same with a plain verb where a modal only says how a text is understood: should be taken to read."""
    return around._replace(before=_TAKEN.sub(lambda found: f"{found['verb']}s", around.before))


def is_stated(around: Context, exists: Exists) -> bool:
    """Whether the sentence states that a clause which exists has the words."""
    before, behind = around.before, around.behind
    text_is = _TEXT_IS.search(before)
    if text_is and not _governor(before[: text_is.start("text")]):
        return True
    if _I_QUOTE.search(before) and _SUBJECT.search(f"{around.former} {before}"):
        return True
    if _READ_IN.search(before) or _QUOTED.search(before) or _FOLLOWED.match(behind) or _SAYS_BEHIND.match(behind):
        return True
    if (after := _IS_OF.match(behind)) and exists(after["place"]):
        return True
    places = [found for found in _PLACE.finditer(before) if exists(found.group())]
    if places and _SO_IT_DOES.match(behind):
        return True
    return any(_is_subject(before, found) for found in places[-2:])


def is_taken_back(around: Context) -> bool:
    """Whether a condition, a request or a denial governs the clause that is said to have the words."""
    before = around.before
    return any(
        _SAYS.match(before, found.end()) and _governor(before[: found.start()])
        for found in list(_SUBJECT.finditer(before))[-2:]
    )


def _is_subject(before: str, place: re.Match[str]) -> bool:
    ahead, rest = before[: place.start()], before[place.end() :]
    if _ANNOUNCED.search(ahead):
        return re.fullmatch(_OPEN, rest) is not None
    if _VERBATIM.fullmatch(rest):
        return True
    if _DRAFT.search(ahead):
        return False
    relative = re.match(r",? (?:which|that)\b", rest) is not None
    if not relative and (_governor(ahead) or _PREPOSITION.search(ahead)):
        return False
    return _PREDICATE.match(rest) is not None


def _governor(ahead: str) -> bool:
    return _SUSPENDED.search(ahead) is not None and not _TRUE.search(ahead)
