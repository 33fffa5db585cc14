"""Environment and policy file, as one frozen `Settings`; an unknown or wrong one stops the start, all reported at once.

GAINSAY_DATABASE_URL   PostgreSQL for the service's role; without it an embedded server runs under the data folder
GAINSAY_API_URL        PostgreSQL for the role that serves callers and sees one tenant at a time, for `gainsay serve`
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
GAINSAY_RELOAD_S       seconds between two looks of `serve` and `work` at the policy, its tenants' policies and the
                       approvals: what has changed is taken without a restart (default: 10; 0 looks at SIGHUP alone)
GAINSAY_WARM_S         seconds for which the embedded server stays after the last command, so that the next one finds it
                       running (default: 60; 0 stops it with the command, as `serve`, `work` and `sequence` always do)
GAINSAY_LOG_HOST       the first part of the names of logs, `<host>/<tenant>/<epoch>` (default: localhost)
GAINSAY_SEQUENCER_URL  PostgreSQL for the sequencer's role, which alone adds to the tree of a log
GAINSAY_SIGNING_KEY    what signs the heads of logs: `file:PATH` or `env:NAME` of a key, or `http://…` of a signer
                       process (default with the embedded server: a key that is made in the data folder)
GAINSAY_SIGNER_TOKEN   the shared token of the signer process and its clients; without one it listens on loopback alone
GAINSAY_HEADS_DIR      the folder with the last signed head of each log (default: heads in the data folder)
GAINSAY_WEBHOOK_KEY    the key that the secrets of webhooks are derived from: `file:PATH` or `env:NAME` of 32 bytes in
                       base64, the newest first where there are several (default with the embedded server: a key that is
                       made in the data folder)
GAINSAY_APPROVAL       a file with the signed approval of this configuration (`gainsay approve`)
GAINSAY_IDENTITY       a TOML file that says how callers are authenticated (docs/authentication.md); without it none is,
                       and each has all rights
GAINSAY_CA_FILE        issuers' certificates in PEM, trusted beside the usual ones for vendors, signers and witnesses,
                       and alone for PostgreSQL (`service.policy.trust`)
GAINSAY_SERVER         the address of a running service that commands ask in place of a database of their own, such as
                       https://gainsay.example (the option --server wins); http:// stays in the private network
GAINSAY_TOKEN          the API key or token that commands show that service, or file:PATH of a file with it
GAINSAY_METRICS_TOKEN  a bearer token for /metrics of every process and for nothing else, also from other machines; or
                       file:PATH of a file with it
GAINSAY_METRICS_TENANTS
                       the tenants that metrics name, with commas between them, 50 at most; all others are ``other``
                       (default: no metric has tenants)
GAINSAY_SIMULATED_KEY  the key file of simulated models with known faults, which their provider alone reads
GAINSAY_EVALUATION_SETS
                       folders of golden sets of one's own, with commas between them, 50 at most, which evaluations in
                       `serve` and `work` may ask beside the shipped ones, those of TENANT=FOLDER in that tenant alone;
                       one with a fault stops their start
GAINSAY_LOG_LEVEL      DEBUG, INFO, WARNING or ERROR (default: INFO)
GAINSAY_LOG_FORMAT     text or json (default: text at a terminal and in commands, json in a process that stays)

The URLs of PostgreSQL, the signer's token, GAINSAY_METRICS_TOKEN and GAINSAY_TOKEN are secrets: each is the secret
itself, or file:PATH of a mounted file, which is read again at each use (`service.policy.mounted_secrets`).

Vendors' keys are none of these: the policy file names the variables and files that hold them (docs/models.md).
Variables that Kubernetes writes for a Service called ``gainsay`` or ``gainsay-x`` are none either, and are passed over
(`service.policy.service_links`). A known name is always a setting, whatever its value looks like.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from service.errors import SettingsError, nearest
from service.policy import Policy
from service.policy.file.defaults import SHIPPED_POLICY
from service.policy.file.reading import PolicyFile, read_file, read_policy, refuse_unpriced
from service.policy.file.tenants import NAME as TENANT
from service.policy.file.tenants import TenantPolicy
from service.policy.mounted_secrets import FILE, check_shared, check_text, reveal_text
from service.policy.server_address import server_address
from service.policy.service_links import is_service_link
from service.policy.set_folders import SetFolder
from service.policy.trust import CA_FILE, check_issuers

__all__ = [
    "SERVER",
    "SHIPPED_POLICY",
    "Settings",
    "data_folder",
    "is_secret",
    "read_metrics_token",
    "read_policy",
    "read_server",
    "read_settings",
    "read_token",
    "refuse_unknown",
    "refuse_unpriced",
]

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
LogFormat = Literal["text", "json"]
_OURS = "GAINSAY_"
SERVER = "GAINSAY_SERVER"
TOKEN = "GAINSAY_SIGNER_TOKEN"  # noqa: S105 - a variable's name
METRICS_TOKEN = "GAINSAY_METRICS_TOKEN"  # noqa: S105 - a variable's name
METRICS_TENANTS_MAX = 50
EVALUATION_SETS = "GAINSAY_EVALUATION_SETS"
EVALUATION_SETS_MAX = 50
_OF_TENANT = re.compile(rf"(?:(?P<tenant>{TENANT.pattern})=)?(?P<folder>.+)", re.DOTALL)
CALLER_TOKEN = "GAINSAY_TOKEN"  # noqa: S105 - a variable's name
_CREDENTIAL = re.compile(r"[!-~]{16,8192}")
"""An API key, or a token of an identity provider."""
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_KEY_PLACE = re.compile(r"file:.+|env:[A-Za-z_][A-Za-z0-9_]*|https?://\S+")


class Settings(Struct, frozen=True):
    """The whole configuration of a process. URLs may hold passwords, so no representation shows them."""

    policy: Policy
    data_dir: Path
    policy_path: Path
    tenants: Mapping[str, TenantPolicy] = {}
    database_url: str | None = None
    api_url: str | None = None
    migrate_url: str | None = None
    prompts_pin: str | None = None
    lease_s: float = 15.0
    grace_s: float = 20.0
    drain_s: float = 5.0
    wait_s: float = 60.0
    warm_s: float = 60.0
    reload_s: float = 10.0
    log_level: Level = "INFO"
    log_format: LogFormat | None = None
    log_host: str = "localhost"
    sequencer_url: str | None = None
    signing_key: str | None = None
    heads_dir: Path | None = None
    webhook_key: str | None = None
    approval: Path | None = None
    identity: Path | None = None
    ca_file: Path | None = None
    server: str | None = None
    token: str | None = None
    metrics_token: str | None = None
    metrics_tenants: tuple[str, ...] = ()
    evaluation_sets: tuple[SetFolder, ...] = ()

    def __repr__(self) -> str:
        """Names only: a URL holds a password."""
        return f"Settings(policy={self.policy.version!r}, data_dir={str(self.data_dir)!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """The same where rich prints it: msgspec's own would give every field."""
        return [("policy", self.policy.version), ("data_dir", str(self.data_dir))]


