"""Bounds by bytes give what exact counts give: a case is refused where the count says so, and costs what it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from service import money
from service.debate.amounts import usd
from service.debate.entries import DebateStarted
from service.debate.model import SeatPlan
from service.errors import CeilingTooSmall, TooLarge
from service.intake import Prepared, expected_cost, fix
from service.intake.expected_cost import affordable, at_most, fits_models, tokens_of
from service.money import Usage, tokenizers
from service.policy import seating
from service.prompts.request import Message, Request
from tests.unit.intake.test_intake import POLICY, PROMPTS, a_case
from tests.unit.intake.test_quote import checked

tokenizers.load(money.TOKENIZERS)
SEED = "ab" * 32
HARD = st.sampled_from(["", "]]\n[[", "\U0001f4b8" * 20, " " * 90])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=200) | HARD
MESSAGES = st.lists(st.tuples(st.sampled_from(["house", "data", "seat"]), TEXTS), max_size=6)


def begun(**changes: Any) -> tuple[Prepared, DebateStarted]:
    prepared, deployment = checked(a_case(**changes))
    return prepared, fix(prepared, deployment, SEED)


def counted_by_words(plan: SeatPlan) -> SeatPlan:
    return replace(plan, tokenizer="o200k_base", fallback=None)


@given(MESSAGES, st.sampled_from(money.TOKENIZERS))
def test_no_request_has_more_tokens_than_its_bound(messages: list[tuple[Any, str]], tokenizer: str) -> None:
    made = tuple(Message(role, text, () if role == "data" else (role,)) for role, text in messages)
    request = Request("critic", "m", "m", made, "critic", {"type": "object"}, 100)
    known: money.Known = {}
    for _ in range(2):
        assert tokens_of(request, tokenizer) <= at_most(request, tokenizer, known)


def test_a_text_that_is_not_pinned_counts_by_its_bytes_whatever_its_role() -> None:
    pinned = Message("seat", "You are the critic.", ("critic",))
    said = Message("seat", "What the cap of Gammaburg is.")
    known: money.Known = {}

    one, both = (
        at_most(Request("critic", "m", "m", messages, "critic", {}, 100), "o200k_base", known)
        for messages in ((pinned,), (pinned, said))
    )

    assert both - one == len(said.content) + money.count(("",), "o200k_base") - money.count((), "o200k_base")
    assert pinned.content in {text for _, text in known}
    assert said.content not in {text for _, text in known}


def test_the_counts_that_outlive_a_case_hold_pinned_texts_alone() -> None:
    document = "The cap of Gammaburg is 4 % of all fees. "
    prepared, started = begun(documents=[{"text": document}], question=f"{document}?")

    affordable(
        prepared.case, prepared.sources, replace(started, seats=tuple(map(counted_by_words, started.seats))), PROMPTS
    )

    texts = {text for _, text in PROMPTS.made.counts}
    assert {PROMPTS.text("house")} <= texts
    assert not [text for text in texts if "Gammaburg" in text]


@pytest.mark.parametrize("length", [1, 40, 400, 4_000])
def test_the_ceiling_that_is_refused_is_the_one_that_the_count_does_not_reach(length: int) -> None:
    prepared, started = begun(documents=[{"text": "The cap is 4 % of all fees. " * length}])
    exact = fits_models(prepared.case, prepared.sources, started, PROMPTS)
    least = expected_cost.needed(prepared.case, started, exact, PROMPTS)
    for ceiling in (least, least + 1, 2 * least, 20 * least):
        affordable(prepared.case, prepared.sources, replace(started, ceiling=ceiling), PROMPTS)
    with pytest.raises(CeilingTooSmall, match=usd(least)):
        affordable(prepared.case, prepared.sources, replace(started, ceiling=least - 1), PROMPTS)


@pytest.mark.parametrize("round_", [1, 2])
def test_the_window_that_is_too_small_is_the_one_that_the_count_does_not_fit(round_: int) -> None:
    documents = [
        {"text": "The cap is 4 % of all fees. " * (2_000 if n == round_ else 1), "round": n}
        for n in range(1, round_ + 1)
    ]
    prepared, started = begun(documents=documents, options={"format": "adversarial", "maxRounds": 3})
    whole = expected_cost.counted(prepared.case, prepared.sources, started, PROMPTS, round_)

    def started_with(spare: int) -> DebateStarted:
        """The proposer's model has a window of just what its whole request and reply take, and so much more."""

        def narrowed(plan: SeatPlan) -> SeatPlan:
            taken = money.tokens_at_most(whole[plan.seat][plan.tokenizer], plan) + plan.allowance
            more = spare if plan.seat == "proposer" else 10**6
            return replace(plan, context_window=taken + more, fallback=None)

        return replace(started, seats=tuple(map(narrowed, started.seats)), ceiling=10**12)

    affordable(prepared.case, prepared.sources, started_with(0), PROMPTS)
    with pytest.raises(TooLarge, match=str(whole["proposer"][started.seat("proposer").tokenizer])):
        affordable(prepared.case, prepared.sources, started_with(-1), PROMPTS)


@given(st.lists(TEXTS, max_size=3), st.integers(1, 300))
@example(["\U0001f4b8" * 20], 30)
def test_a_seat_is_expected_to_read_what_its_documents_count(texts: list[str], usual: int) -> None:
    _, started = begun()
    under = replace(POLICY, debate=replace(POLICY.debate, expected_input_tokens=usual))
    table = seating.choose_table(started.options)
    seats = tuple(map(counted_by_words, started.seats))
    found = expected_cost.expected_by_seat(seats, table, under, texts)
    for plan in seats:
        given_ = sum(money.count_tokens(text, plan.tokenizer) for text in texts)
        usage = Usage(max(usual, given_), plan.allowance * under.debate.expected_output_per_mille // 1_000)
        assert found[plan.seat] == money.cost(usage, plan.price) * table.usual[plan.seat]
