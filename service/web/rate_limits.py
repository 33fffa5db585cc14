"""How often one caller may ask: the rates of its tenant's policy, over all processes, and the headers that say so.

A process counts what it admits of a caller (its subject, by whichever of its keys) and class in a minute. It tells the
others and learns theirs in the background, at most once a second, and before it admits more than an eighth of a rate
that the others do not know of. So a usual request waits for no database, and

    1 process     admits exactly the rate in a minute
    n processes   admit at most the rate and n eighths of it (`ahead`)

While the database is away each process keeps the rate by its own counts. Minutes begin at another second for each
caller, by the clock of the database, so that not all callers come back together. What was refused is not counted.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from msgspec import Struct

from service import log_lines, telemetry
from service.errors import GainsayError, RateLimited
from service.identity.caller import Caller
from service.policy import WINDOW_S, RateClass, Rates
from service.policy.rates import LOCAL_RATES, USUAL
from service.store.rates import RateBucket, RateExchange
from service.web.safe_headers import Headers

EXCHANGE_S = 1.0
"""The longest time for which the others do not learn what one process admitted."""
WAIT_S = 2.0
"""How long a request of a fast caller waits for an exchange."""
AWAY_S = 5.0
"""How long no request waits for one after an exchange has failed."""
SKEW_S = 1.0
"""By how much a process's minutes may differ from the database's."""
PART = 8


def ahead(most: int) -> int:
    """How many requests of a rate a process admits before it tells the others."""
    return max(1, most // PART)


def key_of(caller: Caller) -> str:
    """By what a caller's requests are counted: its subject. A second key of a rotation gives no second rate."""
    return f"{caller.tenant}/{caller.subject}"


def usual_rates(caller: Caller) -> Rates:
    """The rates of a caller where no policy names any."""
    return LOCAL_RATES if caller.via == "none" else USUAL


class RateState(Struct, frozen=True):
    """A rate, and what is left of it: ``most`` in a window, ``left`` for the next ``seconds``."""

    class_: RateClass
    most: int
    left: int
    seconds: int

    @property
    def policy(self) -> bytes:
        """The value of ``RateLimit-Policy`` (draft-ietf-httpapi-ratelimit-headers-11, 3): a list with one string.

        There is no ``qu``, because the unit is requests, and no ``pk``: a caller is no more than one partition.
        """
        return f'"{self.class_}";q={self.most};w={WINDOW_S}'.encode()

    def state(self, retry_after: int | None = None) -> bytes:
        """The value of ``RateLimit`` (4). A Retry-After must not end before ``t`` (6), so that is left out then.

        A running debate may be read again after a second, whatever the rest of the minute is.
        """
        within = "" if retry_after is not None and retry_after < self.seconds else f";t={self.seconds}"
        return f'"{self.class_}";r={self.left}{within}'.encode()

    def headers(self, said: Headers) -> Headers:
        """Both headers of an answer that has these already."""
        after = next((int(value) for name, value in said if name.lower() == b"retry-after"), None)
        return [(b"ratelimit-policy", self.policy), (b"ratelimit", self.state(after))]


class RateRefusal(RateLimited):
    """A refusal with the state of the rate, which its answer says too."""

    def __init__(self, detail: str, *, state: RateState) -> None:
        super().__init__(detail, retry_after=max(1, state.seconds))
        self.state = state


@dataclass
class _Use:
    """What was admitted of a bucket: here, here as the others know it, and by the others as this process knows it."""

    own: int = 0
    known: int = 0
    others: int = 0


