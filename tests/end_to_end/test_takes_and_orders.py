"""Deciders that are asked twice: what a later reply changes is never HIGH without a person, and every report says it.

Each case is a shipped sample, of which one or more replies are changed on the way. The samples are in
`test_no_empty_challenge`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from rich.console import Console

from service import samples
from service.cli.display.page import show
from service.debate.kernel import replay
from service.intake.request import CaseRequest
from service.prompts.request import Request
from service.report import Result, build_result, html, markdown
from tests.end_to_end.test_no_empty_challenge import CAP, INVENTED, Change, Doctored, answering, before, by_seat, saying
from tests.fixtures.postgres import Database
from tests.fixtures.results import decided
from tests.fixtures.running import CALLER, bench

pytestmark = pytest.mark.replay

JSON = dict[str, Any]
STAKES = 90_000_000
"""An estimated downside above which policy has a decider asked in both orders."""


def in_turn(*changes: Change) -> Change:
    """The first reply of a kind changed by the first change, and so on; the last change is for all others."""
    asked: list[Request] = []

    def change(reply: JSON, request: Request) -> JSON:
        asked.append(request)
        return changes[min(len(asked), len(changes)) - 1](reply, request)

    return change


def both(*changes: Change) -> Change:
    def change(reply: JSON, request: Request) -> JSON:
        for one in changes:
            reply = one(reply, request)
        return reply

    return change


def same(reply: JSON, _: Request) -> JSON:
    return reply


async def debated(
    database: Database, form: str, changes: Mapping[str, Change], stakes: int = 0, **options: Any
) -> Result:
    """The result of a sample's debate, after the kernel has replayed it."""
    body: JSON = {**samples.load("contract", None if form == "adversarial" else form).case}
    given = {"format": form, **body.get("options", {}), **options}
    body |= {"options": {name: value for name, value in given.items() if value is not None}}
    body |= {"estimatedDownside": stakes} if stakes else {}
    async with bench(database.service_url, Doctored(changes)) as service:
        request = msgspec.json.decode(msgspec.json.encode(body), type=CaseRequest)
        debate = (await service.reviews.submit(request, CALLER)).debate
        assert await service.claim() == debate
        await (await service.runner(debate)).run()
        lines = await service.reviews.lines(debate, CALLER)
        replay(await service.case(debate), [line.entry for line in lines])
        return build_result(debate, lines)


def told(result: Result) -> tuple[str, str, str]:
    """The result as Markdown, as HTML and on the terminal."""
    out = io.StringIO()
    show(Console(file=out, width=600), result)
    return markdown(result), html(result), out.getvalue()


def capped(result: Result, *reasons: str) -> bool:
    required = decided(result).human_review.required
    return required and set(reasons) <= {cap.reason for cap in result.caps}


def closers_level(result: Result) -> str | None:
    """The level that the closing seat gave, whichever it is."""
    return result.moderator_confidence_level or result.closing_confidence_level


Case = tuple[str, str, Callable[[], Change], str, str]
TAKES: Mapping[str, Case] = {
    "the conclusion": (
        "adversarial",
        "moderator",
        lambda: in_turn(both(before("synthesis"), saying(conclusion="upheld")), saying(conclusion="rejected")),
        "conclusion",
        "secondTakeDiffers",
    ),
    "whether a further round is due": (
        "adversarial",
        "moderator",
        lambda: in_turn(
            both(before("synthesis"), saying(recommendAnotherRound=True, unresolvedPoints=["Who bears the fine?"])),
            saying(recommendAnotherRound=False),
        ),
        "recommendAnotherRound",
        "secondTakeDiffers",
    ),
    "who argued better": (
        "adversarial",
        "moderator",
        lambda: in_turn(both(before("synthesis"), scored(9, 3, 5)), scored(3, 9, 5)),
        "scores",
        "secondTakeDiffers",
    ),
    "the conclusion of a reply that could not be used": (
        "adversarial",
        "moderator",
        lambda: in_turn(saying(conclusion="rejected", explicitUncertainties=[]), saying(conclusion="upheld")),
        "conclusion",
        "secondTakeDiffers",
    ),
    "the winner": (
        "stances",
        "stances.judge",
        lambda: in_turn(before("verdict"), saying(winner="Something else")),
        "winner",
        "secondTakeDiffers",
    ),
    "that there is a winner at all": (
        "stances",
        "stances.judge",
        lambda: in_turn(both(before("verdict"), saying(winner=None)), same),
        "winner",
        "secondTakeDiffers",
    ),
    "the winner of a verdict that could not be used": (
        "stances",
        "stances.judge",
        lambda: in_turn(saying(winner="Something else", explicitUncertainties=[]), same),
        "winner",
        "secondTakeDiffers",
    ),
    "the final answer": (
        "convergence",
        "convergence.judge",
        lambda: in_turn(before("justification"), saying(finalAnswer="Liability is unlimited.")),
        "finalAnswer",
        "secondTakeDiffers",
    ),
}


