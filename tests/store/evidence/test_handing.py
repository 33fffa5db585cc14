"""The commands that hand evidence out: what they write, where, and that they write it whole or not at all."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from service.audit.bundle import unpack
from service.audit.export import Header, Row, read
from service.cli import exit_codes, main
from service.cli.new_file import CannotWrite, written
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.sequencing import KEY, LOG
from tests.store.evidence.conftest import examined, verified, wrong

pytestmark = pytest.mark.usefixtures("configured")


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def configured(database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_folder: Path) -> None:
    """The settings of a service with a sequencer of its own, and a working folder of the test's own."""
    key = tmp_path / "key"
    key.write_text(KEY.encode() + "\n")
    key.chmod(stat.S_IRUSR | stat.S_IWUSR)
    for name, value in {
        "GAINSAY_DATABASE_URL": database.service_url,
        "GAINSAY_SEQUENCER_URL": database.sequencer_url,
        "GAINSAY_SIGNING_KEY": f"file:{key}",
        "GAINSAY_DATA_DIR": str(data_folder),
    }.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> Ended:
        code = main(["audit", *map(str, arguments)])
        return Ended(code, *capfd.readouterr())

    return call


@pytest.fixture
def debate(database: Database) -> str:
    """A debate that is over; nobody has made it provable yet."""

    async def make() -> str:
        async with bench(database.service_url) as desk:
            return await desk.run()

    return asyncio.run(make())


def lines(path: Path) -> tuple[Header, list[Row]]:
    header, rows = read(path.read_bytes().splitlines(keepends=True))
    return header, list(rows)


def left_behind() -> Sequence[str]:
    return sorted(path.name for path in Path().iterdir())


def test_a_bundle_is_written_under_its_debates_name_and_proves_itself(run: Run, debate: str) -> None:
    ended = run("bundle", debate)

    assert (ended.code, ended.out, ended.err) == (exit_codes.DONE, "", f"wrote {debate}.zip\n")
    assert left_behind() == [f"{debate}.zip"]
    assert wrong(verified(Path(f"{debate}.zip").read_bytes())) == {}


def test_nothing_is_written_over_unless_it_is_forced(run: Run, debate: str) -> None:
    target = Path("case.zip")
    target.write_text("precious")

    for arguments in (("bundle", debate), ("export",)):
        refused = run(*arguments, "--out", target)
        assert (refused.code, target.read_text()) == (exit_codes.USAGE, "precious")
        assert "--force" in refused.err

    assert run("bundle", debate, "--out", target, "--force").code == exit_codes.DONE
    assert unpack(target.read_bytes()).manifest.debate == debate
    assert left_behind() == ["case.zip"]


def test_a_link_that_leads_nowhere_is_not_written_through(run: Run, debate: str) -> None:
    Path("link.zip").symlink_to("/nowhere/else.zip")

    assert run("bundle", debate, "--out", "link.zip").code == exit_codes.USAGE


def test_a_file_that_came_meanwhile_is_not_written_over(debate: str) -> None:
    target = Path("case.zip")

    def write() -> None:
        with written(target, force=False) as file:
            file.write(b"evidence")
            target.write_text("precious")

    with pytest.raises(CannotWrite, match="File exists"):
        write()
    assert (target.read_text(), left_behind()) == ("precious", ["case.zip"])


def test_what_could_not_be_had_leaves_no_file(run: Run, database: Database) -> None:
    missing = run("bundle", "01980c2e-0000-7000-8000-000000000000")
    no_log = run("export", "--log", "localhost/default/7", "--out", "all.jsonl")
    no_time = run("export", "--since", "yesterday", "--out", "all.jsonl")

    assert (missing.code, no_log.code, no_time.code) == (exit_codes.USAGE,) * 3
    assert "not_found" in missing.err
    assert "since must be a day or a time" in no_time.err
    assert left_behind() == []


def test_a_bundle_of_damaged_evidence_leaves_no_file_and_says_what_to_do(
    run: Run, debate: str, database: Database
) -> None:
    change(database, "ALTER TABLE gainsay.payload DISABLE TRIGGER USER")
    change(database, "UPDATE gainsay.payload SET body = body || ' ' WHERE n = 4")

    refused = run("bundle", debate)

    assert (refused.code, left_behind()) == (exit_codes.FAILED, [])
    assert "evidence_damaged" in refused.err
    assert "record 4 has a payload that it does not commit to" in refused.err
    assert "restore the rows" in refused.err


