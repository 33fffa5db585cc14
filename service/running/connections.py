"""The providers of a process: connected once, kept where a new configuration has them unchanged.

A provider that stays keeps its connections and the state of its circuit. One that a new configuration has otherwise, or
no more, is still asked by the debates that began with it, and closed after these.

A process that runs no debate asks no vendor. It connects none, and so needs none of their keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial

from service import telemetry
from service.policy import ProviderSetting
from service.running.provider_port import Provider

Connect = Callable[[str, ProviderSetting], Provider]
"""Makes the adapter of a provider; raises `SettingsError` for one that cannot be made."""


class Connections:
    """The providers in force, and former ones that debates still ask. There are none before `begin`."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._begun = False
        self._settings: Mapping[str, ProviderSetting] = {}
        self._providers: Mapping[str, Provider] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def begun(self) -> bool:
        """Whether this process asks vendors."""
        return self._begun

    @property
    def providers(self) -> Mapping[str, Provider]:
        """Those in force."""
        return self._providers

    async def begin(self, settings: Mapping[str, ProviderSetting]) -> Mapping[str, Provider]:
        """Connect a provider for each setting: from now on this process asks vendors. Raises as `prepare`."""
        found = await self._made(settings)
        self._begun = True
        self.use(found, settings)
        return found

    async def prepare(self, settings: Mapping[str, ProviderSetting]) -> Mapping[str, Provider]:
        """A provider for each setting: the one that there is where nothing of it changes, else a new one.

        None for a process that asks no vendor. Raises `SettingsError` where one cannot be made, and none is open then
        that was not open before.
        """
        return await self._made(settings) if self._begun else {}

    async def _made(self, settings: Mapping[str, ProviderSetting]) -> Mapping[str, Provider]:
        found: dict[str, Provider] = {}
        try:
            for name, setting in settings.items():
                kept = self._settings.get(name) == setting
                found[name] = self._providers[name] if kept else self._connect(name, setting)
        except BaseException:
            await self.discard(found)
            raise
        return found

    async def discard(self, prepared: Mapping[str, Provider]) -> None:
        """Close the new ones of what `prepare` returned: it is not used."""
        for name, provider in prepared.items():
            if self._providers.get(name) is not provider:
                await provider.close()

    def use(
        self,
        prepared: Mapping[str, Provider],
        settings: Mapping[str, ProviderSetting],
        running: Collection[asyncio.Task[None]] = (),
    ) -> None:
        """What `prepare` returned for these settings is in force; others are closed after ``running``."""
        former = {name: provider for name, provider in self._providers.items() if prepared.get(name) is not provider}
        self._settings, self._providers = {name: settings[name] for name in prepared}, prepared
        for name in former.keys() - prepared.keys():
            telemetry.DOWN.drop(provider=name)
        for name, provider in prepared.items():
            telemetry.DOWN.labels(provider=name).set_function(partial(_is_down, provider))
        if former:
            task = asyncio.create_task(_close_after(running, former.values()), name="former providers")
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        """Close all of them, after the debates that still ask former ones."""
        await asyncio.gather(*self._leaving)
        for provider in self._providers.values():
            await provider.close()


async def _close_after(running: Collection[asyncio.Task[None]], providers: Collection[Provider]) -> None:
    if running:
        await asyncio.wait(running)
    for provider in providers:
        await provider.close()


def _is_down(provider: Provider) -> float:
    return float(provider.circuit_open)
