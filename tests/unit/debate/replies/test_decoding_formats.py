"""Replies of every format are read as strictly as critiques, and what is wrong with them is told as plainly."""

from __future__ import annotations

import json

import msgspec
import pytest

from service.debate.replies import REPLY_TYPES
from tests.fixtures.replies import Wire, read

ARGUMENT: Wire = {"n": 1, "text": "The cap covers this loss.", "basis": "reasoning", "citations": []}
CLAIM: Wire = {**ARGUMENT, "confidence": 70}
ANSWER: Wire = {
    "answer": "It is capped.",
    "stance": "affirmative",
    "framework": "textual",
    "claims": [CLAIM],
    "overallConfidence": 70,
    "assumptions": [],
    "probability": None,
}
REVISED: Wire = {
    **ANSWER,
    **dict.fromkeys(("learnedFromOthers", "corrections"), ""),
    "stillChallenges": [],
    "unresolved": [],
    "marks": [],
    "objection": None,
    "answersToObjections": [],
}
JUDGED: Wire = {
    "verdict": "It is capped.",
    "winner": None,
    "reasoning": "Argument 1 stands.",
    "confidenceLevel": "LOW",
    "explicitUncertainties": ["Fraud."],
}


@pytest.mark.parametrize(
    ("kind", "sent", "names"),
    [
        ("stances.judge", JUDGED, ("judge", "stances.judge", "reply")),
        ("stances.debater", {"arguments": [ARGUMENT]}, ("debater", "stances.debater")),
        ("ballot.debater", {"stance": "Keep.", "rationale": [ARGUMENT], "vote": "release"}, ("debater",)),
        ("panel.blind", ANSWER, ("blind", "debater", "panel.blind")),
        ("panel.deliberation", REVISED, ("deliberation", "debater", "response")),
        ("panel.accuracy", {"reviews": []}, ()),
    ],
)
def test_a_reply_is_read_in_a_wrapper_that_is_called_like_its_seat_or_its_kind(
    kind: str, sent: Wire, names: tuple[str, ...]
) -> None:
    for name in names:
        assert read(kind, json.dumps({name: sent})) == msgspec.convert(sent, REPLY_TYPES[kind])

    assert isinstance(read(kind, json.dumps({"proposer": sent})), str)
    assert isinstance(read(kind, json.dumps({kind.partition(".")[0]: sent})), str)


@pytest.mark.parametrize(
    ("kind", "who"),
    [
        ("critic", "a critic"),
        ("stances.judge", "a judge"),
        ("stances.synthesizer", "a synthesizer"),
        ("ballot.debater", "a debater"),
        ("panel.blind", "a debater"),
        ("panel.deliberation", "a debater"),
        ("panel.adjudicator", "an adjudicator"),
        ("panel.accuracy", "an adjudicator"),
        ("panel.classifier", "a classifier"),
    ],
)
def test_what_was_expected_is_named_by_who_was_to_give_it(kind: str, who: str) -> None:
    why = read(kind, "")

    assert why == f"expected the reply of {who} as one JSON object, found no object in 0 characters"


@pytest.mark.parametrize(
    ("kind", "sent", "found"),
    [
        (
            "panel.blind",
            {**ANSWER, "overallConfidence": 0.91},
            "`$.overallConfidence` that does not fit: expected `int`",
        ),
        (
            "panel.blind",
            {**ANSWER, "overallConfidence": 101},
            "`$.overallConfidence` that does not fit: expected `int` <=",
        ),
        ("panel.blind", {**ANSWER, "claims": []}, "`$.claims` that does not fit: expected `array` of length >= 1"),
        (
            "panel.blind",
            {**ANSWER, "claims": [{**CLAIM, "confidence": "SECRET"}]},
            "`$.claims[0].confidence` that does not fit: expected `int`, got `str`",
        ),
        (
            "panel.blind",
            {**ANSWER, "claims": [CLAIM, CLAIM]},
            "a value that does not fit: claims must have distinct numbers, found [1] more than once",
        ),
        (
            "panel.blind",
            {**ANSWER, "probability": {"low": 70, "high": 60}},
            "a value at `$.probability` that does not fit: low must not be above high",
        ),
        (
            "panel.deliberation",
            {**REVISED, "marks": [{"label": "SECRET", "n": 1, "mark": "SECRET", "confidence": 1}]},
            "a value at `$.marks[0].mark` that is none of those that the schema names",
        ),
        (
            "panel.deliberation",
            {**REVISED, "objection": {"flaw": "F.", "label": "Model A", "severity": "low"}},
            "no field `n` in the object at `$.objection`",
        ),
        (
            "panel.deliberation",
            {name: value for name, value in REVISED.items() if name != "marks"},
            "no field `marks` in the object",
        ),
        ("stances.judge", {**JUDGED, "winner": ""}, "`$.winner` that does not fit: expected `str` of length >= 1"),
        (
            "stances.judge",
            {**JUDGED, "seat": "SECRET"},
            "another name at `$.seat` than that of this kind of reply",
        ),
        (
            "stances.synthesizer",
            {"output": {"SECRET": 1}},
            "`$.output` that does not fit: expected `str`, got `object`",
        ),
        (
            "ballot.debater",
            {"stance": "S.", "rationale": [ARGUMENT], "vote": "x" * 201},
            "`$.vote` that does not fit: expected `str` of length <= 200",
        ),
        (
            "convergence.debater",
            {"finalAnswer": "SECRET" * 100, "arguments": [ARGUMENT]},
            "`$.finalAnswer` that does not fit: expected `str` of length <= 400",
        ),
    ],
)
def test_what_does_not_fit_in_a_nested_place_reads_well_and_repeats_nothing(kind: str, sent: Wire, found: str) -> None:
    why = read(kind, json.dumps(sent))

    assert isinstance(why, str), why
    assert found in why
    assert "SECRET" not in why