class Environment(Struct, frozen=True):
    """What the variables of a process say: the members of `Settings` that could be read, and a sentence a fault."""

    members: Mapping[str, Any]
    policy_path: Path
    faults: tuple[str, ...]

    def __repr__(self) -> str:
        """Names only: a URL holds a password."""
        return f"Environment(members={sorted(self.members)}, faults={len(self.faults)})"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of a process; raises `SettingsError` with every fault of its variables and of the policy file."""
    found = read_environment(environment)
    faults = list(found.faults)
    file: PolicyFile | None = None
    try:
        file = read_file(found.policy_path)
    except SettingsError as error:
        faults.append(error.detail)
    if file is None or faults:
        raise SettingsError(together(faults))
    return Settings(policy=file.policy, tenants=file.tenants, policy_path=found.policy_path, **found.members)


def read_environment(environment: Mapping[str, str]) -> Environment:
    """The settings of a process but for the policy, with every fault, which names its variable."""
    given = {name: value for name, value in environment.items() if name in KNOWN}
    faults, members = _unknown_ones(environment), dict[str, Any]()
    for name, variable in KNOWN.items():
        text = given.get(name)
        try:
            if text is not None and (not text.strip() or "\0" in text):
                raise SettingsError(f"expected a value in {name}, found none; set it or leave it out")
            if variable and text is not None:
                members[variable.member] = variable.read(name, text)
        except SettingsError as error:
            faults.append(error.detail)
    members.setdefault("data_dir", _data_dir(environment))
    return Environment(members, Path(given.get("GAINSAY_POLICY") or SHIPPED_POLICY), tuple(faults))


def read_server(environment: Mapping[str, str], option: str | None = None) -> str | None:
    """The service that a command asks, or ``None`` where it has a database of its own; the option wins.

    Reads no policy: that of a service is its own. Raises `SettingsError` with every fault of the variables, and for an
    option that is no address.
    """
    found = _expect_faultless(environment)
    return found.members.get("server") if option is None else server_address("--server", option)


def data_folder(environment: Mapping[str, str]) -> Path:
    """The data folder of the environment, for a command that reads no policy; raises what `read_server` raises."""
    folder: Path = _expect_faultless(environment).members["data_dir"]
    return folder


def read_token(environment: Mapping[str, str]) -> str | None:
    """The credential that commands show a service, as it is now; raises what `read_server` raises."""
    given = _expect_faultless(environment).members.get("token")
    return None if given is None else _credential(CALLER_TOKEN, reveal_text(given, CALLER_TOKEN))


def read_metrics_token(environment: Mapping[str, str]) -> str | None:
    """The token of /metrics, for a process that reads no other settings; raises `SettingsError`."""
    given = environment.get(METRICS_TOKEN)
    return None if given is None else check_shared(METRICS_TOKEN, given)


def refuse_unknown(environment: Mapping[str, str]) -> None:
    """For a process that reads few settings; raises `SettingsError` with every name that is no setting of any."""
    if faults := _unknown_ones(environment):
        raise SettingsError(together(faults))


def _expect_faultless(environment: Mapping[str, str]) -> Environment:
    found = read_environment(environment)
    if found.faults:
        raise SettingsError(together(found.faults))
    return found


def _unknown_ones(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that begins like a setting and is none."""
    strange = [name for name in environment if name.startswith(_OURS) and name not in KNOWN]
    ours = [name for name in strange if not is_service_link(name, environment[name])]
    return [_unknown(name) for name in ours if not name.startswith("GAINSAY_TEST_")]


