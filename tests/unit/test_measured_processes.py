"""The processes that are measured: what they say never holds them up, and they have none of our settings."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from bench.processes import ADDRESS, started

SAYING = """
import os, pathlib, sys
print("begun http://127.0.0.1:80 with", *(n for n in os.environ if "GAINSAY" in n), file=sys.stderr, flush=True)
for _ in range(1_000):
    print("x" * 1_000, file=sys.stderr)
pathlib.Path(sys.argv[1]).touch()
sys.stdin.read()
"""


def test_a_measured_process_is_not_held_up_by_what_it_says_and_has_the_settings_that_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAINSAY_POLICY", "of whoever measures")
    said = tmp_path / "said"
    command = [sys.executable, "-c", SAYING, str(said)]
    with started(command, rf"begun {ADDRESS} .*\n", {"GAINSAY_DRAIN_S": "0"}) as process:
        for _ in range(500):
            if said.exists():
                break
            time.sleep(0.02)
        assert said.exists()
        assert process.memory <= process.most_memory
        assert process.cpu_s > 0
    assert process.said == "begun http://127.0.0.1:80 with GAINSAY_DRAIN_S\n"
    assert not Path(f"/proc/{process.pid}").exists()


def test_one_that_does_not_begin_is_told_of_by_what_it_said() -> None:
    with (
        pytest.raises(RuntimeError, match="found: no room"),
        started([sys.executable, "-c", "import sys; sys.exit('no room')"], ADDRESS),
    ):
        pass
