"""The leaning of a model to yes or to no, by its own reading and by the passages that others have quoted since.

    balance   the value of the passages for, less that of those against, as a share of both; the five that count most
              with this model count once more
    temper    a family's own bent, and that of its role; it fades with every turn in which the seat has heard others
    opinion   both together, from -1 (no) to 1 (yes)

A seat's first opinion rests on its own reading alone. After that all seats weigh the passages that others quoted, so
opinions approach each other as far as the documents support that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from service.simulated.evidence import BearingSentence
from service.simulated.passage_choice import Desk, overlaps, pick, span, value
from service.simulated.standpoints import keenness
from service.simulated.strategies import Family
from service.simulated.transcript import HeardVoice, others, plain_value, quoted

Level = Literal["yes", "part", "no"]
CLEAR = 0.35
"""The opinion, positive or negative, from which an answer is a plain yes or no."""
_GAIN = 1.4
_TOP = 5
_TEMPER: dict[Family, float] = {"alder": 0.4, "birch": -0.6, "cedar": -0.05}


class Leaning(NamedTuple):
    """The leaning of a model. ``own`` are its own passages, ``learned`` those of others, the best first."""

    opinion: float
    own: tuple[BearingSentence, ...]
    learned: tuple[BearingSentence, ...]

    @property
    def level(self) -> Level:
        """The plain answer that the opinion gives."""
        return "yes" if self.opinion > CLEAR else "no" if self.opinion < -CLEAR else "part"

    @property
    def pool(self) -> tuple[BearingSentence, ...]:
        """All passages that were weighed."""
        return (*self.own, *self.learned)

    def on(self, side: int) -> list[BearingSentence]:
        """The passages of one side, those with the highest plain value first."""
        return sorted((e for e in self.pool if e.side == side), key=lambda e: (-plain_value(e), e.source_id, e.start))


def lean(desk: Desk, said: Sequence[HeardVoice] = ()) -> Leaning:
    """The leaning of a seat's model after it has heard ``said``; its own statements are no evidence to it."""
    free = desk._replace(used=frozenset())
    most, floor = desk.strategy.most, desk.strategy.floor
    own = [*pick(free, 1, most, floor), *pick(free, -1, most, floor)]
    own.sort(key=lambda e: (-value(desk, e), e.source_id, e.start))
    spans = [span(e) for e in own]
    learned = tuple(e for e in quoted(others(said)) if e.side and not overlaps(e, spans))
    worth = [(value(desk, e), e.side) for e in own] + [(plain_value(e), e.side) for e in learned]
    worth.sort(reverse=True)
    heard = len({v.at for v in others(said)})
    temper = (_TEMPER[desk.strategy.family] + keenness(desk.reading.persona)) / (1 + heard)
    balance = 0.75 * _balance(worth) + 0.25 * _balance(worth[:_TOP])
    return Leaning(max(-1.0, min(1.0, _GAIN * balance + temper)), tuple(own), learned)


def _balance(worth: Sequence[tuple[float, int]]) -> float:
    total = sum(w for w, _ in worth)
    return sum(w * side for w, side in worth) / total if total else 0.0


def sureness(leaning: Leaning, desk: Desk) -> int:
    """A model's stated confidence, in per cent: by its distance from another answer, and by its passages."""
    opinion = abs(leaning.opinion)
    apart = opinion - CLEAR if opinion > CLEAR else CLEAR - opinion
    rests = min(1.0, sum(e.weight >= 4 for e in leaning.pool) / 4)
    bent = {"alder": 6, "birch": -6, "cedar": 0}[desk.strategy.family]
    return max(20, min(96, round(52 + 30 * min(1.0, apart / 0.5) + 10 * rests) + bent))
