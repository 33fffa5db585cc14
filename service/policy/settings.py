"""Environment and policy file, as one frozen `Settings`; an unknown, missing or wrong key stops the start.

GAINSAY_DATABASE_URL   PostgreSQL for the service's role; without it an embedded server runs under the data folder
GAINSAY_MIGRATE_URL    PostgreSQL for the role that migrates
GAINSAY_DATA_DIR       the embedded server's folder (default: ~/.local/share/gainsay)
GAINSAY_POLICY         the policy file (default: the one that is shipped)
GAINSAY_PROMPTS_PIN    SHA-256 of prompts/manifest.json that this deployment promises to use, or file:PATH with it; the
                       image sets it to the pin of its own manifest
GAINSAY_LEASE_S        seconds after which a debate of a silent worker is taken over (default: 15)
GAINSAY_GRACE_S        seconds for which a worker that stops waits for its calls (default: 20); calls that it cancels
                       are charged at their reservation, so set it as long as the longest call, and a pod's longer
GAINSAY_DRAIN_S        seconds for which `gainsay serve` still takes requests after SIGTERM, answering that it is not
                       ready, so that a balancer can learn of it (default: 5; 0 closes the socket at once)
GAINSAY_WAIT_S         seconds for which `serve`, `work` and `sequence` wait at the start, all its steps together, for
                       PostgreSQL and for its migrations (default: 60; 0 tries once); they count anew once migrations
                       were applied or the embedded server was started, and a try that was begun is ended
GAINSAY_WARM_S         seconds for which the embedded server stays after the last command, so that the next one finds it
                       running (default: 60; 0 stops it with the command, as `serve`, `work` and `sequence` always do)
GAINSAY_LOG_HOST       the first part of the names of logs, `<host>/<tenant>/<epoch>` (default: localhost)
GAINSAY_SEQUENCER_URL  PostgreSQL for the sequencer's role, which alone adds to the tree of a log
GAINSAY_SIGNING_KEY    what signs the heads of logs: `file:PATH` or `env:NAME` of a key, or `http://…` of a signer
                       process (default with the embedded server: a key that is made in the data folder)
GAINSAY_SIGNER_TOKEN   the shared token of the signer process and its clients; without one it listens on loopback alone
GAINSAY_HEADS_DIR      the folder with the last signed head of each log (default: heads in the data folder)
GAINSAY_APPROVAL       a file with the signed approval of this configuration (`gainsay approve`)
GAINSAY_SERVER         the address of a running service that commands ask in place of a database of their own, such as
                       https://gainsay.example (the option --server wins); http:// stays in the private network
GAINSAY_LOG_LEVEL      DEBUG, INFO, WARNING or ERROR (default: INFO)

Vendors' keys are none of these: the policy file names the variables and files that hold them (docs/models.md).
Variables that Kubernetes writes for a Service called ``gainsay`` or ``gainsay-x`` are none either, and are passed over
(`service.policy.service_links`). A known name is always a setting, whatever its value looks like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from service.errors import SettingsError, did_you_mean
from service.policy import Policy
from service.policy.file.providers import is_private
from service.policy.file.reading import read_policy, refuse_unpriced
from service.policy.service_links import is_service_link

__all__ = [
    "SERVER",
    "SHIPPED_POLICY",
    "Settings",
    "data_folder",
    "read_policy",
    "read_server",
    "read_settings",
    "refuse_unpriced",
]

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
SERVER = "GAINSAY_SERVER"
SHIPPED_POLICY = Path(__file__).parents[1] / "gainsay.toml"
_KNOWN = (
    "GAINSAY_DATABASE_URL",
    "GAINSAY_MIGRATE_URL",
    "GAINSAY_DATA_DIR",
    "GAINSAY_POLICY",
    "GAINSAY_PROMPTS_PIN",
    "GAINSAY_LEASE_S",
    "GAINSAY_GRACE_S",
    "GAINSAY_DRAIN_S",
    "GAINSAY_WAIT_S",
    "GAINSAY_WARM_S",
    "GAINSAY_LOG_HOST",
    "GAINSAY_SEQUENCER_URL",
    "GAINSAY_SIGNING_KEY",
    "GAINSAY_SIGNER_TOKEN",
    "GAINSAY_HEADS_DIR",
    "GAINSAY_APPROVAL",
    "GAINSAY_SERVER",
    "GAINSAY_LOG_LEVEL",
)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_KEY_PLACE = re.compile(r"file:.+|env:[A-Za-z_][A-Za-z0-9_]*|https?://\S+")


class Settings(Struct, frozen=True):
    """The whole configuration of a process. URLs may hold passwords, so no representation shows them."""

    policy: Policy
    data_dir: Path
    policy_path: Path
    database_url: str | None = None
    migrate_url: str | None = None
    prompts_pin: str | None = None
    lease_s: float = 15.0
    grace_s: float = 20.0
    drain_s: float = 5.0
    wait_s: float = 60.0
    warm_s: float = 60.0
    log_level: Level = "INFO"
    log_host: str = "localhost"
    sequencer_url: str | None = None
    signing_key: str | None = None
    heads_dir: Path | None = None
    approval: Path | None = None

    def __repr__(self) -> str:
        """Names only: a URL holds a password."""
        return f"Settings(policy={self.policy.version!r}, data_dir={str(self.data_dir)!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """The same where rich prints it: msgspec's own would give every field."""
        return [("policy", self.policy.version), ("data_dir", str(self.data_dir))]


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of a process; raises `SettingsError` naming the variable or the key of the policy file."""
    given = _given(environment)
    read_server(environment)
    path = Path(given.get("GAINSAY_POLICY", SHIPPED_POLICY))
    return Settings(
        policy=read_policy(path),
        data_dir=_data_dir(given, environment),
        policy_path=path,
        database_url=given.get("GAINSAY_DATABASE_URL"),
        migrate_url=given.get("GAINSAY_MIGRATE_URL"),
        prompts_pin=_prompts_pin(given.get("GAINSAY_PROMPTS_PIN")),
        lease_s=_seconds("GAINSAY_LEASE_S", given.get("GAINSAY_LEASE_S", "15"), 0.5),
        grace_s=_seconds("GAINSAY_GRACE_S", given.get("GAINSAY_GRACE_S", "20"), 0.0),
        drain_s=_seconds("GAINSAY_DRAIN_S", given.get("GAINSAY_DRAIN_S", "5"), 0.0),
        wait_s=_seconds("GAINSAY_WAIT_S", given.get("GAINSAY_WAIT_S", "60"), 0.0),
        warm_s=_seconds("GAINSAY_WARM_S", given.get("GAINSAY_WARM_S", "60"), 0.0),
        log_level=read_level(given),
        log_host=_matching("GAINSAY_LOG_HOST", given.get("GAINSAY_LOG_HOST", "localhost"), _HOST, "a host's name"),
        sequencer_url=given.get("GAINSAY_SEQUENCER_URL"),
        signing_key=_key_place(given.get("GAINSAY_SIGNING_KEY")),
        heads_dir=_path(given.get("GAINSAY_HEADS_DIR")),
        approval=_path(given.get("GAINSAY_APPROVAL")),
    )


def _given(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of the environment; raises `SettingsError` for unknown and for empty ones."""
    given = {
        name: value
        for name, value in environment.items()
        if name.startswith("GAINSAY_") and (name in _KNOWN or not is_service_link(name, value))
    }
    unknown = sorted(name for name in given if name not in _KNOWN and not name.startswith("GAINSAY_TEST_"))
    if unknown:
        near = did_you_mean(unknown[0], _KNOWN)
        raise SettingsError(f"unknown settings {unknown};{near} the known ones are {sorted(_KNOWN)}")
    if empty := sorted(name for name, value in given.items() if not value.strip() or "\0" in value):
        raise SettingsError(f"expected a value in {empty}, found nothing that can be one; set them or leave them out")
    return given