def _unknown(name: str) -> str:
    near = nearest(name.removeprefix(_OURS), [known.removeprefix(_OURS) for known in KNOWN])
    if near:
        return f"unknown setting {name}; did you mean {_OURS}{near}?"
    known = textwrap.fill("  ".join(KNOWN), 96, initial_indent="    ", subsequent_indent="    ")
    return f"unknown setting {name}; the known ones are:\n{known}"


def default_of(member: str) -> Any:
    """What a setting is where no variable says it: a member of `Settings`."""
    return next(field.default for field in fields(Settings) if field.name == member)


def together(faults: Sequence[str]) -> str:
    """Several faults as one message."""
    if len(faults) == 1:
        return faults[0]
    return "\n".join([f"{len(faults)} settings are wrong:", *(f"  {fault}" for fault in faults)])


def _credential(name: str, text: str) -> str:
    """What shows a service who the caller is, or file:PATH of a file with it. It is never said."""
    if text.startswith(FILE):
        return check_text(name, text)
    if not _CREDENTIAL.fullmatch(text):
        raise SettingsError(
            f"{name} must be an API key or a token in one line without spaces, or file:PATH of a file with it; found "
            "another text"
        )
    return text


def _tenants(name: str, text: str) -> tuple[str, ...]:
    """The tenants that metrics name; raises `SettingsError` for one that is none, and for too many."""
    found = tuple(part.strip() for part in text.split(","))
    wrong = [tenant for tenant in found if not TENANT.fullmatch(tenant) or tenant == "other"]
    if wrong or len({*found}) < len(found):
        raise SettingsError(
            f"{name} must be names of tenants, each once, with commas between them, and not `other`, which is all the "
            f"rest; found {(wrong or [text])[0][:80]!r}"
        )
    if len(found) > METRICS_TENANTS_MAX:
        raise SettingsError(
            f"{name} must name {METRICS_TENANTS_MAX} tenants at most, found {len(found)}: each is a series for every "
            "process that Prometheus keeps; name those that you watch"
        )
    return found


def _folders(name: str, text: str) -> tuple[SetFolder, ...]:
    """The folders of golden sets, whose files are read elsewhere; raises `SettingsError` for texts that name none."""
    parts = [_OF_TENANT.fullmatch(part.strip()) for part in text.split(",")]
    found = tuple(SetFolder(_file(name, part["folder"]), part["tenant"]) for part in parts if part)
    if not all(parts) or len({folder.path for folder in found}) < len(found):
        raise SettingsError(
            f"{name} must be folders or TENANT=FOLDER, each folder once, with commas between them; found {text[:200]!r}"
        )
    if len(found) > EVALUATION_SETS_MAX:
        raise SettingsError(f"{name} must name {EVALUATION_SETS_MAX} folders at most, found {len(found)}")
    return found


def _host(name: str, text: str) -> str:
    if not _HOST.fullmatch(text):
        raise SettingsError(f"{name} must be a host's name, found {text!r}")
    return text


def _key_place(name: str, text: str) -> str:
    if not _KEY_PLACE.fullmatch(text):  # it may be the key itself by mistake: never said
        raise SettingsError(
            f"{name} must say where the key is: file:PATH, env:NAME, or the http:// address of a signer; "
            "found something else"
        )
    return text


def _own_key(name: str, text: str) -> str:
    """The place of a key that no other process has for this one; raises `SettingsError`."""
    if not re.fullmatch(r"file:.+|env:[A-Za-z_][A-Za-z0-9_]*", text):  # it may be the key itself by mistake: never said
        raise SettingsError(f"{name} must say where the key is: file:PATH or env:NAME; found something else")
    return text


