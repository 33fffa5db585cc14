"""The commands that search the audit log, hold it to heads that were kept, and make anew what is searched by."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from service.audit.checkpoint import Checkpoint, open_checkpoint, sign_checkpoint
from service.audit.note import SigningKey, encode_base64
from service.cli import main
from service.intake.model_ranking import Standing
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report import sent
from service.simulated import OfflineProvider
from service.store.impact import standings
from service.web.model_types import ModelList
from tests.fixtures.growing import KEY, LOG, Growing
from tests.fixtures.postgres import Database
from tests.fixtures.running import TEXT, bench, repository
from tests.fixtures.sequencing import a_sequencer


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, database: Database, data_folder: Path
) -> Run:
    """Call a command on the test's database."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))

    def call(*arguments: str | Path) -> Ended:
        code = main([str(argument) for argument in arguments])
        return Ended(code, *capfd.readouterr())

    return call


@pytest.fixture
def growing(database: Database) -> Iterator[Growing]:
    """A log with a signed head of 300 records."""
    log = Growing(database.admin_url)
    log.grow([b"leaf %d" % n for n in range(300)])
    yield log
    log.close()


@pytest.fixture
def debates(database: Database) -> list[str]:
    """A debate that is over and provable, and one that is queued."""

    async def make() -> list[str]:
        async with bench(database.service_url) as desk, a_sequencer(database) as sequencer:
            over = await desk.run()
            await sequencer.catch_up()
            return [over, await desk.submit()]

    return asyncio.run(make())


