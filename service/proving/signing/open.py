"""Opens the signer of a key's place.

file:PATH            a key file (`service.proving.signing.keys`); heads are stored in a folder
env:NAME             the same lines in a variable
http(s)://HOST:PORT  a signer process, which stores its own heads; GAINSAY_SIGNER_TOKEN is its bearer token
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from service.audit.note import BadKey, SigningKey
from service.errors import SettingsError
from service.policy.file.providers import is_private
from service.policy.mounted_secrets import check_shared
from service.policy.settings import TOKEN, Settings
from service.proving.signing import Signer
from service.proving.signing.checkpoint_files import CheckpointFiles
from service.proving.signing.keys import make_key_file, parse_keys, read_keys
from service.proving.signing.local import LocalSigner
from service.proving.signing.remote import RemoteSigner


def open_signer(place: str, heads_dir: Path, environment: Mapping[str, str]) -> Signer:
    """The signer whose key is at ``place``; raises `SettingsError`."""
    if place.startswith(("http://", "https://")):
        return _remote(place, environment)
    return LocalSigner(read_place(place, environment), CheckpointFiles(heads_dir))


def read_place(place: str, environment: Mapping[str, str]) -> tuple[SigningKey, ...]:
    """The keys at ``file:PATH`` or ``env:NAME``, newest first; raises `SettingsError`, which never shows a key."""
    kind, _, rest = place.partition(":")
    if kind == "file" and rest:
        return read_keys(_path(rest))
    if kind == "env" and rest:
        if rest not in environment:
            raise SettingsError(f"expected a signing key in the variable {rest}, found no such variable")
        return parse_keys(environment[rest], f"the variable {rest}")
    # the text may be the key itself by mistake, so no message shows it
    raise SettingsError("expected a key's place, file:PATH or env:NAME, found another text")


def signing_key(data_dir: Path, host: str) -> str:
    """The place of the key that signs for one machine's own data, made if it is missing; raises `SettingsError`."""
    path = data_dir / "keys" / "log.key"
    if not path.exists():
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_key_file(path, host)
        except OSError as error:
            raise SettingsError(f"expected a folder for keys at {path.parent}, found: {error.strerror}") from error
        except BadKey as error:
            raise SettingsError(f"GAINSAY_LOG_HOST cannot be the name of a key: {error.detail}") from error
        except SettingsError:
            if not path.exists():  # otherwise another process made the key at the same moment
                raise
    return f"file:{path}"


def read_token(environment: Mapping[str, str]) -> str | None:
    """The token that a signer and its clients share, or the ``file:PATH`` with it, which is read again at each request.

    Raises `SettingsError` for one that is easily guessed, and for a file that has none.
    """
    token = environment.get(TOKEN)
    return None if token is None else check_shared(TOKEN, token)


def is_loopback(host: str) -> bool:
    """Whether a host's name or address leads to this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise SettingsError("expected a path in file:PATH, found the home of a user who has none") from error


def _remote(place: str, environment: Mapping[str, str]) -> RemoteSigner:
    host = _host(place)
    if not host:
        raise SettingsError(
            "expected the address of a signer, such as http://127.0.0.1:8323, found another text; a password does not "
            f"belong in it (see {TOKEN})"
        )
    if place.startswith("http://") and not is_private(host):
        raise SettingsError(
            f"expected https:// for a signer at {host!r}, found http://: the token would cross a network in clear; "
            "http is for loopback and private addresses, names without a dot, and names under localhost, local, "
            "internal, svc"
        )
    token = read_token(environment)
    if token is None and not is_loopback(host):
        raise SettingsError(f"expected {TOKEN} for a signer on another machine, found none; set it alike on both sides")
    return RemoteSigner(place, token)


def _host(place: str) -> str | None:
    """The host of an address that has nothing but scheme, host, port and path."""
    try:
        parts = urlsplit(place)
        plain = parts.port != 0 and "@" not in parts.netloc and not parts.query and not parts.fragment
        return parts.hostname if plain else None
    except ValueError:
        return None


def signing_place(settings: Settings) -> str:
    """The place of the logs' signing key: GAINSAY_SIGNING_KEY, or a file beside the embedded server's data.

    The file is made if it is missing. Raises `SettingsError`.
    """
    if settings.signing_key is not None:
        return settings.signing_key
    if settings.database_url is None:
        return signing_key(settings.data_dir, settings.log_host)
    raise SettingsError(
        "expected GAINSAY_SIGNING_KEY, the signer of the logs' heads (file:PATH, env:NAME, or the http:// "
        "address of a signer), found none; make a key with `gainsay audit key new`"
    )


def heads_dir(settings: Settings) -> Path:
    """The folder in which a signer in this process keeps the last head of each log."""
    return settings.heads_dir or settings.data_dir / "heads"
