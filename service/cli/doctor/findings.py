"""What `gainsay doctor` finds: one line a check, each check by itself, and no secret in any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from service.cli.policy_advice import secrets_of
from service.cli.terminal_text import clean
from service.errors import GainsayError, SettingsError
from service.policy import Policy
from service.policy.mounted_secrets import FILE, TEXT, take
from service.policy.settings import is_secret
from service.providers.credentials import read_secret

Status = Literal["OK", "WARNING", "FAILED", "SKIPPED"]
HIDDEN = "[secret]"
TELLING = 4
"""Secrets of fewer characters are words of any text, and hide nothing."""


class Finding(Struct, frozen=True, omit_defaults=True):
    """The result of a check: what was found, and what to do about it."""

    check: str
    status: Status
    found: str
    remedy: str = ""


Check = Callable[[], Iterable[Finding]]


def ok(check: str, found: str) -> Finding:
    """Nothing to do."""
    return Finding(check, "OK", found)


def warning(check: str, found: str, remedy: str = "") -> Finding:
    """The deployment works, and a person should look."""
    return Finding(check, "WARNING", found, remedy)


def failed(check: str, found: str, remedy: str = "") -> Finding:
    """The deployment does not start, or does not do what it should."""
    return Finding(check, "FAILED", found, remedy)


def skipped(check: str, found: str, remedy: str = "") -> Finding:
    """It was not looked at, and why."""
    return Finding(check, "SKIPPED", found, remedy)


def examined(name: str, check: Check) -> Iterator[Finding]:
    """The findings of one check. An error in it is a finding, so that one part that is broken hides no other."""
    try:
        yield from check()
    except GainsayError as error:
        yield failed(name, error.detail)
    except Exception as fault:  # noqa: BLE001 -- whatever is broken here, the other checks go on
        yield failed(name, f"the check itself failed: {type(fault).__name__}", "GAINSAY_LOG_LEVEL=DEBUG shows where")


class Secrets:
    """Every secret that this process can see, to be taken out of what is printed, whatever library put it there."""

    def __init__(self, environment: Mapping[str, str], policy: Policy | None) -> None:
        self._texts = {text for text in _texts(environment, policy) if len(text) >= TELLING}

    def hidden(self, finding: Finding) -> Finding:
        """The finding without them, and without control characters."""
        return Finding(finding.check, finding.status, self._clean(finding.found), self._clean(finding.remedy))

    def _clean(self, text: str) -> str:
        for secret in sorted(self._texts, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return clean(text)


def _texts(environment: Mapping[str, str], policy: Policy | None) -> Iterator[str]:
    for name, value in environment.items():
        ours = name.startswith("GAINSAY_") and name.endswith(("_TOKEN", "_KEY"))
        if ours and not value.startswith(("file:", "env:", "http")):
            yield value
        if "://" in value:
            with suppress(ValueError):
                yield from _passwords(value)
    for name in filter(is_secret, environment):
        mounted = take(environment[name], {}, TEXT).secret if environment[name].startswith(FILE) else None
        if mounted is not None:
            yield mounted.reveal()
            with suppress(ValueError):
                yield from _passwords(mounted.reveal())
    place = environment.get("GAINSAY_SIGNING_KEY", "")
    if place.startswith("env:"):
        yield from environment.get(place[4:], "").splitlines()
    for setting in policy.providers.values() if policy else ():
        for named in secrets_of(setting).values():
            with suppress(SettingsError):
                yield read_secret(named, environment).reveal()


def _passwords(url: str) -> tuple[str, str]:
    """The password of a URL, as it is written and as it is meant; raises `ValueError` for another text."""
    password = urlsplit(url).password or ""
    return password, unquote(password)
