"""The statements of a debate's voices, with their citations as evidence.

They are sorted by round, phase and label, so that their order in the request cannot change a seat's reply.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from service.simulated.evidence import BearingSentence, describe
from service.simulated.gaps import item_behind
from service.simulated.moderator import WeighedArgument
from service.simulated.passage_choice import Desk, span
from service.simulated.request_reader import ShownReply, ShownTurn

PHASES = ("", "proposal", "critique", "revision", "consensus")


class HeardVoice(NamedTuple):
    """A statement, and its arguments with their evidence."""

    spoken: ShownTurn
    arguments: tuple[WeighedArgument, ...]

    @property
    def label(self) -> str:
        return self.spoken.label

    @property
    def at(self) -> tuple[int, int]:
        """The time of the statement: the round, and the phase in it."""
        return self.spoken.round, PHASES.index(self.spoken.phase) if self.spoken.phase in PHASES else 0


def voices(desk: Desk) -> tuple[HeardVoice, ...]:
    """All statements in the request."""
    said = [HeardVoice(s, tuple(_weighed(desk, s, a) for a in s.arguments if a.n)) for s in desk.reading.statements]
    return tuple(sorted(said, key=lambda v: (v.at, v.spoken.own, v.label)))


def _weighed(desk: Desk, spoken: ShownTurn, said: ShownReply) -> WeighedArgument:
    evidence = tuple(
        e
        for c in said.citations
        if c.verdict in ("verified", "unchecked", "")
        and (e := describe(desk.documents, desk.wanted, c.source_id, c.quote))
    )
    bare = 2.0 if item_behind(desk, said.text) else 0.8
    return WeighedArgument(spoken.label, spoken.round, said, evidence, bare)


def latest(said: Iterable[HeardVoice]) -> tuple[HeardVoice, ...]:
    """The last statement of each voice, by label."""
    last: dict[tuple[bool, str], HeardVoice] = {}
    for voice in sorted(said, key=lambda v: v.at):
        last[voice.spoken.own, voice.label] = voice
    return tuple(last[key] for key in sorted(last))


def others(said: Iterable[HeardVoice]) -> tuple[HeardVoice, ...]:
    """The statements of the other seats."""
    return tuple(v for v in said if not v.spoken.own)


def quoted(said: Iterable[HeardVoice]) -> tuple[BearingSentence, ...]:
    """The quoted passages, each once, the weightiest first."""
    found = {span(e): e for v in said for w in v.arguments for e in w.evidence}
    return tuple(sorted(found.values(), key=lambda e: (-plain_value(e), e.source_id, e.start)))


def plain_value(evidence: BearingSentence) -> float:
    """The value of a passage for every model: its relevance and its directness, without a model's own preference."""
    return float(evidence.relevance**0.8 * (0.5 + evidence.weight))
