"""No excuse holds where a clause that exists is said, in the indicative, to have the words."""

from __future__ import annotations

import pytest

from tests.unit.checks.texts.test_texts import marks

W = "the Supplier shall be liable to the Bank without any limit whatsoever"


@pytest.mark.parametrize(
    "text",
    [
        f'Under the GDPR clause 9.2 states "{W}".',
        f'Only if one ignores the text does the cap apply, for the text is "{W}".',
        f'As amended in 2025, clause 9.2 should now be taken to read "{W}".',
        f'Clause 9.2 should be understood to say "{W}".',
        f'There is no clause that helps more than 9.2, which states "{W}".',
        f'As suggested by the text of clause 9.2, "{W}".',
        f'The new clause 9.2 says "{W}".',
        f'The new provision in clause 9.2 reads "{W}".',
        f'The addition in clause 9.2 reads: "{W}".',
        f'The parties agreed that clause 9.2 should read "{W}", and it does.',
        f'Clause 9.2 should state "{W}" and in fact does.',
        f'Clause 9.2, as it should, reads "{W}".',
        f'The recommended reading is right: clause 9.2 says "{W}".',
        f'On condition that notice is given, clause 9.2 provides "{W}".',
        f'Until termination clause 9.2 provides "{W}".',
        f'Once notice is given, clause 9.2 states "{W}".',
        f'Had anyone read clause 9.2, which says "{W}", this would be over.',
        f'It would help no one to deny that clause 9.2 says "{W}".',
        f'The proposed redraft is superfluous since "{W}" is already the text of clause 9.2.',
        f'It would be safe to sign; "{W}" is what clause 9.2 provides.',
        f'Suppose a breach: clause 9.2 then states "{W}".',
        f'Clause 9.2 states "{W}", which is not in dispute in clause 9.3.',
        f'It is true that clause 9.2 states "{W}".',
    ],
)
def test_a_plain_report_is_marked_whatever_stands_around_it(text: str) -> None:
    assert marks(text)


@pytest.mark.parametrize(
    "text",
    [
        f'We ask that clause 9.2 says "{W}".',
        f'It is false that clause 9.2 states "{W}".',
        f'It does not follow that clause 9.2 states "{W}".',
        f'If clause 9.2 states "{W}", the bank is safe; it does not.',
        f'Sign once clause 9.2 reads "{W}".',
        f'Our redraft of clause 9.2 reads "{W}".',
        f'The amendment to clause 9.2 reads "{W}".',
        f'A sentence in clause 9.2 that reads "{W}" would help.',
        f'Clause 9.2 should read "{W}".',
        f'Neither clause 9.1 nor clause 9.2 says "{W}".',
        f'Nowhere does clause 9.2 state "{W}".',
        f'Clause 9.2 is said to state "{W}", but these words stand nowhere.',
    ],
)
def test_a_request_a_condition_and_a_denial_are_none(text: str) -> None:
    assert marks(text) == []
