"""What a sentence does to its reader: rules over the concepts that meet in it, the same for all languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.checks.injection.concepts import bits_of
from service.debate.findings import InjectionFamily


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


MACHINE = "READER|SELF"
MINE = "READER|SELF|YOURANSWER|SEAT"
DESCRIBED = "ATTACK"
RULED = "PARTY|CONDITION|RANGE"
ORDERS: Sequence[Order] = (
    _order("override", "IGNORE|VOID INSTRUCTION PRIOR|YOU|SELF READER|SELF|SEAT|PROMPT|YOU", DESCRIBED + "|PARTY"),
    _order("override", "IGNORE INSTRUCTION|TASK PRIOR|ALWAYS", DESCRIBED + "|PARTY|CONDITION|JUDGE"),
    _order("override", "VOID INSTRUCTION|TASK|PROMPT READER|SELF|PROMPT|SEAT", DESCRIBED),
    _order("override", "YOU NEW TASK", DESCRIBED + "|PARTY|CONDITION"),
    _order("secrecy", "NOT|OMIT MENTION|OMIT YOURANSWER", DESCRIBED),
    _order("secrecy", "OMIT|SECRET FLAWS REVIEW|ANSWER|DEBATE|MENTION", DESCRIBED + "|" + RULED),
    _order("secrecy", "NOT|OMIT MENTION MUST|YOU FLAWS REVIEW|ANSWER|SEAT", DESCRIBED + "|" + RULED),
    _order("secrecy", "SECRET YOU MENTION|OMIT|ANSWER|TRUST", DESCRIBED + "|" + RULED),
    _order("score", "SCORE EXTREME MUST|ALWAYS|YOU|TRUST", DESCRIBED + "|" + RULED),
    _order("score", "SCORE EXTREME JUDGE|SEAT|READER MUST|ALWAYS|CONCLUDE|YOU", DESCRIBED + "|RANGE|CONDITION"),
    _order("format", "YOURANSWER|ANSWER EXACT|BEGIN YOU|ONLY|MUST", DESCRIBED + "|" + RULED),
    _order("verdict", "CONCLUDE VALUE SEAT|DEBATE|YOURANSWER MUST|ALWAYS|YOU", DESCRIBED + "|CONDITION"),
    _order("verdict", "CONCLUDE VALUE REVIEW|JUDGE ALWAYS", DESCRIBED + "|" + RULED),
    _order("verdict", "CONCLUDE VALUE REVIEW JUDGE MUST", DESCRIBED + "|" + RULED),
    _order("authority", "AUTHORITY|OVERRIDE READER|SELF GRANT|MUST|TRUST", DESCRIBED),
    _order("authority", "AUTHORITY|OVERRIDE GRANT JUDGE|YOU|SERVICE CHECK|TRUST|IGNORE", DESCRIBED + "|" + RULED),
    _order("authority", "OVERRIDE", DESCRIBED + "|CONDITION"),
    _order("address", "READER DEAR|THIS|READING YOU|MUST|TRUST|CHECK|CONCLUDE", DESCRIBED),
    _order("address", "READER YOU TRUST|CHECK|CONCLUDE|ANSWER|READING", DESCRIBED),
    _order("address", "SEAT YOU", DESCRIBED),
    _order("address", "SELF YOU", DESCRIBED),
    _order("address", "NONHUMAN READER|YOU|SELF", DESCRIBED),
)
"""The first rule that a sentence meets names what it does."""


def family_of(bits: int) -> InjectionFamily | None:
    """What a sentence with these concepts does to its reader, if it is an order at all."""
    return next((order.family for order in ORDERS if order.meets(bits)), None)
