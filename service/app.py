"""The composition root: the only module that names concrete adapters and joins them to ports."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex

from msgspec import Struct

from service import log_lines
from service.debate.wires import Wire, complete_wires
from service.delivering.dispatcher import Dispatcher
from service.delivering.endpoints import Endpoints, process_writer
from service.delivering.master_keys import open_master_keys
from service.errors import SettingsError, StoreUnavailable
from service.identity.authentication import Authenticator
from service.identity.certificates import files_with_certificates
from service.identity.management import Management
from service.identity.opening import identities_of, open_authenticator
from service.intake.configuration import Configuration, CurrentConfiguration
from service.policy import Policy, ProviderSetting, TimeStamps
from service.policy.file.tenants import prober
from service.policy.own_build import own_build
from service.policy.settings import Settings
from service.prompts import DIRECTORY, Prompts, verify_files
from service.providers.anthropic import Anthropic
from service.providers.openai_compatible import OpenAICompatible
from service.proving.row_check import RowCheck
from service.proving.self_check import SelfCheck
from service.proving.sequencer import Announce, Sequencer
from service.proving.signing.open import heads_dir, open_signer, signing_place
from service.proving.signing.time_stamps import TimeStampAuthority
from service.proving.signing.witnesses import Witnesses
from service.reviews import Reviews
from service.reviews.batch_feed import BatchFeeder
from service.reviews.evaluation_feed import EvaluationFeeder
from service.reviews.evaluation_follow import EvaluationFeeds
from service.reviews.evaluation_sets import GoldenShelf
from service.reviews.evaluations import EvaluationDesk
from service.reviews.evidence.reading_log import LAST_S, ReadingLog, recording
from service.reviews.on_disconnect import DisconnectWatch
from service.running.by_configuration import begin_metrics_of, own_writer, worker_config
from service.running.connections import Connections
from service.running.provider_port import Provider
from service.running.reload import ConfigurationWatch
from service.running.upkeep import upkeep
from service.running.worker import Worker, new_process_name
from service.store.baseline import Baselines
from service.store.checkpoints import CurrentCheckpoints
from service.store.current_log import CurrentLogs
from service.store.damage import open_damage
from service.store.ends import Ends, files_of_address
from service.store.evaluation_gauges import EvaluationGauges
from service.store.hub import EventHub
from service.store.last_probe import LastProbe
from service.store.log_lag import LogLag
from service.store.meters import Meter, measuring
from service.store.notifications import listening
from service.store.pool import Database
from service.store.pools import for_callers, prepared, store_deployments
from service.store.queue import Backlog
from service.store.schema.preflight import check_sequencer
from service.store.schema.wait_for_database import retry_until
from service.store.sequence import SequencerLeadership, Sequencing
from service.store.startup import DatabaseAddresses, migrations
from service.store.tenant_money import TenantMoney
from service.store.webhooks import DeliveryQueue

SEQUENCER_POOL = 4
"""Connections of a sequencer, beside the one that holds its lead; each commits one log at a time."""

AT_ONCE_S = 0.2
"""How long a readiness probe waits while the database is known to be away; the query makes the pool try again."""


class App(Struct, frozen=True):
    """One process with all its parts: its operations, its database, and its health.

    ``database`` has the service's own login, for the worker, the checks and what concerns all tenants. ``serving`` has
    the one that serves callers, in a process that has an address for it; elsewhere it is ``database``.
    """

    settings: Settings
    database: Database
    serving: Database
    reviews: Reviews
    worker: Worker
    hub: EventHub
    prompts: Prompts
    selfcheck: SelfCheck
    rowcheck: RowCheck
    addresses: DatabaseAddresses
    heads: CurrentCheckpoints
    logs: CurrentLogs
    leaving: DisconnectWatch
    authenticator: Authenticator
    readings: ReadingLog
    management: Management | None
    endpoints: Endpoints
    feeder: BatchFeeder
    evaluating: EvaluationFeeder
    evaluations: EvaluationDesk
    evaluation_feeds: EvaluationFeeds
    current: CurrentConfiguration
    connections: Connections

    @property
    def providers(self) -> Mapping[str, Provider]:
        """The providers in force; none in a process that asks no vendor."""
        return self.connections.providers

    async def ask_vendors(self) -> None:
        """Connect the providers, as a process must that runs debates; raises `SettingsError` for one that cannot be."""
        if not self.connections.begun:
            now = self.current.in_force
            providers = await self.connections.begin(now.providers)
            self.worker.go_by(worker_config(now, self.worker.name), providers)

    async def take(self, new: Configuration) -> None:
        """Put a new configuration in force: what begins from now on goes by it, and running debates end as they began.

        Raises `SettingsError` or `StoreUnavailable`, and then nothing has changed.
        """
        providers = await self.connections.prepare(new.providers)
        try:
            await store_deployments(self.database, new.every)
        except BaseException:
            await self.connections.discard(providers)
            raise
        begin_metrics_of(new)
        self.current.replace(new)
        running = self.worker.go_by(worker_config(new, self.worker.name), providers)
        self.connections.use(providers, new.providers, running)

    async def troubles(self) -> list[str]:
        """Why this process should get no work; empty when it is ready."""
        found = verify_files(DIRECTORY, self.settings.prompts_pin)
        try:
            async with asyncio.timeout(AT_ONCE_S if self.database.away or self.serving.away else None):
                rows = await self.database.query("alive")
                if self.serving is not self.database:
                    await self.serving.query("alive")
                found += ["the database is read-only"] if rows[0]["read_only"] else []
                incidents = await self.database.query("open_incidents")
                found += [f"the log {row['log']} contradicts its checkpoints: {row['what']}" for row in incidents]
                found += await self._damage()
        except StoreUnavailable as error:
            found.append(error.public_detail)
        except TimeoutError:
            found.append("the database does not answer")
        return found + self.worker.troubles

    async def _damage(self) -> list[str]:
        """Open damage that keeps this process from work: to a log, and to single debates where policy says so."""
        counted = ("log", "debate", "row") if self.settings.policy.audit.damage_unready else ("log",)
        found = await open_damage(self.database)
        return [
            f"evidence is damaged ({subject}): {found[subject]['place']} {found[subject]['what']}"
            for subject in counted
            if subject in found
        ]


def no_wait() -> float:
    """Seconds to wait for a database that should be there."""
    return 0.0


@asynccontextmanager
async def open_app(
    settings: Settings,
    at: str | DatabaseAddresses,
    *,
    pool: int = 8,
    left_s: Callable[[], float] = no_wait,
    asks: bool = True,
) -> AsyncIterator[App]:
    """Join all parts on a database that `addresses` or `database_url` has checked, and close them at the end.

    While there are seconds remaining, a database that goes away during the start is waited for. A process that runs no
    debate asks no vendor, and needs none of their keys; `App.ask_vendors` connects them later.
    """
    where = at if isinstance(at, DatabaseAddresses) else DatabaseAddresses(at, settings.sequencer_url, settings.api_url)
    first, identities = Configuration.of(settings, own_build()), identities_of(settings.identity)
    current, prompts, policy, hub = CurrentConfiguration(first), first.usual.prompts, settings.policy, EventHub()
    begin_metrics_of(first)
    deployment, build = current.deployment, first.usual.build_hash
    async with (
        connecting(first.providers if asks else None) as connections,
        prepared(where.service, first.every, pool, left_s) as database,
        for_callers(where, database, pool, left_s) as serving,
        open_authenticator(identities, serving) as authenticator,
    ):
        name = new_process_name()
        worker = Worker(database, hub, prompts, connections.providers, worker_config(first, name))
        logs = CurrentLogs(serving, settings.log_host)
        heads = CurrentCheckpoints(database)
        reviews = Reviews(serving, deployment, hub, logs, every_tenant=database, show=heads.served)
        writer = partial(own_writer, name, build)
        own_logs, every_s = CurrentLogs(database, settings.log_host), policy.audit.check_minutes * 60.0
        management = Management.of(identities, database, own_logs, build)
        endpoints = Endpoints(
            database,
            own_logs,
            process_writer(name, build),
            lambda tenant: deployment(tenant).policy.sending,
            open_master_keys(settings.webhook_key, settings.data_dir, os.environ, own=settings.database_url is None),
        )
        selfcheck = SelfCheck(database, own_logs, writer("selfcheck"), every_s)
        rowcheck = RowCheck(database, policy.audit.row_hours, build)
        leaving = DisconnectWatch(
            database, name, lambda debate, tenant, why: reviews.abort_as(debate, tenant, writer("worker"), why)
        )
        readings = ReadingLog(serving, logs, writer("server"))
        feeder = BatchFeeder(database, reviews, deployment, writer("worker"), settings.lease_s)
        shelf = GoldenShelf(settings.evaluation_sets)
        desk = EvaluationDesk(database, deployment, own_logs, shelf)
        evaluating = EvaluationFeeder(desk, reviews, writer("worker"), settings.lease_s)
        evaluations = EvaluationDesk(serving, deployment, logs, shelf)
        async with listening(where.service, hub), recording(readings), upkeep():
            try:
                parts = (settings, database, serving, reviews, worker, hub, prompts, selfcheck, rowcheck, where)
                given = (heads, logs, leaving, authenticator, readings, management, endpoints, feeder, evaluating)
                evaluated = (evaluations, EvaluationFeeds(evaluations))
                yield App(*parts, *given, *evaluated, current, connections)
            finally:
                await leaving.close()
                await heads.close()
                endpoints.close()


@asynccontextmanager
async def running_worker(app: App) -> AsyncIterator[Callable[[], None]]:
    """Run the app's worker during the block, and beside it feed batches and evaluations; at the end it finishes or
    releases its debates within the grace.

    The function that is yielded begins this before the end of the block; a second call cancels what still runs. Raises
    `SettingsError` for a provider that cannot be connected, as where its key is missing.
    """
    await app.ask_vendors()
    task = asyncio.create_task(app.worker.work(), name="worker")
    feeders = (app.feeder, app.evaluating)
    feeding = {asyncio.create_task(feeder.run(), name=type(feeder).__name__) for feeder in feeders}
    ending: list[asyncio.Task[None]] = []

    def end() -> None:
        grace_s = 0.0 if ending else app.settings.grace_s
        for feeder in feeders:
            feeder.stop()
        log_lines.WORKER_DRAINING(running=app.worker.running, grace_s=grace_s)
        ending.append(asyncio.create_task(app.worker.stop(grace_s), name="worker's end"))

    try:
        yield end
    finally:
        logged = bool(ending)  # another reason for the end has its own log line
        for feeder in feeders:
            feeder.stop()
        await asyncio.wait(feeding, timeout=LAST_S)
        for each in feeding:
            each.cancel()  # a case in hand is recorded or not, and is tried again elsewhere
        await asyncio.gather(*feeding, return_exceptions=True)
        await asyncio.gather(*(ending or [asyncio.create_task(app.worker.stop(app.settings.grace_s))]))
        with suppress(asyncio.CancelledError):
            await task
        if logged:
            log_lines.WORKER_STOPPED(handed_back=app.worker.released)


@asynccontextmanager
async def running_sequencer(
    app: App, announce: Announce = lambda _log, _size, _root: None, *, left_s: Callable[[], float] = no_wait
) -> AsyncIterator[Sequencer | None]:
    """Run the sequencer during the block; ``announce`` gets every head that is signed here.

    Yields ``None`` and runs nothing if no sequencer's address or no key is set: `gainsay sequence` then runs elsewhere.
    Raises `LogIncident` for a database that is behind the heads of its signer or of a witness, and the errors of the
    store and of the settings.
    """
    url, settings = app.addresses.sequencer, app.settings
    if url is None or (settings.signing_key is None and settings.database_url is not None):
        yield None
        return

    def signed(log: str, size: int, root: bytes) -> None:
        app.heads.announce(log, size, root)
        app.hub.checkpoint_signed()
        announce(log, size, root)

    async with sequencing_at(url, settings, signed, left_s=left_s) as sequencer:
        yield sequencer


@asynccontextmanager
async def sequencing_at(
    url: str,
    settings: Settings,
    announce: Announce = lambda _log, _size, _root: None,
    *,
    left_s: Callable[[], float] = no_wait,
) -> AsyncIterator[Sequencer]:
    """Run a sequencer alone on a database, in the sequencer's role and without the other parts of an app."""

    async def examined() -> tuple[Sequencer, AsyncExitStack]:
        await asyncio.to_thread(check_sequencer, url, migrations())
        async with AsyncExitStack() as stack:
            signer = open_signer(signing_place(settings), heads_dir(settings), os.environ)
            stack.push_async_callback(signer.close)
            audit = settings.policy.audit
            client = Witnesses() if audit.witnesses else None
            if client is not None:
                stack.push_async_callback(client.close)
            store = await stack.enter_async_context(Sequencing.open(url, size=SEQUENCER_POOL))
            lead = SequencerLeadership(url)
            sequencer = Sequencer(store, lead, signer, audit=audit, client=client, announce=announce)
            if isinstance(audit.timestamps, TimeStamps):
                authority = TimeStampAuthority(audit.timestamps)
                stack.push_async_callback(authority.close)
                sequencer.stamp_with(authority, audit.timestamps.every_s)
            await sequencer.examine()
            ends = Ends([store], files_of_address(store.variable, url))
            await stack.enter_async_context(measuring([ends]))
            return sequencer, stack.pop_all()

    sequencer, opened = await retry_until(examined, left_s)
    async with opened:
        task = asyncio.create_task(sequencer.run(), name="sequencer")
        try:
            yield sequencer
        finally:
            sequencer.stop()
            await task


