"""Characters that act on a terminal or a reader and are not seen, and their two spellings.

    [U+202E]    in what people read: pages, reports, tables, lines of a log
    \\u202e      in JSON, where both spellings are the same value

`PATTERN` is a fixed table, so that the same text is spelled alike under every version of Unicode.
"""

from __future__ import annotations

import re
from typing import Final

PATTERN: Final = (
    "\\x00-\\x1f\\x7f-\\x9f"  # controls: C0 with ESC, DEL, C1 with CSI and OSC in one character
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners and fillers of scripts
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, bidirectional controls and isolates
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # blanks with a name, variation selectors, a byte order mark
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff"  # halves of pairs, private use, no characters
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # controls of notations
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff"  # tags, more selectors, more private use
)
"""The inside of a class of regular expressions."""
_UNSEEN = re.compile(f"[{PATTERN}]")
_JOINED = (
    "\u0600-\u061b\u061d-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1800-\u180a\u1810-\u18af"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
)
_PICTURES = "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_NEEDED = re.compile(
    f"(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}])"  # Persian, Hindi and others write words with joiners
    f"|(?<=[{_JOINED}])\u200d(?![^\\s])|(?<=[\u1800-\u18af])[\u180b-\u180d\u180f]"
    f"|(?<=[{_PICTURES}])\ufe0f?\u200d(?=[{_PICTURES}])|(?<=[{_PICTURES}#*0-9])[\ufe0e\ufe0f]"
    f"|(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Where a script or a picture needs such a character: there it is left as it is, one at a place."""
_SHOWN = re.compile(f"(?P<needed>{_NEEDED.pattern})|{_UNSEEN.pattern}")
_BY_NUMBER = "[U+{:04X}]"


def visible(text: str, *, kept: str = "") -> str:
    """The text with each unseen character as its number, such as ``[U+202E]``; those of ``kept`` stay as they are."""
    if not _UNSEEN.search(text):
        return text

    def spelled(found: re.Match[str]) -> str:
        one = found.group()
        return one if found["needed"] or one in kept else _BY_NUMBER.format(ord(one))

    return _SHOWN.sub(spelled, text)


def escape_json(data: bytes) -> bytes:
    """JSON in UTF-8 with each unseen character in the spelling of JSON; its value is the same.

    Outside of strings JSON is plain ASCII, and JSON itself spells the controls up to U+001F so.
    """
    if data.isascii() and b"\x7f" not in data:
        return data
    return _UNSEEN_IN_JSON.sub(_spelled, data.decode()).encode()


_PLAIN = " -~\n\r\t\xae-\u034e\u0350-\u061b\u3165-\ud7ff"
"""Characters of common scripts that are never spelled anew, in few ranges: most of a text is passed over by them."""
_UNSEEN_IN_JSON = re.compile(f"[^{_PLAIN}](?<=[{PATTERN}])")


def _spelled(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"
