"""Asks witnesses to countersign the latest heads, in tasks of their own that never delay the sequencer.

A witness signs a head only with a proof that it continues the last head that the witness saw (C2SP tlog-witness). So
two answers mean an incident: the witness holds a larger head than ours, or refuses the proof. Then the database lost or
changed what was witnessed. A witness that cannot be reached, or does not know the log, is reported and asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from service import log_lines, telemetry
from service.audit.note import PublicKey
from service.audit.witness import KnownCheckpoint
from service.errors import GainsayError, StoreUnavailable
from service.policy import Witness
from service.proving.sequencer.consistency import LogIncident, written
from service.proving.signing.witnesses import WitnessConflict, Witnesses, WitnessRefused, WitnessUnavailable
from service.store.sequence import Sequencing

ASK_S = 1.0
"""How often a witness is asked, for the logs with new heads."""
AGAIN_S = 10.0
"""When a witness is asked again after it could not be reached or refused."""
CHECK_S = 3.0
"""How long opening a log waits for witnesses, so that their heads are known before anything is signed."""
_TRIES = 4
_CONTRADICTS = (409, 422)
"""The statuses of tlog-witness for a head that does not continue the witness's own."""

LogTrouble = Callable[[str, GainsayError | None], None]
"""(who, error): the present error of a witness; ``None`` when it works again."""


class Countersigning:
    """The witnesses of a deployment, and the logs whose heads each of them should get."""

    def __init__(
        self,
        store: Sequencing,
        witnesses: Sequence[Witness],
        client: Witnesses,
        log_trouble: LogTrouble,
        stop: Callable[[LogIncident], Awaitable[None]],
    ) -> None:
        self._store = store
        self._client = client
        self._log_trouble = log_trouble
        self._stop = stop
        self._witnesses = {PublicKey.parse(witness.key).name: witness for witness in witnesses}
        self._moved: dict[str, set[str]] = {name: set() for name in self._witnesses}
        self._down: set[str] = set()
        self._forgotten: set[str] = set()

    def checkpoint_signed(self, log: str) -> None:
        """A head of this log was signed, so submit it soon."""
        for logs in self._moved.values():
            logs.add(log)

    async def run(self) -> None:
        """Ask until cancelled."""
        await asyncio.gather(*(self._serve(name) for name in self._witnesses))

    async def check(self, log: str, *, forgotten: bool = False) -> bool:
        """Submit the latest head to every reachable witness, and wait a short time; raises `LogIncident`.

        Returns whether one of them vouches for the log: it held a head that this one continues, and has forgotten none.
        While the signer has ``forgotten`` the log, a witness that holds none gets none: it would vouch the next time.
        """
        (self._forgotten.add if forgotten else self._forgotten.discard)(log)
        names = [name for name in self._witnesses if name not in self._down]
        vouched = any(await asyncio.gather(*(self._check(name, log) for name in names)))
        if vouched:
            self._forgotten.discard(log)
        return vouched

    async def _check(self, name: str, log: str) -> bool:
        try:
            async with asyncio.timeout(CHECK_S):
                return await self._ask(name, log)
        except (GainsayError, TimeoutError) as error:
            if isinstance(error, LogIncident):
                raise
            self._failed(name, log, error)
            return False

    async def _serve(self, name: str) -> None:
        while True:
            await asyncio.sleep(AGAIN_S if name in self._down else ASK_S)
            for log in tuple(self._moved[name]):
                self._moved[name].discard(log)  # first: a new head may come during the call
                if not await self._asked(name, log):
                    break

    async def _asked(self, name: str, log: str) -> bool:
        """Ask for one log; return whether to ask this witness for another one."""
        try:
            await self._ask(name, log)
        except LogIncident as incident:
            await self._stop(incident)
        except GainsayError as error:
            self._failed(name, log, error)
            return isinstance(error, WitnessRefused)
        except Exception as fault:  # noqa: BLE001 - a dead task would leave heads that no witness sees
            log_lines.WITNESS_FAULT.raised()
            self._failed(name, log, GainsayError(f"a fault of the service ({type(fault).__name__})"))
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
        self._log_trouble(f"witness {name}", error)

    async def _ask(self, name: str, log: str) -> bool:
        """Have the latest head countersigned; raises `LogIncident` when the witness has seen another log.

        Returns whether it is countersigned. A log that its signer has forgotten is submitted only to a witness that
        held a head of it before, none smaller than the last that it gave us.
        """
        found = await self._store.head(log)
        if found is None:
            return False
        head, note = found
        # tlog-witness: "old" must be the size that the witness holds; a 409 with a size names the right one.
        given = (await self._store.cosigned(log)).get(name, 0)
        old = head.size if log in self._forgotten else min(given, head.size)
        for _ in range(_TRIES):
            path = await self._store.path(log, old, head.size)
            try:
                line = await self._client.submit(self._witnesses[name], old, path, note)
            except WitnessConflict as conflict:  # 409 with a size: prove consistency from there
                old = conflict.size
                if old > head.size:
                    head, note = await self._newer(name, log, head, old)
                if log in self._forgotten and old < max(1, given):
                    return False
                continue
            except WitnessRefused as refused:
                if refused.answered in _CONTRADICTS:  # another root of one size, or a wrong proof: the log changed
                    raise await written(self._store, log, _refusal(name, refused, old, head)) from refused
                raise
            await self._store.store_cosignature(log, head.size, name, line)
            self._well(name)
            return True
        raise WitnessUnavailable(f"the witness {name!r} names another size of {log} at each request")

    async def _newer(self, name: str, log: str, head: KnownCheckpoint, size: int) -> tuple[KnownCheckpoint, bytes]:
        """The latest head, after a witness named a larger one than was submitted; raises `LogIncident`."""
        found = await self._store.head(log)  # another sequencer may have submitted it, and stored it first
        if found is None or found[0].size < size:
            largest = found[0].size if found else head.size
            what = f"the witness {name!r} holds a head of {size} records, and the largest that is stored has {largest}"
            raise await written(self._store, log, what)
        return found

    def _well(self, name: str) -> None:
        self._down.discard(name)
        self._log_trouble(f"witness {name}", None)


def _refusal(name: str, refused: WitnessRefused, old: int, head: KnownCheckpoint) -> str:
    if refused.answered == 409:
        return f"the witness {name!r} holds another root for {head.size} records than the one that is signed"
    return f"the witness {name!r} holds a head of {old} records that the one of {head.size} does not lead on from"
