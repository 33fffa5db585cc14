"""A sentence in which a reply says the opposite of its own typed verdict, in one of a few strong forms.

    the typed verdict                       the text                 what says the opposite
    conclusion of a moderation              synthesis                "The proposition must be rejected.", and the like
    first of the ranking of a moderation    synthesis                another position prevails, or this one loses
    winner of a judgement                   verdict, reasoning       another stance prevails, or this one loses
    final answer of a ruling                justification            "The answer is no." beside "Yes"; other figures
    consensus of a panel, as measured       answer of a synthesis    "No consensus was reached.", or that it was
    vote of a ballot                        stance                   "I vote for ..." another option

A form is a whole sentence, from its first word to its last: what stands beside it may only give a reason. A sentence
that limits itself ("only", "if", "in part"), one within quotation marks, and one beside a sentence that reports
another's view, supposes or takes it back, is none. The last such sentence of a text counts, and none where the text
goes on to say its verdict. Beside ``modified`` only a sentence without any reserve is the opposite. So a verdict that
is denied in other words is not found; English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from service.checks.citations.text.quoted_words import quotations
from service.checks.consensus.opposition import contrary
from service.checks.patterns import lazily
from service.checks.texts.shown import Shown
from service.debate.findings import Passage
from service.debate.labels import fold
from service.debate.replies import Ballot, Conclusion, Judgement, Moderation, Ruling, Synthesis

OpposedForm = Literal[
    "rejects", "upholds", "otherPrevails", "ownLoses", "otherAnswer", "noConsensus", "consensus", "otherVote"
]
"""The strong form in which a sentence says the opposite of the typed verdict beside it."""
MOST_SENTENCES = 200
"""The most sentences of a text that are read, from its end."""
LONGEST = 400
"""The most characters of a sentence that may be a form."""


class _Said(NamedTuple):
    """One sentence, its place in the text, and those right before and behind it."""

    words: str
    span: tuple[int, int]
    former: str
    latter: str


class _Opposite(NamedTuple):
    """The forms that say the opposite of a typed verdict, and those that say the verdict itself."""

    against: Sequence[tuple[OpposedForm, re.Pattern[str]]]
    own: re.Pattern[str]


def opposed(read: Shown, path: str, text: str) -> Iterator[Passage]:
    """The sentence of one text that says the opposite of its reply's typed verdict, if there is one."""
    if isinstance(read.reply, Ruling) and path == "justification":
        found = _other_answer(read.reply.final_answer, text)
    else:
        forms = _forms(read, path, text)
        found = _last(text, forms) if forms else None
    if found:
        form, said = found
        yield Passage(path, said.span, "verdict", "opposed", "open", form=form)


def _forms(read: Shown, path: str, text: str) -> _Opposite | None:
    """What says the opposite of the typed verdict in the text at this path; nothing where there is no such verdict."""
    match read.reply:
        case Moderation(conclusion=conclusion, ranking=ranking) if path == "synthesis":
            return _of_winner(read.sides, ranking[0]) if ranking else _of_conclusion(conclusion, text)
        case Judgement(winner=str() as winner) if path in ("verdict", "reasoning"):
            return _of_winner(read.sides, winner)
        case Synthesis() if path == "answer" and read.agreed is not None:
            against: tuple[OpposedForm, re.Pattern[str]]
            against = ("noConsensus", _PARTED) if read.agreed else ("consensus", _AGREED)
            return _Opposite((against,), _AGREED if read.agreed else _PARTED)
        case Ballot(vote=vote) if path == "stance":
            return _of_vote(read.sides, vote)
        case _:
            return None


# -- sentences

