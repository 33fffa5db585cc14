"""What a process of ours takes of its framework."""

import subprocess
import sys

from litestar.plugins import PluginProtocol
from litestar.plugins.pydantic import PydanticPlugin

from service.web.application import Application

STARTED = """
import sys
from service.web.api import HANDLERS
from service.web.application import Application
Application(route_handlers=HANDLERS, openapi_config=None)
print("pydantic" in sys.modules)
"""


def test_no_plugin_is_added_for_types_of_other_libraries() -> None:
    given: list[PluginProtocol] = [PydanticPlugin()]

    assert not [one for one in Application([], openapi_config=None).plugins if isinstance(one, PydanticPlugin)]
    assert given[0] in Application([], openapi_config=None, plugins=given).plugins


def test_the_endpoints_are_made_without_importing_pydantic() -> None:
    said = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, check=True, timeout=60)

    assert said.stdout == "False\n"
