"""Keys of providers: named in the policy, read at the start, and never shown.

    env:NAME     the variable, as it is
    file:PATH    the file, without its last line break; it may be replaced while the service runs

If a vendor refuses a key from a file, the file is read again (`Credentials.reread`). If it holds another key by then,
the next attempt uses that one. A variable cannot change while a process runs, so it is read once.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn, Self, SupportsIndex

from msgspec import Struct

from service.errors import SettingsError

SECRET_BYTES_MAX = 16_384
TELLING_LENGTH = 16
"""The least length of a secret that is searched for: shorter ones (``ollama``) occur in replies by chance."""
FORMER_MAX = 8
"""How many replaced secrets are remembered."""
_HEADER = re.compile(r"[\x20-\x7e]+")


class Secret:
    """A text that is never shown by repr, str or format. It cannot be pickled or encoded; `reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value: Final = value

    def reveal(self) -> str:
        """The text itself, for the header that carries it and for nothing else."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(...)"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    __hash__ = None  # type: ignore[assignment]  # equal by value, and no value leaves through a hash

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a secret is not written anywhere")


class _Taken(Struct, frozen=True):
    """The secret, or a fault of reading it. Errors are raised where no local variable holds the text."""

    secret: Secret | None
    fault: str = ""


def read_secret(named: str, environment: Mapping[str, str]) -> Secret:
    """The secret behind ``env:NAME`` or ``file:PATH``; raises `SettingsError` naming the variable or the file."""
    taken = _take(named, environment)
    del environment  # it holds other keys, and a traceback can show local variables
    if taken.secret is None:
        raise SettingsError(taken.fault)
    return taken.secret


def _take(named: str, environment: Mapping[str, str]) -> _Taken:
    kind, _, name = named.partition(":")
    if kind not in ("env", "file") or not name:
        return _Taken(None, "expected env:NAME or file:PATH, found neither; a secret itself is never written here")
    if kind == "env":
        return _checked(environment.get(name), f"the variable {name}")
    try:
        with Path(name).open("rb") as file:
            raw = file.read(SECRET_BYTES_MAX + 1)
    except OSError as error:
        return _Taken(None, f"expected a secret in the file {name}, which cannot be read ({error.strerror})")
    return _checked(raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r"), f"the file {name}")


def _checked(value: str | None, where: str) -> _Taken:
    if not value:
        return _Taken(None, f"expected a secret in {where}, found {'none' if value is None else 'nothing in it'}")
    if len(value) > SECRET_BYTES_MAX:
        return _Taken(None, f"expected a secret in {where}, found more than {SECRET_BYTES_MAX} bytes")
    if not _HEADER.fullmatch(value):
        return _Taken(
            None, f"expected a secret in {where} that a header can carry, found a control character or one beyond ASCII"
        )
    return _Taken(Secret(value))


class _Carried(Struct, frozen=True):
    """A header with a secret in it, and where the secret came from."""

    header: str
    prefix: str
    named: str
    secret: Secret


_AUTH = {"bearer": ("authorization", "Bearer "), "api-key": ("api-key", ""), "x-api-key": ("x-api-key", "")}


class Credentials:
    """The headers of a provider that hold secrets."""

    def __init__(self, carried: tuple[_Carried, ...]) -> None:
        self._carried = carried
        self._former: tuple[Secret, ...] = ()

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
            taken = _take(named, environment)
            if taken.secret is None:
                fault = fault or f"providers.{name}.{setting}: {taken.fault}"
            else:
                found.append(_Carried(header, prefix, named, taken.secret))
        return SettingsError(fault) if fault else cls(tuple(found))

    def revealed(self) -> dict[str, str]:
        """The headers as they go out."""
        return {one.header: one.prefix + one.secret.reveal() for one in self._carried}

    def reread(self) -> bool:
        """Read the secrets from files again; returns whether one of them has changed."""
        again = tuple(_again(one) for one in self._carried)
        replaced = [old.secret for new, old in zip(again, self._carried, strict=True) if new.secret != old.secret]
        # A call that went out with the former key may still be answered, and the key may be in that answer.
        self._former = (*self._former, *replaced)[-FORMER_MAX:]
        self._carried = again
        return bool(replaced)

    def stand_in(self, raw: bytes) -> bool:
        """Whether these bytes contain one of the secrets, because a server has echoed it."""
        values = (secret.reveal() for secret in (*(one.secret for one in self._carried), *self._former))
        return any(len(value) >= TELLING_LENGTH and value.encode() in raw for value in values)


def _again(one: _Carried) -> _Carried:
    taken = _take(one.named, {}) if one.named.startswith("file:") else _Taken(None)
    return _Carried(one.header, one.prefix, one.named, taken.secret) if taken.secret else one
