"""The words, numbers and signs of a folded text, without the dress that printing, Markdown and HTML put around them.

    passed over    punctuation, marks of Markdown (emphasis, headings, lists, tables, block quotes), plain
                   tags of HTML, ™ ® ©, geometric bullets; `punctuation` lists the places in which they count
    markup         the target of a link, a tag of HTML with attributes: may be left out, but not changed
    one token      a word with its apostrophes, low lines and combining marks; a number with its decimal point, colon or
                   slash and without its thousands separators; each character of a script that writes no spaces
    a sign         currency signs, % § ? @ & / + < > = ~ ^ before or between words, a minus or a dash beside digits,
                   superscripts and fractions, any other character but punctuation: they count like words

A hyphen inside a word separates two tokens: "third-party" and "third party" are the same. HTML entities count as their
characters.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from service.checks.citations.text.fold import Folded, fold
from service.checks.patterns import lazily


class TextTokens(NamedTuple):
    """Tokens in the order of the text, with their offsets in the folded text."""

    texts: list[str]
    starts: list[int]
    ends: list[int]

    def part(self, first: int, last: int) -> TextTokens:
        """The tokens from one index up to another."""
        return TextTokens(self.texts[first:last], self.starts[first:last], self.ends[first:last])


def _ranges(category: str, start: int, stop: int) -> str:
    """The inside of a character class with all characters of a category (or a group of them)."""
    found, first = [], -1
    for c in range(start, stop + 1):
        inside = c < stop and unicodedata.category(chr(c)).startswith(category)
        if inside and first < 0:
            first = c
        elif not inside and first >= 0:
            found.append(f"\\U{first:08x}-\\U{c - 1:08x}")
            first = -1
    return "".join(found)


_MARK = _ranges("M", 0x300, 0xFE30)
_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts that write no spaces: each character is a token."""
_APOSTROPHE = r"(?:(?:[*_]{1,3}|')'(?=s\b)|'|&(?:#39|#x27|apos|rsquo);)"
_LETTER = rf"[^\W\d_{_ALONE}²³¹¼-¾⁰-₎⅐-↉①-⓿]"
_WORD = rf"{_LETTER}(?:{_LETTER}|[\d{_MARK}])*(?:(?:{_APOSTROPHE}|(?:\\?_)+)(?:{_LETTER}|[\d{_MARK}])+)*"
_NUMBER = r"(?:(?<![\w.)\]])\.)?\d+(?:(?:,\d{2}(?!\d))*(?:,\d{3}(?!\d))+)?(?:[.:/]\d+)*"
_TARGET = (
    r"(?:[a-z][a-z0-9+.]{1,12}:|[#/]|\.{1,2}/|[\w-]{1,80}/)[^\s()]{0,1000}|[\w./-]{1,200}\.(?:md|html?)[^\s()]{0,200}"
)
_TAG = r"</?(?:b|i|em|strong|u|br|p|span|sup|sub|code|a|li|ul|ol|td|tr|th|table|tbody|thead|div|h[1-6]|pre|font|hr|img)"
_ATTRIBUTE = (
    r"(?:class|id|name|style|href|src|align|valign|width|height|colspan|rowspan|color|size|face|target|rel|lang|dir)="
    r"(?:\"[^\"<>]{0,300}\"|'[^'<>]{0,300}'|[^\s\"'<>]{1,300})"
)
"""The attributes that a tag may have: attributes with invisible text are refused, because it could be invented."""
_ENTITY = r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d{0,2});"
_DASH = r"(?<=\d)-(?=\d)|(?<=\d )-(?= \d)|(?<![\w)\]-])-(?=[.$€£¥]?\d)"
_SIGN = r"[$%?@&+<=>/]|#(?=\w)|(?<=\w)#|[~^](?=[\w$€£])|(?<=\d)\*(?=\d)|[^\x00-\x7f]"
_TOKEN = lazily(
    rf"({_WORD}|[{_ALONE}])|({_NUMBER})|"
    rf"(\]\((?:{_TARGET})(?: \"[^\"]{{0,200}}\")?\)|{_TAG}(?: {_ATTRIBUTE}){{1,12}} ?/?>)|"
    rf"{_TAG} ?/?>|[=~]{{3,}}|({_ENTITY})|({_DASH})|({_SIGN})"
)
_WORD_OR_NUMBER = lazily(rf"{_WORD}|{_NUMBER}")
_URL = r"(?:(?:https?|ftp|mailto):|#|/)[^\s()\"']{0,300}"
_ADDRESS = lazily(rf"\]\({_URL}\)|</?a(?: href=[\"']?{_URL}[\"']?)? ?>")
_BROKEN = lazily(r"- (?:> ?)*")
"""The text between the parts of a word that a line's end hyphenates; the next line may be one of a block quotation."""
_WRAPPING = ">" + " \t\r\"'“”„‟‘’«»*_&;\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad\xa0"
"""The characters that may stand before the mark of a block quotation on its line."""
_NUMBERED = lazily(r"(?:\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+[.)]?)\s+[\"“*_]*[^\W\da-z_]")
"""The number of a clause before its first words."""
_BEGINS_AMOUNT = lazily(r"\d|[$€£¥-]|\.\d")
_PASSED_CATEGORIES = ("P", "Z", "Cc")