def test_the_models_are_listed_with_their_track_records_and_without_a_key(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def debate() -> list[Standing]:
        async with bench(database.service_url, OfflineProvider()) as desk:
            await desk.run(options={"format": "panel", "debaters": 2, "maxRounds": 1, "questionType": "factual"})
            return [*await standings(desk.database, "default")]

    known = asyncio.run(debate())
    listed, told = run("models"), json.loads(run("models", "--json").out)

    assert listed.code == 0
    assert told == json.loads(sent.encode(ModelList.of(read_policy(SHIPPED_POLICY), "2026-06-01", known)))
    records = {model["alias"]: model["trackRecords"] for model in told["models"] if "trackRecords" in model}
    assert set(records) == {one.model for one in known}
    for alias, (record,) in records.items():
        line = f"{alias} factual 1 debate {record['mean']:.3f} {record['score']:.3f}"
        assert line in " ".join(listed.out.split())
    monkeypatch.setenv("GAINSAY_POLICY", str(repository() / "examples" / "openai-anthropic.toml"))
    keyless = run("models")
    assert keyless.code == 0
    assert "No model here has a record yet" in keyless.out, "other models' records are no record of these"


def test_the_signed_head_is_printed_as_it_is_served(run: Run, growing: Growing) -> None:
    ended = run("audit", "checkpoint")

    assert (ended.code, ended.err) == (0, "")
    head, _ = open_checkpoint(ended.out.encode(), [KEY.public])
    assert head == Checkpoint(LOG, 300, growing.roots[300])
    assert run("audit", "checkpoint", "--log", LOG) == ended


def test_a_head_that_was_kept_is_the_beginning_of_the_log_that_grew(run: Run, growing: Growing, tmp_path: Path) -> None:
    note, header, printed = tmp_path / "head.txt", tmp_path / "header.txt", tmp_path / "curl.txt"
    note.write_text(run("audit", "checkpoint").out)
    header.write_text(f"{LOG} 300 {encode_base64(growing.roots[300])}")
    printed.write_text(f"gainsay-checkpoint: {LOG} 300 {encode_base64(growing.roots[300])}\r\n")
    growing.grow([b"more"] * 300)

    for file in (note, header, printed):
        ended = run("audit", "checkpoint", "--against", file)

        assert ended.code == 0
        assert "\n600\n" in ended.out
        assert "the 300 records of the head that was kept" in ended.err


def test_a_head_that_the_log_contradicts_ends_with_1(run: Run, growing: Growing, tmp_path: Path) -> None:
    strange = SigningKey.from_seed("localhost", b"\x09" * 32)
    heads = {
        "another root": (Checkpoint(LOG, 200, bytes(32)), KEY),
        "the latest size": (Checkpoint(LOG, 300, bytes(32)), KEY),
        "a later one": (Checkpoint(LOG, 301, bytes(32)), KEY),
        "another key": (Checkpoint(LOG, 300, growing.roots[300]), strange),
    }
    for name, (head, key) in heads.items():
        file = tmp_path / "head.txt"
        file.write_bytes(sign_checkpoint(head, key))

        ended = run("audit", "checkpoint", "--against", file)

        assert (ended.code, ended.out) == (1, ""), name
        assert ended.err.startswith("gainsay: contradicted: ")


def test_an_older_copy_of_the_database_is_noticed(run: Run, growing: Growing, tmp_path: Path) -> None:
    growing.grow([b"more"])
    file = tmp_path / "head.txt"
    file.write_text(run("audit", "checkpoint").out)
    for table in ("cosignature", "checkpoint"):
        growing.tamper(f"DELETE FROM {table} WHERE size = 301")

    ended = run("audit", "checkpoint", "--against", file)

    assert ended.code == 1
    assert "a head of 301 records was kept" in ended.err
    assert "its latest has 300" in ended.err


def test_a_head_in_the_database_that_the_log_key_did_not_sign_is_not_printed(run: Run, growing: Growing) -> None:
    growing.tamper("UPDATE checkpoint SET note = overlay(note PLACING '7' FROM 21)")

    ended = run("audit", "checkpoint")

    assert (ended.code, ended.out) == (1, "")


def test_a_file_that_holds_no_head_and_a_log_that_is_not_there_are_usage(
    run: Run, growing: Growing, tmp_path: Path
) -> None:
    file, other = tmp_path / "none.txt", tmp_path / "other.txt"
    file.write_text("hello")
    other.write_bytes(sign_checkpoint(Checkpoint("localhost/other/1", 3, bytes(32)), KEY))

    for arguments in (
        ("--against", file),
        ("--against", tmp_path / "missing.txt"),
        ("--against", other),
        ("--against", other, "--log", LOG),
        ("--log", "localhost/default/2"),
    ):
        ended = run("audit", "checkpoint", *arguments)

        assert (ended.code, ended.out) == (2, ""), arguments


def test_decisions_are_listed_by_what_they_rest_on(run: Run, debates: list[str], tmp_path: Path) -> None:
    over, queued = debates
    file = tmp_path / "agreement.txt"
    file.write_text(TEXT)
    digest = sha256(TEXT.encode()).hexdigest()

    by_file = run("audit", "recall", "--document", file)
    by_hash = run("audit", "recall", "--document", digest)
    told = json.loads(run("audit", "recall", "--document", digest, "--json").out)
    engines = run("audit", "recall", "--engine", "judgement/1")
    none = run("audit", "recall", "--model", "never-asked")

    assert by_file == by_hash
    assert by_file.code == 0
    first, second = by_file.out.splitlines()
    assert first.split()[0] == queued
    assert first.endswith("contract  queued  not provable yet")
    assert second.split()[0] == over
    assert f"contract  completed  {LOG} " in second
    assert by_file.err == f"2 debates rest on document {digest}, by tables computed from the records\n"
    assert (told["asked"], told["value"]) == ("document", digest)
    assert [row["debateId"] for row in told["debates"]] == [queued, over]
    assert "index" not in told["debates"][0]
    assert told["debates"][1]["index"] > 0
    assert engines.out.split()[0] == over
    assert (none.code, none.out, none.err) == (
        0,
        "",
        "no debate rests on model never-asked; give names in full, as in the report of a debate\n",
    )


def test_a_recall_is_recorded_and_one_of_nothing_or_of_two_is_usage(
    run: Run, debates: list[str], database: Database
) -> None:
    asked = ("--price", "offline@2026-01-01")
    assert run("audit", "recall", *asked).code == 0
    for arguments in ((), (*asked, "--engine", "x"), ("--prompt", "critic"), ("--document", "missing.txt")):
        ended = run("audit", "recall", *arguments)
        assert (ended.code, ended.out) == (2, ""), arguments

    with psycopg.connect(database.admin_url) as owner:
        rows = owner.execute(
            "SELECT convert_from(body, 'UTF8') FROM gainsay.payload WHERE body LIKE '%\"kind\":\"audit.read\"%'::bytea"
        ).fetchall()
    (payload,) = [json.loads(row[0]) for row in rows]
    assert (payload["what"], payload["asked"]) == ("recall", {"price": "offline@2026-01-01"})


def test_a_recall_goes_on_past_a_page(run: Run, debates: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.cli.access.in_process.RECALL_PAGE", 1)

    ended = run("audit", "recall", "--document", sha256(TEXT.encode()).hexdigest())

    assert [line.split()[0] for line in ended.out.splitlines()] == debates[::-1]


def test_a_rebuild_says_what_it_put_right(run: Run, debates: list[str], database: Database) -> None:
    assert run("rebuild").out.endswith("0 rows added, 0 removed\n")
    with psycopg.connect(database.admin_url) as owner:
        lost = owner.execute("DELETE FROM gainsay.rests_on WHERE what = 'document'").rowcount
        owner.execute("INSERT INTO gainsay.rests_on VALUES ('default', 'model', 'forged', %s)", (debates[0],))

    ended = run("rebuild")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("went through 2 debates and 1 manifests")
    assert ended.out.endswith(f": {lost} rows added, 1 removed\n")
    assert len(run("audit", "recall", "--document", sha256(TEXT.encode()).hexdigest()).out.splitlines()) == 2


@pytest.mark.no_replay
def test_a_rebuild_that_cannot_read_a_record_fails_and_names_the_debate(
    run: Run, debates: list[str], database: Database
) -> None:
    with psycopg.connect(database.admin_url) as owner:
        owner.execute("ALTER TABLE gainsay.payload DISABLE TRIGGER USER")
        owner.execute("DELETE FROM gainsay.payload WHERE debate = %s AND n = 3", (debates[0],))

    ended = run("rebuild")

    assert ended.code == 3
    assert f"debate {debates[0]}: the payload of record 3 is not stored" in ended.err