_END = lazily(r"(?<!\bNo)(?<!\b[A-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\bcl)(?<!\bart)[.!?]+[\"')\]\u201d\u2019*_]*\s+|\n+")
_LEAD = (
    r"[\s*_]*(?:(?:verdict|conclusion|decision|answer|ruling|result|synthesis)[*_]*\s*:[\s*_]*)?"
    r"(?P<lead>(?:(?:accordingly|altogether|consequently|hence|therefore|thus|overall|so|on balance|"
    r"in (?:sum|short|the end|conclusion|summary|the result)|to conclude|all in all|"
    r"for (?:these|all these|those) reasons|as a result|after all|all things considered|taken together|"
    r"on the whole|on the evidence|on the weight of the evidence),? )?"
    r"(?:(?:I|we)(?: must| have to| therefore| thus)? (?:conclude|find|hold|decide|rule)(?: therefore)?(?: that|:) )?)"
)
"""What may stand before a form: a label, a word of conclusion, a first person that decides."""
_TAIL = r"(?:,? (?:because|since|given that)\b[^\n]*|(?:,? and |[;:]\s|\s[\u2014\u2013-]\s)[^\n]*)?[\s.!*_]*"
"""What may stand behind it: a reason, or another thing."""
_IN_FULL = (
    r"(?: in full| in its entirety| as a whole| outright| altogether| entirely| completely| wholly| in all respects|"
    r" without (?:any )?(?:qualification|reservation|reserve|exception))"
)
_LIMITED = lazily(
    r"\b(?:only|if|unless|but|except|save|partly|partially|part|insofar|so far|as far|extent|provided|until|once|yet|"
    r"though|although|however|otherwise|whether|either|while|whereas|where|when|for now|at first)\b|\?",
    re.IGNORECASE,
)
"""Signs in a sentence that it does not say what its form says, or not all of it."""
_REPORTS = lazily(
    r"\b(?:critics?|critique|propos(?:er|al)s?|rebuttals?|opponents?|debaters?|models? [A-Z]|part(?:y|ies) [A-Z]|"
    r"statements?|sides?|stances?|positions?|objections?|argu\w+|the claim|claims that|claim(?:ed|ing)|"
    r"contends?|says?|said|view|views|case|reading|"
    r"hypothes\w+|suppos\w+|assum\w+|imagin\w+|if|unless|would|suggest\w*|draft|option|alternative\w*)\b|:\s*$|\?\s*$",
    re.IGNORECASE,
)
"""Signs in the sentence before that the next one may give another's view, or something supposed."""
_TAKES_BACK = lazily(
    r"[\s*_\"']*(?:(?:that|this|such|so|it)(?:,|(?: at least| is| was| would| does not| says| said| argues| runs| goes|"
    r" the)\b)|(?:or|but|yet|still|however|not so|no|wrong|at least|nevertheless|nonetheless|though|unless|if|only|"
    r"on the other|conversely)\b)",
    re.IGNORECASE,
)
"""Beginnings of a next sentence that may take this one back."""


def _last(text: str, forms: _Opposite) -> tuple[OpposedForm, _Said] | None:
    """The last sentence with a form, unless the text says its own verdict behind it."""
    for said in _sentences(text):
        for form, pattern in forms.against:
            if found := pattern.fullmatch(said.words):
                return (form, said) if _is_plain(text, said, found) else None
        if forms.own.search(said.words):
            return None
    return None


def _is_plain(text: str, said: _Said, found: re.Match[str]) -> bool:
    """Whether nothing in a sentence with a form, or beside it, says that it may not be the author's own verdict."""
    if len(said.words) > LONGEST or _LIMITED.search(said.words) or _TAKES_BACK.match(said.latter):
        return False
    if not found["lead"] and _REPORTS.search(said.former):
        return False
    at = said.span[0]
    return not any(each.in_marks and each.span[0] <= at < each.span[1] for each in quotations(text))


def _sentences(text: str) -> Iterator[_Said]:
    """The sentences of a text, the last one first."""
    ends = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    spans = [(start, end) for start, end in pairwise(ends) if text[start:end].strip()][-MOST_SENTENCES:]
    for at in range(len(spans) - 1, -1, -1):
        start, end = spans[at]
        words = text[start:end].strip()
        begin = start + len(text[start:end]) - len(text[start:end].lstrip())
        span = (begin, begin + len(words))
        former = text[slice(*spans[at - 1])] if at else ""
        latter = text[slice(*spans[at + 1])] if at + 1 < len(spans) else ""
        yield _Said(words, span, former, latter)


# -- a proposition

