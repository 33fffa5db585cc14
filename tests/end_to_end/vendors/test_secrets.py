"""Planted keys are looked for everywhere: in errors, traces with their variables, logs, metrics, records and HTTP.

Three ways to hold a secret (variable, file, secret header), and vendors that send back whatever they were given.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import json
import logging
import pickle
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import psycopg
import pytest
import rich.pretty
from prometheus_client import generate_latest
from psycopg import sql

from service.errors import SettingsError
from service.observing import labelled
from service.policy import Policy, ProviderSetting
from service.providers.anthropic import Anthropic
from service.providers.credentials import Secret
from service.providers.openai_compatible import OpenAICompatible
from service.running.provider_port import Answer, CallFailed, Provider
from tests.end_to_end.vendors.adapters import WIRES, answered, connect, failed
from tests.end_to_end.vendors.policies import two_vendors, written
from tests.end_to_end.vendors.requests import TOLD, a_request
from tests.end_to_end.vendors.test_errors import ROWS
from tests.fixtures.behaviours import (
    Behaviour,
    Body,
    Call,
    Cut,
    Echo,
    Framed,
    Model,
    Reply,
    Say,
    Slow,
    Squeezed,
    Status,
)
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.secret_files import write_secret
from tests.fixtures.serving import Served, a_case, served
from tests.fixtures.upstream import upstream
from tests.fixtures.vendors import Wire

MARKER = "PLANTED"
KEYS = {"by variable": f"sk-{MARKER}-variable-0123456789", "by header": f"hdr-{MARKER}-header-0123456789"}
IN_FILE = f"sk-{MARKER}-file-0123456789"


def shows(text: str | bytes) -> bool:
    """Whether a marker stands in a text, in any of the ways in which a text is usually written."""
    raw = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
    marked = MARKER.encode()
    # How base64 writes it depends on where it begins, and its first and last character on its neighbours.
    coded = {base64.b64encode(b"x" * at + marked)[-(-at * 4 // 3) : (at + len(marked)) * 4 // 3] for at in range(3)}
    return any(form in raw for form in (marked, marked.hex().encode(), marked[::-1], *coded))


def test_a_planted_key_is_found_where_there_is_one() -> None:
    whole = KEYS["by variable"]
    for text in (whole, repr([whole]), whole.encode().hex(), base64.b64encode(f"user:{whole}".encode()).decode()):
        assert shows(text), text
    assert not shows("sk-another-0123456789")


class Planted:
    """The settings with planted secrets, and what a process would find them with."""

    def __init__(self, folder: Path) -> None:
        self.file = write_secret(folder / "key", f"{IN_FILE}\n")
        self.environment = {"VARIABLE": KEYS["by variable"], "HEADER": KEYS["by header"]}

    def settings(self) -> Iterator[dict[str, Any]]:
        """One with the key in a variable, and one with it in a file; both with a secret header."""
        headers = {"x-gateway-key": "env:HEADER"}
        yield {"key": "env:VARIABLE", "secret_headers": headers}
        yield {"key": f"file:{self.file}", "secret_headers": {"x-gateway-key": f"file:{self.file}"}}


@pytest.fixture
def planted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Planted:
    """Planted secrets, with every logger at its most talkative."""
    caplog.set_level(logging.DEBUG)
    for name in ("gainsay", "httpx", "httpcore", "aiohttp", "aiohttp.client", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=name)
    return Planted(tmp_path)


def repeating(call: Call) -> Reply:
    """A good answer with the caller's key in every place that is kept of one."""
    key = next(v for k, v in call.headers.items() if k in ("authorization", "x-api-key")).removeprefix("Bearer ")
    told = {"model": key, "id": key, "system_fingerprint": key, "service_tier": key}
    made = Say(json.dumps({"thesis": key}), changes=told)(call)
    return replace(made, headers={"x-request-id": key, "request-id": key})


def naming(call: Call) -> Reply:
    """A good answer whose headers alone have the key."""
    return Echo(Say(TOLD))(call)


