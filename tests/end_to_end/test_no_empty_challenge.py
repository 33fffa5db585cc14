"""Empty challenges, false consensuses and invented quotations: none ends HIGH, and none without a person.

Each case is a shipped sample that the simulated models debate. One or more of their replies are changed on the way, as
a vendor's model would have said otherwise. Every decider is as sure as it can be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from service import samples
from service.debate.kernel import replay
from service.intake.request import CaseRequest
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts.request import Request
from service.report import build_result
from service.running.provider_port import Answer
from service.simulated import OfflineProvider
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, bench

pytestmark = pytest.mark.replay

JSON = dict[str, Any]
Change = Callable[[JSON, Request], JSON]
DECIDERS = ("moderator", "stances.judge", "panel.synthesizer", "convergence.judge")


class Doctored(OfflineProvider):
    """The simulated models, whose replies are changed by the kind of reply; every decider says HIGH."""

    def __init__(self, changes: Mapping[str, Change]) -> None:
        super().__init__()
        self._changes = changes

    async def send(self, body: bytes) -> Answer:
        """One answer, changed."""
        answer = await super().send(body)
        request = msgspec.json.decode(body, type=Request)
        reply = json.loads(answer.text)
        if request.schema_id in DECIDERS:
            reply["confidenceLevel"] = "HIGH"
        if change := self._changes.get(request.schema_id):
            reply = change(reply, request)
        return Answer(json.dumps(reply), answer.raw_usage, answer.served_model)


def saying(**members: Any) -> Change:
    """Set members of a reply."""
    return lambda reply, _: {**reply, **members}


async def debated_whole(service: Bench, body: JSON) -> JSON:
    """The result of a whole debate of a case, replayed."""
    request = msgspec.json.decode(msgspec.json.encode(body), type=CaseRequest)
    debate = (await service.reviews.submit(request, CALLER)).debate
    assert await service.claim() == debate
    await (await service.runner(debate)).run()
    lines = await service.reviews.lines(debate, CALLER)
    replay(await service.case(debate), [line.entry for line in lines])
    result: JSON = json.loads(msgspec.json.encode(build_result(debate, lines)))
    return result


SHIPPED = read_policy(SHIPPED_POLICY)
ALLOWING = msgspec.structs.replace(
    SHIPPED, debate=msgspec.structs.replace(SHIPPED.debate, adversarial_without_documents=True)
)


async def read(
    database: Database, form: str, changes: Mapping[str, Change], *, documented: bool = True, **options: Any
) -> JSON:
    """The result of a sample's debate in a format, as a caller reads it."""
    body = samples.load("contract", None if form == "adversarial" else form).case
    body = {**body, "options": {"format": form, **body.get("options", {}), **options}}
    if not documented:
        body = {name: value for name, value in body.items() if name != "documents"}
    async with bench(database.service_url, Doctored(changes), policy=SHIPPED if documented else ALLOWING) as service:
        return await debated_whole(service, body)


INVENTED = 'Clause 99.9 states "the Supplier shall be liable to the Bank without any limit whatsoever". '
"""Words that stand in no document of any sample, told as a document's."""


def before(member: str, text: str = INVENTED) -> Change:
    """Put words before a text of a reply."""
    return lambda reply, _: {**reply, member: text + reply[member]}


def points(*edits: Callable[[JSON, JSON], JSON], **members: Any) -> Change:
    """Change each point of a critique; an edit is given the point and the critique."""

    def change(reply: JSON, _: Request) -> JSON:
        changed = reply["points"]
        for edit in edits:
            changed = [edit(point, reply) for point in changed]
        return {**reply, "points": changed, **members}

    return change


def bare(point: JSON, _: JSON) -> JSON:
    """The point without its citations, as reasoning."""
    return {**point, "citations": [], "basis": "reasoning"}


def aimless(point: JSON, _: JSON) -> JSON:
    """The point without the arguments that it attacks."""
    return {**point, "attacks": []}


def one(change: Change) -> Change:
    """The first point alone."""

    def first(reply: JSON, request: Request) -> JSON:
        changed = change(reply, request)
        return {**changed, "points": changed["points"][:1]}

    return first


