"""What an authority for time stamps gives, and how it fails."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from service.errors import GainsayError


class TimeStampUnavailable(GainsayError):
    """The authority gives no time stamp that can be used: ask again later."""

    code = "time_stamp_unavailable"
    status = 503
    title = "A head gets no time stamp"


class Stamp(Struct, frozen=True):
    """A verified time stamp in its one normal form; the time, in seconds since 1970, and the authority, by the SHA-256
    of its certificate, are what the token says."""

    seconds: int
    authority: bytes
    token: bytes


class Stamps(Protocol):
    """An authority for time stamps, known by its certificate."""

    async def stamp(self, note: bytes) -> Stamp:
        """A verified time stamp of a checkpoint's text.

        Raises `TimeStampUnavailable`, and `BadNote` for a head that is none.
        """

    def unusable(self) -> GainsayError | None:
        """Why the certificate cannot vouch for the present time: it is no more valid, or not yet."""
