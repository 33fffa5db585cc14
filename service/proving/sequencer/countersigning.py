"""Witnesses are asked to countersign the latest heads, beside the sequencer and never in its way.

A witness signs a head only when it leads on from the last one that it saw. So one that holds a larger head than ours,
or refuses that ours leads on, tells of an incident: the database lost or changed what was witnessed. A witness that
cannot be reached, or does not know the log, is told of, and asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from service import telemetry
from service.audit.note import PublicKey
from service.audit.witness import Head
from service.errors import GainsayError, StoreUnavailable
from service.policy import Witness
from service.proving.sequencer.consistency import LogIncident, written
from service.proving.signing.witnesses import WitnessConflict, Witnesses, WitnessRefused, WitnessUnavailable
from service.store.sequence import Sequencing

ASK_S = 1.0
"""How often a witness is asked for the logs whose heads moved."""
AGAIN_S = 10.0
"""When a witness that could not be reached, or would not sign, is asked again."""
CHECK_S = 3.0
"""How long the start of a log waits for witnesses, so that what they hold is known before anything is signed."""
_TRIES = 4
_CONTRADICTS = (409, 422)
"""What a witness answers to a head that does not lead on from the one it holds."""

Tell = Callable[[str, GainsayError | None], None]
"""(who, error): what is wrong with a witness now; ``None`` when it is well."""


class Cosigning:
    """The witnesses of a deployment, and what is to be submitted to each."""

    def __init__(
        self,
        store: Sequencing,
        witnesses: Sequence[Witness],
        client: Witnesses,
        tell: Tell,
        stop: Callable[[LogIncident], Awaitable[None]],
    ) -> None:
        self._store = store
        self._client = client
        self._tell = tell
        self._stop = stop
        self._witnesses = {PublicKey.parse(witness.key).name: witness for witness in witnesses}
        self._moved: dict[str, set[str]] = {name: set() for name in self._witnesses}
        self._down: set[str] = set()

    def moved(self, log: str) -> None:
        """A head of this log was signed: the witnesses are to see it soon."""
        for logs in self._moved.values():
            logs.add(log)

    async def run(self) -> None:
        """Ask until cancelled."""
        await asyncio.gather(*(self._serve(name) for name in self._witnesses))

    async def check(self, log: str) -> None:
        """Submit the latest head to every witness that can be reached, and wait a little; raises `LogIncident`."""
        names = [name for name in self._witnesses if name not in self._down]
        await asyncio.gather(*(self._check(name, log) for name in names))

    async def _check(self, name: str, log: str) -> None:
        try:
            async with asyncio.timeout(CHECK_S):
                await self._ask(name, log)
        except (GainsayError, TimeoutError) as error:
            if isinstance(error, LogIncident):
                raise
            self._failed(name, log, error)

    async def _serve(self, name: str) -> None:
        while True:
            await asyncio.sleep(AGAIN_S if name in self._down else ASK_S)
            for log in tuple(self._moved[name]):
                self._moved[name].discard(log)  # first: it may move again meanwhile
                if not await self._asked(name, log):
                    break

    async def _asked(self, name: str, log: str) -> bool:
        """Ask for one log; whether it is worth asking this witness for another."""
        try:
            await self._ask(name, log)
        except LogIncident as incident:
            await self._stop(incident)
        except GainsayError as error:
            self._failed(name, log, error)
            return isinstance(error, WitnessRefused)
        except Exception as fault:  # noqa: BLE001 - dying here would leave heads that no witness sees
            telemetry.LOG.exception("a witness could not be asked")
            self._failed(name, log, GainsayError(f"a fault of ours ({type(fault).__name__})"))
            return False
        return True

    def _failed(self, name: str, log: str, error: GainsayError | TimeoutError) -> None:
        self._moved[name].add(log)
        if isinstance(error, StoreUnavailable):
            return  # no fault of the witness
        telemetry.WITNESS_FAILURES.inc()
        self._down.add(name)
        if isinstance(error, TimeoutError):
            error = WitnessUnavailable(f"the witness {name!r} does not answer within {CHECK_S:g} seconds")
        self._tell(f"witness {name}", error)

    async def _ask(self, name: str, log: str) -> None:
        """Have the latest head countersigned; raises `LogIncident` when the witness has seen another log."""
        found = await self._store.head(log)
        if found is None:
            return
        head, note = found
        old = min((await self._store.cosigned(log)).get(name, 0), head.size)
        for _ in range(_TRIES):
            path = await self._store.path(log, old, head.size)
            try:
                line = await self._client.submit(self._witnesses[name], old, path, note)
            except WitnessConflict as conflict:
                old = conflict.size
                if old > head.size:
                    head, note = await self._newer(name, log, head, old)
                continue
            except WitnessRefused as refused:
                if refused.answered in _CONTRADICTS:
                    raise await written(self._store, log, _refusal(name, refused, old, head)) from refused
                raise
            await self._store.keep_cosignature(log, head.size, name, line)
            self._well(name)
            return
        raise WitnessUnavailable(f"the witness {name!r} names another size of {log} each time that it is asked")

    async def _newer(self, name: str, log: str, head: Head, size: int) -> tuple[Head, bytes]:
        """The latest head, now that a witness holds a larger one than was submitted; raises `LogIncident`."""
        found = await self._store.head(log)  # another sequencer may have submitted it, and has stored it before
        if found is None or found[0].size < size:
            largest = found[0].size if found else head.size
            what = f"the witness {name!r} holds a head of {size} records, and the largest that is stored has {largest}"
            raise await written(self._store, log, what)
        return found

    def _well(self, name: str) -> None:
        self._down.discard(name)
        self._tell(f"witness {name}", None)


def _refusal(name: str, refused: WitnessRefused, old: int, head: Head) -> str:
    if refused.answered == 409:
        return f"the witness {name!r} holds another root for {head.size} records than the one that is signed"
    return f"the witness {name!r} holds a head of {old} records that the one of {head.size} does not lead on from"
