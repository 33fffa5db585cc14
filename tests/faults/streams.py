"""Somebody who listens to one debate over event streams that break at any moment, and hears every entry once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import httpx

PATIENT = httpx.Timeout(5, read=6)
"""A stream that says nothing for so long is given up for another one: its service may have been stopped."""
Told = tuple[str, str]
"""An event's name, and its data as the text that was sent."""


@dataclass
class Listener:
    """What was heard of a debate, entry by entry, and how often the stream had to be resumed."""

    debate: str
    heard: list[tuple[int, tuple[Told, ...]]] = field(default_factory=list)
    over: bool = False
    cuts: int = 0

    async def listen(self, api: httpx.AsyncClient, most: int | None = None) -> None:
        """Listen from where the last stream ended until this one ends, or until ``most`` more entries are heard."""
        headers = {"last-event-id": str(self.heard[-1][0])} if self.heard else {}
        until = None if most is None else len(self.heard) + most
        try:
            async with api.stream(
                "GET", f"/v1/debates/{self.debate}/events", headers=headers, timeout=PATIENT
            ) as answer:
                if answer.status_code == 200:
                    await self._hear(answer, until)
                else:
                    assert answer.status_code == 503, answer.status_code
                    assert "retry-after" in answer.headers
        except httpx.TransportError:
            pass
        if not self.over:
            self.cuts += 1
            await asyncio.sleep(0.1)

    async def _hear(self, answer: httpx.Response, until: int | None) -> None:
        """Events whose entry is not whole when the stream breaks are forgotten: they come again."""
        fields: dict[str, str] = {}
        entry: list[Told] = []
        async for line in answer.aiter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
                continue
            if "event" in fields:
                entry.append((fields["event"], fields["data"]))
                if "id" in fields:
                    self._take(int(fields["id"]), entry)
                    entry = []
            elif "id" in fields:
                self._take(int(fields["id"]), [])  # a check that found nothing
            fields = {}
            if self.over or len(self.heard) == until:
                return

    def _take(self, n: int, entry: list[Told]) -> None:
        expected = self.heard[-1][0] + 1 if self.heard else 1  # the case itself has no event
        assert n == expected, f"debate {self.debate}: entry {n} was heard in the place of {expected}"
        self.heard.append((n, tuple(entry)))
        self.over = bool(entry) and entry[-1][0] == "final"
