"""How far a shared budget is overspent: one that is worth twenty calls, sixty tried, by 1, 10 and 50 at once.

Ours is a tenant's limit for the day, kept by PostgreSQL; each try is a debate that comes to one call. Beside it stands
what budgets of agent frameworks and gateways do: look at what is spent before a call, and count it after. It is written
out here in a few lines, because the frameworks are not installed with Gainsay. Both ask the same vendor, a process of
its own that uses its whole allowance every time and counts the calls.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import httpx
import uvloop
from msgspec.structs import replace

from service.app import connected
from service.debate.entries import TurnAsked
from service.identity.caller import Caller
from service.money import tokenizers
from service.policy import Budget, Budgets, Policy
from service.policy.settings import read_policy
from service.running.provider_port import Provider
from service.running.worker import Worker, WorkerConfig
from tests.end_to_end.vendors.policies import MICRO, OPEN, PRICES, cost
from tests.faults.books import ALLOWANCES, TOKENIZER, policy_of
from tests.faults.vendor import Vendor, vendor
from tests.fixtures.running import PROMPTLY, TEXT, Bench, a_request, bench

WORTH, TRIED, AT_ONCE = 20, 60, (1, 10, 50)
PROBE = "probe"
"""A tenant without a limit, whose one call says what a call takes."""
ALLOWANCE = {**ALLOWANCES, "framing": 6_000}
"""So long a reply that a call costs nearly what is held for it: what is held for its input is the smaller part."""

BODY = {
    "model": OPEN,
    "max_completion_tokens": ALLOWANCE["framing"],
    "messages": [
        {"role": "system", "content": "You weigh contracts."},
        {"role": "user", "content": f"Case 0: does this agreement leave us with uncapped liability?\n{TEXT}"},
        {"role": "system", "content": "Say what is in question."},
    ],
    "response_format": {"type": "json_schema", "json_schema": {"name": "framing", "schema": {"type": "object"}}},
}


class Spent:
    """What one try at a budget came to: calls that the vendor counted, and what it bills for them over the budget."""

    def __init__(self, calls: int, billed: int, limit: int) -> None:
        self.calls, self.share = calls, billed / limit

    def __str__(self) -> str:
        return f"{self.calls} calls = {self.calls / WORTH:.2f}x"


def overspend(url: str) -> list[tuple[int, Spent, Spent]]:
    """For each concurrency: ours, and that of a budget which is checked before and counted after."""
    unlimited = {"day_usd": "unlimited", "month_usd": "unlimited"}
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as folder, vendor("declining", latency_ms=50) as till:
        path = policy_of(Path(folder), till.url, unlimited, allowances=ALLOWANCE)
        os.environ["VENDOR_KEY"] = "sk-fake-0123456789abcdef"
        tokenizers.load([TOKENIZER])
        return uvloop.run(_all(url, read_policy(path), till))


async def _all(url: str, policy: Policy, till: Vendor) -> list[tuple[int, Spent, Spent]]:
    async with connected(policy) as providers:
        held = await _held(url, policy, providers)
        # The text of a case differs by its nonce, and so does what is held, by some tokens of some thousand.
        limit = held * WORTH * 1_005 // 1_000
        budgets = Budgets("UTC", Budget(day=limit), {PROBE: Budget()})
        async with bench(url, policy=replace(policy, budgets=budgets), providers=providers) as service:
            return [(n, await _ours(service, till, n, limit), await _counted_after(till, n)) for n in AT_ONCE]


async def _held(url: str, policy: Policy, providers: Mapping[str, Provider]) -> int:
    """What is held for a call."""
    async with bench(url, policy=policy, providers=providers) as service:
        (debate,) = await _run(service, providers, PROBE, tries=1, at_once=1)
        caller = Caller(tenant=PROBE)
        (asked,) = [e.entry for e in await service.reviews.lines(debate, caller) if isinstance(e.entry, TurnAsked)]
        return asked.held


async def _ours(service: Bench, till: Vendor, at_once: int, limit: int) -> Spent:
    before = len(till.bills())
    await _run(service, service.providers, f"tenant-{at_once}", tries=TRIED, at_once=at_once)
    bills = till.bills()[before:]
    return Spent(len(bills), sum(map(cost, bills)), limit)


async def _run(service: Bench, providers: Mapping[str, Provider], tenant: str, tries: int, at_once: int) -> list[str]:
    caller = Caller(tenant=tenant)
    config = WorkerConfig(name="bench", lease_s=60.0, limit=at_once, calls=PROMPTLY, budgets=service.policy.budgets)
    worker = Worker(service.database, service.hub, service.prompts, providers, config)
    request = a_request(question="Case 100: does this agreement leave us with uncapped liability?")
    debates = [(await service.reviews.submit(request, caller)).debate for _ in range(tries)]
    task = asyncio.create_task(worker.work())
    await asyncio.gather(*(service.reviews.wait(debate, caller, 120) for debate in debates))
    await worker.stop(10)
    await task
    return debates


async def _counted_after(till: Vendor, at_once: int) -> Spent:
    """The budget of others: looked at before each call, counted up after it."""
    async with httpx.AsyncClient(base_url=till.url, timeout=60, limits=httpx.Limits(max_connections=at_once)) as client:
        each = await _paid(client)
        before, spent, tries = len(till.bills()), 0, iter(range(TRIED))

        async def spend() -> None:
            nonlocal spent
            for _ in tries:
                if spent < each * WORTH:
                    paid = await _paid(client)
                    spent += paid

        await asyncio.gather(*(spend() for _ in range(at_once)))
        bills = till.bills()[before:]
        return Spent(len(bills), sum(map(cost, bills)), each * WORTH)


async def _paid(client: httpx.AsyncClient) -> int:
    """Make one call, and what it cost."""
    told = (await client.post("/v1/chat/completions", json=BODY)).json()["usage"]
    price = PRICES[OPEN]
    exact: int = told["prompt_tokens"] * price.input + told["completion_tokens"] * price.output
    return -(-exact // MICRO)
