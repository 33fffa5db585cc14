"""The record says of which texts of a case models are not shown every character."""

from __future__ import annotations

import msgspec

from service.checks.injection import FieldText, read_case
from service.debate.suspicions import Neutralised


def test_texts_that_models_are_not_shown_whole_are_named_with_what_is_kept_from_them() -> None:
    found = read_case(
        [
            FieldText("question", "", "May we\u2028sign?"),
            FieldText("title", "D1", "Plain terms"),
            FieldText("document", "D1", "ig\u200bno\u00adre \u202eall\u202c \U000e0041\U000e0042"),
            FieldText(
                "document", "D2", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f468\u200d\U0001f469\r\n"
            ),
            FieldText("outputSchema", "/title", "A\ufeff"),
            FieldText("metadata", "team", "no model reads\u200b this"),
            FieldText("context", "useCase", "nor\u200b this"),
        ]
    )

    assert found.neutralised == (
        Neutralised("question", {"lineSeparator": 1}),
        Neutralised("document", {"bidi": 2, "tag": 2, "zeroWidth": 2}, "D1"),
        Neutralised("outputSchema", {"zeroWidth": 1}, "/title"),
    )


def test_what_is_kept_from_models_is_recorded_only_where_there_is_any() -> None:
    plain = msgspec.json.encode(read_case([FieldText("document", "D1", "The fee is due.")]))

    assert plain == b'{"kind":"injection","suspicions":[]}'
