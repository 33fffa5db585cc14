"""Faults of the policy file: where each stands, what is wrong, and how all of them come together in one refusal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher, get_close_matches

Path = tuple[str | int, ...]
"""Where something stands in the file: keys, and places in lists."""

FILL_IN = "FILL IN"
"""What `gainsay policy init` writes in the place of a value that it cannot know. No key takes it."""
MISSING = "this key is missing, and it has no default"
CLOSE = 0.6
"""The least likeness of a name to a known one for which it is taken as a slip in writing it."""
_CONTAINED = 3
"""A known name with so many characters that is inside of a wrong one, or around it, is probably meant."""


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


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a wrong one was probably meant to be, or ``None``."""
    plain = {_plain(word): word for word in known}
    wrong = _plain(name)
    if wrong in plain:
        return plain[wrong]
    close = get_close_matches(wrong, plain, n=1, cutoff=CLOSE)
    inside = [word for word in plain if min(len(word), len(wrong)) >= _CONTAINED and (word in wrong or wrong in word)]
    best = max([*close, *inside], key=lambda word: SequenceMatcher(None, wrong, word).ratio(), default=None)
    return None if best is None else plain[best]


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where a known name is near, else nothing."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")
