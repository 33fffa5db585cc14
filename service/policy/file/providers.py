"""Providers: where the models of a vendor are reached, how, and under which key.

Keys are named and never written: ``env:NAME`` is a variable of the process, ``file:/PATH`` a file. Requests carry
whole cases, so they go out over TLS. Plain http is for what does not leave the machine or the private network: loopback
and private addresses, names without a dot, and names under localhost, local, internal and svc (a cluster's services).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from service.debate.wires import Wire
from service.policy import RULES, ProviderSetting
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import NAME, NAMES, keys_of, sound_members, tables
from service.policy.parameters import looks_secret

PRIVATE = ("localhost", "local", "internal", "svc", "arpa")
KEY_PLACE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,199}|file:/[^\0]{1,4000}")
"""Where a secret is."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_OWN_HEADERS = ("host", "content-type", "accept-encoding")
_OF_CONNECTION = frozenset(
    "connection content-length expect keep-alive proxy-connection te trailer transfer-encoding upgrade".split()
)
"""Headers that say how a message is framed, or what its connection does next: RFC 9110, 7.6.1 and 10.1.1."""


class ReadProvider(NamedTuple):
    """What could be read of a provider: its wire, ``None`` for none, and the whole, ``None`` where it has faults."""

    wire: Wire | None
    setting: ProviderSetting | None


def read_providers(written: Any, faults: Faults) -> dict[str, ReadProvider]:
    """The providers by name, with their faults noted; raises `WrongSetting` for what is no table."""
    return {name: _provider(name, table, faults) for name, table in tables(written, ("providers",)).items()}


def _provider(name: str, written: Any, faults: Faults) -> ReadProvider:
    path: Path = ("providers", name)
    own = Faults()
    setting: ProviderSetting | None = None
    with own.noted():
        if not NAME.fullmatch(name):
            own.note(path, f"expected a name of {NAMES}")
        given = sound_members(written, keys_of(ProviderSetting), path, own)
        if "kind" in given:
            setting = ProviderSetting(**given)
            _check(path, setting, sorted(given), own)
    faults.found += own.found
    return ReadProvider(setting.kind if setting else None, None if own.found else setting)


def _check(path: Path, setting: ProviderSetting, given: Sequence[str], faults: Faults) -> None:
    """Note what a provider of its kind may not say, or has to; what is wrong with a key is noted once."""
    rules = RULES[setting.kind]
    for other in given:
        if other not in rules.keys:
            faults.note(
                (*path, other),
                f"this key means nothing to a provider of kind {setting.kind}; it has: {', '.join(rules.keys)}",
            )
    if (setting.kind == "scripted") != (setting.script is not None) and not faults.touch((*path, "script")):
        faults.note((*path, "script"), "a scripted provider names its script, and no other does")
    if rules.path is not None:
        _reached(path, setting, rules.path, faults)


def _reached(path: Path, table: ProviderSetting, posted: str, faults: Faults) -> None:
    """Note what is wrong with a provider that is reached over a network."""
    if not faults.touch((*path, "base_url")):
        with faults.noted():
            _address((*path, "base_url"), table, posted)
    if table.messages == "together" and table.seat_role not in (None, "user"):
        faults.note((*path, "seat_role"), 'messages = "together" has one message of role user; leave seat_role out')
    if table.proxy is not None:
        with faults.noted():
            _proxy((*path, "proxy"), table.proxy)
    ways = RULES[table.kind].structured
    if table.structured not in ways:
        expected = f"{', '.join(ways[:-1])} or {ways[-1]}"
        faults.note((*path, "structured"), f"this vendor has no {table.structured}; expected {expected}")
    if (table.path is not None and not re.fullmatch(r"/[!-~]{0,500}", table.path)) or "?" in (table.path or ""):
        faults.note((*path, "path"), "expected a path that begins with '/', without a query; the query has its own key")
    if not faults.touch((*path, "key"), (*path, "auth")):
        with faults.noted():
            _key(path, table)
    for part, values in (("headers", table.headers), ("query", table.query)):
        for name, value in values.items():
            with faults.noted():
                _plain((*path, part, name), part, name, value)
    for name, value in table.secret_headers.items():
        with faults.noted():
            _header((*path, "secret_headers", name), name)
            _named((*path, "secret_headers", name), value)


def _address(path: Path, table: ProviderSetting, posted: str) -> None:
    if table.base_url is None:
        raise WrongSetting(path, f"a provider of kind {table.kind} needs its base_url")
    _base_url(path, table.base_url)
    if table.path is None:
        _once(path, table.base_url, posted)


