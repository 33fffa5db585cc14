"""A given reply in the stream: the event of a spoken one, of no attempt and without a charge, and a notice of it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.debate.entries import TurnGiven, TurnSpoke
from service.debate.model import TurnId
from service.debate.replies import Reply
from service.report import build_result, events
from tests.fixtures import formats
from tests.fixtures.debates import drive, start_of
from tests.unit.report.played import lines


@pytest.mark.parametrize("form", ["adversarial/1", "stances/1", "ballot/1", "panel/1", "convergence/1"])
def test_a_given_reply_is_shown_as_a_spoken_one_without_a_model(form: str) -> None:
    started = replace(start_of(formats.plain(form)), seed_from="plan")
    spoken: dict[TurnId, Reply] = {e.turn: e.reply for e in drive(started) if isinstance(e, TurnSpoke)}

    told, whole = lines(drive(started, given=spoken)), lines(drive(started))

    given = [n for n, line in enumerate(told) if isinstance(line.entry, TurnGiven)]
    assert len(given) == len(spoken)
    for n in given:
        found = {event.name: event.data for event in events(told[n], "d1", told[:n])}
        (notice,) = [data for name, data in found.items() if name == "notice"]
        assert notice["notice"] == "replyGiven"
        (said,) = [placed for data in found.values() if "attempt" in (placed := data.get("gainsay", data))]
        assert (said["attempt"], said["tokens"], said["chargedUSD"], said["chargeBasis"]) == (0, 0, "0.00", "none")
    for shown, other in zip(build_result("d1", told).transcript, build_result("d1", whole).transcript, strict=True):
        assert shown.model is None
        assert replace(shown, model=other.model, tokens=other.tokens, charged_usd=other.charged_usd) == other
