"""The events of a debate or an evaluation: reading a stream of them, and following it across connections that break.

A service sends an entry's events together, and the entry's number with the last of them. So an event is handed out once
its entry is whole: what a broken connection cut off comes again, and nothing comes twice or is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gainsay_client import steps
from gainsay_client.errors import GainsayError, UnexpectedAnswer, Unreachable
from gainsay_client.exchange import Exchange, Trying, is_passing
from gainsay_client.steps import Broken, Close, Give, Pause, Steps
from gainsay_client.wire import Answer, Request, error_of, part

EVENT_STREAM = "text/event-stream"
FINAL, CONCLUDED = "final", "evaluation.concluded"
EVENT_MAX = 64 << 20
"""The most bytes of one event."""
RETRY_S, RETRY_MIN_S, RETRY_MAX_S = 1.0, 0.1, 30.0
"""Seconds before a stream is asked for again: at first, and the bounds of what it may say itself (``retry:``)."""
ERROR_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Event:
    """An event. ``id`` is the number of its entry: give it as ``after`` to go on behind it.

    ``data`` is the event as it came. ``members`` has our own members beside those of a format's reference.
    """

    id: int
    name: str
    data: dict[str, Any]

    @property
    def members(self) -> dict[str, Any]:
        """All members at one level; no name of ``gainsay`` is also a name at the top."""
        own = self.data.get("gainsay")
        return {**self.data, **own} if isinstance(own, dict) else self.data


@dataclass(frozen=True, slots=True)
class Frame:
    """A block of the stream: fields that it has not are ``None``."""

    id: str | None = None
    name: str = "message"
    data: str | None = None
    retry_ms: int | None = None


class Decoder:
    """Bytes of an event stream to frames, as WHATWG HTML, 9.2.6 says. A block that the stream cuts off is no frame."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._lines: list[bytes] = []
        self._bytes = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that are whole with these bytes; raises `UnexpectedAnswer` for one that is too large."""
        if not chunk:
            return
        text = chunk.removeprefix(b"\n") if self._after_cr else chunk
        self._after_cr = chunk.endswith(b"\r")
        for piece in text.splitlines(keepends=True):
            self._bytes += len(piece)
            if self._bytes > EVENT_MAX:
                raise UnexpectedAnswer(f"expected events of at most {EVENT_MAX} bytes, found a larger one")
            self._pieces.append(piece)
            if piece.endswith((b"\n", b"\r")):
                line, self._pieces = b"".join(self._pieces).rstrip(b"\r\n"), []
                if line:
                    self._lines.append(line)
                elif self._lines:
                    lines, self._lines, self._bytes = self._lines, [], 0
                    yield _frame(lines)


def _frame(lines: list[bytes]) -> Frame:
    fields: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.decode("utf-8", "replace").partition(":")
        fields.setdefault(name, []).append(value.removeprefix(" "))
    retry = fields.get("retry", [""])[-1]
    return Frame(
        id=fields["id"][-1] if "id" in fields else None,
        name=fields.get("event", ["message"])[-1],
        data="\n".join(fields["data"]) if "data" in fields else None,
        retry_ms=int(retry) if retry.isascii() and retry.isdigit() and len(retry) < 10 else None,
    )


@dataclass(frozen=True, slots=True)
class Stream:
    """What is followed: the path of its events, what is asked of them, and the name of its last one."""

    path: str
    query: tuple[tuple[str, str], ...]
    final: str


def debate_stream(debate: str, view: str) -> Stream:
    """The events of a debate."""
    return Stream(f"/v1/debates/{part(debate)}/events", (("view", view),), FINAL)


def evaluation_stream(evaluation: str) -> Stream:
    """The events of an evaluation."""
    return Stream(f"/v1/evaluations/{part(evaluation)}/events", (), CONCLUDED)


class Follower:
    """One stream followed to its end: what was seen, and what is held until its entry is whole."""

    def __init__(self, exchange: Exchange, stream: Stream, after: int | None) -> None:
        self._exchange, self._stream = exchange, stream
        self._seen = after
        self._retry_s = RETRY_S
        self._held: list[tuple[str, str]] = []
        self._moved = False

    def follow(self) -> Steps[None]:
        """Give every event after the last that was seen, over as many connections as it takes."""
        terms = self._exchange.terms
        trying = Trying(terms, terms.give_up_after)
        while True:
            self._moved = False
            try:
                if (yield from self._listen()):
                    return
                fault: GainsayError = Unreachable(f"the stream {self._stream.path} ended before its final event")
            except Broken as broken:
                fault = self._exchange.unreachable(broken, trying)
            except GainsayError as error:
                if not is_passing(error):
                    raise
                fault = error
            yield Close()
            if self._moved:  # the service was there: the time to give up begins anew
                trying = Trying(terms, terms.give_up_after)
                yield Pause(self._retry_s * (1 + terms.draw() / 2))
            else:
                yield from trying.pause_after(fault)

    def _listen(self) -> Steps[bool]:
        """One connection; whether the stream is over."""
        headers = {"accept": EVENT_STREAM}
        if self._seen is not None:
            headers["last-event-id"] = str(self._seen)
        stream, terms = self._stream, self._exchange.terms
        answer = yield from steps.opened(Request("GET", stream.path, stream.query, headers), terms.silence)
        yield from self._exchange.look(answer)
        if answer.status == 204:
            return True
        if answer.status != 200:
            body = yield from steps.rest(ERROR_MAX)
            raise error_of(Answer(answer.status, answer.headers, body), terms.server)
        if answer.media != EVENT_STREAM:
            raise UnexpectedAnswer(f"expected {EVENT_STREAM} from the service, found {answer.media or 'no media type'}")
        return (yield from self._read())

    def _read(self) -> Steps[bool]:
        decoder = Decoder()
        self._held = []
        while (chunk := (yield from steps.read())) is not None:
            for frame in decoder.feed(chunk):
                for event in self._take(frame):
                    yield Give(event)
                    if event.name == self._stream.final:
                        return True
        return False

    def _take(self, frame: Frame) -> list[Event]:
        """The events of an entry that is whole with a frame."""
        if frame.retry_ms is not None:
            self._retry_s = min(max(frame.retry_ms / 1000, RETRY_MIN_S), RETRY_MAX_S)
            return []
        if frame.data is not None:
            self._held.append((frame.name, frame.data))
        if frame.id is None:
            self._moved = self._moved or frame.data is None  # a comment in a silence
            return []
        if not (frame.id.isascii() and frame.id.isdigit() and len(frame.id) < 10):
            raise UnexpectedAnswer(f"expected the number of an entry as the id of an event, found {frame.id[:40]!r}")
        number, held, self._held = int(frame.id), self._held, []
        if self._seen is not None and number <= self._seen:
            return []  # sent twice, by a proxy that keeps what it should not
        self._seen, self._moved = number, True
        return [Event(number, name, _data(name, text)) for name, text in held]


def _data(name: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UnexpectedAnswer(f"expected a JSON object as the data of the event {name[:40]!r}, found {text[:80]!r}")
    return found
