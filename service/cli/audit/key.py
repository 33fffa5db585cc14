"""``gainsay audit key new|show|add``: keys that sign logs, witnesses' cosignatures and approvals."""

from __future__ import annotations

from pathlib import Path

import click

from service.audit.note import COSIGNATURE, ED25519, SigningKey
from service.cli import exit_codes
from service.cli.terminal_text import say
from service.proving.signing.keys import add_key, make_key_file, read_keys

FILE = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@click.group()
def key() -> None:
    """Make, show and add keys. A key file has one key a line, newest first, and only its owner may read it."""


@key.command()
@click.option("--name", required=True, metavar="HOST", help="A log's host, a witness's host, or an approver's name.")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The new key file.")
@click.option("--witness", is_flag=True, help="Make a witness's key, which also signs the time.")
def new(name: str, out: Path, witness: bool) -> int:
    """Make a key, and print the verifier key to pin.

    The key of logs has the name of their host (GAINSAY_LOG_HOST). The command never overwrites a file.
    """
    made = make_key_file(out, name, COSIGNATURE if witness else ED25519)
    say(made.public.encode())
    return exit_codes.DONE


@key.command()
@FILE
def show(file: Path) -> int:
    """Print the verifier keys of a key file; the first one signs new logs."""
    for found in read_keys(file):
        say(found.public.encode())
    return exit_codes.DONE


@key.command()
@FILE
def add(file: Path) -> int:
    """Add a new key at the top of a key file, with the name and kind of its first, and print its verifier key.

    For a log's key: add it, restart the signing process, give witnesses and auditors the new verifier key besides the
    old one, then open the next logs with `gainsay audit rotate`.
    """
    made: SigningKey = add_key(file)
    say(made.public.encode())
    return exit_codes.DONE
