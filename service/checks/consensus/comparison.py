"""Two claims beside each other: whether they say the same, or what excludes each other, as far as code can read.

    alike     both quote one passage; amounts, dates, periods, parties and negations are the same; the words of one are
              all in the other, which has few more, in the same order. Claims without marks are alike only so
    near      the same readings, and one passage or half of the shorter's words: for claims that no voice contests
    opposed   both quote one passage, and state different amounts of one kind, different dates, "at least" against "at
              most", other parties or the same ones in exchanged parts, another period, or one denies the other
    apart     anything else: about another matter, or in words that code cannot compare

Different amounts or dates that all stand in the quoted passages belong to different parts of them, unless the claims
have the same words otherwise. Words can only keep claims apart; they never make them alike. The rules err towards
another round: a paraphrase is apart, and debaters then mark it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from service.checks.consensus.readings import ROLES, UNLIMITED, Amount, Date, Reading, reading, stem
from service.checks.overlap import opposes

WHOLE = 1_000
ALIKE = 600
"""The least share of the longer claim's words, per mille, that an alike one has."""
NEAR = 500
"""The least share of the shorter claim's words, per mille, that a near one has."""
SAME_MATTER = 800
"""The share of the shorter claim's words from which only a denial, a period or a party makes two claims differ."""
CURRENCIES = frozenset("usd eur gbp jpy chf cny inr aud cad".split())
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
        ("more", "less fewer"),
        ("keep keeps retain retains", "lose loses transfer transfers assign assigns"),
    )
)
"""Words that turn the sense of a claim, with the opposite of each."""
APPLYING = frozenset(map(stem, "apply applies cover covers extend extends reach reaches affect affects".split()))
"""Words of what a limit does; with a negation they name what stands outside of it."""
Span = tuple[str, int, int]
"""A passage: the document's id, and where it begins and ends."""


class Compared(NamedTuple):
    """A claim as it is compared: its text, the verified passages that it quotes, and their own words."""

    text: str
    spans: frozenset[Span]
    passages: Sequence[str]


def alike(one: Compared, other: Compared) -> bool:
    """Whether two claims say the same of one passage."""
    here, there = reading(one.text), reading(other.text)
    if not (_one_passage(one, other) and _same_readings(here, there)):
        return False
    shorter, longer = sorted((set(here.words), set(there.words)), key=len)
    return shorter <= longer and len(shorter) * WHOLE >= ALIKE * len(longer) and _in_order(here, there)


def near(one: Compared, other: Compared) -> bool:
    """Whether two claims, which their readers accept, state the same."""
    here, there = reading(one.text), reading(other.text)
    return _same_readings(here, there) and (_one_passage(one, other) or _shared(here, there) >= NEAR)


def opposed(one: Compared, other: Compared) -> bool:
    """Whether two claims on one passage exclude each other."""
    if not _one_passage(one, other):
        return False
    here, there = reading(one.text), reading(other.text)
    known = _known(one) | _known(other)
    return (
        _other_amounts(here, there, known)
        or _other_dates(here, there, known)
        or _denied(here, there)
        or _other_parties(here, there)
    )


def _same_readings(here: Reading, there: Reading) -> bool:
    words = {*here.words} & {*there.words}
    return (
        (here.amounts, here.dates, here.periods, here.negations)
        == (there.amounts, there.dates, there.periods, there.negations)
        and {*here.parties} - words <= {*there.words}
        and {*there.parties} - words <= {*here.words}
        and not _exchanged(here, there)
        and not _opposite(here, there)
    )


def _one_passage(one: Compared, other: Compared) -> bool:
    return any(a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for a in one.spans for b in other.spans)


def _shared(here: Reading, there: Reading) -> int:
    """The words of both by those of the shorter one; all of none if a claim has no words beside what was read."""
    shorter, longer = sorted((set(here.words), set(there.words)), key=len)
    return len(shorter & longer) * WHOLE // len(shorter) if shorter else WHOLE


def _same_matter(here: Reading, there: Reading) -> bool:
    return _shared(here, there) >= SAME_MATTER


def _known(claim: Compared) -> frozenset[Amount | Date]:
    """The amounts and dates of the passages that a claim quotes, without their bounds."""
    found: set[Amount | Date] = set()
    for passage in claim.passages:
        said = reading(passage)
        found |= {amount._replace(bound="") for amount in said.amounts}
        found |= {date._replace(bound="") for date in said.dates}
    return frozenset(found)


