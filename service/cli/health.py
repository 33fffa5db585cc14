"""``gainsay health``: whether the process of a container lives, for the image's health check.

One image runs every command, so what to ask follows from the command line of process 1. Nothing of the service is
imported: the check runs every few seconds beside each process.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import click

from service.cli import exit_codes
from service.cli.terminal_text import say

PORTS: Mapping[str, int | None] = {
    "serve": 8321,
    "work": None,
    "sequence": None,
    "signer": 8323,
    "witness": 8322,
    "mcp": 8322,
}
"""The port of each command that can listen, unless its command line names another; None where it listens only then."""
SECONDS = 4.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - what is asked is this machine


class Place(NamedTuple):
    """Where a process answers: a socket file, or an address and port."""

    host: str
    port: int
    file: str | None = None


class _FileConnection(HTTPConnection):
    """HTTP over a socket file."""

    def __init__(self, file: str) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._file = file

    def connect(self) -> None:
        """Open the socket file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self._file)


@click.command()
@click.option("--process", default=1, show_default=True, type=click.IntRange(1), help="The process to ask about.")
def health(process: int) -> int:
    """Say whether the process of this container lives: the health check of the image.

    Asks /livez where the command line of the process says that it listens. A command that listens nowhere, such as
    `migrate` or a worker without --port, lives while it runs.

    \b
    Exit codes: 0 it lives, 1 it does not, or it cannot be asked.
    """
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
        say(_ask(words))
    except (OSError, ValueError) as error:
        say(f"not alive: {error}", err=True)
        return exit_codes.NEGATIVE
    return exit_codes.DONE


def _ask(words: Sequence[str]) -> str:
    """Say in words that the process lives; raises `OSError` or `ValueError` where it does not."""
    command, options = command_of(words)
    place = place_of(command, options)
    if place is None:
        return f"alive: `{command}` listens nowhere"
    if not place.port and place.file is None:
        raise ValueError(f"expected a port that is known for `{command}`, found --port 0; name one")
    connection = _FileConnection(place.file) if place.file else HTTPConnection(place.host, place.port, timeout=SECONDS)
    try:
        connection.request("GET", "/livez")
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    at = place.file or f"{place.host}:{place.port}"
    if answer.status != 200:
        raise ValueError(f"expected 200 of /livez at {at}, found {answer.status}")
    return f"alive: `{command}` answers at {at}"


def command_of(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The command of a command line and the words behind it; raises `ValueError` for one that runs no gainsay."""
    for n, word in enumerate(words[:-1]):
        if Path(word).name == "gainsay":
            return words[n + 1], words[n + 2 :]
    raise ValueError("expected a process that runs gainsay; for another one, name a health check of your own")


def place_of(command: str, options: Sequence[str]) -> Place | None:
    """Where a command with these options answers, or ``None`` where it listens nowhere."""
    if command not in PORTS or (command == "mcp" and "--http" not in options):
        return None
    port = _value("--port", options)
    if (file := _value("--unix", options)) is not None:
        return Place("", 0, file)
    number = PORTS[command] if port is None else int(port)
    if number is None:
        return None
    host = _value("--host", options)
    return Place(_EVERYWHERE.get(host, host) if host is not None else "127.0.0.1", number)


def _value(name: str, options: Sequence[str]) -> str | None:
    """The last value of an option, as ``--port 1`` or ``--port=1``."""
    found = None
    for n, word in enumerate(options):
        if word == name and n + 1 < len(options):
            found = options[n + 1]
        elif word.startswith(f"{name}="):
            found = word.partition("=")[2]
    return found
