"""What a comparison of texts is given: a reply, and all that its seat was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from service.debate.replies import Reply
from service.debate.replies.texts import texts_of
from service.debate.self_naming import masked
from service.debate.turns import TurnId


class Shown(Protocol):
    """A reply, and all that its seat was shown (`service.checks.given.ReadTexts`)."""

    @property
    def reply(self) -> Reply:
        """The reply whose texts are compared."""
        ...

    @property
    def titles(self) -> Sequence[str]:
        """The documents' titles."""
        ...

    @property
    def asked(self) -> Sequence[str]:
        """The question, and the caller's texts."""
        ...

    @property
    def shown(self) -> Mapping[TurnId, Reply]:
        """The replies, by turn, without struck arguments."""
        ...

    @property
    def marked(self) -> Sequence[str]:
        """The marked passages of these replies, and of the author's former take."""
        ...

    @property
    def voices(self) -> Mapping[TurnId, str]:
        """The labels under which they were shown."""
        ...

    @property
    def author(self) -> str | None:
        """The seat of the reply."""
        ...

    @property
    def sides(self) -> Mapping[str, str]:
        """The sides that may win, by each name under which a text may speak of one."""
        ...

    @property
    def agreed(self) -> bool | None:
        """Whether a panel reached consensus; nothing where that is not measured, or of no concern to the seat."""
        ...

    @property
    def names(self) -> frozenset[str]:
        """The names of models that are masked where a shown reply names itself."""
        ...


def words_of_reply(reply: Reply, names: frozenset[str]) -> str:
    """The texts of a reply, and those again in which later seats read a mask in place of its own name."""
    said = [text for _, text in texts_of(reply)]
    return "\n\n".join([*said, *(read for text in said if (read := masked(text, names)) != text)])