def _other_amounts(here: Reading, there: Reading, known: frozenset[Amount | Date]) -> bool:
    pairs = [(a, b) for a in here.amounts for b in there.amounts if _comparable(a, b)]
    if _exempts(here) != _exempts(there):
        # "The cap of EUR 2 million does not apply to fraud" goes with "for fraud there is no cap".
        pairs = [(a, b) for a, b in pairs if UNLIMITED not in (a.value, b.value)]
    if any(_same(a, b) and {a.bound, b.bound} == {"least", "most"} for a, b in pairs):
        return True
    if not pairs or any(_same(a, b) for a, b in pairs):
        return False
    stated = all(fact._replace(bound="") in known for pair in pairs for fact in pair)
    return not stated or _shared(here, there) >= NEAR


def _exempts(said: Reading) -> bool:
    """Whether a claim says that something does not apply."""
    return said.negations % 2 == 1 and bool(APPLYING & {*said.words})


def _comparable(one: Amount, other: Amount) -> bool:
    money = one.unit in CURRENCIES and other.unit in CURRENCIES
    bare = (one.unit in CURRENCIES or not one.unit) and (other.unit in CURRENCIES or not other.unit)
    endless = UNLIMITED in (one.value, other.value)
    return one.unit == other.unit or money or bare or endless


def _same(one: Amount, other: Amount) -> bool:
    return one.value == other.value and (one.unit == other.unit or not (one.unit and other.unit))


def _other_dates(here: Reading, there: Reading, known: frozenset[Amount | Date]) -> bool:
    pairs = [(a, b) for a in here.dates for b in there.dates if (a.day < 0) == (b.day < 0)]
    if any(_fits(a, b) and {a.bound, b.bound} == {"least", "most"} for a, b in pairs):
        return True
    if not pairs or any(_fits(a, b) for a, b in pairs):
        return False
    stated = all(fact._replace(bound="") in known for pair in pairs for fact in pair)
    return not stated or _shared(here, there) >= NEAR


def _fits(one: Date, other: Date) -> bool:
    """Whether two dates may be the same day; a part that is not named fits any."""
    return all(a == b or not a or not b for a, b in zip(one[:3], other[:3], strict=True))


def _denied(here: Reading, there: Reading) -> bool:
    """Whether one of two claims on one matter denies the other, or says another period."""
    amounts = any(_same(a, b) for a in here.amounts for b in there.amounts)
    if here.periods and there.periods and not here.periods & there.periods and (amounts or _same_matter(here, there)):
        return True
    if here.negations % 2 != there.negations % 2:
        return _same_matter(here, there)
    return _opposite(here, there) and _shared(here, there) >= NEAR


def _opposite(here: Reading, there: Reading) -> bool:
    """Whether one claim has a word and the other its opposite: by a syllable, or one of `OPPOSITES`."""
    mine, theirs = {*here.words} - {*there.words}, {*there.words} - {*here.words}
    return opposes(mine, theirs) or any(
        (one & mine and other & theirs) or (one & theirs and other & mine) for one, other in OPPOSITES
    )


def _other_parties(here: Reading, there: Reading) -> bool:
    """Whether the same is said of other parties, or of the same ones in exchanged parts."""
    if here.is_passive != there.is_passive:
        return False
    if _exchanged(here, there):
        return _same_matter(here, there)
    mine, theirs = _named(here) - {*there.words}, _named(there) - {*here.words}
    rest, others = {*here.words} - _named(here), {*there.words} - _named(there)
    return bool(mine and theirs and rest and rest == others)


def _named(said: Reading) -> set[str]:
    return {*said.parties} | ({*said.words} & _ROLE_STEMS)


def _exchanged(here: Reading, there: Reading) -> bool:
    """Whether the parties that both name stand in another order."""
    both = _named(here) & _named(there)
    return _order(here.words, both) != _order(there.words, both)


def _in_order(here: Reading, there: Reading) -> bool:
    """Whether the words that both have come in one order."""
    both = {*here.words} & {*there.words}
    return _order(here.words, both) == _order(there.words, both)


def _order(words: Iterable[str], among: set[str]) -> list[str]:
    """The words of a set in the order in which they first come."""
    return [word for word in dict.fromkeys(words) if word in among]


_ROLE_STEMS = frozenset(map(stem, ROLES))