def _prompts_pin(name: str, text: str) -> str:
    """The pin, or the one in the file that the setting names: an image holds that of its own manifest."""
    where = name
    if text.startswith("file:"):
        where = f"the file {text[5:]} of {name}"
        try:
            text = Path(text[5:]).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"expected a pin of the prompts in {where}, found none that can be read") from error
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise SettingsError(f"{where} must be a SHA-256 in 64 hexadecimal digits; see `gainsay prompts list`")
    return text


def _path(name: str, text: str) -> Path:
    return _file(name, text).resolve()


def _file(name: str, text: str) -> Path:
    """A file that may be swapped behind a link while the process runs: the link stays in its path."""
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise SettingsError(f"expected a path in {name}, found the home of a user who has none: {text!r}") from error


def _data_dir(environment: Mapping[str, str]) -> Path:
    share = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME", "/var/lib")) / ".local" / "share")
    return Path(share) / "gainsay"


def read_level(environment: Mapping[str, str]) -> Level:
    """The log level; raises `SettingsError`."""
    return _level("GAINSAY_LOG_LEVEL", environment.get("GAINSAY_LOG_LEVEL", "INFO"))


def read_log_format(environment: Mapping[str, str]) -> LogFormat | None:
    """The form of log lines, where one is set; raises `SettingsError`."""
    text = environment.get("GAINSAY_LOG_FORMAT")
    return None if text is None else _log_format("GAINSAY_LOG_FORMAT", text)


def _log_format(name: str, text: str) -> LogFormat:
    try:
        form: LogFormat = msgspec.convert(text.lower(), LogFormat)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{name} must be text or json, found {text!r}") from error
    return form


def _level(name: str, text: str) -> Level:
    try:
        level: Level = msgspec.convert(text.upper(), Level)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{name} must be DEBUG, INFO, WARNING or ERROR, found {text!r}") from error
    return level


def _seconds(least: float) -> Callable[[str, str], float]:
    def read(name: str, text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1.0
        if not least <= seconds <= 3_600:
            raise SettingsError(f"{name} must be from {least:g} to 3600 seconds, found {text!r}")
        return seconds

    return read


class _Variable(NamedTuple):
    """A variable: the member of `Settings` that keeps it, and how it is read; raises `SettingsError`."""

    member: str
    read: Callable[[str, str], Any]


KNOWN: Mapping[str, _Variable | None] = {
    "GAINSAY_DATABASE_URL": _Variable("database_url", check_text),
    "GAINSAY_API_URL": _Variable("api_url", check_text),
    "GAINSAY_MIGRATE_URL": _Variable("migrate_url", check_text),
    "GAINSAY_DATA_DIR": _Variable("data_dir", _path),
    "GAINSAY_POLICY": None,
    "GAINSAY_PROMPTS_PIN": _Variable("prompts_pin", _prompts_pin),
    "GAINSAY_LEASE_S": _Variable("lease_s", _seconds(0.5)),
    "GAINSAY_GRACE_S": _Variable("grace_s", _seconds(0.0)),
    "GAINSAY_DRAIN_S": _Variable("drain_s", _seconds(0.0)),
    "GAINSAY_WAIT_S": _Variable("wait_s", _seconds(0.0)),
    "GAINSAY_WARM_S": _Variable("warm_s", _seconds(0.0)),
    "GAINSAY_RELOAD_S": _Variable("reload_s", _seconds(0.0)),
    "GAINSAY_LOG_HOST": _Variable("log_host", _host),
    "GAINSAY_SEQUENCER_URL": _Variable("sequencer_url", check_text),
    "GAINSAY_SIGNING_KEY": _Variable("signing_key", _key_place),
    TOKEN: None,
    "GAINSAY_SIMULATED_KEY": None,
    "GAINSAY_HEADS_DIR": _Variable("heads_dir", _path),
    "GAINSAY_WEBHOOK_KEY": _Variable("webhook_key", _own_key),
    "GAINSAY_APPROVAL": _Variable("approval", _file),
    "GAINSAY_IDENTITY": _Variable("identity", _file),
    CA_FILE: _Variable("ca_file", check_issuers),
    SERVER: _Variable("server", server_address),
    CALLER_TOKEN: _Variable("token", _credential),
    METRICS_TOKEN: _Variable("metrics_token", check_shared),
    "GAINSAY_METRICS_TENANTS": _Variable("metrics_tenants", _tenants),
    EVALUATION_SETS: _Variable("evaluation_sets", _folders),
    "GAINSAY_LOG_LEVEL": _Variable("log_level", _level),
    "GAINSAY_LOG_FORMAT": _Variable("log_format", _log_format),
}
"""Every setting. The signer's token and the key file are read where they are used, the policy after all others."""


def is_secret(name: str) -> bool:
    """Whether the value of a setting is a secret, so that nothing may show it."""
    variable = KNOWN.get(name)
    return name == TOKEN or (variable is not None and variable.read in (check_text, _credential, check_shared))
