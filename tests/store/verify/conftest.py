"""Debates that were really run, once for all tests of this folder and all processes of one run of pytest."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pickle
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service import samples
from service.identity.caller import Caller
from service.intake import Deployment
from service.intake.request import CaseRequest
from service.policy import Budget, Budgets, Policy, decode_policy, encode_policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts.request import Request
from service.running.provider_port import Answer, CallFailed
from service.simulated import OfflineProvider
from tests.fixtures.bundles import Draft
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, Say, a_request, bench

DAY = "2026-11-21"
SAMPLES = tuple((name, variant) for name in samples.names() for variant in (None, *samples.variants(name)))


def a_policy() -> Policy:
    """The shipped policy without limits for tenants, with the hash that it then has."""
    return _hashed(replace(read_policy(SHIPPED_POLICY), budgets=Budgets()))


@pytest.fixture(scope="session")
def drafts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Draft]:
    """The debates by name: each sample, and canned ones that end in other ways. The first process plays them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of the run, for all its processes
    with (folder / "drafts.pickle").open("a+b") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        kept.seek(0)
        if not (found := kept.read()):
            cluster: Cluster = request.getfixturevalue("cluster")
            template: Database = request.getfixturevalue("template")
            with cluster.lend(template.name) as database:
                found = pickle.dumps(asyncio.run(_run(database)))
            kept.write(found)
    drafts: Mapping[str, Draft] = pickle.loads(found)
    return drafts


async def _run(database: Database) -> dict[str, Draft]:
    policy, found = a_policy(), dict[str, str]()
    async with bench(database.service_url, OfflineProvider(), policy=policy) as service:
        deployment = Deployment(service.prompts, policy, DAY, "00" * 32)
        for name, variant in SAMPLES:
            case = msgspec.convert(samples.load(name, variant).case, CaseRequest)
            found[f"{name}-{variant}" if variant else name] = await _debated(service, case)
        panel = msgspec.convert(samples.load("contract", "panel").case, CaseRequest)
        found["typed"] = await _debated(service, replace(panel, options=replace(panel.options, question_type=None)))
    canned: dict[str, tuple[CannedProvider, dict[str, Any]]] = {
        "plain": (CannedProvider(), {}),
        "retried": (CannedProvider(fails={"critic": 1, "moderator": 1}), {}),
        "truncated": (
            CannedProvider(_again),
            {"options": {"format": "adversarial", "maxRounds": 3}, "costCeilingUSD": "0.155"},
        ),
        "failed": (CannedProvider(fails={"rebuttal": 99}), {}),
        "fabricated": (CannedProvider(_fabricating), {}),
        "selfNaming": (CannedProvider(_self_naming), {}),
        "forced": (CannedProvider(), {"taskType": "other", "force": {"debate": True, "reason": "The board asks."}}),
        "repaired": (CannedProvider(_malformed_at_first()), {}),
        "declined": (CannedProvider(), {"taskType": "other", "estimatedDownside": 10}),
    }
    for name, (provider, changes) in canned.items():
        async with bench(database.service_url, provider, policy=policy) as service:
            found[name] = await (service.submit(**changes) if name == "declined" else service.run(**changes))
    async with bench(database.service_url, policy=policy) as service:
        found["aborted"] = await service.submit()
        assert await service.claim() == found["aborted"]
        await service.reviews.abort(found["aborted"], CALLER, "the caller asked for it")
        await (await service.runner(found["aborted"])).run()
    drafts = {name: Draft.read(database, debate, deployment) for name, debate in found.items()}
    others = {"limited": (CannedProvider(_again), _limited(policy)), "fallback": (_Refusing(), _with_fallback(policy))}
    for name, (provider, other) in others.items():
        async with bench(database.service_url, provider, policy=other) as service:
            debate = await _debated(
                service, a_request(options={"format": "adversarial", "maxRounds": 3}), Caller(tenant=name)
            )
            drafts[name] = Draft.read(database, debate, Deployment(service.prompts, other, DAY, "00" * 32))
    return drafts


async def _debated(service: Bench, request: CaseRequest, caller: Caller = CALLER) -> str:
    debate = (await service.reviews.submit(request, caller)).debate
    assert await service.claim() == debate
    await (await service.runner(debate)).run()
    return debate


def _self_naming(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
    """Every seat names its model in its thesis or synthesis, first as the catalogue has it and then as another."""
    text = "synthesis" if seat == "moderator" else "thesis"
    return {**reply, text: f"As alder-large, I hold: {reply[text]} I am GPT-4o by OpenAI."}


class _Refusing(CannedProvider):
    """The critic's own model is not there; whoever else is asked answers."""

    async def send(self, body: bytes) -> Answer:
        request = msgspec.json.decode(body, type=Request)
        if request.seat == "critic" and request.model == "birch-large":
            raise CallFailed("unknownModel", "no such model", retry=False, billable=False)
        return await super().send(body)


def _hashed(policy: Policy) -> Policy:
    """The policy with the hash that it has as it is."""
    return decode_policy(encode_policy(policy))


def _limited(policy: Policy) -> Policy:
    """So little a day that the money ends before the debate does."""
    return _hashed(replace(policy, budgets=Budgets(others=Budget(day=156_000))))


def _with_fallback(policy: Policy) -> Policy:
    """A fallback for the critic."""
    seats = {**policy.seats, "critic": replace(policy.seats["critic"], fallback="birch-small")}
    return _hashed(replace(policy, seats=seats))


def _malformed_at_first() -> Say:
    told: list[str] = []

    def say(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        told.append(seat)
        return {"words": "I would rather not."} if seat == "critic" and told.count("critic") == 1 else reply

    return say


def _again(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
    return {**reply, "recommendAnotherRound": True} if seat == "moderator" else reply


def _fabricating(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
    if seat == "rebuttal":
        reply["rebuttals"][0]["citations"][0]["quote"] = "The Supplier shall never be liable for anything at all"
    return reply
