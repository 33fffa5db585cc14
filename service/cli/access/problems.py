"""The errors of a service that answers over HTTP, as the errors that commands print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self
from uuid import UUID

from service.errors import GainsayError

MESSAGE_MAX = 2_000
"""The most characters of a message; a service writes shorter ones."""


class ServiceProblem(GainsayError):
    """An error that a service answered, or that comes of its having given no answer.

    It has the code and the status that a command on the database would have. ``request`` is the id under which the
    service's log has it.
    """

    def __init__(
        self, detail: str, *, code: str, status: int, pointers: tuple[str, ...] = (), request: str | None = None
    ) -> None:
        super().__init__(detail[:MESSAGE_MAX], pointers=pointers)
        vars(self).update(code=code, status=status)  # of the class everywhere else
        self.request = request

    def later(self, seconds: float | None) -> Self:
        """The error with what the service said in Retry-After, if it did."""
        self.retry_after = None if seconds is None else math.ceil(seconds)
        return self

    @classmethod
    def of(
        cls, detail: str, code: str, status: int, faults: Sequence[tuple[str, str]], request: str | None
    ) -> ServiceProblem:
        """The error with its faults, each a pointer and what is wrong there.

        A message of several faults counts them, those too that are about no field.
        """
        found = cls(detail, code=code, status=status, request=request)
        pointers: dict[str, list[str]] = {}
        for pointer, words in faults:
            pointers.setdefault(words, []).append(pointer)
        said = _counted(detail)
        found.pointers = tuple(dict.fromkeys(pointer for pointer, _ in faults))
        if set(pointers) <= set(said) and len(said) > 1:
            found._parts = tuple(
                cls(words, code=code, status=status, pointers=tuple(pointers.get(words, ()))) for words in said
            )
        return found


def whole_id(given: str) -> str:
    """A debate's id as a service says it, in its usual spelling.

    Files are named by it, and it is printed: raises `ServiceProblem` for what is no id.
    """
    try:
        return str(UUID(given))
    except ValueError:
        raise ServiceProblem(
            f"expected the id of a debate from the service, found {given[:100]!r}", code="unexpected_answer", status=502
        ) from None


def _counted(detail: str) -> list[str]:
    """The faults of a message that counts them: ``2 faults: (1) this; (2) that``; otherwise the message alone."""
    head, _, rest = detail.partition(" faults: (1) ")
    if not (head.isdecimal() and rest):
        return [detail]
    found = []
    for number in range(2, int(head[:3]) + 1):
        words, divided, rest = rest.partition(f"; ({number}) ")
        if not divided:
            return [detail]
        found.append(words)
    return [*found, rest]
