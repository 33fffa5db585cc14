"""The seats of adversarial/1, their parts, and the turns of a debate of the usual course."""

from __future__ import annotations

from service.debate.masked_decider import masked
from service.debate.model import AdversarialOptions, Options, Turn, swapped
from service.debate.quoted import in_two_takes
from service.debate.roster import Roles, Roster
from service.debate.screening import with_screener
from service.debate.turns import turn_id

SEATS = ("framing", "proposer", "critic", "rebuttal", "moderator")
FRAMING = turn_id(0, "framing")
APART = (
    ("moderator", "proposer"),
    ("moderator", "rebuttal"),
    ("moderator", "critic"),
    ("critic", "proposer"),
    ("critic", "rebuttal"),
)
"""The pairs of seats that should have different model families; the seat to change first stands first."""
ROLES = Roles(
    weighed=("proposer", "critic", "rebuttal"),
    proposers=("proposer",),
    table=("proposer", "critic", "rebuttal", "moderator"),
    deciders=("moderator",),
    critics=("critic",),
    rebuttals=("rebuttal",),
)
"""Framing speaks before there are sides, and has no part."""


def table(options: Options) -> Roster:
    """The five seats, and what a debate of the usual course asks of them. One until its critic asks no later seat."""
    if not isinstance(options, AdversarialOptions):
        raise TypeError("expected the options of the adversarial format")
    several = [p.id for p in options.positions] or [""]
    proposers = tuple(Turn(turn_id(1, "proposer", p), "proposer", (FRAMING,)) for p in several)
    critic = Turn(turn_id(1, "critic"), "critic", (FRAMING, *(t.id for t in proposers)))
    moderator = Turn(turn_id(1, "moderator"), "moderator", (*critic.sees, critic.id))
    moderators = (moderator, swapped(moderator)) if options.swapped else (moderator,)
    last = (masked(moderator),) if options.masked else ()
    closing = () if options.until else (*in_two_takes(*moderators), *last)
    times = {"framing": 1, "critic": options.max_rounds, "moderator": options.max_rounds + len(moderators) - 1}
    never = ("rebuttal", "moderator") if options.until else ()
    roster = Roster(
        seats={seat: Turn(turn_id(0 if seat == "framing" else 1, seat), seat) for seat in SEATS},
        apart=APART,
        usual={seat: 0 if seat in never else times.get(seat, options.max_rounds * len(several)) for seat in SEATS},
        beginning=(Turn(FRAMING, "framing"), *proposers, critic, *closing),
        closing=() if options.until else ("moderator",),
        roles=ROLES,
    )
    return with_screener(options, roster)
