"""The configuration of a process: its policies with prompts and approvals, as one object that is swapped as a whole.

A process that stays may read its files again while it runs (`service.running.reload`). What it finds is another
`Configuration`. `CurrentConfiguration` is the one place where it takes the place of the one before, and a request sees
one of the two from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from service.errors import SettingsError
from service.intake import Deployment
from service.intake.deployments import approved, deploy, deploy_tenants, today
from service.policy import Budgets, ProviderSetting
from service.policy.file.reading import Reader, read_file
from service.policy.file.tenants import all_budgets, all_providers
from service.policy.settings import Settings

LASTING = ("audit", "approval")
"""The tables that a process has from its start to its end: who may approve, and what sequencers and checks go by."""


class Configuration(Struct, frozen=True):
    """The service's deployment and those of the tenants that its policy names, with the settings they come from."""

    settings: Settings
    usual: Deployment
    named: Mapping[str, Deployment]

    @classmethod
    def of(cls, settings: Settings, build: str, *, reader: Reader = Path.read_bytes) -> Configuration:
        """What a process runs that starts with these settings.

        Raises `PromptMismatch` or `SettingsError`, also where a required approval is missing.
        """
        usual = approved(deploy(settings, build), settings, reader=reader)
        return cls(settings, usual, deploy_tenants(settings, usual, reader=reader))

    def read_again(self, reader: Reader) -> Configuration:
        """What the same files say now, under the environment, the prompts and the build of this one.

        Raises `SettingsError` for files that a start would refuse, and for a change that takes a restart.
        """
        file = read_file(self.settings.policy_path, day=today(), reader=reader)
        for table in LASTING:
            if getattr(file.policy, table) != getattr(self.settings.policy, table):
                raise SettingsError(
                    f"{self.settings.policy_path} has another table [{table}], which takes effect at a restart alone; "
                    "restart this process, or write the table as it was"
                )
        settings = replace(self.settings, policy=file.policy, tenants=file.tenants)
        usual = approved(deploy(settings, self.usual.build_hash, self.usual.prompts), settings, reader=reader)
        return Configuration(settings, usual, deploy_tenants(settings, usual, reader=reader))

    def deployment(self, tenant: str) -> Deployment:
        """The deployment of a tenant, with today's prices."""
        return replace(self.named.get(tenant, self.usual), day=today())

    @property
    def every(self) -> tuple[Deployment, ...]:
        """The service's, and then each named tenant's."""
        return (self.usual, *self.named.values())

    @property
    def providers(self) -> dict[str, ProviderSetting]:
        """The providers of all policies together."""
        return all_providers(self.settings.policy, self.settings.tenants)

    @property
    def budgets(self) -> Budgets:
        """The limits of all tenants."""
        return all_budgets(self.settings.policy, self.settings.tenants)

    @property
    def hash(self) -> str:
        """The hash of the service's configuration, which its records name and an approval is of, hex."""
        return sha256(self.usual.configuration).hexdigest()

    @property
    def tenants_hash(self) -> str:
        """One hash over those of all named tenants, hex; empty where policy names none."""
        rows = [f"{name} {sha256(own.configuration).hexdigest()}\n" for name, own in sorted(self.named.items())]
        return sha256("".join(rows).encode()).hexdigest() if rows else ""

    def same(self, other: Configuration) -> bool:
        """Whether nothing would change: the same policies, approvals and prober."""
        return self.settings == other.settings and self._undated() == other._undated()

    def _undated(self) -> tuple[Mapping[str, Deployment], Deployment]:
        return {name: replace(own, day="") for name, own in self.named.items()}, replace(self.usual, day="")


class CurrentConfiguration:
    """The configuration that is in force in this process. It is set in the event loop's thread alone."""

    def __init__(self, first: Configuration) -> None:
        self._now = first
        self._seen: ContextVar[Configuration | None] = ContextVar("configuration", default=None)

    @property
    def now(self) -> Configuration:
        """The one that is in force, or inside `seen_as_one` the one that was in force at its beginning."""
        return self._seen.get() or self._now

    @property
    def in_force(self) -> Configuration:
        """The one that is in force, also inside `seen_as_one`."""
        return self._now

    def replace(self, new: Configuration) -> None:
        """From now on this one is in force."""
        self._now = new

    def deployment(self, tenant: str) -> Deployment:
        """The deployment of a tenant, with today's prices."""
        return self.now.deployment(tenant)

    @contextmanager
    def seen_as_one(self) -> Iterator[None]:
        """What is done in the block sees one configuration, whatever becomes of it meanwhile."""
        token = self._seen.set(self._now)
        try:
            yield
        finally:
            self._seen.reset(token)
