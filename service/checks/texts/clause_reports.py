"""What a text reports of a clause in its own words, against the words of that clause.

    Clause 9.2 caps liability at EUR 5 million         a verb of content right behind the name
    under clause 9.2 the Supplier may …                a preposition before it
    EUR 5 million (clause 9), | cap | … (clause 9) |   its name in brackets behind the words, also in a table

    other_amount     money, a share, a multiple or a time, and none of that kind is the clause's
    other_date       a date that the clause does not have
    other_negation   "may upload" where the clause says "shall not upload" and never that it may; or the reverse
    other_party      "the Bank may not subcontract" where the clause says so of Harrow alone
    other_matter     many words that say something, and not one of them is the clause's

A report is read up to the end of its own clause: what a text concludes from it is not the clause's. Wishes and drafts
are none. Code knows no meaning: a contradiction in other words is not seen, and what is seen is for a person to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from service.checks.consensus.measures import UNLIMITED, Amount, is_measure, kind_of
from service.checks.consensus.readings import Date, Reading, reading, stem
from service.checks.judgement.wording.relation import stems
from service.checks.patterns import lazily

Other = Literal["other_amount", "other_date", "other_negation", "other_party", "other_matter"]
Span = tuple[int, int]

LONGEST = 600
"""The most characters of a report that are read."""
LONGEST_CLAUSE = 6_000
"""The most characters of a clause with which it is compared: a longer one is a chapter, and has every number."""
ENOUGH = 6
"""The least telling words of a report that has none of its clause's."""
_VERBS = (
    r"says?|states?|provides?|reads?|requires?|stipulates?|specif(?:y|ies)|declares?|demands?|guarantees?|promises?|"
    r"grants?|gives?|entitles?|allows?|permits?|obliges?|imposes?|contains?|sets?|defines?|caps?|limits?|"
    r"excludes?|forbids?|"
    r"prohibits?|fix(?:es)?|asks?(?: for)?|lets?|makes?|keeps?|restricts?|extends?|bars?|binds?|lists?|ends?|"
    r"begins?|runs?|"
    r"orders?|prescribes?|confirms?|waives?|exempts?|covers?|reserves?|has|have"
)
_ADVERBS = (
    r"(?: of (?:the |this )?[\w-]{1,30}(?: [\w-]{1,30}){0,2}?)?"
    r"(?: (?:\w{2,20}ly|also|already|still|now|then|thus|therefore|only|in turn|itself)){0,3}"
)
SAID_OF = lazily(rf"(?:,? (?:which|that))?{_ADVERBS} (?:{_VERBS})\b", re.IGNORECASE)
"""Behind the name of a document or of its part: it is said to have what follows."""
_SUBJECT = lazily(rf"{SAID_OF.pattern}|:(?=\s)", re.IGNORECASE)
_LEAD = lazily(
    r"\b(?:under|by|per|according to|pursuant to|as stated in|(?:\A|(?<=[.;!?] ))in) (?:the )?(?:(?:terms|"
    r"words) of )?\Z",
    re.IGNORECASE,
)
_BRACKET = lazily(r"[(\[](?:see |cf\.? |per |under )?(?:the )?\Z", re.IGNORECASE)
_CLOSING = lazily(r"\s?[)\]]")
_END = lazily(
    r"[.;!?](?=\s|\Z)|:(?=\s)|\n|\s[\u2013\u2014-]\s|[\u2013\u2014]|"
    r",? (?:but|while|whereas|because|although|though|since|so (?:that )?|which means|thus|hence|compared|"
    r"against|unlike|"
    r"instead of|rather than|than)\b|, (?:and|so|or|that|this|where|with|which) ",
    re.IGNORECASE,
)
_BEGIN = lazily(r"[.;!?,](?=\s)|\n|\s[\u2013\u2014-]\s")
_UNREAL = lazily(
    r"\b(?:would|could|should|might|ought|propos\w+|suggest\w*|recommend\w*|amend\w*|insert\w*|replac\w+|"
    r"reword\w*|draft\w*|"
    r"wish\w*|prefer\w*|want\w*|target\w*|goal|aim\w*|roughly|about|almost|nearly|some|approximately|e\.g|"
    r"for example|says nothing)\b|\?",
    re.IGNORECASE,
)
_DUTY = lazily(
    r"(?:(?P<party>[A-Z][\w'\u2019-]+) )?\b(?P<modal>may|shall|must|can|will) ?(?P<denied>not\b|n['\u2019]t\b|"
    r"never\b|no longer\b)?"
    r"(?: (?:also|only|at once|at any time|\w+ly))* ?(?:be )?(?P<verb>[a-z]{3,})"
)
_LIMITED = lazily(
    r"\b(?:only|unless|without|if|except|until|provided|subject|where|save|but|no|not|never|nor|neither|cannot|"
    r"prohibit\w*|forbid\w*|exclud\w*|bar(?:s|red)?|none|nothing|exempt\w*|prevent\w*)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_NOT = lazily(r"\b(?:cannot|not)\b", re.IGNORECASE)
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_LIST_MARK = lazily(r"\((?:[a-z]|[ivx]{1,4}|\d{1,2})\)\s")
_ONES = frozenset((0, 1))
_YEAR = 12
"""The value of "a year", which a text uses in passing."""
_TWELVE = lazily(r"\b(?:twelve|12)\b", re.IGNORECASE)


class Duty(NamedTuple):
    """What a sentence lets or makes a party do: the party with a capital, a negation, the stem of the verb."""

    party: str
    denied: bool
    verb: str


def report(text: str, span: Span, places: Sequence[Span]) -> str | None:
    """The words that a text gives as those of the clause that it names at ``span``, or ``None``.

    ``places`` are the spans of all clauses that the text names.
    """
    after = min((start for start, _ in places if start >= span[1]), default=len(text))
    before = max((end for _, end in places if end <= span[0]), default=0)
    ahead = text[max(before, span[0] - LONGEST) : span[0]]
    behind = text[span[1] : min(after, span[1] + LONGEST)]
    if said := _SUBJECT.match(behind):
        return _real(_first(behind[said.end() :] if said.group() == ":" else behind))
    if _BRACKET.search(ahead) and _CLOSING.match(behind):
        return _real(_BEGIN.split(_BRACKET.sub("", ahead))[-1])
    if _LEAD.search(ahead):
        return _real(_first(behind.lstrip(" ,")))
    return None


def differs(words: str, clauses: Sequence[str]) -> Other | None:
    """In what the reported words differ from the clauses that have the name, or ``None``."""
    clauses = [clause for clause in clauses if len(clause) <= LONGEST_CLAUSE]
    if not clauses:
        return None
    said, theirs = reading(words), [reading(clause) for clause in clauses]
    if _other_amount(said, theirs, words, " ".join(clauses)):
        return "other_amount"
    dates = [date for date in said.dates if date.day >= 0]
    if dates and not any(_fits(date, other) for date in dates for one in theirs for other in one.dates):
        return "other_date"
    mine, known = list(_duties(words)), [duty for clause in clauses for duty in _duties(clause)]
    for duty in mine:
        same = [other for other in known if other.verb == duty.verb]
        if same and all(other.denied != duty.denied for other in same) and not _is_limited(words, clauses, duty):
            return "other_negation"
        if same and duty.party and all(other.party and other.party != duty.party for other in same):
            return "other_party"
    own = stems(words)
    strange = len(own) >= ENOUGH and not (said.amounts or said.dates) and not own & stems(" ".join(clauses))
    return "other_matter" if strange else None


def _first(behind: str) -> str:
    found = _END.search(behind, 1)
    return behind[: found.start() if found else None]


def _real(words: str) -> str | None:
    return None if _UNREAL.search(words) or not words.strip() else words


def _other_amount(said: Reading, theirs: Sequence[Reading], words: str, clauses: str) -> bool:
    """Whether an amount of the report, and every other of its kind, is none of the clauses'."""
    known = {amount.value for one in theirs for amount in one.amounts}
    for n, ordinal in enumerate(_ORDINALS, start=2):
        known |= {*map(type(UNLIMITED), (n, 12 * n))} if re.search(rf"\b{ordinal}\b", clauses, re.IGNORECASE) else set()
    stated = [amount for amount in said.amounts if _counts(amount, words)]
    right = {kind_of(amount.unit) for amount in stated if amount.value in known}
    return any(amount.value not in known and kind_of(amount.unit) not in right for amount in stated)


def _counts(amount: Amount, words: str) -> bool:
    """Whether an amount is more than a word in passing: "a year", "once", a part of something."""
    small = amount.value in _ONES or (kind_of(amount.unit) == "factor" and amount.value < 1)
    in_passing = amount.value == _YEAR and not _TWELVE.search(words)
    return is_measure(amount.unit) and amount.value != UNLIMITED and not (small or in_passing)


def _fits(one: Date, other: Date) -> bool:
    """Whether two dates agree in all that both of them name."""
    return all(mine == theirs or 0 in (mine, theirs) for mine, theirs in zip(one[:3], other[:3], strict=True))


def _duties(text: str) -> Iterator[Duty]:
    for found in _DUTY.finditer(_LIST_MARK.sub("", text.replace("cannot", "can not"))):
        yield Duty(found["party"] or "", found["denied"] is not None, stem(found["verb"]))


def _is_limited(words: str, clauses: Sequence[str], duty: Duty) -> bool:
    """Whether another word than the negation itself may turn the side that does not deny."""
    return (
        any(_LIMITED.search(_NOT.sub(" ", clause)) for clause in clauses)
        if duty.denied
        else bool(_LIMITED.search(words))
    )
