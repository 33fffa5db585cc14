"""That models agree is no evidence: what a debate comes to where nothing in it is verified, or nothing stands."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, Finding
from service.debate.kernel import FORMATS
from service.debate.model import Cap, Check, ConvergenceOptions, Turn
from service.debate.replies import Ballot, Position, Reply
from tests.fixtures import formats
from tests.fixtures.debates import a_plan, a_start, canned, drive, found, outcome

FORMS = ("stances/1", "ballot/1", "panel/1", "convergence/1")


def _start(form: str) -> DebateStarted:
    options = formats.plain(form)
    if isinstance(options, ConvergenceOptions):
        options = replace(options, judge=False, swapped=False)
    seats = tuple(a_plan(seat, f"wood{i}") for i, seat in enumerate(FORMATS[form].table(options).seats))
    return replace(a_start(ceiling=10**9), format=form, options=options, seats=seats)


def _unanimous(turn: Turn, facts: Facts) -> Reply:
    reply = canned(turn, facts)
    match reply:
        case Ballot():
            return replace(reply, vote="sign")
        case Position():
            return replace(reply, final_answer="Sign.")
    return reply


def _judged(change: Callable[[CitationsFound], CitationsFound]) -> Callable[[Check, Facts], Finding]:
    def finding(check: Check, facts: Facts) -> Finding:
        given = found(check, facts)
        return change(given) if isinstance(given, CitationsFound) else given

    return finding


def _reasoned(given: CitationsFound) -> CitationsFound:
    """As if nobody had cited anything that code could verify, and nothing was struck for it."""
    altered = (replace(a, verdicts=tuple(replace(v, verdict="altered") for v in a.verdicts)) for a in given.arguments)
    return CitationsFound(tuple(altered))


def _struck(given: CitationsFound) -> CitationsFound:
    return CitationsFound(tuple(replace(a, struck="unverified_citation") for a in given.arguments))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("change", "most"), [(_reasoned, "MODERATE"), (_struck, "LOW")])
def test_a_debate_in_which_nothing_is_verified_is_never_highly_sure_and_goes_to_a_person(
    form: str, change: Callable[[CitationsFound], CitationsFound], most: str
) -> None:
    end = outcome(drive(_start(form), _unanimous, findings=_judged(change)))

    assert end.status == "completed"
    assert Cap("nothingVerified", most) in end.caps  # type: ignore[arg-type]
    assert end.confidence_level in (most, "LOW")
    assert "nothingVerified" in end.human_review.reasons


@pytest.mark.parametrize("form", FORMS)
def test_one_verified_citation_that_stands_is_enough_not_to_be_capped_for_it(form: str) -> None:
    def all_but_one(given: CitationsFound) -> CitationsFound:
        first = given.arguments[0].turn.startswith(("0.debater-1.", "1.debater-1."))
        return given if first else _struck(given)

    end = outcome(drive(_start(form), _unanimous, findings=_judged(all_but_one)))

    assert "nothingVerified" not in {cap.reason for cap in end.caps}


def test_a_debate_that_heard_nobody_is_not_said_to_be_unverified() -> None:
    end = outcome(drive(_start("stances/1"), refuses=lambda _: True))

    assert [cap.reason for cap in end.caps] == ["truncated"]
