"""Providers outlive a change that leaves them alone, and debates that still ask a former one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service import telemetry
from service.errors import SettingsError
from service.policy import ProviderSetting
from service.running.connections import Connections


class Vendor:
    """A provider that knows whether it was closed."""

    def __init__(self, name: str, setting: ProviderSetting) -> None:
        self.name, self.setting, self.closed, self.circuit_open = name, setting, 0, False

    async def close(self) -> None:
        self.closed += 1


def setting(latency_ms: int = 0) -> ProviderSetting:
    return ProviderSetting("offline", latency_ms=latency_ms)


@pytest.fixture
def made() -> list[Vendor]:
    return []


@pytest.fixture
def connections(made: list[Vendor]) -> Connections:
    def connect(name: str, found: ProviderSetting) -> Any:
        if found.latency_ms == 666:
            raise SettingsError("no key is there")
        made.append(Vendor(name, found))
        return made[-1]

    return Connections(connect)


async def test_what_does_not_change_stays_and_the_rest_is_closed_after_the_debates_that_ask_it(
    connections: Connections, made: list[Vendor]
) -> None:
    first = {"kept": setting(), "changed": setting(), "dropped": setting()}
    await connections.begin(first)
    kept, changed, dropped = made
    over = asyncio.Event()
    debate = asyncio.create_task(over.wait())
    second = {"kept": setting(), "changed": setting(5), "added": setting()}
    found = await connections.prepare(second)
    connections.use(found, second, [debate])  # type: ignore[list-item]
    await asyncio.sleep(0)

    assert id(found["kept"]) == id(kept)
    assert [vendor.name for vendor in made[3:]] == ["changed", "added"]
    assert (kept.closed, changed.closed, dropped.closed) == (0, 0, 0), "a debate may still ask them"
    over.set()
    await debate
    await connections.close()
    assert [vendor.closed for vendor in made] == [1] * 5


async def test_where_one_cannot_be_made_none_is_left_open_and_those_in_force_stay(
    connections: Connections, made: list[Vendor]
) -> None:
    first = {"kept": setting()}
    await connections.begin(first)

    with pytest.raises(SettingsError):
        await connections.prepare({"kept": setting(), "new": setting(), "wrong": setting(666)})

    assert [(vendor.name, vendor.closed) for vendor in made] == [("kept", 0), ("new", 1)]


async def test_what_is_prepared_and_not_used_is_closed(connections: Connections, made: list[Vendor]) -> None:
    first = {"kept": setting()}
    await connections.begin(first)

    await connections.discard(await connections.prepare({"kept": setting(), "new": setting()}))

    assert [(vendor.name, vendor.closed) for vendor in made] == [("kept", 0), ("new", 1)]


async def test_before_it_begins_nothing_is_connected_whatever_a_policy_names(
    connections: Connections, made: list[Vendor]
) -> None:
    """A process that runs no debate takes a changed policy too, and has no vendor's key."""
    unkeyed = {"kept": setting(), "wrong": setting(666)}
    connections.use(await connections.prepare(unkeyed), unkeyed)
    assert (dict(connections.providers), made, connections.begun) == ({}, [], False)

    with pytest.raises(SettingsError):
        await connections.begin(unkeyed)
    assert (dict(connections.providers), connections.begun) == ({}, False)

    first = {"kept": setting()}
    assert await connections.begin(first) == connections.providers
    assert await connections.prepare(first) == connections.providers
    assert [(vendor.name, vendor.closed) for vendor in made] == [("kept", 1), ("kept", 0)]
    await connections.close()


async def test_a_metric_has_the_providers_in_force(connections: Connections) -> None:
    def shown() -> dict[str, float]:
        return {
            sample.labels["provider"]: sample.value
            for family in telemetry.DOWN.metric.collect()
            for sample in family.samples
            if sample.labels["provider"].startswith("v-")
        }

    first, second = {"v-one": setting(), "v-two": setting()}, {"v-two": setting(9)}
    await connections.begin(first)
    assert shown() == {"v-one": 0, "v-two": 0}

    found = await connections.prepare(second)
    connections.use(found, second)
    found["v-two"].circuit_open = True  # type: ignore[misc]

    assert shown() == {"v-two": 1}
    await connections.close()