def _base_url(path: Path, url: str) -> None:
    """https, or http where nothing leaves the private network; the URL is never said, for it may hold a password."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise WrongSetting(
            path, "expected a URL such as https://api.example.com/v1, found none that can be read"
        ) from None
    if parts.username is not None or parts.password is not None:
        raise WrongSetting(path, "a URL holds no user and no password; name a secret under key or secret_headers")
    if not re.fullmatch(r"[!-~]+", url) or "?" in url or "#" in url or "\\" in url:
        raise WrongSetting(path, "expected a URL of ASCII without a query; the query has its own key")
    _scheme(path, parts, host)


def _once(path: Path, url: str, posted: str) -> None:
    """Raise `WrongSetting` for a URL that ends as what is joined to it begins: such a part would be there twice."""
    given, added = urlsplit(url).path.rstrip("/").split("/")[1:], posted.split("/")[1:]
    for n in range(1, len(added) + 1):
        if given[-n:] == added[:n]:
            raise WrongSetting(
                path,
                f"calls are posted to base_url with {posted} after it, so it must not end in /{'/'.join(added[:n])} "
                "itself; leave that out here, or give path if it is meant",
            )


def _proxy(path: Path, url: str) -> None:
    """An HTTP proxy's host and port. What goes to a vendor over TLS passes through it unread."""
    try:
        parts = urlsplit(url)
        plain = parts.scheme == "http" and parts.hostname and parts.port and url == f"http://{parts.netloc}"
    except ValueError:
        plain = False
    if not plain or "@" in url or not re.fullmatch(r"[!-~]+", url):
        raise WrongSetting(path, "expected http://HOST:PORT of an HTTP proxy, without a user, a password or a path")


def _scheme(path: Path, parts: SplitResult, host: str) -> None:
    if not host or parts.scheme not in ("https", "http"):
        raise WrongSetting(path, "expected a URL that begins with https:// and names a host")
    if parts.scheme == "http" and not is_private(host):
        raise WrongSetting(
            path,
            f"expected https, found http to {host!r}: whole cases and the key would cross a network in clear; http is "
            "for loopback and private addresses, names without a dot, and names under localhost, local, internal, svc",
        )


def is_private(host: str) -> bool:
    """Whether what is sent to a host stays on the machine or in the private network, as far as its name says."""
    try:
        address = ip_address(host)
    except ValueError:
        labels = host.rstrip(".").split(".")
        return not labels[-1].isdigit() and (len(labels) == 1 or labels[-1] in PRIVATE)
    return address.is_private and not address.is_link_local and not address.is_unspecified and not address.is_multicast


def _key(path: Path, table: ProviderSetting) -> None:
    if table.auth == "none":
        if table.key is not None:
            raise WrongSetting((*path, "key"), 'auth = "none" sends no key; leave one of the two out')
        return
    if table.key is None:
        raise WrongSetting(
            (*path, "key"), 'this key is missing: name it as "env:NAME" or "file:/PATH", or say auth = "none"'
        )
    _named((*path, "key"), table.key)


def _named(path: Path, value: str) -> None:
    """Hold a secret's name to its syntax; what stands there may be the secret itself, so it is never said."""
    if not KEY_PLACE.fullmatch(value):
        raise WrongSetting(
            path,
            'expected "env:NAME" or "file:/PATH", which say where the secret is; found something else, which is not '
            "shown because it may be the secret: if it is, take it out of the file and replace it at the vendor",
        )
    if value.startswith("env:GAINSAY_"):
        raise WrongSetting(path, "variables that begin with GAINSAY_ are the service's own settings; name another")


def _plain(path: Path, part: str, name: str, value: str) -> None:
    """A header or a part of the query that is no secret."""
    if part == "headers":
        _header(path, name)
    if looks_secret(name, value):
        raise WrongSetting(
            path, "this looks like a secret; name it as env:NAME or file:/PATH under key or secret_headers"
        )
    if not name or not re.fullmatch(r"[ -~]{0,2000}", value) or not re.fullmatch(r"[!-~]+", name):
        raise WrongSetting(path, "expected printable ASCII")


def _header(path: Path, name: str) -> None:
    if name.lower() in _OF_CONNECTION:
        raise WrongSetting(path, "this header is of the connection or frames the message; the transport does both")
    if not _TOKEN.fullmatch(name) or name.lower() in _OWN_HEADERS:
        raise WrongSetting(path, "expected the name of a header that the adapter does not set itself")
