"""The ids of turns: written and read in one module, which refuses what is none, and taken apart nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.entries import TurnSilent, decode, encode
from service.debate.turns import (
    MalformedTurn,
    TurnId,
    is_turn,
    make_party,
    party,
    phase_of,
    place,
    round_of,
    seat_of,
    split_party,
    take_of,
    turn_id,
)

SERVICE = Path(__file__).parents[3] / "service"
TURNS = SERVICE / "debate" / "turns.py"
seats = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True)
phases = st.just("") | st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)


@given(st.integers(0, 99), seats, phases, st.integers(1, 9))
def test_what_is_written_is_read(round_: int, seat: str, phase: str, take: int) -> None:
    turn = turn_id(round_, seat, phase, take=take)

    assert (round_of(turn), seat_of(turn), phase_of(turn), take_of(turn)) == (round_, seat, phase, take)
    assert party(turn) == make_party(seat, phase)
    assert split_party(party(turn)) == (seat, phase)
    assert is_turn(turn)


@pytest.mark.parametrize(
    ("turn", "read"),
    [
        ("0.framing.1", (0, "framing", "framing", "", 1)),
        ("1.proposer.adopt-x.2", (1, "proposer.adopt-x", "proposer", "adopt-x", 2)),
        ("12.debater-10.proposal.1", (12, "debater-10.proposal", "debater-10", "proposal", 1)),
        ("1.proposer.v1.5.1", (1, "proposer.v1.5", "proposer", "v1.5", 1)),
    ],
)
def test_the_grammar(turn: str, read: tuple[int, str, str, str, int]) -> None:
    assert place(TurnId(turn)) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", "critic", "1.critic", "critic.1", "1..1", "1.critic..1", ".critic.1", "1.critic.", "1.critic.0"),
        *("01.critic.1", "1.critic.01", "-1.critic.1", "1.Critic.1", "1.critic.1 ", "١.critic.1", "1.critic.x"),
    ],
)
def test_what_is_no_id_is_refused_by_name(text: str) -> None:
    assert not is_turn(text)
    with pytest.raises(MalformedTurn, match=re.escape(f"found {text!r}")):
        round_of(TurnId(text))


def test_a_record_holds_an_id_as_a_string() -> None:
    entry = TurnSilent(turn_id(1, "proposer", "adopt-x", take=2), "gone")

    assert msgspec.json.decode(encode(entry))["turn"] == "1.proposer.adopt-x.2"
    assert decode(encode(entry)) == entry


# ---- no other module takes ids apart ---------------------------------------------------------------------------------

DOTS = """
service/checks/citations/verdict/location.py       numbers of clauses
service/checks/citations/text/outline.py        numbers of clauses
service/debate/replies/decoding.py                 kinds of replies
service/simulated/layout.py numbers of clauses
service/simulated/locations.py numbers of clauses
service/policy/keys.py              paths of settings
service/policy/file/providers.py       labels of a host
service/store/embedded/cluster.py            the version of PostgreSQL
service/verify/files.py        names of files
service/delivering/addresses.py       labels of a host
service/web/versions.py       the version of the API
service/cli/log_export.py       names of loggers
service/web/answer_examples.py        names of files
service/web/member_texts.py        names of modules
"""
"""Modules that take another text than the id of a turn apart at its dots, and which."""
CUTS = ("partition", "rpartition", "split", "rsplit")
SPELT = re.compile(r"(?:\d+|\x00)\.(?:[a-z][a-z0-9-]*|\x00)(?:\.(?:[a-z][a-z0-9-]*|\x00))*\.(?:\d+|\x00)")
"""A text, with NUL for what an f-string fills in, that would be the id of a turn; the last part may be a take."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SERVICE.rglob("*.py")):
        if path != TURNS:
            yield path.relative_to(SERVICE.parent).as_posix(), ast.parse(path.read_bytes())


def cuts(tree: ast.AST) -> list[int]:
    """The lines that take a text apart at its dots."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CUTS
        and any(isinstance(given, ast.Constant) and given.value == "." for given in node.args)
    ]


def spelt(tree: ast.AST) -> list[int]:
    """The lines that put the id of a turn together by hand."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "\x00" for part in node.values)
            if SPELT.fullmatch(text):
                found.append(node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and is_turn(node.value):
            found.append(node.lineno)
    return found


def test_no_other_module_takes_an_id_apart() -> None:
    allowed = {line.split()[0] for line in DOTS.strip().splitlines()}
    found = {name: lines for name, tree in modules() if (lines := cuts(tree))}

    assert {name: lines for name, lines in found.items() if name not in allowed} == {}, (
        "use service/debate/turns.py for ids of turns; a module that cuts another text at its dots is named in DOTS"
    )
    assert allowed - set(found) == set(), "these cut nothing any more: take them out of DOTS"


def test_no_other_module_puts_an_id_together() -> None:
    found = {name: lines for name, tree in modules() if (lines := spelt(tree))}

    assert found == {}, "write ids of turns with `turn_id`"


@pytest.mark.parametrize(
    "code",
    ['int(turn.partition(".")[0])', 'turn.split(".", 2)[1]', 'party.rpartition(".")[2]'],
)
def test_a_cut_is_found(code: str) -> None:
    assert cuts(ast.parse(code)) == [1]


@pytest.mark.parametrize("code", ['f"{r}.critic.{take}"', '"0.framing.1"', 'f"{r}.{seat}.swapped.1"'])
def test_an_id_put_together_by_hand_is_found(code: str) -> None:
    assert spelt(ast.parse(code)) == [1]
