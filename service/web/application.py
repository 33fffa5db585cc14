"""Litestar as every process of ours uses it."""

from __future__ import annotations

from litestar import Litestar
from litestar.plugins import PluginProtocol

__all__ = ["Application"]


class Application(Litestar):
    """Litestar without the plugins that it adds for the types of other libraries.

    No setting leaves them out, and for one of them it imports pydantic wherever that is installed. Our handlers take a
    request and give a response, so none of them would have anything to do.
    """

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        """Only those that were given."""
        return plugins
