"""Unit tests do no I/O: here a test may open no network socket at all, not even to this machine."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let pytest-socket refuse every socket but the pair of socket files that an event loop wakes itself with."""
    item.add_marker("disable_socket")
