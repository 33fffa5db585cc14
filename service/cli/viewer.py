"""A written report in the desktop's own viewer: never through a shell, and never in the terminal itself."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from service.cli.new_file import CannotWrite

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def private_file(name: str) -> Path:
    """A file of this name in a new folder that only its owner can enter; raises `CannotWrite`.

    It stays: the viewer may read it long after the command has ended.
    """
    try:
        return Path(tempfile.mkdtemp(prefix="gainsay-")) / name
    except OSError as error:
        raise CannotWrite(
            f"expected a folder for temporary files, found: {error.strerror}; name a file by -o"
        ) from error


def show(path: Path, environment: Mapping[str, str] = os.environ) -> bool:
    """Open a file in the viewer of the desktop, or in BROWSER; say whether there is one that took it."""
    if sys.platform == "linux" and not any(environment.get(name) for name in _DISPLAYS):
        return False  # without a display the library would take a browser for terminals
    import webbrowser

    return webbrowser.open(path.absolute().as_uri())
