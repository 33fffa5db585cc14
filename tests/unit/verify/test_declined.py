"""The table of a declined case, whose record has no options: a verifier knows it in some formats and not in others."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.debate.formats import NAMES
from service.policy import seating
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.verify.policy import declined_of
from tests.fixtures.debates import a_case

POLICY = read_policy(SHIPPED_POLICY)
CASE = replace(a_case(), estimated_downside=a_case().estimated_downside / 1_000)


def test_the_adversarial_table_follows_from_policy_and_the_case() -> None:
    found, later = (
        declined_of(POLICY, replace(case, format="adversarial"), seating.SEATING) for case in (CASE, a_case(1, 2))
    )

    assert found is not None
    assert later is not None
    assert found.table == later.table == seating.ADVERSARIAL
    assert found.usual == dict.fromkeys(seating.ADVERSARIAL.usual, 1)
    assert later.usual == {seat: 1 if seat == "framing" else 2 for seat in seating.ADVERSARIAL.usual}


@pytest.mark.parametrize("name", [*(name for name in NAMES if name != "adversarial"), "joust"])
def test_other_formats_and_those_of_a_later_build_leave_it_open(name: str) -> None:
    assert declined_of(POLICY, replace(CASE, format=name), seating.SEATING) is None
