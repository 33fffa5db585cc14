"""The seat of a screener in a policy file: optional, judged like any other seat, and needed by no format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.errors import SettingsError
from service.policy import FORMATS, decode_policy, encode_policy
from service.policy.seating import SEATING
from service.policy.settings import SHIPPED_POLICY, read_policy, refuse_unpriced
from tests.fixtures.policies import WRITTEN, changed, policy_file, refused

SEAT = {"model": "cedar-small", "allowance": 900}


def with_seat(**changes: Any) -> dict[str, Any]:
    return changed("seats", "screener", to={**SEAT, **changes})


def test_the_shipped_policy_seats_none_and_screens_no_case() -> None:
    shipped = read_policy(SHIPPED_POLICY)

    assert "screener" not in shipped.seats
    assert not SEATING.screened(shipped)


def test_a_policy_with_the_seat_screens_every_case_and_offers_the_same_formats(tmp_path: Path) -> None:
    policy = read_policy(policy_file(tmp_path, **with_seat(fallback="alder-small")))
    shipped = read_policy(SHIPPED_POLICY)

    assert SEATING.screened(policy)
    assert policy.offered == shipped.offered == tuple(FORMATS)
    assert policy.gate.hash != shipped.gate.hash
    assert decode_policy(encode_policy(policy)) == policy


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"model": "no-such-model"}, "seats.screener.model: the catalogue has no model 'no-such-model'"),
        ({"model": "cedar-smal"}, "did you mean 'cedar-small'"),
        ({"fallback": "no-such-model"}, "seats.screener.fallback: the catalogue has no model 'no-such-model'"),
        ({"allowance": 10_000_000}, "seats.screener.allowance: expected from 1 to"),
        ({"model": []}, "seats.screener.model: expected one to 4 different models"),
        ({"threshold": 3}, "threshold: this key is unknown"),
    ],
)
def test_the_seat_is_refused_for_what_any_seat_is_refused_for(
    tmp_path: Path, changes: dict[str, Any], fault: str
) -> None:
    assert fault in refused(tmp_path, with_seat(**changes))


def test_a_screener_whose_model_has_no_price_yet_stops_the_start(tmp_path: Path) -> None:
    later = [{**row, "effective": "2999-01-01"} for row in WRITTEN["models"][0]["prices"]]
    model = {**WRITTEN["models"][0], "alias": "late", "prices": later}
    whole = with_seat(model="late")
    path = policy_file(tmp_path, **{**whole, "models": [*whole["models"], model]})

    with pytest.raises(SettingsError, match="late"):
        refuse_unpriced(read_policy(path), path, "2026-11-25")
