"""What is rendered once for several requests is what each of them would have rendered."""

from __future__ import annotations

import gc
from copy import copy
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.entries import CaseReceived, Entry, TurnAsked
from service.debate.facts import Facts
from service.debate.findings import CitationsFound
from service.debate.kernel import decide
from service.debate.model import Ask
from service.debate.neutral import neutral
from service.prompts import fence, kept
from service.prompts.layouts import Placeholders
from service.prompts.render import render
from service.prompts.request import Request
from tests.fixtures.debates import a_case, a_start, drive
from tests.vectors.layouts import SOURCES, debates

written = cache(debates)


def requests(entries: list[Entry], *, apart: bool) -> list[Request]:
    """The requests of all turns of a debate, those held for its end too; ``apart``: each by facts of its own."""
    facts, found = Facts(), list[Request]()
    assert isinstance(entries[0], CaseReceived)
    for n, entry in enumerate(entries):
        move = decide(facts) if facts.started and isinstance(entry, TurnAsked) else None
        for turn in (*move.turns, *move.holding) if isinstance(move, Ask) else ():
            shown = replace(turn, sees=tuple(seen for seen in turn.sees if seen in facts.said))
            if "critic.retry" not in turn.fragments or shown == turn:
                own = Facts.of(entries[:n]) if apart else facts
                found.append(render(Placeholders(), entries[0].case, SOURCES, own, shown))
        facts.add(entry)
    return found


@pytest.mark.parametrize("name", debates())
def test_a_request_of_kept_parts_is_the_one_that_is_rendered_anew(name: str) -> None:
    assert requests(written()[name], apart=False) == requests(written()[name], apart=True)


@pytest.mark.parametrize("most", [0, 300, 3_000])
def test_a_request_is_the_same_where_parts_are_dropped(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    entries = written()["stances/1"]
    whole = requests(entries, apart=False)
    monkeypatch.setattr(kept, "MOST_CHARACTERS", most)

    assert requests(entries, apart=False) == whole


def facts_at_the_end() -> Facts:
    entries = drive(a_start(2), case=a_case(1, 2))
    return Facts.of(entries[: max(n for n, entry in enumerate(entries) if isinstance(entry, TurnAsked))])


def last_request(facts: Facts, case: Any, sources: dict[str, str]) -> Request:
    move = decide(facts)
    assert isinstance(move, Ask)
    return render(Placeholders(), case, sources, facts, move.turns[0])


def test_the_case_is_made_safe_once_for_all_turns_that_are_shown_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_at_the_end()
    seen: list[str] = []

    def noted(text: str) -> str:
        seen.append(text)
        return neutral(text)

    monkeypatch.setattr(fence, "neutral", noted)

    for _ in range(3):
        last_request(facts, facts.case, {"D1": "the first text", "D2": "the second text"})

    assert (seen.count("the first text"), seen.count("the second text")) == (1, 1)


def test_another_text_or_finding_under_the_same_name_is_rendered() -> None:
    facts = facts_at_the_end()
    before = last_request(facts, facts.case, {"D1": "the first text", "D2": "-"})
    other = last_request(facts, facts.case, {"D1": "the other text", "D2": "-"})
    assert "the other text" in other.messages[1].content
    assert "the first text" in before.messages[1].content

    changed = copy(facts)
    changed.said = {turn: replace(reply, thesis="Changed.") for turn, reply in facts.said.items() if "propos" in turn}
    changed.said = {**facts.said, **changed.said}
    assert "Changed." in last_request(changed, facts.case, {"D1": "-", "D2": "-"}).messages[2].content
    assert "Changed." not in last_request(facts, facts.case, {"D1": "-", "D2": "-"}).messages[2].content

    shown = last_request(facts, facts.case, {"D1": "-", "D2": "-"}).messages[2].content
    facts.found.update({check: CitationsFound(()) for check in facts.found if check.endswith("/citations")})
    assert last_request(facts, facts.case, {"D1": "-", "D2": "-"}).messages[2].content != shown


def test_parts_are_gone_with_their_debate_and_bounded_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_store", store := kept._Store())
    monkeypatch.setattr(kept, "MOST_CHARACTERS", 10)
    one, two = Facts(), Facts()
    kept.once(one, "a", (), lambda: "1234", len)
    kept.once(two, "a", (), lambda: "5678", len)
    assert [*store.debates] == [one, two]

    assert kept.once(two, "b", (), lambda: "more than ten characters", len) == "more than ten characters"
    assert [[*parts.by_name] for parts in store.debates.values()] == [["a"], ["a"]]
    kept.once(two, "b", (), lambda: "90123", len)
    assert [*store.debates] == [two], "all are dropped where they are too many"

    del two
    gc.collect()
    kept.once(one, "a", (), lambda: "1234567890", len)
    assert sum(parts.characters for parts in store.debates.values()) == 10


def test_a_part_is_kept_only_for_the_very_objects_that_it_rests_on() -> None:
    facts, first, equal = Facts(), ["x"], ["x"]

    assert kept.once(facts, "n", (first,), lambda: 1, lambda _: 0) == 1
    assert kept.once(facts, "n", (first,), lambda: 2, lambda _: 0) == 1
    assert kept.once(facts, "n", (equal,), lambda: 3, lambda _: 0) == 3
    assert kept.once(facts, "n", (equal, first), lambda: 4, lambda _: 0) == 4
    assert kept.once(copy(facts), "n", (equal, first), lambda: 5, lambda _: 0) == 5
