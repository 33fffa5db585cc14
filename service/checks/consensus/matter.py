"""The words of two claims beside each other: whether they are about one matter, and which of them turn the sense.

    one passage   both quote it; their words say how near the claims are
    one matter    without a passage. Parties, general words ("liability", "term") and what a share is taken of do not
                  count, and words for limits are one word. The shorter claim's words are in the longer one, which has
                  few more. A word behind a preposition names a special case ("the cap for fraud"), which is another
                  matter than the rule. So are two clauses by their numbers

Words can only show that two claims are about one matter; they never make them agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from service.checks.consensus.readings import Reading, stem
from service.checks.consensus.vocabulary import LIMITS, ROLES
from service.checks.overlap import opposites
from service.debate.whose import by_tenant

WHOLE = 1_000
NEAR = 500
"""The least share of the shorter claim's words, per mille, that a near one has."""
SAME_MATTER = 800
"""The share of the shorter claim's words from which only a denial, a period or a party makes two claims differ."""
FULL = 700
"""The share of the longer claim's words, per mille, from which two claims without a passage are about one matter."""
Span = tuple[str, int, int]
"""A passage: the document's id, and where it begins and ends."""
OPPOSITES = tuple(
    (frozenset(map(stem, one.split())), frozenset(map(stem, other.split())))
    for one, other in (
        ("permit permits permitted allow allows allowed", "forbid forbids forbidden prohibit prohibits prohibited ban"),
        ("require requires required", "forbid forbids forbidden prohibit prohibits prohibited"),
        ("mandatory compulsory", "optional voluntary"),
        ("include includes included", "exclude excludes excluded"),
        ("accept accepts accepted", "reject rejects rejected refuse refuses refused"),
        ("grant grants granted", "deny denies denied withhold withholds refuse refuses refused"),
        ("increase increases rise rises raise raises", "decrease decreases reduce reduces fall falls lower lowers"),
        ("before", "after"),
        ("valid effective", "void"),
        ("mutual", "unilateral"),
        ("begin begins start starts", "end ends terminate terminates"),
        ("high", "low"),
        ("net", "gross"),
        ("inclusive", "exclusive"),
        ("internal", "external"),
        ("buy buys", "sell sells"),
        ("lend lends", "borrow borrows"),
        ("win wins", "lose loses"),
        ("more", "less fewer"),
        ("keep keeps retain retains", "lose loses transfer transfers assign assigns"),
    )
)
"""Words that turn the sense of a claim, with the opposite of each."""
LIMIT_STEMS = frozenset(map(stem, LIMITS))
ROLE_STEMS = frozenset(map(stem, ROLES))
GENERAL = ROLE_STEMS | frozenset(
    map(
        stem,
        "agreement contract document party parties provision term terms liability liable responsible responsibility "
        "exposure amount sum figure overall aggregate general applicable respective relevant follows therefore thus "
        "hence question answer case takes amounts equals lasts runs comes stands says states provides sets gives "
        "means".split(),
    )
)
"""Words that do not tell one matter from another."""


class Compared(NamedTuple):
    """A claim as it is compared: its text, the verified passages that it quotes, and their own words."""

    text: str
    spans: frozenset[Span] = frozenset()
    passages: Sequence[str] = ()


def one_passage(one: Compared, other: Compared) -> bool:
    """Whether two claims quote overlapping passages of one document."""
    return any(a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for a in one.spans for b in other.spans)


def shared(here: Reading, there: Reading) -> int:
    """The words of both by those of the shorter one; all of none if a claim has no words beside what was read."""
    shorter, longer = sorted((here.vocabulary, there.vocabulary), key=len)
    return len(shorter & longer) * WHOLE // len(shorter) if shorter else WHOLE


@by_tenant(most=1 << 12)
def matter_of(said: Reading) -> frozenset[str]:
    """The words by which a claim's matter is known; if it has only general ones, these."""
    plain = frozenset("limit" if word in LIMIT_STEMS else word for word in said.words if word not in said.bases)
    return plain - GENERAL or plain


def is_one_matter(here: Reading, there: Reading, without: Collection[str] = ()) -> bool:
    """Whether two claims without a common passage are about one matter; the words ``without`` do not count."""
    mine, theirs = matter_of(here), matter_of(there)
    if without:
        mine, theirs = mine - set(without), theirs - set(without)
    if here.places and there.places and not here.places & there.places:
        return False
    if not mine or not theirs:
        return not without and not mine and not theirs
    shorter, longer, said = (mine, theirs, there) if len(mine) <= len(theirs) else (theirs, mine, here)
    both = len(shorter & longer) * WHOLE
    if both < SAME_MATTER * len(shorter):
        return False
    narrowed = not said.special.isdisjoint(longer - shorter)
    return both >= FULL * len(longer) or (both >= NEAR * len(longer) and not narrowed)


def turned(here: Reading, there: Reading) -> set[str]:
    """The words of one claim whose opposite is in the other: by a syllable, or one of `OPPOSITES`."""
    mine, theirs = here.vocabulary - there.vocabulary, there.vocabulary - here.vocabulary
    found = opposites(mine, theirs)
    for one, other in OPPOSITES:
        for some, others in ((one, other), (other, one)):
            if some & mine and others & theirs:
                found |= (some & mine) | (others & theirs)
    return found


@by_tenant(most=1 << 12)
def named(said: Reading) -> frozenset[str]:
    """The parties of a claim, also those in small letters."""
    return frozenset(said.parties) | (said.vocabulary & ROLE_STEMS)


def are_exchanged(here: Reading, there: Reading) -> bool:
    """Whether the parties that both name stand in another order."""
    both = named(here) & named(there)
    return len(both) > 1 and in_order(here.words, both) != in_order(there.words, both)


def in_order(words: Iterable[str], among: Collection[str]) -> list[str]:
    """The words of a set in the order in which they first come."""
    return [word for word in dict.fromkeys(words) if word in among]
