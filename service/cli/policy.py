"""``gainsay policy init|check|show``: a first policy, every fault of one, and the whole that is in force."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from service.cli import exit_codes
from service.cli.help_sections import Command, option
from service.cli.new_file import written
from service.cli.option_types import Choice
from service.cli.terminal_text import line, print_json, say, unbroken
from service.policy.file.providers import KEY_PLACE
from service.policy.file.reading import PolicyFile, read_file
from service.policy.file.tenants import with_all_providers
from service.policy.first import KNOWN, OWN, OwnServer, first_policy
from service.policy.settings import SHIPPED_POLICY

_FILE = click.argument("file", required=False, type=click.Path(path_type=Path))
_SERVER = "A server of your own (--vendor openai-compatible)"


@click.group()
def policy() -> None:
    """Write a first policy file, check one, or show the whole policy that is in force.

    A policy file needs what only its deployment knows: providers, models with prices, seats. Everything else that it
    leaves out has the shipped policy's value. docs/policy.md and docs/models.md explain the keys.
    """


@policy.command(cls=Command)
@option("Policy", "--vendor", "vendors", multiple=True, type=Choice(KNOWN), help="A vendor; repeat it for several.")
@option(_SERVER, "--base-url", help="Its address, such as http://vllm:8000/v1.")
@option(_SERVER, "--key", help="Where its key is: env:NAME or file:/PATH. Default: it takes none.")
@option(_SERVER, "--model", "models", multiple=True, help="A model's name, the strongest first; may be repeated.")
@option(_SERVER, "--family", help="Who made the models: models of one family share mistakes.")
@option(_SERVER, "--context-window", type=click.IntRange(1), help="Tokens of request and reply together.")
@option(_SERVER, "--input-usd", help="US dollars for a million input tokens; 0 where a call costs nothing.")
@option(_SERVER, "--output-usd", help="US dollars for a million output tokens.")
@option("Output", "--out", type=click.Path(path_type=Path, dir_okay=False), help="A new file; default: stdout.")
def init(vendors: tuple[str, ...], out: Path | None, **server: object) -> int:
    """Write a first policy, which starts at the first try.

    It has the vendors' models with their list prices, each with its source and the day on which it was read, and
    seats whose models differ as far as the vendors allow; the first vendor proposes, the second challenges, the third
    decides. Keys are named and never written. `simulated` needs no vendor and no network.

    A server of your own has no list prices. What its options leave open is marked FILL IN, and the file is refused
    until that is done. No file is overwritten.

    \b
    gainsay policy init --vendor openai --out policy.toml
    gainsay policy init --vendor openai --vendor anthropic --vendor google > policy.toml
    gainsay policy init --vendor openai-compatible --base-url http://vllm:8000/v1 --model qwen3-32b \\
        --family qwen --context-window 32768 --input-usd 0 --output-usd 0
    """
    if not vendors:
        raise click.UsageError(f"expected --vendor, one or several of: {', '.join(KNOWN)}")
    given = {name: value for name, value in server.items() if value not in (None, ())}
    if given and OWN not in vendors:
        options = ", ".join(f"--{name.replace('_', '-').removesuffix('s')}" for name in given)
        raise click.UsageError(f"{options} describe a server of your own; add --vendor {OWN}")
    place = str(given.get("key", "env:X"))
    if not KEY_PLACE.fullmatch(place):  # it may be the key itself by mistake: never said
        raise click.UsageError("expected env:NAME or file:/PATH in --key, found something else; no key is written here")
    text = first_policy(tuple(dict.fromkeys(vendors)), _today(), OwnServer(**given))  # type: ignore[arg-type]
    if out is None:
        say(text, nl=False)
        return exit_codes.DONE
    if os.path.lexists(out):
        raise click.UsageError(f"{out} exists, and no file is overwritten; choose another name")
    with written(out, force=False) as file:
        file.write(text.encode())
    say(f"wrote {out}; next:\n  gainsay policy check {out}\n  export GAINSAY_POLICY={out.resolve()}")
    return exit_codes.DONE


@policy.command()
@_FILE
@click.option(
    "--price-age", type=click.IntRange(0), default=90, show_default=True, help="Warn of prices read more days ago."
)
def check(file: Path | None, price_age: int) -> int:
    """Check a policy file as a start does: FILE, or GAINSAY_POLICY, or the shipped one.

    Every fault comes in one message, with its line and the name that was probably meant. Warnings stop no start: keys
    that are not there, prices that were looked up long ago, simulated models beside real ones, and seats that think
    alike, with what that caps.

    Exit codes: 0 the file is a policy, 2 it is not.
    """
    from service.cli import policy_advice as advice
    from service.cli.display.console import counted

    path, day = _path(file), _today()
    read = read_file(path, day=day)
    found, keyed = read.policy, with_all_providers(read.policy, read.tenants)
    say(f"{line(str(path))} is a policy: version {line(found.version)}, SHA-256 {found.gate.hash}")
    models, providers = counted(len(found.models), "model"), counted(len(found.providers), "provider")
    say(f"{models} of {providers}; formats: {', '.join(found.offered)}")
    warnings = [
        *advice.missing_keys(keyed, os.environ),
        *advice.open_key_files(keyed),
        *advice.old_prices(found, day, price_age),
        *advice.simulated_beside(found),
        *advice.alike_seats(found, day),
    ]
    for warning in warnings:
        say(f"warning: {unbroken(warning)}")
    return exit_codes.DONE


@policy.command()
@_FILE
@click.option("--effective", "whole", is_flag=True, help="The whole policy as TOML; the default.")
@click.option("--diff", is_flag=True, help="Only what differs from the shipped policy.")
def show(file: Path | None, whole: bool, diff: bool) -> int:
    """Show the effective policy of FILE, or of GAINSAY_POLICY, as TOML, with its hash.

    A mark stands beside each value that the file leaves out. The output is itself a policy file, of the same hash: with
    it as GAINSAY_POLICY no later release changes a value. The hash is the one that records, GET /v1/policy and an
    approval name.

    Exit codes: 0 shown, 2 the file is no policy.
    """
    from service.policy.file.effective import differences, effective_toml

    if whole and diff:
        raise click.UsageError("expected --effective or --diff, found both")
    found: PolicyFile = read_file(_path(file))
    say(differences(found, read_file(SHIPPED_POLICY)) if diff else effective_toml(found), nl=False)
    return exit_codes.DONE


@policy.command()
@click.option("--tenant", is_flag=True, help="Of a tenant's own policy file.")
def schema(tenant: bool) -> int:
    """Print the JSON Schema of a policy file, by which editors complete keys and point at slips.

    Editors with Taplo (Even Better TOML) read it where the file begins with a line `#:schema ./policy-file.json`.
    What keys have to hold between them is known to `gainsay policy check` alone.

    \b
    gainsay policy schema > policy-file.json

    Exit codes: 0 printed, 2 usage.
    """
    from service.policy.file.schema import policy_schema

    print_json(policy_schema(read_file(SHIPPED_POLICY).written, tenant=tenant))
    return exit_codes.DONE


def _path(file: Path | None) -> Path:
    return file or Path(os.environ.get("GAINSAY_POLICY") or SHIPPED_POLICY)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
