"""Service links: variables that Kubernetes puts into each pod for each Service of its namespace.

They are no settings, though those of a Service called ``gainsay`` or ``gainsay-x`` begin like ours. The kubelet writes
these, and only these are passed over (kubernetes/pkg/kubelet/envvars, with S the name of the Service in capitals):

    S_SERVICE_HOST             an IP address
    S_SERVICE_PORT             a port; S_SERVICE_PORT_<NAME> one with a name
    S_PORT                     tcp://ADDRESS:PORT
    S_PORT_<n>_TCP             tcp://ADDRESS:<n>; the same with UDP and SCTP
    S_PORT_<n>_TCP_PROTO       tcp
    S_PORT_<n>_TCP_PORT        <n>
    S_PORT_<n>_TCP_ADDR        an IP address

Name and value both count: ``GAINSAY_PORT=8080`` was written by a person, and is refused like any unknown setting.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

_SERVICE = r"GAINSAY(?:_[A-Z0-9_]{0,54}[A-Z0-9])?"
"""At most 63 characters, as a Service's name."""
_PORT_NAME = r"(?=[A-Z0-9_]*[A-Z])[A-Z0-9](?:[A-Z0-9]|_(?!_)){0,13}(?<!_)"
"""At most 15 characters with a letter among them, and no two hyphens side by side."""
_HOST = re.compile(f"{_SERVICE}_SERVICE_HOST")
_PORT = re.compile(f"{_SERVICE}_SERVICE_PORT(?:_{_PORT_NAME})?")
_FIRST = re.compile(f"{_SERVICE}_PORT")
_LINK = re.compile(rf"{_SERVICE}_PORT_([1-9][0-9]{{0,4}})_(TCP|UDP|SCTP)(?:_(PROTO|PORT|ADDR))?")
_URL = re.compile(r"(tcp|udp|sctp)://(?:([0-9.]+)|\[([0-9a-f:.]+)\]):([0-9]+)")


def is_service_link(name: str, value: str) -> bool:
    """Whether a variable is one that the kubelet writes for a Service whose name begins with ``gainsay``."""
    if _HOST.fullmatch(name):
        return _is_address(value)
    if _FIRST.fullmatch(name) and _is_url(value):
        return True
    if _PORT.fullmatch(name):
        return _is_port(value)
    if link := _LINK.fullmatch(name):
        number, protocol, part = link[1], link[2].lower(), link[3]
        said = {
            "PROTO": value == protocol,
            "PORT": _is_port(number) and value == number,
            "ADDR": _is_address(value),
        }
        return said.get(part, _is_url(value, protocol, number))
    return False


def _is_url(value: str, protocol: str | None = None, port: str | None = None) -> bool:
    """Whether a value is PROTOCOL://ADDRESS:PORT, with these where they are given."""
    found = _URL.fullmatch(value)
    if not found or protocol not in (None, found[1]) or port not in (None, found[4]):
        return False
    return _is_port(found[4]) and (_is_version_6(found[3]) if found[3] else _is_version_4(found[2]))


def _is_port(text: str) -> bool:
    return bool(re.fullmatch(r"[1-9][0-9]{0,4}", text)) and int(text) <= 65_535


def _is_address(text: str) -> bool:
    return _is_version_4(text) or _is_version_6(text)


def _is_version_4(text: str) -> bool:
    try:
        return str(IPv4Address(text)) == text
    except AddressValueError:
        return False


def _is_version_6(text: str) -> bool:
    try:
        return "%" not in text and bool(IPv6Address(text))
    except AddressValueError:
        return False
