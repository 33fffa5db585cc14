r"""From a model's text to the typed reply of its seat, or to its fault in words that the model may read.

A text is read if it has one reading, and refused if it has two or none. Code repairs, completes and guesses nothing.

    the text                                                       is
    one JSON object                                                read
    a leading <think>, <thinking> or <reasoning> block             passed over, up to its first closing tag
    such a block without an end                                    refused: the beginning of the reply is unknown
    prose before or after the object, a Markdown fence around it   passed over, also a fence that is not closed
    braces in prose, as in {see above}                             prose: no name with a colon or in quotes follows
    two objects, in or out of fences                               refused, unless they are equal
    an object that breaks off or is not well-formed                refused, and the text with it: code does not search
                                                                   inside of it or after it
    an object after which a comma, a colon or a name goes on       refused: it was closed too early
    [object]                                                       read: the brackets are prose
    'object' or "object"                                           read without a backslash in it; with one, refused:
                                                                   the number of escapes is unknown
    {"reply": object}, {"response": object}, {"<seat>": object}    read, once: no reply has one member alone that is an
                                                                   object
    an object with a name twice                                    as `service.debate.replies.pruning` says
    single quotes, True, False, None, a comma before } or ]        read, as Python reads them, also mixed with JSON
    an apostrophe in a single-quoted string                        ends it; what cannot follow an end is refused
    curly quotes around strings, names without quotes              refused: where such a string ends is a guess
    tab, line feed, carriage return within a string                read as they stand; other control characters refused
    escapes of JSON, and \' \xhh \Uhhhhhhhh of Python              read; \/ only in double quotes: Python reads two
    half of a surrogate pair, NaN, Infinity, 007, 0x10             refused
    comments, ellipses, tuples, strings side by side               refused: a comment may stand for an omission
    a byte order mark before it, white space between tokens        passed over

A screener may be a guard model, which writes no JSON. Of its replies alone a word is read too (`guards`).

Members that the schema does not have are left out and named (`service.debate.replies.pruning`). The rest must be the
seat's reply to the letter: every required field, no number as a string, no null in the place of an array. It may have
a field ``seat`` that names the right kind of reply.

The work is bounded: at most `CHARACTERS_MAX` characters and `DEPTH_MAX` levels. Every character is read a fixed number
of times, because an object that has begun is either read to its end or makes the whole text unreadable.

The message of a refusal does not repeat the model's text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec

from service.debate.replies import REPLY_TYPES, Screening
from service.debate.replies.guards import guard_verdict
from service.debate.replies.pruning import TWICE, Kept, Misplaced, prune

CHARACTERS_MAX = 1_000_000
DEPTH_MAX = 64
ERROR_MAX = 500
"""The greatest length of a fault's message, in characters."""

_WRAPPERS = frozenset({"reply", "response"})
_SPEAKERS = {
    "panel.blind": "debater",
    "panel.deliberation": "debater",
    "panel.answer": "debater",
    "panel.accuracy": "adjudicator",
}
"""The speaker of a kind of reply, if the last part of the kind's name is not the speaker."""
_REASONING = re.compile(r"[\s\ufeff]*+<(think|thinking|reasoning)>", re.IGNORECASE)
_OBJECT = re.compile(r"\{\s*+(?:[}\"'“”‘’#]|/[/*]|[A-Za-z_]\w*+\s*+:)")
"""The beginning of an object or of an attempt at one: empty, a name in quotes or before a colon, a comment."""
_GOES_ON = re.compile(r"[\s\]}]*+(?:[,:]|\"[^\"\n]{0,99}+\"\s*+:|'[^'\n]{0,99}+'\s*+:)")
_SPACE = re.compile(r"\s*+")
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_WORD = re.compile(rf"(?:{'|'.join(_WORDS)})(?!\w)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?(?![\w.])", re.ASCII)
_PLAIN = {quote: re.compile(rf"[^{quote}\\\x00-\x08\x0b\x0c\x0e-\x1f]*+") for quote in ('"', "'")}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "\\": "\\", '"': '"', "'": "'"}
_CODES = {
    "x": re.compile(r"x([0-9A-Fa-f]{2})"),
    "u": re.compile(r"u([0-9A-Fa-f]{4})"),
    "U": re.compile(r"U([0-9A-Fa-f]{8})"),
}
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_LOW_HALF = re.compile(r"\\u([dD][c-fC-F][0-9A-Fa-f]{2})")
_PLACE = re.compile(r" - at `(\$[\w.\[\]]*)`\Z")


