"""The contract suites test the adapters that the service connects, each with its own vendor's side."""

from __future__ import annotations

import os

import pytest

from service import app
from service.debate.wires import WIRES as KINDS
from service.policy import SIMULATED
from tests.end_to_end.vendors.adapters import ADAPTERS, ENVIRONMENT, WIRES, connect, setting_for
from tests.fixtures.vendors import VENDORS, Wire, wire_of


def test_every_wire_behind_http_is_under_test_once() -> None:
    assert sorted(joined.kind for joined in ADAPTERS.values()) == sorted(set(KINDS) - set(SIMULATED))


@pytest.mark.parametrize("wire", WIRES)
async def test_the_adapter_under_test_is_the_one_that_the_service_connects(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setitem(os.environ, name, value)
    setting = setting_for(wire, "http://127.0.0.1:9")

    ours, theirs = connect(wire, "http://127.0.0.1:9"), app._CONNECT[setting.kind]("fake", setting)

    assert type(ours) is type(theirs) is ADAPTERS[wire].adapter
    await ours.close()
    await theirs.close()


@pytest.mark.parametrize("wire", WIRES)
def test_the_vendors_side_is_asked_at_the_path_of_the_adapter(wire: Wire) -> None:
    joined = ADAPTERS[wire]

    assert joined.before + joined.adapter.path == VENDORS[wire].path
    assert wire_of(VENDORS[wire].path) == wire
    assert sorted(joined.adapter.modes) == sorted(VENDORS[wire].modes)
