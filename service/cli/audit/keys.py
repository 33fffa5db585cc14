"""``gainsay audit keys``: the register of verifier keys, as the operator and the database know them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from service.cli import exit_codes
from service.cli.access import place
from service.cli.access.problems import ServiceProblem
from service.cli.terminal_text import print_json, say, unbroken
from service.report import sent
from service.reviews.evidence.key_register import DatedSize, KeyInRegister
from service.unseen import escape_json

if TYPE_CHECKING:
    from service.cli.access.port import JSON

INFORMATION = (
    "for information, by the operator's word: pin a key only after its holder gave it to you by another way "
    "(docs/keys.md)"
)


@click.command()
@place.server_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON with the names of GET /v1/audit/keys.")
@click.option(
    "--pins", "as_pins", is_flag=True, help="Print the form of `audit verify --keys`, to be compared and kept."
)
def keys(server: str | None, as_json: bool, as_pins: bool) -> int:
    """List the verifier keys of logs, witnesses and approvers, with their times and who stands for each.

    The list joins the policy's register ([[audit.keys]]), its witnesses and approver, and what the database knows:
    which key signed which log, from which head to which. All of that is the operator's word. No command verifies
    anything with it: an auditor pins keys with `gainsay audit verify --key` or `--keys`.
    """
    if as_json and as_pins:
        raise click.UsageError("--json and --pins are two forms; give one of them")
    answer = place.ask(place.server_of(server), lambda service: service.keys(), opened="reading", quiet=as_json)
    if as_json:
        print_json(answer)
        return exit_codes.DONE
    found = _listed(answer)
    # A row has printable characters alone; of a table's brackets cleaning would make something else.
    say("\n".join(pin_lines(found) if as_pins else map(unbroken, key_lines(found))))
    say(INFORMATION, err=True)
    return exit_codes.DONE


def _listed(answer: JSON) -> Sequence[KeyInRegister]:
    """The keys; raises `ServiceProblem` for what a newer service lists."""
    try:
        return [sent.read(msgspec.json.encode(one), KeyInRegister) for one in answer.get("keys", ())]
    except msgspec.ValidationError as error:
        raise ServiceProblem(
            f"expected keys as this version knows them, found others ({error}); use --json",
            code="unexpected_answer",
            status=502,
        ) from None


def key_lines(found: Sequence[KeyInRegister]) -> Iterator[str]:
    """The keys for a terminal, some lines each."""
    if not found:
        yield "no log has a key yet, and the policy names none"
    for each in found:
        yield f"{each.use:<8}  {each.key}"
        yield f"          {'for ' + ', '.join(each.logs) if each.logs else _everything(each)}{_days(each)}"
        yield f"          vouched for by: {each.vouched_by or 'no statement in the register'}"
        for heads in each.heads:
            yield f"          {heads.log}: {_head(heads.first, 'first')}, {_head(heads.last, 'last')}"


def pin_lines(found: Sequence[KeyInRegister]) -> Iterator[str]:
    """The keys as a file of pins; JSON's strings are TOML's."""
    for each in found:
        yield "[[audit.keys]]"
        for name, value in (("key", each.key), ("use", each.use), ("logs", _logs(each)), ("since", each.since)):
            yield from _toml(name, value)
        yield from _toml("until", each.until)
        yield from _toml("vouched_by", each.vouched_by)
        yield ""


def _logs(each: KeyInRegister) -> Sequence[str]:
    """The logs that a key is for: by the register, or those that the database knows for a key of logs."""
    return each.logs or (tuple(heads.log for heads in each.heads) if each.use == "log" else ())


def _toml(name: str, value: str | Sequence[str] | None) -> Iterator[str]:
    if value:
        yield f"{name} = {escape_json(msgspec.json.encode(value)).decode()}"


def _everything(each: KeyInRegister) -> str:
    match each.use:
        case "approver":
            return "for configurations"
        case "witness":
            return "for every log that it is shown"
        case "log":
            return f"for the logs of {each.name}"


def _days(each: KeyInRegister) -> str:
    return (f", from {each.since}" if each.since else "") + (f", until {each.until}" if each.until else "")


def _head(head: DatedSize | None, which: str) -> str:
    return f"{which} head {head.size} records, {head.at}" if head else f"no {which} head by this key"
