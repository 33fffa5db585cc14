"""``gainsay config``: whether a process can start under its settings, and each setting with the place it comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import click
from msgspec import Struct

from service.cli import exit_codes
from service.cli.policy_advice import secrets_of
from service.cli.terminal_text import line, print_json, say
from service.errors import SettingsError
from service.policy import Policy
from service.policy.file.reading import read_file
from service.policy.file.tenants import with_all_providers
from service.policy.mounted_secrets import FILE, TEXT, take
from service.policy.settings import KNOWN, Environment, default_of, is_secret, read_environment, together

VARIABLE, DEFAULT = "the variable", "default"
_SET, _UNSET, _UNREAD, _WRONG = "set", "not set", "no secret that can be read", "not a value that can be taken"


class Shown(Struct, frozen=True):
    """A setting as it is shown: its value, or for a secret that it is set, and where it comes from."""

    setting: str
    value: str
    source: str


@click.group()
def config() -> None:
    """Check the settings of a process, or show those in force with their sources."""


@config.command()
@click.option("--offline", is_flag=True, help="Ask no database: for a look before anything is installed.")
@click.option("--no-worker", is_flag=True, help="For a process that runs no worker: it needs no vendor's key.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of check, status, found, remedy.")
def check(offline: bool, no_worker: bool, as_json: bool) -> int:
    """Check what a process needs to start under these variables: settings, policy, prompts and their pin, keys of
    vendors, approval, identities, golden sets, and each login of the database with its role.

    With --no-worker it is checked for `serve --no-worker`, which asks no vendor: their keys are not looked for.

    Every fault comes at once, with its remedy. Nothing is started, written or signed, no vendor, signer or witness is
    asked, and no secret is shown. `gainsay doctor` makes these checks and those of the whole deployment; `gainsay
    policy check` reads one policy file alone.

    \b
    gainsay config check
    gainsay config check --offline
    gainsay config check --no-worker

    Exit codes: 0 nothing failed, 1 something did, 2 usage.
    """
    from service.cli.doctor.examination import Examination

    made = Examination(dict(os.environ))
    asked = made.without_database("--offline") if offline else made.of_database(whole=False)
    return made.report([*made.of_configuration(asks=not no_worker), asked], as_json=as_json)


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of setting, value, source.")
def show(as_json: bool) -> int:
    """Show every setting with its effective value and its source; of a secret, that it is set.

    Secrets are the addresses of PostgreSQL, tokens, and the keys that the policy names. Each is looked for where it
    should be. Every setting is shown, also where others are wrong; what is wrong is an error after them.

    \b
    gainsay config show
    gainsay config show --json

    Exit codes: 0 shown, 2 shown, and a setting or the policy is unknown or wrong.
    """
    environment = dict(os.environ)
    found, faults, policy = read_environment(environment), list[str](), None
    faults += found.faults
    try:
        file = read_file(found.policy_path)
        policy = with_all_providers(file.policy, file.tenants)
    except SettingsError as error:
        faults.append(error.detail)
    rows = [*_variables(found, policy, environment), *(_keys(policy, environment) if policy else ())]
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            say(line(f"{row.setting} = {row.value}, {row.source}"))
    if faults:
        raise SettingsError(together(faults))
    return exit_codes.DONE


def _variables(found: Environment, policy: Policy | None, environment: Mapping[str, str]) -> Iterator[Shown]:
    for name, variable in KNOWN.items():
        given = environment.get(name)
        source = DEFAULT if given is None else VARIABLE
        if is_secret(name):
            yield _secret(name, given)
        elif variable is None:
            version = "it cannot be read" if policy is None else f"version {policy.version}"
            yield Shown(name, f"{found.policy_path} ({version})", source)
        elif given is not None and variable.member not in found.members:
            yield Shown(name, _WRONG, source)
        else:
            value = found.members.get(variable.member, default_of(variable.member))
            yield Shown(name, _UNSET if value in (None, ()) else _said(value), source)


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _secret(name: str, given: str | None) -> Shown:
    if given is None:
        return Shown(name, _UNSET, DEFAULT)
    if not given.startswith(FILE):
        return Shown(name, _SET, VARIABLE)
    found = _SET if take(given, {}, TEXT).secret else _UNREAD
    return Shown(name, found, f"from file {given.removeprefix(FILE)}")


def _keys(policy: Policy, environment: Mapping[str, str]) -> Iterator[Shown]:
    """What the policy names as a vendor's key, or a tenant's own policy."""
    for provider, setting in policy.providers.items():
        for key, place in secrets_of(setting).items():
            found = _SET if take(place, environment).secret else _UNREAD
            kind, _, where = place.partition(":")
            source = f"from file {where}" if kind == "file" else f"the variable {where}"
            yield Shown(f"providers.{provider}.{key}", found, source)
