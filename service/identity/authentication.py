"""The port by which the service asks who sent a request, and the answer where no identity is configured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from msgspec import Struct

from service.identity.caller import LOCAL, Caller


class Presented(Struct, frozen=True):
    """What a request presents about who sent it, as it came.

    ``authorization`` has the value of every Authorization header. ``headers`` has all headers, with names in lower
    case. ``peer`` is the address of the other end of the connection, or ``unix`` for a socket file.
    """

    authorization: tuple[bytes, ...] = ()
    headers: Sequence[tuple[bytes, bytes]] = ()
    peer: str = ""


class Authenticator(Protocol):
    """Finds out who sent a request."""

    @property
    def configured(self) -> bool:
        """Whether the service knows identities. Where it knows none, every caller is `LOCAL`."""
        ...

    async def identify(self, presented: Presented) -> Caller:
        """The caller of a request.

        `Unauthenticated` where it presents nothing that is accepted, `BadRequest` where it may not present what it
        does, `StoreUnavailable` where the registers do not answer: no caller is let in then.
        """
        ...

    async def still(self, caller: Caller) -> bool:
        """Whether a caller's credential and subject are still good: for streams and waits. At most 2 s old."""
        ...


class LocalAuthenticator:
    """Every caller is `LOCAL`: no identity is configured, and nothing that a request presents is read."""

    configured: ClassVar[bool] = False

    async def identify(self, presented: Presented) -> Caller:
        """`LOCAL`, whatever is presented."""
        return LOCAL

    async def still(self, caller: Caller) -> bool:
        """Always so."""
        return True
