"""``gainsay config show``: every setting of this process with the place it comes from, and no secret."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import click
from msgspec import Struct

from service.cli import exit_codes
from service.cli.policy_advice import secrets_of
from service.cli.terminal_text import line, print_json, say
from service.policy.mounted_secrets import FILE, take
from service.policy.settings import KNOWN, TOKEN, Settings, is_secret, read_settings

VARIABLE, DEFAULT = "the variable", "default"
_SET, _UNSET = "set", "not set"


class Shown(Struct, frozen=True):
    """A setting as it is shown: its value, or for a secret that it is set, and where it comes from."""

    setting: str
    value: str
    source: str


@click.group()
def config() -> None:
    """Show the settings that are in force, each with its source."""


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of setting, value, source.")
def show(as_json: bool) -> int:
    """Show every setting with its effective value and its source; of a secret, that it is set.

    Secrets are the addresses of PostgreSQL, the signer's token, and the keys that the policy names. They are read, so a
    file that has none is an error here as at a start.

    \b
    gainsay config show
    gainsay config show --json

    Exit codes: 0 shown, 2 a setting is unknown or wrong.
    """
    environment = dict(os.environ)
    settings = read_settings(environment)
    rows = [*_variables(settings, environment), *_keys(settings, environment)]
    if as_json:
        print_json(rows)
        return exit_codes.DONE
    for row in rows:
        say(line(f"{row.setting} = {row.value}, {row.source}"))
    return exit_codes.DONE


def _variables(settings: Settings, environment: Mapping[str, str]) -> Iterator[Shown]:
    for name, variable in KNOWN.items():
        given = environment.get(name)
        source = DEFAULT if given is None else VARIABLE
        if is_secret(name):
            yield _secret(name, given)
        elif variable is None:
            yield Shown(name, f"{settings.policy_path} (version {settings.policy.version})", source)
        else:
            value = getattr(settings, variable.member)
            yield Shown(name, _UNSET if value is None else str(value), source)


def _secret(name: str, given: str | None) -> Shown:
    if given is None:
        return Shown(name, _UNSET, DEFAULT)
    if not given.startswith(FILE):
        return Shown(name, _SET, VARIABLE)
    found = _SET if name != TOKEN or take(given, {}).secret else "no secret that can be read"
    return Shown(name, found, f"from file {given.removeprefix(FILE)}")


def _keys(settings: Settings, environment: Mapping[str, str]) -> Iterator[Shown]:
    """What the policy names as a vendor's key."""
    for provider, setting in settings.policy.providers.items():
        for key, place in secrets_of(setting).items():
            found = _SET if take(place, environment).secret else "no secret that can be read"
            kind, _, where = place.partition(":")
            source = f"from file {where}" if kind == "file" else f"the variable {where}"
            yield Shown(f"providers.{provider}.{key}", found, source)
