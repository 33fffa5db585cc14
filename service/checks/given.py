"""What an engine is given of a debate: it decides a finding as much as the engine's rules do, so it has versions too.

    citations     the documents that the turn's round was given, and no others
    critique      the proposals with their positions and the verdicts on their arguments, the critic's earlier
                  critiques, the critique, and the verdicts on its points; the question, the titles, the positions,
                  and the documents of the critique's round
    injection     every text of the case that came from outside, by its field
    convergence   the answers without struck arguments, how many seats there are, the similarity, the known terms
    consensus     the question and every document, whose words are no agreement
    voices        the arguments of each turn with the verdicts on them, and those of other sides that it was shown
    texts         the reply; the documents of the turn's round; the question and the caller's texts; the replies that
                  the turn was shown, without struck arguments, and the labels that they had; the marks in these
                  replies and in the turn's former take; the sides that it decides between, and whether a panel agreed

Accuracy is scored on the facts themselves. A row has the name of the first engine that is given so. A later engine
without a row is given what the engine before it was given (`given_to`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from service.checks import citations, texts
from service.checks.attacked import Attacked, Shown
from service.checks.injection.fields import FieldText, texts_after_documents, texts_before_documents
from service.checks.judgement.voices import Spoken
from service.checks.overlap import ComparedAnswer
from service.debate.adversarial import moderated
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, TextsFound
from service.debate.kernel import FORMATS
from service.debate.model import Case, Turn, TurnId, documents_of_round
from service.debate.model_names import known_names
from service.debate.options import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Options,
    PanelOptions,
    StancesOptions,
    debater_seats,
    debaters_of,
    instructions_of,
    personas_of,
    positions_of,
    votes_of,
)
from service.debate.panel_standing import standing
from service.debate.replies import (
    Argument,
    Critique,
    Position,
    Proposal,
    Rebuttal,
    Reply,
    Screening,
    statements,
    without_statements,
)
from service.debate.replies.texts import texts_of
from service.debate.script import Script
from service.debate.turns import once_more, phase_of, round_of, seat_of, split_party
from service.debate.versions import number
from service.errors import IllegalEntry

Row = TypeVar("Row")


def _shown(asked: Sequence[str], documents: Sequence[str], sources: Mapping[str, str]) -> Shown:
    """What a case asks, and those of its documents that count."""
    return Shown(asked, {name: sources[name] for name in documents})


class JudgedCritique(NamedTuple):
    """A critique, and what it is judged by; ``earlier`` are its author's own.

    ``asked`` are the question, the titles and the positions; ``documents`` are ids.
    """

    proposals: Sequence[Attacked]
    earlier: Sequence[Critique]
    critique: Critique
    verdicts: Sequence[ArgumentVerdict]
    asked: Sequence[str]
    documents: Sequence[str]

    def over(
        self, sources: Mapping[str, str]
    ) -> tuple[Sequence[Attacked], Sequence[Critique], Critique, Sequence[ArgumentVerdict], Shown]:
        """What the engine is called with; ``sources`` are the texts of the case's documents by id."""
        shown = _shown(self.asked, self.documents, sources)
        return self.proposals, self.earlier, self.critique, self.verdicts, shown


class JudgedVoices(NamedTuple):
    """The turns that argue, and the case that they argue about; ``documents`` are ids."""

    spoken: tuple[Spoken, ...]
    asked: Sequence[str]
    documents: Sequence[str]

    def over(self, sources: Mapping[str, str]) -> tuple[tuple[Spoken, ...], Shown]:
        """What the engine is called with; ``sources`` are the texts of the case's documents by id."""
        return self.spoken, _shown(self.asked, self.documents, sources)


class ReadCase(NamedTuple):
    """The texts of a case that came from outside, and what a screener replied; ``documents`` are ids."""

    before: tuple[FieldText, ...]
    documents: tuple[str, ...]
    after: tuple[FieldText, ...]
    screening: Screening | None = None

    def over(self, sources: Mapping[str, str]) -> tuple[FieldText, ...]:
        """What the engine is called with; ``sources`` are the texts of the case's documents by id."""
        return (*self.before, *(FieldText("document", name, sources[name]) for name in self.documents), *self.after)


