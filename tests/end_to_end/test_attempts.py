"""How a turn is asked again: pauses, repairs, deadlines, fallbacks, vendors that are left alone. On real PostgreSQL."""

import asyncio
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service.debate.entries import AttemptFailed, Entry, TurnAsked, TurnSilent, TurnSpoke
from service.policy import Calls, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts.request import Request
from service.running.provider_port import Answer, CallFailed
from tests.end_to_end.test_debates import outcome_of
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, CannedProvider, bench
from tests.fixtures.waiting import within

pytestmark = pytest.mark.replay


def a_policy(calls: Calls | None = None, **fallbacks: str) -> Policy:
    """The shipped policy with these fallbacks by seat, and no others."""
    shipped = read_policy(SHIPPED_POLICY)
    seats = {name: replace(seat, fallback=fallbacks.get(name)) for name, seat in shipped.seats.items()}
    return replace(shipped, seats=seats, calls=calls or shipped.calls)


class Failing(CannedProvider):
    """Fails calls to a model as it is told to, attempt by attempt, and answers when there is nothing left to fail."""

    def __init__(self, failures: Mapping[str, list[CallFailed]], pauses: Mapping[str, float] | None = None) -> None:
        super().__init__()
        self.failures = {model: list(fails) for model, fails in failures.items()}
        self.asked: list[tuple[str, str, float]] = []
        self.requests: list[Request] = []

    async def send(self, body: bytes) -> Answer:
        """The failure that is due for the model, or an answer."""
        request = msgspec.json.decode(body, type=Request)
        self.asked.append((request.seat, request.model, time.monotonic()))
        self.requests.append(request)
        self.begun.set()
        if due := self.failures.get(request.model):
            raise due.pop(0)
        return await super().send(body)


def models(entries: list[Entry], turn: str) -> list[str]:
    return [e.model for e in entries if isinstance(e, TurnAsked) and e.turn == turn]


def because(entries: list[Entry], turn: str = "1.critic.1") -> list[str | None]:
    return [e.because for e in entries if isinstance(e, TurnAsked) and e.turn == turn]


async def test_a_vendor_that_asks_to_be_left_alone_is_left_alone_for_that_long(database: Database) -> None:
    provider = Failing({"birch-large": [CallFailed("rateLimit", "429", billable=False, retry_after_s=0.3)]})
    async with bench(database.service_url, provider) as service:
        debate = await service.run()

        first, second = [at for seat, _, at in provider.asked if seat == "critic"]
        assert second - first >= 0.3
        (failed,) = [e for e in await service.entries(debate) if isinstance(e, AttemptFailed)]
        assert (failed.reason, failed.charge.amount, failed.charge.basis) == ("rateLimit", 0, "none")
        assert (await outcome_of(service, debate)).status == "completed"