def scored(*scores: int) -> Change:
    """Scores of the labels in their order."""

    def change(reply: JSON, _: Request) -> JSON:
        given = sorted(reply["scores"], key=lambda one: str(one["label"]))
        return {**reply, "scores": [{**one, "score": n} for one, n in zip(given, scores, strict=True)]}

    return change


@pytest.mark.parametrize("name", TAKES)
async def test_a_second_take_that_decides_otherwise_is_never_high_and_every_report_says_so(
    database: Database, name: str
) -> None:
    form, kind, change, member, flag = TAKES[name]

    result = await debated(database, form, {kind: change()})

    assert flag in result.flags
    assert decided(result).confidence == "MODERATE"
    assert capped(result, flag)
    (pair,) = result.differing
    assert member in {one.member for one in pair.members}
    for page in told(result):
        assert pair.sentence in " ".join(page.split())


LESS_SURE = {
    "adversarial": ("moderator", "synthesis"),
    "stances": ("stances.judge", "reasoning"),
    "panel": ("panel.synthesizer", "answer"),
    "convergence": ("convergence.judge", "justification"),
}


@pytest.mark.parametrize("form", LESS_SURE)
async def test_the_lower_level_of_two_takes_counts(database: Database, form: str) -> None:
    kind, member = LESS_SURE[form]
    low = both(before(member), saying(confidenceLevel="LOW"))

    result = await debated(database, form, {kind: in_turn(low, same)})

    assert closers_level(result) == "HIGH"
    assert decided(result).confidence == "LOW"
    assert capped(result, "firstTakeLessSure")
    assert "secondTakeDiffers" not in result.flags
    for page in told(result):
        assert result.differing[0].sentence in " ".join(page.split())


@pytest.mark.parametrize("form", LESS_SURE)
async def test_the_level_of_a_reply_that_could_not_be_used_counts_where_it_is_lower(
    database: Database, form: str
) -> None:
    unusable = saying(confidenceLevel="LOW", explicitUncertainties=[])

    result = await debated(database, form, {LESS_SURE[form][0]: in_turn(unusable, same)})

    assert (closers_level(result), decided(result).confidence) == ("HIGH", "LOW")
    assert capped(result, "firstTakeLessSure")
    assert [(pair.why, pair.attempt) for pair in result.differing] == [("repair", 1)]


@pytest.mark.parametrize("form", LESS_SURE)
async def test_a_repair_that_only_mends_the_reply_changes_nothing(database: Database, form: str) -> None:
    plain = await debated(database, form, {})

    result = await debated(database, form, {LESS_SURE[form][0]: in_turn(saying(explicitUncertainties=[]), same)})

    assert any(notice.notice == "repairAsked" for notice in result.notices)
    assert result.differing == ()
    assert (result.flags, result.caps) == (plain.flags, plain.caps)


@pytest.mark.parametrize("form", LESS_SURE)
async def test_a_second_take_that_only_drops_the_invention_changes_nothing(database: Database, form: str) -> None:
    kind, member = LESS_SURE[form]
    plain = await debated(database, form, {})

    result = await debated(database, form, {kind: in_turn(before(member), same)})

    assert result.differing == ()
    assert (result.flags, result.caps) == (plain.flags, plain.caps)
    assert decided(result).confidence == decided(plain).confidence


@pytest.mark.parametrize(
    ("form", "kind"),
    [("adversarial", "moderator"), ("stances", "stances.judge"), ("convergence", "convergence.judge")],
)
async def test_the_lower_level_of_two_orders_counts(database: Database, form: str, kind: str) -> None:
    result = await debated(database, form, {kind: in_turn(same, saying(confidenceLevel="LOW"))}, STAKES)

    assert "orderSensitive" not in result.flags
    assert decided(result).confidence == "LOW"
    assert capped(result, "otherOrderLessSure")
    for page in told(result):
        assert result.differing[0].sentence in " ".join(page.split())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (scored(9, 3, 5), scored(3, 9, 5)),
        (saying(), saying(recommendAnotherRound=True, unresolvedPoints=["Who bears the fine?"])),
    ],
)
async def test_orders_with_one_conclusion_that_differ_otherwise_are_for_a_person(
    database: Database, first: Change, second: Change
) -> None:
    result = await debated(database, "adversarial", {"moderator": in_turn(first, second)}, STAKES)

    assert "orderSensitive" not in result.flags
    assert "ordersDiffer" in result.flags
    assert decided(result).confidence == "MODERATE"
    assert capped(result, "ordersDiffer")


async def test_two_verdicts_that_combine_stances_were_not_compared(database: Database) -> None:
    verdicts = in_turn(
        saying(winner=None, verdict="Sign, with conditions."), saying(winner=None, verdict="Do not sign at all.")
    )

    result = await debated(database, "stances", {"stances.judge": verdicts}, STAKES)

    assert "orderNotCompared" in result.flags
    assert decided(result).confidence == "MODERATE"
    assert capped(result, "orderNotCompared")


async def test_one_winner_in_both_orders_says_that_the_words_of_the_verdicts_were_not_compared(
    database: Database,
) -> None:
    verdicts = in_turn(same, before("verdict", "This is the reverse of what I think. "))

    result = await debated(database, "stances", {"stances.judge": verdicts}, STAKES)

    for page in told(result):
        assert "code does not compare their words" in " ".join(page.split())


