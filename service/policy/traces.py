"""What spans of traces may hold of a debate beside names and numbers: the table [traces]."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Struct

from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import Key, whole

REDACTED = "[redacted]"
"""What stands where a pattern was found."""
PATTERNS_MAX, PATTERN_MAX = 50, 500
"""The most patterns, and characters of one."""


def _patterns() -> Key:
    def read(path: Path, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(value) > PATTERNS_MAX:
            raise WrongSetting(path, f"expected at most {PATTERNS_MAX} patterns, found {len(value)}")
        faults = Faults()
        for i, text in enumerate(value):
            with faults.noted():
                _check(text, (*path, i))
        faults.refuse()
        return value

    return Key("", tuple[str, ...], read, form="a list of regular expressions")


def _check(text: str, path: Path) -> None:
    """Refuse what is no pattern; one that is found in an empty text would stand between all letters."""
    wanted = f"expected a regular expression of 1 to {PATTERN_MAX} characters"
    if not 1 <= len(text) <= PATTERN_MAX:
        raise WrongSetting(path, f"{wanted}, found {len(text)}")
    try:
        empty = re.compile(text).search("")
    except re.error as error:
        raise WrongSetting(path, f"{wanted}, found one with a fault: {error}") from None
    if empty:
        raise WrongSetting(path, f"{wanted} that is not found in an empty text, found {text!r}")


class Traces(Struct, frozen=True, rename="camel"):
    """Whether the question and the replies stand in spans, and what is taken out of them first.

    Without ``content`` no word of a debate is in a span. Documents never are. A text is cut after it was redacted, so
    no part of what a pattern finds is left at its end.
    """

    content: bool = False
    """Whether spans have the question and the replies."""
    redact: Annotated[tuple[str, ...], _patterns()] = (
        r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+",
        r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b",
        r"\b\d(?:[ -]?\d){6,}\b",
    )
    """What is taken out: addresses of e-mail, numbers of accounts, and numbers of seven digits and more, unless others
    are named."""
    characters: Annotated[int, whole(1, 20_000)] = 4_000
    """The most characters of one text, from 1 to 20000. A reply has several."""

    def shown(self, text: str) -> str:
        """A text as a span has it."""
        for pattern in self.redact:
            text = re.sub(pattern, REDACTED, text)
        return text[: self.characters]


USUAL_TRACES = Traces()
"""What holds where the policy has no such table."""