def read_server(environment: Mapping[str, str], option: str | None = None) -> str | None:
    """The service that a command asks, or ``None`` where it has a database of its own.

    Reads no policy: that of a service is its own. Raises `SettingsError` for an address that is none, and for one
    whose cases would cross a network in clear.
    """
    given = _given(environment).get(SERVER)
    name, text = (SERVER, given) if option is None else ("--server", option)
    if text is None:
        return None
    if "@" in text:  # never said: it may hold a password
        raise SettingsError(f"{name} must be an address without a user and a password, found one with them")
    parts = _address_parts(text)
    if parts is None or parts.hostname is None:
        raise SettingsError(f"{name} must be an address such as https://gainsay.example, found {text[:200]!r}")
    if parts.scheme == "http" and not is_private(parts.hostname):
        raise SettingsError(
            f"{name} must begin with https://, found http:// to {parts.hostname!r}: whole cases would cross a network "
            "in clear; http is for loopback and private addresses, names without a dot, and names under localhost, "
            "local, internal, svc"
        )
    return text.rstrip("/")


def _address_parts(text: str) -> SplitResult | None:
    """The parts of an address with a scheme of HTTP, or ``None`` for any other text."""
    try:
        parts = urlsplit(text)
        rest = parts.query or parts.fragment or parts.port == 0
    except ValueError:
        return None
    return None if rest or parts.scheme not in ("https", "http") or not re.fullmatch(r"[!-~]+", text) else parts


