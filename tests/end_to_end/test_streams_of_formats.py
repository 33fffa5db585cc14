"""Streams of the formats over HTTP: ids, resuming, the view of the last event, and the last event of a panel."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from service import samples
from tests.fixtures.serving import JSON, Event, Served, a_case, a_declined_case

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_only_the_last_event_of_an_entry_has_an_id_and_whoever_resumes_misses_none(site: Served) -> None:
    finished = await site.finished(samples.load("contract", "convergence").case)
    debate = finished["debateId"]

    whole = await site.events(debate)

    begun = [n for n, event in enumerate(whole) if event.name == "debate.round_started"]
    assert len(begun) >= 2
    assert all((whole[n].id, whole[n + 1].name) == (0, "asked") for n in begun)
    assert all(event.id or event.data["n"] == following.data["n"] for event, following in pairwise(whole))
    ids = [event.id for event in whole if event.id]
    assert (ids, ids[-1]) == (sorted(set(ids)), finished["entries"] - 1)
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


def carried(final: Event) -> JSON:
    """The result that the last event has."""
    result: JSON = final.members.get("result") if "event" in final.data else final.data  # type: ignore[assignment]
    return {name: value for name, value in result.items() if name not in ("n", "at")}


@pytest.mark.parametrize("variant", [None, "panel", "declined"])
async def test_final_has_the_view_of_the_request_in_which_it_is_sent(site: Served, variant: str | None) -> None:
    case = a_declined_case() if variant == "declined" else samples.load("contract", variant).case
    debate = (await site.finished(case))["debateId"]
    read = {v: (await site.http.get(f"/v1/debates/{debate}", params={"view": v})).json() for v in ("summary", "full")}

    usual, summary, full = [await site.events(debate, view=view) for view in (None, "summary", "full")]

    assert usual == summary
    assert full[:-1] == summary[:-1], "the view changes final alone"
    assert carried(summary[-1]) == read["summary"]
    assert carried(full[-1]) == read["full"]
    before = summary[-1].id - 1
    assert (await site.events(debate, before, "full"))[-1] == full[-1]
    assert (await site.events(debate, before))[-1] == summary[-1], "a reader that resumes says its view again"


async def test_readers_of_one_running_debate_each_have_their_own_view(site: Served) -> None:
    debate = (await site.submit(a_case()))["debateId"]

    summary, full = await asyncio.gather(site.events(debate), site.events(debate, view="full"))

    assert full[:-1] == summary[:-1]
    assert (carried(summary[-1])["view"], carried(full[-1])["view"]) == ("summary", "full")


@pytest.mark.parametrize("view", ["whole", "", "Full", "summary,full"])
async def test_an_unknown_view_of_a_stream_is_refused_before_anything_is_sent(site: Served, view: str) -> None:
    debate = (await site.finished())["debateId"]
    last = (await site.events(debate))[-1].id

    for headers in ({}, {"last-event-id": "1"}, {"last-event-id": str(last)}):
        refused = await site.http.get(f"/v1/debates/{debate}/events", params={"view": view}, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, "bad_request")
        assert "view must be one of summary" in refused.json()["detail"]
