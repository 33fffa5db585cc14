"""A screener over real HTTP: a guard that writes words, one that writes JSON, and vendors that lie or say nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from service import samples
from service.cli.audit.verify import tools
from service.policy.settings import SHIPPED_POLICY
from service.verify.bundle import verify_bundle
from service.verify.steps import Trust
from tests.fixtures.behaviours import UNTOLD, Say, Status
from tests.fixtures.postgres import Database
from tests.fixtures.serving import SIGNING_KEY, Served, a_case, served
from tests.fixtures.small_cases import CASES
from tests.fixtures.upstream import Upstream, upstream

TRUST = Trust(keys=(SIGNING_KEY.public,), allow_unwitnessed=True)
GUARD = """
[providers.guards]
kind = "openai-compatible"
base_url = "{url}/v1"
auth = "none"
structured = "text"
seat_role = "user"
max_tokens_field = "max_tokens"

[[models]]
alias = "guard"
provider = "guards"
name = "guard-8b-2026-01-01"
family = "guard"
tokenizer = "o200k_base"
safety = "2.0"
overhead_tokens = 100
context_window = 200000
prices = [{{ effective = "2026-01-01", source = "made up", input_usd = "0.20", cached_input_usd = "0.20", \
cache_write_usd = "0.20", output_usd = "0.20", reasoning_usd = "0.20" }}]

[seats.screener]
model = "guard"
allowance = 3000
"""
QUOTE = samples.load("contract").case["documents"][0]["text"][200:260]


FLOOD = json.dumps(
    {
        "suspicious": True,
        "passages": [{"field": "title", "name": "D1", "quote": "x", "family": "mindControl", "why": "-"}] * 10_000,
    }
)
"""More passages than a reply may have, of a family that does not exist, with words that stand nowhere."""


@dataclass(frozen=True)
class Screened:
    """A service whose policy seats a guard, and the guard's vendor."""

    guard: Upstream
    service: Served

    async def result(self, **changes: Any) -> dict[str, Any]:
        """The whole result of the sample contract in a format."""
        return await self.service.finished(a_case(**changes))


@asynccontextmanager
async def screened(database: Database, folder: Path, said: Any) -> AsyncIterator[Screened]:
    file = folder / "policy.toml"
    async with upstream(said) as guard:
        file.write_text(SHIPPED_POLICY.read_text("utf-8") + GUARD.format(url=guard.url), "utf-8")
        async with served(database.service_url, GAINSAY_POLICY=str(file)) as service:
            yield Screened(guard, service)


def typed(*passages: dict[str, Any], suspicious: bool = True) -> Say:
    return Say(json.dumps({"suspicious": suspicious, "passages": passages}))


def a_passage(quote: str, **changes: Any) -> dict[str, Any]:
    given = {"field": "document", "name": "D1", "quote": quote, "family": "verdict", "why": "It orders a verdict."}
    return {**given, **changes}


@pytest.mark.parametrize("format_", ["adversarial", "convergence"])
async def test_a_guard_s_word_suspects_the_case_and_the_record_verifies(
    database: Database, tmp_path: Path, format_: str
) -> None:
    async with screened(database, tmp_path, Say("unsafe\nS14")) as table:
        told = await table.result(**CASES[format_])
        bundle = await table.service.http.get(f"/v1/debates/{told['debateId']}/audit")
        events = await table.service.events(told["debateId"])
        accept = {"accept": "text/markdown"}
        report = await table.service.http.get(f"/v1/debates/{told['debateId']}/report", headers=accept)

    assert told["status"] == "completed"
    assert told["screening"]["suspicious"]
    assert "passages" not in told["screening"]
    assert "injectionSuspected" in told["flags"]
    assert "notScreened" not in told["flags"]
    assert told["decision"]["confidence"] == "LOW"
    (call,) = table.guard.calls
    assert "response_format" not in call.json
    assert table.guard.bills[0].seat == "screener"
    (attempt,) = [one for one in told["attempts"] if one["seat"] == "screener"]
    assert (attempt["turn"], attempt["model"], attempt["basis"]) == ("0.screener.1", "guard", "usage")
    assert Decimal(attempt["amountUSD"]) == Decimal(told["screening"]["chargedUSD"]) > 0
    names = [event.name for event in events]
    assert names.index("screening") < names.index("round" if "round" in names else "debate.response")
    assert "usageBelowFloor" not in told["flags"]
    assert "guard holds the case for suspicious" in report.text
    assert verify_bundle(bundle.content, TRUST, tools()).failed == ()


async def test_a_typed_reply_s_passages_stand_in_the_result_at_their_places(database: Database, tmp_path: Path) -> None:
    quoted = " ".join(QUOTE.split()).upper()
    passages = (a_passage(quoted), a_passage("no such words stand in it"), a_passage(QUOTE, name="D9"))
    async with screened(database, tmp_path, typed(*passages)) as table:
        told = await table.result()

    text = a_case()["documents"][0]["text"]
    (one,) = [s for s in told["suspicions"] if s.get("by") == "screener"]
    assert (one["field"], one["name"], one["family"]) == ("document", "D1", "verdict")
    assert text[slice(*one["span"])] == one["words"]
    assert one["words"].split() == QUOTE.split()
    assert told["screening"]["unlocated"] == 1
    assert [p["quote"] for p in told["screening"]["passages"]] == [p["quote"] for p in passages]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            Say(typed(*[a_passage("x" * 4, why="-", family="mindControl")] * 10_000).text, usage=UNTOLD),
            "malformedReply",
        ),
        (Status(400), "providerFault"),
    ],
)
async def test_a_vendor_that_says_nothing_usable_leaves_the_debate_to_the_rules_and_a_person(
    database: Database, tmp_path: Path, said: Any, reason: str
) -> None:
    async with screened(database, tmp_path, said) as table:
        told = await table.result()

    assert told["status"] == "completed"
    assert "screening" not in told
    assert "notScreened" in told["flags"]
    assert "notScreened" in told["decision"]["humanReview"]["reasons"]
    failed = [one for one in told["attempts"] if one["seat"] == "screener"]
    assert failed
    assert {one["outcome"] for one in failed} == {reason}


async def test_no_case_chooses_or_refuses_the_screener(database: Database, tmp_path: Path) -> None:
    async with screened(database, tmp_path, Say("safe")) as table:
        for alias in ("alder-large", "guard", "none"):
            case = a_case(options={"format": "adversarial", "models": {"screener": alias}})
            refused = await table.service.http.post("/v1/debates", json=case)
            assert refused.status_code == 422
            assert "policy alone seats the screener" in refused.text
        quote = (await table.service.http.post("/v1/quotes", json=a_case())).json()
        told = await table.result()

    assert not table.guard.calls[1:]
    assert told["screening"] | {"tokens": 0, "chargedUSD": ""} == {
        "turn": "0.screener.1",
        "model": "guard",
        "suspicious": False,
        "unlocated": 0,
        "tokens": 0,
        "chargedUSD": "",
    }
    assert "screener" in json.dumps(quote)