_BRIEFLY = r"(?:(?:hereby|therefore|thus|clearly|plainly|simply) )?"
_MUST = r"(?:must|has to|should|is to|ought to|can only) (?:therefore )?be"
_PROPOSITION = r"(?:the|this) (?:proposition|motion|thesis)"
_OR_CLAIM = r"(?:the|this) (?:proposition|motion|thesis|claim)"
_CLAIM = lazily(r"\bclaim", re.IGNORECASE)
_REJECTED = (
    rf"(?:is {_BRIEFLY}|{_MUST} )(?:rejected|dismissed|refuted)"
    rf"|is {_BRIEFLY}(?:wrong|false|untrue|incorrect|untenable|not (?:upheld|made out|proven|established|tenable|right|"
    r"correct|true))"
    r"|fails|falls|has failed|(?:does not|cannot) (?:stand|hold|survive|succeed|prevail)"
    r"|cannot be (?:upheld|sustained|maintained|accepted)"
)
_UPHELD = (
    rf"(?:is {_BRIEFLY}|{_MUST} )(?:upheld|accepted|affirmed|confirmed|sustained)"
    rf"|is {_BRIEFLY}(?:right|correct|true|sound|made out|proven|established)"
    r"|stands|holds|succeeds|prevails"
)
_REJECT = r"(?:I|we) (?:must |have to |therefore |thus )?(?:reject|dismiss|cannot uphold|do not uphold)"
_UPHOLD = r"(?:I|we) (?:must |have to |therefore |thus )?(?:uphold|accept|affirm)"


def _of_proposition(subject: str, predicate: str, acts: str, full: str) -> re.Pattern[str]:
    return lazily(rf"{_LEAD}(?:{subject} (?:{predicate})|{acts} {subject}){full}{_TAIL}", re.IGNORECASE)


_EITHER = (_IN_FULL, f"{_IN_FULL}?")
_SUBJECTS = (_PROPOSITION, _OR_CLAIM)
_REJECTS = {(s, full): _of_proposition(s, _REJECTED, _REJECT, full) for s in _SUBJECTS for full in _EITHER}
_UPHOLDS = {(s, full): _of_proposition(s, _UPHELD, _UPHOLD, full) for s in _SUBJECTS for full in _EITHER}
_SAYS: Mapping[Conclusion, re.Pattern[str]] = {
    "upheld": lazily(rf"\b{_PROPOSITION} (?:{_UPHELD})|\b{_UPHOLD} {_PROPOSITION}", re.IGNORECASE),
    "rejected": lazily(rf"\b{_PROPOSITION} (?:{_REJECTED})|\b{_REJECT} {_PROPOSITION}", re.IGNORECASE),
    "modified": lazily(
        r"\b(?:narrower|modified|changed|qualified|amended|narrowed|in part|partly|subject to|only)\b", re.IGNORECASE
    ),
}
"""Words that say a conclusion anywhere in a sentence: behind an opposite, they take its place."""


def _of_conclusion(conclusion: Conclusion, text: str) -> _Opposite:
    """The forms beside a conclusion; "the claim" is the proposition where a text speaks of no other claim."""
    subject = _OR_CLAIM if len(_CLAIM.findall(text)) == 1 else _PROPOSITION
    full = _IN_FULL if conclusion == "modified" else f"{_IN_FULL}?"
    against: list[tuple[OpposedForm, re.Pattern[str]]] = []
    if conclusion != "rejected":
        against.append(("rejects", _REJECTS[subject, full]))
    if conclusion != "upheld":
        against.append(("upholds", _UPHOLDS[subject, full]))
    return _Opposite(against, _SAYS[conclusion])


# -- one of several sides

_WINS = (
    r"prevails|wins(?: the (?:debate|day))?|has (?:won|prevailed)|carries the day|is the winner|"
    r"(?:must|should|has to) (?:win|prevail)"
)
_LOSES = (
    rf"loses|has lost|does not (?:prevail|win)|cannot (?:prevail|win|stand)|is {_BRIEFLY}(?:rejected|defeated)|"
    rf"{_MUST} rejected"
)
_CHOOSES = (
    r"the winner is|(?:I|we) (?:therefore )?(?:find|decide|rule) (?:for|in favou?r of)|(?:I|we) side with|"
    r"the verdict (?:is|goes) (?:for|to|in favou?r of)|victory goes to"
)
_KIND = "stance|position|side|case|option|debater|party"
_KINDS = lazily(rf"^(?:the )?(?:{_KIND})(?: of| for)?:? ")


