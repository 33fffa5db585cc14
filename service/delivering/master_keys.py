"""The deployment's keys for webhooks: from them every secret is derived, and rows name them by an id.

A new key is put before the old one. New secrets are derived from the first; those of the old one sign as long as it is
there, so it is removed when no endpoint names it any more (`POST /v1/webhooks/{webhook}/rotate` moves one over).
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from secrets import token_bytes

from service.delivering.signing import MASTER_BYTES, derive_secret, master_id, read_master
from service.errors import SettingsError
from service.policy.mounted_secrets import MASTERS, MountedSecret, take

SETTING = "GAINSAY_WEBHOOK_KEY"


class MasterMissing(Exception):
    """No master key of this id is in the setting any more."""


class MasterKeys:
    """The keys of a place, as they are now: a mounted file is read again at each use."""

    def __init__(self, mounted: MountedSecret) -> None:
        self._mounted = mounted

    @classmethod
    def at(cls, place: str, environment: Mapping[str, str]) -> MasterKeys:
        """The keys at ``file:PATH`` or ``env:NAME``; raises `SettingsError`, which never shows one."""
        taken = take(place, environment, MASTERS)
        if taken.secret is None:
            raise SettingsError(f"{SETTING}: {taken.fault}; `openssl rand -base64 32` makes one")
        return cls(MountedSecret(SETTING, place, taken, MASTERS))

    def newest(self) -> str:
        """The id of the key that new secrets are derived from."""
        return next(iter(self._keys()))

    def secret(self, master: str, tenant: str, endpoint: str, generation: int) -> bytes:
        """The secret of an endpoint's generation; raises `MasterMissing`."""
        try:
            return derive_secret(self._keys()[master], tenant, endpoint, generation)
        except KeyError:
            raise MasterMissing(
                f"the secret is derived from a key that {SETTING} does not have any more ({master}); put it back as a "
                "further line, or rotate the endpoint"
            ) from None

    def _keys(self) -> dict[str, bytes]:
        """The keys by id, the newest first."""
        keys = [read_master(text) for text in self._mounted.current().reveal().split()]
        return {master_id(key): key for key in keys}


def open_master_keys(
    place: str | None, data_dir: Path, environment: Mapping[str, str], *, own: bool
) -> MasterKeys | None:
    """The keys of a setting; with the embedded database (``own``) those of a file that is made in the data folder.

    ``None`` where a database of the deployment's own has no setting. Raises `SettingsError`.
    """
    if place is None and not own:
        return None
    return MasterKeys.at(place or _made(data_dir / "keys" / "webhook.key"), environment)


def _made(path: Path) -> str:
    """The place of a key file, which is made if it is missing, for its owner alone; raises `SettingsError`."""
    beside = path.with_name(f".{path.name}.{token_bytes(6).hex()}")
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(b64encode(token_bytes(MASTER_BYTES)) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(beside, path)  # fails where another process made the key at the same moment
            except FileExistsError:
                pass
            finally:
                beside.unlink()
    except OSError as error:
        raise SettingsError(f"expected to keep the key of webhooks at {path}, found: {error.strerror}") from error
    return f"file:{path}"
