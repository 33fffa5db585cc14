"""Secrets: texts that are never shown, from a variable or from a mounted file that may be replaced at any time.

    env:NAME     the variable, as it is; it cannot change while a process runs
    file:PATH    the file, without its last line break, read again at each use

A setting that is a secret itself (`GAINSAY_DATABASE_URL` and its like) holds the secret, or ``file:PATH``.

Kubernetes and Docker mount a secret as a file behind a link that is swapped when the secret changes, so the path is
opened anew each time. A file that is gone, empty or unfit by then is logged and counted, and the last good secret stays
in use. At the start it is an error.

As with ssh, a file of this process's own user must not be open to all users: it is refused. The modes of a file that
belongs to another user (root, who mounts it; Kubernetes' default is 0644) are not this process's to change: it is
taken, with a warning where all users may read it.
"""

from __future__ import annotations

import hmac
import os
import re
import stat
from collections.abc import Mapping
from typing import Final, NoReturn, Self, SupportsIndex

from msgspec import Struct

from service import log_lines
from service.errors import SettingsError

FILE = "file:"
SECRET_BYTES_MAX = 16_384
HEADER = re.compile(r"[\x20-\x7e]+")
"""What a header of HTTP can carry."""
TEXT = re.compile(r"[^\x00-\x1f\x7f\ufffd]+")
"""A line of text, such as an address with a password in it."""
TOKEN = re.compile(r"[!-~]{16,512}")
"""A shared token that is not easily guessed."""
MASTERS = re.compile(r"\s*[A-Za-z0-9+/]{43}=(?:\s+[A-Za-z0-9+/]{43}=)*\s*", re.ASCII)
"""One key of 32 bytes in base64, or several, each in a line."""
_NAMED = {"env": "variable", "file": "file"}
_NO_PLACE = "env:NAME or file:PATH, found neither; a secret itself is never written here"
_FORMS = {
    HEADER: "that a header can carry, found a control character or one beyond ASCII",
    TOKEN: "of 16 printable characters or more, without spaces, found another text",
    MASTERS: "of 32 bytes in base64, one a line, found another text",
    TEXT: "in one line of UTF-8, found a control character or other bytes",
}


class Secret:
    """A text that is never shown by repr, str or format. It cannot be pickled or encoded; `reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value: Final = value

    def reveal(self) -> str:
        """The text itself, for what carries it out and for nothing else."""
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


class Taken(Struct, frozen=True):
    """The secret, or a fault of reading it. Errors are raised where no local variable holds the text."""

    secret: Secret | None
    fault: str = ""
    warning: str = ""


def take(named: str, environment: Mapping[str, str], form: re.Pattern[str] = HEADER) -> Taken:
    """The secret behind ``env:NAME`` or ``file:PATH``."""
    kind, _, name = named.partition(":")
    if (lacking := _NAMED.get(kind)) is None or not name:
        what = f"the name of a {lacking} after {kind}:, found none" if lacking else _NO_PLACE
        return Taken(None, f"expected {what}")
    if kind == "env":
        return _checked(environment.get(name), f"the variable {name}", form)
    try:
        raw, found = _read(name)
    except OSError as error:
        return Taken(None, f"expected a secret in the file {name}, which cannot be read ({error.strerror})")
    if not stat.S_ISREG(found.st_mode):
        return Taken(None, f"expected a secret in the file {name}, found something other than a file")
    warning = ""
    if found.st_mode & 0o007:
        mode = f"mode {stat.S_IMODE(found.st_mode):04o}"
        if found.st_uid == os.geteuid():
            return Taken(None, f"expected a file that not all users may read at {name}, found {mode}; chmod o-rwx it")
        warning = f"all users of this machine may read {name} ({mode}); mount it with mode 0440"
    text = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    taken = _checked(text, f"the file {name}", form)
    return Taken(taken.secret, taken.fault, warning)


def _read(path: str) -> tuple[bytes, os.stat_result]:
    """The first bytes of a file, and what it is; a pipe that has no writer does not stop the process."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        return (file.read(SECRET_BYTES_MAX + 1) if stat.S_ISREG(found.st_mode) else b""), found


def _checked(value: str | None, where: str, form: re.Pattern[str]) -> Taken:
    if not value:
        return Taken(None, f"expected a secret in {where}, found {'none' if value is None else 'nothing in it'}")
    if len(value) > SECRET_BYTES_MAX:
        return Taken(None, f"expected a secret in {where}, found more than {SECRET_BYTES_MAX} bytes")
    if not form.fullmatch(value):
        return Taken(None, f"expected a secret in {where} {_FORMS[form]}")
    return Taken(Secret(value))


class MountedSecret:
    """The secret of one place: ``current`` is the last good one."""

    def __init__(self, setting: str, named: str, first: Taken, form: re.Pattern[str] = HEADER) -> None:
        if first.secret is None:
            raise ValueError("expected a secret that was read, found none")
        self._setting, self._named, self._form = setting, named, form
        self._secret, self._fault = first.secret, ""
        if first.warning:
            log_lines.SECRET_DOUBTFUL(detail=first.warning, setting=setting)

    @property
    def named(self) -> str:
        """Where it is: ``env:NAME`` or ``file:PATH``."""
        return self._named

    def current(self) -> Secret:
        """The secret as it is now; one that cannot be read again stays, and that is logged and counted."""
        if self._named.startswith(FILE):
            taken = take(self._named, {}, self._form)
            if taken.secret is None:
                self._kept(taken.fault)
            else:
                self._fault = ""
                self._replace(taken.secret)
        return self._secret

    def _replace(self, secret: Secret) -> None:
        if secret != self._secret:
            self._secret = secret
            log_lines.SECRET_REPLACED(setting=self._setting)

    def _kept(self, fault: str) -> None:
        from service import telemetry  # with what it imports it is slow, and quick commands read settings too

        telemetry.SECRETS_KEPT.inc()
        if fault != self._fault:  # once for each fault: a key may be read at each call
            self._fault = fault
            log_lines.SECRET_UNREADABLE(setting=self._setting, reason=fault)


_MOUNTED: dict[str, MountedSecret] = {}
"""By ``file:PATH``: what was read last stays for all connections of a process."""


def check_text(setting: str, text: str, form: re.Pattern[str] = TEXT) -> str:
    """A setting that is a secret or names its file; raises `SettingsError` if the file has none. Returns the text."""
    if text.startswith(FILE):
        taken = take(text, {}, form)
        if taken.secret is None:
            raise SettingsError(f"{setting}: {taken.fault}")
        if text not in _MOUNTED:
            _MOUNTED[text] = MountedSecret(setting, text, taken, form)
    return text


def check_shared(setting: str, text: str) -> str:
    """A shared token, or file:PATH of a file with one; raises `SettingsError` without it. Returns the text."""
    if not text.startswith(FILE) and not TOKEN.fullmatch(text):
        raise SettingsError(
            f"expected 16 printable characters or more, without spaces, in {setting}, found another text"
        )
    return check_text(setting, text, TOKEN)


def reveal_text(text: str, setting: str = "", form: re.Pattern[str] = TEXT) -> str:
    """The secret of such a setting as it is now; raises `SettingsError` if its file never had one."""
    if not text.startswith(FILE):
        return text
    if text not in _MOUNTED:
        check_text(setting, text, form)
    return _MOUNTED[text].current().reveal()
