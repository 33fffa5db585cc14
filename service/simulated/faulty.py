"""Models with known faults: how a seat speaks in a case of the key file, and which of its replies cannot be used.

    critic                                      `faulty_critic`
    framing, proposer, rebuttal, stance         `faulty_sides`
    classifier, adjudicator, screener           `faulty_panel`, with a panel's answers to objections
    moderator                                   `faulty_moderator`, with the stated confidence
    ballot, convergence, panel                  the vote or the answer of the closed list, by `faulty_answers`
    judge of stances                            the stance that is named as that answer
    synthesizer of stances, and all other cases as in a simulated model without faults

Everything else in a reply is that of the simulated model: its arguments and its quotations are true in form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from msgspec.structs import replace

from service.debate.labels import read as named
from service.debate.options import role_of
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
from service.simulated.faulty_answers import Who, answer, argued, heeds, leading, level, per_cent, right
from service.simulated.faulty_critic import faulty_critique
from service.simulated.faulty_moderator import decided
from service.simulated.faulty_panel import (
    faulty_accuracy,
    faulty_adjudication,
    faulty_classification,
    faulty_objection_answers,
    faulty_screening,
)
from service.simulated.faulty_sides import faulty_argument, faulty_framing, faulty_proposal, faulty_rebuttal
from service.simulated.known_cases import KnownCase, KnownCases, load
from service.simulated.moderator import moderation
from service.simulated.passage_choice import Desk
from service.simulated.request_reader import Reading
from service.simulated.stances_judge import judgement, stance_of
from service.simulated.transcript import latest, voices

Speak = Callable[[Desk, int], Reply]
FaultySpeak = Callable[[Desk, int, FaultShares, Who, KnownCase], Reply]
_SEATS: Mapping[str, FaultySpeak] = {
    "framing": faulty_framing,
    "proposer": faulty_proposal,
    "rebuttal": faulty_rebuttal,
    "stances.debater": faulty_argument,
    "panel.classifier": faulty_classification,
    "panel.adjudicator": faulty_adjudication,
    "panel.accuracy": faulty_accuracy,
    "panel.answer": faulty_objection_answers,
    "screener": faulty_screening,
}
_STANCES: Mapping[str, Stance] = {"yes": "affirmative", "no": "negative"}
_REVOTES: Mapping[str, int] = {"ballot.revision": 1, "ballot.consensus": 2}
"""The phases of a ballot in which a vote may change, by their number in a round."""


class FaultyModels(NamedTuple):
    """The models with known faults of a provider, by name, and the cases that they know."""

    models: Mapping[str, ModelFaults]
    cases: KnownCases

    def in_case(self, model: str, reading: Reading) -> FaultsInCase | None:
        """The faults of a model in the case that it is shown; ``None`` without any there."""
        faults = self.models.get(model)
        case = self.cases.find(reading) if faults else None
        if faults is None or case is None:
            return None
        shares = faults.of(role_of(reading.seat)).at(case.number)
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
        if faulty := _SEATS.get(kind):
            return lambda desk, limit: faulty(desk, limit, self.shares, self.who, self.case)
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
        stood = [(stance_of(said.label), said) for said in desk.reading.statements]
        shown = argued(stood) if self._heeds() else None
        words = self._answer(later=1, states=True)
        own = named(words, dict(stood)) if words else None
        made = judgement(desk, limit, shown or own)
        stated = self.shares.confidence
        return made if stated is None else replace(made, confidence_level=level(stated))

    def _ballot(self, desk: Desk, limit: int) -> Ballot:
        reading = desk.reading
        phase = next((nth for name, nth in _REVOTES.items() if reading.asks(name)), 0)
        words = self._answer(later=2 * (max(reading.round, 1) - 1) + phase, states=False)
        options = reading.ballots.options if reading.ballots else ()
        return ballot(desk, limit, named(words, options) if words else None)

    def _with_answer(self, desk: Desk, made: Reply) -> Reply:
        """A reply of convergence or of a panel with the answer and the confidence of this model."""
        words = self._words(desk, made)
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

    def _words(self, desk: Desk, made: Reply) -> str | None:
        """The answer of a seat of convergence or of a panel; one that decides may go by most of the last answers."""
        last = latest(voices(desk))
        match made:
            case Ruling() | Synthesis():
                member = "finalAnswer" if isinstance(made, Ruling) else "answer"
                shown = leading(self.case, (voice.spoken.body.get(member) for voice in last)) if self._heeds() else None
                return shown or self._answer(later=1, states=True)
            case Position():
                # The first round that has heard others is round 1 here, and round 2 of a panel.
                return self._answer(later=_rounds_heard(desk, first=1), states=False)
            case _:
                return self._answer(later=_rounds_heard(desk, first=2), states=True)

    def _heeds(self) -> bool:
        return self.case.line.kind == "questions" and heeds(self.shares, self.who, self.case)

    def _answer(self, *, later: int, states: bool) -> str | None:
        """The answer of the closed list; ``None`` in a case without one, and where the model has no such fault."""
        if self.case.line.kind != "questions":
            return None
        is_right = right(self.shares, self.who, self.case, later=later, states=states)
        return None if is_right is None else answer(self.case, is_right=is_right)


def _rounds_heard(desk: Desk, first: int) -> int:
    """In how many rounds up to this one a debater has heard others."""
    heard = any(not said.own for said in desk.reading.statements)
    return max(1, desk.reading.round - first + 1) if heard else 0