def generic(point: JSON, _: JSON) -> JSON:
    """A point that says nothing of the case."""
    return {**point, "text": "More analysis of this argument would be welcome.", "citations": [], "basis": "reasoning"}


def saying_of_each(text: str) -> Callable[[JSON, JSON], JSON]:
    """Every point says this, and keeps its citations."""
    return lambda point, _: {**point, "text": text}


def invented(point: JSON, _: JSON) -> JSON:
    """A point whose quotations stand in no document."""
    false = {"quote": "the Supplier shall be liable to the Bank without any limit whatsoever"}
    return {**point, "citations": [false]}


def everywhere(**members: Any) -> Change:
    """The same claims, stances and confidences of every debater."""
    return saying(**members)


AGREES = {"conclusion": "upheld", "thesis": "The proposition is sound and should be upheld."}
UPHELD = saying(conclusion="upheld")
ADVERSARIAL: Mapping[str, Mapping[str, Change]] = {
    "the critic agrees with one point": {
        "critic": one(points(bare, **AGREES, challengeStrength=10)),
        "moderator": UPHELD,
    },
    "the critic agrees, and the rebuttal modifies": {
        "critic": one(points(bare, **AGREES, challengeStrength=10)),
        "rebuttal": saying(conclusion="modified"),
        "proposer": UPHELD,
        "moderator": UPHELD,
    },
    "the critic agrees with all its points": {"critic": points(**AGREES), "moderator": UPHELD},
    "the critic agrees in other words": {
        "proposer": saying(conclusion="modified"),
        "critic": points(aimless, conclusion="modified", challengeStrength=9),
        "moderator": saying(conclusion="modified"),
    },
    "the critic names no argument": {"critic": points(aimless, challengeStrength=9)},
    "the critic says nothing of the case": {"critic": points(generic, challengeStrength=9)},
    "the critic restates the arguments": {
        "critic": points(
            lambda point, _: {**point, "text": "As the proposer says, so it is."}, bare, challengeStrength=9
        )
    },
    "the critic invents what it quotes": {"critic": points(invented, challengeStrength=9)},
    **{
        f"the critic {what}, {how}": {
            "critic": points(saying_of_each(text), *edits, challengeStrength=9),
            "moderator": UPHELD,
        }
        for what, text in {
            "denies that it fails": "It would be wrong to say that this argument fails; the clause bears it out.",
            "denies a denial": "No one could deny that argument 2 holds.",
            "finds no fault": "There is nothing to object to in it, and I cannot find fault with this argument.",
            "speaks of the weather": (
                "Weather, seasons, tides and orchards show gentle patterns which nobody here disputes at all."
            ),
            "gives a recipe": "Whisk butter with sugar, fold in the almonds, then bake until the crust is not pale.",
        }.items()
        for how, edits in {"with citations of its own": (), "without": (bare,)}.items()
    },
    "the critic's thesis agrees completely": {
        "critic": saying(
            thesis="I agree with the proposer completely. The proposition stands.",
            conclusion="rejected",
            challengeStrength=10,
        ),
        "moderator": UPHELD,
    },
    "the proposer rejects its own proposition": {
        "proposer": saying(conclusion="rejected"),
        "critic": points(conclusion="rejected"),
        "rebuttal": saying(conclusion="rejected"),
        "moderator": saying(conclusion="rejected"),
    },
    "all conclude the same": {
        seat: saying(conclusion="modified") for seat in ("proposer", "critic", "rebuttal", "moderator")
    },
    "the synthesis quotes what no document says": {"moderator": before("synthesis")},
    "the synthesis cites a clause that is not there": {
        "moderator": before("synthesis", "Clause 99.9 states that the liability of the Supplier is without limit. ")
    },
}
STANCES: Mapping[str, Mapping[str, Change]] = {
    "the verdict quotes what no document says": {"stances.judge": before("verdict")},
    "the reasoning quotes what no document says": {"stances.judge": before("reasoning")},
    "every argument is struck": {
        "stances.debater": lambda reply, _: {
            **reply,
            "arguments": [{**a, "citations": [{"quote": INVENTED}], "basis": "evidence"} for a in reply["arguments"]],
        }
    },
}


