"""Processes whose signer has lost its folder: refused by name, until the folder, a witness or a person helps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.end_to_end.test_sequencer_processes import environment, process, sizes, until
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.sequencing import LOG, stage
from tests.fixtures.serving import SIGNING_KEY
from tests.fixtures.vouching import running

pytestmark = pytest.mark.no_replay


def told(env: dict[str, str], *words: str) -> tuple[int, str]:
    """The exit code of a process that ends by itself, and what it says on standard error."""
    with process("service", *words, env=env) as ended:
        _, said = ended.communicate(timeout=60)
    return ended.returncode, " ".join(said.split())


@pytest.fixture
def env(database: Database, tmp_path: Path) -> dict[str, str]:
    """The settings of processes on a database whose log has three signed records, and whose signer has lost them."""
    found = environment(database, tmp_path)
    with process("service", "sequence", env=found) as first:
        stage(database, 1, range(3))
        until(lambda: sizes(database) == [3])
        first.terminate()
        assert first.wait(60) == 0
    shutil.move(tmp_path / "heads", tmp_path / "lost")
    return found


def test_sequence_and_serve_are_refused_until_a_person_says_which_head_is_right(
    database: Database, env: dict[str, str], tmp_path: Path
) -> None:
    serving = {**env, "GAINSAY_DATABASE_URL": database.service_url}

    code, said = told(env, "sequence")
    assert code == 3
    assert f"the signer remembers no head of the log {LOG}" in said
    command = re.search(r"gainsay (audit remember --log \S+ --size 3 --root [0-9a-f]{64}) --reason TEXT", said)
    assert command
    assert "docs/runbook.md" in said
    code, again = told(serving, "serve", "--port", "0")
    assert (code, command[0] in again) == (3, True)
    assert sizes(database) == [3]

    code, said = told(serving, *command[1].split(), "--reason", "as the copy in the safe", "--by", "A. Ruiz")
    assert (code, said) == (0, "")
    with process("service", "sequence", env=env):
        until(lambda: sizes(database) == [3, 4])  # the word itself is a record
    with psycopg.connect(database.admin_url) as admin:
        (found,) = admin.execute("SELECT body FROM gainsay.payload").fetchall()
    assert b"as the copy in the safe" in bytes(found[0])


def test_putting_the_folder_back_is_enough(database: Database, env: dict[str, str], tmp_path: Path) -> None:
    assert told(env, "sequence")[0] == 3
    shutil.rmtree(tmp_path / "heads")
    shutil.move(tmp_path / "lost", tmp_path / "heads")

    with process("service", "sequence", env=env):
        stage(database, 1, [3])
        until(lambda: sizes(database) == [3, 4])


def test_a_signer_process_that_has_forgotten_is_refused_over_http(
    database: Database, env: dict[str, str], tmp_path: Path
) -> None:
    key = tmp_path / "log.key"
    arguments = ("signer", "--key", f"file:{key}", "--heads", str(tmp_path / "signer"), "--port", "0")
    assert SIGNING_KEY.encode() in key.read_text("ascii")
    with running(tmp_path, *arguments) as signer:
        code, said = told({**env, "GAINSAY_SIGNING_KEY": signer["address"]}, "sequence")

    assert code == 3
    assert f"the signer remembers no head of the log {LOG}" in said


def test_one_machine_s_own_data_goes_on_as_long_as_its_folder_is_there(tmp_path: Path) -> None:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GAINSAY_") or name == "GAINSAY_LOG_FORMAT"
    }
    here = {**kept, "GAINSAY_DATA_DIR": str(tmp_path / "data")}

    def review() -> subprocess.CompletedProcess[str]:
        words = ["review", "--question", "May we?", "--task-type", "other", "--downside", "1", "--format", "ballot"]
        return subprocess.run(
            [sys.executable, "-m", "service", *words],
            env=here,
            cwd=repository(),
            capture_output=True,
            text=True,
            check=False,
        )

    assert [review().returncode, review().returncode] == [1, 1]  # declined, and recorded
    shutil.rmtree(tmp_path / "data" / "heads")
    refused = review()

    assert refused.returncode == 3
    assert "gainsay audit remember --log localhost/default/1" in " ".join(refused.stderr.split())
