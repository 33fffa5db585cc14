"""Keys of providers: named in the policy, read at the start and again at each call, and never shown.

`service.policy.mounted_secrets` says where they may be. If a vendor refuses a key from a file and the file holds
another one by then, the call is tried again with that one (`Credentials.reread`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from msgspec import Struct

from service.errors import SettingsError
from service.policy.mounted_secrets import MountedSecret, Secret, take

__all__ = ["Credentials", "Secret", "read_secret"]

TELLING_LENGTH = 16
"""The least length of a secret that is searched for: shorter ones (``ollama``) occur in replies by chance."""
FORMER_MAX = 8
"""How many replaced secrets are remembered."""


def read_secret(named: str, environment: Mapping[str, str]) -> Secret:
    """The secret behind ``env:NAME`` or ``file:PATH``; raises `SettingsError` naming the variable or the file."""
    taken = take(named, environment)
    del environment  # it holds other keys, and a traceback can show local variables
    if taken.secret is None:
        raise SettingsError(taken.fault)
    return taken.secret


class _Carried(Struct, frozen=True):
    """A header with a secret in it, where the secret comes from, and what it was at the last look."""

    header: str
    prefix: str
    mounted: MountedSecret
    secret: Secret


_AUTH = {"bearer": ("authorization", "Bearer "), "api-key": ("api-key", ""), "x-api-key": ("x-api-key", "")}


class Credentials:
    """The headers of a provider that hold secrets."""

    def __init__(self, carried: tuple[_Carried, ...]) -> None:
        self._carried = carried
        self._former: tuple[Secret, ...] = ()
        self._version = 0

    @classmethod
    def read(
        cls, name: str, key: str | None, auth: str, headers: Mapping[str, str], environment: Mapping[str, str]
    ) -> Self | SettingsError:
        """The key and the secret headers of provider ``name``, or the error that names the setting. The caller raises
        that error after it has dropped the environment."""
        found: list[_Carried] = []
        fault = ""
        if (key is None) != (auth == "none"):
            fault = f"providers.{name}.key: " + (
                f'expected env:NAME or file:PATH, found none; a server that takes no key has auth = "none", not {auth}'
                if key is None
                else 'expected none beside auth = "none", which sends no key; remove one of the two'
            )
        wanted = [(f"secret_headers.{header}", header.lower(), "", named) for header, named in headers.items()]
        if key is not None and not fault:
            wanted.insert(0, ("key", *_AUTH[auth], key))
        for setting, header, prefix, named in wanted:
            taken = take(named, environment)
            if taken.secret is None:
                fault = fault or f"providers.{name}.{setting}: {taken.fault}"
            else:
                mounted = MountedSecret(f"providers.{name}.{setting}", named, taken)
                found.append(_Carried(header, prefix, mounted, taken.secret))
        return SettingsError(fault) if fault else cls(tuple(found))

    @property
    def headers(self) -> frozenset[str]:
        """The names of the headers, in lower case."""
        return frozenset(one.header for one in self._carried)

    def revealed(self) -> dict[str, str]:
        """The headers as they go out."""
        return {one.header: one.prefix + one.secret.reveal() for one in self._carried}

    def reread(self) -> int:
        """Read the secrets from files again; returns a number that is another one once a secret was replaced."""
        now = [one.mounted.current() for one in self._carried]
        replaced = [old.secret for new, old in zip(now, self._carried, strict=True) if new is not old.secret]
        if replaced:
            # A call that went out with the former key may still be answered, and the key may be in that answer.
            self._former = (*self._former, *replaced)[-FORMER_MAX:]
            self._carried = tuple(
                _Carried(one.header, one.prefix, one.mounted, secret)
                for one, secret in zip(self._carried, now, strict=True)
            )
            self._version += 1
        return self._version

    def stand_in(self, raw: bytes) -> bool:
        """Whether these bytes contain one of the secrets, because a server has echoed it."""
        for secret in (*[one.secret for one in self._carried], *self._former):
            value = secret.reveal()
            if len(value) >= TELLING_LENGTH and value.encode() in raw:
                return True
        return False
