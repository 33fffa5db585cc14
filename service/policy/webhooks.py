"""Where ends of cases may be sent: the table [webhooks]."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated

from msgspec import Struct

from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import Key, whole

PORT_MAX = 65_535


def _networks() -> Key:
    def read(path: Path, value: tuple[str, ...]) -> tuple[str, ...]:
        faults = Faults()
        for i, text in enumerate(value):
            with faults.noted():
                try:
                    ip_network(text)
                except ValueError:
                    raise WrongSetting(
                        (*path, i),
                        f"expected a network such as 10.20.0.0/16, with no bit set beyond it, found {text!r}",
                    ) from None
        faults.refuse()
        return value

    return Key("", tuple[str, ...], read, form="a list of networks, 10.20.0.0/16")


def _ports() -> Key:
    def read(path: Path, value: tuple[int, ...]) -> tuple[int, ...]:
        if odd := [port for port in value if not 1 <= port <= PORT_MAX]:
            raise WrongSetting(path, f"expected ports from 1 to {PORT_MAX}, found {', '.join(map(str, odd))}")
        return value

    port = {"type": "integer", "minimum": 1, "maximum": PORT_MAX}
    return Key("", tuple[int, ...], read, form="a list of ports", schema={"type": "array", "items": port})


class Webhooks(Struct, frozen=True, rename="camel"):
    """Whether endpoints are sent anything, and which addresses they may have.

    Without ``allow_networks`` an endpoint is reached by https at an address of the public internet. The networks that
    it names are allowed beside these, and with ``allow_http`` by http too. No list of ``ports`` is every port.
    """

    enabled: bool = True
    """Whether endpoints may be created, and are sent anything."""
    endpoints: Annotated[int, whole(1, 1_000)] = 20
    """The most active endpoints of a tenant, from 1 to 1000."""
    allow_networks: Annotated[tuple[str, ...], _networks()] = ()
    """Networks whose addresses are allowed although they are not of the public internet."""
    allow_http: bool = False
    """Whether http is allowed in these networks."""
    ports: Annotated[tuple[int, ...], _ports()] = (443,)
    """The ports that are allowed. Empty: every port."""
    timeout_s: Annotated[int, whole(1, 60)] = 15
    """Seconds from 1 to 60 in which a receiver has to answer, the look-up of its name and redirects included."""
    retry_hours: Annotated[int, whole(1, 720)] = 72
    """Hours from 1 to 720 for which a message that was not taken is sent again; then it expires."""


USUAL_WEBHOOKS = Webhooks()
"""What holds where the policy has no such table."""