def by_seat(*changes: Change) -> Change:
    """Change the first debater's reply by the first change, and so on; the last change is for all others."""

    def change(reply: JSON, request: Request) -> JSON:
        number = int(request.seat.rpartition("-")[2])
        return changes[min(number, len(changes)) - 1](reply, request)

    return change


def claiming(*texts: str, quote: str | None = None, **members: Any) -> Change:
    """Each debater claims its own text, sure of it, on one passage or none, and accepts all that others claim."""

    def made(text: str) -> Change:
        def change(reply: JSON, _: Request) -> JSON:
            first = {"n": 1, "text": text, "confidence": 90, "basis": "evidence" if quote else "reasoning"}
            claim = {**first, "citations": [{"quote": quote}] if quote else []}
            accepted = [{**mark, "mark": "accept"} for mark in reply.get("marks", [])]
            return {
                **reply,
                "answer": text,
                "claims": [claim],
                "overallConfidence": 90,
                **({"marks": accepted} if "marks" in reply else {}),
                **members,
            }

        return change

    return by_seat(*map(made, texts))


def panel(change: Change, **more: Change) -> Mapping[str, Change]:
    """The same change of blind and of revised answers."""
    return {"panel.blind": change, "panel.deliberation": change, **more}


CAP = "aggregate liability for breach of Section 9 or Annex C shall not exceed three times the amount stated"
SAME: JSON = {"stance": "negative", "framework": "textual", "assumptions": []}
OPEN: JSON = {"stance": "open", "framework": "other", "assumptions": []}
PANEL: Mapping[str, Mapping[str, Change]] = {
    "one passage, three amounts": panel(
        claiming(
            "The limit is one hundred thousand euro for each contract year.",
            "The limit is five million euro for the whole term.",
            "There is no limit at all on what the Supplier owes.",
            quote=CAP,
            **SAME,
        )
    ),
    "one passage, two dates": panel(
        claiming("The limit applies from 1 March 2026.", "The limit applies from 1 March 2027.", quote=CAP, **SAME)
    ),
    "one passage, the opposite": panel(
        claiming(
            "The limit applies to a Security Incident.",
            "The limit does not apply to a Security Incident.",
            quote=CAP,
            **SAME,
        )
    ),
    "one passage, the parties exchanged": panel(
        claiming("The Supplier indemnifies the Bank.", "The Bank indemnifies the Supplier.", quote=CAP, **SAME)
    ),
    "three answers, no passage, no yes or no": panel(
        claiming("Ninety days.", "It depends on the regulator.", "Nobody can say.", **OPEN)
    ),
    "all doubt what they agree on": panel(
        claiming("The limit is three times the fees.", quote=CAP, **SAME),
        **{"panel.synthesizer": before("answer")},
    ),
    "the synthesis quotes what no document says": {"panel.synthesizer": before("answer")},
    "the synthesis cites a clause that is not there": {
        "panel.synthesizer": before(
            "answer", "Under clause 99.9 of the agreement the Supplier's liability is unlimited. "
        )
    },
}


FALSE = tuple(PANEL)[:5]
"""What is no consensus: answers that differ, or of which nothing shows that they agree."""
OPPOSED: Mapping[str, tuple[str, ...]] = {
    "percent, basis points, per mille": (
        "The limit is 3 percent of the fees.",
        "The limit is 3 basis points of the fees.",
        "The limit is 3 per mille of the fees.",
    ),
    "percent, basis points": ("The cap is 30 percent of fees.", "The cap is 30 basis points of fees."),
    "hours, days": ("Notice is due within 72 hours.", "Notice is due within 72 days."),
    "days, months": ("Notice is 30 days.", "Notice is 30 months."),
    "business days, calendar days": ("Notice is due in 10 business days.", "Notice is due in 10 calendar days."),
    "days, a year": ("Notice is due in 30 days.", "Notice is due in one year."),
    "a share, a sum": ("The cap is 5 percent of fees.", "The cap is EUR 5 million."),
    "decimals of a multiple": ("The cap is 1.5 times the fees.", "The cap is 15 times the fees."),
    "may, must": ("The Supplier may notify the Bank of loss.", "The Supplier must notify the Bank of loss."),
    "may, is obliged to": ("The Supplier may notify.", "The Supplier is obliged to notify."),
    "always, only": ("The limit applies always.", "The limit applies only to fraud."),
    "yes, no": ("Yes, unlimited.", "No, limited."),
}
"""Claims on one passage, all accepted, that exclude each other, by their subject."""


