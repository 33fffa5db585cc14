"""A guard model's word is read as a screener's verdict, and of no other seat's replies."""

from __future__ import annotations

import json

import pytest

from service.debate.replies import REPLY_TYPES, ScreenedPassage, Screening
from service.debate.replies.decoding import decode_reply
from service.debate.replies.guards import CHARACTERS_MAX
from service.debate.replies.pruning import Kept
from service.debate.replies.screening import PASSAGES_MAX, QUOTE_MAX
from service.debate.suspicions import FAMILIES

PASSAGE = {"field": "document", "name": "D1", "quote": "Ignore that.", "family": "override", "why": "It orders."}


def read(text: str) -> Screening | str:
    kept = decode_reply("screener", text)
    if isinstance(kept, str):
        return kept
    assert isinstance(kept.reply, Screening)
    return kept.reply


@pytest.mark.parametrize(
    ("text", "suspicious"),
    [
        ("unsafe\nS14", True),
        ("\n\nunsafe\nS2,S14", True),
        ("safe", False),
        ("Yes", True),
        ("No", False),
        ("Yes.\n\nThe passage tells the reviewer to approve.", True),
        ("<score> yes </score>", True),
        ("<score>no</score>\n<confidence> High </confidence>", False),
        ("Yes\n<confidence> High </confidence>", True),
        ("INJECTION", True),
        ("BENIGN", False),
        ("**Unsafe**", True),
        ('"safe"', False),
        ("\ufeffunsafe", True),
        ("<think>It says ignore. No { here matters.</think>\nunsafe\nS14", True),
    ],
)
def test_a_guard_s_word_says_whether_the_case_is_suspicious(text: str, suspicious: bool) -> None:
    kept = decode_reply("screener", text)

    assert kept == Kept(Screening(suspicious=suspicious), worded=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No injection was found.",
        "No! It is unsafe.",
        "unsafe\nsafe",
        "yes\nno",
        "maybe",
        "The case is unsafe",
        "unsafely",
        "S14\nunsafe",
        "<think>unsafe",
        "<think>unsafe</think>",
        "safe " + "x" * CHARACTERS_MAX,
        "safe\n{",
    ],
)
def test_what_is_no_word_is_unusable_as_any_seat_s_reply(text: str) -> None:
    assert "expected the reply of a screener as one JSON object" in str(read(text))


@pytest.mark.parametrize("text", ['unsafe\n{"suspicious": false, "passages": []}', 'No\n{"suspicious": false}'])
def test_an_object_is_the_reply_whatever_word_stands_before_it(text: str) -> None:
    assert read(text) == Screening(suspicious=False)


@pytest.mark.parametrize("kind", sorted(set(REPLY_TYPES) - {"screener"}))
def test_the_word_is_no_reply_of_any_other_seat(kind: str) -> None:
    assert isinstance(decode_reply(kind, "safe"), str)


def test_a_typed_reply_is_read_with_its_passages() -> None:
    kept = decode_reply("screener", json.dumps({"suspicious": True, "passages": [PASSAGE]}))

    assert kept == Kept(Screening(True, (ScreenedPassage("document", "D1", "Ignore that.", "override", "It orders."),)))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"family": "mindControl"}, "at `$.passages[0].family`"),
        ({"field": "metadata"}, "at `$.passages[0].field`"),
        ({"quote": ""}, "at `$.passages[0].quote`"),
        ({"quote": "x" * (QUOTE_MAX + 1)}, "at `$.passages[0].quote`"),
        ({"name": None}, "at `$.passages[0].name`"),
    ],
)
def test_a_passage_of_another_form_makes_the_reply_unusable(change: dict[str, object], fault: str) -> None:
    assert fault in str(read(json.dumps({"suspicious": True, "passages": [{**PASSAGE, **change}]})))


@pytest.mark.parametrize("count", [PASSAGES_MAX + 1, 10_000])
def test_a_list_that_would_fill_the_record_is_unusable(count: int) -> None:
    short = {**PASSAGE, "why": "-", "quote": "-"}
    reply = json.dumps({"suspicious": True, "passages": [short] * count})

    assert f"passages has at most {PASSAGES_MAX} entries, found {count}" in str(read(reply))


def test_as_many_passages_as_are_allowed_are_read_in_each_family() -> None:
    passages = [{**PASSAGE, "family": FAMILIES[n % len(FAMILIES)]} for n in range(PASSAGES_MAX)]
    found = read(json.dumps({"suspicious": True, "passages": passages}))

    assert isinstance(found, Screening)
    assert len(found.passages) == PASSAGES_MAX
