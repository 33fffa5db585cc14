"""A field of a request reaches every place that has to have it; what fails here names the place that has not.

docs/how-to/add-a-field.md lists the places in order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import FieldInfo, fields, replace

from service.audit.export import COLUMNS
from service.audit.record import Context
from service.debate.entries import CaseReceived, decode
from service.debate.model import Case
from service.errors import GainsayError
from service.intake import complete, validation
from service.intake.request import CaseRequest
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.reviews.opening import _context as written
from service.verify.records import about

HOW_TO = "see docs/how-to/add-a-field.md"
KEPT = Path(__file__).parents[1] / "vectors" / "payloads" / "payload.case.received.v1.jsonl"
POLICY = read_policy(SHIPPED_POLICY)
CHECKED_BY_VALUE = ("format", "deadline")
"""Texts that may only have certain values: an unknown format and a time that is none are refused as such."""
NOT_AN_OPTION = ("on_disconnect",)
"""A command waits for its debate."""
BODY: dict[str, Any] = {"question": "Sign?", "taskType": "contract", "documents": [{"text": "Clause 1."}]}


def full_case() -> Case:
    """A case that gives every member: the fullest that was kept, and a text for each member that is newer."""
    entries = [decode(line) for line in KEPT.read_bytes().splitlines()]
    case = max((e.case for e in entries if isinstance(e, CaseReceived)), key=lambda case: len(given(case)))
    return replace(case, **dict.fromkeys({*Case.__struct_fields__} - given(case), "x"))


def refused_for(field: FieldInfo) -> tuple[str, ...]:
    """The pointers of the error that a text of ten million characters is refused with."""
    try:
        validation.texts(msgspec.convert({**BODY, field.encode_name: "x" * 10_000_000}, type=CaseRequest), POLICY)
    except GainsayError as error:
        return error.pointers
    return ()


def given(found: Struct) -> set[str]:
    return {field.name for field in fields(type(found)) if getattr(found, field.name) not in (None, field.default)}


def test_every_text_of_a_request_has_a_longest() -> None:
    texts = [
        field for field in fields(CaseRequest) if field.name not in CHECKED_BY_VALUE and field.type in (str, str | None)
    ]

    unbounded = [field.encode_name for field in texts if refused_for(field) != (f"/{field.encode_name}",)]

    assert len(texts) > 5
    assert unbounded == [], f"add {unbounded} to _case_texts or _shared_texts in service/intake/validation.py; {HOW_TO}"


def test_both_makers_of_a_context_give_every_member_and_agree() -> None:
    case = full_case()

    ours, theirs = written(case), about(case)

    wrong: list[str] = []
    for maker, context in (("service/reviews/opening.py", ours), ("service/verify/records.py", theirs)):
        missing = {*Context.__struct_fields__} - given(context)
        wrong += [f"the maker of a context in {maker} leaves out {name}" for name in sorted(missing)]

    assert wrong == [], f"{'; '.join(wrong)}; {HOW_TO}"
    assert ours == theirs


def test_every_member_of_a_context_has_a_column_in_the_export() -> None:
    missing = [field.encode_name for field in fields(Context) if field.encode_name not in COLUMNS]

    assert missing == [], (
        f"add {missing} at the end of COLUMNS in service/audit/export.py, of the columns in "
        f"tests/unit/audit/test_export.py and of the table in docs/audit.md; {HOW_TO}"
    )


def test_every_field_of_a_request_is_an_option_of_the_command_line(root: Path) -> None:
    code = (root / "service/cli/case_options.py").read_text("utf-8")

    missing = [
        field.encode_name
        for field in fields(CaseRequest)
        if field.name not in NOT_AN_OPTION and f'"{field.encode_name}"' not in code
    ]

    assert missing == [], (
        f"add an option for {missing} to service/cli/case_options.py, or list it in NOT_AN_OPTION; {HOW_TO}"
    )


def test_what_a_case_is_about_stands_in_the_report(root: Path) -> None:
    code = (root / "service/report/document/opening.py").read_text("utf-8")
    of_the_case = {"task_type": "r.task_type", "downside": "case.estimated_downside"}

    missing = [name for name in Context.__struct_fields__ if of_the_case.get(name, f"case.{name}") not in code]

    assert missing == [], f"add a fact for {missing} to _circumstances in service/report/document/opening.py; {HOW_TO}"


class Asked(Struct):
    """A request with a field more."""

    question: str
    unit: str | None = None


class Made(Struct):
    """A case with that field by another name."""

    question: str
    business_unit: str | None = None


class Asks(Struct):
    """A request without it."""

    question: str


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Asked, "Asked has unit, which reaches no member of Made"),
        (Asks, "Made has business_unit, which no field of Asks gives"),
    ],
)
def test_a_field_that_reaches_nowhere_does_not_start(asked: type[Struct], told: str) -> None:
    complete(CaseRequest, Case)

    with pytest.raises(RuntimeError, match=told):
        complete(asked, Made)