def claims(*debaters: list[tuple[str, str | None]], answers: tuple[str, ...] = ()) -> Change:
    """Each debater's claims with the passage of each; without an answer of its own, the first claim is one."""

    def made(own: list[tuple[str, str | None]], answer: str) -> Change:
        def change(reply: JSON, _: Request) -> JSON:
            listed = [
                {
                    "n": n,
                    "text": text,
                    "confidence": 90,
                    "basis": "evidence" if quote else "reasoning",
                    "citations": [{"quote": quote}] if quote else [],
                }
                for n, (text, quote) in enumerate(own, 1)
            ]
            accepted = [{**mark, "mark": "accept"} for mark in reply.get("marks", [])]
            marks = {"marks": accepted} if "marks" in reply else {}
            return {**reply, **SAME, "answer": answer, "claims": listed, "overallConfidence": 90, **marks}

        return change

    said = answers or tuple(own[0][0] for own in debaters)
    return by_seat(*(made(own, answer) for own, answer in zip(debaters, said, strict=True)))


THRICE = "The limit is three times the amount stated."
REWORDED = "Three times the amount stated is the ceiling."
APART: Mapping[str, Change] = {
    "answers, opposite under equal claims": claims(
        [(THRICE, CAP)],
        [(REWORDED, CAP)],
        [("The amount stated, multiplied by three, is the most that is owed.", CAP)],
        answers=("Yes, liability is unlimited.", "No, liability is capped at EUR 5 million.", "It cannot be said."),
    ),
    "answers, other figures under one claim": claims(
        [(THRICE, CAP)], [(REWORDED, CAP)], answers=("The exposure is EUR 1 million.", "The exposure is EUR 9 million.")
    ),
    "amounts without a passage": claims(
        [(THRICE, CAP), ("The total is EUR 1 million.", None)],
        [(REWORDED, CAP), ("The total is EUR 9 million.", None)],
    ),
    "a denial without a passage": claims([("Liability is capped.", CAP)], [("Liability is not capped.", None)]),
    "an answer against a claim": claims(
        [(THRICE, CAP)], [(REWORDED, CAP)], answers=("The limit is twice the amount stated.", REWORDED)
    ),
    "duties without a passage": claims(
        [(THRICE, CAP), ("The Supplier need not insure its staff.", None)],
        [(REWORDED, CAP), ("The Supplier must insure its staff.", None)],
    ),
}
"""What excludes each other although no passage is common, or although the claims are the same."""
COVERED = claiming("The limit covers data loss.", "The limit reaches lost data.", quote=CAP, **SAME)
SYNTHESES: Mapping[str, Mapping[str, Change]] = {
    name: panel(change, **{"panel.synthesizer": saying(answer=answer, ideas=[])})
    for name, change, answer in (
        ("no limit at all", COVERED, "Liability is unlimited. All debaters agreed on that."),
        ("the denial", COVERED, "In the end, the limit does not cover data loss."),
        ("another figure", claims([(THRICE, CAP)], [(REWORDED, CAP)]), "The limit is ten times the amount stated."),
    )
}
"""Syntheses that say the opposite of what all debaters accept."""
NEIGHBOURS: Mapping[str, tuple[str, str]] = {
    "hours of a day": ("Notice is due within 24 hours.", "Notice is due within one day."),
    "percent in basis points": ("The limit is 2 percent of the fees.", "The limit is 200 basis points of the fees."),
    "millions": ("The limit is EUR 5 million.", "The limit is EUR 5,000,000."),
    "months of a year": ("The limit runs for twelve months.", "The limit runs for one year."),
    "other matters": ("The limit is EUR 5 million.", "Notice takes 30 days."),
    "other words": ("The Supplier must notify the Bank.", "The Supplier is required to notify the Bank."),
}
"""What agrees, or is about something else, although its words are others."""


