"""The lines of checks: what each found, in words that agree with their number."""

from __future__ import annotations

import pytest

from service.debate.findings import ArgumentVerdict, CitationsFound, CitationVerdict
from service.debate.turns import TurnId
from service.report.result.notices import summary

TURN = TurnId("1.critic.1")
NOT_THERE = (CitationVerdict("not_found"),)


def argument(n: int, *, struck: bool) -> ArgumentVerdict:
    """An argument with one citation that stands nowhere."""
    return ArgumentVerdict(TURN, n, NOT_THERE, "unverified_citation" if struck else None)


@pytest.mark.parametrize(
    ("arguments", "begins", "ends"),
    [
        ((), "0 citations: ", "; 0 arguments struck"),
        ((argument(1, struck=True),), "1 citation: ", "; 1 argument struck"),
        ((argument(1, struck=True), argument(2, struck=False)), "2 citations: ", "; 1 argument struck"),
        ((argument(1, struck=True), argument(2, struck=True)), "2 citations: ", "; 2 arguments struck"),
    ],
)
def test_one_citation_and_one_argument_are_told_in_the_singular(
    arguments: tuple[ArgumentVerdict, ...], begins: str, ends: str
) -> None:
    said = summary(CitationsFound(arguments))

    assert said.startswith(begins)
    assert said.endswith(ends)
