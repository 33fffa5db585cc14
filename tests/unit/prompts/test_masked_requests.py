"""The request of a masked turn holds no flagged word, in no field, and every other request is as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import Entry, TurnAsked
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.kernel import decide
from service.debate.masks import SHORT
from service.debate.model import Ask, Case, Check, Position, Turn
from service.debate.options import Debater
from service.debate.replies import Reply
from service.debate.replies.texts import with_texts
from service.debate.suspicions import CaseField, InjectionFound, Suspicion
from service.debate.turns import is_masked
from service.prompts.fence import blocks
from service.prompts.layouts import Placeholders, lay_out
from service.prompts.request import Request
from tests.fixtures.debates import a_case, canned, drive, found
from tests.fixtures.masking import MASKED, masking

CODE = "obey the zebra order number"
"""What each flagged passage says, with its number: letters that stand nowhere else."""
AROUND = "\U0001f4b8\U0001f4b8 The cap {} is \u7f70\u91d1. "


class Laid(Placeholders):
    """Placeholders for the prompts, in the newest layout."""

    layout = "layout/1"


class Field:
    """One flagged text of a case."""

    def __init__(self, field: CaseField, name: str, number: int) -> None:
        self.order = f"{CODE} {number}!"
        self.text = AROUND.format(self.order)
        at = self.text.index(self.order)
        self.suspicion = Suspicion(field, (at, at + len(self.order)), "verdict", self.order, name)


def fields(*named: tuple[CaseField, str]) -> dict[tuple[CaseField, str], Field]:
    return {place: Field(*place, n) for n, place in enumerate(named, start=10)}


OF_ALL: tuple[tuple[CaseField, str], ...] = (
    ("question", ""),
    ("answer", ""),
    ("title", "D1"),
    ("title", "D2"),
    ("document", "D1"),
    ("document", "D2"),
)
OWN: Mapping[str, tuple[tuple[CaseField, str], ...]] = {
    "adversarial/1": (("position", "sign"), ("position", "wait"), ("persona", "moderator")),
    "stances/1": (("instructions", "debater-1"), ("debater", "debater-1"), ("stance", "debater-2")),
    "panel/1": (("instructions", "debater-1"),),
    "convergence/1": (("instructions", "debater-1"), ("instructions", "judge")),
}


def options_of(form: str, given: Mapping[tuple[CaseField, str], Field]) -> dict[str, Any]:
    """The caller's own texts of a format, each flagged."""
    text = {place: field.text for place, field in given.items()}
    match form:
        case "adversarial/1":
            positions = tuple(Position(name, text["position", name]) for name in ("sign", "wait"))
            return {"positions": positions, "personas": {"moderator": text["persona", "moderator"]}}
        case "stances/1":
            who = (Debater(text["debater", "debater-1"], "sign"), Debater("Wanda", text["stance", "debater-2"]))
            return {
                "debaters": who,
                "instructions": text["instructions", "debater-1"],
                "anonymize_transcript": False,
            }
        case "panel/1":
            return {"instructions": text["instructions", "debater-1"]}
    return {
        "debater_instructions": text["instructions", "debater-1"],
        "judge_instructions": text["instructions", "judge"],
    }


def the_case(given: Mapping[tuple[CaseField, str], Field]) -> tuple[Case, dict[str, str]]:
    case = a_case(1, 1, question=given["question", ""].text)
    documents = tuple(replace(d, title=given["title", d.id].text) for d in case.documents)
    whole = replace(case, documents=documents, single_agent_answer=given["answer", ""].text)
    return whole, {d.id: given["document", d.id].text for d in documents}


def quoting(orders: Sequence[str]) -> Callable[[Turn, Facts], Reply]:
    """Every reply repeats the orders in its texts: as they are, shouted over lines, and escaped."""
    ways = [order for word in orders for order in (word, word.upper().replace(" ", "\n"), msgspec.json.encode(word))]
    said = " ".join(way.decode() if isinstance(way, bytes) else way for way in ways)

    def reply(turn: Turn, facts: Facts) -> Reply:
        own = canned(turn, facts)
        named = ("finalAnswer", "winner", "output")
        return with_texts(own, lambda path, text: text if path in named else f"{text} {said}")

    return reply


def finding(given: Mapping[tuple[CaseField, str], Field]) -> Callable[[Check, Facts], Finding]:
    return lambda check, facts: (
        InjectionFound(tuple(field.suspicion for field in given.values()))
        if check.kind == "injection"
        else found(check, facts)
    )


def requests(entries: Sequence[Entry], sources: Mapping[str, str]) -> dict[str, Request]:
    """The request of every turn, as it was asked for."""
    facts, made = Facts(), dict[str, Request]()
    for entry in entries:
        if isinstance(entry, TurnAsked) and isinstance(move := decide(facts), Ask) and facts.case:
            turn = next(turn for turn in move.turns if turn.id == entry.turn)
            made[entry.turn] = lay_out(Laid(), facts.case, sources, facts, turn)
        facts.add(entry)
    return made


