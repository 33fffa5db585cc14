"""Whose words a sentence says that it quotes: the turns of the participant that it names last, if that is certain.

    Statement 2, Debater B, the critic          the label, or the seat, under which the seat was shown the reply
    the second debater, the first reviewer      the label of that number or letter, in which a format orders them
    my opponent, the other side                 the one party that is not the author's own, if there is one alone
    both sides, a debater, an earlier answer    none: the words may stand in any reply
    the critic says to the proposer that "…"    none: the last name is not the one that says it

A moderator and judges see neutral labels, so that a seat's name says nothing certain there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.checks.patterns import lazily
from service.debate.turns import TurnId, party, seat_of

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_COUNTED = (
    r"(?:debater|speaker|seat|participant|model|voice|statement|reviewer|panel+ist|expert|advocate|author|answer)"
)
_SAYS = lazily(
    r"\b(?:says?|said|stat(?:es?|ed)|writes?|wrote|claim(?:s|ed)?|argue[sd]?|assert(?:s|ed)?|maintain(?:s|ed)?|"
    r"holds?|held|"
    r"insist(?:s|ed)?|repl(?:y|ies|ied)|answer(?:s|ed)?|object(?:s|ed)?|add(?:s|ed)?|note[sd]?|concede[sd]?|"
    r"admit(?:s|ted)?|"
    r"grant(?:s|ed)?|puts? it|report(?:s|ed)?|tell(?:s|ing)? us|told us|contend(?:s|ed)?|warn(?:s|ed)?|urge[sd]?|"
    r"conclude[sd]?|"
    r"words?|quot(?:e[sd]?|ation)|cite[sd]?|stands|according to (?:the )?\w+(?: \w+)?|declare[sd]?|"
    r"reads?)(?: (?:that|literally|verbatim|only|here|rightly|simply|"
    r"again|us|of itself|are|"
    r"is|were|was)){0,3}[\s,:\"'\u201c\u2018*_(\u2013\u2014-]*\Z",
    re.IGNORECASE,
)
_NUMBERED = lazily(r"(?P<number>\d{1,2}|[A-Z])\Z")
_NTH = lazily(rf"\b(?P<nth>{'|'.join(_ORDINALS)}|[1-8](?:st|nd|rd|th)) {_COUNTED}\b", re.IGNORECASE)
_OTHER = lazily(
    r"\b(?:(?:my|our|the) (?:\w+ )?(?:opponent|counterpart|adversary)|(?:the )?(?:other|opposing|opposite) "
    r"(?:side|debater|seat|speaker|model|advocate|reviewer))\b",
    re.IGNORECASE,
)
_SEVERAL = lazily(r"\b(?:both|all|each|neither|none|either|some|several|opponents|debaters|sides)\b", re.IGNORECASE)
_ROLES = {"proposer": r"proposer|proponent", "critic": r"critic", "moderator": r"moderator", "judge": r"judge"}
_ROLE = lazily(r"\b(?:" + "|".join(f"(?P<{seat}>{words})" for seat, words in _ROLES.items()) + r")\b", re.IGNORECASE)


def is_literal(before: str) -> bool:
    """Whether a verb of saying stands right before the words, so that they are the speaker's and no description."""
    return _SAYS.search(before) is not None


def turns_named(before: str, voices: Mapping[TurnId, str], author: str | None) -> frozenset[TurnId] | None:
    """The turns of the speaker that the words before a quotation name last, or ``None`` if that is uncertain.

    ``voices`` are the labels of the shown replies; ``author`` is the seat whose text this is.
    """
    if _SEVERAL.search(before):
        return None
    named = [(found.end(), turns) for found, turns in _labelled(before, voices)]
    named += [(found.end(), _nth(found["nth"], voices)) for found in _NTH.finditer(before)]
    named += [(found.end(), _others(voices, author)) for found in _OTHER.finditer(before)]
    named += [(found.end(), _in_seat(found.lastgroup or "", voices)) for found in _ROLE.finditer(before)]
    if not named:
        return None
    end, turns = max(named, key=lambda each: each[0])
    is_alone = all(each == turns for _, each in named)
    return turns or None if is_alone or _SAYS.search(before, end) else None


def _labelled(before: str, voices: Mapping[TurnId, str]) -> list[tuple[re.Match[str], frozenset[TurnId]]]:
    labels = {label for label in voices.values() if _NUMBERED.search(label)}
    return [
        (found, frozenset(turn for turn, voice in voices.items() if voice == label))
        for label in labels
        for found in re.finditer(rf"(?<!\w){re.escape(label)}(?![\w]|\.\d)", before, re.IGNORECASE)
    ]


def _nth(word: str, voices: Mapping[TurnId, str]) -> frozenset[TurnId]:
    n = int(word[0]) if word[0].isdigit() else _ORDINALS.index(word.lower()) + 1
    return frozenset(
        turn
        for turn, label in voices.items()
        if (found := _NUMBERED.search(label)) and found["number"] in (str(n), chr(ord("A") + n - 1))
    )


def _others(voices: Mapping[TurnId, str], author: str | None) -> frozenset[TurnId]:
    if author is None:
        return frozenset()
    others = [turn for turn in voices if seat_of(turn) not in (author, "framing", "moderator", "judge")]
    return frozenset(others) if len({party(turn) for turn in others}) == 1 else frozenset()


def _in_seat(seat: str, voices: Mapping[TurnId, str]) -> frozenset[TurnId]:
    """The turns of a seat, where labels name seats; a critic's and a proposer's later words are theirs as well."""
    if any(_NUMBERED.search(label) for label in voices.values()):
        return frozenset()
    seats = (seat, "rebuttal") if seat == "proposer" else (seat,)
    return frozenset(turn for turn in voices if seat_of(turn) in seats)
