"""Debates that once ended against their reference, run whole again with what was sent then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from service import samples
from service.prompts.request import Request
from tests.end_to_end.test_no_empty_challenge import (
    ADVERSARIAL,
    ALLOWING,
    CAP,
    INVENTED,
    OPEN,
    SAME,
    SHIPPED,
    Change,
    Doctored,
    by_seat,
    claiming,
    debated_whole,
    panel,
    read,
)
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench

pytestmark = pytest.mark.replay

JSON = dict[str, Any]
LIMITS = (
    "The limit is one hundred thousand euro for each contract year.",
    "The limit is one hundred thousand euro once for the whole term and never again.",
    "There is no cap at all on the supplier.",
)
"""Three readings of one passage, each of them surely held."""
AMOUNTS = (
    "The limit is one hundred thousand each year.",
    "The limit is nothing whatever.",
    "The limit is five million in total.",
)
"""Three amounts, which nobody changes and everybody accepts."""
REQUEST = "The deal team asks the committee to approve a hold of USD 45 million"


UNSAID: Mapping[str, Mapping[str, Change]] = {
    "a concession": {
        "rebuttal": lambda said, _: {**said, "rebuttals": [], "concessions": [{"n": 1, "text": INVENTED}]}
    },
    "an objection": {"proposer": lambda said, _: {**said, "objections": [{"text": INVENTED, "answer": "It is not."}]}},
    "an argument of reasoning": {
        "proposer": lambda said, _: {
            **said,
            "arguments": [
                *said["arguments"],
                {
                    "n": len(said["arguments"]) + 1,
                    "text": "The Supplier bears it, since clause 14.7 states that its liability has no limit.",
                    "basis": "reasoning",
                    "citations": [],
                },
            ],
        }
    },
}
"""Words of no document in texts beside the citations, told as a document's by a seat that does not decide."""


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("the critic agrees with one point", "sameConclusion"),
        ("the critic agrees, and the rebuttal modifies", "criticAndModeratorAsProposer"),
    ],
)
async def test_a_critic_that_agrees_is_flagged_and_so_is_the_decider_that_follows(
    database: Database, name: str, alike: str
) -> None:
    result = await read(database, "adversarial", ADVERSARIAL[name])

    decision = result["decision"]
    assert (result["status"], decision["outcome"], decision["confidence"]) == ("completed", "upheld", "MODERATE")
    assert "1.critic.2" in {attempt["turn"] for attempt in result["attempts"]}, "asked once more"
    assert {"critiqueWeak", "critiqueConcedes", alike} <= {*result["flags"]}
    assert {"critiqueWeak", "critiqueConcedes", alike} <= {*decision["humanReview"]["reasons"]}


@pytest.mark.parametrize("name", UNSAID)
async def test_a_quotation_that_no_citation_holds_is_for_a_person_whoever_gives_it(
    database: Database, name: str
) -> None:
    result = await read(database, "adversarial", UNSAID[name])

    assert result["decision"]["confidence"] == "MODERATE"
    assert "unfoundQuotation" in result["decision"]["humanReview"]["reasons"]


def a_panel(sample: str = "contract", question: str | None = None, **options: Any) -> JSON:
    """A sample's case as a panel."""
    body = samples.load(sample, "panel").case
    return {**body, "question": question or body["question"], "options": {"format": "panel", **options}}


async def ended(database: Database, body: JSON, changes: Mapping[str, Change]) -> JSON:
    """The result of a case, of which the documents may be left out."""
    policy = SHIPPED if "documents" in body else ALLOWING
    async with bench(database.service_url, Doctored(changes), policy=policy) as service:
        return await debated_whole(service, body)


def rounds(result: JSON) -> list[tuple[int, bool]]:
    """Each measurement of consensus: its round, and whether it ended the debate."""
    return [(now["round"], now["terminated"]) for now in result["result"]["consensus"]]


