"""The settings: what is true in each, and what may be said of it wrongly, at most so often."""

from __future__ import annotations

from functools import cache

from tests.recovery import critics
from tests.recovery.critics import ALWAYS, NEVER, PASSED, STOPPED, Rates, critic, stopped
from tests.recovery.lifts import lift
from tests.recovery.model import Claim, Setting
from tests.recovery.moderators import moderator

GOOD, BAD = Rates(0.9, 0.1), Rates(0.6, 0.1)
BLIND = "misreadFigure"


@cache
def settings() -> tuple[Setting, ...]:
    """Every setting, in the order of the document."""
    return (*_lifts(), *_critics(), *_moderators())


def _lifts() -> tuple[Setting, ...]:
    return (
        lift("useless-20", "a useless debate, 20 items", 20, 0.15, 0.15),
        lift("useless-60", "a useless debate, 60 items", 60, 0.15, 0.15),
        lift("useless-250", "a useless debate, 250 items", 250, 0.15, 0.15),
        lift("useless-alike", "a useless debate, 10 groups of 10 items alike", 100, 0.25, 0.25, alike=10),
        lift("helpful", "a helpful debate (25 % mended, 5 % broken), 60 items", 60, 0.25, 0.05),
        lift("harmful", "a harmful debate (5 % mended, 25 % broken), 60 items", 60, 0.05, 0.25),
        lift("missing-3", "a useless debate, 100 items, 3 % of the vote missing", 100, 0.15, 0.15, missing=0.03,
             missing_in="vote"),
        lift("missing-8", "a helpful debate, 100 items, 8 % of it missing", 100, 0.25, 0.05, missing=0.08),
    )  # fmt: skip


def _critics() -> tuple[Setting, ...]:
    whole, always = critics.whole(), Claim("a critic that always objects passes", 0.0, PASSED)
    never = Claim("a critic that never objects passes", 0.0, PASSED)
    return (
        critic("good-20", "a good critic (0.90 hits, 0.10 alarms), 20 + 20", critics.sized(20), GOOD,
               [Claim("a good critic is stopped", stopped(20, "good"), STOPPED)]),
        critic("good-40", "a good critic, 40 + 40", critics.sized(40), GOOD,
               [Claim("a good critic is stopped", stopped(40, "good"), STOPPED)]),
        critic("bad-20", "a bad critic (0.60 hits, 0.10 alarms), 20 + 20", critics.sized(20), BAD,
               [Claim("a bad critic passes", 1 - stopped(20, "bad"), PASSED)]),
        critic("always", "a critic that always objects, shipped sets", whole, ALWAYS, [always]),
        critic("never", "a critic that never objects, shipped sets", whole, NEVER, [never]),
        critic("blind", "a good critic, blind to one family, shipped sets", whole, Rates(0.9, 0.1, BLIND),
               [critics.missed(BLIND), critics.others(BLIND)]),
    )  # fmt: skip


def _moderators() -> tuple[Setting, ...]:
    return (
        moderator("even", "an even moderator, right in three of four", "none"),
        moderator("place-60", "a moderator pulled to the first place in 60 % of cases", "place", 0.6),
        moderator("place-70", "the same, in 70 %", "place", 0.7),
        moderator("place-80", "the same, in 80 %", "place", 0.8),
        moderator("first", "a moderator that always takes the first place, shipped pairs", "place", 1.0),
        moderator("side-60", "a moderator pulled to the proposition's side in 60 % of cases", "side", 0.6),
        moderator("longer-80", "a moderator pulled to the longer side in 80 % of cases", "length", 0.8),
        moderator("longer", "a moderator that always takes the longer side, shipped pairs", "length", 1.0),
    )
