"""Which recorded tilts a debate begins under: by model and its name, by the moderator's prompt, by task type."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.entries import StandingTilt
from service.debate.model import SeatPlan
from service.intake.moderator_tilts import RecordedTilt, standing_tilts
from tests.fixtures.debates import a_case, start_of
from tests.fixtures.formats import plain

START = start_of(plain("adversarial/1"))
OWN = START.seat("moderator")
PINS = {"moderator": f"v1:{'ab' * 32}", "moderator.undocumented": f"v1:{'cd' * 32}"}
TILT = RecordedTilt("f1", OWN.model, OWN.model_name, "moderator", PINS["moderator"], None)


def standing(*tilts: RecordedTilt, seats: tuple[SeatPlan, ...] = START.seats, **case: Any) -> tuple[StandingTilt, ...]:
    return standing_tilts(tilts, seats, PINS, replace(a_case(), **case))


def test_a_finding_about_this_moderator_stands_over_a_debate_of_its_task_type_or_of_any() -> None:
    assert standing(TILT) == (StandingTilt("f1", OWN.model),)
    assert standing(replace(TILT, task_type="contract")) == (StandingTilt("f1", OWN.model),)


@pytest.mark.parametrize(
    "change",
    [
        {"alias": "other"},
        {"model": "other"},
        {"prompt": "moderator.undocumented"},
        {"pin": PINS["moderator.undocumented"]},
        {"task_type": "security"},
    ],
)
def test_another_model_prompt_or_task_type_is_not_asked_about(change: dict[str, str]) -> None:
    assert standing(replace(TILT, **change)) == ()


def test_a_case_without_documents_is_moderated_by_another_prompt() -> None:
    undocumented = replace(TILT, prompt="moderator.undocumented", pin=PINS["moderator.undocumented"])

    assert standing(TILT, documents=()) == ()
    assert standing(undocumented, documents=()) == (StandingTilt("f1", OWN.model),)


def test_a_fallback_may_moderate_and_no_other_seat_does() -> None:
    spare = replace(OWN, model="spare", model_name="spare-1")
    of_spare = replace(TILT, finding="f0", alias="spare", model="spare-1")
    with_fallback = tuple(replace(p, fallback=spare) if p is OWN else p for p in START.seats)
    elsewhere = tuple(replace(p, model="spare", model_name="spare-1") if p is not OWN else p for p in START.seats)

    assert standing(TILT, of_spare, seats=with_fallback) == (
        StandingTilt("f0", "spare"),
        StandingTilt("f1", OWN.model),
    )
    assert standing(of_spare, seats=elsewhere) == ()


def test_a_format_without_a_moderator_begins_under_none() -> None:
    assert standing(TILT, seats=start_of(plain("panel/1")).seats) == ()
