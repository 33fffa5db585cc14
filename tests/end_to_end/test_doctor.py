"""`gainsay doctor`: every part by itself, nothing started, no secret shown, and no test call that is not agreed to."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from unittest.mock import patch

import psycopg
import pytest

from service.audit.checkpoint import Checkpoint, cosign, sign_checkpoint
from service.audit.note import COSIGNATURE, SigningKey
from service.cli import exit_codes, main
from service.cli.doctor.deployment import check_witness
from service.cli.doctor.findings import HIDDEN, Finding, Secrets, examined, failed, ok
from service.policy import Witness
from service.policy.first import first_policy
from service.policy.settings import read_policy
from service.store.embedded import home_files
from service.store.embedded.presence import presence
from service.store.embedded.server import shared_server, stop_server
from tests.end_to_end.vendors.answering import serving
from tests.fixtures.postgres import Database
from tests.fixtures.serving import SIGNING_KEY, sequenced


class Ended(NamedTuple):
    """What the command left behind."""

    code: int
    out: str
    err: str


SECRET = "s3cret-planted-5f2c"
CHECKS = {
    "settings",
    "policy",
    "prompts",
    "keys",
    "approval",
    "identity",
    "sets",
    "witness",
    "time stamps",
    "signer",
    "heads",
    "disk",
    "database",
    "sequencer",
    "serving",
    "migrating",
    "clock",
    "incidents",
}


def run(folder: Path, *arguments: str, **variables: str) -> Ended:
    """The command with these variables alone, and nobody at the keyboard."""
    out, err = StringIO(), StringIO()
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    with (
        patch.dict(os.environ, {**kept, **variables}, clear=True),
        patch("sys.stdin", StringIO("")),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main(["doctor", *arguments])
    return Ended(code, out.getvalue(), err.getvalue())


def findings(folder: Path, *arguments: str, code: int = 0, **variables: str) -> dict[str, dict[str, Any]]:
    """The findings of the command by check, the worst of each."""
    ended = run(folder, "--json", *arguments, **variables)
    assert ended.code == code, ended.out + ended.err
    order = ("SKIPPED", "OK", "WARNING", "FAILED")
    return {row["check"]: row for row in sorted(json.loads(ended.out), key=lambda row: order.index(row["status"]))}


def statuses(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {check: row["status"] for check, row in found.items()}


def on(database: Database, folder: Path) -> dict[str, str]:
    """The variables of a deployment on a test's database, with its sequencer and its key."""
    return {"GAINSAY_DATABASE_URL": database.service_url, **sequenced(database.service_url, folder)}


def test_everything_of_a_sound_deployment_is_ok(database: Database, tmp_path: Path) -> None:
    found = findings(tmp_path, code=0, **on(database, tmp_path))

    unused = dict.fromkeys(("keys", "witness", "time stamps", "migrating"), "SKIPPED")
    assert statuses(found) == {**dict.fromkeys(CHECKS, "OK"), **unused}
    assert "PostgreSQL " in found["database"]["found"]


