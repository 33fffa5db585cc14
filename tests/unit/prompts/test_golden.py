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
    "aborted": (6, "30758116632937f1030c171c1bb37283245e7ea080f6239dcb985edfa7dd96f1"),
    "deadline": (14, "6f4c58f67d252039062a4831afd2de7221c639d8235836e522aa2673605ee9f4"),
    "failed": (13, "dde77376eba90eb395f532c0dbd47b9b36fe309688382e42ece09c8c0725e2fd"),
    "late-reply": (6, "30758116632937f1030c171c1bb37283245e7ea080f6239dcb985edfa7dd96f1"),
    "new-evidence": (18, "d76563610289ce28a83f4cda5d4553c680b8526f3eb3bef7d38474c868e47113"),
    "plain": (10, "febd176e1c103977777efce87fa5f6cf35121f75df65f1075aeaa12d2e711013"),
    "retried": (12, "a0f93fba90497b646d5686db7a0b41797d6a8fa8aa472ab8e4d4ab2c6ef45d87"),
    "three-positions": (36, "28974cff836baa0da72f16408845433b8a73ce168ff3b50f1a0f2017048d82b3"),
    "three-rounds": (26, "18325b19028e756bafc2be67e1a7ffbfb08d5e9461afcf5a1a7f3f97ce7b76f0"),
    "truncated": (15, "6dcdcd9d06c8ef9878b87e4b5c3c4bebdc386f8ebc78911d3a9e6ab798b169fa"),
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
