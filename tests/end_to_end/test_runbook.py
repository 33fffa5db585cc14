"""What the runbook tells to do is done here: its set-up, with every process apart, to a bundle that verifies."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from service.store.schema import roles
from tests.fixtures.postgres import MIGRATIONS, Database
from tests.fixtures.running import repository

pytestmark = pytest.mark.no_replay

RUNBOOK = (repository() / "docs" / "runbook.md").read_text("utf-8")
PORTS = ("8321", "8322", "8323", "8324", "8325")
PROBES = {
    "signer": ("8323", "livez"),
    "witness": ("8322", "livez"),
    "sequence": ("8324", "readyz"),
    "work": ("8325", "readyz"),
}
COUNTERSIGNED = (
    "until curl -sf http://127.0.0.1:8321/v1/audit/logs/audit.bank.example/default/1/checkpoint "
    "| grep -q witness.example; do sleep 0.1; done"
)


def script(database: Database) -> str:
    """The runbook's shell blocks on a test's database, waiting for each process as a person would."""
    text = "\n".join(re.findall(r"^```sh\n(.*?)^```$", RUNBOOK, re.MULTILINE | re.DOTALL))
    for login, url in (
        ("gainsay_migrator", database.migrate_url),
        ("gainsay_sequencing", database.sequencer_url),
        ("gainsay_service", database.service_url),
        ("gainsay_serving", database.serving_url),
    ):
        address = f"postgresql://{login}:...@db.bank.example/gainsay"
        assert address in text
        text = text.replace(address, shlex.quote(url))
    text = text.replace("sleep 3", COUNTERSIGNED)
    for name, (port, probe) in {**PROBES, "serve": ("8321", "readyz")}.items():
        wait = f"until curl -sfo /dev/null http://127.0.0.1:{port}/{probe}; do sleep 0.1; done"
        text, made = re.subn(rf"(gainsay {name} .*&)$", rf"\1\n{wait}", text, flags=re.MULTILINE)
        assert made == 1, name
    with ExitStack() as stack:
        for port in PORTS:
            free = stack.enter_context(socket.socket())
            free.bind(("127.0.0.1", 0))
            text = re.sub(rf"\b{port}\b", str(free.getsockname()[1]), text)
    return f"set -e\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n{text}"


def test_the_set_up_of_the_runbook_leads_to_a_bundle_that_verifies(empty_database: Database, tmp_path: Path) -> None:
    missing = [program for program in ("bash", "curl", "openssl", "sed") if not shutil.which(program)]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    folder = tmp_path / "empty"  # nothing of the checkout is beside, as for somebody who installed a wheel
    folder.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GAINSAY_") or name == "GAINSAY_LOG_FORMAT"
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    done = subprocess.run(
        ["bash", "-c", script(empty_database)],
        cwd=folder,
        env={**kept, "PATH": path, "GAINSAY_DATA_DIR": str(tmp_path / "data"), "GAINSAY_DRAIN_S": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    _, verified, after = done.stdout.partition("\nVERIFIED\n")
    assert (bool(verified), after) == (
        True,
        "there is no evaluation yet; `gainsay evaluate run PLAN` registers one\n[]\n",
    )
    assert not re.search("^(FAILED|WARNING) ", done.stdout, re.MULTILINE)
    for part in ("policy", "prompts", "approval", "witness", "database", "clock", "disk", "incidents"):
        assert re.search(rf"^OK +{part} ", done.stdout, re.MULTILINE), part
    assert re.search(r"^\d+ +approval +OK +approved by model-risk\.bank\.example ", done.stdout, re.MULTILINE)


def states() -> list[list[str]]:
    """The rows of the table of what happens when PostgreSQL is not well."""
    section = RUNBOOK.split("## When PostgreSQL is not well\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def named_in(*folders: str) -> set[str]:
    """The names of all tests in these folders."""
    files = [file for folder in folders for file in (repository() / "tests" / folder).glob("test_*.py")]
    text = "\n".join(file.read_text("utf-8") for file in files)
    return set(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


def test_every_state_of_postgresql_in_the_table_is_shown_by_a_test_and_every_such_test_is_in_the_table() -> None:
    shown = {name for row in states() for name in re.findall(r"`(test_\w+)`", row[-1])}
    unshown = [row[0] for row in states() if "`test_" not in row[-1]]
    trials = repository() / "tests" / "faults" / "test_postgres.py"

    assert {len(row) for row in states()} == {6}
    assert shown - named_in("faults", "store", "drills") == set()
    assert set(re.findall(r"^async def (test_\w+)", trials.read_text(), re.MULTILINE)) - shown == set()
    assert unshown == []


@pytest.mark.parametrize("document", [RUNBOOK, (MIGRATIONS / "README.md").read_text("utf-8")])
def test_every_role_that_is_needed_is_made(document: str) -> None:
    assert [group for group in roles.GROUPS if f"CREATE ROLE {group} NOLOGIN;" not in document] == []
    for login, group in (
        (roles.MIGRATOR, roles.OWNER),
        (roles.SERVICE, roles.WRITER),
        (roles.SEQUENCING, roles.SEQUENCER),
        (roles.SERVING, roles.API),
    ):
        assert f"CREATE ROLE {login} LOGIN PASSWORD '...' IN ROLE {group};" in document