class _Unreadable(Exception):
    """The text has no reading or two; the message is the fault, with advice if the remedy is not plain."""


def decode_reply(kind: str, text: str) -> Kept | str:
    """The typed reply of a kind with what was left out of it, or its fault in at most `ERROR_MAX` characters of ours.

    Raises `KeyError` for a kind that has no reply type.
    """
    wanted = REPLY_TYPES[kind]
    if wanted is Screening and (word := guard_verdict(text)) is not None:
        return Kept(Screening(suspicious=word), worded=True)
    try:
        pruned, dropped, more = prune(kind, _unwrapped(kind, _only_object(text)))
        return Kept(msgspec.convert(pruned, type=wanted), dropped, more)
    except (_Unreadable, Misplaced) as unreadable:
        found = str(unreadable)
    except msgspec.ValidationError as error:
        found = _misfit(str(error))
    who = _speaker(kind)
    article = "an" if who[0] in "aeiou" else "a"
    return f"expected the reply of {article} {who} as one JSON object, found {found}"[:ERROR_MAX]


def object_of(kind: str, text: str) -> dict[str, Any] | None:
    """The one object of a text that may be no reply of its kind; ``None`` where it has no reading or two."""
    try:
        return _unwrapped(kind, _only_object(text))
    except _Unreadable:
        return None


def _speaker(kind: str) -> str:
    """The speaker of this kind of reply: ``stances.judge`` is given by a judge."""
    return _SPEAKERS.get(kind, kind.rpartition(".")[2])


def _misfit(error: str) -> str:
    """msgspec's message about a value that does not fit the type, without the values that it quotes."""
    place = _PLACE.search(error)
    said, at = (error[: place.start()], f" at `{place[1]}`") if place else (error, "")
    if said.startswith("Invalid enum value "):
        return f"a value{at} that is none of those that the schema names"
    if said.startswith("Invalid value "):
        return f"another name{at} than that of this kind of reply; leave that field out"
    if said.startswith("Object missing required field "):
        return f"no field {said.removeprefix('Object missing required field ')} in the object{at}"
    return f"a value{at} that does not fit: {said[:1].lower()}{said[1:]}"


def _unwrapped(kind: str, found: dict[str, Any]) -> dict[str, Any]:
    """The inner object, if the only member's name is reply, response, the seat or the kind of reply."""
    if len(found) == 1:
        ((name, inner),) = found.items()
        if name in _WRAPPERS | {kind, kind.rpartition(".")[2], _speaker(kind)} and isinstance(inner, dict):
            return inner
    return found


# -- finding the object


def _only_object(text: str) -> dict[str, Any]:
    """The one object at the top level of a text, without the text around it."""
    _refuse_size_and_halves(text)
    if plain := _plain(text):
        return plain
    at, found, known = _after_reasoning(text), None, b""
    while (start := text.find("{", at)) >= 0:
        if not _OBJECT.match(text, start):
            at = start + 1
            continue
        read, at = _object(text, start, 1)
        if _GOES_ON.match(text, at):
            raise _Unreadable(f"one that goes on after its end, at character {at}; close it once, at the very end")
        if text[start - 1 : start] in _PLAIN and text[at : at + 1] == text[start - 1] and "\\" in text[start:at]:
            raise _Unreadable("one within a string, with backslashes; give the object itself")
        # Compared as JSON, because to Python 1, 1.0 and True are equal.
        encoded = msgspec.json.encode(read, order="deterministic")
        if found is not None and encoded != known:
            raise _Unreadable("several objects that differ; give one, and no draft or example beside it")
        found, known = read, encoded
    if found is None:
        raise _Unreadable(f"no object in {len(text)} characters")
    return found


def _refuse_size_and_halves(text: str) -> None:
    if len(text) > CHARACTERS_MAX:
        raise _Unreadable(f"{len(text)} characters; at most {CHARACTERS_MAX} are read")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _Unreadable(f"half of a surrogate pair at character {error.start}") from None


