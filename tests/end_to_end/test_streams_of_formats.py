"""Streams of the formats over HTTP: ids, resuming, and the last event of a panel."""

from __future__ import annotations

from itertools import pairwise

import pytest

from service import samples
from tests.fixtures.serving import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_only_the_last_event_of_an_entry_has_an_id_and_whoever_resumes_misses_none(site: Served) -> None:
    finished = await site.finished(samples.load("contract", "convergence").case)
    debate = finished["debateId"]

    whole = await site.events(debate)

    begun = [n for n, event in enumerate(whole) if event.name == "debate.round_started"]
    assert len(begun) >= 2
    assert all((whole[n].id, whole[n + 1].name) == (0, "asked") for n in begun)
    assert all(event.id or event.data["n"] == following.data["n"] for event, following in pairwise(whole))
    assert [event.id for event in whole if event.id] == list(range(1, finished["entries"]))
    before = begun[1] - 1
    assert await site.events(debate, after=whole[before].id) == whole[before + 1 :]
    assert await site.events(debate, after=whole[begun[1] + 1].id) == whole[begun[1] + 2 :]


async def test_a_panels_last_event_has_the_result_that_is_read_byte_for_byte(site: Served) -> None:
    finished = await site.finished(samples.load("contract", "panel").case)
    debate = finished["debateId"]

    *_, final = await site.events(debate)
    read = await site.http.get(f"/v1/debates/{debate}")

    assert (final.name, final.data["event"], final.data["debate_id"]) == ("final", "final", debate)
    assert final.data["status"] in ("completed", "failed")
    assert final.text.endswith(f'"result":{read.text}}}}}'), "what was streamed is what is read"
    whole = await site.http.get(f"/v1/debates/{debate}?view=full")
    assert whole.json()["hashes"]["log"]["index"] >= 0
