"""Challenges that are none, in whole debates: none ends with HIGH confidence, and none without a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.facts import Facts
from service.debate.findings import Citation, CitationsFound, CritiqueFound
from service.debate.model import Outcome, Turn, TurnId
from service.debate.replies import Conclusion, Critique, Moderation, Point, Proposal, Rebuttal, Reply, Statement
from service.simulated import scripted
from tests.unit.simulated.debates import Played, play, sample

Alter = Callable[[Turn, Facts, Reply], Reply]

POSITIONS = ("adopt", "pilot", "wait")


def a_critique(*points: Point, conclusion: Conclusion = "rejected", thesis: str = "It fails.", n: int = 9) -> Critique:
    return Critique(thesis, points, n, conclusion)


def point(n: int, text: str, *attacks: int, quotes: Sequence[str] = (), position: str | None = None) -> Point:
    cited = tuple(Citation(quote, None) for quote in quotes)
    return Point(n, text, attacks or (1,), cited, "evidence" if cited else "reasoning", position)


def deciding(critic: Callable[[Facts], Critique], conclusion: Conclusion = "upheld", **others: Conclusion) -> Alter:
    """The critic says so, and the moderator is sure whatever was said; ``others`` conclude as given."""

    def alter(turn: Turn, facts: Facts, reply: Reply) -> Reply:
        match reply:
            case Critique():
                return replace(critic(facts), shift=reply.shift)
            case Moderation():
                return replace(reply, conclusion=conclusion, confidence_level="HIGH", recommend_another_round=False)
            case Proposal() | Rebuttal() if turn.seat in others:
                return replace(reply, conclusion=others[turn.seat])
            case _:
                return reply

    return alter


APART = {
    "framing": "cedar-small",
    "proposer": "alder-large",
    "critic": "birch-large",
    "rebuttal": "alder-small",
    "moderator": "cedar-large",
}
"""The models of the shipped policy: no seat thinks alike."""


def ended(alter: Alter, name: str = "contract", file: str = "case.json", **options: Any) -> Played:
    return play(**{**sample(name, file), "models": APART, "alter": alter, **options})


def asked(played: Played) -> list[str]:
    return [turn for turn in played.facts.said if ".critic." in turn]


def found(played: Played, turn: str = "1.critic.1") -> CritiqueFound:
    finding = played.facts.found[f"{turn}/critique"]
    assert isinstance(finding, CritiqueFound)
    return finding


def held(outcome: Outcome, *flags: str) -> None:
    """The debate completed, and neither its level nor its ending leaves a person out."""
    assert outcome.status == "completed"
    assert outcome.confidence_level == "MODERATE"
    assert outcome.human_review.required
    assert set(flags) <= set(outcome.flags)
    assert set(flags) <= {cap.reason for cap in outcome.caps}


def scripted_by(**turns: dict[str, Any]) -> scripted.ReplyScript:
    body = {"turns": {seat: [{"reply": reply}] for seat, reply in turns.items()}, "otherwise": "offline"}
    return scripted.parse(json.dumps(body).encode())


AGREES = {
    "thesis": "The proposition is sound and should be upheld.",
    "points": [
        {
            "n": 1,
            "text": "The cap on liability deserves another look.",
            "attacks": [1],
            "basis": "reasoning",
            "citations": [],
        }
    ],
    "challengeStrength": 10,
    "conclusion": "upheld",
}
SURE = {
    "scores": [{"label": f"Statement {n}", "score": 8} for n in (1, 2, 3)],
    "resolvedPoints": [],
    "unresolvedPoints": [],
    "recommendAnotherRound": False,
    "synthesis": "The proposition holds.",
    "confidenceLevel": "HIGH",
    "explicitUncertainties": ["No court has read it."],
    "conclusion": "upheld",
}


def test_a_critic_that_agrees_by_a_scripted_provider_is_asked_again_and_capped() -> None:
    played = play(**{**sample("contract"), "script": scripted_by(critic=AGREES, moderator=SURE)})

    assert asked(played) == ["1.critic.1", "1.critic.2"]
    assert "concludesUpheld" in found(played).weak
    held(played.outcome, "critiqueWeak", "critiqueConcedes", "sameConclusion")


def test_a_rebuttal_that_modifies_does_not_hide_that_critic_and_moderator_agree_with_the_proposer() -> None:
    rebuttal = {
        "thesis": "It holds in a narrower form.",
        "rebuttals": [{"n": 1, "text": "It was looked at.", "basis": "reasoning", "citations": []}],
        "concessions": [],
        "conclusion": "modified",
    }
    played = play(**{**sample("contract"), "script": scripted_by(critic=AGREES, moderator=SURE, rebuttal=rebuttal)})

    held(played.outcome, "critiqueConcedes", "criticAndModeratorAsProposer")
    assert "sameConclusion" not in played.outcome.flags


def first_argument(facts: Facts) -> Statement:
    return arguments(facts)[0]


def arguments(facts: Facts) -> tuple[Statement, ...]:
    proposal = facts.said[TurnId("1.proposer.1")]
    assert isinstance(proposal, Proposal)
    return proposal.arguments


CEILING = "The cap in Section 8.2 applies to all liability of the Supplier however arising"
"""Words of the order form that the proposer does not quote."""
EMPTY: dict[str, Callable[[Facts], Critique]] = {
    "typed agreement under a fierce thesis": lambda _: a_critique(
        point(1, "Order Form clause 8.3 carries the ceiling over to indemnities, so nothing is open-ended."),
        conclusion="upheld",
        thesis="The proposition is dangerously wrong.",
    ),
    "an argument restated": lambda facts: a_critique(point(1, first_argument(facts).text)),
    "a bare denial": lambda facts: a_critique(point(1, f"It is not true that {first_argument(facts).text}")),
    "every argument called wrong": lambda _: a_critique(
        point(1, "This argument is wrong."), point(2, "So is this one.", 2), point(3, "Unconvincing.", 3)
    ),
    "praise": lambda _: a_critique(
        point(1, "The proposer correctly reads clause C7.1, and the conclusion drawn from it is well founded."),
        point(2, "Argument 2 is just as persuasive. Nothing in the documents contradicts it.", 2),
    ),
    "praise beside a new quotation": lambda _: a_critique(
        point(
            1,
            "Argument 1 is convincing, and clause 12.1 confirms it.",
            quotes=["Neither party is liable to the other for loss of profits, loss of goodwill"],
        )
    ),
    "the proposer's own quotation, praised": lambda facts: a_critique(
        point(1, "The argument is sound.", quotes=[first_argument(facts).citations[0].quote])
    ),
    "a call for more review": lambda _: a_critique(
        point(1, "There may be risks that have not been fully considered, so further legal review is advisable."),
        point(2, "The wording could be clearer in some respects.", 2),
    ),
    "an objection that changes nothing": lambda _: a_critique(
        point(1, "Clause C7.1 names no deadline, although this does not change the overall conclusion.")
    ),
    "points that name no argument": lambda _: a_critique(
        Point(1, "Contracts leak, and lawyers profit from each leak.", (), basis="reasoning"), conclusion="modified"
    ),
    "points against arguments that do not exist": lambda _: a_critique(
        point(1, "Clause 8.3 of the order form overrides whatever the main agreement says on indemnities.", 77)
    ),
    "evidence without a citation": lambda _: a_critique(
        Point(1, "Clause 40 lifts every cap for regulators' fines.", (1,), basis="evidence"),
        Point(2, "Schedule 9 excludes cyber insurance.", (2,), basis="evidence"),
    ),
    "no words of its own": lambda _: a_critique(point(1, "No."), point(2, "No.", 2)),
    "agreement by double negation beside quotations of its own": lambda _: a_critique(
        point(1, "It would be wrong to say that this argument fails; the clause bears it out.", quotes=[CEILING]),
        point(2, "No one could deny that argument 2 holds.", 2, quotes=[CEILING]),
        point(3, "I cannot find fault with argument 3.", 3, quotes=[CEILING]),
        point(4, "The argument does not fail.", 4, quotes=[CEILING]),
    ),
    "nothing to object to": lambda _: a_critique(
        point(1, "There is nothing to object to in it.", quotes=[CEILING]),
        point(2, "The reading is far from mistaken, as the words show.", 2, quotes=[CEILING]),
        thesis="It would be a mistake to call the proposition wrong.",
    ),
    "a thesis that agrees, and the arguments again": lambda facts: a_critique(
        *(point(a.n, f"As has been said, {a.text}", a.n) for a in arguments(facts)), thesis="I agree completely."
    ),
    "the weather": lambda _: a_critique(
        point(1, "Weather, seasons, tides and orchards show gentle patterns which nobody here disputes at all.")
    ),
    "the weather beside a quotation of its own": lambda _: a_critique(
        point(1, "Weather, seasons, tides and orchards show gentle patterns.", quotes=[CEILING])
    ),
    "a recipe": lambda _: a_critique(
        point(1, "Whisk butter with sugar, fold in the almonds, then bake until the crust is not pale."),
        point(2, "Add two eggs, stir the flour and bake it for an hour.", 2),
    ),
    "a straw man of another world": lambda _: a_critique(
        point(1, "Outlawing all tourism would bring the islands to a halt; so radical a ban has no support.")
    ),
    "a quotation that has nothing to do with it": lambda _: a_critique(
        point(
            1,
            "The record has this to say.",
            quotes=["furnished by the Bank was furnished in breach of law"],
        ),
        point(3, "Just look.", 3, quotes=["furnished by the Bank was furnished in breach of law"]),
    ),
    "half a comma": lambda _: a_critique(
        point(1, "A comma is missing after the word party. The rest I cannot fault."), conclusion="modified"
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_challenge_is_asked_again_and_never_ends_high_or_without_a_person(name: str) -> None:
    played = ended(deciding(EMPTY[name]))

    assert asked(played) == ["1.critic.1", "1.critic.2"]
    held(played.outcome, "critiqueWeak")


@pytest.mark.parametrize(
    "thesis", ["I agree with the proposer completely. The proposition stands.", "It would be wrong to call it wrong."]
)
def test_a_thesis_that_grants_everything_concedes_whatever_the_points_say(thesis: str) -> None:
    def alter(turn: Turn, facts: Facts, reply: Reply) -> Reply:
        if isinstance(reply, Critique):
            return replace(reply, thesis=thesis)
        return replace(reply, confidence_level="HIGH") if isinstance(reply, Moderation) else reply

    played = ended(alter)

    assert asked(played) == ["1.critic.1", "1.critic.2"]
    assert "thesisGrants" in found(played).weak
    held(played.outcome, "critiqueWeak", "critiqueConcedes")


HONEST: dict[str, Critique] = {
    "as many negations, against it": a_critique(
        point(1, "It would be wrong to say that this argument holds: the cap reaches any indemnity.", quotes=[CEILING])
    ),
    "one argument granted, another attacked": a_critique(
        point(1, "Nobody could deny that argument 1 is right about the duty to indemnify."),
        point(2, "The cap of the order form reaches any indemnity, so nothing is open-ended.", 2, quotes=[CEILING]),
    ),
    "few words beside a passage": a_critique(point(2, "A ceiling swallows indemnities.", 2, quotes=[CEILING])),
    "a consequence that no document names": a_critique(
        point(1, "An indemnity is worth what the indemnifier owns; a supplier without reserves pays no losses.")
    ),
    "a thesis that grants one half": a_critique(
        point(2, "The cap of the order form reaches any indemnity, so nothing is open-ended.", 2, quotes=[CEILING]),
        thesis="The indemnity is sound, the order form caps it all the same.",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_challenge_with_such_words_is_not_asked_again(name: str) -> None:
    played = ended(deciding(lambda _: HONEST[name]))

    assert found(played).weak == ()
    assert asked(played) == ["1.critic.1"]
    assert (played.outcome.confidence_level, played.outcome.caps) == ("HIGH", ())


def test_a_challenge_of_struck_arguments_alone_is_thin_and_concedes_by_its_conclusion() -> None:
    """The proposer's first argument rests on an invented quotation, and the critic attacks nothing else."""

    def critic(_: Facts) -> Critique:
        text = "Clause 8.3 of the order form carries the ceiling over, so the first argument collapses."
        return a_critique(point(1, text), conclusion="modified")

    sure = deciding(critic, proposer="modified")

    def alter(turn: Turn, facts: Facts, reply: Reply) -> Reply:
        said = sure(turn, facts, reply)
        if isinstance(said, Proposal):
            invented = replace(said.arguments[0], citations=(Citation("words that no clause of it has", "D1"),))
            return replace(said, arguments=(invented, *said.arguments[1:]))
        return said

    played = ended(alter)

    checked = played.facts.found["1.proposer.1/citations"]
    assert isinstance(checked, CitationsFound)
    assert checked.struck(TurnId("1.proposer.1")) == {1: "unverified_citation"}
    assert {"concludesAsProposer", "thin"} <= set(found(played).weak)
    held(played.outcome, "critiqueWeak", "critiqueConcedes")