def _plain(text: str) -> dict[str, Any] | None:
    """The object, if the whole text is one plain JSON object: ten times as fast as the reader below.

    A text that it does not accept may still be readable. For accepted texts both give the same, as a test shows.
    """
    if _HALF.search(text):
        return None
    try:
        read = _json.decode(text)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; raises if a name stands there twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name stands twice")
    return members


def _other(number: str) -> NoReturn:
    raise ValueError(f"{len(number)} characters are no whole number")


_json = json.JSONDecoder(object_pairs_hook=_once, parse_float=_other, parse_constant=_other)


def _after_reasoning(text: str) -> int:
    """Where the reply may begin: after the blocks in which open models think aloud."""
    at = 0
    while opening := _REASONING.match(text, at):
        closing = re.compile(rf"</{opening[1]}\s*+>", re.IGNORECASE).search(text, opening.end())
        if not closing:
            raise _Unreadable(f"a <{opening[1].lower()}> block without an end; give the object alone")
        at = closing.end()
    return at


# -- reading it: each function takes the place where a value begins, and returns the value and the place of its end


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _string(text, at)
        if text[at := _skip(text, at)] != ":":
            raise _malformed(":", at)
        value, at = _value(text, _skip(text, at + 1), depth + 1)
        fields[name] = TWICE if name in fields else value
        at = _after_item(text, at, "}")
    return fields, at + 1


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _after_item(text, at, "]")
    return items, at + 1


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > DEPTH_MAX:
        raise _Unreadable(f"more than {DEPTH_MAX} levels at character {at}")
    match text[at]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"' | "'":
            return _string(text, at)
        case _:
            pass
    if word := _WORD.match(text, at):
        return _WORDS[word[0]], word.end()
    if number := _NUMBER.match(text, at):
        whole = number[1] is None and number[2] is None
        return int(number[0]) if whole else float(number[0]), number.end()
    raise _malformed("a value", at)


def _string(text: str, at: int) -> tuple[str, int]:
    quote = text[at]
    if quote not in _PLAIN:
        raise _malformed("a string in straight quotes", at)
    parts = []
    at += 1
    while True:
        begun, at = at, _end(_PLAIN[quote], text, at)
        parts.append(text[begun:at])
        match text[at : at + 1]:
            case "":
                raise _cut_off()
            case "\\":
                part, at = _escape(text, at + 1, quote)
                parts.append(part)
            case end if end == quote:
                return "".join(parts), at + 1
            case _:
                raise _malformed("no control character in a string", at)


def _escape(text: str, at: int, quote: str) -> tuple[str, int]:
    """The text of an escape; ``at`` is after its backslash."""
    letter = text[at : at + 1]
    if letter in _ESCAPES:
        return _ESCAPES[letter], at + 1
    if letter == "/" and quote == '"':  # Python keeps this backslash
        return "/", at + 1
    code = _CODES[letter].match(text, at) if letter in _CODES else None
    if code is None:
        raise _malformed("an escape that JSON and Python know", at) if letter else _cut_off()
    point, at = int(code[1], 16), code.end()
    if 0xD800 <= point < 0xDC00 and (low := _LOW_HALF.match(text, at)):
        return chr(0x10000 + (point - 0xD800 << 10) + int(low[1], 16) - 0xDC00), low.end()
    if 0xD800 <= point < 0xE000 or point > 0x10FFFF:
        raise _malformed("a character of Unicode, not half of a pair,", at)
    return chr(point), at


def _after_item(text: str, at: int, closing: str) -> int:
    """Where the next item begins, or where the closing bracket stands; one comma may come before either."""
    at = _skip(text, at)
    if text[at] == ",":
        return _skip(text, at + 1)
    if text[at] != closing:
        raise _malformed(f", or {closing}", at)
    return at


def _skip(text: str, at: int) -> int:
    """Where the next token begins; raises at the end of the text, because the object is not complete."""
    at = _end(_SPACE, text, at)
    if at == len(text):
        raise _cut_off()
    return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _malformed(expected: str, at: int) -> _Unreadable:
    return _Unreadable(f"one that is not well-formed: expected {expected} at character {at}")


def _cut_off() -> _Unreadable:
    return _Unreadable("one that breaks off before its end; give it whole, and shorter if it must be")