def test_a_database_that_takes_no_writes_is_not_ok(database: Database, tmp_path: Path) -> None:
    """Its logins are let in as ever, and no process would start."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{database.name}" SET default_transaction_read_only = on'.encode())

    found = findings(tmp_path, code=1, **on(database, tmp_path))

    assert found["database"]["status"] == "FAILED"
    assert "takes no writes: a standby, or default_transaction_read_only" in found["database"]["found"]


def test_a_look_starts_no_server_and_makes_no_file(tmp_path: Path) -> None:
    found = findings(tmp_path)

    assert found["database"]["status"] == "SKIPPED"
    assert "does not exist yet" in found["database"]["found"]
    assert found["signer"]["status"] == "SKIPPED"
    assert list(tmp_path.iterdir()) == []


def test_with_everything_broken_each_part_is_told_with_its_own_fault_and_without_a_secret(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("[gate]\nfactr = 1\n", "utf-8")
    url = f"postgresql://gainsay_service:{SECRET}@127.0.0.1:1/gainsay"
    broken = {
        "GAINSAY_POLICY": str(tmp_path / "policy.toml"),
        "GAINSAY_DATABASE_URL": url,
        "GAINSAY_SEQUENCER_URL": url,
        "GAINSAY_API_URL": url,
        "GAINSAY_DATABSE_URL": url,
        "GAINSAY_LEASE_S": "soon",
        "GAINSAY_PROMPTS_PIN": "0" * 64,
        "GAINSAY_SIGNING_KEY": "http://127.0.0.1:2",
        "GAINSAY_SIGNER_TOKEN": SECRET,
        "GAINSAY_DATA_DIR": "/proc/nowhere",
        "GAINSAY_APPROVAL": "/nowhere",
    }

    found = findings(tmp_path, "--call", "--yes", code=exit_codes.NEGATIVE, **broken)

    failing = {check for check, row in found.items() if row["status"] == "FAILED"}
    broken_parts = {"settings", "policy", "prompts", "signer", "disk", "database", "sequencer", "serving", "clock"}
    assert failing == broken_parts | {"incidents"}
    assert {check for check, row in found.items() if row["status"] == "SKIPPED"} >= {"keys", "approval", "calls"}
    assert set(found) >= CHECKS
    assert "did you mean 'factor'" in found["policy"]["found"]
    shown = run(tmp_path, "--call", "--yes", **broken)
    assert shown.code == exit_codes.NEGATIVE
    assert SECRET not in json.dumps(found) + shown.out + shown.err


def test_an_unmigrated_database_a_wrong_role_and_a_foreign_key_are_told(
    empty_database: Database, database: Database, tmp_path: Path
) -> None:
    sound = on(database, tmp_path)

    unmigrated = findings(tmp_path, code=1, **sound | {"GAINSAY_DATABASE_URL": empty_database.service_url})
    owner = findings(tmp_path, code=1, **sound | {"GAINSAY_DATABASE_URL": database.migrate_url})
    swapped = findings(tmp_path, code=1, **sound | {"GAINSAY_SEQUENCER_URL": database.service_url})
    serving = findings(tmp_path, code=1, **sound | {"GAINSAY_API_URL": database.service_url})
    foreign = findings(tmp_path, code=1, **sound | {"GAINSAY_LOG_HOST": "audit.bank.example"})

    assert (unmigrated["database"]["status"], owner["database"]["status"]) == ("FAILED", "FAILED")
    assert statuses(swapped)["sequencer"] == "FAILED"
    assert statuses(swapped)["database"] == "OK"
    assert statuses(serving)["serving"] == "FAILED"
    assert "make it and the key's name agree" in foreign["signer"]["remedy"]


def test_an_open_incident_and_open_damage_are_told(database: Database, tmp_path: Path) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(
            "INSERT INTO gainsay.damage (subject, tenant, log, place, what) "
            "VALUES ('row', 't', 'l', 'a row', 'is gone')"
        )
    damaged = findings(tmp_path, code=0, **on(database, tmp_path))
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("INSERT INTO gainsay.incident (log, what) VALUES ('localhost/default/1', 'it has shrunk')")
    contradicted = findings(tmp_path, code=1, **on(database, tmp_path))

    assert damaged["incidents"]["status"] == "WARNING"
    assert "1 open incidents of damaged evidence (row)" in damaged["incidents"]["found"]
    assert contradicted["incidents"]["status"] == "FAILED"
    assert "it has shrunk" in contradicted["incidents"]["found"]


VENDORS = """
[policy]
version = "mine"

[providers.vendor]
kind = "openai-compatible"
base_url = "http://127.0.0.1:PORT/v1"
key = "env:VENDOR_KEY"

[providers.file]
kind = "openai-compatible"
base_url = "http://127.0.0.1:PORT/v1"
key = "file:FOLDER/key"

[seats]
framing = { model = "one", allowance = 100 }
proposer = { model = "one", allowance = 100 }
critic = { model = "two", allowance = 100 }
rebuttal = { model = "one", allowance = 100 }
moderator = { model = "one", allowance = 100 }
"""
MODEL = """
[[models]]
alias = "{name}"
provider = "{provider}"
name = "{name}-2026-01-01"
family = "{name}"
tokenizer = "o200k_base"
context_window = 32000
  [[models.prices]]
  effective = "2026-01-01"
  source = "a contract, read 2026-11-21"
  input_usd = "2.00"
  cached_input_usd = "2.00"
  cache_write_usd = "2.00"
  output_usd = "8.00"
  reasoning_usd = "8.00"
