"""Winners that no seat argued, opponents that only agree, rebuttals that concede all: none HIGH, none without a person.

Whole debates of shipped samples with changed replies, as in `test_no_empty_challenge`; every decider is as sure as it
can be. Beside each class stand honest debates that the rules leave as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from service.prompts.request import Request
from tests.end_to_end.test_no_empty_challenge import CAP, INVENTED, UPHELD, Change, by_seat, read, saying
from tests.fixtures.postgres import Database

pytestmark = pytest.mark.replay

JSON = dict[str, Any]
CAPPED = "The liability is capped: Order Form No. 2 sets a single aggregate cap that includes every indemnity."
"""The stance of the sample's second debater."""
AGREES = "I agree with the other debater entirely and have nothing against it."


def same(reply: JSON, _: Request) -> JSON:
    """The reply as it is."""
    return reply


def arguing(*texts: str, member: str = "arguments", quote: str | None = None, **others: Any) -> Change:
    """Reasoning alone, or on one quotation, in these words."""
    cited = {"citations": [{"quote": quote}], "basis": "evidence"} if quote else {"citations": [], "basis": "reasoning"}
    made = [{"n": n, "text": text, **cited} for n, text in enumerate(texts, start=1)]
    return lambda reply, _: {**reply, member: made, **others}


def prefixed(words: str) -> Change:
    """Words before each argument's own."""
    return lambda reply, _: {**reply, "arguments": [{**a, "text": words + a["text"]} for a in reply["arguments"]]}


class Echo:
    """The second debater says what the first has said, after these words."""

    def __init__(self, words: str = "") -> None:
        self._words = words
        self._heard: list[JSON] = []

    def __call__(self, reply: JSON, request: Request) -> JSON:
        if request.seat == "debater-1":
            self._heard = reply["arguments"]
            return reply
        return {**reply, "arguments": [{**a, "text": self._words + a["text"]} for a in self._heard]}


def second(change: Change) -> Mapping[str, Change]:
    """A debate of three stances, of which the second debater's is changed."""
    return {"stances.debater": by_seat(same, change, same)}


SILENT: Mapping[str, Mapping[str, Change]] = {
    "all give one argument": {"stances.debater": arguing("The clause caps it.", quote=CAP)},
    "agrees": second(arguing(AGREES)),
    "agrees on a quotation": second(arguing(AGREES, quote=CAP)),
    "see above": second(arguing("See above.")),
    "ditto": second(arguing("Ditto.", "Nothing to add.")),
    "thin": second(arguing("It is usual.")),
    "points away": second(arguing("As the other debater has said already, so it is.")),
    "praises": second(arguing("The other side makes a compelling case, and I concur.")),
    "the other side is right": second(prefixed("The opposing side is right: ")),
    "sides with the other": second(prefixed("I side with my opponent. ")),
    "echoes": {"stances.debater": Echo()},
    "echoes after a remark": {
        "stances.debater": Echo("My colleague has put it better than I could have put it myself. ")
    },
    "invents": second(arguing("The clause lifts the limit for every kind of loss.", quote=INVENTED)),
    "talks of the weather": second(
        arguing("Rain falls on mountains while rivers carry pebbles to the sea, and no dam lasts.")
    ),
    "talks of eggs on a quotation": second(
        arguing("Add two eggs, stir the flour and bake it until golden, but never in a cold oven.", quote=CAP)
    ),
}
NOT_ARGUED: Mapping[str, Mapping[str, Change]] = {
    name: {"stances.judge": saying(winner=winner)}
    for name, winner in {
        "the moon": "The moon should decide",
        "neither": "Neither stance",
        "the opposite": f"Not: {CAPPED}",
        "both": "Both of them",
    }.items()
}


@pytest.mark.parametrize("name", SILENT)
async def test_a_stance_that_was_never_argued_is_flagged_and_for_a_person(database: Database, name: str) -> None:
    result = await read(database, "stances", SILENT[name])

    assert "opponentSilent" in result.get("flags", []), result.get("flags", [])
    assert result["decision"]["confidence"] != "HIGH"
    assert result["decision"]["humanReview"]["required"]


@pytest.mark.parametrize("name", NOT_ARGUED)
async def test_a_winner_that_no_seat_argued_is_flagged_and_for_a_person(database: Database, name: str) -> None:
    result = await read(database, "stances", NOT_ARGUED[name])

    assert (result.get("flags", []), result["decision"]["confidence"]) == (["winnerNotArgued"], "MODERATE")
    assert result["decision"]["humanReview"] == {"required": True, "reasons": ["winnerNotArgued"]}


async def test_a_winner_whose_debater_only_agreed_was_argued_by_no_seat(database: Database) -> None:
    def judged(reply: JSON, _: Request) -> JSON:
        return {**reply, "winner": CAPPED}

    result = await read(database, "stances", {**second(arguing(AGREES)), "stances.judge": judged})

    assert result["result"]["winnerStance"] == CAPPED
    assert result.get("flags", []) == ["winnerNotArgued", "opponentSilent"]
    assert result["decision"]["humanReview"]["reasons"] == ["winnerNotArgued", "opponentSilent"]


