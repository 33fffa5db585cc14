"""``gainsay audit key new|show|add``: keys that sign logs, witnesses' cosignatures and approvals."""

from __future__ import annotations

from pathlib import Path

import click

from service.audit.note import COSIGNATURE, ED25519, SigningKey
from service.cli import exit_codes
from service.proving.signing.keys import add_key, make_key_file, read_keys

FILE = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@click.group()
def key() -> None:
    """Make, show and add keys. A key file holds one key a line, the newest first, for its owner alone."""


@key.command()
@click.option("--name", required=True, metavar="HOST", help="A log's host, a witness's host, or an approver's name.")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file, a new one.")
@click.option("--witness", is_flag=True, help="A key of a witness, which signs the time as well.")
def new(name: str, out: Path, witness: bool) -> int:
    """Make a key, and print the verifier key to pin.

    The key of logs is named after their host (GAINSAY_LOG_HOST). A file that is there already is left as it is.
    """
    made = make_key_file(out, name, COSIGNATURE if witness else ED25519)
    click.echo(made.public.encode())
    return exit_codes.DONE


@key.command()
@FILE
def show(file: Path) -> int:
    """Print the verifier keys of a key file, the one that signs what is new first."""
    for found in read_keys(file):
        click.echo(found.public.encode())
    return exit_codes.DONE


@key.command()
@FILE
def add(file: Path) -> int:
    """Put a new key before those of a key file, of the name and kind of its first, and print its verifier key.

    For a log's key: add it, restart what signs, give witnesses and auditors the new verifier key beside the old one,
    then open the next logs with `gainsay audit rotate`.
    """
    made: SigningKey = add_key(file)
    click.echo(made.public.encode())
    return exit_codes.DONE