"""


def vendors(folder: Path, port: int) -> str:
    text = VENDORS.replace("PORT", str(port)).replace("FOLDER", str(folder))
    text += MODEL.format(name="one", provider="vendor") + MODEL.format(name="two", provider="file")
    (folder / "policy.toml").write_text(text, "utf-8")
    (folder / "key").write_text(f"{SECRET}-file\n", "utf-8")
    (folder / "key").chmod(0o600)
    return str(folder / "policy.toml")


def answer(asked: dict[str, Any]) -> bytes:
    """The first model replies as it should; the second refuses the key, and quotes it."""
    if asked["body"]["model"].startswith("two"):
        words = f"bad key {asked['headers']['authorization']}"
        return _sent("401 Unauthorized", {"error": {"message": words, "code": "invalid_api_key"}})
    reply = json.dumps({"questionType": "factual", "because": "It can be looked up."})
    usage = {"prompt_tokens": 2400, "completion_tokens": 20, "total_tokens": 2420}
    choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
    return _sent("200 OK", {"id": "c", "model": "one-2026-01-01", "choices": [choice], "usage": usage})


def _sent(status: str, answered: dict[str, Any]) -> bytes:
    body = json.dumps(answered).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def test_each_model_gets_one_priced_call_with_pinned_texts_and_no_secret_is_shown(tmp_path: Path) -> None:
    async with serving(answer) as vendor:
        policy = vendors(tmp_path, vendor.port)
        found = await asyncio.to_thread(
            findings, tmp_path, "--call", "--yes", code=1, GAINSAY_POLICY=policy, VENDOR_KEY=f"{SECRET}-env"
        )
        asked = list(vendor.asked)

    assert found["call one"]["status"] == "OK"
    assert "0.00496 USD" in found["call one"]["found"]  # 2400 * 2 + 20 * 8 micro-dollars
    assert found["call two"]["status"] == "FAILED"
    assert "refusedKey" in found["call two"]["found"]
    assert SECRET not in json.dumps(found)
    assert [call["body"]["model"] for call in asked] == ["one-2026-01-01", "two-2026-01-01"]
    assert asked[0]["headers"]["authorization"] == f"Bearer {SECRET}-env"


def overbilling(asked: dict[str, Any]) -> bytes:
    """A reply that is billed at ten million tokens."""
    sent = answer({**asked, "body": {"model": "one"}})
    body = json.loads(sent.split(b"\r\n\r\n")[1])
    return _sent(
        "200 OK", {**body, "usage": {"prompt_tokens": 10**7, "completion_tokens": 1, "total_tokens": 10**7 + 1}}
    )


async def test_after_a_bill_above_the_ceiling_no_further_call_is_made(tmp_path: Path) -> None:
    async with serving(overbilling) as vendor:
        policy = vendors(tmp_path, vendor.port)
        found = await asyncio.to_thread(findings, tmp_path, "--call", "--yes", GAINSAY_POLICY=policy, VENDOR_KEY=SECRET)
        assert len(vendor.asked) == 1

    assert "20.000008 USD" in found["call one"]["found"]
    assert found["call one"]["status"] == "WARNING"
    assert "above the most that it could cost" in found["call one"]["found"]
    assert found["call two"]["status"] == "SKIPPED"


async def test_a_vendor_whose_key_is_missing_keeps_no_other_from_its_call(tmp_path: Path) -> None:
    async with serving(answer) as vendor:
        policy = vendors(tmp_path, vendor.port)
        (tmp_path / "key").unlink()
        found = await asyncio.to_thread(
            findings, tmp_path, "--call", "--yes", code=1, GAINSAY_POLICY=policy, VENDOR_KEY=SECRET
        )

    assert found["call one"]["status"] == "OK"
    assert "expected a secret in the file" in found["call two"]["found"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--call",), "not agreed to"),  # nobody answers the question
        (("--call", "--yes", "--ceiling", "0.001"), "above the ceiling"),
        ((), None),
    ],
    ids=["not agreed", "too dear", "not asked for"],
)
async def test_no_call_is_made_that_is_not_asked_for_agreed_to_and_covered(
    tmp_path: Path, arguments: tuple[str, ...], why: str | None
) -> None:
    async with serving(answer) as vendor:
        policy = vendors(tmp_path, vendor.port)
        found = await asyncio.to_thread(findings, tmp_path, *arguments, GAINSAY_POLICY=policy, VENDOR_KEY=SECRET)
        assert vendor.asked == []
        assert vendor.connections == 0

    assert ("call one" in found) == (why is not None)
    if why:
        assert why in found["call one"]["found"]


def test_keys_that_are_missing_or_open_to_all_are_told_by_their_place(tmp_path: Path) -> None:
    policy = vendors(tmp_path, 1)

    missing = findings(tmp_path, code=1, GAINSAY_POLICY=policy)
    (tmp_path / "key").chmod(0o644)
    there = findings(tmp_path, code=1, GAINSAY_POLICY=policy, VENDOR_KEY=SECRET)

    assert "providers.vendor.key: expected a secret in the variable VENDOR_KEY" in missing["keys"]["found"]
    assert "expected a file that not all users may read" in there["keys"]["found"]


def test_the_simulated_models_are_called_too(tmp_path: Path) -> None:
    found = findings(tmp_path, "--call", "--yes")

    assert {check for check in found if check.startswith("call ")} == {
        f"call {family}-{size}" for family in ("alder", "birch", "cedar") for size in ("large", "small")
    }
    assert {row["status"] for check, row in found.items() if check.startswith("call")} == {"OK"}


def test_a_witness_that_is_away_is_told(tmp_path: Path) -> None:
    key = SigningKey.from_seed("witness.example", bytes(32), COSIGNATURE).public.encode()
    policy = first_policy(("simulated",), "2026-11-24")
    text = f'{policy}\n[[audit.witnesses]]\nurl = "http://127.0.0.1:1"\nkey = "{key}"\n'
    (tmp_path / "policy.toml").write_text(text, "utf-8")

    found = findings(tmp_path, code=1, GAINSAY_POLICY=str(tmp_path / "policy.toml"))

    assert found["witness"]["status"] == "FAILED"
    assert "witness.example at http://127.0.0.1:1 does not answer" in found["witness"]["found"]


LOG = "localhost/default/1"
WITNESS = SigningKey.from_seed("witness.example", bytes(32), COSIGNATURE)
IMPOSTOR = SigningKey.from_seed("witness.example", bytes([1] * 32), COSIGNATURE)


def checkpoint_of(log: str, key: SigningKey) -> bytes:
    head = Checkpoint(log, 3, bytes(32))
    return sign_checkpoint(head, SIGNING_KEY) + cosign(head, 1_800_000_000, key).encode()


@pytest.mark.parametrize(
    ("log", "key", "status", "found"),
    [
        (LOG, WITNESS, "OK", "with the key of the policy; it has seen 3 records"),
        (LOG, IMPOSTOR, "FAILED", "no cosignature of the pinned key"),
        ("localhost/other/1", WITNESS, "FAILED", "found one of 'localhost/other/1'"),
    ],
    ids=["its own", "another key", "another log"],
)
def test_a_witness_has_to_show_its_key_on_a_checkpoint_of_our_log(
    log: str, key: SigningKey, status: str, found: str
) -> None:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(checkpoint_of(log, key))

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        witness = Witness(f"http://127.0.0.1:{server.server_port}", WITNESS.public.encode())
        (finding,) = check_witness(witness, LOG)
        thread.join()

    assert finding.status == status
    assert found in finding.found


def test_the_embedded_server_is_looked_at_where_it_is_to_be_started(tmp_path: Path, data_folder: Path) -> None:
    found = findings(tmp_path, "--start", GAINSAY_DATA_DIR=str(data_folder))

    looked_at = ("database", "sequencer", "clock", "incidents")
    assert {check: found[check]["status"] for check in looked_at} == dict.fromkeys(looked_at, "OK")


def test_a_status_that_a_crash_left_starts_no_server(tmp_path: Path) -> None:
    (tmp_path / "data" / "postgres").mkdir(parents=True)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        home_files.write_status(tmp_path / "data" / "postgres", "ready", port=other.getsockname()[1], pid=1)
        found = findings(tmp_path, GAINSAY_DATA_DIR=str(tmp_path / "data"))

    assert found["database"]["status"] == "SKIPPED"
    assert [path.name for path in (tmp_path / "data" / "postgres").iterdir()] == ["status.json"]


def test_a_look_leaves_a_warm_server_warm(tmp_path: Path, data_folder: Path) -> None:
    with shared_server(data_folder / "postgres", warm_s=60):
        pass
    try:
        looked = json.loads(run(tmp_path, "--json", GAINSAY_DATA_DIR=str(data_folder)).out)
        assert {row["check"]: row["status"] for row in looked}["clock"] == "OK"
        assert presence(data_folder / "postgres") == "running"
    finally:
        assert stop_server(data_folder / "postgres") == "stopped"


def test_a_check_that_breaks_hides_no_other_and_says_nothing_of_its_insides() -> None:
    def breaking() -> Iterator[Finding]:
        yield ok("disk", "is there")
        raise ValueError(SECRET)

    found = list(examined("disk", breaking))

    assert [finding.status for finding in found] == ["OK", "FAILED"]
    assert SECRET not in found[1].found


def test_every_secret_that_can_be_seen_is_taken_out_of_a_finding(tmp_path: Path) -> None:
    policy = read_policy(Path(vendors(tmp_path, 1)))
    environment = {
        "GAINSAY_DATABASE_URL": "postgresql://gainsay_service:pass%20word-1@db/gainsay",
        "GAINSAY_SIGNER_TOKEN": "token-of-the-signer",
        "GAINSAY_SIGNING_KEY": "env:LOG_KEY",
        "LOG_KEY": "PRIVATE+KEY+log",
        "VENDOR_KEY": "sk-of-the-vendor",
        "OTHER_URL": "https://user:of-another@example/",
    }
    secrets = Secrets(environment, policy)
    planted = ["pass%20word-1", "pass word-1", "token-of-the-signer", "PRIVATE+KEY+log", "sk-of-the-vendor"]
    planted += ["of-another", f"{SECRET}-file"]

    hidden = secrets.hidden(failed("signer", f"a {' b '.join(planted)} c", f"\x1b[2J{planted[0]}"))

    assert hidden.found == f"a {' b '.join([HIDDEN] * len(planted))} c"
    assert hidden.remedy == f"[U+001B][2J{HIDDEN}"
