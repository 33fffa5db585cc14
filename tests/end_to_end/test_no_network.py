"""Offline means offline: a review in a network namespace that holds nothing but a loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RAISE_LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket() as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING
assert [name for _, name in socket.if_nameindex()] == ["lo"], socket.if_nameindex()
os.execv(sys.argv[1], sys.argv[1:])
"""


def enclosed(*command: str) -> list[str]:
    """The command in a network namespace of its own."""
    return ["unshare", "--net", sys.executable, "-c", RAISE_LOOPBACK, *command]


def test_a_review_needs_no_network(root: Path, tmp_path: Path, data_folder: Path) -> None:
    gainsay = shutil.which("gainsay", path=Path(sys.executable).parent)
    assert gainsay is not None
    if (
        not shutil.which("unshare")
        or subprocess.run(enclosed("/bin/true"), capture_output=True, check=False).returncode
    ):
        pytest.skip("this machine does not let us make a network namespace")
    environment = {
        "GAINSAY_DATA_DIR": str(data_folder),
        "GAINSAY_WARM_S": "0",
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }

    done = subprocess.run(
        enclosed(gainsay, "review", "--sample", "contract", "--json"),
        capture_output=True,
        text=True,
        env=environment,
        cwd=root,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "completed"
