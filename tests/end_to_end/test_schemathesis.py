"""schemathesis, with all its checks, finds nothing between the document and the service.

`make schemathesis` tries many more requests, on a service that runs the debates.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from service.identity.roles import ROLES, SERVICE_WIDE
from service.policy.settings import SHIPPED_POLICY
from tests.fixtures.callers import Known, Registers, identity_file
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.serving import Served, a_declined_case, served

pytestmark = pytest.mark.long

HERE = Path(__file__).parent / "schemathesis"
LONG = os.environ.get("GAINSAY_TEST_SCHEMATHESIS_EXAMPLES")
SEED = os.environ.get("GAINSAY_TEST_SCHEMATHESIS_SEED", "1")
WITHIN_S = 7_200 if LONG else 300
UNLIMITED = "".join(f'{name}_per_minute = "unlimited"\n' for name in ("submit", "read", "check", "evidence"))
"""A long run asks more than one caller may in a minute."""
ROLE = os.environ.get("GAINSAY_TEST_SCHEMATHESIS_ROLE")
"""The role whose key a long run sends; without one it asks a service without identities."""
CASES = ("submitCase", "decide", "quoteCase")
"""Operations with so many members that covering each takes two minutes."""
RUNS: list[tuple[str, ...]] = (
    [("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", LONG)]
    if LONG
    else [
        ("--phases", "examples,fuzzing,stateful", "--max-examples", "2"),
        ("--phases", "coverage", *(word for name in CASES for word in ("--exclude-operation-id", name))),
    ]
)


async def found_by_schemathesis(site: Served, folder: Path, *words: str, document: str = "", **variables: str) -> str:
    """What schemathesis writes where it finds something; empty if it finds nothing."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "run", document or f"{site.url}/openapi.json", "--url", site.url),
        *("--checks", "all", "--seed", SEED, *words),
        *("--continue-on-failure", "--no-color", "--request-timeout", "30", "--warnings", "off"),
        cwd=folder,
        env={**os.environ, "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py"), "PYTHONPATH": str(repository()), **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(WITHIN_S):
        out, _ = await process.communicate()
    if LONG:
        print(out.decode())  # noqa: T201 - make schemathesis shows it
    return "" if process.returncode == 0 else out.decode()


async def settings(site: Served, submitter: Known | None = None) -> str:
    """The settings of schemathesis, with the names of a debate and of the log, so that it reads what is there."""
    site.http.headers.update(submitter.headers if submitter else {})
    debate = (await site.finished())["debateId"]
    await site.submit(a_declined_case())
    host, tenant, epoch = (await site.http.get("/v1/audit/logs")).json()["logs"][0]["log"].split("/")
    names = {"path.host": host, "path.tenant": tenant, "path.epoch": epoch, "path.debate": debate}
    given = "\n".join(f'"{name}" = "{value}"' for name, value in names.items())
    return f"{(HERE / 'schemathesis.toml').read_text('utf-8')}\n[parameters]\n{given}\n"


async def key_of(registers: Registers, role: str) -> Known:
    """A key of a role; ``requester`` is the one that submitted what is read."""
    return await registers.issue(role, tenant=None if role in SERVICE_WIDE else "default")


@pytest.mark.timeout(WITHIN_S * 2)
@pytest.mark.skipif(bool(LONG) and not ROLE, reason="a long run with identities names a ROLE")
async def test_schemathesis_as_each_role_finds_nothing(database: Database, tmp_path: Path) -> None:
    """A short run sends the key of another role with each request, and a long one the key of one role.

    The long run also sees that a request without the key, or with a wrong one, is refused.
    """
    registers, policy = Registers(database), tmp_path / "policy.toml"
    policy.write_text(f"{SHIPPED_POLICY.read_text('utf-8')}\n[rates]\n{UNLIMITED}", "utf-8")
    known = identity_file(tmp_path)
    async with served(database.service_url, GAINSAY_IDENTITY=known, GAINSAY_POLICY=str(policy)) as site:
        keys = {role: await key_of(registers, role) for role in ([ROLE] if ROLE else ROLES)}
        submitter = keys.get("requester") or await key_of(registers, "requester")
        (tmp_path / "schemathesis.toml").write_text(await settings(site, submitter), "utf-8")
        kept = " ".join(name for known in (submitter, *keys.values()) for name in (known.key, known.subject))
        variable = {"GAINSAY_TEST_SCHEMATHESIS_KEPT": kept}
        if LONG:
            header = ("--header", f"Authorization: Bearer {keys[str(ROLE)].secret}")
            found = [await found_by_schemathesis(site, tmp_path, *words, *header, **variable) for words in RUNS]
        else:
            short = ("--phases", "fuzzing", "--max-examples", "1", "--exclude-checks", "ignored_auth")
            variable["GAINSAY_TEST_SCHEMATHESIS_KEYS"] = " ".join(known.secret for known in keys.values())
            found = [await found_by_schemathesis(site, tmp_path, *short, **variable)]

    if any(found):
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.timeout(WITHIN_S * 2)
@pytest.mark.skipif(bool(ROLE), reason="a run as a ROLE asks a service with identities")
async def test_schemathesis_finds_nothing(database: Database, tmp_path: Path) -> None:
    async with served(database.service_url) as site:
        (tmp_path / "schemathesis.toml").write_text(await settings(site), "utf-8")

        found = [await found_by_schemathesis(site, tmp_path, *words) for words in RUNS]

    if any(found):
        pytest.fail("\n".join(found), pytrace=False)


async def test_schemathesis_sees_a_document_that_allows_too_much(database: Database, tmp_path: Path) -> None:
    """Without its rules, a request that fits the document and is refused is found: an empty answer says it looked."""
    async with served(database.service_url, work=False) as site:
        document = (await site.http.get("/openapi.json")).json()
        (tmp_path / "schemathesis.toml").write_text((HERE / "schemathesis.toml").read_text("utf-8"), "utf-8")
        for parameter in document["paths"]["/v1/audit/recall"]["get"]["parameters"]:
            parameter["schema"] = {"type": "string", "minLength": 1}
        (tmp_path / "loose.json").write_text(json.dumps(document), "utf-8")

        found = await found_by_schemathesis(
            site, tmp_path, "--phases", "coverage", "--include-operation-id", "recall", document="loose.json"
        )

    assert "the document allows what the service refuses" in found
