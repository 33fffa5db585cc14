"""``gainsay audit recall``: the impact of a prompt, model, document, price or engine that proved wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from service.cli import exit_codes
from service.cli.access import place
from service.cli.documents import read_text
from service.cli.members import items, member
from service.cli.terminal_text import print_json, say, unbroken
from service.store.derived import ASKED

CHARACTERS_MAX = 100_000_000
"""Of a document's file: far above every limit of a policy, whose deployment may be another machine's."""
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


@click.command()
@place.server_option
@click.option("--prompt", metavar="SHA256", help="A prompt, template or reply schema.")
@click.option("--manifest", metavar="SHA256", help="A manifest of prompts.")
@click.option("--configuration", metavar="SHA256", help="A whole configuration.")
@click.option("--model", metavar="NAME", help="A model, by its alias or by a vendor's name.")
@click.option("--document", metavar="FILE", help="A document: its file, or the SHA-256 of its text.")
@click.option("--price", metavar="ROW", help="A row of the price table, as alias@2026-01-31.")
@click.option("--engine", metavar="NAME", help="The version of an engine that made a finding.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON with the names of GET /v1/audit/recall.")
def recall(server: str | None, as_json: bool, **given: str | None) -> int:
    """List the debates that rest on a prompt, model, document, price or engine, newest first.

    The log records each search. It reads tables that are computed from the records: `serve` and `work` compare them
    with the records within a day, `gainsay audit check` at once, and `gainsay rebuild` makes them anew.

    \b
    gainsay audit recall --document contract.txt
    gainsay audit recall --model claude-sonnet --json
    """
    asked = [name for name in ASKED if given[name] is not None]
    if len(asked) != 1:
        raise click.UsageError(f"expected exactly one of {', '.join(f'--{name}' for name in ASKED)}")
    value = _value(asked[0], str(given[asked[0]]))
    address = place.server_of(server)
    answer = place.ask(address, lambda service: service.recall(asked[0], value), opened="reading", quiet=as_json)
    if as_json:
        print_json(answer)
        return exit_codes.DONE
    found = items(answer, "debates")
    for row in found:
        say(unbroken(_line(row)))
    say(_count(len(found), f"{asked[0]} {value}"), err=True)
    return exit_codes.DONE


def _value(asked: str, given: str) -> str:
    """The value to search for; a document's file is read as for a case."""
    if asked != "document" or _HASH.fullmatch(given):
        return given
    return sha256(read_text(Path(given), CHARACTERS_MAX).encode()).hexdigest()


def _count(number: int, what: str) -> str:
    if not number:
        return f"no debate rests on {what}; give names in full, as in the report of a debate"
    counted = f"1 debate rests on {what}" if number == 1 else f"{number} debates rest on {what}"
    return f"{counted}, by tables computed from the records"


def _line(row: Mapping[str, Any]) -> str:
    log, index = member(row, "log"), member(row, "index")
    place_ = f"{log} {index}" if index else "not provable yet"
    named = (member(row, name) for name in ("debateId", "createdAt", "taskType", "status"))
    return "  ".join((*named, place_))
