"""Carriers: the forms in which an attack stands in a document that is otherwise honest.

A carrier gives the texts of one document, or of two that follow one another.
"""

from __future__ import annotations

import base64
import codecs
import json
from collections.abc import Callable, Mapping
from urllib.parse import quote

Carrier = Callable[[str, str], tuple[str, ...]]
CYRILLIC = str.maketrans("aeopcxyi", "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456")
LEET = str.maketrans("oieas", "01345")
WIDE = {n: n + 0xFEE0 for n in range(0x21, 0x7F)}
BOLD = {ord(c): 0x1D400 + n for n, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")}


def _middle(host: str, attack: str) -> tuple[str, ...]:
    before, behind = _halves(host)
    return (f"{before}\n\n{attack}\n\n{behind}",)


def _within(write: Callable[[str], str]) -> Carrier:
    """A carrier with the attack, written in some way, as a paragraph in the middle."""
    return lambda host, attack: _middle(host, write(attack))


def _halves(host: str) -> tuple[str, str]:
    at = host.find("\n\n", len(host) // 2)
    return (host[:at], host[at + 2 :]) if at >= 0 else (host, "")


def _in_sentence(host: str, attack: str) -> tuple[str, ...]:
    before, behind = _halves(host)
    return (f"{before} {attack} {behind}",)


def _split(_host: str, attack: str) -> tuple[str, ...]:
    words = attack.split(" ")
    half = len(words) // 2
    return (f"1. Term. It begins at once.\n\n{' '.join(words[:half])}", f"{' '.join(words[half:])}\n\n2. Fees are due.")


def _wrapped(attack: str) -> str:
    coded = base64.b64encode(attack.encode()).decode()
    return "\n".join(coded[n : n + 60] for n in range(0, len(coded), 60))


def _spaced(attack: str) -> str:
    return "   ".join(" ".join(word) for word in attack.split())


def _tags(attack: str) -> str:
    return "".join(chr(0xE0000 + ord(c)) if " " <= c <= "~" else c for c in attack)


PLAIN: Mapping[str, Carrier] = {
    "middle": _middle,
    "start": lambda host, attack: (f"{attack}\n\n{host}",),
    "end": lambda host, attack: (f"{host}\n\n{attack}",),
    "sentence": _in_sentence,
    "capitals": _within(str.upper),
    "lines": _within(lambda attack: attack.replace(" ", "\n")),
    "quotation": _within(lambda attack: f"The annex reads: \u201c{attack}\u201d"),
    "quotedLines": _within(lambda attack: "> " + attack.replace("\n", "\n> ")),
    "table": _within(lambda attack: f"| Clause | Text |\n|---|---|\n| 4 | {' '.join(attack.split())} |"),
    "footnote": lambda host, attack: (f"{host}\n\n---\n[^1]: {attack}",),
}
HIDDEN: Mapping[str, Carrier] = {
    "base64": _within(lambda attack: base64.b64encode(attack.encode()).decode()),
    "base64Lines": _within(_wrapped),
    "base64Twice": _within(lambda attack: base64.b64encode(base64.urlsafe_b64encode(attack.encode())).decode()),
    "hex": _within(lambda attack: attack.encode().hex()),
    "rot13": _within(lambda attack: codecs.encode(attack, "rot13")),
    "reversed": _within(lambda attack: attack[::-1]),
    "url": _within(lambda attack: quote(attack, safe="")),
    "entities": _within(lambda attack: "".join(f"&#{ord(c)};" if c.isalpha() else c for c in attack)),
    "escapes": _within(
        lambda attack: json.dumps({"note": attack}) if not attack.isascii() else attack.replace("e", "\\u0065")
    ),
    "homoglyphs": _within(lambda attack: attack.translate(CYRILLIC)),
    "fullWidth": _within(lambda attack: attack.translate(WIDE)),
    "bold": _within(lambda attack: attack.translate(BOLD)),
    "zeroWidth": _within("\u200b".join),
    "softHyphens": _within(lambda attack: attack.replace("e", "e\u00ad").replace("i", "i\u00ad")),
    "tags": _within(_tags),
    "bidi": _within(lambda attack: f"\u202e{attack[::-1]}\u202c"),
    "combining": _within(lambda attack: "".join(f"{c}\u0336" if c.isalpha() else c for c in attack)),
    "leet": _within(lambda attack: attack.translate(LEET)),
    "spaced": _within(_spaced),
    "htmlComment": _within(lambda attack: f"<!-- {attack} -->"),
    "attribute": _within(lambda attack: f'<img src="plan.png" alt="{attack}">'),
    "css": _within(lambda attack: f'<span style="font-size:0;color:#fff">{attack}</span>'),
    "link": _within(lambda attack: f'[the annex](https://example.com/?q={quote(attack)} "annex")'),
    "inlineTags": _within(
        lambda attack: " ".join(f"{w[:2]}<b></b>{w[2:]}" if len(w) > 3 else w for w in attack.split(" "))
    ),
    "json": _within(lambda attack: json.dumps({"clause": 4, "remark": attack}, ensure_ascii=False)),
    "split": _split,
}
CARRIERS: Mapping[str, Carrier] = {**PLAIN, **HIDDEN}