@asynccontextmanager
async def running_lag_meter(app: App, *, proofs: bool = True) -> AsyncIterator[None]:
    """Measure what is shared during the block: the queue, money, what ends, probes, baselines. The log lag too, unless
    a sequencer here does; ``proofs`` says that none runs in this process.
    """
    settings, databases = app.settings, dict.fromkeys((app.database, app.serving))
    meters: list[Meter] = [
        Backlog(app.database),
        Baselines(app.database),
        EvaluationGauges(app.database, lambda tenant: app.current.deployment(tenant).policy.evaluations.held_looks),
        TenantMoney(app.database, lambda: app.current.in_force.budgets),
        Ends(list(databases), files_with_certificates(settings)),
        LastProbe(app.database, lambda: prober(app.current.in_force.settings.tenants)),
        *([LogLag(app.database, settings.policy.audit)] if proofs else []),
    ]
    async with measuring(meters):
        yield


@asynccontextmanager
async def running_self_check(app: App) -> AsyncIterator[None]:
    """Recompute the logs, and compare rows with records, from time to time during the block, in the background."""
    tasks = [
        asyncio.create_task(app.selfcheck.run(), name="selfcheck"),
        asyncio.create_task(app.rowcheck.run(), name="rowcheck"),
    ]
    try:
        yield
    finally:
        app.selfcheck.stop()
        app.rowcheck.stop()
        await asyncio.gather(*tasks)


