"""Real requests about the items of golden sets are known again by the hash of what they show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

import service
from service.debate.facts import Facts
from service.debate.model import Turn
from service.debate.replies import Reply
from service.errors import SettingsError
from service.evaluation.sets.files import load_shipped, shipped
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.items import CriticItem, PairItem, QuestionItem
from service.evaluation.sets.key import TwoKeys, key_of, write_key
from service.evaluation.sets.key_line import KeyLine
from service.policy.known_faults import ModelFaults
from service.simulated.faulty import faulty_models
from service.simulated.known_cases import SETTING, KnownCases, parse
from service.simulated.request_reader import read as read_request
from tests.fixtures.golden_sets import CRITIC, PAIRS, QUESTIONS, edited, files_of, read
from tests.unit.simulated.debates import Played, Source, play
from tests.unit.simulated.known import body_of, question, question_line, request_of


def played(golden: GoldenSet, id: str) -> Played:
    """A whole debate about an item, with its given replies in the place of spoken ones."""
    item = golden.asked.item(id)
    given: dict[str, Reply] = {}
    match item:
        case CriticItem(proposal=proposal):
            given = {"1.proposer.1": proposal}
        case PairItem(given=g):
            given = {"0.framing.1": g.framing, "1.proposer.1": g.proposal}
            given |= {"1.critic.1": g.critique, "1.rebuttal.1": g.rebuttal}
        case QuestionItem():
            pass

    def alter(turn: Turn, _: Facts, reply: Reply) -> Reply:
        return given.get(turn.id, reply)

    sources = [Source(one.title, one.text) for one in golden.asked.documents(item)]
    return play(item.question, sources, alter=alter, models="birch-small")


def assert_known(golden: GoldenSet, turn: str) -> None:
    lines = key_of([golden], allow_held=True)
    cases, items = KnownCases(lines), golden.asked.active()
    assert len(lines) == len(items)
    for number, item in enumerate(items, start=1):
        if [one.id for one in golden.asked.documents(item)] != [f"D{n}" for n in range(1, len(item.documents) + 1)]:
            continue  # the fixture names documents so
        found = cases.find(read_request(played(golden, item.id).requests[turn]))
        assert found is not None, item.id
        assert (found.number, found.line) == (number, lines[number - 1])


@pytest.mark.parametrize(
    ("name", "turn"), [(CRITIC, "1.critic.1"), (CRITIC, "1.moderator.1"), (PAIRS, "1.moderator.1")]
)
def test_an_item_is_known_by_what_its_seat_is_shown(name: str, turn: str) -> None:
    assert_known(read(files_of(name)), turn)


@pytest.mark.parametrize("turn", ["0.framing.1", "1.proposer.1", "1.moderator.1"])
def test_a_question_is_known_by_every_seat(turn: str) -> None:
    assert_known(read(files_of(QUESTIONS)), turn)


def test_a_critic_of_a_shipped_set_is_known(tmp_path: Path) -> None:
    golden = load_shipped(next(folder for folder in shipped() if folder.name.endswith("-critic")))
    (tmp_path / "key.jsonl").write_bytes(write_key(key_of([golden], allow_held=True)))
    faulty = faulty_models({"birch-small": ModelFaults(hits=0)}, {SETTING: str(tmp_path / "key.jsonl")})
    item = golden.asked.active()[0]

    assert faulty is not None
    reading = read_request(played(golden, item.id).requests["1.critic.1"])
    assert faulty.in_case("birch-small", reading) is not None
    assert faulty.in_case("cedar-small", reading) is None


def test_the_key_has_labels_of_held_only_where_that_is_allowed() -> None:
    golden = read(files_of(CRITIC))

    assert len(key_of([golden], allow_held=False)) == 2
    assert len(key_of([golden], allow_held=True)) == 4


def test_lines_are_read_as_they_were_written() -> None:
    lines = key_of([read(files_of(name)) for name in (QUESTIONS, CRITIC, PAIRS)], allow_held=True)

    assert parse(write_key(lines), "key.jsonl") == lines
    assert key_of([read(files_of(QUESTIONS))] * 2, allow_held=True) == lines[:4]


def test_items_that_look_alike_and_have_different_labels_have_no_key() -> None:
    other = edited(files_of(QUESTIONS), "labels.jsonl", 1, lambda row: row.update(answer="yes"))
    other = edited(other, "items.jsonl", 2, lambda row: row.update(states="no"))

    with pytest.raises(TwoKeys, match="tiny-questions, item q1 is shown to models as another item"):
        key_of([read(files_of(QUESTIONS)), read(other)], allow_held=True)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "names no key file .* `gainsay evaluate key SET... --to FILE`, or take the faults out of the policy"),
        ({SETTING: "/nowhere/key.jsonl"}, "found none that can be read"),
    ],
)
def test_faults_without_a_key_file_are_refused(environment: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        faulty_models({"alder-small": ModelFaults(hits=0)}, environment)


def test_a_line_that_is_none_is_refused_by_its_number() -> None:
    raw = write_key(key_of([read(files_of(CRITIC))], allow_held=True))

    with pytest.raises(SettingsError, match=r"line 3 of the key file key\.jsonl is no line of a key"):
        parse(b"\n".join([*raw.splitlines()[:2], b"{}"]), "key.jsonl")


def test_models_without_faults_need_no_key_file() -> None:
    assert faulty_models({}, {}) is None


def test_nothing_but_the_provider_reads_the_key_file() -> None:
    root = Path(service.__file__).parent
    naming = {p.relative_to(root).as_posix() for p in root.rglob("*.py") if SETTING in p.read_text("utf-8")}
    reading = {p.relative_to(root).as_posix() for p in root.rglob("*.py") if "known_cases" in p.read_text("utf-8")}

    assert naming == {"simulated/known_cases.py", "policy/settings.py", "cli/evaluate/key.py"}  # the last in its help
    assert all(path.startswith("simulated/") for path in reading)


def in_words(words: str, lines: Sequence[KeyLine]) -> str | None:
    """The proposition of the case that a seat knows which is asked in these words."""
    found = KnownCases(lines).find(read_request(request_of(body_of("ballot.debater", 1, asked=words))))
    return found.line.proposition if found else None


def test_a_question_is_known_in_the_words_of_an_arm() -> None:
    one = question_line(1)
    other = structs.replace(one, proposition="Order 1 may not.", states="no")
    longer = structs.replace(one, question=f"{question(1)} Under Dutch law?", proposition="It may there.")
    lines = [one, other, longer]

    assert in_words(f"{question(1)}\n\nThe answer is one of: yes; no.", lines) == one.proposition
    assert in_words(f"Does this hold?\n\nOrder 1 may not.\n\nIt answers: {question(1)}", lines) == other.proposition
    assert in_words(f"Does this hold?\n\nOrder 1 may.\n\nIt answers: {question(1)}", lines) == one.proposition
    assert in_words(f"{longer.question} Why?", lines) == longer.proposition
    assert in_words(question(2), lines) is None