def answering(*answers: str, quote: str | None = None) -> Change:
    """Each debater's final answer, on one argument that quotes this, or on reasoning alone."""

    def made(text: str) -> Change:
        cited = (
            {"citations": [{"quote": quote}], "basis": "evidence"} if quote else {"citations": [], "basis": "reasoning"}
        )
        argument = {"n": 1, "text": f"This follows: {text}", **cited}
        return lambda reply, _: {**reply, "finalAnswer": text, "arguments": [argument]}

    return by_seat(*map(made, answers))


CONVERGENCE: Mapping[str, Mapping[str, Change]] = {
    "three amounts": {
        "convergence.debater": answering(
            "The limit is USD 1,000,000.", "The limit is USD 5,000,000.", "There is no limit."
        )
    },
    "agreement on nothing": {"convergence.debater": answering("The Supplier's liability is limited.")},
    "agreement on an invented quotation": {
        "convergence.debater": answering("The Supplier's liability is limited.", quote=INVENTED)
    },
    "the ruling quotes what no document says": {"convergence.judge": before("justification")},
}


def voting(*votes: str, **members: Any) -> Change:
    """Each debater's vote, on one reason without a document."""

    def made(vote: str) -> Change:
        reason = {"n": 1, "text": "This is how it is usually done.", "citations": [], "basis": "reasoning"}
        return lambda reply, _: {**reply, "vote": vote, "rationale": [reason], **members}

    return by_seat(*map(made, votes))


BALLOT: Mapping[str, Mapping[str, Change]] = {
    "all vote without a ground": {"ballot.debater": voting("capped")},
    "a stance quotes what no document says": {"ballot.debater": voting("capped", stance=INVENTED)},
    "a tie": {"ballot.debater": voting("capped", "uncapped", "amend")},
    "votes for what is no option": {"ballot.debater": voting("whatever")},
}
STANCE, OTHER_STANCE = (
    debater["stance"] for debater in samples.load("contract", "stances").case["options"]["debaters"][:2]
)
GAINSAID: Mapping[str, Mapping[str, Change]] = {
    "adversarial": {
        "moderator": lambda reply, _: {
            **reply,
            "conclusion": "upheld",
            "synthesis": f"{reply['synthesis']} Therefore the proposition must be rejected.",
        }
    },
    "stances": {
        "stances.judge": lambda reply, _: {
            **reply,
            "winner": STANCE,
            "verdict": f"{reply['verdict']} In the end, the stance '{OTHER_STANCE.rstrip('.')}' prevails.",
        }
    },
    "panel": panel(COVERED, **{"panel.synthesizer": saying(answer="The limit covers it. No consensus was reached.")}),
    "convergence": {
        "convergence.judge": saying(
            finalAnswer="Yes, the liability is limited.", justification="It is plain. So the answer is no."
        )
    },
    "ballot": {"ballot.debater": voting("capped", stance="I vote for uncapped.")},
}
"""Words that say the opposite of the typed verdict beside them, in each format."""
CASES = {
    "adversarial": ADVERSARIAL,
    "stances": STANCES,
    "panel": PANEL,
    "convergence": CONVERGENCE,
    "ballot": BALLOT,
}


@pytest.mark.parametrize(("form", "name"), [(form, name) for form, cases in CASES.items() for name in cases])
async def test_nothing_empty_ends_high_or_without_a_person(database: Database, form: str, name: str) -> None:
    result = await read(database, form, CASES[form][name])

    ended = {
        "level": result["decision"]["confidence"],
        "flags": result.get("flags", []),
        "review": result["decision"]["humanReview"],
    }
    assert result["decision"]["confidence"] != "HIGH", ended
    assert result["decision"]["humanReview"]["required"], ended
    if "no document says" in name or "is not there" in name:
        assert "inventedQuotation" in result.get("flags", []), ended
        assert result["decision"]["confidence"] == "LOW", ended
    if name in FALSE:
        assert not result["result"]["consensusReached"], ended


