"""Streamable HTTP: what is asked of a request before the protocol is read, and the sessions of each credential.

1. The path is /mcp: 404. Beside it stand /livez, /readyz and /metrics (`service.cli.mcp.probed`).
2. Host and Origin are among those that the operator allows (a page's name may be made to lead here): 421, 403.
3. Before a service the request shows its caller's credential in Authorization, and the service knows it: 401, with
   WWW-Authenticate. It is the only credential that this caller's tools are called with. The service's 403 and 429 are
   passed on as they are; where it gives no such word, the answer is 503. A gateway that other machines reach asks a
   service with identities alone: any other would take each of them for its own operator (503).
4. A session belongs to the credential that began it. With another one it is as if there were none: 404.
5. The body has one reading (`service.cli.mcp.strictly`): 400.
6. A credential has `SESSIONS_EACH` sessions, and the process `SESSIONS` in all: 429, 503.

The service decides what a credential may do, at each call. Here its word that a credential is known is kept for
`KNOWN_S`, so a revoked one may still list the tools for as long, and reaches nothing with them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, cast

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.cli.mcp.callers import CREDENTIAL, ByCredential, Callers
from service.cli.mcp.listening import Listening
from service.cli.mcp.probed import Probed, probes_of
from service.cli.mcp.server import Desk
from service.cli.mcp.wire import fault_of
from service.errors import GainsayError
from service.web.server import serving

if TYPE_CHECKING:
    from litestar.types import ASGIApp as ServedApp

PATH = "/mcp"
BODY_MAX = 32 << 20
"""Bytes of a message; the documents of a case are in it."""
SESSIONS, SESSIONS_EACH = 400, 40
IDLE_S = 15 * 60.0
KNOWN_S, UNKNOWN_S = 30.0, 5.0
"""Seconds for which the service's word on a credential is kept: that it is known, and that it is not."""
KEPT = 4_000
"""So many words on known credentials are kept, and as many on others."""
ASKED_AT_ONCE = 16
"""So many known credentials are asked about at a time, and as many others."""
REFUSED = (401, 403)
"""What a service says of a credential as such. Any other error may be over by now."""
AGAIN_S = 5
"""Retry-After where the service names none."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
CHALLENGE = 'Bearer realm="gainsay"'


def allowed(hosts: Sequence[str], origins: Sequence[str]) -> TransportSecuritySettings:
    """What Host and Origin may be: this machine on any port, and what the operator names."""
    own = [f"{name}{port}" for name in LOOPBACK for port in ("", ":*")]
    pages = [f"{scheme}://{name}" for scheme in ("http", "https") for name in own]
    named = [f"{name}{port}" for name in hosts for port in ("", *(() if ":" in name.rpartition("]")[2] else (":*",)))]
    return TransportSecuritySettings(allowed_hosts=[*own, *named], allowed_origins=[*pages, *origins])


@asynccontextmanager
async def listening(
    desk: Desk, callers: Callers, where: Listening, metrics_token: str | None = None
) -> AsyncIterator[str]:
    """Answer requests as long as the block lasts; yields the address. Raises `CannotListen`."""
    security = allowed(where.allowed_hosts, where.allowed_origins)
    manager = StreamableHTTPSessionManager(
        desk.server(),
        security_settings=security,
        session_idle_timeout=IDLE_S,
        max_request_body_size=BODY_MAX,
        max_sessions=SESSIONS,
    )
    credentials = Credentials(callers, strict=where.open) if isinstance(callers, ByCredential) else None
    inner = RequestBodyLimitMiddleware(StrictBodies(manager.handle_request), BODY_MAX)
    gateway = Gateway(Parting(inner, desk.closing), security, credentials, Sessions())
    app = cast("ServedApp", Probed(gateway, probes_of(desk, callers, metrics_token)))
    async with manager.run(), serving(app, where.host, where.port, stopping=desk.closing.set) as address:
        yield f"{address}{PATH}"


class _Word(NamedTuple):
    """The service's word on a credential: its error, or ``None`` where it is known; and until when that is kept."""

    error: GainsayError | None
    until: float


class NoIdentities(GainsayError):
    """The service lets in whom it does not know."""

    code = "no_identities"
    status = 503
    title = "The service knows no identities"


