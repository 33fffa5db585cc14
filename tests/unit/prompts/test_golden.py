"""Requests of recorded adversarial debates are the same bytes as when their prompts were released.

The texts and schemas are those of version 1, whatever is current by now, so a difference is one of the templates.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.debate.entries import CaseReceived, Entry, decode
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Ask
from service.prompts import Prompts
from service.prompts.render import render
from service.prompts.request import encode
from tests.vectors import record

RECORDED = Path(record.__file__).parent / "adversarial-1"
PROMPTS = Prompts.load()
GOLDEN = {
    "aborted": (6, "1a97931d242e8d11c93d2f7a3541220815cf157342038ac3de41a70e083adc3f"),
    "deadline": (14, "5e4d419fb88527bec78c01cabf361f56dd47d5fe07c7476f8b3758825cbcf49f"),
    "failed": (13, "63593be7e59b6a24940ce07794eb994c22a5f8ad6050e08f3e62727262c6a267"),
    "late-reply": (6, "1a97931d242e8d11c93d2f7a3541220815cf157342038ac3de41a70e083adc3f"),
    "new-evidence": (18, "c580dc4f3c5e4bfe33d400367d3d927d6aea90e28822df4318830a73886930c8"),
    "plain": (10, "7a9eae31fde5d03324eaada7fea02a697525ce9a5da7be8ad32263681698693b"),
    "retried": (12, "580be99aa7676bb8367abce60dff7567cf443ad7a9351ebb17a917e956964583"),
    "three-positions": (36, "622ef2e165a7ddd2b4200d79184f8ccc96c64ab5b27b38c49724a4b08a4d0f2f"),
    "three-rounds": (26, "2b24ea800ffec7e90a42e9cb786e712ff6c141be813a7fad9d36fb1cebb34ffe"),
    "truncated": (15, "d68195455d458ef190488a556a5d3dc6002d8a08eeeb476a72525c7534d39476"),
}
"""Of each recorded debate, how many requests it asks for and the SHA-256 of their bytes, each on a line."""


class Released:
    """Version 1 of every text and schema."""

    def text(self, prompt: str) -> str:
        return PROMPTS.text_at(prompt, 1)

    def schema(self, seat: str) -> dict[str, Any]:
        schema: dict[str, Any] = msgspec.json.decode(PROMPTS.files()[f"schemas/{seat}.v1.json"])
        return schema


def requests(entries: list[Entry]) -> Iterator[bytes]:
    """Every request that the debate asked for, and those of its closing turns as far as they could be rendered."""
    first, facts = entries[0], Facts()
    assert isinstance(first, CaseReceived)
    sources = {d.id: f"The text of {d.id}, clause 9.2: the cap is the fees paid." for d in first.case.documents}
    for entry in entries:
        facts.add(entry)
        move = decide(facts) if facts.started else None
        for turn in (*move.turns, *move.holding) if isinstance(move, Ask) else ():
            if all(seen in facts.said for seen in turn.sees):
                yield encode(render(Released(), first.case, sources, facts, turn))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_a_recorded_debate_is_asked_in_the_same_bytes(name: str) -> None:
    entries = [decode(line) for line in (RECORDED / f"{name}.jsonl").read_bytes().splitlines()]

    asked = list(requests(entries))

    assert (len(asked), sha256(b"\n".join(asked)).hexdigest()) == GOLDEN[name]