class RateLimiter:
    """The rates of callers in one process. Without an exchange there is no other process."""

    def __init__(
        self,
        exchange: RateExchange | None = None,
        rates_of: Callable[[Caller], Rates] = usual_rates,
    ) -> None:
        self._exchange = exchange
        self.rates_of = rates_of
        self._uses: dict[RateBucket, _Use] = {}
        self._offset = time.time() - time.monotonic()
        self._timed = exchange is None
        self._timer: asyncio.TimerHandle | None = None
        self._exchanging: asyncio.Task[None] | None = None
        self._failed_at = -math.inf
        self._exchanged_at = 0.0

    async def admit(self, caller: Caller, class_: RateClass) -> RateState | None:
        """Admit one request of a caller, and what is then left; ``None`` without a limit. Raises `RateRefusal`."""
        most = self.rates_of(caller).of(class_)
        if most is None:
            return None
        name = f"{key_of(caller)}/{class_}"
        use = await self._known(name, most)
        seconds = math.ceil(self._place(name)[1])
        left = most - use.own - use.others
        if left <= 0:
            telemetry.HTTP_REFUSED.labels(reason="rate").inc()
            raise RateRefusal(
                f"{class_}: {most} requests in {WINDOW_S} s are the rate of this caller, and they are used up; "
                f"send the next one after {seconds} s",
                state=RateState(class_, most, 0, seconds),
            )
        use.own += 1
        self._exchange_soon()
        return RateState(class_, most, left - 1, seconds)

    async def close(self) -> None:
        """End what goes on in the background."""
        if self._timer is not None:
            self._timer.cancel()
        if self._exchanging is not None:
            await asyncio.gather(self._exchanging, return_exceptions=True)

    def _place(self, name: str) -> tuple[RateBucket, float]:
        """The present bucket of a name, and the seconds until the next one begins."""
        spans, gone = divmod(time.monotonic() + self._offset + crc32(name.encode()) % WINDOW_S, WINDOW_S)
        return RateBucket(name, int(spans)), WINDOW_S - gone

    async def _known(self, name: str, most: int) -> _Use:
        """The use of a rate of which the others know enough, unless the database does not answer."""
        if not self._timed:
            await self._exchanged()
        while True:
            use = self._uses.setdefault(self._place(name)[0], _Use())
            if use.own - use.known < ahead(most) or use.own + use.others >= most or not await self._exchanged():
                return use

    async def _exchanged(self) -> bool:
        """Whether an exchange has just ended well; requests share one."""
        if self._exchange is None or time.monotonic() - self._failed_at < AWAY_S:
            return False
        try:
            async with asyncio.timeout(WAIT_S):
                await asyncio.shield(self._begin())
        except TimeoutError:
            self._failed_at = time.monotonic()
            return False
        return time.monotonic() - self._failed_at >= AWAY_S

    def _exchange_soon(self) -> None:
        if self._exchange is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(EXCHANGE_S, self._begin)

    def _begin(self) -> asyncio.Task[None]:
        """The exchange under way, or a new one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._exchanging is None or self._exchanging.done():
            self._exchanging = asyncio.get_running_loop().create_task(self._run_exchange(), name="rates")
        return self._exchanging

    async def _run_exchange(self) -> None:
        """Exchange the counts that changed; a failure is kept for those who wait, and tried again with the next."""
        self._forget()
        mine = {bucket: use.own for bucket, use in self._uses.items() if use.own > use.known}
        if self._exchange is None or (self._timed and not mine):
            return
        try:
            found = await self._exchange.exchange(mine)
        except GainsayError as error:
            if self._failed_at < self._exchanged_at:
                log_lines.RATES_ALONE(detail=error.detail, code=error.code)
            self._failed_at = time.monotonic()
            return
        self._exchanged_at = time.monotonic()
        self._keep_time(found.now - time.monotonic())
        for bucket, own in mine.items():
            use = self._uses.setdefault(bucket, _Use())
            use.known, use.others = own, found.used.get(bucket, 0)
        if any(use.own > use.known for use in self._uses.values()):
            self._exchange_soon()

    def _keep_time(self, offset: float) -> None:
        """Take the time of the database; a small difference is that of the way, and would move every minute."""
        if not self._timed or abs(offset - self._offset) > SKEW_S:
            self._offset = offset
        self._timed = True

    def _forget(self) -> None:
        """Forget the minutes that are over."""
        self._uses = {
            bucket: use for bucket, use in self._uses.items() if bucket.span >= self._place(bucket.name)[0].span
        }
