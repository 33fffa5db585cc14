"""A field of a request reaches every place that has to have it; what fails here names the place that has not.

docs/how-to/add-a-field.md lists the places in order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import FieldInfo, fields, replace

from service.audit.export import COLUMNS
from service.audit.record import Context
from service.cli import case_options, format_options
from service.cli.option_types import Amount, Pair
from service.debate.entries import CaseReceived, decode
from service.debate.model import Case
from service.errors import GainsayError
from service.intake import complete, validation
from service.intake.request import CaseRequest
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report import Line, build_result
from service.report.document.blocks import FactList
from service.report.document.contents import report
from service.reviews.opening import _context as written
from service.verify.records import about
from tests.fixtures.debates import a_case, a_start, drive

HOW_TO = "see docs/how-to/add-a-field.md"
KEPT = Path(__file__).parents[1] / "vectors" / "payloads" / "payload.case.received.v1.jsonl"
POLICY = read_policy(SHIPPED_POLICY)
CHECKED_BY_VALUE = ("deadline",)
"""Texts that may only have certain values: a time that is none is refused as such."""
NOT_AN_OPTION = ("on_disconnect", "options")
"""A command waits for its debate; the options of formats are options of their own."""
OTHERS = ("later", "sample", "case", "force_decline")
"""Options that need a file, or that exclude another one."""
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


def body_of_every_option() -> dict[str, Any]:
    """The request that the command line makes where each of its options for a case has a value."""
    made: dict[str, Any] = {}

    def of_formats(**_: Any) -> int:
        return 0

    def a_case(**told: Any) -> int:
        made.update(case_options.case_body(told, [], case_options.CaseRules.of(POLICY)))
        return 0

    for option in (*format_options.EVERY, *format_options.OF_FORMATS):
        option(of_formats)
    theirs = {param.name for param in click.command()(of_formats).params}
    command = click.command()(case_options.case_options(a_case))
    words = [word for param in command.params if param.name not in {*theirs, *OTHERS} for word in with_value(param)]
    command.main([*words, "--format", "adversarial"], standalone_mode=False)
    return made


def with_value(param: click.Parameter) -> list[str]:
    """An option with a value that it takes."""
    match param.type:
        case click.Choice(choices=[first, *_]):
            return [param.opts[0], str(first)]
        case click.types.BoolParamType():
            return [param.opts[0]]
        case Amount():
            return [param.opts[0], "1"]
        case Pair():
            return [param.opts[0], "k=v"]
        case _:
            return [param.opts[0], "x"]


def test_every_field_of_a_request_is_an_option_of_the_command_line() -> None:
    body = body_of_every_option()

    missing = [
        field.encode_name
        for field in fields(CaseRequest)
        if field.name not in NOT_AN_OPTION and field.encode_name not in body
    ]

    assert missing == [], (
        f"add an option for {missing} to service/cli/case_options.py, or list it in NOT_AN_OPTION; {HOW_TO}"
    )
    assert body["useCase"] == "x"


def test_what_a_case_is_about_stands_in_the_report() -> None:
    marked = {
        field.name: f"a {field.name} that is given"
        for field in fields(Context)
        if field.name in Case.__struct_fields__ and field.type in (str, str | None)
    }
    entries = drive(a_start(1), case=replace(a_case(1), **marked))
    result = build_result("d1", [Line(n, "2026-01-01T00:00:00Z", entry) for n, entry in enumerate(entries)])
    facts = "\n".join(row.value for block in report(result).blocks if isinstance(block, FactList) for row in block.rows)

    missing = [name for name, value in marked.items() if value not in facts]

    assert len(marked) > 3
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
