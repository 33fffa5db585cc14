"""The start of every command that runs something: complete tables, settings, and a log on standard error."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from service.cli import log_export
from service.cli.interruptions import ENDS, forget
from service.cli.logs import log_from
from service.cli.meanwhile import meanwhile, uncollected
from service.cli.memory_guard import close_memory
from service.errors import SettingsError, StoreUnavailable
from service.identity.caller import Caller
from service.observing import stacks, tracing
from service.policy.settings import (
    EVALUATION_SETS,
    LogFormat,
    Settings,
    read_level,
    read_log_format,
    read_settings,
    refuse_unknown,
)

if TYPE_CHECKING:
    from service.app import App

LOCAL = Caller(kind="person", via="keyboard")
"""The caller at the keyboard: the operator of this machine."""
TABLES = (
    "service.app",
    "service.cli.display.outcome",
    "service.cli.format_options",
    "service.debate.kernel",
    "service.evaluation.scoring.answers",
    "service.intake.expected_cost",
    "service.intake.formats",
    "service.money.usage",
    "service.policy.formats",
    "service.policy.wires",
    "service.prompts.render",
    "service.report.events.formats",
    "service.report.formats",
    "service.report.result.decision",
    "service.report.result.dissenters",
    "service.reviews.evaluation_cases",
    "service.running.checker",
    "service.running.versions",
    "service.verify.asked",
    "service.verify.checks",
    "service.verify.gate",
    "service.verify.versions",
    "service.web.formats",
)
"""Every module with a table over a closed list (`service.debate.closed_lists`). It checks the table at its import."""


def start(*, quiet: bool, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings, with the log set up: a ``quiet`` command logs warnings alone unless GAINSAY_LOG_LEVEL says more.

    Every table is checked first: a process may need a layer only to report or verify a debate, which is paid by then.
    Raises `IncompleteFormat`, `IncompleteWire` or `IncompleteTable` for a table that lacks a row.
    """
    close_memory()
    if not quiet:
        log_of_process(environment)
    check_tables()
    settings = read_settings(environment)
    if quiet:
        level = settings.log_level if "GAINSAY_LOG_LEVEL" in environment else "WARNING"
        log_from(level, settings.log_format or "text", traces=level == "DEBUG")
    return settings


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a process that serves, with the log set up; `large_parts` checks the tables."""
    close_memory()
    log_of_process(environment)
    return read_settings(environment)


def expect_sets(settings: Settings) -> None:
    """Raise `SettingsError` with every fault of the golden sets that the settings name."""
    if not settings.evaluation_sets:
        return
    from service.reviews.evaluation_sets import unfit_sets

    if faults := unfit_sets(settings.evaluation_sets, datetime.now(UTC).date()):
        raise SettingsError("\n  ".join([f"{EVALUATION_SETS}, faults of golden sets: {len(faults)}", *faults]))


def log_of_process(environment: Mapping[str, str]) -> None:
    """Set up the log of a process that stays: as text at a terminal, otherwise as JSON, unless GAINSAY_LOG_FORMAT says.

    It comes before all other settings, so that what is wrong with them is a line of this log too. From then on SIGUSR1
    has the stacks of the process logged, and SIGHUP does nothing away from a terminal until `watching`: the files are
    about to be read anyway, and a process that reads none again, such as a signer, goes on. Raises `SettingsError`.
    """
    if hears_hangup():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    form: LogFormat = "text" if sys.stderr.isatty() else "json"
    log_from("INFO", form, traces=True)
    log_from("INFO", form := read_log_format(environment) or form, traces=True)
    log_from(read_level(environment), form, traces=True)
    _send_observed(environment)
    stacks.listen()


def _send_observed(environment: Mapping[str, str]) -> None:
    """Send spans, and lines of the log, where OpenTelemetry's variables name a collector.

    What waits is sent when the process ends.
    """
    if not any(name.startswith("OTEL_") for name in environment):
        return
    from service import telemetry  # with what it imports it is slow, and quick commands start here too

    def count(result: str, spans: int) -> None:
        telemetry.SPANS.labels(result=result).inc(spans)

    command = click.get_current_context(silent=True)
    name = f"gainsay-{command.info_name if command else 'process'}"
    logging.getLogger("opentelemetry.exporter").setLevel("ERROR")  # or each of its tries would be a line of this log
    ends = tracing.begin(environment, name, count), log_export.begin(environment, name)

    def end() -> None:
        """End both at the same time: a collector that is away holds the end of a process once."""
        ending = [threading.Thread(target=each, daemon=True) for each in ends]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join()

    atexit.register(end)


def check_tables() -> None:
    """Import every table; raises `IncompleteFormat`, `IncompleteWire` or `IncompleteTable` for one that lacks a row."""
    with uncollected():
        for module in TABLES:
            importlib.import_module(module)


SERVING = ("uvloop", "service.web.server", "litestar.plugins.pydantic", "service.delivering.sender")
"""What a process that answers over HTTP imports beside the tables."""


@contextmanager
def large_parts(*also: str, running: Settings | None = None) -> Iterator[Callable[[], None]]:
    """Check every table and import ``also``, in a thread while PostgreSQL starts.

    For a process that runs debates its deployment is put together too: tokenizers, prompts and what calls vendors are
    there then. The function waits for all that; nothing may be done in a database before it has returned. Raises like
    `check_tables` and `deploy`.
    """
    # What starts PostgreSQL is imported here, and not by two threads at once.
    import service.store.startup  # noqa: F401

    def work() -> None:
        check_tables()
        for module in also:
            importlib.import_module(module)
        if running is not None:
            from service.intake.deployments import deploy

            if any(setting.base_url for setting in running.policy.providers.values()):
                importlib.import_module("service.providers.transport")
            deploy(running)

    with meanwhile(work) as done:
        yield done


def start_without_settings(environment: Mapping[str, str] = os.environ, *, stays: bool = True) -> None:
    """Set up the log of a process that needs no settings but its level and form; raises `SettingsError` for others.

    A name that is no setting is refused as in any process: a misspelt one would leave a signer without its token. A
    process that does not stay belongs to a program that reads its answers, and to a person who reads its log.
    """
    close_memory()
    if stays:
        log_of_process(environment)
    else:
        log_from(read_level(environment), read_log_format(environment) or "text", traces=True)
    refuse_unknown(environment)


def hears_hangup() -> bool:
    """Whether SIGHUP asks for a look at the configuration. At a terminal it says that the terminal is gone."""
    return not sys.stderr.isatty()


@asynccontextmanager
async def watching(app: App) -> AsyncIterator[None]:
    """Take what changes in the files of the configuration during the block; SIGHUP asks for a look at once."""
    from service.app import watching_configuration

    loop = asyncio.get_running_loop()
    async with watching_configuration(app) as watch:
        if hears_hangup():
            loop.add_signal_handler(signal.SIGHUP, watch.ask)
        try:
            yield
        finally:
            if hears_hangup():  # what comes while the process ends is passed over
                loop.add_signal_handler(signal.SIGHUP, lambda: None)


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Before there is an event loop SIGTERM ends the command, as done: as the first process of a container it would not
    hear it otherwise.
    """

    def end(_number: int, _frame: object) -> None:
        raise click.exceptions.Exit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Ending:
    """The first SIGINT or SIGTERM that comes, by its name; from then on they have their usual effect again."""

    def __init__(self) -> None:
        self.name = ""
        self._came = asyncio.Event()

    def cut_short(self, left_s: Callable[[], float]) -> Callable[[], float]:
        """The seconds remaining for the start: none after a signal."""
        return lambda: 0.0 if self.name else left_s()

    async def came(self) -> str:
        """Wait for it."""
        await self._came.wait()
        return self.name

    def hear(self, name: str) -> None:
        """It has come."""
        forget()
        self.name = name
        self._came.set()


@contextmanager
def ending() -> Iterator[Ending]:
    """Record the first signal while the block lasts, also one that comes before `Ending.came`."""
    loop, heard = asyncio.get_running_loop(), Ending()
    for number in ENDS:
        loop.add_signal_handler(number, heard.hear, number.name)
    try:
        yield heard
    except StoreUnavailable:
        if not heard.name:  # after a signal during the start, the database is not needed
            raise
    finally:
        forget()


@contextmanager
def hurried(hurry: Callable[[], None]) -> Iterator[None]:
    """A further SIGINT or SIGTERM meanwhile calls ``hurry``; one after that has its usual effect again."""
    loop = asyncio.get_running_loop()

    def heard() -> None:
        forget()
        hurry()

    for number in ENDS:
        loop.add_signal_handler(number, heard)
    try:
        yield
    finally:
        forget()
