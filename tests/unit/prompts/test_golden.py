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
    "deadline": (14, "ecb3a6d7473f5dcf9a5bbd334eb4c46633e9745498d0893e97ad3db1cb6dd336"),
    "failed": (13, "63593be7e59b6a24940ce07794eb994c22a5f8ad6050e08f3e62727262c6a267"),
    "late-reply": (6, "1a97931d242e8d11c93d2f7a3541220815cf157342038ac3de41a70e083adc3f"),
    "new-evidence": (18, "ef252820eb01bdd40b9424e4888e016849c49182e1cf52f1de51c33e6befbf16"),
    "plain": (10, "1e8217e5592da7bdc7275c97022587e2ce512d25727569ffbcbf85539cdbb7ee"),
    "retried": (12, "6978ec5397e1eb23a7354073de4f2e28c83d52d0883c5f114d788cee7415993a"),
    "three-positions": (36, "0c015b7ce490b7c705034e99e0726e0b662a8231609609c45e841a5ba52741e8"),
    "three-rounds": (26, "d1b152fa3d4786fa42448c20b486401b3ca5c0a80762cdb81e82e3c869738111"),
    "truncated": (15, "9d904c2a32b4693cc3c819c4151d9b2d5a33690cf76e930692fc2a5196d0cf41"),
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
