"""[[oidc]] of GAINSAY_IDENTITY: whose bearer tokens are accepted, and which of their claims say tenant and roles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Literal, NamedTuple, get_args

from msgspec import Struct

from service.errors import BadRequest
from service.identity.roles import ROLES, SERVICE_WIDE, Role
from service.identity.tenants import SERVICE_TENANT, check_tenant
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import Key, read, whole, word, words

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
"""What a token may be signed with: public keys alone. With a shared secret each verifier could make tokens."""
USUAL: tuple[Algorithm, ...] = ("RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519")

SOURCE = re.compile(r"[a-z][a-z0-9-]{0,62}")
OWN_SOURCES = ("gainsay", "key", "keys", "local", "proxy")
"""Sources of subjects that are no identity provider."""
TEXT_MAX = 512
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/[!$-.0-9A-Za-z:;=_~/%]*)?(?P<query>[?][!$-.0-9A-Za-z:;=_~/%?]*)?",
    re.ASCII,
)


def _matching(pattern: re.Pattern[str], form: str) -> Key:
    def taken(path: Path, value: str) -> str:
        if not pattern.fullmatch(value):
            raise WrongSetting(path, f"expected {form}")
        return value

    return Key("", str, taken, form=form)


def tenant_name() -> Key:
    """The name of a tenant that is not the service's own."""

    def taken(path: Path, value: str) -> str:
        try:
            check_tenant(value)
        except BadRequest as error:
            raise WrongSetting(path, error.detail) from None
        if value == SERVICE_TENANT:
            raise WrongSetting(path, f"{value} is the service's own tenant; expected another one")
        return value

    return Key("", str, taken, form="the name of a tenant")


def visible() -> Key:
    """A text of visible ASCII."""
    return _matching(re.compile(rf"[!-~]{{1,{TEXT_MAX}}}"), f"1 to {TEXT_MAX} visible characters of ASCII")


def service_address(*, query: bool = False) -> Key:
    """https://…, or http:// to this machine."""

    def taken(path: Path, value: str) -> str:
        address = read_address(value)
        if address is None or (address.query and not query):
            raise WrongSetting(path, "expected an address such as https://id.example, without user, query or fragment")
        if address.scheme != "https" and not is_loopback(address):
            raise WrongSetting(path, "expected https://; http:// is for an identity provider on this machine alone")
        return value

    return Key("", str, taken, form="an address, https://…")


def claim() -> Key:
    """A claim by its name, or by the names that lead to it."""

    def taken(path: Path, value: str | tuple[str, ...]) -> tuple[str, ...]:
        names = (value,) if isinstance(value, str) else value
        if not 1 <= len(names) <= 8 or not all(name and len(name) <= TEXT_MAX for name in names):
            raise WrongSetting(path, "expected the name of a claim, or a list of the 1 to 8 names that lead to it")
        return names

    return Key("", str | tuple[str, ...], taken, form="a claim's name, or the list of names that lead to it")


def role_names() -> Key:
    """A list of roles."""
    return words(*ROLES)


def _mapping() -> Key:
    def taken(path: Path, value: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[Role, ...]]:
        faults, found = Faults(), {}
        for name, given in value.items():
            roles = (given,) if isinstance(given, str) else given
            with faults.noted():
                found[name] = role_names().read((*path, name), roles)
        faults.refuse()
        return found

    return Key("", dict[str, str | tuple[str, ...]], taken, form="roles by value of the claim")


