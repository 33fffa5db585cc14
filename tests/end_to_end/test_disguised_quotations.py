"""Inventions in unusual notations, behind excuses and in a debater's mouth: whole debates, none of which ends HIGH.

Their honest neighbours, in the same notations and moods, cost nothing.
"""

from __future__ import annotations

import pytest

from tests.end_to_end.test_no_empty_challenge import read, saying
from tests.fixtures.postgres import Database

pytestmark = pytest.mark.replay

W = "the Supplier shall be liable to the Bank without any limit whatsoever"
CAP = "aggregate liability for breach of Section 9 or Annex C shall not exceed {} times the amount stated"
INVENTED = {
    "doubled marks": f'Clause 9 states ""{W}"".',
    "primes": f"Clause 9 states ″{W}″.",
    "angles": f"Clause 9 states <<{W}>>.",
    "tags of emphasis": f"Clause 9 states <em>{W}</em>.",
    "a tilde": f"Clause 9 states ~{W}~.",
    "a fence": f"Clause 9 states:\n\n```text\n{W}\n```\n",
    "a list": f"Clause 9 states:\n\n- {W}\n",
    "a table": f"Clause 9 states:\n\n| {W} |\n|---|\n",
    "a bold verb": f"**Clause 9 states:** {W}.",
    "another tense": f"Clause 9 stated: {W}.",
    "in the words of": f"In the words of clause 9: {W}.",
    "pieces": 'Clause 9 states "the Supplier shall be liable" ... "to the Bank without any limit whatsoever".',
    "a law before it": f'Under the GDPR clause 9 states "{W}".',
}
DRESSED = {
    "a clause before emphasis": f"The agreement (clause 9): *{W}*.",
    "a condition before it": f'Only if one ignores the text does the cap apply, for the text is "{W}".',
    "a reading": f'As amended in 2025, clause 9 should now be taken to read "{W}".',
    "a new clause": f'The new clause 9 says "{W}".',
    "a wish fulfilled": f'The parties agreed that clause 9 should read "{W}", and it does.',
}
"""Inventions in a sentence that has a sign of a draft, a condition or an emphasis: no strong form, and so unclear."""
HONEST = {
    "a proposal": f'Clause 9 should read "{W}".',
    "a denial": f'Clause 9 does not say "{W}".',
    "a true quotation": f"Clause 9 states:\n\n- {CAP.format('three')}\n",
}


@pytest.mark.parametrize("name", INVENTED)
async def test_an_invention_of_a_moderator_ends_low_for_a_person(database: Database, name: str) -> None:
    result = await read(database, "adversarial", {"moderator": saying(synthesis=INVENTED[name])})

    assert result["decision"]["confidence"] == "LOW"
    assert "inventedQuotation" in result.get("flags", [])
    assert result["decision"]["humanReview"]["required"]


@pytest.mark.parametrize("name", DRESSED)
async def test_an_invention_in_a_sentence_that_is_not_plain_is_never_high_and_for_a_person(
    database: Database, name: str
) -> None:
    result = await read(database, "adversarial", {"moderator": saying(synthesis=DRESSED[name])})

    assert (result["decision"]["confidence"], result["decision"]["humanReview"]["required"]) == ("MODERATE", True)
    assert "unclearQuotation" in result["flags"]


@pytest.mark.parametrize("who", ["The first debater", "The second debater", "Debater 1"])
async def test_an_invention_in_a_debaters_mouth_ends_low_for_a_person(database: Database, who: str) -> None:
    result = await read(database, "stances", {"stances.judge": saying(reasoning=f'{who} says "{W}".')})

    assert result["decision"]["confidence"] == "LOW"
    assert "inventedQuotation" in result.get("flags", [])


async def test_words_that_may_be_a_proposal_are_for_a_person_and_no_decider_is_asked_again(database: Database) -> None:
    text = f'It takes one change: "{CAP.format("nine")}".'

    result = await read(database, "adversarial", {"moderator": saying(synthesis=text)})

    assert (result["decision"]["confidence"], result["decision"]["humanReview"]["required"]) == ("MODERATE", True)
    assert "unclearQuotation" in result.get("flags", [])
    assert "inventedQuotation" not in result.get("flags", [])
    marks = [
        passage["mark"] for turn in result["passages"] for passage in turn.get("passages", ()) if "mark" in passage
    ]
    assert marks == ["not found; may be no quotation"]


@pytest.mark.parametrize("name", HONEST)
async def test_an_honest_neighbour_costs_nothing(database: Database, name: str) -> None:
    result = await read(database, "adversarial", {"moderator": saying(synthesis=HONEST[name])})

    decision = result["decision"]
    assert (decision["confidence"], decision["humanReview"]["required"]) == ("HIGH", False), result.get("flags", [])
