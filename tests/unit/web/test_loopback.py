"""Which hosts and origins are of this machine, and which addresses a service without identities may listen on."""

from __future__ import annotations

import pytest

from service.errors import SettingsError
from service.web.loopback import names_this_machine
from service.web.open_address import refuse_open_address

HERE = ["localhost", "LOCALHOST:8321", "127.0.0.1", "127.0.0.1:80", "127.8.9.1:65535", "[::1]", "[::1]:8321"]
ELSEWHERE = [
    *("", ":8321", "example.org", "localhost.example.org", "127.0.0.1.nip.io", "rebound.example:8321"),
    *("0.0.0.0", "0.0.0.0:8321", "[::]", "[::ffff:10.0.0.1]", "10.0.0.1", "::1", "2130706433", "127.1", "0x7f.0.0.1"),
    *(
        "localhost:",
        "localhost:port",
        "localhost:123456",
        "localhost@example.org",
        "example.org@localhost",
        "user@localhost",
    ),
    *(
        "localhost ",
        " localhost",
        "localhost,example.org",
        "localhost\t",
        "local\u017fhost",
        "[::1",
        "::1]",
        "[localhost]x",
    ),
]


@pytest.mark.parametrize("authority", HERE)
def test_names_of_this_machine(authority: str) -> None:
    assert names_this_machine(authority)


@pytest.mark.parametrize("authority", ELSEWHERE)
def test_other_names(authority: str) -> None:
    assert not names_this_machine(authority)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "127.0.0.2"])
def test_a_loopback_address_is_listened_on(host: str) -> None:
    refuse_open_address(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "192.168.0.1", "fe80::1"])
def test_any_other_address_is_refused_with_what_to_do(host: str) -> None:
    with pytest.raises(SettingsError, match=r"GAINSAY_IDENTITY .*or leave --host out"):
        refuse_open_address(host)