def read_tokens(folded: Folded, start: int = 0, end: int | None = None) -> TextTokens:
    """The tokens of a folded text between two offsets."""
    text = folded.text
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        kind = match.lastindex
        if kind is None:
            continue
        token = match.group()
        if kind == 1:
            token = token if token.isalnum() else _word(token)
        elif kind == 2:
            token = token.replace(",", "") if "," in token else token
        elif kind in (4, 6):
            token = _entity(token) if kind == 4 else token
            if not token or _is_passed(token) or is_block_quotation(folded, match.start(), token):
                continue
        elif kind == 3 and token[0] == "]" and not _closes_link(text, match.start()):
            for word in _WORD_OR_NUMBER.finditer(text, match.start(), match.end()):
                texts.append(word.group())
                starts.append(word.start())
                ends.append(word.end())
            continue
        texts.append(token)
        starts.append(match.start())
        ends.append(match.end())
    return TextTokens(texts, starts, ends)


def _closes_link(text: str, at: int) -> bool:
    """Whether a closing bracket has an opening one before it, with the words of a link between them."""
    opening = text.rfind("[", max(0, at - 400), at)
    return opening >= 0 and text.find("]", opening, at) < 0 and any(map(str.isalnum, text[opening:at]))


def is_markup(token: str) -> bool:
    """Whether a token is the target of a link or a tag of HTML, which readers do not see."""
    return token[0] in "]<" and len(token) > 1


def is_address(token: str) -> bool:
    """Whether markup holds only the target of a link, and no words for a reader."""
    return _ADDRESS.fullmatch(token) is not None


def join_broken(tokens: TextTokens, folded: Folded, is_word: Callable[[str], bool]) -> TextTokens:
    """The same tokens, but the two parts of a word that a line break hyphenates are one if the whole is a word."""
    texts, starts, ends = tokens
    if not starts or folded.text.find("- ", starts[0], ends[-1]) < 0:
        return tokens
    joined = TextTokens([], [], [])
    for text, start, end in zip(texts, starts, ends, strict=True):
        if joined.texts and folded.text[start - 1] in " >" and _BROKEN.fullmatch(folded.text, joined.ends[-1], start):
            whole = joined.texts[-1] + text
            stem = whole.partition("'")[0]
            if stem.isalpha() and is_word(stem):
                joined.texts[-1], joined.ends[-1] = whole, end
                continue
        joined.texts.append(text)
        joined.starts.append(start)
        joined.ends.append(end)
    return joined


def _word(text: str) -> str:
    text = text.replace("\\", "")
    if "&" not in text and "*" not in text and "''" not in text and "_'" not in text:
        return text
    return re.sub(_APOSTROPHE, "'", text)


@lru_cache(maxsize=1 << 10)
def _entity(text: str) -> str:
    plain = html.unescape(text)
    return "" if plain == text else fold(plain).text.strip()


@lru_cache(maxsize=1 << 12)
def _is_passed(sign: str) -> bool:
    """Whether a sign is punctuation or dress, which is passed over."""
    if sign.isascii():
        return sign in "!\"#'()*,-.:;[\\]^_`{|}~"
    c = sign[0]
    if c in "§‰‱′″":
        return False
    return c in "™®©℠ـ" or "\u25a0" <= c <= "\u25ff" or unicodedata.category(c).startswith(_PASSED_CATEGORIES)


def is_block_quotation(folded: Folded, at: int, sign: str = ">") -> bool:
    """Whether a sign is the mark of a block quotation: only such marks stand before it on its line."""
    if sign != ">":
        return False
    origin = folded.reach(at, at + 1)[0]
    text = folded.original
    before = text[max(0, origin - 40) : origin]
    line = before.rpartition("\n")[2]
    if line.strip(_WRAPPING) or not ("\n" in before or origin < 40):
        return False
    after = text[origin + 1 : origin + 80].lstrip(_WRAPPING)
    if not _BEGINS_AMOUNT.match(after) or _NUMBERED.match(after):
        return True
    # "> 5 days" alone could mean "more than": another line of the same block must show that it is a quotation.
    return _is_of_block(text, origin)


def _is_of_block(text: str, at: int) -> bool:
    """Whether the line before or after that of an offset is one of a block quotation too."""
    above = text[max(0, at - 2000) : at].rpartition("\n")[0].rpartition("\n")[2]
    end = text.find("\n", at, at + 2000)
    below = text[end + 1 : end + 40] if end >= 0 else ""
    return any(line.lstrip(_WRAPPING[1:])[:1] == ">" for line in (above, below))
