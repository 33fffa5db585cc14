"""Debates that were really run, once for all tests of this folder."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from service import samples
from service.intake import Deployment
from service.intake.request import CaseRequest
from service.policy import Budgets, decode_policy, encode_policy
from service.providers.offline import OfflineProvider
from service.settings import SHIPPED_POLICY, read_policy
from tests.bundles import Draft
from tests.postgres import Cluster, Database
from tests.running import CALLER, Bench, CannedProvider, bench

DAY = "2026-11-21"


def a_policy() -> Any:
    """The shipped policy without limits for tenants, with the hash that it then has."""
    return decode_policy(encode_policy(msgspec.structs.replace(read_policy(SHIPPED_POLICY), budgets=Budgets())))


@pytest.fixture(scope="session")
def drafts(cluster: Cluster, template: Database) -> Mapping[str, Draft]:
    """The debates by name: each sample, and canned ones that end in other ways."""
    with cluster.lend(template.name) as database:
        return asyncio.run(_run(database))


async def _run(database: Database) -> dict[str, Draft]:
    policy, found = a_policy(), dict[str, str]()
    async with bench(database.service_url, OfflineProvider(), policy=policy) as service:
        deployment = Deployment(service.prompts, policy, DAY, "00" * 32)
        for name in samples.names():
            found[name] = await _debated(service, msgspec.convert(samples.load(name).case, CaseRequest))
    canned: dict[str, tuple[CannedProvider, dict[str, Any]]] = {
        "plain": (CannedProvider(), {}),
        "retried": (CannedProvider(fails={"critic": 1, "moderator": 1}), {}),
        "truncated": (CannedProvider(_again), {"options": {"maxRounds": 3}, "costCeilingUSD": "0.1215"}),
        "failed": (CannedProvider(fails={"rebuttal": 99}), {}),
        "fabricated": (CannedProvider(_fabricating), {}),
        "declined": (CannedProvider(), {"taskType": "other", "estimatedDownside": 10}),
    }
    for name, (provider, changes) in canned.items():
        async with bench(database.service_url, provider, policy=policy) as service:
            found[name] = await (service.submit(**changes) if name == "declined" else service.run(**changes))
    return {name: Draft.read(database, debate, deployment) for name, debate in found.items()}


async def _debated(service: Bench, request: CaseRequest) -> str:
    debate = (await service.reviews.submit(request, CALLER)).debate
    assert await service.claim() == debate
    await (await service.runner(debate)).run()
    return debate


def _again(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
    return {**reply, "recommendAnotherRound": True} if seat == "moderator" else reply


def _fabricating(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
    if seat == "rebuttal":
        reply["rebuttals"][0]["citations"][0]["quote"] = "The Supplier shall never be liable for anything at all"
    return reply
