"""Every fault of a body that is JSON of another shape than its type, found by mending one after the other.

The decoder names the first fault alone. The value there is left out, or gets an empty text in its place where it is
required, and the rest is decoded again. ``NaN`` and ``Infinity``, which many encoders write, are no JSON, but a body
that is JSON beside them is treated like one with a wrong type there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import Raw

from service.errors import FAULTS_MAX, WrongShape, did_you_mean
from service.intake.wanted import known_members, known_values, listed

BYTES_MAX = 1 << 18
"""A larger body, long texts not counted, is decoded once and no more: it names one fault."""
VALUES_MAX = 1 << 16
"""A body of more values is treated in the same way: each takes forty times its bytes to be looked at."""
LEVELS_MAX = 16
"""No type has values deeper inside; what is there belongs to a member that is refused itself."""
SAID_MAX = 200
_TEXT_MAX = 200
_FOUND_MAX = 80
_PLACEHOLDER = ""

_PATH = re.compile(r" - at `(?P<key>key in )?`?\$(?P<path>[^`]*)`$")
_TYPES = re.compile(r"(?<=xpected `)[a-z |]+(?=`)|(?<=got `)[a-z |]+(?=`)")
_JSON_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_STEP = re.compile(r"\.(?P<member>[^.\[]+)|\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])")
_FORM = re.compile(r"""expected 'string' matching regex (['"])(?P<form>.*)\1""", re.DOTALL)
_SECRET = re.compile(r"gainsay_[0-9A-Za-z]{49}|eyJ[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)
"""An API key (docs/authentication.md) or a token (RFC 7515) in the place of something else."""
_MEMBER = re.compile(r"^Object (?:contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL)


class _NoNumber(str):
    """A name that stands for a number and is none in JSON."""

    __slots__ = ()


def has_few_values(raw: bytes) -> bool:
    """Whether a body has so few values that all its faults are looked for; commas in its texts count as well."""
    return sum(map(raw.count, (b",", b"[", b"{"))) <= VALUES_MAX


def parsed(raw: bytes) -> Any:
    """The JSON of a body, its numbers as they are written; raises `ValueError` or `RecursionError` where it is none."""
    return json.loads(raw.decode(), parse_float=_number, parse_int=_number, parse_constant=_NoNumber)


def shape_faults(tree: Any, type_: type[Any]) -> list[WrongShape]:
    """The faults of a parsed body, in the order in which the decoder finds them; ``tree`` is changed."""
    holder = {"": tree}
    faults = []
    for pointer, name in list(islice(_shortened(holder, ()), FAULTS_MAX)):
        faults.append(WrongShape(f"{name} is no number in JSON; send a number, or leave it out", pointers=(pointer,)))
        _mend(holder, pointer, 0)
    times = Counter(fault.pointers[0] for fault in faults)
    while len(faults) < FAULTS_MAX:
        raw = msgspec.json.encode(holder[""], enc_hook=str)  # of names that stand for numbers and were left in
        try:
            msgspec.json.decode(raw, type=type_)
        except msgspec.ValidationError as error:
            text, pointer = split_path(str(error))
            text = _belonging(type_).get(pointer) or _helpful(text, type_, holder[""], pointer)
        else:
            return faults
        if not times[pointer]:
            faults.append(WrongShape(text, pointers=(pointer,) if pointer else ()))
        if len(raw) > BYTES_MAX or not _mend(holder, pointer, times[pointer]):
            return faults
        times[pointer] += 1
    return faults


def _belonging(type_: type[Any]) -> dict[str, str]:
    """What to say of a member that a type refuses because it belongs elsewhere, by its pointer."""
    return {f"/{name}": text for name, text in getattr(type_, "belongs", {}).items()}


def _helpful(text: str, type_: type[Any], tree: Any, pointer: str) -> str:
    """The decoder's message with what was found or wanted, where it says one of them alone."""
    steps = _steps(pointer)
    if text.startswith("object contains unknown field"):
        names = known_members(type_, steps[:-1])
        meant = did_you_mean(steps[-1], names)
        return f"{text}{meant}" if meant or not names else f"{text}; known here: {listed(names)}"
    if text.startswith("invalid enum value") and (values := known_values(type_, steps)):
        found = _found(tree, steps)
        return f"expected one of {listed(values)}, found {_said(found)}{did_you_mean(str(found), values)}"
    if form := _FORM.fullmatch(text):
        return f"expected a text of the form {form['form']}, found {_said(_found(tree, steps))}"
    if text == "invalid decimal string":
        return f'expected a decimal number, as 0.75 or "0.75", found {_said(_found(tree, steps))}'
    return text


def _said(value: Any) -> str:
    """What was found, as far as a message repeats it: no key and no token, whatever member it was sent in."""
    said = value.decode() if isinstance(value, Raw) else json.dumps(value, ensure_ascii=False)
    said = _SECRET.sub("a credential, which is not repeated here", said)
    return said if len(said) <= _FOUND_MAX else f"{said[:_FOUND_MAX]}..."


def _found(tree: Any, steps: list[str]) -> Any:
    """The value at the end of a way through a body."""
    for step in steps:
        if isinstance(tree, dict):
            tree = tree.get(step)
        elif isinstance(tree, list) and step.isdecimal() and int(step) < len(tree):
            tree = tree[int(step)]
    return tree


def split_path(message: str) -> tuple[str, str]:
    """A message of msgspec without its path, and the path as a JSON Pointer (``""`` for the whole body)."""
    found = _PATH.search(message)
    text = message[: found.start()] if found else message
    pointer = ""
    for step in _STEP.finditer(found["path"] if found else ""):
        if step["any"]:  # some key of a mapping: msgspec does not say which
            break
        pointer += f"/{escape(step['member'] or step['index'])}"
    if member := _MEMBER.match(text):
        pointer += f"/{escape(member['name'])}"
    return _plain_message(text), pointer


def escape(step: str) -> str:
    """A step of a JSON Pointer."""
    return step.replace("~", "~0").replace("/", "~1")[:SAID_MAX]


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _number(written: str) -> Raw:
    return Raw(written.encode())


def _shortened(value: Any, way: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Shorten each long text inside, which changes no shape, and find the names that stand for numbers.

    ``way`` leads here, from the holder on. A pointer is made for what is found alone, and none for what is deep inside:
    those of all values of a body may be a thousand times as long as the body.
    """
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(inner, _NoNumber):
            yield "".join(f"/{escape(step)}" for step in (*way[1:], str(key))) if way else "", str(inner)
        elif isinstance(inner, str):
            value[key] = inner[:_TEXT_MAX]
        elif isinstance(inner, dict | list) and len(way) < LEVELS_MAX:
            yield from _shortened(inner, (*way, str(key)))


def _mend(holder: dict[str, Any], pointer: str, times: int) -> bool:
    """Take away what is at fault: a member, then, where it is required, its wrong value; then the list around it."""
    inside: Any = holder[""]
    *way, last = _steps(pointer) or [""]
    list_, name = None, ""
    for key in way:
        if isinstance(inside, dict) and key in inside:
            list_, name = inside, key
            inside = inside[key]
        elif isinstance(inside, list) and key.isdecimal() and int(key) < len(inside):
            inside = inside[int(key)]
        else:
            return False
    if isinstance(inside, dict) and pointer:
        if times > 1:
            return False
        if last in inside and not times:
            del inside[last]
        else:
            inside[last] = _PLACEHOLDER
        return True
    if isinstance(inside, list) and last.isdecimal():
        if not times:
            inside[int(last)] = _PLACEHOLDER
        elif list_ is not None:
            list_.pop(name, None)
        return list_ is not None
    return False


def _plain_message(text: str) -> str:
    """msgspec's message in this service's style: JSON's names of types, lower case, plain quotes, bounded length."""
    text = _TYPES.sub(lambda found: " | ".join(_JSON_TYPES.get(name, name) for name in found[0].split(" | ")), text)
    text = text.replace("`", "'")
    return (text[0].lower() + text[1:])[:SAID_MAX]
