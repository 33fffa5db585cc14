"""`gainsay health`: where each command answers, and what is said of one that does not."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import click
import pytest

from service.cli import gainsay
from service.cli.health import PORTS, Place, _ask, command_of, place_of

GAINSAY = ("/opt/gainsay/bin/python", "/opt/gainsay/bin/gainsay")


class Answering(BaseHTTPRequestHandler):
    """Answers /livez with its status."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/livez" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class OnAFile(socketserver.UnixStreamServer):
    """The same on a socket file."""

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """A connection, with an address such as the handler wants."""
        return super().get_request()[0], ("localhost", 0)


@contextmanager
def answering(status: int, file: Path | None = None) -> Iterator[str]:
    handler = type("Handler", (Answering,), {"status": status})
    server = OnAFile(str(file), handler) if file else HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield str(file) if file else str(server.socket.getsockname()[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_every_command_that_can_listen_is_known_with_its_port() -> None:
    context = click.Context(gainsay)
    found = {}
    for name in gainsay.list_commands(context):
        command = gainsay.get_command(context, name)
        assert command is not None
        for option in command.params:
            if option.name == "port":
                found[name] = option.default if isinstance(option.default, int) else None

    assert found == PORTS


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ("serve", Place("127.0.0.1", 8321)),
        ("serve --host 0.0.0.0 --port 8000 --no-worker", Place("127.0.0.1", 8000)),
        ("serve --host=:: --port=1 --port=2", Place("::1", 2)),
        ("serve --host 10.0.4.1", Place("10.0.4.1", 8321)),
        ("serve --unix /run/gainsay.sock --no-worker", Place("", 0, "/run/gainsay.sock")),
        ("work", None),
        ("work --port 8325", Place("127.0.0.1", 8325)),
        ("sequence", None),
        ("sequence --host 0.0.0.0 --port 8324", Place("127.0.0.1", 8324)),
        ("signer --key file:log.key --heads heads", Place("127.0.0.1", 8323)),
        ("witness --key env:KEY --heads heads --log a+b+c", Place("127.0.0.1", 8322)),
        ("mcp --server https://gainsay.example", None),
        ("mcp --http --server https://gainsay.example", Place("127.0.0.1", 8322)),
        ("migrate", None),
    ],
)
def test_where_to_ask_follows_from_the_command_line(options: str, place: Place | None) -> None:
    for before in (GAINSAY, ("/sbin/docker-init", "--", "gainsay"), ("/sbin/docker-init", "--", *GAINSAY)):
        assert place_of(*command_of([*before, *options.split()])) == place


@pytest.mark.parametrize("words", [[], ["sh", "-c", "gainsay serve"], ["gainsay"]])
def test_a_process_that_runs_no_command_of_ours_cannot_be_asked(words: list[str]) -> None:
    with pytest.raises(ValueError, match="name a health check of your own"):
        command_of(words)


def test_a_process_lives_that_answers_and_one_that_does_not_is_dead(tmp_path: Path) -> None:
    with answering(200) as port, answering(200, tmp_path / "socket") as file:
        assert _ask([*GAINSAY, "signer", "--port", port]) == f"alive: `signer` answers at 127.0.0.1:{port}"
        assert _ask([*GAINSAY, "serve", "--unix", file]) == f"alive: `serve` answers at {file}"
    with answering(503) as port, pytest.raises(ValueError, match=r"expected 200 of /livez .* found 503"):
        _ask([*GAINSAY, "signer", "--port", port])
    with pytest.raises(ConnectionRefusedError):
        _ask([*GAINSAY, "signer", "--port", port])
    with pytest.raises(ValueError, match="found --port 0; name one"):
        _ask([*GAINSAY, "serve", "--port", "0"])
    assert _ask([*GAINSAY, "work"]) == "alive: `work` listens nowhere"


def test_the_process_is_asked_by_its_own_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert gainsay.main(["health", "--process", "1"], standalone_mode=False) == 1
    assert "not alive: expected a process that runs gainsay" in capsys.readouterr().err
