"""The upstream itself: it answers as a vendor does, and its bills are exact; the contract tests believe them."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from service.debate.replies import REPLY_TYPES
from tests.end_to_end.vendors.requests import a_request
from tests.fixtures.behaviours import (
    Body,
    Cut,
    Faults,
    Framed,
    Model,
    Rule,
    Slow,
    Squeezed,
    Status,
    cached,
    plain,
    reasoned,
    too_much,
    untold,
)
from tests.fixtures.upstream import Upstream, upstream
from tests.fixtures.vendors import SEATS, VENDORS, WIRES, Mode, Tokens, Wire


def named(value: object) -> str:
    """What a case is called: the behaviour's kind, and the same in every run."""
    return str(value) if isinstance(value, int) else type(value).__name__


async def ask(up: Upstream, wire: Wire, seat: str = "proposer", mode: Mode = "json_schema") -> httpx.Response:
    async with httpx.AsyncClient(verify=False) as http:
        return await http.post(up.url + VENDORS[wire].path, json=VENDORS[wire].body(a_request(seat), mode))


@pytest.mark.parametrize(("wire", "mode"), [(wire, mode) for wire in WIRES for mode in VENDORS[wire].modes])
@pytest.mark.parametrize("seat", SEATS)
async def test_a_seat_is_played_however_its_schema_travels(wire: Wire, mode: Mode, seat: str) -> None:
    async with upstream() as up:
        answer = await ask(up, wire, seat, mode)

    assert answer.status_code == 200, answer.text
    msgspec.json.decode(VENDORS[wire].text(answer.json()), type=REPLY_TYPES[seat])
    (bill,) = up.bills
    assert bill.seat == seat
    assert bill.tokens.input > 1_000


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("rule", [plain, cached, reasoned, too_much])
async def test_what_is_told_adds_up_to_what_is_billed(wire: Wire, rule: Rule) -> None:
    async with upstream(Model(usage=rule)) as up:
        told = (await ask(up, wire)).json()["usage"]

    billed = up.billed
    assert (
        VENDORS[wire].total(told)
        == billed.input + billed.cached_input + billed.cache_write + billed.output + billed.reasoning
    )
    assert (billed.cached_input > 0) == (rule is cached)


@pytest.mark.parametrize(
    ("behaviour", "bills"),
    [
        (Model(), 1),
        (Model(usage=untold), 1),
        (Cut(0), 1),
        (Cut("headers"), 1),
        (Cut("body"), 1),
        (Framed(declared=10), 1),
        (Cut("request"), 0),
        (Status(429), 0),
        (Status(500), 0),
        (Cut("body", Status(503)), 0),
        (Body({"error": {}}), 0),
    ],
    ids=named,
)
async def test_what_was_made_is_billed_even_if_it_does_not_arrive(behaviour: Any, bills: int) -> None:
    async with upstream(behaviour) as up:
        with suppress(httpx.TransportError):
            await ask(up, "openai")

    assert (len(up.calls), len(up.bills)) == (1, bills)


@pytest.mark.parametrize(
    "behaviour", [Framed("chunked"), Framed("close"), Squeezed(), Squeezed("deflate"), Slow(0.01, slices=7)], ids=named
)
async def test_a_body_is_the_same_however_it_is_sent(behaviour: Any) -> None:
    async with upstream() as up:
        up.play(Model(), behaviour)
        usual, other = await ask(up, "openai"), await ask(up, "openai")

    assert {**usual.json(), "id": ""} == {**other.json(), "id": ""}


async def test_what_a_vendor_would_refuse_is_refused() -> None:
    async with upstream() as up, httpx.AsyncClient(verify=False) as http:
        good = VENDORS["anthropic"].body(a_request(), "json_schema")
        spoilt: list[dict[str, Any]] = [
            {**good, "max_tokens": None},
            {**good, "output_config": {}},
            {**good, "messages": []},
            {**good, "messages": [{"role": "user", "content": "Hello."}]},
            {k: v for k, v in good.items() if k != "model"},
        ]
        statuses = [(await http.post(f"{up.url}/v1/messages", json=body)).status_code for body in spoilt]
        unknown = await http.post(f"{up.url}/v1/elsewhere", json=good)

    assert statuses == [400] * len(spoilt)
    assert unknown.status_code == 404
    assert up.billed == Tokens()


async def test_faults_are_those_of_the_seed_and_of_no_other() -> None:
    async def played(seed: int) -> list[str]:
        found = []
        async with upstream(Faults(0.5, seed)) as up:
            for _ in range(20):
                try:
                    answer = await ask(up, "openai")
                    found.append(f"{answer.status_code} {len(answer.content)}")
                except httpx.TransportError as error:
                    found.append(type(error).__name__)
        return found

    first = await played(1)

    assert await played(1) == first
    assert await played(2) != first
    assert len(set(first)) > 3


async def test_it_serves_as_a_process_of_its_own_and_tells_what_it_billed() -> None:
    arguments = ["-m", "tests.fixtures.upstream", "--latency-ms", "1", "--usage", "cached"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=Path(__file__).parents[3], stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    ended: list[tuple[Wire, dict[str, Any]]] = []
    try:
        url = (await process.stdout.readline()).decode().strip()
        async with httpx.AsyncClient(base_url=url, verify=False) as http:
            for wire in WIRES:
                vendor = VENDORS[wire]
                answer = await http.post(vendor.path, json=vendor.body(a_request(), "json_schema"))
                ended.append((wire, answer.json()["usage"]))
            stats = (await http.get("/stats")).json()
    finally:
        process.terminate()
        await process.communicate()

    assert (stats["calls"], stats["billedCalls"], stats["untoldCalls"]) == (len(WIRES), len(WIRES), 0)
    billed = Tokens(**stats["billed"]["fake-1"])
    assert billed.cached_input > 0
    assert sum(VENDORS[wire].total(told) for wire, told in ended) == sum(asdict(billed).values())
    assert sum(told[VENDORS[wire].counts[1]] for wire, told in ended) == billed.output
