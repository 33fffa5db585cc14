"""A result as people are shown it: marks beside the words that mislead, and no text that could fake one.

Reports and the terminal show `shown` of a result. JSON is the result itself: texts as they were written, and the
passages with their spans (`Result.passages`). One text may stand in several places of a result, as a synthesis does in
its round and under the decision; it is marked in each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from service.debate import projection
from service.debate.model import TurnId
from service.debate.replies import (
    Adjudication,
    Ballot,
    BlindAnswer,
    Position,
    Projection,
    Reply,
    RevisedAnswer,
    Ruling,
    closing,
    statements,
)
from service.debate.replies.texts import Change, texts_of, with_texts
from service.debate.results import (
    AnswerVotes,
    Verdict,
)
from service.debate.turns import make_party
from service.report.marks import Span, neutral_texts, place
from service.report.result.argument_types import Argument, Dissent
from service.report.result.decision import Against, Ended, decide, dissent_of, view
from service.report.result.decision_types import Decision, Dissenter
from service.report.result.round_types import (
    CriticPosition,
    ModeratorEvaluation,
    PositionDetail,
    ProposerPosition,
    RebuttalPosition,
    RoundDetail,
    RoundRecord,
)
from service.report.result.seat_types import Weighed
from service.report.result.terms import (
    AdversarialTerms,
    ConsensusStanding,
    ConvergenceTerms,
    PanelTerms,
    StancesTerms,
    Terms,
)
from service.report.result.types import Result, Spoken

AnyStruct = TypeVar("AnyStruct", bound=Struct)


def shown(r: Result) -> Result:
    """The result with every mark in its place and every other text neutral; the replies of turns stay without marks.

    `reply_of` gives such a reply with its marks: with them a text may be longer than its type allows.
    """
    plain = neutral_texts(r)
    marks = _Marks(plain)
    return _Placed(plain, marks).result() if marks else plain


def reply_of(r: Result, one: Spoken | Weighed) -> Reply:
    """The reply of a turn of a shown result, with its marks."""
    reply: Reply = msgspec.convert(one.reply, Reply)
    return with_texts(reply, _Marks(r).of(one.turn))


def reply_json(r: Result, one: Spoken | Weighed) -> dict[str, Any]:
    """The same reply as plain JSON."""
    found: dict[str, Any] = msgspec.to_builtins(reply_of(r, one))
    return found


class _Marks:
    """The marks of a result by turn and path; false if there are none."""

    def __init__(self, r: Result) -> None:
        self._at: dict[tuple[TurnId, str], list[tuple[Span, str]]] = {}
        for one in r.passages:
            for passage in one.passages:
                if passage.mark is not None:
                    self._at.setdefault((one.turn, passage.field), []).append((passage.span, passage.mark))

    def __bool__(self) -> bool:
        return bool(self._at)

    def of(self, turn: TurnId | None) -> Change:
        """Places the marks of a turn's texts; of no turn, it changes nothing."""

        def change(path: str, text: str) -> str:
            found = self._at.get((turn, path), ()) if turn else ()
            return place(text, found) if found else text

        return change


