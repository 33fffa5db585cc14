"""Files of signing keys: one a line, in the secret form of Go's sumdb/note, the newest first; ``#`` begins a comment.

    # example.com+1a2b3c4d+AQ…          the verifier key, to pin
    PRIVATE+KEY+example.com+1a2b3c4d+…

The first key signs new logs. The others stay, so that logs that began with them can be continued. A file that others
than its owner may read is refused, and no message shows a key.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_bytes

from service.audit.note import ED25519, KEY_BYTES, BadKey, SigningKey
from service.errors import SettingsError

FILE_BYTES_MAX = 1 << 16


def new_key(name: str, algorithm: int = ED25519) -> SigningKey:
    """A key of 32 random bytes; raises `BadKey` for a name that C2SP signed-note does not allow."""
    return SigningKey.from_seed(name, token_bytes(KEY_BYTES), algorithm)


def parse_keys(text: str, where: str) -> tuple[SigningKey, ...]:
    """The keys of a text, newest first; raises `SettingsError`, which names ``where`` and never quotes the text."""
    keys: list[SigningKey] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        try:
            key = SigningKey.parse(words)
        except BadKey as error:
            raise SettingsError(f"{where}, line {number}: {error.detail}") from None
        if key.public in [known.public for known in keys]:
            raise SettingsError(f"{where}, line {number}: expected each key once, found one for the second time")
        keys.append(key)
    if not keys:
        raise SettingsError(f"{where}: expected a signing key (PRIVATE+KEY+…), found none; see `gainsay audit key new`")
    return tuple(keys)


def read_keys(path: Path) -> tuple[SigningKey, ...]:
    """The keys of a file, newest first; raises `SettingsError`, also when others than its owner may read it."""
    return parse_keys(_read(path), str(path))


def make_key_file(path: Path, name: str, algorithm: int = ED25519) -> SigningKey:
    """Make a key and its file, which is whole or absent and never replaces another.

    Raises `BadKey` for a name that C2SP signed-note does not allow, and `SettingsError`.
    """
    key = new_key(name, algorithm)
    beside = path.with_name(f".{path.name}.{token_bytes(6).hex()}")
    try:
        _write(beside, _lines(key))
        try:
            os.link(beside, path)  # unlike a rename, this fails if the name exists
        finally:
            beside.unlink()
        _sync(path.parent)
    except FileExistsError as error:
        raise SettingsError(f"expected no file at {path}, found one; it was not changed, name another") from error
    except OSError as error:
        raise SettingsError(f"expected to write the key file {path}, found: {error.strerror}") from error
    return key


def add_key(path: Path) -> SigningKey:
    """Put a new key before those of a file, with the name and type of its first; raises `SettingsError`."""
    path = path.resolve()  # keeps a link to the file
    with _alone(path.parent):
        text = _read(path)
        first = parse_keys(text, str(path))[0].public
        key = new_key(first.name, first.algorithm)
        beside = path.with_name(f".{path.name}.{token_bytes(6).hex()}")
        try:
            _write(beside, _lines(key) + text)
            beside.rename(path)
            _sync(path.parent)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise SettingsError(f"expected to write the key file {path}, found: {error.strerror}") from error
    return key


def _lines(key: SigningKey) -> str:
    return f"# {key.public.encode()}\n{key.encode()}\n"


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise SettingsError(f"expected a key file at {path}, found something other than a file")
            # A mount that belongs to root is open to this process by its group alone (Kubernetes: fsGroup).
            if found.st_mode & (0o077 if found.st_uid == os.geteuid() else 0o007):
                raise SettingsError(
                    f"expected a key file that its owner alone may read at {path}, found the mode "
                    f"{stat.S_IMODE(found.st_mode):04o}; chmod 600 it, and make a new key if others have read this one"
                )
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise SettingsError(f"expected a key file at {path}, found: {error.strerror}") from error
    if len(content) > FILE_BYTES_MAX:
        raise SettingsError(f"expected a key file of at most {FILE_BYTES_MAX} bytes at {path}, found more")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise SettingsError(f"expected a key file in UTF-8 at {path}, found other bytes") from None


def _write(path: Path, text: str) -> None:
    """A new file for its owner alone, on disk when this returns."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Allow one rotation at a time: of two concurrent ones, the second would drop the first one's key."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise SettingsError(f"expected a folder at {folder}, found: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