@pytest.mark.parametrize("form", ["adversarial", "stances"])
async def test_an_honest_debate_in_both_orders_may_end_high_and_without_a_person(database: Database, form: str) -> None:
    result = await debated(database, form, {}, STAKES)

    assert (decided(result).confidence, result.differing) == ("HIGH", ())
    assert not decided(result).human_review.required


# Convergence: rulings that no debater argued, and answers that no debater challenged.

IT_IS_SO = answering("It is so.", quote=CAP)


GENERIC = ("Closer analysis supports this view entirely.", "Nothing suggests a different reading would persuade.")


def generic(text: str) -> Change:
    argument = {"n": 1, "text": text, "citations": [], "basis": "reasoning"}
    return saying(finalAnswer="It is so.", arguments=[argument])


def wordless(reply: JSON, _: Request) -> JSON:
    argument = {"n": 1, "text": "It is so.", "citations": [], "basis": "reasoning"}
    return {**reply, "finalAnswer": "It is so.", "arguments": [argument]}


COME_ROUND = "agreement after the exchange alone"
RULINGS: Mapping[str, tuple[Mapping[str, Change], JSON, tuple[str, ...]]] = {
    "against all votes": (
        {
            "convergence.debater": answering("The liability is limited.", quote=CAP),
            "convergence.judge": saying(finalAnswer="The liability is unlimited.", justification="All said so."),
        },
        {},
        ("rulingUnargued", "decidedBlind"),
    ),
    "an answer of no debater": (
        {"convergence.judge": saying(finalAnswer="Forty-two.", justification="It is so.")},
        {},
        ("rulingUnargued",),
    ),
    "an answer whose every argument is struck": (
        {
            "convergence.debater": answering("Limited.", quote=INVENTED),
            "convergence.judge": saying(finalAnswer="Limited."),
        },
        {},
        ("rulingUnargued",),
    ),
    "empty answers that are the same": ({"convergence.debater": IT_IS_SO}, {}, ("decidedBlind",)),
    "empty answers that are the same, by a vote": (
        {"convergence.debater": IT_IS_SO},
        {"judge": False, "judgeInstructions": None},
        ("decidedBlind",),
    ),
    "one debater cites, and the others say what fits every case": (
        {"convergence.debater": by_seat(answering("It is so.", quote=CAP), *map(generic, GENERIC))},
        {},
        ("decidedBlind",),
    ),
    "one debater argues, and the others say that it is so": (
        {"convergence.debater": by_seat(answering("It is so.", quote=CAP), wordless, wordless)},
        {},
        ("decidedBlind",),
    ),
    COME_ROUND: ({}, {"judge": False, "judgeInstructions": None}, ("agreedOnlyAfterExchange",)),
}


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("name", RULINGS)
async def test_no_unargued_ruling_or_unchallenged_answer_is_high(database: Database, name: str, checked: bool) -> None:
    changes, options, caps = RULINGS[name]
    if name == COME_ROUND:
        apart = answering("Limited.", "Unlimited.", quote=CAP)
        changes = {"convergence.debater": in_turn(apart, apart, apart, IT_IS_SO)}

    result = await debated(database, "convergence", changes, convergenceCheck=checked, **options)

    assert decided(result).confidence != "HIGH"
    assert capped(result, *caps)
    assert set(caps) <= set(result.flags)


@pytest.mark.parametrize("checked", [True, False])
async def test_a_ruling_for_what_a_debater_holds_to_the_end_is_argued(database: Database, checked: bool) -> None:
    held = answering("Limited.", "Unlimited.", "Limited.", quote=CAP)

    result = await debated(
        database,
        "convergence",
        {"convergence.debater": held, "convergence.judge": saying(finalAnswer="unlimited")},
        convergenceCheck=checked,
    )

    assert "rulingUnargued" not in result.flags


async def test_answers_with_grounds_of_their_own_that_the_exchange_leaves_standing_are_high(
    database: Database,
) -> None:
    """Every debater drafts the same answer apart from the others, and code finds their arguments unlike."""
    quotes = (CAP, "Neither party is liable to the other for loss of profits, loss of goodwill")

    def change(reply: JSON, request: Request) -> JSON:
        n = int(request.seat.rpartition("-")[2])
        texts = (
            "The ceiling binds claims for breach.",
            "Lost earnings stay out.",
            "Nothing else widens exposure here.",
        )
        argument = {"n": 1, "text": texts[n - 1], "citations": [{"quote": quotes[n % 2]}], "basis": "evidence"}
        return {**reply, "finalAnswer": "Limited.", "arguments": [argument]}

    result = await debated(
        database, "convergence", {"convergence.debater": change, "convergence.judge": saying(finalAnswer="Limited.")}
    )

    assert json.loads(msgspec.json.encode(result.result)).get("convergedIn") is None
    assert (result.flags, decided(result).confidence) == ((), "HIGH")
    assert not decided(result).human_review.required
