"""The errors of a service that answers over HTTP, as the errors that commands print."""

from __future__ import annotations

from collections.abc import Sequence

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

    @classmethod
    def of(
        cls, detail: str, code: str, status: int, faults: Sequence[tuple[str, str]], request: str | None
    ) -> ServiceProblem:
        """The error with its faults, each a pointer and what is wrong there.

        What the answer says beside its faults would be lost, so a fault that is not about a field keeps the whole.
        """
        found = cls(detail, code=code, status=status, request=request)
        parts = [cls(words, code=code, status=status, pointers=(pointer,)) for pointer, words in faults]
        if parts and all(words in detail for _, words in faults) and _said(detail, len(parts)):
            found._parts = tuple(parts)
        return found


def _said(detail: str, faults: int) -> bool:
    """Whether a message says no more than its faults: it counts them where they are several."""
    return not detail[:1].isdigit() or detail.startswith(f"{faults} faults: ")
