"""No process leaves its memory in a core file, and no other process of its user may read it."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.postgres import data_folder  # noqa: F401 - a fixture
from tests.fixtures.running import repository

PATIENCE_S = 60.0
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def as_much_as_allowed() -> None:
    """Let the next program write core files of any size, as far as this process may."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    wanted = resource.RLIM_INFINITY if os.geteuid() == 0 else hard
    resource.setrlimit(resource.RLIMIT_CORE, (wanted, wanted))


def core_limit(pid: str) -> list[str]:
    """The soft and the hard limit of a process."""
    text = Path(f"/proc/{pid}/limits").read_text("ascii")
    found = re.search(r"^Max core file size\s+(\S+)\s+(\S+)", text, re.MULTILINE)
    assert found is not None
    return list(found.groups())


@pytest.fixture
def serve(data_folder: Path) -> Iterator[subprocess.Popen[bytes]]:  # noqa: F811
    """A real ``gainsay serve`` with an embedded PostgreSQL, allowed to write core files by what starts it."""
    stderr = data_folder.parent / f"{data_folder.name}.stderr"
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GAINSAY_") or name == "GAINSAY_LOG_FORMAT"
    }
    with stderr.open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "service", "serve", "--port", "0"],
            env={**kept, "GAINSAY_DATA_DIR": str(data_folder), "GAINSAY_DRAIN_S": "0"},
            cwd=repository(),
            stderr=told,
            preexec_fn=as_much_as_allowed,  # noqa: PLW1509 - no thread of this test is in it
        )
    try:
        until = time.monotonic() + PATIENCE_S
        while b"serving on" not in stderr.read_bytes():
            assert process.poll() is None, stderr.read_text("utf-8")
            assert time.monotonic() < until, stderr.read_text("utf-8")
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        stderr.unlink()


def test_a_service_and_its_postgresql_leave_no_core_file(serve: subprocess.Popen[bytes], data_folder: Path) -> None:  # noqa: F811
    (written,) = data_folder.glob("**/postmaster.pid")
    postmaster = written.read_text("ascii").splitlines()[0]
    backends = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text("ascii").split()

    assert backends
    limits = {pid: core_limit(pid) for pid in (str(serve.pid), postmaster, *backends)}
    assert all(limit == ["0", "0"] for limit in limits.values()), limits


def test_what_starts_with_secrets_is_not_dumpable() -> None:
    """PR_GET_DUMPABLE (3) before and after a start, in a process of its own."""
    program = (
        "import ctypes; from service.cli import startup; libc = ctypes.CDLL(None); "
        "before = libc.prctl(3, 0, 0, 0, 0); startup.start(quiet=True, environment={}); "
        "print(before, libc.prctl(3, 0, 0, 0, 0))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=repository(), capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["1", "0"]


def test_a_program_that_imports_the_command_line_keeps_its_own_limit() -> None:
    program = (
        "import resource; from service.cli import main; before = resource.getrlimit(resource.RLIMIT_CORE); "
        "main(['--version']); print(before == resource.getrlimit(resource.RLIMIT_CORE))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=repository(),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=as_much_as_allowed,
    )

    assert done.stdout.split()[-1] == "True"
