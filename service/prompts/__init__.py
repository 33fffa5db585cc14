"""Prompts: pinned texts, the layout of a request, and the schemas of replies.

`Prompts` holds every pinned file of this image and checks it on loading. `verify_wire` checks the messages of each call
again before they are sent. `render` lays out a turn's request from a debate's facts. To change a prompt, add a new
version of its file (``critic.v2.md``) and record it with ``gainsay prompts pin``.
"""

from __future__ import annotations

from service.prompts.manifest import (
    DIRECTORY,
    Change,
    PinChange,
    PinnedFile,
    Prompts,
    PromptsUnwritable,
    pin,
    verify_files,
)
from service.prompts.pin_check import check_kept, check_pins, check_schema_pin

__all__ = [
    "DIRECTORY",
    "Change",
    "PinChange",
    "PinnedFile",
    "Prompts",
    "PromptsUnwritable",
    "check_kept",
    "check_pins",
    "check_schema_pin",
    "pin",
    "verify_files",
]