def _algorithms() -> Key:
    def taken(path: Path, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise WrongSetting(path, "expected at least one algorithm; leave the key out for the usual ones")
        listed: tuple[str, ...] = words(*ALGORITHMS).read(path, value)
        return listed

    return Key("", tuple[str, ...], taken, form=f"a list of {', '.join(ALGORITHMS)}")


def _file() -> Key:
    def taken(path: Path, value: str) -> str:
        if not value.startswith("/") or "\0" in value:
            raise WrongSetting(path, "expected the whole path of a file with certificates in PEM")
        return value

    return Key("", str, taken, form="the path of a file in PEM")


class OidcSetting(Struct, frozen=True):
    """[[oidc]]: an identity provider whose access tokens are accepted.

    name           how records and registers name it; keep a name for one issuer
    issuer         the ``iss`` of its tokens, to the letter
    audience       what ``aud`` has to contain
    tenant         the tenant of all its subjects, or ``tenant_claim``: the claim that says it
    role_claim     the claim with the roles: a list, or words in one string
    roles          what the claim's values mean; without it they are names of roles
    service_roles  whether it may give the roles ``administrator`` and ``scrape``
    kind           what its subjects are
    skew_s         by how much its clock may differ
    longest_s      the longest life of a token
    refresh_s      how old its keys get before they are fetched again
    keep_s         how long its keys stay good while it does not answer
    jwks           where its keys are; without it, where its discovery document says
    ca             a file of certificates to trust in place of the public ones
    """

    name: Annotated[str, _matching(SOURCE, "lower-case letters, digits and '-', a letter first")]
    issuer: Annotated[str, service_address()]
    audience: Annotated[str, visible()]
    role_claim: Annotated[tuple[str, ...], claim()]
    tenant: Annotated[str | None, tenant_name()] = None
    tenant_claim: Annotated[tuple[str, ...] | None, claim()] = None
    roles: Annotated[Mapping[str, tuple[Role, ...]] | None, _mapping()] = None
    service_roles: bool = False
    kind: Annotated[Literal["person", "service"], word("person", "service")] = "person"
    skew_s: Annotated[int, whole(0, 300)] = 60
    longest_s: Annotated[int, whole(60, 7 * 86_400)] = 86_400
    refresh_s: Annotated[int, whole(10, 3_600)] = 600
    keep_s: Annotated[int, whole(10, 86_400)] = 3_600
    algorithms: Annotated[tuple[Algorithm, ...], _algorithms()] = USUAL
    jwks: Annotated[str | None, service_address(query=True)] = None
    ca: Annotated[str | None, _file()] = None


def providers() -> Key:
    """The list of identity providers, each with what it says of itself checked."""

    def read_all(path: Path, value: tuple[Any, ...]) -> tuple[OidcSetting, ...]:
        faults, found = Faults(), []
        for i, table in enumerate(value):
            with faults.noted():
                setting = read(table, OidcSetting, (*path, i))
                faults.found += _faults_of(setting, (*path, i))
                found.append(setting)
        _refuse_twice(found, path, faults)
        faults.refuse()
        return tuple(found)

    return Key("", tuple[Any, ...], read_all, form="a list of tables")


def _faults_of(setting: OidcSetting, path: Path) -> Iterable[WrongSetting]:
    if setting.name in OWN_SOURCES:
        yield WrongSetting((*path, "name"), f"{setting.name!r} is the service's own; choose another name")
    if (setting.tenant is None) == (setting.tenant_claim is None):
        yield WrongSetting((*path, "tenant"), "expected either tenant or tenant_claim")
    if setting.keep_s < setting.refresh_s:
        yield WrongSetting((*path, "keep_s"), "expected at least refresh_s, after which keys are fetched again")
    given = {role for roles in (setting.roles or {}).values() for role in roles}
    if not setting.service_roles and (wide := sorted(given & SERVICE_WIDE)):
        yield WrongSetting((*path, "roles"), f"{wide[0]} is a role of the whole service; it needs service_roles = true")


def _refuse_twice(settings: Iterable[OidcSetting], path: Path, faults: Faults) -> None:
    names: set[str] = set()
    issuers: set[str] = set()
    for i, setting in enumerate(settings):
        for member, value, seen in (("name", setting.name, names), ("issuer", setting.issuer, issuers)):
            if value in seen:
                faults.note((*path, i, member), f"another section has this {member}; expected one section for each")
            seen.add(value)


class Address(NamedTuple):
    """An address over HTTP: its scheme, its host in lower case, its port, and whether it has a query."""

    scheme: str
    host: str
    port: int
    query: bool


def read_address(text: str) -> Address | None:
    """An address without user and fragment, or ``None`` for any other text."""
    found = _ADDRESS.fullmatch(text) if len(text) <= TEXT_MAX else None
    if found is None:
        return None
    port = int(found["port"] or (443 if found["scheme"] == "https" else 80))
    host = found["host"].lower().removeprefix("[").removesuffix("]")
    return Address(found["scheme"], host, port, found["query"] is not None) if 0 < port < 65_536 else None


def is_loopback(address: Address) -> bool:
    """Whether an address names this machine."""
    try:
        return ip_address(address.host).is_loopback
    except ValueError:
        return address.host == "localhost"
