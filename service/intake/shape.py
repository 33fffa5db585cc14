"""Every fault of a body that is JSON of another shape than its type, found by mending one after the other.

The decoder names the first fault alone. The value there is left out, or gets an empty text in its place where it is
required, and the rest is decoded again. ``NaN`` and ``Infinity``, which many encoders write, are no JSON, but a body
that is JSON beside them is treated like one with a wrong type there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import msgspec
from msgspec import Raw

from service.errors import FAULTS_MAX, WrongShape

BYTES_MAX = 1 << 18
"""A larger body, long texts not counted, is decoded once and no more: it names one fault."""
SAID_MAX = 200
_TEXT_MAX = 200
_PLACEHOLDER = ""

_PATH = re.compile(r" - at `(?P<key>key in )?`?\$(?P<path>[^`]*)`$")
_TYPES = re.compile(r"(?<=xpected `)[a-z |]+(?=`)|(?<=got `)[a-z |]+(?=`)")
_JSON_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_STEP = re.compile(r"\.(?P<member>[^.\[]+)|\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])")
_MEMBER = re.compile(r"^Object (?:contains unknown|missing required) field `(?P<name>.*)`")


class _NoNumber(str):
    """A name that stands for a number and is none in JSON."""

    __slots__ = ()


def parsed(raw: bytes) -> Any:
    """The JSON of a body, its numbers as they are written; raises `ValueError` or `RecursionError` where it is none."""
    return json.loads(raw.decode(), parse_float=_number, parse_int=_number, parse_constant=_NoNumber)


def shape_faults(tree: Any, type_: type[Any]) -> list[WrongShape]:
    """The faults of a parsed body, in the order in which the decoder finds them; ``tree`` is changed."""
    holder = {"": tree}
    faults = []
    for pointer, name in _shortened(holder, ""):
        faults.append(WrongShape(f"{name} is no number in JSON; send a number, or leave it out", pointers=(pointer,)))
        _mend(holder, pointer, 0)
    times = Counter(fault.pointers[0] for fault in faults)
    while len(faults) < FAULTS_MAX:
        raw = msgspec.json.encode(holder[""])
        try:
            msgspec.json.decode(raw, type=type_)
        except msgspec.ValidationError as error:
            text, pointer = split_path(str(error))
            text = _belonging(type_).get(pointer, text)
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


def _number(written: str) -> Raw:
    return Raw(written.encode())


def _shortened(value: Any, pointer: str) -> list[tuple[str, str]]:
    """Shorten each long text inside, which changes no shape, and list the names that stand for numbers."""
    found = []
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        at = pointer if pointer == "" and key == "" else f"{pointer}/{escape(str(key))}"
        if isinstance(inner, _NoNumber):
            found.append((at, str(inner)))
        elif isinstance(inner, str):
            value[key] = inner[:_TEXT_MAX]
        elif isinstance(inner, dict | list):
            found += _shortened(inner, at)
    return found


def _mend(holder: dict[str, Any], pointer: str, times: int) -> bool:
    """Take away what is at fault: a member, then, where it is required, its wrong value; then the list around it."""
    inside: Any = holder[""]
    *way, last = pointer.split("/")[1:] or [""]
    list_, name = None, ""
    for step in way:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(inside, dict) and key in inside:
            list_, name = inside, key
            inside = inside[key]
        elif isinstance(inside, list) and key.isdecimal() and int(key) < len(inside):
            inside = inside[int(key)]
        else:
            return False
    last = last.replace("~1", "/").replace("~0", "~")
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
