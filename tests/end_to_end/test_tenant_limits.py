"""A tenant's limits over HTTP: refused at the door, truncated when the money ends, and the books agree afterwards."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

from service.debate.entries import BudgetRefused, TurnSpoke
from service.debate.turns import seat_of
from service.identity.caller import Caller
from service.policy.settings import SHIPPED_POLICY
from service.store import spend
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.serving import a_case, a_declined_case, served


def policy_with(folder: Path, day_usd: str, month_usd: str = "1000.00") -> str:
    """The shipped policy with these limits for everybody."""
    text = SHIPPED_POLICY.read_text("utf-8")
    for key, amount in (("day_usd", day_usd), ("month_usd", month_usd)):
        text, count = re.subn(rf'(?m)^{key} = ".*"$', f'{key} = "{amount}"', text)
        assert count == 1, key
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return str(path)


async def test_a_case_above_the_tenant_s_limit_is_a_problem_that_says_what_is_left_until_when(
    database: Database, tmp_path: Path
) -> None:
    async with served(database.service_url, GAINSAY_POLICY=policy_with(tmp_path, "0.001")) as site:
        refused = await site.http.post("/v1/debates", json=a_case())

        problem = refused.json()
        assert refused.status_code == 402
        assert refused.headers["content-type"] == "application/problem+json"
        told = {name: problem[name] for name in ("code", "limit", "leftUSD")}
        assert told == {"code": "budget_exhausted", "limit": "tenantDay", "leftUSD": "0.001"}
        left_s = (datetime.fromisoformat(problem["ends"]) - datetime.now(UTC)).total_seconds()
        assert 0 <= int(refused.headers["retry-after"]) - left_s < 30
        assert (await site.http.get("/v1/debates")).json()["debates"] == []
        assert (await site.submit(a_declined_case()))["status"] == "declined"


async def test_debates_that_use_a_limit_up_end_moderated_or_unasked_and_the_books_agree(
    database: Database, tmp_path: Path
) -> None:
    """Six at once where the money is for some of them."""
    async with served(database.service_url, GAINSAY_POLICY=policy_with(tmp_path, "1.20"), work=False) as door:
        debates = [(await door.submit())["debateId"] for _ in range(6)]
    async with served(database.service_url, GAINSAY_POLICY=policy_with(tmp_path, "0.30")) as site:
        results = await asyncio.gather(*(site.app.reviews.wait(d, Caller(), 60) for d in debates))
        assert all(results)
        told = [(await site.http.get(f"/v1/debates/{debate}?view=full")).json() for debate in debates]
        heads = [await read_head(site.app.database, debate, "default") for debate in debates]
        lines = [await site.app.reviews.lines(debate, Caller()) for debate in debates]
        balance = await spend.balance(site.app.database)

    assert balance.exact, balance
    (day, _) = balance.periods
    assert (day.ceiling, day.open, day.drawn) == (300_000, 0, sum(head["spent"] for head in heads))
    assert {head["held"] for head in heads} == {0}
    statuses = [result["status"] for result in told]
    assert "truncated" in statuses, statuses
    assert set(statuses) <= {"completed", "truncated"}, statuses  # how many complete is a matter of who draws first
    for result, recorded in zip(told, lines, strict=True):
        spoken = {seat_of(line.entry.turn) for line in recorded if isinstance(line.entry, TurnSpoke)}
        refused = [line.entry.limit for line in recorded if isinstance(line.entry, BudgetRefused)]
        if result["status"] == "truncated":
            assert (result["stopReason"], refused[0]) == ("budget", "tenantDay")
            assert spoken <= {"framing"} or "moderator" in spoken, "what was argued is weighed"
        else:
            assert not refused