HONEST: Mapping[str, Mapping[str, Change]] = {
    "as it is": {},
    "concedes a point and argues on": second(
        arguing(
            "The other side is right that clause 9.2 sets a limit, but Annex C is an indemnity and stands outside it.",
            "I agree with the other debater on the amount. However, the obligations to notify have no limit at all.",
        )
    ),
    "reads the same passage otherwise": second(
        arguing(
            "The limit counts only for breach of Section 9 or Annex C, and a Security Incident may be neither.",
            quote=CAP,
        )
    ),
    "answers the other's words": second(
        arguing(
            'To say that the limit "shall not exceed three times the amount" settles it forgets wilful misconduct.',
            "The opposing argument skips gross negligence, for which German law allows no limit.",
            quote=CAP,
        )
    ),
    "agrees in the second round alone": second(
        lambda reply, request: arguing(AGREES)(reply, request) if "round 2" in str(request) else reply
    ),
    "the winner in the words of a label": {"stances.judge": saying(winner=f"The stance '{CAPPED}'")},
    "the winner with its debater": {"stances.judge": saying(winner=f"{CAPPED} [supplier]")},
    "a combined verdict": {
        "stances.judge": saying(winner=None, verdict="Limited for ordinary breach, without limit for wilful acts.")
    },
}


@pytest.mark.parametrize("name", HONEST)
async def test_honest_opponents_and_verdicts_keep_their_level(database: Database, name: str) -> None:
    result = await read(database, "stances", HONEST[name])

    assert not {"opponentSilent", "winnerNotArgued"} & set(result.get("flags", []))
    assert result["decision"]["confidence"] == (
        "HIGH" if name != "concedes a point and argues on" else result["decision"]["confidence"]
    )


def conceding(reply: JSON, _: Request) -> JSON:
    """Every point is granted."""
    granted = [{"n": answer["n"], "text": "I concede this point in full."} for answer in reply["rebuttals"]]
    return {**reply, "rebuttals": [], "concessions": [*granted, *reply["concessions"]], "thesis": "I withdraw my case."}


def answers(text: str, **others: Any) -> Change:
    """Every answer of a rebuttal in these words, without a citation."""
    bare = {"text": text, "citations": [], "basis": "reasoning", **others}
    return lambda reply, _: {**reply, "rebuttals": [{**a, **bare} for a in reply["rebuttals"]]}


GAVE_UP: Mapping[str, Change] = {
    "concedes all": conceding,
    "rejects": saying(conclusion="rejected", thesis="I withdraw my case; the proposition fails."),
    "says nothing": saying(rebuttals=[], concessions=[]),
    "agrees in its answers": answers("I concede this point in full."),
    "sides with the critic": answers("The critic is right: the limit falls for every kind of loss in this agreement."),
    "see above": answers("See above."),
    "invents all its answers": answers("The limit holds.", citations=[{"quote": INVENTED}], basis="evidence"),
}


@pytest.mark.parametrize("name", GAVE_UP)
async def test_a_moderator_that_upholds_what_the_rebuttal_conceded_is_flagged(database: Database, name: str) -> None:
    result = await read(database, "adversarial", {"rebuttal": GAVE_UP[name], "moderator": UPHELD})

    assert "rebuttalGaveUp" in result.get("flags", []), result.get("flags", [])
    assert result["decision"]["confidence"] == "MODERATE"
    assert "rebuttalGaveUp" in result["decision"]["humanReview"]["reasons"]


@pytest.mark.parametrize(
    ("seats", "conclusion"),
    [
        ({"critic": "modified"}, "rejected"),
        ({"proposer": "modified", "critic": "rejected", "rebuttal": "modified"}, "upheld"),
        ({"proposer": "upheld", "critic": "rejected", "rebuttal": "upheld"}, "modified"),
    ],
)
async def test_a_conclusion_that_no_seat_gave_is_flagged(
    database: Database, seats: Mapping[str, str], conclusion: str
) -> None:
    changes = {seat: saying(conclusion=given) for seat, given in seats.items()}
    if conclusion == "modified":
        changes["rebuttal"] = saying(conclusion="upheld", concessions=[])
    result = await read(database, "adversarial", {**changes, "moderator": saying(conclusion=conclusion)})

    assert "moderatorAlone" in result.get("flags", []), result.get("flags", [])
    assert result["decision"]["confidence"] == "MODERATE"
    assert "moderatorAlone" in result["decision"]["humanReview"]["reasons"]


def partly(reply: JSON, _: Request) -> JSON:
    """The first answer is granted instead, and the others stand."""
    first, *rest = reply["rebuttals"]
    granted = {"n": first["n"], "text": "Granted: the exception is real."}
    return {**reply, "rebuttals": rest, "concessions": [*reply["concessions"], granted], "conclusion": "upheld"}


