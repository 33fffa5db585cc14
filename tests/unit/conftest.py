"""Unit tests do no I/O: here a test may open no network socket at all, not even to this machine."""

import pytest


@pytest.fixture(autouse=True)
def _no_network(socket_disabled: None) -> None:
    """Refuse every socket but the pair of socket files that an event loop wakes itself with."""
