"""Models with known faults: how a seat speaks in a case of the key file, and which of its replies cannot be used.

    critic                            `faulty_critic`
    moderator                         `faulty_moderator`, with the stated confidence
    ballot, convergence, panel        the vote or the answer of the closed list, by `faulty_answers`
    judge of stances                  the stance that is named as that answer
    all other seats and cases         as in a simulated model without faults

Everything else in a reply is that of the simulated model: its arguments and its quotations are true in form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from msgspec.structs import replace

from service.debate.labels import read as named
from service.debate.replies import (
    Ballot,
    BlindAnswer,
    Critique,
    Judgement,
    Moderation,
    Position,
    Reply,
    RevisedAnswer,
    Ruling,
    Synthesis,
)
from service.debate.replies.panel import Stance
from service.policy.known_faults import FaultShares, ModelFaults
from service.simulated.ballot_debater import ballot
from service.simulated.draws import happens
from service.simulated.faulty_answers import Who, answer, level, per_cent, right
from service.simulated.faulty_critic import faulty_critique
from service.simulated.faulty_moderator import decided
from service.simulated.known_cases import KnownCase, KnownCases, load
from service.simulated.moderator import moderation
from service.simulated.passage_choice import Desk
from service.simulated.request_reader import Reading
from service.simulated.stances_judge import judgement, stance_of

Speak = Callable[[Desk, int], Reply]
_STANCES: Mapping[str, Stance] = {"yes": "affirmative", "no": "negative"}
_LATER_PHASES = ("ballot.revision", "ballot.consensus")


class FaultyModels(NamedTuple):
    """The models with known faults of a provider, by name, and the cases that they know."""

    models: Mapping[str, ModelFaults]
    cases: KnownCases

    def in_case(self, model: str, reading: Reading) -> FaultsInCase | None:
        """The faults of a model in the case that it is shown; ``None`` without any there."""
        faults = self.models.get(model)
        case = self.cases.find(reading) if faults else None
        if not faults or not case:
            return None
        shares = faults.at(case.number)
        if happens(shares.scatter, "scatter", case.shown):
            case = case._replace(debate=reading.mark)
        return FaultsInCase(shares, Who(model, reading.seat), case)


def faulty_models(models: Mapping[str, ModelFaults], environment: Mapping[str, str]) -> FaultyModels | None:
    """The models with known faults of a provider, ``None`` for none; raises `SettingsError` without a key file."""
    return FaultyModels(models, load(environment)) if models else None


class FaultsInCase(NamedTuple):
    """The faults of one seat in one case."""

    shares: FaultShares
    who: Who
    case: KnownCase

    def speaks(self, kind: str, usual: Speak) -> Speak:
        """How a seat speaks with these faults; ``usual`` is how it does without."""
        seats: Mapping[str, Speak] = {
            "critic": self._critique,
            "moderator": self._moderation,
            "stances.judge": self._judgement,
            "ballot.debater": self._ballot,
        }
        if kind in seats:
            return seats[kind]
        return lambda desk, limit: self._with_answer(desk, usual(desk, limit))

    def sent(self, text: bytes, body: bytes) -> bytes:
        """A reply as it goes out: it breaks off in the middle if it is one of the unusable ones, drawn by the body."""
        broken = happens(self.shares.unusable, "unusable", self.who.model, sha256(body).hexdigest())
        return text.decode()[: len(text.decode()) // 2].encode() if broken else text

    def _critique(self, desk: Desk, limit: int) -> Critique:
        return faulty_critique(desk, limit, self.shares, self.case)

    def _moderation(self, desk: Desk, limit: int) -> Moderation:
        made = moderation(desk, limit, decided(desk.reading, self.shares, self.who, self.case))
        stated = self.shares.confidence
        return made if stated is None else replace(made, confidence_level=level(stated))

    def _judgement(self, desk: Desk, limit: int) -> Judgement:
        stances = dict.fromkeys(stance_of(said.label) for said in desk.reading.statements)
        words = self._answer(later=True, states=True)
        made = judgement(desk, limit, named(words, stances) if words else None)
        stated = self.shares.confidence
        return made if stated is None else replace(made, confidence_level=level(stated))

    def _ballot(self, desk: Desk, limit: int) -> Ballot:
        reading = desk.reading
        later = reading.round > 1 or any(reading.asks(phase) for phase in _LATER_PHASES)
        words = self._answer(later=later, states=False)
        options = reading.ballots.options if reading.ballots else ()
        return ballot(desk, limit, named(words, options) if words else None)

    def _with_answer(self, desk: Desk, made: Reply) -> Reply:
        """A reply of convergence or of a panel with the answer and the confidence of this model."""
        heard = any(not said.own for said in desk.reading.statements)
        words = self._answer(later=heard, states=not isinstance(made, Position))
        stated = self.shares.confidence
        match made:
            case Position():
                return replace(made, final_answer=words or made.final_answer)
            case Ruling():
                confidence = made.confidence_level if stated is None else level(stated)
                return replace(made, final_answer=words or made.final_answer, confidence_level=confidence)
            case Synthesis():
                confidence = made.confidence_level if stated is None else level(stated)
                return replace(made, answer=words or made.answer, confidence_level=confidence)
            case BlindAnswer() | RevisedAnswer():
                sure = made.overall_confidence if stated is None else per_cent(stated)
                stance = _STANCES.get(words.casefold(), "open") if words else made.stance
                return replace(made, answer=words or made.answer, stance=stance, overall_confidence=sure)
            case _:
                return made

    def _answer(self, *, later: bool, states: bool) -> str | None:
        """The answer of the closed list; ``None`` in a case without one, and where the model has no such fault."""
        if self.case.line.kind != "questions":
            return None
        is_right = right(self.shares, self.who, self.case, later=later, states=states)
        return None if is_right is None else answer(self.case, is_right=is_right)
