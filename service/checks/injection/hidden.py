"""How a passage is written in the stored text, where a reader does not see it as plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.checks.injection.characters import BIDI, SOFT_HYPHEN, TAGS, ZERO_WIDTH
from service.checks.patterns import lazily

HIDDEN: Mapping[str, str] = {
    "base64": "encoded in base64",
    "hex": "encoded in hexadecimal digits",
    "rot13": "with each letter moved by thirteen",
    "reversed": "from its end to its beginning",
    "split": "over the border of two texts",
    "tags": "in invisible tag characters",
    "zeroWidth": "with characters of no width",
    "bidi": "with characters that change the direction of writing",
    "softHyphen": "with soft hyphens",
    "homoglyphs": "with letters that look like others",
    "combining": "with marks on its letters",
    "url": "encoded as in a URL",
    "entities": "in entities of HTML",
    "escapes": "in escapes of a string",
    "quotedPrintable": "encoded as in e-mail",
    "spaced": "with its letters set apart",
    "hyphenated": "with words broken at the ends of lines",
    "leet": "with digits in the place of letters",
    "css": "in markup that is not shown",
    "htmlComment": "in a comment",
    "attribute": "in an attribute of markup",
    "link": "in the target, title or text of a link or image",
}
"""Every way of hiding that a finding may name, and what it is in words."""
AROUND = 300
"""How many characters before a passage are looked at for the markup that it stands in."""
_SIGNS: Mapping[str, re.Pattern[str]] = {
    "homoglyphs": lazily(
        "[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z]|[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u2100-\u214f\u24b6-\u24e9\U0001f130-\U0001f189]"
    ),
    "combining": lazily("[A-Za-z][\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff][A-Za-z\u0300-\u036f]"),
    "url": lazily("(?:%[0-9A-Fa-f]{2}){2}|%[0-9A-Fa-f]{2}[A-Za-z]+%[0-9A-Fa-f]{2}"),
    "entities": lazily("(?:&#x?[0-9A-Fa-f]{1,7};){2}|&#x?[0-9A-Fa-f]{1,7};[a-z]"),
    "escapes": lazily(r"\\u[0-9A-Fa-f]{4}|\\u\{|\\x[0-9A-Fa-f]{2}"),
    "quotedPrintable": lazily(r"(?:=[0-9A-F]{2}){2}|=\r?\n"),
    "spaced": lazily(r"(?<!\w)\w(?:[ .\u00b7_*-]\w(?!\w)){3,}"),
    "hyphenated": lazily(r"[^\W\d_]-[ \t]{0,8}\r?\n[ \t>]{0,8}[^\W\d_]"),
    "leet": lazily(r"[A-Za-z][0134578@$][A-Za-z]|(?<!\w)[0134578@$][a-z]{2}"),
}
_UNSHOWN = lazily(
    r"display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden|font-size\s{0,4}:\s{0,4}0|opacity\s{0,4}:\s{0,4}0(?!\.)"
    r"|color\s{0,4}:\s{0,4}(?:#f{3,6}\b|white|transparent)|\shidden\b|content\s{0,4}:|text-indent\s{0,4}:\s{0,4}-"
    r"|(?:left|top)\s{0,4}:\s{0,4}-\d",
    re.IGNORECASE,
)


def written(text: str, span: tuple[int, int]) -> str:
    """The name of how a passage is written; empty where it stands there in plain words."""
    words = text[slice(*span)]
    return (
        _by_characters(words)
        or next((name for name, sign in _SIGNS.items() if sign.search(words)), "")
        or _by_markup(text, span)
    )


def _by_characters(words: str) -> str:
    if words.isascii():
        return ""
    held = set(words)
    if any(ord(c) in TAGS for c in held):
        return "tags"
    for name, characters in (("zeroWidth", ZERO_WIDTH), ("bidi", BIDI), ("softHyphen", {SOFT_HYPHEN})):
        if held & characters:
            return name
    return ""


def _by_markup(text: str, span: tuple[int, int]) -> str:
    """The markup around the beginning of a passage that a reader of the page does not see."""
    before, behind = text[max(0, span[0] - AROUND) : span[0]], text[span[0] : span[1] + 4]
    for opened, closed in (("<!--", "-->"), ("/*", "*/"), ("[//]: #", "\n"), ("[comment]: #", "\n")):
        if (at := before.rfind(opened)) >= 0 and closed not in before[at:]:
            return "htmlComment"
        if opened in behind:
            return "htmlComment"
    whole = before[before.rfind("\n\n") + 1 :] + behind
    if ("<" in whole and _UNSHOWN.search(whole)) or (
        "{" in before and "content" in before and "}" not in before[before.rfind("{") :]
    ):
        return "css"
    if before.rfind("<") > before.rfind(">") and "=" in before[before.rfind("<") :]:
        return "attribute"
    link = max(before.rfind("]("), before.rfind("!["))
    return "link" if link >= 0 and "\n" not in before[link:] and ")" not in before[link:] else ""
