"""Of every kind of turn: replies that cannot be used, a change at a case, and requests that hold nothing of a key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from service.debate.replies import REPLY_TYPES
from service.debate.replies.decoding import decode_reply
from service.evaluation.sets.key_line import KeyLine
from service.policy.known_faults import EVERY_SEAT, SEAT_FAULTS, FaultShares, ModelFaults, SeatFaults
from service.prompts.request import encode
from service.simulated import MODELS
from service.simulated.faulty import FaultyModels
from service.simulated.known_cases import KnownCases
from service.simulated.provider import FAULTY_FINGERPRINT, answer
from service.simulated.request_reader import read as read_request
from tests.unit.simulated.evaluated import Asked, ask, faulty, golden, lines
from tests.unit.simulated.known import argument, body_of, question_line, request_of, said, statement

PLAYED: Mapping[str, Mapping[str, Any]] = {
    "adversarial": {"rounds": 2},
    "stances": {"synthesizer": True, "screened": True},
    "ballot": {"consensusThreshold": 3},
    "panel": {"maxRounds": 2},
    "convergence": {},
}
SEATS = {"blind": "debater", "deliberation": "debater", "answer": "debater", "accuracy": "adjudicator"}
"""The seat of a kind of reply, where the last part of its name is none."""
OBJECTS = {"answer": "No.", "stance": "negative", "objection": {"flaw": "It is late.", "severity": "high"}}
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "models.md").read_text("utf-8")


def seat_of(kind: str) -> str:
    """Policy's seat of a kind of reply."""
    last = kind.rpartition(".")[2]
    return SEATS.get(last, last)


def played(form: str, models: FaultyModels) -> Asked:
    """A debate about the first item of a shipped set."""
    first = golden("questions")[0]
    return ask(form, first, first.asked.active()[0], models, **PLAYED[form])


@cache
def bodies() -> Mapping[str, bytes]:
    """A body of each kind of turn in a known case."""
    models = faulty("questions", debater={"accuracy": 500}, adjudicator={"accuracy": 0})
    found = {r.schema_id: encode(r) for form in PLAYED for r in played(form, models).requests.values()}
    heard = statement([argument(1, 1)], label="Model B", body=OBJECTS)
    return {**found, "panel.answer": body_of("panel.answer", 1, heard, seat="debater-1")}


@cache
def number(kind: str) -> tuple[int, tuple[KeyLine, ...]]:
    """The case of that body by its line, and its key."""
    key = (*lines("questions"), question_line(1))
    case = KnownCases(key).find(read_request(request_of(bodies()[kind])))
    assert case is not None
    return case.number, key


def readable(kind: str, **faults: Any) -> bool:
    """Whether the reply to that body can be read, of a model with these faults in that seat alone."""
    models = dict.fromkeys(MODELS, ModelFaults(seats={seat_of(kind): SeatFaults(**faults)}))
    given = answer(bodies()[kind], FaultyModels(models, KnownCases(number(kind)[1])))
    assert given.fingerprint == FAULTY_FINGERPRINT
    return not isinstance(decode_reply(kind, given.text), str)


@pytest.mark.parametrize("kind", REPLY_TYPES)
def test_replies_of_every_kind_of_turn_can_be_made_unusable(kind: str) -> None:
    assert readable(kind)
    assert not readable(kind, unusable=1_000)


@pytest.mark.parametrize("kind", REPLY_TYPES)
def test_faults_of_every_kind_of_turn_change_at_their_case(kind: str) -> None:
    case, _ = number(kind)

    assert not readable(kind, changes_at=case, after=FaultShares(unusable=1_000))
    assert readable(kind, changes_at=case + 1, after=FaultShares(unusable=1_000))
    assert readable(kind, unusable=1_000, changes_at=case, after=FaultShares())


def test_a_seat_s_table_takes_the_place_of_the_model_s() -> None:
    cases = KnownCases(number("framing")[1])
    own = ModelFaults(unusable=1_000, seats={"framing": SeatFaults()})
    models = FaultyModels(dict.fromkeys(MODELS, own), cases)

    assert not isinstance(decode_reply("framing", answer(bodies()["framing"], models).text), str)
    assert isinstance(decode_reply("proposer", answer(bodies()["proposer"], models).text), str)


@pytest.mark.parametrize(("concedes", "verdict"), [(1_000, "holds"), (0, "fails"), (None, "acceptedRisk")])
def test_answers_to_objections_grant_all_or_none(concedes: int | None, verdict: str) -> None:
    faults = ModelFaults(seats={"debater": SeatFaults(concedes=concedes)})
    models = FaultyModels(dict.fromkeys(MODELS, faults), KnownCases([question_line(1)]))

    assert {one.verdict for one in said(bodies()["panel.answer"], models, "panel.answer").answers} == {verdict}


# -- requests hold nothing of a key


def permuted(key: Sequence[KeyLine]) -> tuple[KeyLine, ...]:
    """The same cases with other labels."""
    return tuple(structs.replace(one, answer=next(a for a in one.answers if a != one.answer)) for one in key)


def sent(form: str, key: Sequence[KeyLine], **seats: Mapping[str, Any]) -> dict[str, bytes]:
    asked = played(form, faulty("questions", key, **seats))
    return {turn: encode(request) for turn, request in asked.requests.items()}


@pytest.mark.parametrize("form", PLAYED)
def test_permuted_labels_change_no_request_but_by_what_was_said(form: str) -> None:
    true, key = lines("questions"), permuted(lines("questions"))
    alike = {"framing": {"misframes": 500}, "rebuttal": {"concedes": 500}, "judge": {"heeds": 1_000}}
    alike |= {"moderator": {"heeds": 1_000}, "synthesizer": {"heeds": 1_000}, "classifier": {"mistypes": 500}}
    assert sent(form, true, **alike) == sent(form, key, **alike)

    right = {seat: {"accuracy": 1_000} for seat in ("proposer", "moderator", "debater", "judge", "synthesizer")}
    one, other = sent(form, true, **right), sent(form, key, **right)
    first = next(iter(one))
    assert one[first] == other[first]
    assert (one == other) == (form == "ballot")  # later turns are shown what was said; here one phase decides


@pytest.mark.parametrize("form", PLAYED)
def test_no_request_holds_a_hash_or_a_kind_of_the_key(form: str) -> None:
    key = lines("questions")
    held = {part.encode() for line in key for part in (line.shown, line.material)}

    for body in sent(form, key, debater={"accuracy": 500}).values():
        assert not any(part in body for part in held)


# -- docs/models.md


def rows() -> dict[str, set[str]]:
    """The keys of each kind of turn in the table of seats."""
    part = PAGE.partition("### Seats")[2].partition("\n## ")[0]
    cells = [line.split("|") for line in part.splitlines() if line.startswith("| ") and "`" in line.split("|")[2]]
    return {re.findall(r"`([\w.]+)`", row[2])[0]: {*re.findall(r"`(\w+)`", row[4])} for row in cells}


def test_the_page_says_of_every_kind_of_turn_which_faults_it_has() -> None:
    told: dict[str, set[str]] = {}
    for kind, keys in rows().items():
        told.setdefault(seat_of(kind), set()).update(keys)

    assert {*rows()} == {*REPLY_TYPES}
    assert told == {seat: {*keys} for seat, keys in SEAT_FAULTS.items()}
    assert not {*EVERY_SEAT} & set().union(*told.values())