@pytest.mark.parametrize("form", GAINSAID)
@pytest.mark.parametrize("documented", [True, False], ids=["with documents", "without"])
async def test_words_against_the_typed_verdict_are_for_a_person(
    database: Database, form: str, documented: bool
) -> None:
    result = await read(database, form, GAINSAID[form], documented=documented)

    assert "wordsOpposeVerdict" in result["flags"]
    assert "wordsOpposeVerdict" in result["decision"]["humanReview"]["reasons"]
    assert result["decision"]["confidence"] in ("MODERATE", "LOW")
    marked = [p for turn in result["passages"] for p in turn.get("passages", []) if p["kind"] == "verdict"]
    assert {p["mark"] for p in marked} == {"the opposite of the typed verdict"}


UNDOCUMENTED = {
    "adversarial": (
        "the critic agrees with all its points",
        "the critic says nothing of the case",
        "the critic gives a recipe, without",
        "the proposer rejects its own proposition",
        "all conclude the same",
    ),
    "panel": (
        "three answers, no passage, no yes or no",
        "one passage, three amounts",
        "one passage, the opposite",
        "the synthesis quotes what no document says",
    ),
    "stances": ("every argument is struck", "the verdict quotes what no document says"),
    "convergence": ("three amounts", "agreement on nothing"),
    "ballot": ("all vote without a ground", "votes for what is no option"),
}
"""Cases of `CASES` in which the documents are left out too."""
ALONE = {"noDocuments", "confidenceLow"}
"""The reasons for a person that every case without documents has, or may have."""
SILENT = (
    "every argument is struck",
    "agreement on nothing",
    "all vote without a ground",
    "the critic gives a recipe, without",
)
"""Of these, nothing else may be found without documents: no quotation is compared, and few words are the case's."""


@pytest.mark.parametrize(("form", "name"), [(form, name) for form, names in UNDOCUMENTED.items() for name in names])
async def test_nothing_empty_ends_high_or_without_a_person_without_documents(
    database: Database, form: str, name: str
) -> None:
    result = await read(database, form, CASES[form][name], documented=False)

    decision = result["decision"]
    assert decision["confidence"] != "HIGH"
    assert decision["humanReview"]["required"]
    assert "noDocuments" in decision["humanReview"]["reasons"]
    if "no document says" not in name and name not in SILENT:
        assert {*decision["humanReview"]["reasons"], *result["flags"]} - ALONE, decision
    if name in FALSE:
        assert not result["result"]["consensusReached"]


async def panelled(database: Database, changes: Mapping[str, Change]) -> JSON:
    """The result of the sample's panel."""
    return await read(database, "panel", changes)


@pytest.mark.parametrize("name", [*OPPOSED, *APART])
async def test_what_excludes_each_other_is_no_consensus_whatever_marks_accept(database: Database, name: str) -> None:
    change = APART[name] if name in APART else claiming(*OPPOSED[name], quote=CAP, **SAME)
    result = await panelled(database, panel(change))

    assert not result["result"]["consensusReached"]
    assert (result["decision"]["confidence"], result["decision"]["humanReview"]["required"]) == ("LOW", True)
    last = result["result"]["consensus"][-1]
    assert "claimsOpposed" in {veto["code"] for veto in last["vetoes"]}


@pytest.mark.parametrize("name", SYNTHESES)
async def test_a_synthesis_that_excludes_what_all_accept_is_for_a_person(database: Database, name: str) -> None:
    result = await panelled(database, SYNTHESES[name])

    assert result["result"]["consensusReached"]
    assert result["decision"]["confidence"] == "MODERATE"
    assert "synthesisOpposesClaims" in result.get("flags", [])
    assert "synthesisOpposesClaims" in result["decision"]["humanReview"]["reasons"]


@pytest.mark.parametrize("name", NEIGHBOURS)
async def test_claims_that_agree_or_are_of_other_matters_may_be_a_consensus(database: Database, name: str) -> None:
    result = await panelled(database, panel(claiming(*NEIGHBOURS[name], quote=CAP, **SAME)))

    assert result["result"]["consensusReached"], result["result"]["consensus"][-1]
    assert "synthesisOpposesClaims" not in result.get("flags", [])


@pytest.mark.parametrize("form", ["adversarial", "stances"])
async def test_an_honest_debate_may_end_high_and_without_a_person(database: Database, form: str) -> None:
    result = await read(database, form, {})

    assert (result["decision"]["confidence"], result["decision"]["humanReview"]["required"]) == ("HIGH", False)
