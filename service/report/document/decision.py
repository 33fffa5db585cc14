"""The facts under the decision in the first lines of a report."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.options import masked_of, swapped_of
from service.report.document.blocks import Fact
from service.report.formats import telling_of
from service.report.result.decision import INJECTED, ORDER
from service.report.result.types import Result

__all__ = ["decider", "facts", "untested"]


_SAME = {
    "ordersDiffer": "decided the same, and differs in other members",
    "orderNotCompared": "combined stances again; code cannot compare how",
    "": "decided the same; code does not compare their words",
}
"""The second order that did not decide otherwise, by the flag that qualifies it."""
_WITHOUT = "Asked again with the flagged passages masked"
_SAME_WITHOUT = {
    "maskedNotCompared": "answered in other words; code cannot compare the two",
    "maskedDiffers": "decided the same, and differs in other members",
    "": "decided the same; code does not compare their words",
}
"""The masked question that did not lead to another decision, by the flag that qualifies it."""


def decider(r: Result) -> str:
    """The seat that gave the debate's confidence, before rules lower it; empty before the debate has started."""
    telling = telling_of(r.options)
    return telling.decider if telling else ""


def untested(r: Result) -> str | None:
    """Why no seat has tested the decision; ``None`` if one has, or if there is no decision."""
    telling = telling_of(r.options)
    return telling.untested(r) if telling else None


def facts(r: Result) -> Iterator[Fact]:
    """The facts under the headline, in the terms of the format."""
    if r.format_reason:
        yield Fact("Why this format", r.format_reason)
    if telling := telling_of(r.options):
        yield from telling.facts(r)
    yield from _order(r)
    yield from _masked(r)


def _order(r: Result) -> Iterator[Fact]:
    """The result of asking the decider again in the reverse order."""
    if r.options is None or not swapped_of(r.options):
        return
    if ORDER in r.flags:
        yield Fact("Asked again in the other order", "decided otherwise, so nothing stands")
    elif "orderUnchecked" in r.flags:
        yield Fact("Asked again in the other order", "could not be, so nobody knows whether the order decided")
    elif any(one.swapped for one in r.weighed) or any(d.swapped_moderation for d in r.round_details):
        yield Fact(
            "Asked again in the other order", next(words for flag, words in _SAME.items() if flag in ("", *r.flags))
        )


def _masked(r: Result) -> Iterator[Fact]:
    """The result of asking the decider again with the flagged passages masked."""
    if r.options is None or not masked_of(r.options):
        return
    if INJECTED in r.flags:
        yield Fact(_WITHOUT, "decided otherwise, so nothing stands")
    elif "maskedUnchecked" in r.flags:
        yield Fact(_WITHOUT, "could not be, so it is unknown whether the passages decided")
    elif any(one.masked for one in r.weighed) or any(d.masked_moderation for d in r.round_details):
        yield Fact(_WITHOUT, next(words for flag, words in _SAME_WITHOUT.items() if flag in ("", *r.flags)))
