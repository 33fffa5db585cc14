"""Who reads the metrics of a process that knows no identities: this machine, and who shows the token."""

from __future__ import annotations

from typing import Any, cast

import pytest
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from service.errors import Forbidden, Unauthenticated
from service.web.metrics_door import MetricsDoor

TOKEN = "the-token-of-prometheus"
HANDLER = cast("BaseRouteHandler", None)


def asked(peer: str, host: str = "127.0.0.1:8322", *authorization: str, path: str = "/metrics") -> Any:
    """A request from an address."""
    headers = [(b"host", host.encode()), *((b"authorization", value.encode("latin-1")) for value in authorization)]
    scope = {"type": "http", "server": ("127.0.0.1", 8322), "client": (peer, 40_000), "headers": headers, "state": {}}
    scope["path_template"] = path
    return ASGIConnection(cast("Any", scope))


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "127.8.8.8"])
async def test_this_machine_reads_them_without_a_token(peer: str) -> None:
    for token in (None, TOKEN):
        await MetricsDoor(token).admit(asked(peer), HANDLER)


@pytest.mark.parametrize("name", ["forwarded", "via", "x-forwarded-for", "x-forwarded-proto", "x-real-ip"])
async def test_what_a_proxy_of_this_machine_passes_on_is_of_another_machine(name: str) -> None:
    """A proxy that rewrites Host would else give every machine the metrics."""
    passed_on = asked("127.0.0.1", "127.0.0.1:8322")
    passed_on.scope["headers"].append((name.encode(), b"10.0.0.7"))
    with pytest.raises(Forbidden):
        await MetricsDoor(None).admit(passed_on, HANDLER)


@pytest.mark.parametrize("peer", ["10.0.0.7", "192.0.2.2", "fd00::2", "2001:db8::1"])
async def test_another_machine_reads_them_with_the_token_alone(peer: str) -> None:
    await MetricsDoor(TOKEN).admit(asked(peer, "signer.svc:8323", f"Bearer {TOKEN}"), HANDLER)
    for door, expected in ((MetricsDoor(None), Forbidden), (MetricsDoor(TOKEN), Unauthenticated)):
        with pytest.raises(expected):
            await door.admit(asked(peer), HANDLER)
        with pytest.raises(expected):
            await door.admit(asked(peer, "localhost", "Bearer another-token-of-16"), HANDLER)
    with pytest.raises(Forbidden, match="set GAINSAY_METRICS_TOKEN for this process"):
        await MetricsDoor(None).admit(asked(peer, "localhost", f"Bearer {TOKEN}"), HANDLER)


@pytest.mark.parametrize(
    "authorization",
    [
        (),
        ("",),
        ("Bearer",),
        ("Bearer ",),
        (TOKEN,),
        (f"Basic {TOKEN}",),
        (f"Bearer {TOKEN[:-1]}",),
        (f"Bearer {TOKEN}x",),
        (f"Bearer {TOKEN} x",),
        (f"Bearer {TOKEN}\x00",),
        (f"Bearer\t{TOKEN}",),
        ("Bearer \xff\xfe",),
        (f"Bearer {TOKEN}", f"Bearer {TOKEN}"),
        (f"Bearer {TOKEN}, Bearer x",),
    ],
)
def test_anything_but_the_token_opens_nothing(authorization: tuple[str, ...]) -> None:
    headers = [(b"authorization", value.encode("latin-1")) for value in authorization]

    assert not MetricsDoor(TOKEN).opens(headers)
    assert not MetricsDoor(None).opens(headers)


async def test_a_wrong_token_of_this_machine_is_refused_and_other_paths_are_not_looked_at() -> None:
    with pytest.raises(Unauthenticated, match="found another credential") as refused:
        await MetricsDoor(TOKEN).admit(asked("127.0.0.1", "localhost", "Bearer another-token-of-16"), HANDLER)
    await MetricsDoor(TOKEN).admit(asked("10.0.0.7", "x", path="/livez"), HANDLER)

    assert refused.value.presented
    assert TOKEN not in refused.value.detail


async def test_a_page_whose_name_was_made_to_lead_here_reads_nothing() -> None:
    for door in (MetricsDoor(None), MetricsDoor(TOKEN)):
        with pytest.raises((Forbidden, Unauthenticated)):
            await door.admit(asked("127.0.0.1", "rebound.example"), HANDLER)
