"""An application on a socket, until SIGTERM or SIGINT: the API, a signer, a witness.

1. On a signal, event streams end with a hint to connect again, and callers that wait get the present state.
2. After SIGTERM alone the server drains: it still takes requests, because a load balancer may not know yet that this
   process is not ready. Every answer is the last on its connection.
3. The server closes the socket, and answers what is on its way and the remaining requests within the grace. A second
   signal ends it at once.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from secrets import token_hex

import uvicorn
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from service.identity.caller import Caller
from service.policy import Rates
from service.store.rates import RateExchange
from service.web.admission import AdmissionSlots
from service.web.api import make_api
from service.web.app_state import AppState, Service
from service.web.connection_bounds import ConnectionBounds, Connections
from service.web.overload import Load
from service.web.rate_limits import RateLimiter
from service.web.socket_file import CannotListen, SocketFile, bound_file
from service.web.stream_listeners import Listeners, StreamConnection

GRACE_S = 10
ON_THE_WAY_S = 0.3
"""How long a connection without a request is left open after the socket is closed: its first one may be on its way."""
HEARTBEAT_S = 15.0
SLOW_S = 30.0
"""How long a listener may leave sent data unread."""
BACKLOG = 2048
TRIES = 20
"""How many free ports are tried until one is free in both families."""
NO_IPV4 = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL})
"""What a machine says that has IPv6 alone."""
BOUNDS = ConnectionBounds()


async def listen(
    service: Service,
    host: str,
    port: int,
    *,
    unix: SocketFile | None = None,
    ready: Callable[[str], None] = lambda _url: None,
    stopping: Callable[[], None] = lambda: None,
    drain_s: float = 0.0,
) -> None:
    """Answer requests to the API until SIGTERM or SIGINT comes; see `serve`."""
    site = _site(service)

    def closing() -> None:
        site.closing.set()
        stopping()

    try:
        await serve(make_api(site), host, port, unix=unix, ready=ready, stopping=closing, drain_s=drain_s)
    finally:
        await site.rates.close()


@asynccontextmanager
async def listening(
    service: Service,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    unix: SocketFile | None = None,
    heartbeat_s: float = HEARTBEAT_S,
    slow_s: float = SLOW_S,
    bounds: ConnectionBounds = BOUNDS,
) -> AsyncIterator[str]:
    """Answer requests to the API as long as the block lasts; see `serving`."""
    site = _site(service, heartbeat_s, slow_s)
    stop = site.closing.set
    try:
        async with serving(make_api(site), host, port, unix=unix, stopping=stop, bounds=bounds) as address:
            yield address
    finally:
        await site.rates.close()


def _site(service: Service, heartbeat_s: float = HEARTBEAT_S, slow_s: float = SLOW_S) -> AppState:
    closing, places, database = asyncio.Event(), AdmissionSlots(), service.serving

    def rates_of(caller: Caller) -> Rates:
        return service.reviews.deployment_of(caller.tenant).policy.rates_of(identified=caller.via != "none")

    return AppState(
        service,
        closing,
        Listeners(closing, service.authenticator),
        heartbeat_s,
        slow_s,
        places=places,
        rates=RateLimiter(RateExchange(service.database, f"http_{token_hex(8)}"), rates_of),
        load=Load(places, lambda: database.waiting),
    )


async def serve(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    unix: SocketFile | None = None,
    ready: Callable[[str], None] = lambda _url: None,
    stopping: Callable[[], None] = lambda: None,
    drain_s: float = 0.0,
) -> None:
    """Answer requests to an application until SIGTERM or SIGINT comes, and after SIGTERM for ``drain_s`` more.

    Port 0 takes any free port; a socket file takes the place of host and port; the host ``::`` stands for every address
    of IPv6 and of IPv4. ``ready`` is called with the real
    address once the server takes requests, and ``stopping`` at each signal, before the server waits for open requests.
    Raises `CannotListen`.
    """
    with _bound_sockets(host, port, unix) as listening:
        server = _Server(app, stopping, drain_s)
        server.when_ready = partial(ready, _url(listening[0]))
        with _signals({signal.SIGTERM: server.drain, signal.SIGINT: server.stop}):
            await server.serve(sockets=listening)


@asynccontextmanager
async def serving(
    app: ASGIApp,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    unix: SocketFile | None = None,
    stopping: Callable[[], None] = lambda: None,
    bounds: ConnectionBounds = BOUNDS,
) -> AsyncIterator[str]:
    """Serve as long as the block lasts, without signal handlers; yields the address. Raises `CannotListen`."""
    with _bound_sockets(host, port, unix) as listening:
        server = _Server(app, stopping, bounds=bounds)
        started = asyncio.Event()
        server.when_ready = started.set
        task = asyncio.create_task(server.serve(sockets=listening), name="http")
        begun = asyncio.create_task(started.wait())
        try:
            await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
            yield _url(listening[0])
        finally:
            begun.cancel()
            server.stop()
            await task


class _Server(uvicorn.Server):
    """uvicorn for one application; it calls ``stopping`` before it waits for open requests."""

    def __init__(
        self,
        app: ASGIApp,
        stopping: Callable[[], None],
        drain_s: float = 0.0,
        bounds: ConnectionBounds = BOUNDS,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                self._parting(app),
                http=type("ServedConnection", (StreamConnection,), {"shared": Connections(bounds)}),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=bounds.idle_s,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self.when_ready: Callable[[], None] = lambda: None
        self._stopping = stopping
        self._drain_s = drain_s
        self._leaving = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``when_ready``."""
        await super().startup(sockets)
        self.when_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, answer what is on its way, then close: a closed connection with unread bytes is a reset."""
        await asyncio.sleep(0)  # what the loop has accepted becomes a connection
        accepted = [connection for listening in sockets or () for connection in _waiting_on(listening)]
        for server in self.servers:
            server.close()
        for listening in sockets or ():
            listening.close()
        for connection in accepted:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        until = time.monotonic() + ON_THE_WAY_S
        while self.server_state.connections and time.monotonic() < until and not self.force_exit:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await super().shutdown()

    def _protocol(self) -> asyncio.Protocol:
        kind: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: uvicorn would raise the signal again at the end, and it would kill the process."""
        yield

    def drain(self) -> None:
        """Take requests for the drain time, each the last of its connection, then stop; a second call stops at once."""
        if self._leaving or self._drain_s <= 0:
            self.stop()
            return
        self._leaving = True
        self._stopping()
        asyncio.get_running_loop().call_later(self._drain_s, self._end)

    def stop(self) -> None:
        """Begin to stop; a second call stops at once."""
        self.force_exit = self._leaving
        self._leaving = True
        self._end()
        self._stopping()

    def _end(self) -> None:
        self.should_exit = True

    def _parting(self, app: ASGIApp) -> ASGIApp:
        """The application; once the server drains or stops, each answer closes its connection."""

        async def answered(scope: Scope, receive: Receive, send: Send) -> None:
            async def sent(message: Message) -> None:
                if self._leaving and message["type"] == "http.response.start":
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
                await send(message)

            await app(scope, receive, sent)

        return answered