class _Words:
    """The service's words on credentials that it knows, or on others; those that came first make room for new ones."""

    def __init__(self) -> None:
        self.kept: dict[str, _Word] = {}
        self.asking = asyncio.Semaphore(ASKED_AT_ONCE)

    def keep(self, name: str, word: _Word) -> None:
        """Keep a word, as the newest one."""
        self.kept.pop(name, None)
        while len(self.kept) >= KEPT:
            del self.kept[next(iter(self.kept))]
        self.kept[name] = word


class Credentials:
    """Which credentials a service lets in, asked of it and kept for a short time.

    What is kept of credentials that it knows, and how many of them are asked about, does not depend on the others:
    requests with invented ones would crowd them out.
    """

    def __init__(
        self, callers: ByCredential, *, strict: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._callers, self._strict, self._clock = callers, strict, clock
        self._known, self._others = _Words(), _Words()

    async def expect_known(self, token: str | None) -> None:
        """Raise the service's error unless it lets this credential, or none, in; raises `NoIdentities` too."""
        if self._strict and (await self._word(None)).error is None:
            raise NoIdentities(
                "the service of this gateway knows no identities, and a gateway that other machines reach asks "
                "none but one that does; configure GAINSAY_IDENTITY there (docs/authentication.md)"
            )
        word = await self._word(token)
        if word.error is not None:
            raise word.error.anew()

    async def _word(self, token: str | None) -> _Word:
        """The service's word on a credential."""
        name = digest(token)
        words = self._known if name in self._known.kept else self._others
        word = words.kept.get(name)
        if word is None or word.until <= self._clock():
            async with words.asking:
                word = await self._ask(token)
            if word.error is None or word.error.status in REFUSED:
                kind, other = (self._others, self._known) if word.error else (self._known, self._others)
                other.kept.pop(name, None)
                kind.keep(name, word)
        return word

    async def _ask(self, token: str | None) -> _Word:
        try:
            await self._callers.identify(token)
        except GainsayError as error:
            return _Word(error, self._clock() + UNKNOWN_S)
        return _Word(None, self._clock() + KNOWN_S)


class Sessions:
    """The sessions that credentials have begun, as far as they may still be open."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, tuple[str, float]] = {}
        self._beginning: Counter[str] = Counter()

    def room(self, owner: str) -> bool:
        """Whether a credential may begin another one."""
        self._open = {name: (of, at) for name, (of, at) in self._open.items() if at > self._clock() - IDLE_S}
        return sum(of == owner for of, _ in self._open.values()) + self._beginning[owner] < SESSIONS_EACH

    @contextmanager
    def beginning(self, owner: str) -> Iterator[None]:
        """While the block lasts, a request counts as a session: it may begin one that no answer has named yet."""
        self._beginning[owner] += 1
        try:
            yield
        finally:
            self._beginning[owner] -= 1
            if not self._beginning[owner]:
                del self._beginning[owner]

    def saw(self, session: str, owner: str) -> None:
        """Note that a session was answered. Its name is the protocol's own, never one that a request alone has."""
        self._open[session] = (owner, self._clock())

    def ended(self, session: str, owner: str) -> None:
        """Note that a credential has no such session any more."""
        if session in self._open and self._open[session][0] == owner:
            del self._open[session]


class Parting:
    """An application whose streams to listen on (GET) end when the server stops: nothing comes on them any more."""

    def __init__(self, inner: ASGIApp, closing: asyncio.Event) -> None:
        self._inner, self._closing = inner, closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; one that listens hears at the end of the server that its client has left."""
        if scope["method"] != "GET":
            await self._inner(scope, receive, send)
            return
        last: Message = {}

        async def heard() -> Message:
            waits = [asyncio.ensure_future(receive()), asyncio.ensure_future(self._closing.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                return {"type": "http.disconnect"} if self._closing.is_set() else cast("Message", waits[0].result())
            finally:
                for wait in waits:
                    wait.cancel()

        async def sent(message: Message) -> None:
            last.clear()
            last.update(message)
            await send(message)

        await self._inner(scope, heard, sent)
        if self._closing.is_set() and (last.get("type") == "http.response.start" or last.get("more_body")):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


class StrictBodies:
    """An application that is shown messages alone, each of one reading; a whole body comes with the first event.

    The SDK's own answer to a body that is none would have the words of its parser.
    """

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or refuse its body."""
        first = await receive()
        body = first.get("body") if scope["method"] == "POST" else None
        if body is not None and (fault := await asyncio.to_thread(fault_of, body)):
            await Response(json.dumps(fault), status_code=400, media_type="application/json")(scope, receive, send)
            return
        shown = [first]

        async def replay() -> Message:
            return shown.pop() if shown else await receive()

        await self._inner(scope, replay, send)


class Gateway:
    """The application before the SDK's own."""

    def __init__(
        self, inner: ASGIApp, security: TransportSecuritySettings, credentials: Credentials | None, sessions: Sessions
    ) -> None:
        self._inner = inner
        self._security = TransportSecurityMiddleware(security)
        self._credentials = credentials
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        refused = await self._refused(scope, receive)
        if refused is not None:
            await refused(scope, receive, send)
            return
        owner, headers = digest(scope[CREDENTIAL]), Headers(scope=scope)
        session = headers.get("mcp-session-id")
        begins = session is None and _may_begin(headers)
        if begins and not self._sessions.room(owner):
            words = f"{SESSIONS_EACH} sessions of this caller are open; end one, or wait {IDLE_S / 60:.0f} minutes"
            await _problem(429, "rate_limited", words, {"Retry-After": "60"})(scope, receive, send)
            return
        scope["user"] = AuthenticatedUser(AccessToken(token=owner, client_id=owner, scopes=[]))
        with self._sessions.beginning(owner) if begins else nullcontext():
            await self._inner(scope, receive, self._noting(scope["method"], owner, session, send))

    async def _refused(self, scope: Scope, receive: Receive) -> Response | None:
        """The answer to a request that is not let in; its credential is in the scope afterwards."""
        if scope["path"] != PATH:
            return _problem(404, "not_found", f"there is no such path; the Model Context Protocol is at {PATH}")
        request = Request(scope, receive)
        if (foreign := await self._security.validate_request(request)) is not None:
            return foreign
        given = request.headers.getlist("authorization")
        if len(given) > 1:
            return _problem(400, "bad_request", f"expected one header Authorization, found {len(given)}")
        scope[CREDENTIAL] = None
        if self._credentials is None:
            return None
        kind, _, token = (given[0] if given else "").partition(" ")
        if given and (kind.lower() != "bearer" or not token.strip()):
            return _unauthenticated("expected Authorization: Bearer and an API key or a token", presented=True)
        scope[CREDENTIAL] = token.strip() or None
        try:
            await self._credentials.expect_known(scope[CREDENTIAL])
        except GainsayError as error:
            return _not_let_in(error, presented=bool(given))
        except ValueError:  # characters that no header can have
            return _unauthenticated("expected an API key or a token in visible ASCII characters", presented=True)
        return None

    def _noting(self, method: str, owner: str, session: str | None, send: Send) -> Send:
        """Send, and note the sessions that an answer names or ends."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Cache-Control"] = headers.get("Cache-Control", "no-store")
                named = headers.get("mcp-session-id")
                if message["status"] < 400 and named and method != "DELETE":
                    self._sessions.saw(named, owner)
                elif session and method == "DELETE" and message["status"] < 400:
                    self._sessions.ended(session, owner)
            await send(message)

        return sent


def digest(token: str | None) -> str:
    """The name under which a credential is known here; the credential itself is kept nowhere."""
    return "" if token is None else sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _may_begin(headers: Headers) -> bool:
    """Whether a request without a session may begin one: since 2026-07-28 there are none."""
    return headers.get("mcp-protocol-version") not in MODERN_PROTOCOL_VERSIONS


def _unauthenticated(words: str, *, presented: bool) -> Response:
    challenge = CHALLENGE + (', error="invalid_token"' if presented else "")
    return _problem(401, "unauthenticated", words, {"WWW-Authenticate": challenge})


def _not_let_in(error: GainsayError, *, presented: bool) -> Response:
    """The service's refusal of a caller; an error that says nothing of the caller is one of the gateway."""
    later = {"Retry-After": str(error.retry_after or AGAIN_S)}
    match error.status:
        case 401:
            return _unauthenticated(error.public_detail, presented=presented)
        case 403:
            return _problem(403, error.code, error.public_detail)
        case 429:
            return _problem(429, error.code, error.public_detail, later)
        case _:
            return _problem(503, error.code, f"the service cannot be asked: {error.public_detail}", later)


def _problem(status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    return Response(
        json.dumps({"code": code, "status": status, "detail": detail[:2_000]}),
        status_code=status,
        headers={"Cache-Control": "no-store", **(headers or {})},
        media_type="application/problem+json",
    )