class _Placed:
    """One result on its way; the texts of arguments and of decisions are kept for the other places where they stand."""

    def __init__(self, r: Result, marks: _Marks) -> None:
        self._r = r
        self._of = marks.of
        self._arguments: dict[tuple[TurnId | None, int], str] = {}
        self._decided: dict[str, str] = {}
        self._again: dict[str, str] = {}
        self._hidden: dict[str, str] = {}
        self._notes: dict[int, tuple[str, str]] = {}
        self._first: dict[tuple[str, str], str] = {}
        self._last: dict[tuple[str, str], str] = {}

    def result(self) -> Result:
        """The whole result. What repeats a text comes after the text's own place."""
        r = self._r
        framing = next((one.turn for one in r.passages if one.seat == "framing"), None)
        rounds = [self._round(*both) for both in zip(r.rounds, r.round_details, strict=True)]
        transcript = tuple(map(self._spoken, r.transcript))
        for one in r.weighed:
            self._weigh(one)
        placed = replace(
            r,
            framing=with_texts(r.framing, self._of(framing)) if r.framing else None,
            rounds=tuple(record for record, _ in rounds),
            round_details=tuple(detail for _, detail in rounds),
            transcript=transcript,
            result=self._result(r.result),
            synthesis=None if r.synthesis is None else _known(self._decided, r.synthesis),
            explicit_uncertainties=tuple(_known(self._decided, text) for text in r.explicit_uncertainties),
            struck=tuple(replace(one, argument=self._argument(one.turn, one.argument)) for one in r.struck),
            shifts=tuple(replace(one, because=self._of(one.turn)("shift.because", one.because)) for one in r.shifts),
        )
        return replace(placed, decision=self._decision(placed))

    def _decision(self, r: Result) -> Decision | None:
        """The decision, its sentences made anew of texts with marks."""
        if r.decision is None:
            return None
        found, dissent = r.result, r.decision.dissent
        if dissent and isinstance(found, AdversarialTerms) and found.dissent:
            against = Against(dissent.kind, dissent.by, found.dissent.thesis, len(found.dissent.unresolved_points))
            dissent = dissent_of(against)
        if dissent and isinstance(found, ConvergenceTerms):
            dissent = dissent_of(Against(dissent.kind, tuple(_view(found, one) for one in dissent.by)))
        ended = Ended(r.question, r.status, r.stop_reason, r.detail or "", r.flags, r.options, found, r.synthesis)
        return replace(r.decision, answer=decide(ended).answer, dissent=dissent)

    # -- rounds of proposer and critic

    def _round(self, record: RoundRecord, detail: RoundDetail) -> tuple[RoundRecord, RoundDetail]:
        turns, lead = detail.turns, _lead(record, detail)
        proposer, rebuttal = (turns.get(make_party(seat, lead)) for seat in ("proposer", "rebuttal"))
        critic, moderator = turns.get("critic"), turns.get("moderator")
        first, again, hidden = detail.critic_first_take, detail.swapped_moderation, detail.masked_moderation
        return (
            replace(
                record,
                proposer_position=self._proposal(proposer, record.proposer_position),
                critic_position=self._critique(critic, record.critic_position),
                rebuttal_position=self._rebuttal(rebuttal, record.rebuttal_position),
                moderator_evaluation=self._moderation(moderator, record.moderator_evaluation),
            ),
            replace(
                detail,
                objections=self._parts(proposer, "objections", detail.objections),
                positions=tuple(self._position(turns, one) for one in detail.positions),
                critic_first_take=first and replace(first, position=self._criticism(first.turn, first.position)),
                swapped_moderation=again and replace(again, evaluation=self._evaluation(again.turn, again.evaluation)),
                masked_moderation=hidden
                and replace(hidden, evaluation=self._evaluation(hidden.turn, hidden.evaluation)),
                moderator_first_takes=tuple(
                    replace(one, evaluation=self._evaluation(one.turn, one.evaluation))
                    for one in detail.moderator_first_takes
                ),
            ),
        )

    def _position(self, turns: dict[str, TurnId], one: PositionDetail) -> PositionDetail:
        proposer, rebuttal = (turns.get(make_party(seat, one.id)) for seat in ("proposer", "rebuttal"))
        return replace(
            one,
            proposer_position=self._proposal(proposer, one.proposer_position),
            rebuttal_position=self._rebuttal(rebuttal, one.rebuttal_position),
            objections=self._parts(proposer, "objections", one.objections),
        )

    def _proposal(self, turn: TurnId | None, given: ProposerPosition | None) -> ProposerPosition | None:
        if given is None:
            return None
        shown = self._listed(turn, "arguments", given.supporting_arguments)
        return replace(given, thesis=self._of(turn)("thesis", given.thesis), supporting_arguments=shown)

    def _critique(self, turn: TurnId | None, given: CriticPosition | None) -> CriticPosition | None:
        return given and self._criticism(turn, given)

    def _criticism(self, turn: TurnId | None, given: CriticPosition) -> CriticPosition:
        shown = self._listed(turn, "points", given.counter_arguments)
        return replace(given, thesis=self._of(turn)("thesis", given.thesis), counter_arguments=shown)

    def _rebuttal(self, turn: TurnId | None, given: RebuttalPosition | None) -> RebuttalPosition | None:
        if given is None:
            return None
        shown = self._listed(turn, "rebuttals", given.rebuttals)
        granted = self._parts(turn, "concessions", given.concessions)
        return replace(given, thesis=self._of(turn)("thesis", given.thesis), rebuttals=shown, concessions=granted)

    def _evaluation(self, turn: TurnId | None, given: ModeratorEvaluation) -> ModeratorEvaluation:
        at = self._of(turn)
        return replace(
            given,
            synthesis=at("synthesis", given.synthesis),
            resolved_points=_each(at, "resolvedPoints", given.resolved_points),
            unresolved_points=_each(at, "unresolvedPoints", given.unresolved_points),
            explicit_uncertainties=_each(at, "explicitUncertainties", given.explicit_uncertainties),
        )

    def _moderation(self, turn: TurnId | None, given: ModeratorEvaluation | None) -> ModeratorEvaluation | None:
        """The standing moderation of a round, of which the last one has the words of the decision."""
        if given is None:
            return None
        placed = self._evaluation(turn, given)
        self._decided[given.synthesis] = placed.synthesis
        self._decided |= zip(given.explicit_uncertainties, placed.explicit_uncertainties, strict=True)
        return placed

    def _parts(self, turn: TurnId | None, name: str, parts: tuple[AnyStruct, ...]) -> tuple[AnyStruct, ...]:
        return tuple(with_texts(part, self._of(turn), f"{name}[{i}].") for i, part in enumerate(parts))

    def _dissent(self, given: Dissent) -> Dissent:
        """The standing critique's words, and those of the last moderation."""
        by_round = {detail.round_number: detail.turns for detail in self._r.round_details}
        critic, moderator = (
            next((turns[seat] for turns in reversed(by_round.values()) if seat in turns), None)
            for seat in ("critic", "moderator")
        )
        return replace(
            given,
            thesis=self._of(critic)("thesis", given.thesis),
            unresolved_points=_each(self._of(moderator), "unresolvedPoints", given.unresolved_points),
            maintained=tuple(
                replace(one, point=self._argument(by_round[one.round]["critic"], one.point)) for one in given.maintained
            ),
        )

    # -- arguments, wherever they stand

    def _listed(self, turn: TurnId | None, name: str, given: tuple[Argument, ...]) -> tuple[Argument, ...]:
        at = self._of(turn)
        self._arguments |= {(turn, one.n): at(f"{name}[{i}].text", one.text) for i, one in enumerate(given)}
        return tuple(self._argument(turn, one) for one in given)

    def _argument(self, turn: TurnId | None, one: Argument) -> Argument:
        return replace(one, text=self._arguments.get((turn, one.n), one.text))

    # -- replies of debaters, and of the seats that weigh them

    def _spoken(self, one: Spoken) -> Spoken:
        reply: Reply = msgspec.convert(one.reply, Reply)
        placed = with_texts(reply, self._of(one.turn))
        self._arguments |= {(one.turn, argument.n): argument.text for argument in statements(placed)}
        arguments = tuple(self._argument(one.turn, argument) for argument in one.arguments)
        answer, stance = one.answer, one.stance
        match placed:
            case Position(final_answer=answer) | BlindAnswer(answer=answer) | RevisedAnswer(answer=answer):
                self._last[one.seat, one.answer or ""] = answer
                self._first.setdefault((one.seat, one.answer or ""), answer)
            case Ballot(stance=stance):
                pass
            case _:
                pass  # Its texts are its arguments.
        text = "\n\n".join(argument.text for argument in arguments)
        return replace(one, arguments=arguments, text=text, answer=answer, stance=stance)

    def _weigh(self, one: Weighed) -> None:
        """Keep the texts of a decision, which stand elsewhere in the result; a later take replaces an earlier one."""
        reply: Reply = msgspec.convert(one.reply, Reply)
        if isinstance(reply, Adjudication) and not one.swapped:
            self._notes[one.round] = reply.notes, self._of(one.turn)("notes", reply.notes)
        if closing(reply) is None and not isinstance(reply, Projection):
            return
        known = self._hidden if one.masked else self._again if one.swapped else self._decided
        placed = with_texts(reply, self._of(one.turn))
        if isinstance(reply, Projection) and isinstance(placed, Projection):
            known[reply.output] = placed.output
            return
        known |= {old: new for (_, old), (_, new) in zip(texts_of(reply), texts_of(placed), strict=True)}
        if isinstance(reply, Ruling):
            answer, why = reply.final_answer, reply.justification
            known[f"{answer}\n\n{why}"] = f"{known[answer]}\n\n{known[why]}"

    # -- the outcome in the format's own terms

    def _result(self, given: Terms | None) -> Terms | None:
        match given:
            case AdversarialTerms():
                return replace(given, dissent=self._dissent(given.dissent)) if given.dissent else given
            case StancesTerms():
                return replace(
                    given,
                    verdict=_verdict(self._decided, given.verdict),
                    swapped_verdict=_verdict(self._again, given.swapped_verdict),
                    masked_verdict=_verdict(self._hidden, given.masked_verdict),
                    output=self._output(given.output),
                )
            case PanelTerms():
                ideas = tuple(replace(one, idea=_known(self._decided, one.idea)) for one in given.ideas)
                synthesis = None if given.synthesis is None else _known(self._decided, given.synthesis)
                consensus = tuple(replace(one, notes=self._noted(one)) for one in given.consensus)
                hidden = _known(self._hidden, given.masked_synthesis or "") or None
                return replace(given, synthesis=synthesis, ideas=ideas, consensus=consensus, masked_synthesis=hidden)
            case ConvergenceTerms():
                answers = {text: placed for (_, text), placed in self._last.items()}
                by_judge = given.decided_by == "judge"
                return replace(
                    given,
                    final_answer=_known(self._decided if by_judge else answers, given.final_answer or "") or None,
                    swapped_answer=_known(self._again, given.swapped_answer or "") or None,
                    masked_answer=_known(self._hidden, given.masked_answer or "") or None,
                    votes=_votes(self._last, given.votes),
                    blind_answers=_votes(self._first, given.blind_answers),
                    tied=tuple(_known(answers, text) for text in given.tied),
                )
            case _:
                return given  # a ballot's result has votes and no texts

    def _noted(self, one: ConsensusStanding) -> str:
        """The notes of a round, which begin with an adjudicator's where it scored."""
        old, new = self._notes.get(one.round, ("", ""))
        return f"{new}{one.notes.removeprefix(old)}" if one.notes.startswith(old) else one.notes

    def _output(self, given: Any) -> Any:
        """The output of the projection that stands, with the marks of its strings."""
        for old, new in self._decided.items():
            if old != new and projection.unreadable(old) is None and projection.value(old) == given:
                return projection.value(new)
        return given


