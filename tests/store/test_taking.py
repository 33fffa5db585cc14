"""A new configuration is in force as a whole, with its providers connected and its texts stored, or it is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.app import App, open_app, running_lag_meter
from service.errors import StoreUnavailable
from service.policy.file.snapshot import FileSnapshot
from service.running import reload
from service.running.reload import ConfigurationWatch
from service.store import contents
from service.store.last_probe import LastProbe
from service.store.tenant_money import TenantMoney
from service.web.api import make_api
from service.web.server import _site
from tests.fixtures.policies import WRITTEN, changed, policy_file, vendors
from tests.fixtures.postgres import Database
from tests.fixtures.serving import a_case, settings_for


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def settled() -> None:
        pass

    monkeypatch.setattr(reload, "settled", settled)


async def stored(app: App) -> bool:
    """Whether the policy and the configuration that are in force can be handed out from the database."""
    now = app.current.in_force
    wanted = {now.hash, now.usual.policy.gate.hash}
    return wanted == set(await contents.read(app.database, wanted))


async def test_a_vendor_without_its_key_keeps_the_old_one_until_the_key_is_there(
    database: Database, tmp_path: Path
) -> None:
    path = policy_file(tmp_path, **WRITTEN)
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(path))
    async with open_app(settings, database.service_url, pool=2) as app:
        watch, before = ConfigurationWatch(app.current, app.take, 0), app.current.in_force
        whole: dict[str, Any] = vendors()
        for name in ("openai", "anthropic"):
            whole["providers"][name]["key"] = f"file:{tmp_path}/key"
        policy_file(tmp_path, **whole)

        await watch.look()
        assert app.current.in_force is before

        (tmp_path / "key").write_text("a-key-of-a-vendor")
        (tmp_path / "key").chmod(0o600)
        await watch.look()
        assert {"openai", "anthropic"} < set(app.current.in_force.usual.policy.providers)
        assert await stored(app)


async def test_what_cannot_be_stored_is_not_in_force_and_what_was_connected_for_it_is_closed(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = policy_file(tmp_path, **WRITTEN)
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(path))
    async with open_app(settings, database.service_url, pool=2) as app:
        before, providers = app.current.in_force, app.providers
        changed_one = next(iter(WRITTEN["providers"]))
        policy_file(tmp_path, **changed("providers", changed_one, "latency_ms", to=7))
        new = before.read_again(FileSnapshot())
        made = await app.connections.prepare(new.providers)
        closed: list[object] = []

        async def away(*_: object) -> None:
            raise StoreUnavailable("the database is away")

        async def closing() -> None:
            closed.append(made)

        monkeypatch.setattr(contents, "store_deployment", away)
        monkeypatch.setattr(type(made[changed_one]), "close", lambda _self: closing())
        with pytest.raises(StoreUnavailable):
            await app.take(new)
        assert (app.current.in_force, app.reviews.deployment.policy) == (before, before.settings.policy)
        assert len(closed) == 1, "the one that is new, and none of those in force"
        monkeypatch.undo()
        assert dict(app.providers) == dict(providers)

        await app.take(new)
        assert app.reviews.deployment.policy == new.settings.policy
        assert await stored(app)


async def test_a_request_that_is_still_arriving_is_answered_by_the_configuration_that_it_began_with(
    database: Database, tmp_path: Path
) -> None:
    path, body = policy_file(tmp_path, **WRITTEN), json.dumps(a_case()).encode()
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(path))
    async with open_app(settings, database.service_url, pool=2) as app:
        policy_file(tmp_path, **changed("policy", "version", to="another"))
        before, new, site = app.current.in_force, app.current.in_force.read_again(FileSnapshot()), _site(app)

        async def meanwhile() -> AsyncIterator[bytes]:
            yield body[:10]
            await app.take(new)
            yield body[10:]

        api = make_api(site)

        async def here(scope: Any, receive: Any, send: Any) -> None:
            scope["state"] = {}  # as uvicorn has it
            await api(scope, receive, send)

        async with httpx.AsyncClient(transport=httpx.ASGITransport(here), base_url="http://localhost") as http:
            headers = {"content-type": "application/json"}
            first = await http.post("/v1/quotes", content=meanwhile(), headers=headers)
            then = await http.post("/v1/quotes", content=body, headers=headers)
        await site.rates.close()

    versions = [answer.json()["policyVersion"] for answer in (first, then)]
    assert versions == [before.settings.policy.version, "another"]


async def test_a_provider_that_changes_is_closed_after_the_debates_that_run(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, changed_one = policy_file(tmp_path, **WRITTEN), next(iter(WRITTEN["providers"]))
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(path))
    async with open_app(settings, database.service_url, pool=2) as app:
        closed, over = asyncio.Event(), asyncio.Event()

        async def close(_self: object) -> None:
            closed.set()

        monkeypatch.setattr(type(app.providers[changed_one]), "close", close)
        debate = asyncio.create_task(over.wait())
        app.worker._running[debate] = None  # type: ignore[index, assignment]
        policy_file(tmp_path, **changed("providers", changed_one, "latency_ms", to=7))
        await app.take(app.current.in_force.read_again(FileSnapshot()))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not closed.is_set()

        del app.worker._running[debate]  # type: ignore[arg-type]
        over.set()
        await closed.wait()


async def test_what_measures_money_goes_by_the_limits_in_force(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, meters = policy_file(tmp_path, **WRITTEN), list[TenantMoney]()
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(path))

    async def measure(meter: TenantMoney) -> None:
        meters.append(meter)
        await asyncio.Event().wait()

    monkeypatch.setattr(TenantMoney, "run", measure)
    async with open_app(settings, database.service_url, pool=2) as app:
        policy_file(tmp_path, **{**WRITTEN, "tenants": {"acme": {"day_usd": "5.00", "month_usd": "50.00"}}})
        new = app.current.in_force.read_again(FileSnapshot())
        async with running_lag_meter(app):
            await app.take(new)

    (meter,) = meters
    assert meter._budgets() == new.budgets != app.settings.policy.budgets


async def test_what_measures_the_last_probe_goes_by_the_prober_in_force(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prober that policy names while the process runs is measured, and one that it names no more is not."""
    path, meters, asked = policy_file(tmp_path, **WRITTEN), list[LastProbe](), list[str]()
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(path))
    named = {"canary": {"purpose": "probe", "day_usd": "unlimited", "month_usd": "unlimited"}}

    async def measure(meter: LastProbe) -> None:
        meters.append(meter)
        await asyncio.Event().wait()

    async def look(_: LastProbe, tenant: str) -> None:
        asked.append(tenant)
        raise asyncio.CancelledError

    run = LastProbe.run
    monkeypatch.setattr(LastProbe, "run", measure)
    monkeypatch.setattr(LastProbe, "look", look)
    async with open_app(settings, database.service_url, pool=2) as app, running_lag_meter(app):
        before = app.current.in_force
        await asyncio.sleep(0)
        (meter,) = meters
        assert meter._tenant() is None

        policy_file(tmp_path, **{**WRITTEN, "tenants": named})
        await app.take(before.read_again(FileSnapshot()))
        assert meter._tenant() == "canary"
        with pytest.raises(asyncio.CancelledError):
            await run(meter)

        policy_file(tmp_path, **WRITTEN)
        await app.take(before.read_again(FileSnapshot()))
        assert meter._tenant() is None
    assert asked == ["canary"]