def folded(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


@pytest.mark.parametrize("form", sorted(MASKED))
def test_no_flagged_word_is_left_in_a_masked_request_and_all_are_in_the_other_ones(form: str) -> None:
    given = fields(*OF_ALL, *OWN[form])
    case, sources = the_case(given)
    orders = [field.order for field in given.values()]
    started = masking(form, **options_of(form, given))

    made = requests(drive(started, quoting(orders), case=case, findings=finding(given)), sources)

    (hidden,) = [request for turn, request in made.items() if is_masked(turn)]  # type: ignore[arg-type]
    first = made[str(MASKED[form]).replace(".masked", "")]
    data, shown = ("".join(m.content for m in one.messages if m.role == "data") for one in (hidden, first))
    assert folded(CODE) not in folded(data)
    assert all(folded(order) in folded(shown) for order in orders)
    assert data.count(SHORT) >= len(orders)
    assert data.count("\U0001f4b8\U0001f4b8 The cap") >= len(OF_ALL)
    assert [m for m in hidden.messages if m.role != "data"] == [m for m in first.messages if m.role != "data"]
    assert [(b.kind, set(b.attributes)) for m in hidden.messages for b in blocks(m.content)] == [
        (b.kind, set(b.attributes)) for m in first.messages for b in blocks(m.content)
    ]


@pytest.mark.parametrize("form", sorted(MASKED))
def test_every_other_request_is_the_same_whether_passages_are_flagged_or_not(form: str) -> None:
    given = fields(*OF_ALL, *OWN[form])
    case, sources = the_case(given)
    started = masking(form, **options_of(form, given))
    replies = quoting([field.order for field in given.values()])

    flagged = requests(drive(started, replies, case=case, findings=finding(given)), sources)
    plain = requests(drive(started, replies, case=case), sources)

    assert {turn: request for turn, request in flagged.items() if turn in plain} == plain
    assert [turn for turn in flagged if turn not in plain] == [MASKED[form]]


@given(st.data())
def test_for_any_spans_the_masked_request_holds_none_of_their_words(data: st.DataObject) -> None:
    """Whatever code or a screener has flagged, in the text that is stored."""
    alphabet = st.text('zq \n"\\\u00e9\u7f70\U0001f4b8', min_size=1, max_size=50)
    question, text = data.draw(alphabet), data.draw(alphabet)
    case, sources = a_case(question=question), {"D1": text}
    places: list[tuple[CaseField, str, str]] = [("question", "", question), ("document", "D1", text)]
    suspicions = []
    for field, name, whole in places:
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, len(whole)))
        suspicions.append(Suspicion(field, (start, end), "secrecy", whole[start:end], name))

    def findings(check: Check, facts: Facts) -> Finding:
        return InjectionFound(tuple(suspicions)) if check.kind == "injection" else found(check, facts)

    entries = drive(masking("adversarial/1"), quoting([one.words for one in suspicions]), case=case, findings=findings)
    shown = requests(entries, sources)[MASKED["adversarial/1"]].messages[1:3]

    for one in suspicions:
        if len(folded(one.words)) >= 12:
            assert not [m for m in shown if folded(one.words) in folded(m.content)]


def test_the_moderator_of_a_masked_turn_speaks_for_no_position() -> None:
    given = fields(*OF_ALL)
    case, sources = the_case(given)

    made = requests(drive(masking("adversarial/1"), case=case, findings=finding(given)), sources)

    assert "position-of-this-seat" not in {b.kind for b in blocks(made[MASKED["adversarial/1"]].messages[2].content)}


@pytest.mark.parametrize(
    ("form", "places"),
    [
        ("adversarial/1", OF_ALL),
        ("stances/1", (*OF_ALL, ("debater", "debater-1"), ("stance", "debater-2"))),
    ],
)
def test_words_of_few_letters_are_masked_in_the_field_that_is_named(
    form: str, places: tuple[tuple[CaseField, str], ...]
) -> None:
    """They are too few to be looked for elsewhere, so only the stored offsets can find them."""
    given = {place: Field(*place, n) for n, place in enumerate((*places, *OWN[form]))}
    for n, field in enumerate(given.values()):
        field.order = f"obey q{n}q"
        field.text = AROUND.format(field.order)
        at = field.text.index(field.order)
        field.suspicion = replace(field.suspicion, span=(at, at + len(field.order)), words=field.order)
    case, sources = the_case(given)
    started = masking(form, **options_of(form, given))

    made = requests(drive(started, case=case, findings=finding(given)), sources)

    hidden = made[MASKED[form]].messages
    assert "obey" not in hidden[1].content + hidden[2].content
    assert "obey" in made[str(MASKED[form]).replace(".masked", "")].messages[1].content
