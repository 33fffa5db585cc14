"""Which arguments of a turn are its own: a stance, a vote or a rebuttal needs more than agreement. Under `judgement/1`.

    empty     no word that says something of the case is left beside the clauses that grant, or the rest is no ground
              by the rules for critiques (`wording.grounds`); or a seat that was to oppose takes the other side; or no
              argument of a debater's turn has words of the case (`wording.relation`)
    echoed    nearly all its words are those of one argument of another side that was said before, and neither a number
              nor a word that opposes is new; or most of its text is that argument's, and what is left adds too little
    own       any other argument; a struck one is not judged, because no later seat reads it

Words in quotation marks are left out: two sides may quote one passage and read it in two ways. Code knows no meaning: a
paraphrase in other words is an argument of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec import Struct

from service.checks.attacked import NOTHING, Shown
from service.checks.judgement.wording.grounds import (
    LIMITS,
    GroundLimits,
    gives_ground,
    is_english,
    opposes,
    telling_words,
    ungranted,
)
from service.checks.judgement.wording.relation import CaseWords, case_words, names_the_case
from service.checks.judgement.wording.softening import unquoted
from service.checks.patterns import lazily
from service.debate.emptiness import says_nothing
from service.debate.findings import ArgumentVerdict, Voice, VoicesFound
from service.debate.replies import Cited
from service.debate.turns import TurnId

_TOKEN = lazily(r"[^\W_]+")
_OTHER = lazily(
    r"\b(?:my |our |the )?(?:opposing|opposite|other|opponent'?s?|adverse|first|second|third|previous|earlier) "
    r"(?:sides?|debaters?|seats?|speakers?|stances?|voters?|views?|position|opponents?)\b|\bopponents?\b"
    r"|\b(?:in )?(?:rounds?|arguments?|points?|statements?) \d+\b",
    re.IGNORECASE,
)
"""The names of another side and of its arguments: no words of opposition, and no numbers of the case."""
_SIDE = (
    r"(?:(?:my|our|the) )?(?:(?:opposing|opposite|other|adverse|first|second|third|previous|earlier) "
    r"(?:side|debater|seat|speaker|stance|view|position|party|opponent)s?|opponents?|critic|proposer)"
)
_FULLY = r"(?:(?!not|never|hardly|scarcely|cannot|partly|only)\w+ )?"
_YIELDS = lazily(
    r"(?<!if )(?<!whether )(?<!unless )(?<!that )(?<!my )(?<!our )(?<!the )\b"
    rf"(?:{_SIDE} (?:is|are|was|were|has it|have it) {_FULLY}(?:right|correct)"
    rf"|(?:I|we) {_FULLY}(?:agree|concur|side) with {_SIDE}(?: \w+ly| here| in (?:all|every) \w+)*)"
    r"(?=\s*(?:[.:;!?\u2014\u2013-]|$|,? (?:and|so)\b))"
    r"(?!\W*(?:but|however|yet|still|though|although|except|nevertheless|nonetheless|even so|that said|only)\b)",
    re.IGNORECASE,
)
"""A debater, or a rebuttal, that takes the other side without reserve: what follows is not for its own side."""
_NUMBERS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy "
    "eighty ninety hundred thousand million billion half twice thrice double triple".split()
)


class VoiceLimits(Struct, frozen=True, rename="camel"):
    """When an argument repeats another one; shares are per mille.

    ``least`` is the number of telling words that an argument without a verified citation needs beside what it grants.
    ``repeated`` is the share of its telling words that the other has. ``run`` is the least number of words in a row
    that both have. Where runs make up ``copied`` of its words, the rest needs ``added`` new words, or ``added_against``
    if a word opposes. Between runs of ``aligned`` words, a new number or a word that opposes is enough.
    """

    least: int = 3
    repeated: int = 800
    run: int = 6
    aligned: int = 3
    copied: int = 500
    added: int = 5
    added_against: int = 3
    ground: GroundLimits = LIMITS


VOICE_LIMITS = VoiceLimits()


class Spoken(NamedTuple):
    """A turn whose arguments are judged, the verdicts on them, and the other sides' arguments that it was shown.

    ``opposed`` says that its seat was to argue against them, so that taking their side is no argument of its own.
    ``answers`` says that its arguments answer points by number: what they are about, the points say.
    """

    turn: TurnId
    statements: Sequence[Cited]
    verdicts: Sequence[ArgumentVerdict]
    shown: Sequence[str]
    opposed: bool = False
    answers: bool = False


def check_voices(spoken: Sequence[Spoken], shown: Shown = NOTHING, limits: VoiceLimits = VOICE_LIMITS) -> VoicesFound:
    """What of each turn is its own, in the order of the turns; ``shown`` is what the case asks, and its documents."""
    english = is_english(" ".join(a.text for one in spoken for a in one.statements), limits.ground)
    documents = tuple(shown.sources.values())
    return VoicesFound(
        tuple(_voice(one, case_words([*shown.asked, *one.shown], documents), english, limits) for one in spoken)
    )


def _voice(one: Spoken, case: CaseWords, english: bool, limits: VoiceLimits) -> Voice:
    struck = {v.n for v in one.verdicts if v.struck}
    verified = {v.n for v in one.verdicts if any(each.verdict == "verified" for each in v.verdicts)}
    lists: dict[str, list[int]] = {"own": [], "echoed": [], "empty": []}
    standing = [argument for argument in one.statements if argument.n not in struck]
    elsewhere = english and _is_elsewhere(one, standing, case)
    for argument in standing:
        yields = one.opposed and _YIELDS.search(unquoted(argument.text))
        judged = _kind(argument.text, argument.n in verified, one.shown, english, limits)
        lists["empty" if yields or elsewhere else judged].append(argument.n)
    return Voice(one.turn, *(tuple(numbers) for numbers in lists.values()))


def _is_elsewhere(one: Spoken, standing: Sequence[Cited], case: CaseWords) -> bool:
    """Whether no argument of a turn is about a case with documents; a short one may lean on what it quotes.

    Without documents a new consideration may share no word with a short question and another side.
    """
    if one.answers or not case.documents:
        return False
    quoted = [(argument.text, [cited.quote for cited in argument.citations]) for argument in standing]
    return not any(names_the_case(text, quotes, " ".join(quotes), (), case) for text, quotes in quoted)


def _kind(text: str, verified: bool, shown: Sequence[str], english: bool, limits: VoiceLimits) -> str:
    rest = _OTHER.sub(" ", ungranted(text, english=english))
    ground = gives_ground(rest, "", evidence=verified, english=english, limits=limits.ground)
    least = 1 if verified else limits.least
    if says_nothing(rest) or len(telling_words(rest, english=english)) < least or not ground:
        return "empty"
    return "echoed" if any(_repeats(rest, unquoted(other), english, limits) for other in shown) else "own"


def _repeats(rest: str, other: str, english: bool, limits: VoiceLimits) -> bool:
    """Whether an argument without what it grants repeats another one."""
    mine, theirs = telling_words(rest, english=english), telling_words(other, english=english)
    alike = len(mine & theirs) * 1_000 >= limits.repeated * len(mine)
    if alike and not opposes(rest, other) and not _numbers(mine - theirs):
        return True
    whole, around, within = _uncopied(rest, other, limits)
    left = " ".join([*around, *within])
    if (whole - len(around) - len(within)) * 1_000 < limits.copied * whole:
        return False
    if _numbers({*within} - theirs) or opposes(" ".join(within), other):
        return False
    added = len(telling_words(left, english=english) - theirs)
    return added < (limits.added_against if opposes(left, other) else limits.added)


def _uncopied(rest: str, other: str, limits: VoiceLimits) -> tuple[int, list[str], list[str]]:
    """The number of words of a text, and those outside long runs of another's: around what both have, and within it."""
    mine, theirs = (_TOKEN.findall(text.casefold()) for text in (rest, other))
    runs = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    copied = {i for run in runs if run.size >= limits.run for i in range(run.a, run.a + run.size)}
    aligned = [i for run in runs if run.size >= limits.aligned for i in range(run.a, run.a + run.size)] or [len(mine)]
    left = [(i, word) for i, word in enumerate(mine) if i not in copied]
    within = [word for i, word in left if aligned[0] <= i <= aligned[-1]]
    return len(mine), [word for i, word in left if not aligned[0] <= i <= aligned[-1]], within


def _numbers(words: Collection[str]) -> bool:
    """Whether a number is among the words."""
    return any(word.isdecimal() or word in _NUMBERS for word in words)
