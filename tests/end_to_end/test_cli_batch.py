"""`gainsay review --batch`: on a database and by a service, interrupted and given again, with its files and codes."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import signal
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from service.intake.batch_file import with_keys
from tests.end_to_end.processes import Deployment
from tests.end_to_end.test_cli_server import Both
from tests.fixtures.postgres import Database
from tests.fixtures.serving import a_case, a_declined_case, slow_policy
from tests.fixtures.spending import rows


@pytest.fixture(scope="module")
def deployment(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    deployment = Deployment(module_database, tmp_path_factory.mktemp("deployment"), GAINSAY_WARM_S="0")
    yield deployment
    deployment.end()


@pytest.fixture(scope="module")
def address(deployment: Deployment) -> str:
    return asyncio.run(deployment.start("serve", "--port", "0").address())


@pytest.fixture
def both(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    module_database: Database,
    address: str,
    data_folder: Path,
) -> Both:
    """The service proves the records, so a command on the database has no sequencer."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", module_database.service_url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))
    return Both(capfd, address)


def a_file(folder: Path, *cases: dict[str, object], name: str = "cases.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(case)}\n" for case in cases), "utf-8")
    return path


def test_a_file_is_debated_and_its_results_written(both: Both, tmp_path: Path) -> None:
    file = a_file(tmp_path, {"key": "a", "case": a_case()}, a_declined_case())
    out, table = tmp_path / "results.jsonl", tmp_path / "decisions.csv"
    done = both.there("review", "--batch", file, "--ceiling", "5", "--out", out, "--csv", table)

    assert (done.code, done.out) == (0, ""), done.err
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["line"], row["status"]) for row in found] == [(1, "completed"), (2, "declined")]
    rows = list(csv.DictReader(StringIO(table.read_text())))
    assert [row["key"] for row in rows][:1] == ["a"]
    assert "2 of 2 ended" in done.err


def test_the_same_file_again_is_the_same_batch_here_and_by_a_service(both: Both, tmp_path: Path) -> None:
    file = a_file(tmp_path, a_declined_case(), a_declined_case() | {"question": "And what of fines?"})
    there, here = (ask("review", "--batch", file, "--ceiling", "5") for ask in (both.there, both.here))

    assert (there.code, here.code) == (0, 0), here.err
    assert here.out == there.out
    dearer = both.here("review", "--batch", file, "--ceiling", "6")
    assert "2 joined" in dearer.err
    ids = [[json.loads(line)["debateId"] for line in done.out.splitlines()] for done in (there, dearer)]
    assert ids[0] == ids[1]


def test_what_is_refused_is_named_by_its_line(both: Both, tmp_path: Path) -> None:
    file = a_file(tmp_path, a_declined_case(), a_declined_case() | {"qestion": "?"})
    for ask in (both.here, both.there):
        done = ask("review", "--batch", file, "--ceiling", "5")
        assert done.code == 2, done.err
        assert "line 2" in done.err


