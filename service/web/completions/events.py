"""A chat completion as a stream of chunks, which OpenAI's clients read.

    data: {... delta: {role}}               at once, so that the client knows that the stream has begun
    : still here                            a comment after 15 seconds of silence; clients pass over it
    data: {... delta: {content}}            when the end of the debate is provable, and not before
    data: {... finish_reason, gainsay}      the last chunk of the answer
    data: {... usage}                       where ``stream_options.include_usage`` asks for it
    data: [DONE]

A stream that cannot go on ends with ``data: {"error": ...}``, which the clients raise. A stream that is cut neither
ends the debate nor bills it twice: the same request joins it again.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import UNSET, Struct, UnsetType

from service import log_lines, telemetry
from service.errors import GainsayError, Overloaded
from service.report.sent import encode
from service.web.completions.answer import chat_detail, completion_id, content, finish_reason, usage
from service.web.completions.answer_types import ChatChunk, ChatDelta, ChatDetail, ChatUsage, ChunkChoice, FinishReason
from service.web.completions.case import ChatCase
from service.web.completions.error_form import chat_error
from service.web.debate_stream import FollowingDebate
from service.web.revocation import revoked
from service.web.stream_listeners import Listener

DONE = b"data: [DONE]\n\n"


class ChatStream(Struct, frozen=True):
    """A chat request that is answered by a stream, and the debate that it follows, from ``begun`` on (since 1970)."""

    chat: ChatCase
    following: FollowingDebate
    begun: int

    def chunk(
        self,
        delta: ChatDelta | None,
        finish: FinishReason | None = None,
        *,
        usage: ChatUsage | UnsetType = UNSET,
        detail: ChatDetail | UnsetType = UNSET,
    ) -> bytes:
        """One chunk; without a delta it has no choice."""
        choices = () if delta is None else (ChunkChoice(delta=delta, finish_reason=finish),)
        return _event(
            ChatChunk(
                id=completion_id(self.following.of),
                created=self.begun,
                model=self.chat.asked.model,
                choices=choices,
                usage=usage,
                gainsay=detail,
            )
        )

    async def events(self, listener: Listener) -> AsyncGenerator[bytes, None]:
        """The stream's bytes."""
        yield self.chunk(ChatDelta(role="assistant", content=""))
        with telemetry.STREAMS.track_inprogress():
            try:
                async with aclosing(self._waited(listener)) as comments:
                    async for comment in comments:
                        yield comment
                if listener.gone or listener.dropped:
                    return
                async with aclosing(self._answer()) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except GainsayError as error:
                telemetry.STREAMS_CUT.labels(reason="error").inc()
                log_lines.COMPLETION_CUT(**self.following.log_fields(), code=error.code)
                yield _event(chat_error(error))

    async def _waited(self, listener: Listener) -> AsyncGenerator[bytes, None]:
        """A comment after each silence, until the end of the debate is provable.

        Raises `Unauthenticated` for a credential that is revoked meanwhile, and `Overloaded` when the service stops.
        """
        site, spoke_at = self.following.site, time.monotonic()
        async with self.following.open() as feed:
            while not (feed.is_done(feed.given) or listener.gone or listener.dropped):
                if listener.revoked:
                    raise revoked()
                if site.closing.is_set():
                    raise Overloaded(
                        "this process stops; send the same request again, which joins the debate "
                        f"{self.following.of} at another process",
                        retry_after=1,
                    )
                if not await listener.rest(feed, spoke_at + site.heartbeat_s - time.monotonic()):
                    yield b": still here\n\n"
                    spoke_at = time.monotonic()

    async def _answer(self) -> AsyncGenerator[bytes, None]:
        """The answer, once the end of the debate is provable; raises `NoAnswer`."""
        asked = self.following
        result = await asked.site.reviews.result(asked.of, asked.caller)
        detail = chat_detail(self.chat, result)
        asked.site.readings.note(asked.caller, "result", asked.of)
        yield self.chunk(ChatDelta(content=content(detail)))
        yield self.chunk(ChatDelta(), finish_reason(result), detail=detail)
        if self.chat.include_usage:
            yield self.chunk(None, usage=usage(result))
        yield DONE


def _event(value: Struct) -> bytes:
    """A value as the data of an event: JSON as we write it has no line break."""
    return b"data: %s\n\n" % encode(value)
