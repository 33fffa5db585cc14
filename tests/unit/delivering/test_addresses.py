"""Which URLs and which addresses may be asked: no spelling of an address gets by the rules."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.delivering.addresses import (
    NEVER,
    SPECIAL,
    AddressRefused,
    AddressRules,
    Target,
    check_address,
    check_resolved,
    read_location,
    read_networks,
    read_url,
)

PUBLIC = AddressRules()
BANK = AddressRules(read_networks(["10.20.0.0/16", "fd12:3456::/32"]), allow_http=True, ports=(443, 80, 8443))
WIDE = AddressRules(read_networks(["0.0.0.0/0", "::/0"]), allow_http=True, ports=())
INNER = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "169.254.1.1", "100.64.0.1", "100.127.255.255", "198.18.0.1", "198.19.255.255"),
    *("192.0.0.8", "192.0.2.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1"),
    *("255.255.255.255", "192.88.99.1", "168.63.129.16", "100.100.100.200"),
    *("::1", "::", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "2001::1", "100::1"),
    *("2001:2::1", "2001:10::1", "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::", "5f00::1", "3fff::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::8.8.8.8", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe"),
]
OUTER = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.215.14",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "64:ff9b::808:808",
    "::ffff:8.8.8.8",
]


def allowed(text: str, rules: AddressRules = PUBLIC, scheme: str = "https") -> bool:
    try:
        check_address(ip_address(text), rules, scheme)
    except AddressRefused:
        return False
    return True


@pytest.mark.parametrize("text", INNER)
def test_an_address_that_is_not_of_the_public_internet_is_refused(text: str) -> None:
    assert not allowed(text)
    with pytest.raises(AddressRefused):
        read_url(f"https://[{text}]/" if ":" in text else f"https://{text}/", PUBLIC)


@pytest.mark.parametrize("text", OUTER)
def test_an_address_of_the_public_internet_is_allowed_by_https_alone(text: str) -> None:
    assert allowed(text)
    assert not allowed(text, BANK, "http")


def test_a_network_that_policy_names_is_allowed_and_no_other() -> None:
    assert allowed("10.20.3.4", BANK)
    assert allowed("10.20.3.4", BANK, "http")
    assert allowed("::ffff:10.20.3.4", BANK)
    assert allowed("64:ff9b::a14:304", BANK)
    assert allowed("fd12:3456::1", BANK)
    assert not allowed("10.21.0.1", BANK)
    assert not allowed("fd00::1", BANK)


@pytest.mark.parametrize("network", NEVER, ids=str)
def test_no_policy_allows_the_metadata_of_a_cloud_or_many_machines(network: ipaddress.IPv4Network) -> None:
    address = network[-1] if network.num_addresses > 1 else network[0]

    assert not allowed(str(address), WIDE)
    if isinstance(address, IPv4Address):
        assert not allowed(f"::ffff:{address}", WIDE)
        assert not allowed(str(IPv6Address("64:ff9b::") + int(address)), WIDE)


@given(st.ip_addresses())
@example(IPv6Address("::ffff:127.0.0.1"))
@example(IPv4Address("192.0.0.9"))
def test_what_the_standard_library_calls_private_is_refused_too(address: IPv4Address | IPv6Address) -> None:
    carried = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    local = (carried or address).is_private or (carried or address).is_multicast or (carried or address).is_reserved
    nat64 = isinstance(address, IPv6Address) and address in ip_network("64:ff9b::/96")

    assert not (local and not nat64 and allowed(str(address)))


@given(st.sampled_from([ip for ip in INNER if ":" not in ip]), st.data())
def test_no_spelling_of_an_inner_address_is_read_as_a_name(text: str, data: st.DataObject) -> None:
    """What the system's own look-up takes for this address, in any base and any number of parts, is refused."""
    number = int(IPv4Address(text))
    parts = data.draw(st.integers(1, 4), "parts")
    lead, last = (
        [number >> 24 & 255, number >> 16 & 255, number >> 8 & 255][: parts - 1],
        number & (1 << 8 * (5 - parts)) - 1,
    )

    def spelt(value: int) -> str:
        return data.draw(st.sampled_from([str(value), hex(value), f"0{value:o}", f"0X{value:X}", f"0x{value:010x}"]))

    host = ".".join(spelt(value) for value in [*lead, last])
    assert socket.inet_aton(host) == IPv4Address(text).packed
    for spelling in (host, f"{host}.", host.upper()):
        for port in ("", ":443"):
            with pytest.raises(AddressRefused):
                read_url(f"https://{spelling}{port}/x", PUBLIC)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://127.0.0.1@evil.example/", "without a user"),
        ("https://evil.example@127.0.0.1/", "without a user"),
        ("https://user:secret@a.example/", "without a user"),
        ("https://a.example\\@b.example/", "without a user"),
        ("https://a.example\\b.example/", "another form"),
        ("https://a.example#@127.0.0.1/", "another form"),
        ("https://a.example/#x", "another form"),
        ("https://a.example./", "without a dot"),
        ("https://a..example/", "host's name"),
        ("https://.example/", "host's name"),
        ("https://-a.example/", "host's name"),
        (f"https://{'a' * 64}.example/", "host's name"),
        (f"https://{'a.' * 130}example/", "host's name"),
        ("https://a.0x7f/", "another form"),
        ("https://1.2.3.4.5/", "another form"),
        ("https://127.0.0.01/", "another form"),
        ("https://[::1%25eth0]/", "another form"),
        ("https://[fe80::1%eth0]/", "another form"),
        ("https://[::1/", "another form"),
        ("https://[v1.x]/", "another form"),
        ("https://%31%32%37.0.0.1/", "another form"),
        ("https://localhost%00.example/", "another form"),
        ("https://①②⑦.0.0.1/", "printable ASCII"),
        ("https://ⓔvil.example/", "printable ASCII"),
        ("https://a。example/", "printable ASCII"),
        ("https://a.example/\r\nx: y", "printable ASCII"),
        ("https://a.example/a b", "printable ASCII"),
        (" https://a.example/", "printable ASCII"),
        ("https://a.example/%zz", "another form"),
        ("https:a.example", "another form"),
        ("https:///a.example", "another form"),
        ("//a.example/", "another form"),
        ("file:///etc/passwd", "another form"),
        ("gopher://a.example/", "another form"),
        ("http://a.example/", "policy does not allow"),
        ("https://a.example:22/", "a port"),
        ("https://a.example:0/", "a port"),
        ("https://a.example:65536/", "a port"),
        ("https://a.example:/", "another form"),
        ("https://a.example:443:80/", "another form"),
        (f"https://a.example/{'x' * 2000}", "at most 2000"),
    ],
)
def test_a_url_of_another_form_is_refused(url: str, why: str) -> None:
    with pytest.raises(AddressRefused, match=why):
        read_url(url, PUBLIC)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.example", Target("https", "a.example", 443, "/")),
        ("https://A.Example/x?y=a@b&z=%20", Target("https", "a.example", 443, "/x?y=a@b&z=%20")),
        ("https://a.example?q", Target("https", "a.example", 443, "/?q")),
        ("https://xn--bcher-kva.example/", Target("https", "xn--bcher-kva.example", 443, "/")),
        ("https://my_hook.a-b.example:443/", Target("https", "my_hook.a-b.example", 443, "/")),
        ("https://8.8.8.8/", Target("https", "8.8.8.8", 443, "/", "8.8.8.8")),
        ("https://[2606:4700:0::1111]/", Target("https", "2606:4700::1111", 443, "/", "2606:4700::1111")),
    ],
)
def test_a_url_is_read_in_one_way(url: str, target: Target) -> None:
    assert read_url(url, PUBLIC) == target
    assert read_url(target.url, PUBLIC) == target


