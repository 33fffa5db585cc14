"""A reply is read when it has one reading, and refused in our own words when it has two or none."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.debate.replies import REPLY_TYPES, Critique, Reply
from service.debate.replies.decoding import CHARACTERS_MAX, DEPTH_MAX, ERROR_MAX
from tests.fixtures.replies import Wire, read, replies

SEATS = sorted(REPLY_TYPES)
SENT: Wire = {
    "thesis": "The cap fails.",
    "points": [{"n": 1, "text": "Fraud is outside.", "attacks": [1], "citations": [], "basis": "reasoning"}],
    "challengeStrength": 7,
    "conclusion": "rejected",
    "shift": None,
}
READ = msgspec.convert(SENT, Critique)
TEXT = json.dumps(SENT)
TICKS = "`" * 3

# -- what has one reading


def spoken(**changes: str) -> str:
    """The critique with the JSON of some values exchanged as they stand."""
    members = {name: json.dumps(value) for name, value in SENT.items()} | changes
    return "{" + ", ".join(f'"{name}": {value}' for name, value in members.items()) + "}"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"\ufeff \r\n{TEXT}\n",
        json.dumps(SENT, indent=4).replace("\n", "\r\n"),
        TEXT.replace(", ", ",\u00a0"),
        f"{TICKS}json\n{TEXT}\n{TICKS}",
        f"~~~\n{TEXT}\n~~~",
        f"{TICKS}JSON5 title=reply\n{TEXT}",
        f"Here is the critique:\n\n{TICKS}\n{TEXT}\n{TICKS}\n\nI hope it's what you need.",
        f"As the prompt asks {{see above}}: {TEXT} {{as it is}}",
        f"{{{{ {TEXT} }}}}",
        f"{TEXT}\n{TEXT}",
        f"{TEXT}\n\nThe same in other words: {SENT!r}",
        f"<think>Perhaps {{\"thesis\": 'no'}} or {TEXT[:40]}</think>\n{TEXT}",
        f"\n<THINKING>\nHm.</thinking >\n<reasoning></reasoning>{TICKS}json\n{TEXT}\n{TICKS}",
        f"{TEXT}\n<think>Was that right?",
        f"[{TEXT}]",
        f"'{TEXT}'",
        f'{{"reply": {TEXT}}}',
        f'{{"response": {TEXT}}}',
        f'{{"critic": {TEXT}}}',
        repr(SENT),
        repr(SENT).replace("'", '"').replace("None", "null"),
        spoken(shift="None"),
        spoken(conclusion="'rejected'"),
        TEXT.replace("]}", "],}").replace("}]", "},]")[:-1] + ",}",
        '{"seat": "critic", ' + TEXT[1:],
        f"```{TEXT}",
    ],
)
def test_a_text_with_one_reading_is_read(text: str) -> None:
    assert read("critic", text) == READ


@pytest.mark.parametrize(
    ("written", "thesis"),
    [
        (r'"a \"b\" \\ \/ \b\f\n\r\t \u00e9 \ud83d\ude00"', 'a "b" \\ / \b\f\n\r\t é 😀'),
        (r"'a \"b\" \' \\ \n \xe9 \U0001f600'", 'a "b" \' \\ \n é 😀'),
        (r'"don\'t"', "don't"),
        ('"two\nlines\tand\r\na tab"', "two\nlines\tand\r\na tab"),
        ('"it\'s {\\"n\\": 1} in ``` and </think>"', 'it\'s {"n": 1} in ``` and </think>'),
        ("'say \"no\" // not a comment'", 'say "no" // not a comment'),
        ('"“curly”"', "“curly”"),
        (r'"\u0041\u00410"', "AA0"),
    ],
)
def test_a_string_is_read_as_json_and_python_read_it(written: str, thesis: str) -> None:
    reply = read("critic", spoken(thesis=written))

    assert isinstance(reply, Critique), reply
    assert reply.thesis == thesis


# -- what has two readings, or none


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "no object in 0 characters"),
        ("I cannot take part in this.", "no object in 27 characters"),
        (json.dumps(TEXT), "no object"),
        ("{see above} and {that}", "no object"),
        (f"{TEXT} {spoken(challengeStrength='8')}", "several objects that differ"),
        (f'An example: {{"n": 1}}. Now mine: {TEXT}', "several objects that differ"),
        (f"{spoken(challengeStrength='1')}\n{spoken(challengeStrength='true')}", "several objects that differ"),
        (f"{spoken(challengeStrength='7')}\n{spoken(challengeStrength='7.0')}", "several objects that differ"),
        (f"{{}} {TEXT}", "several objects that differ"),
        (f"{TEXT}\n<think>{{}}", "several objects that differ"),
        (f"<think>Hm. {TEXT}", "a <think> block without an end"),
        (f"</think>{TEXT}</think>{spoken(thesis='1')}", "several objects that differ"),
        (TEXT[:-1], "breaks off before its end"),
        (f"{TICKS}json\n{TEXT[:-1]}\n{TICKS}", "not well-formed: expected , or } at character"),
        ('{"thesis": "The cap', "breaks off before its end"),
        ('{"thesis": "The cap\\', "breaks off before its end"),
        (f'{TEXT}, "shift": {{}}}}', "goes on after its end"),
        (f'{TEXT}}}, "shift": null}}', "goes on after its end"),
        (f'{TEXT}\n"shift": null}}', "goes on after its end"),
        (f"[{TEXT}, {TEXT}]", "goes on after its end"),
        (repr(spoken(thesis=r'"a \"b\""')), "expected , or }"),
        ("'" + TEXT.replace("The", "\\\\nThe") + "'", "within a string, with backslashes"),
        (spoken(shift='null, "shift": null'), "a name that stands twice"),
        (spoken(points='[{"n": 1, "n": 2, "text": "a"}]'), "a name that stands twice"),
        (spoken(thesis="'the parties' duties'"), "expected , or }"),
        (spoken(thesis="'it's'"), "expected , or }"),
        (spoken(thesis="“a”"), "expected a value"),
        (TEXT.replace('"', "“"), "expected a string in straight quotes"),
        ('{thesis: "a"}', "expected a string in straight quotes"),
        ("{// mine\n" + TEXT[1:], "expected a string in straight quotes"),
        (spoken(shift="null, // as before\n").replace(",  }", "}"), "expected a string in straight quotes"),
        (spoken(shift="null /* as before */"), "expected , or }"),
        (spoken(points="[...]"), "expected a value"),
        (spoken(points="()"), "expected a value"),
        (spoken(points="[,]"), "expected a value"),
        (spoken(thesis='"a" "b"'), "expected , or }"),
        (spoken(thesis='"""a"""'), "expected , or }"),
        (spoken(thesis='r"a"'), "expected a value"),
        (spoken(thesis='"a\x00b"'), "no control character"),
        (spoken(thesis=r'"\v"'), "expected an escape"),
        (spoken(thesis=r"'a\/b'"), "expected an escape"),
        (spoken(thesis=r'"\u12"'), "expected an escape"),
        (spoken(thesis=r'"\ud83d"'), "half of a pair"),
        (spoken(thesis=r'"\ude00\ud83d"'), "half of a pair"),
        (spoken(thesis=r'"\U00110000"'), "half of a pair"),
        (spoken(thesis='"\ud83d"'), "half of a surrogate pair at character"),
        (f"\ud83d {TEXT}", "half of a surrogate pair at character 0"),
        (spoken(challengeStrength="NaN"), "expected a value"),
        (spoken(challengeStrength="Infinity"), "expected a value"),
        (spoken(challengeStrength="1e999"), "expected a value"),
        (spoken(challengeStrength="07"), "expected a value"),
        (spoken(challengeStrength="0x7"), "expected a value"),
        (spoken(challengeStrength="7_0"), "expected a value"),
        (spoken(challengeStrength="+7"), "expected a value"),
        (spoken(challengeStrength="7" * 5_000), "expected a value"),
        (spoken(shift="TRUE"), "expected a value"),
        ('{"a": ' * DEPTH_MAX + "[1,]" + "}" * DEPTH_MAX, f"more than {DEPTH_MAX} levels"),
        (TEXT + " " * CHARACTERS_MAX, f"at most {CHARACTERS_MAX} are read"),
    ],
)
def test_a_text_with_two_readings_or_none_is_refused(text: str, found: str) -> None:
    why = read("critic", text)

    assert isinstance(why, str), why
    assert why.startswith("expected the reply of a critic as one JSON object, found ")
    assert found in why


# -- what is read must be the seat's reply to the letter


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"challengeStrength": '"7"'}, "a value at `$.challengeStrength` that does not fit: expected `int`, got `str`"),
        (
            {"challengeStrength": "7.0"},
            "a value at `$.challengeStrength` that does not fit: expected `int`, got `float`",
        ),
        ({"challengeStrength": "true"}, "expected `int`, got `bool`"),
        ({"challengeStrength": "11"}, "a value at `$.challengeStrength` that does not fit: expected `int` <= 10"),
        ({"thesis": '""'}, "a value at `$.thesis` that does not fit: expected `str` of length >= 1"),
        ({"points": "null"}, "a value at `$.points` that does not fit: expected `array`"),
        ({"points": '[{"n": 1}]'}, "no field `text` in the object at `$.points[0]`"),
        ({"points": '[{"n": 1, "text": "a", "citations": null}]'}, "`$.points[0].citations`"),
        ({"conclusion": '"SECRET"'}, "a value at `$.conclusion` that is none of those that the schema names"),
        ({"shift": '{"movement": "SECRET", "because": "a"}'}, "a value at `$.shift.movement` that is none"),
        ({"verdict": '"SECRET"', "thesis": "1"}, "a value at `$.thesis` that does not fit: expected `str`, got `int`"),
        ({"points": '[{"n": 1, "text": "a", "Citations": []}]'}, "no field `citations` in the object at `$.points[0]`"),
        ({"points": '[{"n": 1, "t_e_xt": "SECRET"}]'}, "no field `text` in the object at `$.points[0]`, but one whose"),
        ({"seat": '"SECRET"'}, "another name at `$.seat` than that of this kind of reply; leave that field out"),
        ({"seat": '"proposer"'}, "another name at `$.seat` than that of this kind of reply; leave that field out"),
        (
            {"points": '[{"n": 3, "text": "a"}, {"n": 3, "text": "b"}]'},
            "a value that does not fit: points must have distinct numbers, found [3] more than once",
        ),
    ],
)
def test_what_does_not_fit_the_type_is_named_by_its_place_and_not_repeated(changes: dict[str, str], found: str) -> None:
    why = read("critic", spoken(**changes))

    assert isinstance(why, str), why
    assert found in why
    assert "SECRET" not in why


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        f'{{"reply": {{"reply": {TEXT}}}}}',
        f'{{"answer": {TEXT}}}',
        f'{{"proposer": {TEXT}}}',
        '{"reply": "' + TEXT.replace('"', '\\"') + '"}',
        '{"reply": null}',
    ],
)
def test_a_wrapped_reply_is_read_once_and_under_known_names_only(text: str) -> None:
    assert isinstance(read("critic", text), str)


def test_labels_that_are_scored_twice_are_not_repeated() -> None:
    score = {"label": "SECRET", "score": 1}
    sent = {
        "scores": [score, score],
        "resolvedPoints": [],
        "unresolvedPoints": [],
        "recommendAnotherRound": False,
        "synthesis": "S.",
        "confidenceLevel": "LOW",
        "explicitUncertainties": ["U."],
        "conclusion": "modified",
    }

    why = read("moderator", json.dumps(sent))

    assert isinstance(why, str)
    assert "every label must be scored once" in why
    assert "SECRET" not in why


def test_a_reason_is_never_long() -> None:
    every = [{"n": n, "text": "a"} for n in range(1, 100)]

    why = read("critic", spoken(points=json.dumps(every * 2)))

    assert isinstance(why, str)
    assert len(why) == ERROR_MAX


def test_a_seat_without_a_reply_is_a_fault_of_the_caller() -> None:
    with pytest.raises(KeyError):
        read("jester", TEXT)


# -- whatever a model says


def compact(sent: Wire) -> str:
    return json.dumps(sent, separators=(",", ":"), ensure_ascii=False)


def spread(sent: Wire) -> str:
    return json.dumps(sent, indent=2).replace("\n", "\r\n")


WRITTEN: list[Callable[[Wire], str]] = [compact, spread, json.dumps, repr]
PROSE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{"), max_size=40)
DISGUISES: list[Callable[[str, str], str]] = [
    lambda text, _: text,
    lambda text, _: f"\ufeff\n {text}\n",
    lambda text, tag: f"{TICKS}{''.join(tag.split())}\n{text}\n{TICKS}",
    lambda text, _: f"~~~json\n{text}",
    lambda text, prose: f"It is this: {prose}\n{text}\nThat is all. {prose}",
    lambda text, prose: f"<think>{prose.replace('<', '')} {text[: len(prose)]}</think>{text}",
    lambda text, _: f"{text}\nOnce more:\n{text}",
    lambda text, _: f"[{text}]",
    lambda text, _: f'{{"reply": {text}}}',
]


@given(seat=st.sampled_from(SEATS), data=st.data())
def test_a_reply_in_any_disguise_is_the_same_reply(seat: str, data: st.DataObject) -> None:
    sent = data.draw(replies(seat))
    text = data.draw(st.sampled_from(WRITTEN))(sent)
    text = data.draw(st.sampled_from(DISGUISES))(text, data.draw(PROSE))

    reply = read(seat, text)

    assert reply == msgspec.convert(sent, REPLY_TYPES[seat])


@given(seat=st.sampled_from(SEATS), data=st.data())
def test_two_replies_that_differ_are_always_refused(seat: str, data: st.DataObject) -> None:
    one, other = data.draw(replies(seat)), data.draw(replies(seat))
    first, second = (data.draw(st.sampled_from(WRITTEN))(sent) for sent in (one, other))
    joint = data.draw(st.sampled_from(["", "\n", f"\n{TICKS}\n{TICKS}json\n", ", ", "]\n[", "\nOr rather:\n"]))

    reply = read(seat, first + joint + second)

    if one == other and joint != ", ":
        assert isinstance(reply, REPLY_TYPES[seat])
    else:
        assert isinstance(reply, str)


@given(seat=st.sampled_from(SEATS), data=st.data())
def test_a_reply_that_breaks_off_is_always_refused(seat: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(WRITTEN))(data.draw(replies(seat)))
    before = data.draw(st.sampled_from(["", f"{TICKS}json\n", "Here it is: ", "<think>{}</think>"]))
    cut = data.draw(st.integers(0, len(text) - 1))

    assert isinstance(read(seat, before + text[:cut]), str)


PIECES = st.one_of(st.sampled_from([*"{}[]:,'\"\\`~/#<>", "\n", "</think>", "<think>", "null", "0", "“"]), PROSE)


def mutated(data: st.DataObject, text: str) -> str:
    """The text with up to four places cut out, exchanged or filled."""
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 20)))
        text = text[:at] + data.draw(PIECES) + text[end:]
    return text


@given(seat=st.sampled_from(SEATS), data=st.data())
def test_a_spoilt_reply_is_a_reply_or_a_short_reason(seat: str, data: st.DataObject) -> None:
    written = data.draw(st.sampled_from(WRITTEN))(data.draw(replies(seat)))

    said = read(seat, mutated(data, written))

    assert isinstance(said, REPLY_TYPES[seat]) or (isinstance(said, str) and 0 < len(said) <= ERROR_MAX)


@given(text=st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join)), seat=st.sampled_from(SEATS))
@example(text="{" * 10_000, seat="critic")
@example(text='{"' * 10_000, seat="critic")
def test_any_text_at_all_is_a_reply_or_a_reason(text: str, seat: str) -> None:
    assert isinstance(read(seat, text), str | Reply)


@given(data=st.data())
def test_the_quick_way_reads_json_as_the_thorough_one_does(data: st.DataObject) -> None:
    """A byte order mark is white space to the one and too much for the other."""
    written = json.dumps(data.draw(replies("proposer")), ensure_ascii=data.draw(st.booleans()))
    text = data.draw(st.sampled_from([written, mutated(data, written)]))

    quick, thorough = read("proposer", text), read("proposer", f"\ufeff{text}")

    assert quick == thorough or (isinstance(quick, str) and isinstance(thorough, str))


@given(marks=st.lists(st.sampled_from(["ZQX", "'ZQX'", "ZQX\n", '"ZQX']), min_size=1, max_size=3), data=st.data())
def test_a_reason_never_repeats_what_was_said(marks: list[str], data: st.DataObject) -> None:
    sent: dict[str, Any] = {**SENT, "thesis": marks[0], "conclusion": marks[-1]}
    text = mutated(data, data.draw(st.sampled_from(WRITTEN))(sent))

    said = read("critic", text)

    assert not isinstance(said, str) or "ZQX" not in said


# -- the work is bounded

HOSTILE = {
    "braces": "{",
    "backticks": "`",
    "quotes": '"',
    "apostrophes": "'",
    "begun objects": '{"',
    "begun literals": "{'",
    "nested objects": '{"a":',
    "spaced braces": "{ ",
    "begun names": "{a",
    "names and spaces": "{a ",
    "empty objects": "{}",
    "empty objects and quotes": '{}"',
    "empty objects and backslashes": '"{}"\\',
    "empty objects and spaces": "{}  ",
    "thoughts": "<think></think>",
    "begun thoughts": "<think>",
    "brackets": "[",
    "backslashes": "\\",
    "escapes": '{"a":"' + "\\n" * 50 + '"}',
    "long strings": '{"a":"' + "a" * 90 + '"}',
    "lists": '{"a":[1,{},"b",],}',
}


def steps(text: str) -> int:
    """The calls that reading a text takes, of Python's functions and of those beneath."""
    count = 0

    def tally(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        read("critic", text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("before", ["", '{"a":"', '{"a":[', "<think>"], ids=["bare", "string", "list", "thought"])
def test_twice_the_text_takes_at_most_twice_the_steps(piece: str, before: str) -> None:
    once, twice = (steps(before + piece * n) for n in (500, 1_000))

    assert twice <= 2 * once + 50


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_the_longest_text_is_read_to_an_end(piece: str) -> None:
    """Work that grew with the square of the text would not be over within the time that a test has."""
    text = piece * (CHARACTERS_MAX // len(piece))

    assert isinstance(read("critic", text), str)
