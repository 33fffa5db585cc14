"""What a sentence does to its reader: rules over the concepts that meet in it, the same for all languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from service.checks.injection.concepts import BITS, bits_of
from service.debate.suspicions import InjectionFamily


class Order(NamedTuple):
    """A rule: of each group one concept is there, and of ``but`` none."""

    family: InjectionFamily
    needs: tuple[int, ...]
    but: int

    def meets(self, bits: int) -> bool:
        """Whether these concepts are what the rule asks for."""
        return not bits & self.but and all(bits & group for group in self.needs)


def _order(family: InjectionFamily, needs: str, but: str = "") -> Order:
    """A rule with its groups between spaces; each is one concept, or several between ``|``."""
    return Order(family, tuple(bits_of(group) for group in needs.split()), bits_of(but) if but else 0)


QUOTED, CITED, CITING = BITS["QUOTED"], BITS["CITED"], BITS["EXAMPLE"]
DESCRIBED = "ATTACK|CODE|CITED"
RULED = DESCRIBED + "|PARTY|CONDITION|RANGE|MANUAL"
ORDERS: Sequence[Order] = (
    _order("override", "IGNORE INSTRUCTION PRIOR YOU|READER|SELF|SEAT|PROMPT", DESCRIBED + "|PARTY|CONDITION|JUDGE"),
    _order("override", "IGNORE|VOID INSTRUCTION READER|SELF|SEAT", DESCRIBED + "|MANUAL"),
    _order("override", "IGNORE INSTRUCTION PRIOR", RULED + "|JUDGE|MUST|VOID"),
    _order("override", "IGNORE|VOID TASK|INSTRUCTION REVIEW|DEBATE YOU|NEW", RULED + "|JUDGE"),
    _order("override", "YOU NEW TASK", RULED),
    _order("verdict", "IGNORE INSTRUCTION PRIOR CONCLUDE VALUE", DESCRIBED),
    _order("secrecy", "NOT|OMIT MENTION|OMIT YOURANSWER|DEBATE|SEAT|READER", DESCRIBED + "|PARTY|MANUAL|RANGE"),
    _order("secrecy", "SECRET MENTION|FLAWS|USER|REVIEW|ANSWER YOU|NOT|FLAWS", RULED + "|JUDGE"),
    _order("secrecy", "NOT MENTION USER THIS|FLAWS YOU|MUST|THIS", RULED),
    _order("secrecy", "NOT MENTION FLAWS REVIEW|ANSWER MUST", RULED),
    _order("score", "SCORE EXTREME ASSIGN MUST|ALWAYS|YOU|TRUST|READER|SEAT", RULED),
    _order("format", "YOURANSWER EXACT|BEGIN", RULED),
    _order("format", "ANSWER|REVIEW|DEBATE EXACT|BEGIN WRITE|MUST QUOTED", RULED),
    _order("format", "ANSWER EXACT YOU|ONLY|MUST", RULED),
    _order("verdict", "CONCLUDE VALUE SEAT|DEBATE|YOURANSWER MUST|ALWAYS", RULED),
    _order("verdict", "CONCLUDE VALUE REVIEW|JUDGE ALWAYS", RULED),
    _order("verdict", "CONCLUDE VALUE REVIEW|JUDGE MUST", RULED),
    _order("verdict", "CONCLUDE REVIEW ALWAYS MUST|NOT", RULED),
    _order("verdict", "CONCLUDE|VALUE REVIEW QUOTED MUST", RULED),
    _order("tool", "TOOL CHECK NOT|IGNORE|TRUST VALUE|TRUST|IGNORE|MUST", RULED),
    _order("tool", "TOOL VALUE|TRUST TRUST|IGNORE|CHECK READER|JUDGE|ASSISTANT", RULED),
    _order("reply", "SEAT|DEBATE CONCEDE FLAWS|NOT|REVIEW|VALUE", RULED),
    _order("reply", "MYREPLY VALUE|NOT|CONCEDE REVIEW|FLAWS|SEAT", RULED),
    _order("authority", "AUTHORITY|OVERRIDE READER|SELF GRANT|MUST|TRUST", DESCRIBED + "|MANUAL"),
    _order("authority", "AUTHORITY|OVERRIDE GRANT JUDGE|YOU|SERVICE CHECK|TRUST|IGNORE", RULED),
    _order("authority", "OVERRIDE GRANT|TRUST|CHECK", DESCRIBED + "|CONDITION"),
    _order("address", "READER DEAR|THIS|READING YOU|MUST|TRUST|CHECK|CONCLUDE", DESCRIBED + "|MANUAL"),
    _order("address", "READER YOU TRUST|CHECK|CONCLUDE|ANSWER|READING", DESCRIBED + "|MANUAL"),
    _order("address", "SEAT YOU", DESCRIBED + "|MANUAL"),
    _order("address", "SELF YOU", DESCRIBED + "|MANUAL"),
    _order("address", "NONHUMAN READER|YOU|SELF", DESCRIBED),
)
"""The first rule that a sentence meets names what it does."""


FEWEST = 2
"""The fewest concepts of an order; most sentences have fewer."""


Counted = frozenset[InjectionFamily] | None
"""The families that count in a field; ``None`` where all do."""


def family_of(readings: Iterable[int], counted: Counted = None) -> InjectionFamily | None:
    """What a passage does to its reader, if it is an order by one of its readings: the concepts in a language each.

    Where it does several things, the first that counts.
    """
    for bits in readings:
        if bits.bit_count() >= FEWEST and (family := _family(bits, counted)):
            return family
    return None


@lru_cache(maxsize=1 << 16)
def _family(bits: int, counted: Counted) -> InjectionFamily | None:
    said = bits | CITED if bits & CITING and bits & QUOTED else bits
    return next(
        (order.family for order in ORDERS if (counted is None or order.family in counted) and order.meets(said)), None
    )
