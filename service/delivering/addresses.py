"""Which URLs may be asked, and which network addresses: the rules against requests that are forged by a receiver's URL.

A receiver's URL comes from a caller, and the service stands inside a network. So the URL has one strict form, which no
two programs read differently, and the address that a connection is made to is checked itself, at each hop:

    1. https; http only where policy has ``allow_http`` and the address is in one of its ``allow_networks``
    2. no user, no password, no fragment, no character beyond printable ASCII (a name of another script as xn--...)
    3. a host is a name of letters, digits and hyphens, or an address in its canonical form; a name whose last label is
       a number, in any base, is an address in disguise (``2130706433``, ``0x7f.1``, ``127.1``), and is refused
    4. a port of policy's ``ports``
    5. an address that carries another one (IPv4-mapped, NAT64) is judged as that one; 6to4, Teredo and IPv4-compatible
       addresses are refused whatever they carry
    6. addresses of `NEVER` are refused in any case, those of policy's ``allow_networks`` are allowed, all others are
       allowed unless they are in `SPECIAL`

`SPECIAL` and `NEVER` are written out from the registries of IANA (RFC 6890 and its updates) because the tables of the
standard library differ from one patch of Python to the next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from msgspec import Struct

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
URL_MAX = 2_000
_FORM = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/?#@:\\\[\]%]+)(?::(?P<port>[0-9]{1,5}))?(?P<target>[/?].*)?",
    re.ASCII,
)
_TARGET = re.compile(r"[!$&'()*+,\-./0-9:;=?@A-Z_a-z~]*(?:%[0-9A-Fa-f]{2}[!$&'()*+,\-./0-9:;=?@A-Z_a-z~]*)*", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*", re.ASCII)
_USUAL_PORTS = {"https": 443, "http": 80}

SPECIAL: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
)
"""Networks that are not the public internet, within the addresses that are given out at all (`_GIVEN_OUT`)."""
_GIVEN_OUT = ip_network("2000::/3")
"""The only global unicast addresses of IPv6; loopback, link-local, unique local, multicast and the rest are beyond."""
NEVER: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8"),
        *("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "168.63.129.16/32"),
        *("192.0.0.192/32", "fd00:ec2::/64", "fd20:ce::254/128"),
    )
)
"""What no policy allows: addresses that mean this machine, or many machines, and the metadata services of clouds, which
give out credentials."""
_MAPPED, _NAT64 = IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")


class AddressRefused(Exception):
    """A URL or an address that may not be asked. The message says why and never has more of the URL than its host."""


class Target(Struct, frozen=True):
    """A URL in its parts, as it is asked. ``literal`` is the address where the host is one."""

    scheme: str
    host: str
    port: int
    path: str
    literal: str | None = None

    @property
    def url(self) -> str:
        """The whole URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _USUAL_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


class AddressRules(Struct, frozen=True):
    """What a tenant's policy allows beyond the public internet by https."""

    allow_networks: tuple[Network, ...] = ()
    allow_http: bool = False
    ports: tuple[int, ...] = (443,)


def read_url(text: str, rules: AddressRules) -> Target:
    """The parts of a URL that may be asked, as far as its text says it; raises `AddressRefused`."""
    if len(text) > URL_MAX:
        raise AddressRefused(f"expected a URL of at most {URL_MAX} characters, found {len(text)}")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise AddressRefused(
            "expected printable ASCII without spaces, found another character; write a name of another script in its "
            "xn-- form, and other characters in percent-encoding"
        )
    if "@" in re.split(r"[/?#]", text.partition("//")[2], maxsplit=1)[0]:
        raise AddressRefused("expected a URL without a user or a password, found an '@' before its path")
    found = _FORM.fullmatch(text)
    if found is None or not _TARGET.fullmatch(found["target"] or ""):
        raise AddressRefused("expected https://HOST or https://HOST/PATH, without a fragment, found another form")
    scheme, path = found["scheme"], found["target"] or "/"
    if scheme == "http" and not rules.allow_http:
        raise AddressRefused("expected https://, found http://, which policy does not allow (webhooks.allow_http)")
    port = int(found["port"]) if found["port"] else _USUAL_PORTS[scheme]
    if not 0 < port < 65_536 or (rules.ports and port not in rules.ports):
        allowed = ", ".join(map(str, rules.ports)) or "1 to 65535"
        raise AddressRefused(f"expected a port of policy's webhooks.ports ({allowed}), found {port}")
    host, literal = _read_host(found["host"])
    if literal is not None:
        check_address(literal, rules, scheme)
    return Target(scheme, host, port, path if path.startswith("/") else f"/{path}", str(literal) if literal else None)


def _read_host(host: str) -> tuple[str, Address | None]:
    if host.startswith("["):
        try:
            literal: Address = IPv6Address(host[1:-1])
        except ValueError:
            raise AddressRefused("expected an address of IPv6 between brackets, found another text") from None
        return str(literal), literal
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            literal = IPv4Address(host)  # strict: four decimal numbers without leading zeros
        except ValueError:
            raise AddressRefused(
                "expected a name, or an address as four decimal numbers, found an address in another form"
            ) from None
        return host, literal
    if host.endswith("."):
        raise AddressRefused("expected a host without a dot at its end, found one")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressRefused("expected a host's name of letters, digits, hyphens and dots, found another text")
    return host.lower(), None


def read_location(location: str, asked: Target, rules: AddressRules) -> Target:
    """Where a redirect leads: a whole URL, or a path of the same host; raises `AddressRefused`.

    No redirect leads from https to http.
    """
    if location.startswith("/") and not location.startswith("//"):
        base = Target(asked.scheme, asked.host, asked.port, "")
        location = base.url + location
    target = read_url(location, rules)
    if asked.scheme == "https" and target.scheme == "http":
        raise AddressRefused("a redirect leads from https to http, which is not followed")
    return target


def carried(address: Address) -> Address:
    """The address that a connection to this one reaches: that of IPv4 in a mapped one, or behind NAT64."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def check_address(address: Address, rules: AddressRules, scheme: str, *, resolved: bool = False) -> None:
    """Raise `AddressRefused` for an address that may not be asked by this scheme.

    One to which a name was ``resolved`` is not in the message: a caller would learn the addresses of names within.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise AddressRefused("expected an address without a zone, found one")
    what, reached = "an address of the name" if resolved else f"the address {address}", carried(address)
    if _within(reached, NEVER) or _within(address, NEVER):
        raise AddressRefused(f"{what} is never asked: it is that of this machine, of many, or of a cloud")
    if _within(reached, rules.allow_networks):
        return
    if scheme != "https":
        raise AddressRefused(f"{what} is in no network of webhooks.allow_networks, so http is not allowed")
    public = reached in _GIVEN_OUT if isinstance(reached, IPv6Address) else True
    if not public or _within(reached, SPECIAL):
        raise AddressRefused(f"{what} is none of the public internet; policy's webhooks.allow_networks may have it")


def check_resolved(texts: Sequence[str], rules: AddressRules, scheme: str) -> tuple[str, ...]:
    """The addresses that a name stands for, all of which may be asked; raises `AddressRefused` where one may not.

    A name with one good and one bad address is refused: which of them is asked would be the receiver's choice.
    """
    if not texts:
        raise AddressRefused("the name has no address")
    for text in texts:
        check_address(ip_address(text), rules, scheme, resolved=True)
    return tuple(dict.fromkeys(texts))


def read_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Networks in CIDR form; raises `ValueError`."""
    return tuple(ip_network(text) for text in texts)


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