def test_a_position_without_a_point_against_it_is_seen() -> None:
    options = sample("architecture", "case-positions.json")
    ids = list(options["positions"])

    def critic(facts: Facts) -> Critique:
        honest = (
            "Nobody has costed the move, the vendor's window falls on the payroll run, and exit needs an export tool "
            "that does not exist."
        )
        return a_critique(*(point(n, honest, position=name) for n, name in enumerate(ids[1:], 1)))

    played = ended(deciding(critic), "architecture", "case-positions.json")

    assert found(played).spared == (ids[0],)
    assert "sparesAPosition" in found(played).weak
    held(played.outcome, "critiqueWeak", "critiqueConcedes")


def test_a_point_with_the_number_of_another_position_is_no_attack() -> None:
    ids = list(sample("architecture", "case-positions.json")["positions"])

    def critic(_: Facts) -> Critique:
        honest = "Nobody has costed the two engineers, and the load test on hardware ran for an hour alone."
        points = [point(n, honest, position=name) for n, name in enumerate(ids[1:], 1)]
        return a_critique(*points, point(9, honest, 88, position=ids[0]))

    played = ended(deciding(critic), "architecture", "case-positions.json")

    assert found(played).spared == ()
    assert found(played).unopposed == 1
    assert "thin" in found(played).weak
    held(played.outcome, "critiqueWeak")