def test_a_batch_that_cannot_pay_ends_with_failure(both: Both, tmp_path: Path) -> None:
    file = a_file(tmp_path, a_case(), a_declined_case())
    done = both.there("review", "--batch", file, "--ceiling", "0.000001")

    assert done.code == 3, done.err
    assert [json.loads(line).get("refused") for line in done.out.splitlines()] == ["budget", None]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--batch", "cases.jsonl", "--question", "Why?"), "leave out --question"),
        (("--batch", "cases.jsonl", "--task-type", "contract"), "leave out --task-type"),
        (("--batch", "cases.jsonl", "--json"), "leave out --json\n"),
        (("--batch", "cases.jsonl", "--not-contested"), "leave out --not-contested\n"),
        (("--batch", "cases.jsonl", "other.txt"), "leave out FILE\n"),
        (("--batch", "missing.jsonl", "--ceiling", "1"), "missing.jsonl"),
        (("--out", "results.jsonl"), "--out is for --batch"),
        (("--abort",), "--abort"),
        (("--batch", "cases.jsonl", "--ceiling", "9", "--abort", "an-id"), "leave out --batch"),
        (("--abort", "an-id", "--ceiling", "9"), "leave out --ceiling"),
        (("--abort", "an-id", "cases.jsonl"), "leave out FILE"),
        (("--batch", "cases.jsonl", "--detach"), "--detach needs --server"),
    ],
)
def test_options_that_do_not_fit_are_usage(
    both: Both, tmp_path: Path, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    a_file(tmp_path, a_declined_case())
    done = both.here("review", *words)
    assert (done.code, said in done.err) == (2, True), done.err


def test_an_output_that_is_there_is_not_overwritten(both: Both, tmp_path: Path) -> None:
    file = a_file(tmp_path, a_declined_case())
    (tmp_path / "kept.csv").write_text("mine")
    done = both.here("review", "--batch", file, "--ceiling", "1", "--csv", tmp_path / "kept.csv")
    assert done.code == 2
    assert "or remove it first" in done.err, "--force is another option of this command"
    assert (tmp_path / "kept.csv").read_text() == "mine"


async def test_ctrl_c_leaves_the_batch_and_the_same_command_goes_on(database: Database, tmp_path: Path) -> None:
    policy = slow_policy(tmp_path, 200)
    house = Deployment(database, tmp_path, GAINSAY_POLICY=str(policy), GAINSAY_WARM_S="0", GAINSAY_GRACE_S="5")
    file = a_file(tmp_path, *(a_case(question=f"Case {n}: is it so?") for n in range(6)))
    words = ("review", "--batch", str(file), "--ceiling", "20", "--out", str(tmp_path / "out.jsonl"))
    try:
        first = house.start(*words)
        await first.says("batch .*: 6 cases")
        await first.says("under way")
        first.send(signal.SIGINT)
        assert await first.ends() == 3
        assert "give the command again" in first.told
        assert "`gainsay review --abort 0" in first.told
        again = house.start(*words)
        assert await again.ends() == 0, again.told
    finally:
        house.end()
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 6


def test_an_abort_of_no_batch_creates_none_and_names_those_under_way(
    both: Both, tmp_path: Path, module_database: Database
) -> None:
    file = a_file(tmp_path, *(a_case(question=f"Case {n}: is it so?") for n in range(200)))
    real = both.there("review", "--batch", file, "--ceiling", "90", "--batch-name", "the real one", "--detach")
    before = rows(module_database, "SELECT count(*) FROM gainsay.case_batch")
    for ask in (both.here, both.there):
        done = ask("review", "--abort", "01920000-0000-7000-8000-000000000000")
        assert done.code not in (0, 1), done.err
        assert f"{real.out.strip()} (the real one) of 200 cases" in done.err
    assert rows(module_database, "SELECT count(*) FROM gainsay.case_batch") == before

    for ask in (both.there, both.here):
        done = ask("review", "--abort", real.out.strip())
        assert (done.code, done.out) == (0, f"batch {real.out.strip()} is aborted\n"), done.err
    assert rows(module_database, "SELECT count(*) FROM gainsay.case_batch") == before


def test_an_abort_of_a_batch_that_has_ended_is_too_late(both: Both, tmp_path: Path) -> None:
    file = a_file(tmp_path, a_declined_case() | {"question": "Was it late?"})
    done = both.there("review", "--batch", file, "--ceiling", "5")
    batch = re.search(r"batch (\S+):", done.err)
    assert batch is not None
    late = both.same("review", "--abort", batch[1])
    assert (late.code, late.out) == (1, f"too late: batch {batch[1]} is completed\n")


def test_lines_without_a_key_get_one_by_their_number_and_the_others_keep_theirs() -> None:
    raw = b'\xef\xbb\xbf{"question":"a"}\r\n\n{"key":"k","case":{}}\n{"case":{"x":1}}\nno json\n[1]'
    assert with_keys(raw, "p").split(b"\n") == [
        b'\xef\xbb\xbf{"key":"p-1","case":{"question":"a"}}',
        b"",
        b'{"key":"k","case":{}}',
        b'{"key":"p-4","case":{"x":1}}',
        b"no json",
        b"[1]",
    ]