def identifying(call: Call) -> Reply:
    """An error whose request id is the key."""
    key = call.headers.get("authorization") or call.headers["x-api-key"]
    named = {"x-request-id": key.removeprefix("Bearer "), "retry-after": key, "content-type": key}
    return replace(Status(400, kind=key, code=key)(call), headers=named, content_type=None)


BEHAVIOURS: Mapping[str, Behaviour] = {
    **{name: Echo(row.behaviour) for name, row in ROWS.items() if row.only is None and name != "nonsense"},
    "repeats": repeating,
    "repeats, packed": Squeezed("gzip", repeating),
    "names": naming,
    "identifies": identifying,
    "refuses": Echo(Say(None, refusal="no")),
    "cut": Cut("body", Echo(Status(500))),
    "cut in the headers": Cut("headers", Echo(Status(401))),
    "chunked": Framed("unended", inner=Echo(Status(401))),
    "too slow": Slow(30, Echo(Status(401))),
    "error under 200": Echo(Body({"error": {"message": "no", "type": "no", "code": "no"}})),
}


async def everything_told(made: Provider, setting: ProviderSetting) -> tuple[list[str], bool]:
    """All that one call lets anybody see, and whether it was a good one."""
    told = [repr(made), str(made), repr(setting), str(vars(made) if hasattr(made, "__dict__") else "")]
    told += [msgspec.json.encode(setting).decode(), rich.pretty.pretty_repr(made), rich.pretty.pretty_repr(setting)]
    body = made.encode(a_request())
    told += [body.decode(), repr(made.decode_request(body))]
    ended: Answer | CallFailed
    try:
        ended = await made.send(body)
    except CallFailed as failed:
        ended = failed
        shown = traceback.TracebackException.from_exception(failed, capture_locals=True)
        told += ["".join(shown.format()), str(failed), repr(failed), repr(failed.__dict__), *map(repr, failed.args)]
        told += [repr(failed.__cause__), repr(failed.__context__)]
        answer = failed.answer
    else:
        answer = ended
    told += [repr(ended), repr(answer), msgspec.json.encode(answer).decode()]
    return told, isinstance(ended, Answer)


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.parametrize("wire", WIRES)
async def test_no_ending_of_a_call_shows_a_secret(
    wire: Wire, name: str, planted: Planted, caplog: pytest.LogCaptureFixture
) -> None:
    await asyncio.gather(*(_one_ending(wire, name, planted, given) for given in planted.settings()))

    assert not shows(caplog.text)
    assert not any(shows(repr(vars(record))) for record in caplog.records)
    assert not shows(generate_latest(labelled.REGISTRY))


async def _one_ending(wire: Wire, name: str, planted: Planted, given: dict[str, Any]) -> None:
    async with upstream(BEHAVIOURS[name]) as up:
        made = connect(wire, up.url, planted.environment, call_timeout_s=3 if name == "too slow" else 15, **given)
        try:
            told, good = await everything_told(made, made._setting)
        finally:
            await made.close()

    assert any(shows(value) for value in up.calls[0].headers.values()), "the vendor was given the key"
    for text in told:
        assert not shows(text), text
    assert good == (name == "names")


@pytest.mark.parametrize("wire", WIRES)
async def test_no_connection_that_fails_shows_a_secret(
    wire: Wire, planted: Planted, caplog: pytest.LogCaptureFixture
) -> None:
    for given in planted.settings():
        for address in ("http://127.0.0.1:9", "https://127.0.0.1:9"):
            made = connect(wire, address, planted.environment, **given)
            told, _ = await everything_told(made, made._setting)
            await made.close()
            assert not any(map(shows, told))
    assert not shows(caplog.text)