@given(st.text(max_size=60).map("https://".__add__) | st.text(max_size=40))
def test_any_text_is_read_or_refused_and_never_as_an_inner_address(text: str) -> None:
    target = None
    with suppress(AddressRefused):
        target = read_url(text, PUBLIC)
    if target is not None:
        assert target.port == 443
        assert target.scheme == "https"
        assert target.literal is None or allowed(target.literal)


def test_a_name_with_one_inner_address_is_refused_whatever_the_others_are() -> None:
    assert check_resolved(["8.8.8.8", "2606:4700::1111", "8.8.8.8"], PUBLIC, "https") == ("8.8.8.8", "2606:4700::1111")
    for found in (["8.8.8.8", "127.0.0.1"], ["::ffff:10.0.0.1"], ["fe80::1%eth0"], []):
        with pytest.raises(AddressRefused):
            check_resolved(found, PUBLIC, "https")


@pytest.mark.parametrize(
    ("location", "leads"),
    [
        ("/other?x", "https://a.example:8443/other?x"),
        ("https://b.example/", "https://b.example/"),
        ("http://10.20.0.1/", None),
        ("//b.example/", None),
        ("other", None),
        ("https://127.0.0.1/", None),
        ("", None),
    ],
)
def test_a_redirect_leads_to_a_path_or_a_whole_url_and_never_to_http(location: str, leads: str | None) -> None:
    asked = read_url("https://a.example:8443/hook", BANK)
    if leads is None:
        with pytest.raises(AddressRefused):
            read_location(location, asked, BANK)
    else:
        assert read_location(location, asked, BANK).url == leads


def test_no_refusal_has_the_path_or_the_user_of_a_url() -> None:
    for url in ("https://u:hunter2@a.example/", "https://a.example:22/hunter2", "http://a.example/hunter2"):
        with pytest.raises(AddressRefused) as refused:
            read_url(url, PUBLIC)
        assert "hunter2" not in str(refused.value)


def test_the_tables_overlap_with_no_address_that_is_given_out_for_use() -> None:
    assert not any(
        ip_address(text) in network
        for text in OUTER[:5]
        for network in SPECIAL
        if network.version == ip_address(text).version
    )
