"""Looks whether the policy and its approvals have changed while a process runs, and what becomes of a change.

A look reads every file of the configuration: policy, tenants' policies, approvals. What differs is a new configuration.
It is checked whole as at a start, and takes the place of the one before only where nothing is wrong with it and, if
policy requires that, an approval of exactly its hash is there. Otherwise the old one stays in force, also where a fault
of the service ends the look. That is logged once for each reason and at each look that was asked for, and shown by a
metric until a new one is taken or the files say again what is in force.

While a new one is refused, each look tries it again: what it waits for may be there by then, such as an approval, a
mounted key, the first day of a price, or the database.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress

from service import log_lines, telemetry
from service.errors import GainsayError, NotApproved, SettingsError, StoreUnavailable
from service.intake.configuration import Configuration, CurrentConfiguration
from service.policy.file.snapshot import FileSnapshot

SETTLE_S = 1.0
"""For so long the files have to stand as they were read: one of them may be half written, or half of them swapped."""
TRIES = 10


class FilesUnsteady(SettingsError):
    """The files of the configuration change faster than they can be read."""

    code = "files_unsteady"
    title = "The files of the configuration do not stand still"


class ConfigurationWatch:
    """Looks until it is cancelled: each ``every_s`` seconds, or never by itself where that is 0, and when it is asked.

    ``take`` puts a new configuration in force, or raises `GainsayError` and leaves the old one as it is.
    """

    def __init__(
        self, current: CurrentConfiguration, take: Callable[[Configuration], Awaitable[None]], every_s: float
    ) -> None:
        self._current, self._take, self._every_s = current, take, every_s
        self._asked = asyncio.Event()
        self._seen: FileSnapshot | None = None
        self._fault = ""
        show(current.in_force)

    def ask(self) -> None:
        """Look at once; in the event loop's thread."""
        self._asked.set()

    async def run(self) -> None:
        """Look from time to time."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every_s or None):
                    await self._asked.wait()
            asked = self._asked.is_set()
            self._asked.clear()
            await self.look(asked=asked)

    async def look(self, *, asked: bool = False) -> None:
        """Look once. What was ``asked`` for is answered in the log, also where nothing has changed.

        Nothing that goes wrong is raised: the process goes on under the configuration that it has.
        """
        try:
            stands = self._seen is not None and await asyncio.to_thread(self._seen.stands)
            taken = not stands and await self._read()
        except NotApproved as error:
            self._refused(error, "unapproved", asked=asked)
        except FilesUnsteady as error:
            self._refused(error, "unsteady", asked=asked)
        except StoreUnavailable as error:
            self._refused(error, "unavailable", asked=asked)
        except GainsayError as error:
            self._refused(error, "faulty", asked=asked)
        except Exception as fault:  # noqa: BLE001 - see above
            where = traceback.extract_tb(fault.__traceback__)[-1]
            if self._is_due(f"{type(fault).__name__} at {where.filename}:{where.lineno}", "fault", asked=asked):
                log_lines.CONFIGURATION_FAULT.of(fault)
        else:
            if not taken:
                self._unchanged(asked=asked)

    async def _read(self) -> bool:
        """Read the files, and take what they say if it is new; returns whether it was. Raises `GainsayError`."""
        before = self._current.in_force
        for _ in range(TRIES):
            files = FileSnapshot()
            found = await asyncio.to_thread(_read_again, before, files)
            if isinstance(found, Configuration) and found.same(before):
                self._seen = files
                return False
            await settled()
            if await asyncio.to_thread(files.stands):
                break
        else:
            raise FilesUnsteady(
                f"expected the files of the configuration to stand for {SETTLE_S:g} s as they were read, found them "
                f"changed {TRIES} times in a row; look what writes them, and replace each as a whole (write beside it, "
                "then rename)"
            )
        self._seen = None
        if isinstance(found, GainsayError):
            raise found
        await self._take(found)
        self._seen, self._fault = files, ""
        show(found)
        telemetry.CONFIG_RELOADS.labels(result="taken").inc()
        telemetry.CONFIG_REFUSED.set(0)
        version = found.settings.policy.version
        log_lines.CONFIGURATION_TAKEN(policy=version, configuration=found.hash, before=before.hash)
        return True

    def _unchanged(self, *, asked: bool) -> None:
        if self._fault:
            self._fault = ""
            telemetry.CONFIG_REFUSED.set(0)
            log_lines.CONFIGURATION_AS_BEFORE(configuration=self._current.in_force.hash)
        elif asked:
            log_lines.CONFIGURATION_UNCHANGED(configuration=self._current.in_force.hash)

    def _refused(self, error: GainsayError, result: str, *, asked: bool) -> None:
        if self._is_due(error.detail, result, asked=asked):
            now = self._current.in_force.hash
            log_lines.CONFIGURATION_REFUSED(reason=error.detail, result=result, configuration=now)

    def _is_due(self, fault: str, result: str, *, asked: bool) -> bool:
        """Show and count what keeps the files from being taken; whether it is to be logged.

        It is tried at each look, and said once: what is ``asked`` for is said again.
        """
        known, self._fault = fault == self._fault, fault
        if not known:
            telemetry.CONFIG_RELOADS.labels(result=result).inc()
        telemetry.CONFIG_REFUSED.set(1)
        return asked or not known


async def settled() -> None:
    """Wait until what is being written is written, most likely."""
    await asyncio.sleep(SETTLE_S)


def show(configuration: Configuration) -> None:
    """Show the configuration in force as a metric: replicas that differ are found by it."""
    telemetry.CONFIG_INFO.alone(hash=configuration.hash, tenants=configuration.tenants_hash).set(1)


def _read_again(before: Configuration, files: FileSnapshot) -> Configuration | GainsayError:
    try:
        return before.read_again(files)
    except GainsayError as error:
        return error