class ComparedAnswers(NamedTuple):
    """The answers of a round, and by what they are compared; the words of ``known`` do not count."""

    answers: Sequence[ComparedAnswer]
    seats: int
    similarity: int
    known: Sequence[str]


class ReadTexts(NamedTuple):
    """A reply whose texts are compared, and all that its seat was shown: what it may quote.

    ``documents`` are ids; ``titles`` are theirs, in the same order; ``asked`` are the question and the caller's texts;
    ``marked`` are the passages of the shown replies, and of the author's former take, that their own findings mark.
    ``voices`` are the labels under which
    the seat was shown them, and ``author`` is that seat. By ``names`` a reply may name its own model; where it does,
    the seat read a mask. ``sides`` are those between which the seat decides, by each of their names, and ``agreed`` is
    whether the panel that it closes has reached consensus.
    """

    reply: Reply
    documents: Sequence[str]
    titles: Sequence[str]
    asked: Sequence[str]
    shown: Mapping[TurnId, Reply]
    marked: Sequence[str]
    voices: Mapping[TurnId, str] = MappingProxyType({})
    author: str | None = None
    names: frozenset[str] = frozenset()
    sides: Mapping[str, str] = MappingProxyType({})
    agreed: bool | None = None


def given_to(engine: str, rows: Mapping[str, Row]) -> Row:
    """The row of the latest engine that is not after this one."""
    return rows[max((name for name in rows if number(name) <= number(engine)), key=number)]


def _documents_of_turn(case: Case, turn: TurnId) -> tuple[str, ...]:
    return documents_of_round(case, round_of(turn))


def _documents_of_case(case: Case) -> tuple[str, ...]:
    return tuple(document.id for document in case.documents)


def _read_case(case: Case, facts: Facts, over: Sequence[TurnId]) -> ReadCase:
    """The texts of the case; ``over`` is the screener's turn where it has spoken."""
    if facts.started is None:
        raise IllegalEntry("the debate has not started, so its case is not read yet")
    options = facts.started.options
    before, after = texts_before_documents(case, options), texts_after_documents(case, options)
    screenings = [reply for reply in map(facts.said.get, over) if isinstance(reply, Screening)]
    return ReadCase(tuple(before), _documents_of_case(case), tuple(after), next(iter(screenings), None))


def _critique(case: Case, facts: Facts, over: Sequence[TurnId]) -> JudgedCritique:
    """The critique of the last turn; the turns before it are the proposals and the critic's earlier critiques.

    Without documents the caller's texts to the critic are words of the case too.
    """
    *before, last = over
    critique = facts.said[last]
    if not isinstance(critique, Critique):
        raise IllegalEntry(f"turn {last} is not a critique")
    said = {turn: facts.said[turn] for turn in before}
    documents = documents_of_round(case, round_of(last))
    titles = {document.id: document.title for document in case.documents}
    positions = positions_of(facts.started.options) if facts.started else ()
    beside = () if case.documents else tuple(_caller_texts(case, facts, last))
    return JudgedCritique(
        proposals=[
            Attacked(reply, phase_of(turn) or None, _verdicts(facts, turn))
            for turn, reply in said.items()
            if isinstance(reply, Proposal)
        ],
        earlier=[reply for reply in said.values() if isinstance(reply, Critique)],
        critique=critique,
        verdicts=_verdicts(facts, last),
        asked=(
            case.question,
            *(titles[name] for name in documents),
            *(position.text for position in positions),
            *beside,
        ),
        documents=documents,
    )


def _verdicts(facts: Facts, turn: TurnId) -> tuple[ArgumentVerdict, ...]:
    """The verdicts on a turn's arguments; one check may be over several turns."""
    found = facts.found.get(f"{turn}/citations")
    return tuple(v for v in found.arguments if v.turn == turn) if isinstance(found, CitationsFound) else ()