def _named(names: Iterable[str]) -> str:
    """A pattern of these names, as a text may write them: with a kind, in quotation marks or emphasis."""
    each = "|".join(re.escape(name) for name in sorted({n.strip(" .!?") for n in names}, key=len, reverse=True))
    kind, marks = rf"(?:{_KIND})(?: of| for)?:?", "[\"'\u2018\u2019\u201c\u201d*_]*"
    return rf"(?:the )?(?:{kind} )?{marks}(?:{each}){marks}(?: (?:{_KIND}))?"


def _split(sides: Mapping[str, str], said: str) -> tuple[list[str], list[str]] | None:
    """The names of the side that these words name, and those of all others; nothing if they name none for certain."""
    key = fold(_KINDS.sub("", fold(said)))
    named = {side for name, side in sides.items() if fold(name) == key}
    if len(named) != 1:
        return None
    own = [name for name, side in sides.items() if side in named]
    mine = {fold(name) for name in own}
    others = [name for name, side in sides.items() if side not in named and fold(name) not in mine | {""}]
    return (own, others) if others else None


def _of_winner(sides: Mapping[str, str], winner: str) -> _Opposite | None:
    both = _split(sides, winner)
    if both is None:
        return None
    own, others = map(_named, both)
    prevails = re.compile(rf"{_LEAD}(?:{others} (?:{_WINS})|(?:{_CHOOSES}):? {others}){_TAIL}", re.IGNORECASE)
    loses = re.compile(rf"{_LEAD}{own} (?:{_LOSES}){_TAIL}", re.IGNORECASE)
    says = re.compile(rf"(?<!\w){own} (?:{_WINS})|\b(?:{_CHOOSES}) {own}(?!\w)", re.IGNORECASE)
    return _Opposite((("otherPrevails", prevails), ("ownLoses", loses)), says)


_VOTES = r"(?:I (?:therefore )?(?:cast my )?vote|my vote (?:is|goes))(?: for| to)?:?"


def _of_vote(sides: Mapping[str, str], vote: str) -> _Opposite | None:
    both = _split(sides, vote)
    if both is None:
        return None
    own, others = map(_named, both)
    other = re.compile(rf"{_LEAD}{_VOTES} {others}{_TAIL}", re.IGNORECASE)
    return _Opposite((("otherVote", other),), re.compile(rf"\b{_VOTES} {own}(?!\w)", re.IGNORECASE))


# -- a panel

_DEBATERS = r"(?:the (?:panel|debaters|models|panellists|panelists))"
_PARTED = lazily(
    rf"{_LEAD}(?:there (?:is|was) no (?:overall )?(?:consensus|agreement)(?: (?:among|between|of) {_DEBATERS})?"
    r"|no (?:consensus|agreement) (?:was|has been) (?:reached|found)"
    rf"|{_DEBATERS} (?:did|do|does|could|can|have|has) not (?:reach(?:ed)? (?:a |any )?(?:consensus|agreement)|agreed?)"
    rf"|{_DEBATERS} failed to (?:agree|reach (?:a |any )?(?:consensus|agreement))"
    rf"|{_DEBATERS} (?:are|is|remain|remains|remained|was|were) (?:divided|split)){_TAIL}",
    re.IGNORECASE,
)
_AGREED = lazily(
    rf"{_LEAD}(?:there (?:is|was) (?:a )?(?:full |clear |unanimous )?consensus(?: (?:among|between|of) {_DEBATERS})?"
    r"|(?:a )?(?:full |clear |unanimous )?consensus (?:was|has been) (?:reached|found)"
    rf"|{_DEBATERS} (?:(?:has |have )?reached (?:a )?(?:full )?consensus|(?:is|are|was|were) unanimous)){_TAIL}",
    re.IGNORECASE,
)

# -- an answer in words

_ANSWER = lazily(
    rf"{_LEAD}the (?:(?:final|right|correct|only) )?answer (?:is|must be|has to be|can only be)(?: therefore| thus)?:? "
    r"(?P<answer>[^\n]+)",
    re.IGNORECASE,
)


def _other_answer(final: str, text: str) -> tuple[OpposedForm, _Said] | None:
    """The last sentence that gives an answer, if that excludes the final one as far as code can read both."""
    for said in _sentences(text):
        if found := _ANSWER.fullmatch(said.words):
            other = contrary(final, found["answer"].strip(" *_\"'"))
            return ("otherAnswer", said) if other and _is_plain(text, said, found) else None
    return None