def test_an_export_that_breaks_off_leaves_no_file(run: Run, debate: str, database: Database) -> None:
    run("bundle", debate)
    change(database, "DELETE FROM gainsay.leaf WHERE idx = 4")

    broken = run("export", "--out", "all.jsonl")

    assert (broken.code, left_behind()) == (exit_codes.FAILED, [f"{debate}.zip"])
    assert "log_damaged" in broken.err


def test_records_are_handed_out_while_an_incident_is_open_and_it_is_said(
    run: Run, debate: str, database: Database
) -> None:
    run("bundle", debate)
    change(database, "INSERT INTO gainsay.incident (log, what) VALUES ('localhost/default/1', 'it is behind')")

    ended = run("export", "--out", "all.jsonl")

    assert ended.code == exit_codes.DONE
    assert len(lines(Path("all.jsonl"))[1]) >= 24  # the reading of the bundle may be there too
    assert "open_incident" in ended.err
    assert "may be what is contested" in ended.err


def test_records_are_handed_out_where_nothing_guards_them_and_it_is_said(
    run: Run, debate: str, database: Database
) -> None:
    run("bundle", debate)
    change(database, "SELECT", guarded=False)

    ended = run("export", "--out", "all.jsonl")

    assert ended.code == exit_codes.DONE
    assert "unguarded" in ended.err
    assert "may be what is contested" in ended.err


def change(database: Database, statement: str, *, guarded: bool = True) -> None:
    with psycopg.connect(database.admin_url) as connection:
        connection.execute("ALTER TABLE gainsay.leaf DISABLE TRIGGER USER")
        connection.execute(statement.encode())
        if guarded:
            for trigger in ("refuse_change", "refuse_truncate"):
                connection.execute(f"ALTER TABLE gainsay.leaf ENABLE ALWAYS TRIGGER {trigger}".encode())


def test_a_folder_that_is_not_there_is_told_of(run: Run, debate: str) -> None:
    ended = run("bundle", debate, "--out", "nowhere/case.zip")

    assert ended.code == exit_codes.FAILED
    assert "cannot_write" in ended.err


def test_an_export_goes_to_a_file_or_to_standard_output(run: Run, debate: str) -> None:
    run("bundle", debate)

    ended = run("export", "--out", "all.jsonl")
    header, rows = lines(Path("all.jsonl"))
    printed = run("export", "--task-type", "contract", "--log", LOG)

    assert (ended.code, ended.out, printed.code) == (exit_codes.DONE, "", exit_codes.DONE)
    assert (header.log, header.complete, len(rows)) == (LOG, True, header.size)
    assert wrong(examined(Path("all.jsonl").read_bytes().splitlines(keepends=True))) == {}
    found = list(read(printed.out.encode().splitlines(keepends=True))[1])
    assert [row.leaf for row in found] == [row.leaf for row in rows if debate in row.leaf and "audit" not in row.leaf]


def test_the_first_export_waits_until_the_log_has_a_head(run: Run, debate: str) -> None:
    ended = run("export", "--out", "all.jsonl")

    assert ended.code == exit_codes.DONE
    assert len(lines(Path("all.jsonl"))[1]) == 25


def test_who_exports_the_present_log_is_told_of_those_before_it(run: Run, debate: str) -> None:
    before = run("export", "--out", "first.jsonl")
    assert main(["audit", "rotate", "--tenant", "default"]) == exit_codes.DONE
    after = run("export", "--out", "second.jsonl")
    named = run("export", "--log", LOG, "--out", "third.jsonl")

    following = f"{LOG.removesuffix('1')}2"
    assert before.err == "wrote first.jsonl\n"
    assert after.err.endswith(f"this is {following} alone; the tenant's other logs are exported with --log: {LOG}\n")
    assert named.err == "wrote third.jsonl\n"


def test_an_export_as_csv_is_narrowed_by_every_filter(run: Run, debate: str) -> None:
    run("bundle", debate)
    arguments = ["--status", "completed", "--task-type", "contract", "--since", "2020-01-01", "--until", "2199-01-01"]

    some = run("export", "--format", "csv", *arguments)
    none = run("export", "--format", "csv", *arguments, "--model", "nobody's")

    assert some.out.count(f",{debate},") == 25
    assert none.out.startswith("log,index,debate,n,kind,")
    assert none.out.count("\n") == 1