def _view(found: ConvergenceTerms, one: Dissenter) -> Dissenter:
    """A dissenter with the words of its answer as they are shown."""
    groups = found.votes if one.until == "end" else found.blind_answers
    answer = next((group.answer for group in groups if one.seat in group.seats), None)
    return replace(one, holds=view(answer))


def _lead(record: RoundRecord, detail: RoundDetail) -> str:
    """The position that represents the round, empty where there is one proposition."""
    return next((p.id for p in detail.positions if p.proposer_position == record.proposer_position), "")


def _each(at: Change, name: str, texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(at(f"{name}[{i}]", text) for i, text in enumerate(texts))


def _known(known: dict[str, str], text: str) -> str:
    return known.get(text, text)


def _verdict(known: dict[str, str], given: Verdict | None) -> Verdict | None:
    if given is None:
        return None
    winner = None if given.winner is None else _known(known, given.winner)
    return Verdict(_known(known, given.verdict), winner, _known(known, given.reasoning))


def _votes(known: dict[tuple[str, str], str], given: tuple[AnswerVotes, ...]) -> tuple[AnswerVotes, ...]:
    """Groups of answers; the words of a group are those of one of its seats."""
    return tuple(
        replace(
            one, answer=next((known[seat, one.answer] for seat in one.seats if (seat, one.answer) in known), one.answer)
        )
        for one in given
    )