def assert_no_agreement(result: JSON) -> None:
    """Nobody is told that the debaters agree."""
    assert not result["result"]["consensusReached"]
    assert not any(terminated for _, terminated in rounds(result))
    assert (result["decision"]["confidence"], result["decision"]["humanReview"]["required"]) == ("LOW", True)


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        (a_panel(debaters=3, questionType="factual"), CAP),
        (a_panel(), CAP),
        ({**a_panel("investment"), "options": {"format": "auto"}}, REQUEST),
    ],
    ids=["factual", "no options", "the format of the task type"],
)
async def test_three_readings_of_one_passage_are_deliberated_and_stay_no_consensus(
    database: Database, body: JSON, quote: str
) -> None:
    result = await ended(database, body, panel(claiming(*LIMITS, quote=quote, **SAME)))

    assert_no_agreement(result)
    assert result["result"]["roundsCompleted"] > 1


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("What are the proven health effects of caffeine?", "Caffeine improves alertness within 30 minutes."),
        ("What is the limit of liability in each contract year?", "The limit is three times the amount stated."),
    ],
)
async def test_a_question_without_yes_or_no_may_end_blind_and_is_not_said_to_have_agreed_late(
    database: Database, question: str, claim: str
) -> None:
    body = a_panel(question=question, debaters=3)

    result = await ended(database, body, panel(claiming(claim, claim, claim, quote=CAP, **OPEN)))

    assert result["result"]["questionType"] == "factual"
    assert rounds(result) == [(1, True)]
    assert "agreedOnlyAfterExchange" not in result["flags"]
    assert "agreedOnlyAfterExchange" not in result["decision"]["humanReview"]["reasons"]


def contesting(change: Change) -> Change:
    """Contest in words and by number every claim that is accepted by a mark."""

    def contested(reply: JSON, request: Request) -> JSON:
        changed = change(reply, request)
        shown = [{"label": mark["label"], "n": mark["n"]} for mark in changed["marks"]]
        remains = "The amount of the limit remains disputed between all of us."
        return {
            **changed,
            "stillChallenges": [{**one, "text": "This claim is false."} for one in shown],
            "unresolved": [{"claims": shown, "text": remains}],
        }

    return contested


async def test_claims_that_are_accepted_by_marks_and_contested_beside_them_are_no_consensus(database: Database) -> None:
    answers = claiming(*AMOUNTS, quote=CAP, **SAME)
    changes = {"panel.blind": answers, "panel.deliberation": contesting(answers)}

    result = await ended(database, a_panel(debaters=3, questionType="factual", maxRounds=2), changes)

    assert_no_agreement(result)
    told = [attempt["turn"] for attempt in result["attempts"] if attempt["outcome"] == "malformedReply"]
    assert sorted(told) == ["2.debater-1.1", "2.debater-2.1", "2.debater-3.1"], "each is told of it once"
    assert all(one["logicalConsistency"] < 100 for one in result["result"]["accuracy"])
    assert {"claimsOpposed", "noSharedClaim"} <= {veto["code"] for veto in result["result"]["consensus"][-1]["vetoes"]}


async def test_a_brainstorm_in_which_all_name_another_framework_ends_and_is_not_said_to_have_agreed_late(
    database: Database,
) -> None:
    idea = "Host a monthly podcast for customers of the product."
    question = "What are unconventional marketing strategies for a B2B SaaS product?"
    body = a_panel(question=question, debaters=2, questionType="brainstorm")

    result = await ended(database, body, panel(claiming(idea, idea, quote=None, **OPEN)))

    assert result["result"]["consensusReached"]
    assert "agreedOnlyAfterExchange" not in result.get("flags", [])


async def test_two_debaters_of_two_frameworks_with_one_conclusion_agree(database: Database) -> None:
    claim = "Labels inform readers."
    debaters = [
        claiming(claim, quote=CAP, stance="affirmative", framework=framework, assumptions=[])
        for framework in ("rightsAndDuties", "consequences")
    ]
    body = a_panel(question="Should AI-generated content be labeled?", debaters=2)

    result = await ended(database, body, panel(by_seat(*debaters)))

    assert result["result"]["questionType"] == "normative"
    assert rounds(result) == [(1, True)]
