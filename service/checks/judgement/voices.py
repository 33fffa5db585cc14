"""Which arguments of a turn are its own: a stance, a vote or a rebuttal needs more than agreement. Under `judgement/1`.

    empty     no word that says something of the case is left beside the clauses that grant, or the rest is no ground
              by the rules for critiques (`wording.grounds`); or a seat that was to oppose takes the other side
    echoed    nearly all its words are those of one argument of another side that was said before, and nothing opposes
              it; or most of its text is that argument's, and what is left adds too little
    own       any other argument; a struck one is not judged, because no later seat reads it

Words in quotation marks are left out: two sides may quote one passage and read it in two ways. Code knows no meaning: a
paraphrase in other words is an argument of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec import Struct

from service.checks.judgement.wording.grounds import (
    LIMITS,
    GroundLimits,
    gives_ground,
    is_english,
    opposes,
    telling_words,
    ungranted,
)
from service.checks.judgement.wording.softening import unquoted
from service.debate.emptiness import says_nothing
from service.debate.findings import ArgumentVerdict, Voice, VoicesFound
from service.debate.replies import Cited
from service.debate.turns import TurnId

_TOKEN = re.compile(r"[^\W_]+")
_OTHER = re.compile(
    r"\b(?:my |our |the )?(?:opposing|opposite|other|opponent'?s?|adverse|first|second|third|previous|earlier) "
    r"(?:sides?|debaters?|seats?|speakers?|stances?|voters?|views?|position|opponents?)\b|\bopponents?\b",
    re.IGNORECASE,
)
"""The names of another side; they are no words of opposition."""
_SIDE = (
    r"(?:(?:my|our|the) )?(?:(?:opposing|opposite|other|adverse|first|second|third|previous|earlier) "
    r"(?:side|debater|seat|speaker|stance|view|position|party|opponent)s?|opponents?|critic|proposer)"
)
_YIELDS = re.compile(
    rf"\b(?:{_SIDE} (?:is|are|was|were|has it|have it) (?:\w+ )?(?:right|correct)"
    rf"|(?:I|we) (?:\w+ )?(?:agree|concur|side) with {_SIDE}(?: \w+ly| here| in (?:all|every) \w+)*)"
    r"(?=\s*(?:[.:;!?\u2014\u2013-]|$|,? (?:and|so)\b))"
    r"(?!\W*(?:but|however|yet|still|though|although|except|nevertheless|nonetheless|even so|that said|only)\b)",
    re.IGNORECASE,
)
"""A debater, or a rebuttal, that takes the other side without reserve: what follows is not for its own side."""


class VoiceLimits(Struct, frozen=True, rename="camel"):
    """When an argument repeats another one; shares are per mille.

    ``least`` is the number of telling words that an argument without a verified citation needs beside what it grants.
    ``repeated`` is the share of its telling words that the other has. ``run`` is the least number of words in a row
    that both have. Where runs make up ``copied`` of its words, the rest needs ``added`` new words, or ``added_against``
    if a word opposes.
    """

    least: int = 3
    repeated: int = 800
    run: int = 6
    copied: int = 500
    added: int = 5
    added_against: int = 2
    ground: GroundLimits = LIMITS


VOICE_LIMITS = VoiceLimits()


class Spoken(NamedTuple):
    """A turn whose arguments are judged, the verdicts on them, and the other sides' arguments that it was shown.

    ``opposed`` says that its seat was to argue against them, so that taking their side is no argument of its own.
    """

    turn: TurnId
    statements: Sequence[Cited]
    verdicts: Sequence[ArgumentVerdict]
    shown: Sequence[str]
    opposed: bool = False


def check_voices(spoken: Sequence[Spoken], limits: VoiceLimits = VOICE_LIMITS) -> VoicesFound:
    """What of each turn is its own, in the order of the turns."""
    english = is_english(" ".join(a.text for one in spoken for a in one.statements), limits.ground)
    return VoicesFound(tuple(_voice(one, english, limits) for one in spoken))


def _voice(one: Spoken, english: bool, limits: VoiceLimits) -> Voice:
    struck = {v.n for v in one.verdicts if v.struck}
    verified = {v.n for v in one.verdicts if any(each.verdict == "verified" for each in v.verdicts)}
    lists: dict[str, list[int]] = {"own": [], "echoed": [], "empty": []}
    for argument in one.statements:
        if argument.n not in struck:
            yields = one.opposed and _YIELDS.search(unquoted(argument.text))
            judged = _kind(argument.text, argument.n in verified, one.shown, english, limits)
            lists["empty" if yields else judged].append(argument.n)
    return Voice(one.turn, *(tuple(numbers) for numbers in lists.values()))


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
    if len(mine & theirs) * 1_000 >= limits.repeated * len(mine) and not opposes(rest, other):
        return True
    left, all_words = _left(rest, other, limits)
    if (all_words - len(left)) * 1_000 < limits.copied * all_words:
        return False
    kept = " ".join(left)
    added = len(telling_words(kept, english=english) - theirs)
    return added < (limits.added_against if opposes(kept, other) else limits.added)


def _left(rest: str, other: str, limits: VoiceLimits) -> tuple[list[str], int]:
    """The words of a text outside long runs that another text has too, and the number of all its words."""
    mine, theirs = (_TOKEN.findall(text.casefold()) for text in (rest, other))
    runs = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    copied = {i for run in runs if run.size >= limits.run for i in range(run.a, run.a + run.size)}
    return [word for i, word in enumerate(mine) if i not in copied], len(mine)