def _voices(case: Case, facts: Facts, over: Sequence[TurnId]) -> JudgedVoices:
    """The turns that argue, each with what it may repeat: a critique has no voice, but a rebuttal may repeat it.

    Without documents the words of the case are those of the question and of all the caller's texts.
    """
    heard = [turn for turn in over if not isinstance(facts.said[turn], Critique)]
    options = facts.started.options if facts.started else None
    sides: list[str] = []
    if options:
        sides += [position.text for position in positions_of(options)]
        sides += [debater.stance for debater in debaters_of(options)]
        sides += votes_of(options)
    if not case.documents:
        sides = list(dict.fromkeys(text for turn in heard for text in _caller_texts(case, facts, turn)))
    spoken = tuple(
        Spoken(
            turn,
            statements(facts.said[turn]),
            _verdicts(facts, turn),
            [text for other in _against(facts, over, turn) for text in _argued(facts, other)],
            opposed=isinstance(facts.said[turn], Argument | Rebuttal),
            answers=isinstance(facts.said[turn], Rebuttal),
        )
        for turn in heard
    )
    titles = (document.title for document in case.documents)
    return JudgedVoices(spoken, (case.question, *titles, *sides), _documents_of_case(case))


def _against(facts: Facts, over: Sequence[TurnId], turn: TurnId) -> Iterator[TurnId]:
    """The turns of other sides that a turn was shown: a rebuttal the critique, others the earlier turns of other seats.

    Debaters with one stance are on one side.
    """
    options = facts.started.options if facts.started else None
    sides = {seat: seat for seat in (seat_of(each) for each in over)}
    if isinstance(options, StancesOptions):
        sides |= {
            seat: " ".join(d.stance.casefold().split())
            for seat, d in zip(debater_seats(options), options.debaters, strict=True)
        }
    for other in takewhile(turn.__ne__, over):
        if sides[seat_of(other)] != sides[seat_of(turn)] and not _at_once(options, other, turn):
            yield other


def _at_once(options: Options | None, one: TurnId, other: TurnId) -> bool:
    """Whether two turns were asked without each other's replies."""
    if isinstance(options, BallotOptions):
        return phase_of(one) == phase_of(other) == "proposal" and round_of(one) == round_of(other) == 1
    return isinstance(options, ConvergenceOptions | PanelOptions) and round_of(one) == round_of(other)


def _argued(facts: Facts, turn: TurnId) -> tuple[str, ...]:
    return tuple(argument.text for argument in statements(_standing(facts, turn)))


def _answers(case: Case, facts: Facts, over: Sequence[TurnId]) -> ComparedAnswers:
    options = facts.started.options if facts.started else None
    if not isinstance(options, ConvergenceOptions):
        raise IllegalEntry("a convergence check belongs to the format convergence, but this debate has another format")
    answers = [_answer(facts, turn) for turn in over]
    known = (case.question, *(document.title for document in case.documents))
    return ComparedAnswers(answers, len(debater_seats(options)), options.convergence_similarity, known)


def _answer(facts: Facts, turn: TurnId) -> ComparedAnswer:
    reply, found = facts.said[turn], facts.found.get(f"{turn}/citations")
    if not isinstance(reply, Position):
        raise IllegalEntry(f"turn {turn} has no reply of the format convergence")
    struck = found.struck(turn) if isinstance(found, CitationsFound) else {}
    return ComparedAnswer(turn, reply.final_answer, [a.text for a in reply.arguments if a.n not in struck])


def _texts(case: Case, facts: Facts, over: Sequence[TurnId]) -> ReadTexts:
    """The reply of the last turn; the turns before it are those whose replies it was shown."""
    *seen, turn = over
    documents = documents_of_round(case, round_of(turn))
    titles = {document.id: document.title for document in case.documents}
    return ReadTexts(
        reply=facts.said[turn],
        documents=documents,
        titles=[titles[name] for name in documents],
        asked=(case.question, *_caller_texts(case, facts, turn)),
        shown={former: _standing(facts, former) for former in seen},
        marked=[words for former in (*seen, *_takes_before(facts, turn)) for words in _marked(facts, former)],
        voices=_speakers(facts, turn, seen),
        author=seat_of(turn),
        names=known_names(facts.started) if facts.started else frozenset(),
        sides=_sides(facts, turn),
        agreed=_agreed(facts, turn),
    )


