"""What the peers' runs print, and which of them is the leanest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import peers

SAID = {"peer": "loomflow_", "cpu_ms": 6.647, "errors": 0, "calls_per_debate": 4.0}


def test_the_cpu_is_read_from_the_last_line_of_a_run() -> None:
    assert peers.read(f"a warning\n{json.dumps(SAID)}\n") == 6.647


@pytest.mark.parametrize("odd", [{"errors": 1}, {"calls_per_debate": 8.0}])
def test_a_run_with_errors_or_other_calls_is_no_figure(odd: dict[str, float]) -> None:
    with pytest.raises(RuntimeError, match="expected 4 calls a debate without an error"):
        peers.read(json.dumps({**SAID, **odd}))


def test_a_bare_client_is_no_framework() -> None:
    assert peers.leanest({"aiohttp": 0.4, "loomflow": 6.6, "agno": 10.0}) == ("loomflow", 6.6)
    assert peers.leanest({"aiohttp": 0.4}) is None
    assert peers.leanest({}) is None


def test_without_peers_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_PEERS", str(tmp_path))

    assert peers.place() is None
    assert peers.measured() == {}
