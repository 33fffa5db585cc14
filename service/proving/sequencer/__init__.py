"""The sequencer makes durable records provable: it gives them leaves in the trees of their logs, and has heads signed.

One process leads; the others check from time to time whether the lead is free. The leader reads the staged records and
works on each log in these steps:

    1  open           compare the tree with the heads of signer and witnesses (`consistency`, `countersigning`)
    2  take           append the records as leaves, with the new tiles (C2SP tlog-tiles), and commit
    3  sign           only after the commit, because a checkpoint that is rolled back would fork the log; the signer
                      gets a consistency proof from its last head (RFC 6962, 2.1.2)
    4  countersign    submit the head to the witnesses (C2SP tlog-witness), in tasks of their own

From time to time an authority stamps the latest head with the time (RFC 3161), in a task of its own (`stamping`).

If a process dies between 2 and 3, the head is signed when the log is opened again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress

from service import log_lines, telemetry
from service.audit.checkpoint import Checkpoint
from service.errors import GainsayError, StoreUnavailable
from service.policy import Audit
from service.proving.sequencer import traces
from service.proving.sequencer.consistency import LogIncident, SignerForgot, check_tree, forgotten, remind
from service.proving.sequencer.countersigning import Countersigning
from service.proving.sequencer.stamping import Stamping
from service.proving.signing import CheckpointRefused, Signer, SignerUnavailable
from service.proving.signing.stamps import Stamps
from service.proving.signing.witnesses import Witnesses
from service.store.log_lag import LogGauges
from service.store.sequence import MOST, AlreadyThere, OutOfOrder, Overtaken, SequencerLeadership, Sequencing, Tree

__all__ = ["Announce", "LogIncident", "Sequencer", "SignerForgot"]

POLL_S = 0.03
"""The interval of looking for new records while there are few."""
FOLLOW_S = 0.5
"""How often a process without the lead tries to get it."""
SWEEP_S = 2.0
"""How often a sweep reads everything that is staged, and how often the log lag is measured."""
MARGIN = 5_000
"""Other looks begin this many records before the last one seen; only a sweep finds late commits before that."""
AGAIN_S = 0.5
"""When a log is tried again after an error; after an incident, or when the signer has forgotten it, `STUCK_S`."""
STUCK_S = 30.0
AT_ONCE = 8
TRIES = 50
TREES_HELD = 1_000
GRACE_S = 5.0

Announce = Callable[[str, int, bytes], None]
"""(log, size, root) of a head that was signed and stored."""


class Sequencer:
    """Gives staged records their places until it is stopped.

    ``audit`` is the policy of the log: which witnesses countersign its heads, through ``client``, and after how many
    seconds of log lag it reports.
    """

    def __init__(
        self,
        store: Sequencing,
        lead: SequencerLeadership,
        signer: Signer,
        *,
        audit: Audit = Audit(),  # noqa: B008 - frozen
        client: Witnesses | None = None,
        announce: Announce = lambda _log, _size, _root: None,
        on_trouble: Callable[[GainsayError], None] = lambda _error: None,
    ) -> None:
        self._store = store
        self._lead = lead
        self._signer = signer
        self._late_s = audit.late_s
        self._gauges = LogGauges(store, audit.witnesses)
        self._announce = announce
        self._on_trouble = on_trouble
        self._cosigning = (
            Countersigning(store, audit.witnesses, client, self._log_trouble, self._stick) if client else None
        )
        self._stamping: Stamping | None = None
        self._trees: dict[str, Tree] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._checked: set[str] = set()
        self._due: dict[str, float] = {}
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._troubles: dict[str, GainsayError] = {}
        self._leads = False
        self._seen = 0
        self._left_over = False
        self._sweep_at = 0.0
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()

    @property
    def troubles(self) -> list[str]:
        """Why records do not become provable, or heads are not countersigned or stamped, at present."""
        return [error.detail for error in self._troubles.values()]

    @property
    def is_leader(self) -> bool:
        """Whether this process leads."""
        return self._leads

    def stamp_with(self, stamps: Stamps, every_s: int) -> None:
        """While `run` runs, have an authority stamp a head of each log that grows, each ``every_s`` seconds."""
        self._stamping = Stamping(self._store, stamps, every_s, self._log_trouble, lambda: self._leads)

    async def examine(self) -> None:
        """Do step 1 for every log; raises `LogIncident` while an incident is open, and `SignerForgot`.

        A signer or a witness that cannot be reached does not prevent the start: nothing is signed until step 1 is done.
        """
        forgot: SignerForgot | None = None
        for log in await self._store.logs():
            try:
                async with self._locks[log]:
                    await self._opened(log)
            except LogIncident as incident:
                await self._stick(incident)
            except SignerForgot as error:
                forgot = forgot or error
            except StoreUnavailable:
                raise
            except GainsayError as error:
                self._log_trouble(log, error)
        for row in await self._store.query("open_incidents"):
            raise LogIncident(row["log"], row["what"])
        if forgot is not None:
            raise forgot

    async def run(self) -> None:
        """Sequence until `stop`. Errors are logged and never end the loop."""
        beside = [asyncio.create_task(self._watch(), name="unproven")]
        if self._cosigning:
            beside.append(asyncio.create_task(self._cosigning.run(), name="cosigning"))
        if self._stamping:
            beside.append(asyncio.create_task(self._stamping.run(), name="stamping"))
        try:
            while not self._stopping.is_set():
                await self._turn()
        finally:
            for task in beside:
                task.cancel()
            if self._busy:
                _, late = await asyncio.wait(self._busy.values(), timeout=GRACE_S)
                for task in late:
                    task.cancel()
                beside.extend(late)
            await asyncio.gather(*beside, return_exceptions=True)
            await self._lead.close()

    def stop(self) -> None:
        """Take nothing more; work in progress is finished."""
        self._stopping.set()
        self._wake.set()

    async def catch_up(self) -> None:
        """Take and sign everything that is staged, with or without the lead; then it is provable.

        Raises what prevents that: `LogIncident`, `SignerForgot`, `SignerUnavailable`, `StoreUnavailable`.
        """
        tries = 0
        while tries < TRIES:
            staged = await self._store.staged()
            waiting = staged or {log: [] for log in await self._store.unsigned()}
            if not waiting:
                return
            for log, numbers in waiting.items():
                try:
                    async with self._locks[log]:
                        await self._work(log, numbers, swept=True)
                    tries = 0
                except (Overtaken, CheckpointRefused):
                    tries += 1
                    await asyncio.sleep(POLL_S)  # another sequencer works on the log too; look again
        raise Overtaken(f"another sequencer continued the log first {TRIES} times in a row; look at its log")

    # -- turns

    async def _turn(self) -> None:
        """Look once, and start work on what was found."""
        loop = asyncio.get_running_loop()
        began, self._wake = loop.time(), asyncio.Event()
        sweep = began >= self._sweep_at
        in_backoff = {log for log, at in self._due.items() if at > began}
        passing = self._busy.keys() | in_backoff
        try:
            found = await self._lead.staged(0 if sweep else self._seen - MARGIN, passing)
        except StoreUnavailable as error:
            self._leads = False
            self._log_trouble("staged", error)
            await self._pause(FOLLOW_S)
            return
        self._log_trouble("staged", None)
        if found is None:
            self._leads = False
            await self._pause(FOLLOW_S)
            return
        if not self._leads:
            await self._begin(began)
        if sweep:
            self._sweep_at = began + SWEEP_S
        self._left_over = sum(map(len, found.values())) >= MOST
        for log, numbers in found.items():
            self._seen = max(self._seen, numbers[-1])
            self._start(log, numbers, swept=sweep)
        for log in [log for log, at in self._due.items() if at <= began]:
            self._start(log, [], swept=False)
        await self._pause(POLL_S - (loop.time() - began))

    async def _begin(self, now: float) -> None:
        """Begin to lead: drop everything in memory, and open every log."""
        self._leads, self._seen = True, 0
        self._checked.clear()
        self._trees.clear()
        with suppress(StoreUnavailable):
            self._due.update(dict.fromkeys(await self._store.logs(), now))

    def _start(self, log: str, numbers: Sequence[int], *, swept: bool) -> None:
        if log in self._busy:
            return
        if len(self._busy) >= AT_ONCE:
            self._left_over = True
            return
        self._due.pop(log, None)
        self._busy[log] = asyncio.create_task(self._advance(log, numbers, swept=swept), name=f"log {log}")

    async def _pause(self, seconds: float) -> None:
        """Wait until the time is over, or a task has ended and more is known to wait."""
        alarm = asyncio.get_running_loop().call_later(max(0.0, seconds), self._wake.set)
        try:
            await self._wake.wait()
        finally:
            alarm.cancel()

    async def _watch(self) -> None:
        """Measure the log lag, and report when it is too long."""
        while True:
            try:
                records, seconds = await self._gauges.measure()
            except StoreUnavailable:
                self._gauges.forget()
            else:
                late = LogLate(f"{records} records are durable and not provable, the oldest for {seconds:.0f} seconds")
                self._log_trouble("late", late if seconds > self._late_s else None, known=True)
            await asyncio.sleep(SWEEP_S)

    # -- one log

    async def _advance(self, log: str, numbers: Sequence[int], *, swept: bool) -> None:
        """Work on one log, and handle its errors."""
        loop, again = asyncio.get_running_loop(), None
        began = loop.time()
        try:
            async with self._locks[log]:
                await self._work(log, numbers, swept=swept)
        except LogIncident as incident:
            await self._stick(incident)
        except (Overtaken, CheckpointRefused) as error:
            log_lines.SEQUENCER_REREADS(log=log, code=error.code)
            again = POLL_S if isinstance(error, Overtaken) else AGAIN_S
        except GainsayError as error:
            again = STUCK_S if isinstance(error, SignerForgot) else AGAIN_S
            self._log_trouble(log, error)
        except Exception as fault:  # noqa: BLE001 - a dead task would leave a log without a sequencer
            again = AGAIN_S
            log_lines.SEQUENCER_FAULT.raised(log=log)
            self._trees.pop(log, None)
            self._log_trouble(log, GainsayError(f"a fault stopped work on the log {log} ({type(fault).__name__})"))
        else:
            self._log_trouble(log, None)
        finally:
            del self._busy[log]
            ended = loop.time()
            if again is not None:
                self._due[log] = ended + again
            # What came meanwhile waits for the next look, so that batches are few; a long batch has been its wait.
            if self._left_over or ended - began >= POLL_S:
                self._wake.set()

    async def _work(self, log: str, numbers: Sequence[int], *, swept: bool) -> None:
        """Do the steps for one log. After any error the tree is read again."""
        with traces.sequenced(log, len(numbers)):
            await self._steps(log, numbers, swept=swept)

    async def _steps(self, log: str, numbers: Sequence[int], *, swept: bool) -> None:
        tree = await self._opened(log)  # step 1
        try:
            if numbers:
                tree = await self._take(tree, numbers, swept=swept)  # step 2
            await self._sign(tree)  # steps 3 and 4; without new records too, for a head that an earlier process left
        except SignerUnavailable:
            raise  # the tree is still valid
        except BaseException:
            self._trees.pop(log, None)
            raise

    async def _opened(self, log: str) -> Tree:
        """The tree of a log that was examined and has no incident."""
        if (tree := self._trees.get(log)) is None:
            tree = await check_tree(self._store, self._signer, log)
            forgot, vouched = await forgotten(self._signer, tree), False
            # Witnesses are asked once, again after a new lead or an incident, and where the signer has forgotten.
            if self._cosigning and (forgot or log not in self._checked):
                vouched = await self._cosigning.check(log, forgotten=forgot)
            if forgot and tree.stored is not None:
                if not vouched:
                    raise SignerForgot(log, tree.stored, tree.signed)
                await remind(self._store, self._signer, tree)
            self._checked.add(log)
        self._trees.pop(log, None)
        self._trees[log] = tree  # now the most recently used
        if len(self._trees) > TREES_HELD:
            del self._trees[next(iter(self._trees))]
        return tree

    async def _take(self, tree: Tree, numbers: Sequence[int], *, swept: bool) -> Tree:
        """Step 2: the tree with these records, committed."""
        try:
            count = await self._store.extend(tree, numbers, holes=swept)
        except OutOfOrder:
            self._sweep_at, self._left_over = 0.0, True  # the record before is further back: only a sweep sees it
            return tree
        except AlreadyThere:
            log_lines.STAGED_TWICE(log=tree.log)
            self._trees.pop(tree.log)
            tree = await self._opened(tree.log)
            count = await self._store.extend(tree, numbers, holes=swept, careful=True)
        if count:
            telemetry.LOG_BATCHES.inc()
            telemetry.LOG_LEAVES.inc(count)
        return tree

    async def _sign(self, tree: Tree) -> None:
        """Step 3: have the head signed, and store it; do nothing if that was done."""
        if not tree.committed:
            raise AssertionError("a head is signed only after its commit: it could be rolled back before")
        if tree.size == (tree.stored.size if tree.stored else 0):
            return
        with telemetry.LOG_SIGN_SECONDS.time():
            old = tree.signed.size if tree.signed else 0  # RFC 6962, 2.1.2: PROOF(old, D[tree.size]) for the signer
            path = await self._store.path(tree.log, old, tree.size, tree.tiles)
            note = await self._signer.sign(Checkpoint(tree.log, tree.size, tree.root), tree.key, path)
            await self._store.store_checkpoint(tree, note)
        tree.sign()
        self._announce(tree.log, tree.size, tree.root)
        if self._cosigning:
            self._cosigning.checkpoint_signed(tree.log)  # step 4

    async def _stick(self, incident: LogIncident) -> None:
        """Stop work on a log, but look from time to time whether the incident is closed."""
        self._checked.discard(incident.log)
        self._trees.pop(incident.log, None)
        self._due[incident.log] = asyncio.get_running_loop().time() + STUCK_S
        self._log_trouble(incident.log, incident)

    def _log_trouble(self, who: str, error: GainsayError | None, *, known: bool = False) -> None:
        """Log an error once; ``None`` says that it is over. With ``known``, only the first message is logged."""
        before = self._troubles.get(who)
        if error is None:
            if before is not None:
                del self._troubles[who]
                log_lines.SEQUENCER_RECOVERED(who=who)
            return
        self._troubles[who] = error
        if before is None or (before.detail != error.detail and not known):
            log_lines.SEQUENCER_TROUBLE(detail=error.detail, who=who, code=error.code)
            self._on_trouble(error)


class LogLate(GainsayError):
    """The log lag is longer than it may be."""

    code = "log_late"
    status = 503
    title = "Records are not provable yet"
