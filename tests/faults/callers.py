"""Callers of a service that is hit all the time: they post cases of every format, listen, wait, abort and go away.

Each tries again until it is answered, on whichever API answers, and holds what it is told against what it was told
before: one key is one debate, a stream gives every entry once and in order across all cuts, nothing is answered with a
fault, and whoever is sent away is told for how long.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

import httpx

from service.audit.note import decode_base64
from tests.faults.streams import Listener
from tests.fixtures.running import TEXT
from tests.fixtures.serving import JSON, a_case
from tests.fixtures.small_cases import CASES

PATIENCE_S = 120.0
OVER = ("completed", "truncated", "failed", "aborted", "declined")
WAYS = ("listen", "listen", "listen", "wait", "abort", "leave")
"""What a caller does with its debate, as it draws."""
BREAKS = 0.1
"""How often a listener hangs up by itself and comes back, of all that it hears."""


@dataclass
class Told:
    """What all callers were told, together."""

    debates: dict[int, str] = field(default_factory=dict)
    keys: dict[int, str] = field(default_factory=dict)
    last_records: dict[str, str] = field(default_factory=dict)
    heads: set[tuple[str, int, bytes]] = field(default_factory=set)
    listeners: list[Listener] = field(default_factory=list)
    aborted: dict[str, str] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)

    def number(self) -> int:
        """The number of another case."""
        self._numbers += 1
        return self._numbers

    _numbers = 0


class Caller:
    """Sees one case after the other through to its end."""

    def __init__(self, apis: Sequence[httpx.AsyncClient], told: Told, random: Random) -> None:
        self.told = told
        self._apis, self._random = apis, random

    async def look(self) -> None:
        """One case, from its posting until its end was told, unless the caller goes away before."""
        number, way = self.told.number(), self._random.choice(WAYS)
        case, key = case_of(number, leaves=way == "leave"), str(UUID(int=self._random.getrandbits(128), version=4))
        self.told.keys[number] = key
        posts = [self._post(number, case, key, wait=way == "wait") for _ in range(self._random.choice((1, 1, 2)))]
        begun = time.monotonic()
        (debate, *_) = await asyncio.gather(*posts)
        if self._random.random() < 0.1:
            await self._expect_refusal(case, key)
        match way:
            case "wait":
                await self._poll(debate)
            case "abort":
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._abort(debate))
                    group.create_task(self._listen(debate))
            case "leave":
                self.told.left.add(debate)
                await self._listen(debate, entries=self._random.randrange(1, 12))
            case _:
                await self._listen(debate)
                self.told.took.append(time.monotonic() - begun)

    async def _post(self, number: int, case: JSON, key: str, *, wait: bool) -> str:
        """The debate of a case; it is the same whenever and wherever its key is used."""
        headers = {"idempotency-key": f'"{key}"', **({"prefer": "wait=5"} if wait else {})}
        answer = await self._ask("POST", "/v1/debates?view=full", json=case, headers=headers)
        body = answer.json()
        if answer.status_code == 409:
            assert body["code"] == "idempotency_in_progress", answer.text
            assert int(answer.headers["retry-after"]) >= 1
            self.told.answers["in progress"] += 1
        else:
            assert answer.status_code in (200, 202), answer.text
            self._keep(body)
            self.told.answers["replayed"] += "idempotency-replayed" in answer.headers
        debate: str = body["debateId"]
        assert answer.headers["location"].endswith(f"/v1/debates/{debate}")
        assert self.told.debates.setdefault(number, debate) == debate, "one key, two debates"
        return debate

    async def _expect_refusal(self, case: JSON, key: str) -> None:
        """Another case under the same key is refused whatever has become of the first."""
        other = {**case, "question": f"{case['question']} And what of fines?"}
        answer = await self._ask("POST", "/v1/debates", json=other, headers={"idempotency-key": f'"{key}"'})
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused"), answer.text

    async def _poll(self, debate: str) -> None:
        """Ask for the debate until it is over."""
        while True:
            answer = await self._ask("GET", f"/v1/debates/{debate}?view=full")
            assert answer.status_code == 200, answer.text
            if self._keep(answer.json()):
                return
            await asyncio.sleep(0.5)

    async def _listen(self, debate: str, entries: int | None = None) -> None:
        listener = Listener(debate)
        self.told.listeners.append(listener)
        while not listener.over and (entries is None or len(listener.heard) < entries):
            most = 1 + int(self._random.expovariate(BREAKS))
            if entries is not None:
                most = min(most, entries - len(listener.heard))
            await listener.listen(self._random.choice(self._apis), most)

    async def _abort(self, debate: str) -> None:
        """End the debate at some moment, and see that doing it again changes nothing."""
        await asyncio.sleep(self._random.uniform(0, 4))
        for _ in range(2):
            answer = await self._ask("POST", f"/v1/debates/{debate}/abort", json={"reason": "no longer needed"})
            assert answer.status_code == 200, answer.text
            found = answer.json()
            assert self.told.aborted.setdefault(debate, found["status"]) == found["status"]
            assert found.keys() >= {"spentUSD", "stillHeldUSD"}

    def _keep(self, result: JSON) -> bool:
        """Remember what was said of a debate; whether it is over."""
        if result["status"] not in OVER:
            return False
        debate, last = result["debateId"], result["hashes"]["lastRecord"]
        assert self.told.last_records.setdefault(debate, last) == last
        return True

    async def _ask(self, method: str, path: str, **given: Any) -> httpx.Response:
        """The answer of whichever API gives one that is no word of coming back later."""
        until, said = time.monotonic() + PATIENCE_S, ""
        while time.monotonic() < until:
            try:
                answer = await self._random.choice(self._apis).request(method, path, **given)
            except httpx.TransportError as error:
                said = type(error).__name__
                self.told.answers[said] += 1
                await asyncio.sleep(0.1)
                continue
            self.told.answers[str(answer.status_code)] += 1
            self._see_head(answer)
            if answer.status_code != 503:
                assert answer.status_code < 500, answer.text
                return answer
            said = answer.text
            assert int(answer.headers["retry-after"]) >= 0, answer.text
            await asyncio.sleep(self._random.uniform(0.1, 0.5))
        raise AssertionError(f"{method} {path} was not answered in {PATIENCE_S:g} s: {said}")

    def _see_head(self, answer: httpx.Response) -> None:
        if head := answer.headers.get("gainsay-checkpoint"):
            log, size, root = head.split(" ")
            self.told.heads.add((log, int(size), decode_base64(root) or b""))


def case_of(number: int, *, leaves: bool) -> JSON:
    """A case that says its number, of each format in turn, now and then with little money."""
    form = tuple(CASES)[number % len(CASES)]
    return a_case(
        **CASES[form],
        question=f"Case {number}: does this agreement leave us with uncapped liability?",
        documents=[{"id": "D1", "title": "Master agreement", "text": TEXT}],
        costCeilingUSD="0.50" if number % 7 == 3 else "3.00",
        **({"onDisconnect": "abort"} if leaves else {}),
    )
