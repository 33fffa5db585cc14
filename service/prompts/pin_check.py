"""The last check before a call: the messages on the wire carry all pinned texts and no other instruction.

Every step hashes or parses the bytes that are about to go out, after the provider's adapter has encoded them:

    1  roles are house, data or seat
    2  one house message, the first, and its bytes have the pinned hash of the system prompt
    3  one seat message, the last
    4  the seat message is the join of pinned texts, each with its pinned hash, in the order that the turn asks for
    5  between the two there is only data, and all of it stands between fences of one mark

The contents of a data message are not compared: a document may quote a prompt. The request's recorded hash covers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import zip_longest

import msgspec
from msgspec import Raw

from service.errors import PromptMismatch
from service.prompts.fence import blocks, fence
from service.prompts.manifest import PinnedFile, Prompts, mismatch
from service.prompts.request import Message
from service.prompts.undocumented import plain_id

SEPARATOR = "\n\n"
_MARK = slice(2, 18)
"""The place of the sixteen digits in a fenced message's first line."""
PINNED_MAX = 1_024
"""How many pinned texts are known by their hash; then all are forgotten and hashed again."""
_pinned = dict[str, str]()
FENCED_MAX = 16_384
"""How many cases of nothing but fenced data are known by their hash; then all are forgotten and parsed again."""
_fenced = set[bytes]()


def check_pins(
    prompts: Prompts, messages: Sequence[Message], pins: Sequence[str] | None = None, system: str = "house"
) -> None:
    """Raise `PromptMismatch` unless these messages, read back from the wire, match the pins.

    ``system`` is the id of the system prompt. ``pins`` are the ids that the turn asks for. Without them, the seat
    message's own pins are used if the wire keeps them; then the check cannot distinguish one pinned seat from another.
    """
    _roles(messages)
    house, *data, seat = messages
    _house(prompts, house, system)
    _seat(prompts, seat, tuple(pins) if pins is not None else seat.pins)
    for n, message in enumerate(data, start=2):
        (_case if n == 2 else _parse)(n, message)


def check_schema_pin(prompts: Prompts, seat: str, found: Raw) -> None:
    """Raise `PromptMismatch` unless the reply schema on the wire is the seat's pinned one: descriptions steer too."""
    if not prompts.has_schema(seat, found):
        entry = prompts.entry(f"schema.{seat}")
        raise PromptMismatch(_on_the_wire(entry, sha256(found).hexdigest()))


def check_kept(asked: bool, found: bool | None) -> None:
    """Raise `PromptMismatch` if a body tells a vendor otherwise than asked whether to keep the case in its cache."""
    if found not in (None, asked):
        marked = ("unmarked", "marked")
        raise PromptMismatch(
            f"expected the case on the wire {marked[asked]} for the vendor's cache, found it {marked[not asked]}; the "
            "provider's adapter or something behind it changed the request, and a cache has prices of its own"
        )


def _roles(messages: Sequence[Message]) -> None:
    """Steps 1 to 3, as far as they concern roles and their order."""
    found = [message.role for message in messages]
    if len(found) < 2 or found[0] != "house" or found[-1] != "seat" or set(found[1:-1]) - {"data"}:
        raise PromptMismatch(
            f"expected the messages house, data..., seat on the wire, found {', '.join(found) or 'none'}; the "
            "provider's adapter or something behind it changed the request: make no call before that is understood"
        )


def _house(prompts: Prompts, message: Message, system: str) -> None:
    entry = prompts.entry(system)
    _require(entry, message.content)
    if message.pins not in ((), (system,)):
        raise PromptMismatch(
            f"expected the first message to claim the pin {system!r}, found {', '.join(message.pins)!r}"
        )


def _seat(prompts: Prompts, message: Message, pins: tuple[str, ...]) -> None:
    """Step 4: cut the message where the pinned texts end, and hash each piece."""
    entries = [prompts.entry(pin) for pin in pins]
    kinds = [entry.kind for entry in entries]
    if kinds != ["prompt", *["fragment"] * (len(kinds) - 1)] or plain_id(pins[0]) == "house":
        raise PromptMismatch(f"expected a seat's prompt and then fragments in the last message, found {list(pins)}")
    if message.pins not in ((), pins):
        raise PromptMismatch(f"expected the last message to claim the pins {list(pins)}, found {list(message.pins)}")
    rest = message.content
    for entry, following in zip_longest(entries, entries[1:]):
        end = len(prompts.text(entry.id)) if following else len(rest)
        _require(entry, rest[:end])
        if following and not rest.startswith(SEPARATOR, end):
            raise PromptMismatch(
                f"expected a blank line and {following.id!r} after {entry.id!r} on the wire, found neither"
            )
        rest = rest[end + len(SEPARATOR) :]


def _require(entry: PinnedFile, text: str) -> None:
    """Raise `PromptMismatch` unless a text has the pinned hash of an entry.

    A text that was hashed here and had it is kept, so that an equal one, character by character, is not hashed again.
    """
    if _pinned.get(entry.sha256) == text:
        return
    if (found := _hash(text)) != entry.sha256:
        raise PromptMismatch(_on_the_wire(entry, found))
    if len(_pinned) >= PINNED_MAX:
        _pinned.clear()
    _pinned[found] = text


def _case(n: int, message: Message) -> None:
    """Step 5 for the first data, which is the case: it stands in every request of a debate, and is parsed once.

    The others differ from request to request, and to hash them takes as long as a part of parsing them.
    """
    text = sha256(message.content.encode("utf-8", "surrogatepass")).digest()
    if text not in _fenced or message.pins:
        _parse(n, message)
        if len(_fenced) >= FENCED_MAX:
            _fenced.clear()
        _fenced.add(text)


def _parse(n: int, message: Message) -> None:
    """Step 5: nothing but fenced blocks of one mark; outside a fence a text would be an order."""
    rest = message.content.strip()
    mark = rest[_MARK]
    try:
        for block in blocks(rest):
            fenced = fence(mark, block)
            if not rest.startswith(fenced):
                break
            rest = rest[len(fenced) :].lstrip()
    except (ValueError, msgspec.MsgspecError):
        pass  # an open fence or bad attributes: the rest of the text then fails the comparison
    if rest or message.pins:
        raise PromptMismatch(
            f"expected only fenced data in message {n} on the wire, found {len(rest)} characters outside every fence"
            + (f" and the pins {list(message.pins)}" if message.pins else "")
            + "; make no call before it is understood where they come from"
        )


def _on_the_wire(entry: PinnedFile, found: str) -> str:
    return f"on the wire, {mismatch(entry, found)}"


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