@pytest.mark.parametrize(
    ("changes", "environment"),
    [
        ({"key": "env:MISSING"}, {}),
        ({"key": "file:/nonexistent/key"}, {}),
        ({"key": f"sk-{MARKER}-in-the-policy"}, {}),
        ({"key": f"env:sk-{MARKER}"}, {}),
        ({"key": "env:BROKEN"}, {"BROKEN": f"sk-{MARKER}\nx-injected: 1"}),
        ({"key": "env:BROKEN"}, {"BROKEN": f"sk-{MARKER}-\u2013"}),
        ({"base_url": f"http://user:{MARKER}@127.0.0.1:9"}, {}),
        ({"base_url": f"http://127.0.0.1:9/?key={MARKER}"}, {}),
        ({"base_url": f"nonsense-{MARKER}"}, {}),
        ({"secret_headers": {"x-a": "env:MISSING"}}, {}),
        ({"secret_headers": {"x-a": f"{MARKER}"}}, {}),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value),
)
@pytest.mark.parametrize("wire", WIRES)
def test_a_setting_that_cannot_be_used_is_refused_without_showing_a_secret(
    wire: Wire, changes: dict[str, Any], environment: dict[str, str], planted: Planted
) -> None:
    with pytest.raises(SettingsError) as raised:
        connect(wire, "http://127.0.0.1:9", {**planted.environment, "FAKE_KEY": IN_FILE, **environment}, **changes)

    own = changes.get("key") == f"env:sk-{MARKER}"  # who writes a key where a name belongs has named it so
    assert own or not shows(str(raised.value))


@pytest.mark.parametrize("wire", WIRES)
async def test_an_adapter_cannot_be_written_anywhere_with_its_secrets(wire: Wire, planted: Planted) -> None:
    for given in planted.settings():
        made = connect(wire, "http://127.0.0.1:9", planted.environment, **given)
        for write in (pickle.dumps, msgspec.json.encode, msgspec.to_builtins, copy.deepcopy):
            try:
                written = write(made)
            except Exception:  # noqa: BLE001 - that it cannot be written is what is wanted
                continue
            assert not shows(repr(written))
        await made.close()


@pytest.mark.parametrize("wire", WIRES)
async def test_whatever_an_adapter_holds_shows_no_secret_by_itself(wire: Wire, planted: Planted) -> None:
    """A debugger, an error tracker: each shows the parts of an object one by one."""
    for given in planted.settings():
        async with upstream(Echo(Say(TOLD))) as up:
            made = connect(wire, up.url, planted.environment, **given)
            await answered(made)
            parts = list(held(made))
            await made.close()

        assert sum(isinstance(part, Secret) for part in parts) >= 2
        for part in parts:
            assert not shows(repr(part)), type(part)
            assert not shows(f"{part}"), type(part)


def held(root: object) -> Iterator[object]:
    """Every object that can be reached from one through what is ours or httpx's, but for what is inside a `Secret`."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, type | ModuleType):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, Mapping):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += part
        elif not isinstance(part, Secret) and type(part).__module__.startswith(("service.", "httpx")):
            slots = [slot for kind in type(part).__mro__ for slot in getattr(kind, "__slots__", ())]
            waiting += [getattr(part, name) for name in (*vars_of(part), *slots) if hasattr(part, name)]


def vars_of(part: object) -> tuple[str, ...]:
    return tuple(getattr(part, "__dict__", ())) + tuple(getattr(part, "__struct_fields__", ()))


def only(key: str) -> Behaviour:
    """A vendor that takes one key and no other."""
    return lambda call: (Say(TOLD) if key in " ".join(call.headers.values()) else Status(401))(call)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_key_that_was_replaced_in_its_file_is_taken_up(wire: Wire, planted: Planted) -> None:
    async with upstream(only("sk-new-0123456789abcdef")) as up:
        made = connect(wire, up.url, planted.environment, key=f"file:{planted.file}")
        first = await failed(made)
        planted.file.write_text("sk-new-0123456789abcdef\n")
        second = await answered(made)
        await made.close()

    assert (first.reason, first.retry, first.billable) == ("refusedKey", False, False)
    assert second.text == TOLD


# -- through a whole debate


@asynccontextmanager
async def joined(policy: Policy, environment: Mapping[str, str]) -> AsyncIterator[dict[str, Provider]]:
    """Both vendors' adapters."""
    providers: dict[str, Provider] = {
        "open": OpenAICompatible.connect("open", policy.providers["open"], environment),
        "closed": Anthropic.connect("closed", policy.providers["closed"], environment),
    }
    try:
        yield providers
    finally:
        for provider in providers.values():
            await provider.close()