@pytest.mark.parametrize("conclusion", ["upheld", "modified"])
async def test_a_rebuttal_that_concedes_in_part_may_end_high(database: Database, conclusion: str) -> None:
    result = await read(database, "adversarial", {"rebuttal": partly, "moderator": saying(conclusion=conclusion)})

    assert (
        result["decision"]["confidence"],
        result.get("flags", []),
        result["decision"]["humanReview"]["required"],
    ) == (
        "HIGH",
        [],
        False,
    )


async def test_a_critic_that_wins_needs_no_rebuttal_that_yields(database: Database) -> None:
    """The moderator rejects the proposition as the critic does, whatever the rebuttal says."""
    result = await read(database, "adversarial", {"rebuttal": conceding, "moderator": saying(conclusion="rejected")})

    assert not {"rebuttalGaveUp", "moderatorAlone"} & set(result.get("flags", []))


@pytest.mark.parametrize(
    "synthesis", ["It is so.", "See above.", "...", "The proposition is upheld.", "N/A", "Siehe oben."]
)
async def test_a_synthesis_that_says_nothing_is_asked_for_again_and_then_decides_nothing(
    database: Database, synthesis: str
) -> None:
    result = await read(database, "adversarial", {"moderator": saying(synthesis=synthesis)})

    assert (result["status"], result["decision"]["outcome"]) == ("failed", "none")
    assert result["decision"]["humanReview"]["required"]


@pytest.mark.parametrize(
    "members",
    [
        {"winner": None, "verdict": "Both are right.", "reasoning": "It is so."},
        {"winner": None, "verdict": "Both are right."},
        {"reasoning": "See above."},
    ],
)
async def test_a_judgement_that_says_nothing_is_asked_for_again_and_then_decides_nothing(
    database: Database, members: JSON
) -> None:
    result = await read(database, "stances", {"stances.judge": saying(**members)})

    assert (result["status"], result["decision"]["outcome"]) == ("failed", "none")
    assert result["decision"]["humanReview"]["required"]


class Late:
    """Debaters that argue for three options first, and then vote alike with these reasons."""

    def __init__(self, *reasons: str, quote: str | None = None) -> None:
        self._reasons = reasons
        self._quote = quote
        self._spoke: set[str] = set()

    def __call__(self, reply: JSON, request: Request) -> JSON:
        seat = request.seat
        if seat not in self._spoke:
            self._spoke.add(seat)
            return {**reply, "vote": ("capped", "uncapped", "amend")[int(seat[-1]) - 1]}
        changed = arguing(*self._reasons, member="rationale", quote=self._quote, vote="uncapped", stance="I agree.")
        return changed(reply, request)


@pytest.mark.parametrize("reason", [AGREES, "See above.", "The second debater convinces me."])
async def test_votes_that_moved_without_a_ground_are_flagged_and_for_a_person(database: Database, reason: str) -> None:
    result = await read(database, "ballot", {"ballot.debater": Late(reason)})

    assert (result["result"]["decision"], result.get("flags", [])) == ("uncapped", ["votesNotArgued"])
    assert (result["decision"]["confidence"], result["decision"]["humanReview"]["required"]) == ("MODERATE", True)


async def test_votes_that_moved_for_a_reason_are_counted_as_they_were(database: Database) -> None:
    moved = Late("The indemnity of Annex C lies outside the limit, so wilful acts are never limited.", quote=CAP)
    result = await read(database, "ballot", {"ballot.debater": moved})

    assert (result["result"]["decision"], result.get("flags", [])) == ("uncapped", [])
    assert (result["decision"]["confidence"], result["decision"]["humanReview"]["required"]) == ("MODERATE", False)


@pytest.mark.parametrize("options", [{}, {"judge": False, "judgeInstructions": None}, {"convergenceCheck": False}])
async def test_debaters_of_a_convergence_that_only_agree_are_flagged_and_for_a_person(
    database: Database, options: JSON
) -> None:
    agreeing = by_seat(same, arguing("I agree with the other debaters."))
    result = await read(database, "convergence", {"convergence.debater": agreeing}, **options)

    assert "answersNotArgued" in result.get("flags", []), result.get("flags", [])
    assert result["decision"]["confidence"] != "HIGH"
    assert result["decision"]["humanReview"]["required"]


@pytest.mark.parametrize("form", ["convergence", "panel", "ballot"])
async def test_honest_debaters_argue_for_their_answers(database: Database, form: str) -> None:
    result = await read(database, form, {})

    assert not {"answersNotArgued", "votesNotArgued"} & set(result.get("flags", []))


async def test_debaters_of_a_panel_that_only_agree_are_flagged_and_for_a_person(database: Database) -> None:
    claim = [
        {"n": 1, "text": "I agree with the other debaters.", "confidence": 95, "citations": [], "basis": "reasoning"}
    ]

    def agreed(reply: JSON, _: Request) -> JSON:
        return {**reply, "claims": claim, "answer": "As the others say.", "overallConfidence": 95}

    agreeing = by_seat(same, agreed)
    result = await read(database, "panel", {"panel.blind": agreeing, "panel.deliberation": agreeing})

    assert "answersNotArgued" in result.get("flags", []), result.get("flags", [])
    assert result["decision"]["confidence"] != "HIGH"
    assert result["decision"]["humanReview"]["required"]