@pytest.mark.parametrize("critic", ["upheld", "rejected"])
def test_a_proposer_that_rejects_is_flagged_and_its_critic_is_not_asked_again_for_that(critic: Conclusion) -> None:
    """A critic that opposes it then concludes otherwise, and one that holds its seat agrees with it."""

    def opposing(_: Facts) -> Critique:
        return a_critique(point(1, "Clause C7.2 says that the indemnity has no limit."), conclusion=critic)

    played = ended(deciding(opposing, "rejected", proposer="rejected"))

    assert asked(played) == ["1.critic.1"]
    assert not found(played).weak
    assert {"critiqueWeak", "critiqueConcedes"}.isdisjoint(played.outcome.flags)
    held(played.outcome, "proposerRejects")


def test_two_rounds_are_judged_by_the_last_conclusions() -> None:
    """The first round is a fight; in the second one the critic gives up and the moderator follows the proposer."""

    def alter(turn: Turn, facts: Facts, reply: Reply) -> Reply:
        if isinstance(reply, Moderation):
            sure = replace(reply, conclusion="upheld", confidence_level="HIGH")
            return replace(sure, recommend_another_round=turn.round == 1)
        if isinstance(reply, Critique) and turn.round == 2:
            return replace(reply, conclusion="upheld", challenge_strength=9)
        return reply

    played = ended(alter, models="alder-large", rounds=2)

    assert asked(played)[:2] == ["1.critic.1", "2.critic.1"]
    assert "concludesUpheld" in found(played, "2.critic.1").weak
    held(played.outcome, "critiqueConcedes")
    assert {"sameConclusion", "criticAndModeratorAsProposer"} & set(played.outcome.flags)


def test_an_honest_debate_is_none_of_these() -> None:
    def sure(_turn: Turn, _facts: Facts, reply: Reply) -> Reply:
        return replace(reply, confidence_level="HIGH") if isinstance(reply, Moderation) else reply

    played = ended(sure)

    assert asked(played) == ["1.critic.1"]
    assert (played.outcome.confidence_level, played.outcome.flags, played.outcome.caps) == ("HIGH", (), ())
