"""What engines are given: over the recorded debates, and over documents of each round and struck arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from service.checks import given
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, Passage, TextsFound
from service.debate.model import Case, ConvergenceOptions, Document, TurnId
from service.debate.replies.texts import texts_of
from service.debate.turns import turn_id
from tests.fixtures.debates import a_case
from tests.vectors.goldens import Golden, file_of, lines, recorded

ROUNDS = (0, 1, 2, 1, 3)
"""The rounds of a case's documents, in the order in which it names them."""
SOURCES = {"D9": "The fee is due.", "D1": "The cap covers fines."}


def a_case_of_rounds() -> Case:
    """A case with documents of several rounds, in no order."""
    documents = (Document(f"D{9 - n}", f"Title {n}", "00" * 32, 100, round_) for n, round_ in enumerate(ROUNDS))
    return replace(a_case(), documents=tuple(documents))


def of_documents(row: Callable[[Case, TurnId], tuple[str, ...]]) -> Iterator[object]:
    """The documents over which the citations of a turn are judged."""
    for round_ in range(5):
        yield round_, row(a_case_of_rounds(), turn_id(round_, "proposer"))


def of_a_case(row: Callable[[Case, Facts, tuple[TurnId, ...]], given.ReadCase]) -> Iterator[object]:
    """The texts that are searched for passages which speak to a model."""
    for checked in recorded.checks("injection"):
        case = checked.facts.case
        assert case is not None
        yield checked.name, row(case, checked.facts, checked.check.over)


def of_critiques(row: Callable[[Case, Facts, tuple[TurnId, ...]], given.JudgedCritique]) -> Iterator[object]:
    """What critiques are judged by, and of each round of documents."""
    for checked in recorded.checks("critique"):
        case = checked.facts.case
        assert case is not None
        yield checked.name, row(case, checked.facts, checked.check.over)
        yield checked.name, "rounds", row(a_case_of_rounds(), checked.facts, checked.check.over).documents


def of_voices(row: Callable[[Case, Facts, tuple[TurnId, ...]], given.JudgedVoices]) -> Iterator[object]:
    """The turns that argue, with what they may repeat: as they were recorded, and with struck arguments."""
    for checked in recorded.checks("voices"):
        case = checked.facts.case
        assert case is not None
        yield checked.name, row(case, checked.facts, checked.check.over)
        yield checked.name, "struck", row(a_case_of_rounds(), _marked(checked.facts), checked.check.over)


def of_answers(row: Callable[[Case, Facts, tuple[TurnId, ...]], given.ComparedAnswers]) -> Iterator[object]:
    """The answers that are compared: as they were recorded, with struck arguments, of more seats than have spoken."""
    for checked in recorded.checks("convergence"):
        case = checked.facts.case
        assert case is not None
        yield checked.name, row(case, checked.facts, checked.check.over)
        yield checked.name, "struck", row(a_case_of_rounds(), _otherwise(checked.facts), checked.check.over)


def _otherwise(facts: Facts) -> Facts:
    """The same debate of seven at another similarity, in which the first argument of each answer is struck."""
    other = Facts()
    vars(other).update(vars(facts))
    assert facts.started is not None
    assert isinstance(facts.started.options, ConvergenceOptions)
    options = replace(facts.started.options, debaters=7, convergence_similarity=613)
    other.started = replace(facts.started, options=options)
    other.found = {
        f"{turn}/citations": CitationsFound((ArgumentVerdict(turn, 1, struck="uncited"), ArgumentVerdict(turn, 2)))
        for turn in facts.said
    }
    return other


def of_agreements(row: Callable[[Case, dict[str, str]], tuple[str, ...]]) -> Iterator[object]:
    """The texts whose words are no agreement."""
    yield row(a_case_of_rounds(), SOURCES)


def of_texts(row: Callable[[Case, Facts, tuple[TurnId, ...]], given.ReadTexts]) -> Iterator[object]:
    """What texts are compared with: critiques with the replies that they are judged by, and some arguments struck."""
    for checked in recorded.checks("critique"):
        case = checked.facts.case
        assert case is not None
        yield checked.name, row(case, checked.facts, checked.check.over)
        yield checked.name, "struck", row(a_case_of_rounds(), _marked(checked.facts), checked.check.over)


def _marked(facts: Facts) -> Facts:
    """The same debate, in which the first argument of each reply is struck, and the first words of each are marked."""
    other = Facts()
    vars(other).update(vars(facts))
    other.found = {
        **{f"{turn}/citations": CitationsFound((ArgumentVerdict(turn, 1, struck="uncited"),)) for turn in facts.said},
        **{
            f"{turn}/texts": TextsFound((Passage(path, (0, 9), "quotation", "nowhere", "open"),))
            for turn in facts.said
            for path, _ in texts_of(facts.said[turn])[:1]
        },
    }
    return other


def goldens() -> dict[str, Golden]:
    """A golden for every row of every kind."""
    made: dict[str, tuple[Mapping[str, Any], Callable[[Any], Iterator[object]]]] = {
        "citations": (given.CITATIONS, of_documents),
        "critique": (given.CRITIQUES, of_critiques),
        "voices": (given.VOICES, of_voices),
        "injection": (given.INJECTIONS, of_a_case),
        "convergence": (given.OVERLAPS, of_answers),
        "consensus": (given.AGREEMENTS, of_agreements),
        "texts": (given.TEXTS, of_texts),
    }
    return {
        file_of(name, f"{kind}-given"): Golden(name, partial(_made, name, make, row))
        for kind, (rows, make) in made.items()
        for name, row in rows.items()
    }


def _made(name: str, make: Callable[[Any], Iterator[object]], row: object) -> bytes:
    return lines(name, {1: make(row)})