def _waiting_on(listening: socket.socket) -> Iterator[socket.socket]:
    """The connections that the system has taken already, and that the loop has not seen."""
    with suppress(OSError):  # none is left
        while True:
            connection, _ = listening.accept()
            yield connection


@contextmanager
def _signals(handlers: Mapping[signal.Signals, Callable[[], None]]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)


@contextmanager
def _bound_sockets(host: str, port: int, unix: SocketFile | None) -> Iterator[list[socket.socket]]:
    """The sockets bound to the address or the socket file, before anything else starts."""
    if unix is not None:
        with bound_file(unix, BACKLOG) as listening:
            yield [listening]
        return
    with ExitStack() as stack:
        try:
            bound = [stack.enter_context(each) for each in _listening_on(host, port)]
            for each in bound:
                # Connections inherit it. asyncio sets it only where a socket names TCP as its protocol; these do not.
                # Without it the body of an answer waits up to 40 ms, until the client has acknowledged the headers.
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, OverflowError) as error:
            raise CannotListen(
                f"expected to listen on {host}:{port}, found: {getattr(error, 'strerror', None) or error}; "
                "choose another --host or --port"
            ) from error
        yield bound


def _listening_on(host: str, port: int) -> list[socket.socket]:
    """A socket for the address; for ``::`` one of each family on the same port.

    Two sockets, and not one for both families: to it every peer of IPv4 has an address of IPv6 (::ffff:127.0.0.1), by
    which no rule about addresses knows it. Raises `OSError`.
    """
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    for left in reversed(range(TRIES)):
        first = socket.create_server(address, family=family, backlog=BACKLOG)
        if (family, address[0]) != (socket.AF_INET6, "::"):
            return [first]
        try:
            return [first, socket.create_server(("0.0.0.0", first.getsockname()[1]), backlog=BACKLOG)]  # noqa: S104
        except OSError as error:
            if error.errno in NO_IPV4:
                return [first]
            first.close()
            if port or not left:  # a free port of one family may be taken in the other
                raise
    raise AssertionError("the last try returns or raises")


def _url(listening: socket.socket) -> str:
    if listening.family == socket.AF_UNIX:
        return f"unix:{listening.getsockname()}"
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
