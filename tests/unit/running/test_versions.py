"""A worker continues a debate by the versions that running uses, whatever else is sealed with the case."""

from __future__ import annotations

import subprocess
import sys

import pytest

from service.debate.versions import Part
from service.errors import SettingsError
from service.running.versions import CURRENT, KNOWN, RUN_BY, require

LATER = {part: f"{part}/9" for part in KNOWN}


@pytest.mark.parametrize("part", KNOWN)
def test_a_worker_refuses_a_later_version_of_what_running_uses_and_of_nothing_else(part: Part) -> None:
    sealed = {**CURRENT, part: LATER[part]}

    if part not in ("usage", "layout", "schemas"):
        require(sealed)
        return
    with pytest.raises(SettingsError, match=f"expected a build that has {part}/9, by which this debate runs"):
        require(sealed)


def test_a_worker_refuses_a_part_that_it_does_not_know() -> None:
    with pytest.raises(SettingsError, match="expected a build that has options/2, "):
        require({**CURRENT, "options": "options/2"})


def test_a_worker_runs_a_debate_that_names_no_versions() -> None:
    require({})


def test_what_running_uses_is_of_the_table() -> None:
    assert RUN_BY.items() <= KNOWN.items()


def test_a_build_without_a_first_version_does_not_start() -> None:
    """A record without versions means the first of each part, so no build may drop one."""
    code = "from service.debate import versions as v; v.FIRST['gate'] = 'gate/0'; import service.running.versions"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "TypeError: expected the versions that a record without versions means, found none of gate/0" in done.stderr