@asynccontextmanager
async def watching_configuration(app: App) -> AsyncIterator[ConfigurationWatch]:
    """Take what changes in the files of the configuration during the block."""
    watch = ConfigurationWatch(app.current, app.take, app.settings.reload_s)
    task = asyncio.create_task(watch.run(), name="configuration")
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def running_deliveries(app: App) -> AsyncIterator[None]:
    """Send what webhooks are to be sent during the block; a process without their key sends nothing."""
    if app.endpoints.keys is None:
        yield
        return
    from service.delivering.sender import Sender  # its library for HTTP is large, and few commands send

    queue = DeliveryQueue(app.database, f"webhooks-{token_hex(6)}")
    dispatcher = Dispatcher(queue, app.hub, app.endpoints, app.endpoints.keys, Sender())
    task = asyncio.create_task(dispatcher.run(), name="webhooks")
    try:
        yield
    finally:
        dispatcher.stop()
        await task


@asynccontextmanager
async def connected(policy: Policy) -> AsyncIterator[Mapping[str, Provider]]:
    """The providers that the policy names; raises `SettingsError` for one that cannot be made."""
    async with connecting(policy.providers) as connections:
        yield connections.providers


@asynccontextmanager
async def connecting(settings: Mapping[str, ProviderSetting] | None) -> AsyncIterator[Connections]:
    """The providers of these settings, or none yet, and what may put others in their place; raises as `connected`."""
    connections = Connections(lambda name, setting: _CONNECT[setting.kind](name, setting))
    if settings is not None:
        await connections.begin(settings)
    try:
        yield connections
    finally:
        await connections.close()


def _offline(_: str, setting: ProviderSetting) -> Provider:
    from service.simulated import OfflineProvider, faulty_models  # a tenth of the start; no production policy names it

    return OfflineProvider(setting.latency_ms / 1_000, faulty_models(setting.faults, os.environ))


def _scripted(name: str, setting: ProviderSetting) -> Provider:
    if setting.script is None:
        raise SettingsError(f"expected providers.{name}.script, because the provider is scripted, found none; name it")
    from service.simulated import scripted

    return scripted.ScriptedProvider(scripted.load(Path(setting.script)), setting.latency_ms / 1_000)


_CONNECT: Mapping[Wire, Callable[[str, ProviderSetting], Provider]] = complete_wires(
    {
        "offline": _offline,
        "scripted": _scripted,
        "openai-compatible": lambda name, setting: OpenAICompatible.connect(name, setting, os.environ),
        "anthropic": lambda name, setting: Anthropic.connect(name, setting, os.environ),
    },
    "app",
    __file__,
)
"""The adapter of each wire."""
