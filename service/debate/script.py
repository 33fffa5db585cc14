"""The language of formats: a straight-line script that awaits what is not recorded yet.

``ask`` and ``find`` return recorded replies and findings, or rest with the move that would produce them. A format
therefore reads like its reference and has no state of its own: begun again from the top over the same facts, its script
comes to rest with the same move. That is the definition, and what replay does. A runner keeps the script at rest and
sends it on when the facts have grown (`service.debate.course`): the same moves, without running what lies behind them.

``await`` here waits for nothing but the next entries: there is no event loop, and a script makes no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from types import coroutine
from typing import TypeVar, cast

from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.model import Ask, Check, Measure, Move, Turn, TurnId
from service.debate.replies import Reply
from service.debate.turns import seat_of

R = TypeVar("R", bound=Reply)
F = TypeVar("F", bound=Finding)
N = TypeVar("N", bound=str)


@lru_cache(maxsize=1_024)
def _drawn(seed: str, at: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The order, drawn once for the same arguments: a format asks for it at each place where it shows these names."""
    return tuple(sorted(names, key=lambda name: sha256(f"{seed}|{at}|{name}".encode()).digest()))


@coroutine
def rest(move: Move) -> Generator[Move, None, None]:
    """Come to rest with a move, until the facts have grown."""
    yield move


class MoneyEnded(Exception):
    """A turn could not be funded: from now on only closing turns may be asked."""


class SeatSilent(Exception):
    """A seat that the format needs is silent."""

    def __init__(self, turn: TurnId, reason: str) -> None:
        super().__init__(turn, reason)
        self.turn = turn
        self.reason = reason


class Script:
    """The facts as a format sees them: by name, never by position."""

    def __init__(self, started: DebateStarted, facts: Facts) -> None:
        self.started = started
        self.facts = facts

    async def ask(
        self, kind: type[R], *turns: Turn, holding: Callable[[], Sequence[Turn]] = lambda: ()
    ) -> tuple[R, ...]:
        """The replies of these turns in their order, once all are answered; raises `MoneyEnded` or `SeatSilent`.

        ``holding`` gives the closing turns as they would be after all of these; it is called once, if any is due.
        """
        held: tuple[Turn, ...] | None = None
        while due := tuple(turn for turn in turns if not self.facts.answered(turn.id)):
            if not self.facts.money_ended:
                held = tuple(holding()) if held is None else held
                await rest(Ask(due, held))
            elif under_way := tuple(turn for turn in due if turn.id in self.facts.open):
                # A sibling's reply is still on its way: closing turns must see it, so wait for it first.
                await rest(Ask(under_way))
            else:
                raise MoneyEnded
        if any(turn.id in self.facts.refused for turn in turns):
            raise MoneyEnded
        for turn in turns:
            if turn.id in self.facts.silent:
                raise SeatSilent(turn.id, self.facts.silent[turn.id])
        return self._replies(kind, turns)

    async def gather(
        self,
        kind: type[R],
        *turns: Turn,
        quorum: int = 2,
        holding: Callable[[], Sequence[Turn]] = lambda: (),
    ) -> dict[TurnId, R]:
        """The replies of those turns that spoke, by turn; raises `SeatSilent` if fewer than ``quorum`` remain.

        All are asked in parallel. A silent seat is missing, and never counts as agreement.
        """
        try:
            await self.ask(kind, *turns, holding=holding)
        except SeatSilent as gone:
            spoke = tuple(turn for turn in turns if self.said(turn.id))
            if len(spoke) < quorum:
                raise gone from None
            turns = spoke
        return dict(zip((turn.id for turn in turns), self._replies(kind, turns), strict=True))

    async def close(self, kind: type[R], turn: Turn, holding: Callable[[], Sequence[Turn]] = lambda: ()) -> R | None:
        """A closing turn's reply; ``None`` if it is silent or could not be funded either.

        ``holding`` are the closing turns that follow it, so that it cannot use up their money.
        """
        while not self.facts.answered(turn.id):
            await rest(Ask((turn,), tuple(holding())))
        return self._replies(kind, (turn,))[0] if turn.id in self.facts.said else None

    async def find(self, kind: type[F], *checks: Check) -> tuple[F, ...]:
        """The findings of these checks, once all are recorded."""
        known = self.facts.found
        while due := tuple(check for check in checks if check.id not in known):
            await rest(Measure(due))
        findings = (known[check.id] for check in checks)
        return tuple(f for f in findings if isinstance(f, kind))

    def said(self, turn: TurnId) -> bool:
        """Whether a turn has spoken."""
        return turn in self.facts.said

    def reply(self, turn: TurnId | None) -> Reply | None:
        """The reply of a turn; ``None`` if it has not spoken, or ``turn`` is ``None``."""
        return self.facts.said.get(turn) if turn else None

    def model(self, turn: TurnId) -> str | None:
        """The alias of the model that spoke in a turn; ``None`` where its reply was given."""
        return self.facts.spoke(turn)

    @property
    def used_fallback(self) -> bool:
        """Whether the fallback of a seat spoke in the place of its own model."""
        models = ((turn, self.model(turn)) for turn in self.facts.said)
        return any(model is not None and model != self.started.seat(seat_of(turn)).model for turn, model in models)

    def order(self, names: Iterable[N], at: str) -> list[N]:
        """The names in an order drawn from the seed. Not by `random`: Python does not promise a stable shuffle."""
        return list(cast(tuple[N, ...], _drawn(self.started.seed, at, tuple(names))))

    def _replies(self, kind: type[R], turns: Sequence[Turn]) -> tuple[R, ...]:
        return tuple(reply for turn in turns if isinstance(reply := self.facts.said[turn.id], kind))
