"""Asks an authority for time stamps of heads (RFC 3161 over HTTP), and takes only one by the pinned certificate.

What is stamped is the text of a signed note: log, size and root, without the lines of signatures. An answer that is no
verified stamp of that text with the nonce of the request is `TimeStampUnavailable`, whatever its status and its size.
"""

from __future__ import annotations

from datetime import UTC, datetime
from secrets import randbits

from service.audit.note import parse_note
from service.audit.timestamp import accept, open_time_stamp, read_certificate, request
from service.audit.timestamp_forms import BadTimeStamp
from service.errors import GainsayError
from service.policy import TimeStamps
from service.proving.signing.stamps import Stamp, TimeStampUnavailable
from service.proving.signing.wire import CALL_S, SignerUnreachable, Wire

QUERY, REPLY = "application/timestamp-query", "application/timestamp-reply"
NONCE_BITS = 64


class TimeStampAuthority:
    """Connections to an authority. ``call_s`` is the most that one request takes."""

    def __init__(self, setting: TimeStamps, call_s: float = CALL_S) -> None:
        self._url = setting.url
        self._certificate = read_certificate(setting.certificate)
        self._wire = Wire(call_s=call_s)

    async def stamp(self, note: bytes) -> Stamp:
        """A verified time stamp of a checkpoint's text; raises `TimeStampUnavailable`, and `BadNote`."""
        text, nonce = parse_note(note).text, randbits(NONCE_BITS)
        try:
            reply = await self._wire.exchange("POST", self._url, request(text, nonce), QUERY)
        except SignerUnreachable as error:
            raise _unavailable(str(error)) from None
        if reply.status != 200:
            raise _unavailable(f"it answers {reply.status}")
        if reply.media_type != REPLY:
            raise _unavailable(f"it answers with {reply.media_type[:100] or 'no media type'!r}, not with {REPLY}")
        try:
            token = accept(reply.body, text, nonce, self._certificate)
            found = open_time_stamp(token, text)
        except BadTimeStamp as error:
            raise _unavailable(error.detail) from None
        return Stamp(found.seconds, found.authority, token)

    def unusable(self) -> GainsayError | None:
        """Why the certificate cannot vouch for the present time: it is no more valid, or not yet."""
        since, until = self._certificate.not_valid_before_utc, self._certificate.not_valid_after_utc
        if since <= datetime.now(UTC) <= until:
            return None
        return TimeStampUnavailable(
            f"the certificate of the authority for time stamps is valid from {since:%Y-%m-%d} to {until:%Y-%m-%d}; "
            "put the authority's present one into audit.timestamps.certificate"
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._wire.close()


def _unavailable(reason: str) -> TimeStampUnavailable:
    return TimeStampUnavailable(f"no time stamp of the authority: {reason}", retry_after=10)