async def test_pauses_are_drawn_in_the_upper_half_of_a_bound_that_doubles(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds: list[int] = []

    def draw(bound: int) -> int:
        bounds.append(bound - 1)
        return 0

    monkeypatch.setattr("service.running.backoff.secrets.randbelow", draw)
    overloaded = [CallFailed("overload", "529", billable=False) for _ in range(4)]
    policy = a_policy()
    policy = replace(policy, debate=replace(policy.debate, attempts_per_turn=5))
    calls = Calls(backoff_ms=200, backoff_max_ms=700)
    async with bench(database.service_url, Failing({"birch-large": overloaded}), policy=policy, calls=calls) as service:
        await service.run()

    assert bounds == [100, 200, 350, 350]


async def test_a_turn_that_has_no_reply_before_its_deadline_is_given_up_with_its_call_charged(
    database: Database,
) -> None:
    policy = a_policy(Calls(turn_deadline_s=1))
    async with bench(database.service_url, CannedProvider(latency_s=60.0), policy=policy) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        (failed,) = [e for e in entries if isinstance(e, AttemptFailed)]
        (silent,) = [e for e in entries if isinstance(e, TurnSilent)]
        assert (failed.reason, failed.charge.basis) == ("timeout", "reserved")
        assert "within 1 seconds" in silent.reason
        assert (await outcome_of(service, debate)).stop_reason == "seatSilent"


async def test_a_seat_s_fallback_is_asked_once_its_model_has_failed_for_good(database: Database) -> None:
    provider = Failing({"birch-large": [CallFailed("unknownModel", "404", retry=False, billable=False)]})
    async with bench(database.service_url, provider, policy=a_policy(critic="cedar-small")) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        assert models(entries, "1.critic.1") == ["birch-large", "cedar-small"]
        assert because(entries) == [None, "failed"]
        outcome = await outcome_of(service, debate)
        assert outcome.status == "completed"
        assert "fallbackModel" in outcome.flags


async def test_a_fallback_is_asked_once_its_model_has_failed_as_often_as_policy_allows(database: Database) -> None:
    provider = Failing({"birch-large": [CallFailed("overload", "529", billable=False) for _ in range(9)]})
    async with bench(database.service_url, provider, policy=a_policy(critic="cedar-small")) as service:
        debate = await service.run()

        assert models(await service.entries(debate), "1.critic.1") == ["birch-large"] * 3 + ["cedar-small"]


async def test_a_fallback_is_held_and_charged_at_its_own_price(database: Database) -> None:
    provider = Failing({"birch-large": [CallFailed("unknownModel", "404", retry=False, billable=False)]})
    async with bench(database.service_url, provider, policy=a_policy(critic="cedar-small")) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        dear, cheap = [e for e in entries if isinstance(e, TurnAsked) and e.turn == "1.critic.1"]
        (spoke,) = [e for e in entries if isinstance(e, TurnSpoke) and e.turn == "1.critic.1"]
        price = service.policy.models["cedar-small"].prices[-1]
        tokens = spoke.charge.input_tokens * price.input + spoke.charge.output_tokens * price.output
        assert cheap.held < dear.held
        assert spoke.charge.amount == -(-tokens // 1_000_000)


async def test_a_vendor_that_is_left_alone_for_long_is_passed_over_for_the_fallback(database: Database) -> None:
    class Paused(CannedProvider):
        def backoff_s(self, model: str) -> float:
            return 3_600.0

    policy = a_policy(critic="cedar-small")
    elsewhere = {**policy.models, "birch-large": replace(policy.models["birch-large"], provider="birches")}
    policy = replace(policy, models=elsewhere, providers={**policy.providers, "birches": policy.providers["offline"]})
    providers = {"offline": CannedProvider(), "birches": Paused()}
    async with bench(database.service_url, policy=policy, providers=providers) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        assert models(entries, "1.critic.1") == ["cedar-small"]
        assert because(entries) == ["paused"]


async def test_a_vendor_that_is_left_alone_is_not_called_until_the_turn_is_given_up(database: Database) -> None:
    class Paused(CannedProvider):
        def backoff_s(self, model: str) -> float:
            return 3_600.0

    provider = Paused()
    async with bench(database.service_url, provider, policy=a_policy(Calls(turn_deadline_s=1))) as service:
        debate = await service.run()

        assert not provider.calls
        assert (await outcome_of(service, debate)).stop_reason == "seatSilent"


async def test_an_abort_is_heard_while_nobody_can_be_asked(database: Database) -> None:
    provider = Failing({"cedar-small": [CallFailed("rateLimit", "429", billable=False, retry_after_s=200)]})
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim()
        run = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()
        await asyncio.sleep(0.2)
        await service.reviews.abort(debate, CALLER, "no longer wanted")

        outcome = await within(10, run)

        assert outcome is not None
        assert outcome.status == "aborted"


async def test_a_request_that_its_model_cannot_read_goes_to_the_fallback_that_can(database: Database) -> None:
    def longer(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "thesis": "It is so. " * 400} if seat == "proposer" else reply

    policy = a_policy(critic="alder-large")
    async with bench(database.service_url, policy=policy) as service:
        entries = await service.entries(await service.run())
    (usual,) = [e.input_tokens for e in entries if isinstance(e, TurnAsked) and e.turn == "1.critic.1"]
    narrow = replace(policy.models["birch-large"], context_window=usual + policy.seats["critic"].allowance)
    policy = replace(policy, models={**policy.models, "birch-large": narrow})
    async with bench(database.service_url, CannedProvider(longer), policy=policy) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        assert models(entries, "1.critic.1") == ["alder-large"]
        assert because(entries) == ["contextTooLong"]
        assert (await outcome_of(service, debate)).status == "completed"


@pytest.mark.parametrize("attempts", [1, 2, 3, 5])
async def test_a_model_is_told_what_was_wrong_with_its_reply_as_often_as_policy_allows(
    database: Database, attempts: int
) -> None:
    def say(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "challengeStrength": "strong"} if seat == "critic" else reply

    provider = Failing({})
    provider._say = say
    policy = a_policy()
    policy = replace(policy, debate=replace(policy.debate, attempts_per_turn=attempts))
    async with bench(database.service_url, provider, policy=policy) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        requests = [r for r in provider.requests if r.seat == "critic"]
        failed = [e for e in entries if isinstance(e, AttemptFailed)]
        assert ["repair" in r.messages[-1].pins for r in requests] == [n > 0 for n in range(attempts)]
        assert all("challengeStrength" in r.messages[2].content for r in requests[1:])
        assert failed[0].detail in msgspec.json.decode(f'"{failed[0].detail}"')
        assert failed[0].said is not None
        assert '"strong"' in failed[0].said
        counted = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        assert [e.reason for e in entries if isinstance(e, TurnSilent)] == [
            f"no usable reply in {counted}; the last ended as malformedReply"
        ]


async def test_a_seat_whose_model_fails_for_good_is_given_up_after_one_attempt(database: Database) -> None:
    provider = Failing({"birch-large": [CallFailed("refusedKey", "no", retry=False)]})
    async with bench(database.service_url, provider) as service:
        debate = await service.run()

        assert [e.reason for e in await service.entries(debate) if isinstance(e, TurnSilent)] == [
            "no usable reply in 1 attempt; the last ended as refusedKey"
        ]
        assert (await outcome_of(service, debate)).status == "failed"


async def test_a_fallback_is_not_told_of_a_fault_that_was_not_its_own(database: Database) -> None:
    broken = Answer("{", None)
    provider = Failing({"birch-large": [CallFailed("lengthLimit", "cut", answer=broken) for _ in range(3)]})
    async with bench(database.service_url, provider, policy=a_policy(critic="cedar-small")) as service:
        debate = await service.run()

        told = [(r.model, "repair" in r.messages[-1].pins) for r in provider.requests if r.seat == "critic"]
        assert told == [("birch-large", False), *[("birch-large", True)] * 2, ("cedar-small", False)]
        assert (await outcome_of(service, debate)).status == "completed"


async def test_a_model_that_gave_no_answer_in_time_is_not_asked_again_before_its_fallback(
    database: Database,
) -> None:
    provider = Failing({"birch-large": [CallFailed("timeout", "no answer") for _ in range(9)]})
    async with bench(database.service_url, provider, policy=a_policy(critic="cedar-small")) as service:
        entries = await service.entries(await service.run())

        assert models(entries, "1.critic.1") == ["birch-large", "cedar-small"]


async def test_a_seat_is_given_up_at_once_where_nobody_may_be_asked_before_its_deadline(database: Database) -> None:
    provider = Failing({"cedar-small": [CallFailed("rateLimit", "429", billable=False, retry_after_s=600)]})
    async with bench(database.service_url, provider) as service:
        entries = await service.entries(await service.run())

        (silent,) = [e for e in entries if isinstance(e, TurnSilent)]
        assert "every model is in backoff for 600 s" in silent.reason


async def test_the_bytes_that_went_out_can_be_told_by_their_hash(database: Database) -> None:
    bodies: list[bytes] = []

    class Keeping(CannedProvider):
        async def send(self, body: bytes) -> Answer:
            bodies.append(body)
            return await super().send(body)

    async with bench(database.service_url, Keeping()) as service:
        entries = await service.entries(await service.run())

        asked = [e for e in entries if isinstance(e, TurnAsked)]
        assert [e.wire_hash for e in asked] == [
            sha256(bytes.fromhex(e.request_salt) + body).hexdigest() for e, body in zip(asked, bodies, strict=True)
        ]