def data_folder(environment: Mapping[str, str]) -> Path:
    """The data folder of the environment, for a command that reads no policy."""
    return _data_dir(_given(environment), environment)


def _matching(name: str, text: str, pattern: re.Pattern[str], what: str) -> str:
    if not pattern.fullmatch(text):
        raise SettingsError(f"{name} must be {what}, found {text!r}")
    return text


def _key_place(text: str | None) -> str | None:
    if text is None:
        return None
    if not _KEY_PLACE.fullmatch(text):  # it may be the key itself by mistake: never said
        raise SettingsError(
            "GAINSAY_SIGNING_KEY must say where the key is: file:PATH, env:NAME, or the http:// address of a signer; "
            "found something else"
        )
    return text


def _prompts_pin(text: str | None) -> str | None:
    """The pin, or the one in the file that the setting names: an image holds that of its own manifest."""
    where = "GAINSAY_PROMPTS_PIN"
    if text is not None and text.startswith("file:"):
        where = f"the file {text[5:]} of GAINSAY_PROMPTS_PIN"
        try:
            text = Path(text[5:]).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"expected a pin of the prompts in {where}, found none that can be read") from error
    if text is not None and not re.fullmatch(r"[0-9a-f]{64}", text):
        raise SettingsError(f"{where} must be a SHA-256 in 64 hexadecimal digits; see `gainsay prompts list`")
    return text


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text).expanduser().resolve()


def _data_dir(given: Mapping[str, str], environment: Mapping[str, str]) -> Path:
    if "GAINSAY_DATA_DIR" in given:
        return Path(given["GAINSAY_DATA_DIR"]).expanduser().resolve()
    share = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME", "/var/lib")) / ".local" / "share")
    return Path(share) / "gainsay"


def read_level(environment: Mapping[str, str]) -> Level:
    """The log level; raises `SettingsError`."""
    text = environment.get("GAINSAY_LOG_LEVEL", "INFO")
    try:
        level: Level = msgspec.convert(text.upper(), Level)
    except msgspec.ValidationError as error:
        raise SettingsError(f"GAINSAY_LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR, found {text!r}") from error
    return level


def _seconds(name: str, text: str, least: float) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not least <= seconds <= 3_600:
        raise SettingsError(f"{name} must be from {least:g} to 3600 seconds, found {text!r}")
    return seconds
