"""Faults of the policy file: where each stands, what is wrong, and how all of them come together in one refusal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

Path = tuple[str | int, ...]
"""Where something stands in the file: keys, and places in lists."""

FILL_IN = "FILL IN"
"""What `gainsay policy init` writes in the place of a value that it cannot know. No key takes it."""
MISSING = "this key is missing, and it has no default"


class WrongSetting(ValueError):
    """Something in the policy file: where it stands, and what is wrong with it. Secrets are never shown.

    ``meant`` is the place that an unknown key probably stands for: what depends on that place is not judged.
    """

    def __init__(self, path: Path, message: str, meant: Path | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.meant = meant

    @property
    def faults(self) -> tuple[WrongSetting, ...]:
        """Every fault: this one alone."""
        return (self,)


class WrongSettings(WrongSetting):
    """Several faults at once; place and message are those of the first."""

    def __init__(self, faults: Iterable[WrongSetting]) -> None:
        self._faults = tuple(faults)
        super().__init__(self._faults[0].path, self._faults[0].message)

    @property
    def faults(self) -> tuple[WrongSetting, ...]:
        """Every fault, in the order in which they were found."""
        return self._faults


class Faults:
    """Collects the faults of a file, so that one refusal lists all of them."""

    def __init__(self) -> None:
        self.found: list[WrongSetting] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what is raised inside, and go on after it."""
        try:
            yield
        except WrongSetting as wrong:
            self.found.extend(wrong.faults)

    def note(self, path: Path, message: str, meant: Path | None = None) -> None:
        """Note one fault."""
        self.found.append(WrongSetting(path, message, meant))

    def touch(self, *places: Path) -> bool:
        """Whether a fault lies at one of these places, in it, or around it."""
        return any(
            _related(at, place) for fault in self.found for at in (fault.path, fault.meant) if at for place in places
        )

    def refuse(self) -> None:
        """Raise what was noted."""
        if self.found:
            raise self.found[0] if len(self.found) == 1 else WrongSettings(self.found)


def _related(one: Path, other: Path) -> bool:
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]