DEBATES: Mapping[str, tuple[Behaviour, Behaviour]] = {
    "refused": (Echo(Status(401)), Echo(Status(401))),
    "failing": (Echo(Status(500)), Echo(Status(500))),
    "half": (Model(), Echo(Status(429))),
    "repeating": (Model(), repeating),
    "good": (Model(), Model()),
}


@pytest.mark.parametrize("name", DEBATES)
async def test_no_record_of_a_debate_holds_a_secret(
    name: str, database: Database, planted: Planted, caplog: pytest.LogCaptureFixture
) -> None:
    opened, closed = DEBATES[name]
    async with upstream(opened) as first, upstream(closed) as second:
        policy = two_vendors(first.url, second.url, **next(planted.settings()))
        async with (
            joined(policy, planted.environment) as providers,
            bench(database.service_url, policy=policy, providers=providers) as service,
        ):
            entries = await service.entries(await service.run())

    assert entries
    for table, row in rows(database):
        assert not shows(row), table
    assert not shows(caplog.text)
    assert not shows(generate_latest(labelled.REGISTRY))


# -- and through the service, as an operator starts it

KEYS_WRITTEN = 'key = "env:VARIABLE"\nsecret_headers = { "x-gateway-key" = "env:HEADER" }\ncall_timeout_s = 5\n'
SHIPPED, BRIEFLY = "unavailable_attempts = 12", "unavailable_attempts = 2"
"""A vendor that always fails is given up soon: how long it is waited for is tested elsewhere."""


@pytest.mark.parametrize("name", ["refused", "failing", "good"])
async def test_nothing_that_the_service_serves_shows_a_secret(
    name: str,
    database: Database,
    planted: Planted,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable, value in planted.environment.items():
        monkeypatch.setenv(variable, value)
    opened, closed = DEBATES[name]
    file = tmp_path / "policy.toml"
    async with upstream(opened) as first, upstream(closed) as second:
        policy = written(first.url, second.url, KEYS_WRITTEN)
        assert policy.count(SHIPPED) == 1, f"the shipped policy has no line {SHIPPED!r}: name what it has"
        file.write_text(policy.replace(SHIPPED, BRIEFLY), "utf-8")
        async with served(database.service_url, GAINSAY_POLICY=str(file), GAINSAY_LOG_LEVEL="DEBUG") as service:
            told = repr(service.app), repr(service.app.settings), rich.pretty.pretty_repr(service.app.settings)
            answers = await everything_served(service)

    assert first.calls
    assert any(shows(value) for value in first.calls[0].headers.values())
    assert not any(map(shows, told))
    for address, answer in answers.items():
        assert not shows(answer), address
    for table, row in rows(database):
        assert not shows(row), table
    assert not shows(caplog.text)


async def everything_served(service: Served) -> dict[str, str]:
    """What the service answers to a debate, to whoever looks at it afterwards, and to whoever asks wrongly."""
    case = a_case(options={"format": "adversarial", "maxRounds": 1})
    first = await service.http.post("/v1/debates", json=case, headers={"prefer": "wait=30"})
    debate = first.headers["location"] if "location" in first.headers else f"/v1/debates/{first.json()['id']}"
    found = {"POST": f"{first.headers} {first.text}"}
    paths = (
        *(debate, f"{debate}/events", f"{debate}/report", f"{debate}/audit", f"{debate}/nothing"),
        *("/v1/models", "/v1/policy", "/v1/prompts", "/metrics", "/readyz", "/openapi.json", "/v1/nothing"),
    )
    for path in paths:
        answer = await service.http.get(path)
        found[path] = f"{answer.headers} {answer.text}"
    for path in ("/v1/debates", "/v1/quotes", "/v1/gate"):
        wrong = await service.http.post(path, json={"question": ""})
        assert wrong.status_code >= 400
        found[f"wrong {path}"] = f"{wrong.headers} {wrong.text}"
    return found


def rows(database: Database) -> Iterator[tuple[str, str]]:
    """Every row of every table as text; bytes stand there in hexadecimal digits."""
    with psycopg.connect(database.admin_url) as admin:
        names = admin.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        assert len(names) > 5
        for schema, table in names:
            found = admin.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(schema, table)))
            yield from ((f"{schema}.{table}", row) for (row,) in found)