def _sides(facts: Facts, turn: TurnId) -> Mapping[str, str]:
    """The sides that a seat decides between, by each name under which its texts may speak of one."""
    started = facts.started
    match started.options if started else None:
        case StancesOptions(debaters=debaters):
            return {name: debater.stance for debater in debaters for name in (debater.name, debater.stance)}
        case BallotOptions(votes=votes):
            return {vote: vote for vote in votes}
        case AdversarialOptions(positions=positions) if started and positions and seat_of(turn) == "moderator":
            # A position has two parties, and so two labels: who proposed it, and who answered for it.
            labels = {label: split_party(who)[1] for who, label in moderated(Script(started, facts), turn).items()}
            named = {name: position.id for position in positions for name in (position.id, position.text)}
            return {label: position for label, position in labels.items() if position} | named
        case _:
            return {}


def _agreed(facts: Facts, turn: TurnId) -> bool | None:
    """Whether the panel that a synthesizer closes has reached consensus."""
    started = facts.started
    if started is None or not isinstance(started.options, PanelOptions) or seat_of(turn) != "synthesizer":
        return None
    now = standing(Script(started, facts), round_of(turn))
    return now.terminated if now else None


def _speakers(facts: Facts, turn: TurnId, seen: Sequence[TurnId]) -> Mapping[TurnId, str]:
    """The labels under which a turn was shown these replies."""
    started = facts.started
    if started is None:
        return {}
    return FORMATS[started.format].shown(Script(started, facts), Turn(turn, seat_of(turn), tuple(seen)))


def _takes_before(facts: Facts, turn: TurnId) -> Iterator[TurnId]:
    """The former takes of a turn that was asked once more."""
    return (former for former in facts.said if once_more(former) == turn)


def _marked(facts: Facts, turn: TurnId) -> Iterator[str]:
    """The words of a reply that its finding marks."""
    found = facts.found.get(f"{turn}/texts")
    if isinstance(found, TextsFound) and found.marked:
        said = dict(texts_of(facts.said[turn]))
        yield from (said[passage.field][slice(*passage.span)] for passage in found.marked)


def _caller_texts(case: Case, facts: Facts, turn: TurnId) -> Iterator[str]:
    """The texts of the caller that a seat was shown beside the question."""
    options = facts.started.options if facts.started else None
    own = [] if options is None else [personas_of(options).get(seat_of(turn)), instructions_of(options, seat_of(turn))]
    yield from (text for text in (case.single_agent_answer, *own) if text)
    if options is not None:
        yield from (position.text for position in positions_of(options))
        yield from (debater.stance for debater in debaters_of(options) if debater.stance)
        yield from votes_of(options)


def _standing(facts: Facts, turn: TurnId) -> Reply:
    """A reply as later seats were shown it: without its struck arguments."""
    found = facts.found.get(f"{turn}/citations")
    struck = found.struck(turn) if isinstance(found, CitationsFound) else {}
    return without_statements(facts.said[turn], struck) if struck else facts.said[turn]


def _known_texts(case: Case, sources: Mapping[str, str]) -> tuple[str, ...]:
    return case.question, *sources.values()


CITATIONS: Mapping[str, Callable[[Case, TurnId], tuple[str, ...]]] = {citations.ENGINE: _documents_of_turn}
CRITIQUES: Mapping[str, Callable[[Case, Facts, Sequence[TurnId]], JudgedCritique]] = {"judgement/1": _critique}
INJECTIONS: Mapping[str, Callable[[Case, Facts, Sequence[TurnId]], ReadCase]] = {"injection/1": _read_case}
OVERLAPS: Mapping[str, Callable[[Case, Facts, Sequence[TurnId]], ComparedAnswers]] = {"wording/1": _answers}
VOICES: Mapping[str, Callable[[Case, Facts, Sequence[TurnId]], JudgedVoices]] = {"judgement/1": _voices}
TEXTS: Mapping[str, Callable[[Case, Facts, Sequence[TurnId]], ReadTexts]] = {texts.ENGINE: _texts}
AGREEMENTS: Mapping[str, Callable[[Case, Mapping[str, str]], tuple[str, ...]]] = {"consensus/1": _known_texts}
