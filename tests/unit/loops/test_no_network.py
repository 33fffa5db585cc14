"""A unit test opens no network socket, and an event loop can still wake itself."""

from __future__ import annotations

import socket

import pytest


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_unit_test_opens_no_socket_to_any_machine(family: socket.AddressFamily) -> None:
    with pytest.raises(UserWarning, match="tried to use socket"):
        socket.socket(family)


def test_sockets_of_one_machine_alone_are_left() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        one.sendall(b"woken")

        assert other.recv(5) == b"woken"
