"""The sentence of a decider's words that answers: found as a reader would, whole, whatever a model puts around it.

    in the words                                      what is done
    a heading, a rule, a label ("Answer:")            left out; a heading that is a whole sentence stays
    emphasis, code marks, links, a ">" for a quote    the words in them stay
    a list                                            its first item; after words that end in ":", all its items
    a sentence that only frames ("The question is     passed over, as long as another one follows
    whether ..."), a question, "Here is my answer:"
    "Yes." alone, or another bare answer              joined with the sentence after it
    nothing but white space and marks of layout       an empty text

Where a sentence ends is in `sentence_ends`. The rules know English and German, and of Japanese and Chinese what ends a
sentence and a few words. What they do not know stays as it stands. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Literal, NamedTuple

from service.report.marks import CLOSE, MARK, OPEN
from service.report.sentence_ends import ends_of

READ = 4_000
"""How many characters of a text are read; a sentence that goes beyond them is overlong in any case."""
_STOPS = (".", "!", "。", "！")


class Block(NamedTuple):
    """A paragraph, a heading or an item of a list, on one line."""

    kind: Literal["text", "heading", "item"]
    words: str


def answer_sentence(text: str) -> str:
    """The sentence that answers, on one line; the marks of code in the rest of the text stay behind it."""
    found = _sentences(_led(_blocks(_beginning(text))))  # read no further than the answer goes
    first = next(found, "")
    telling = (said for said in chain((first,), found) if said and not _frames(said))
    kept = next(telling, first)
    if _BARE.fullmatch(kept) and (more := next(telling, "")):
        kept = f"{kept}{'' if kept.endswith(_STOPS) else '.'} {more}"
    left = [mark for mark in dict.fromkeys(MARK.findall(text)) if mark not in kept]
    return " ".join([f"{kept}…" if kept else "", *left]).strip() if left else kept


def _beginning(text: str) -> str:
    """The first characters of a text, without a part of a mark of code."""
    cut = text[:READ]
    opened = cut.rfind(OPEN)
    return cut[:opened] if opened > cut.rfind(CLOSE) else cut


# What stands around a sentence.

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)[\s#]*")
_RULE = re.compile(r"\s*(?:[-=*_~]\s*){3,}|\s*`{3,}.*|\s*~{3,}.*")
_BOLD_LINE = re.compile(r"\s*(?:\*\*(?=\S)([^*]+)\*\*|__(?=\S)([^_]+)__)\s*:?\s*")
_BULLET = re.compile(r"\s*[-*+•‣]\s+(?=\S)(.*)")
_NUMBER = re.compile(r"\s*\(?(\d{1,2})[.)]\s+(?=\S)(.*)")
_QUOTED = re.compile(r"^\s*(?:>\s?)+")
_EMPHASIS = (
    (re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])(.+?)(?<=[^\s*])\1(?![\w*])"), r"\2"),
    (re.compile(r"(?<!\w)__(?=[^\s_])(.+?)(?<=[^\s_])__(?!\w)"), r"\1"),
    (re.compile(r"(`+)([^`]+)\1"), r"\2"),
    (re.compile(r"!?\[([^\[\]]+)\]\((?:https?://|#|/)[^\s()]*\)"), r"\1"),
)
_MARKS = frozenset("*_`[")
"""Emphasis, code marks and links have one of these."""
_EMPTY_EMPHASIS = re.compile(r"[*_`#>\s]*")
_LABEL = re.compile(
    r"(?:(?:my|the|final|short|direct|overall|in)\s+)*"
    r"(?:answer|verdict|conclusion|synthesis|summary|result|decision|recommendation|ruling|short|brief|tl;dr"
    r"|antwort|urteil|ergebnis|fazit|schlussfolgerung|zusammenfassung|entscheidung|empfehlung|kurz|回答|答え|結論|要約|判断|答案|结论)"
    r"\s*[:：]\s*|here(?:['’]s| is| are) (?:my|the|our)\b[^:.]{0,60}:\s*",
    re.IGNORECASE,
)


def _blocks(text: str) -> list[Block]:
    """The paragraphs, headings and items of a text; lines of one paragraph are joined."""
    lines = [_QUOTED.sub("", line, count=1) for line in text.splitlines()]
    numbered = {int(m[1]) for line in lines if (m := _NUMBER.fullmatch(line))} >= {1, 2}
    found: list[Block] = []
    goes_on = False
    for line in lines:
        kind, words, joins = _read(line, numbered=numbered)
        words = _plain(words)
        if not words:
            goes_on = False
        elif joins and goes_on:
            found[-1] = found[-1]._replace(words=f"{found[-1].words} {words}")
        else:
            found.append(Block(kind, words))
            goes_on = kind != "heading"
    return found


def _read(line: str, *, numbered: bool) -> tuple[Literal["text", "heading", "item"], str, bool]:
    """The kind of a line, its words, and whether it may continue the line before it."""
    if _RULE.fullmatch(line):
        return "text", "", False
    if found := _HEADING.fullmatch(line):
        return "heading", found[1], False
    if found := _BOLD_LINE.fullmatch(line):
        return "heading", found[1] or found[2], False
    if found := _BULLET.fullmatch(line):
        return "item", found[1], False
    if numbered and (found := _NUMBER.fullmatch(line)):
        return "item", found[2], False
    return "text", line, True


def _plain(words: str) -> str:
    """A line without its emphasis; empty if it is nothing else."""
    if _EMPTY_EMPHASIS.fullmatch(words):
        return ""
    if not _MARKS.isdisjoint(words):
        for marked, inner in _EMPHASIS:
            words = marked.sub(inner, words)
    return " ".join(words.split())


def _led(blocks: list[Block]) -> Iterator[Block]:
    """The blocks without labels and headings; the items of a list that is announced stand with its announcement."""
    body = [b for b in blocks if b.kind != "heading" or _whole(b.words)] or blocks
    at = 0
    while at < len(body):
        words = _without_label(body[at].words)
        at += 1
        if words.endswith((":", "：")) and not _frames(words):
            items = []
            while at < len(body) and body[at].kind == "item":
                items.append(body[at].words.rstrip(" .;,"))
                at += 1
            words = f"{words} {'; '.join(items)}." if items else words
        if words:
            yield Block("text", words)


def _whole(heading: str) -> bool:
    """Whether a heading is a whole sentence."""
    return heading.endswith((".", "!", "。", "！")) and len(heading) > 12


def _without_label(words: str) -> str:
    found = _LABEL.match(words)
    return words[found.end() :] if found else words


def _sentences(blocks: Iterable[Block]) -> Iterator[str]:
    """The sentences of the blocks; what ends in a colon goes on with the sentence after it."""
    opened = ""
    for block in blocks:
        # A mark of code is no part of a sentence's grammar.
        masked = MARK.sub(lambda mark: "-" * len(mark[0]), block.words)
        start = 0
        for end in chain(ends_of(masked), (len(masked),)):
            said = " ".join(filter(None, (opened, block.words[start:end].strip())))
            start = end
            opened = said if said.endswith((":", "：")) and not _frames(said) else ""
            if said and not opened:
                yield said
    if opened:
        yield opened


# What answers nothing.

_BARE = re.compile(
    r"(?:yes|no|in part|only in part|partly|partially|it depends|not entirely|mostly|ja|nein|teilweise|zum teil|jein"
    r"|はい|いいえ|一部|是|否|不是|oui|non|sí)[.!。！]*",
    re.IGNORECASE,
)


def is_bare(said: str) -> bool:
    """Whether a sentence says yes, no or in part and nothing else, so that it answers only beside its question."""
    return bool(_BARE.fullmatch(MARK.sub("", said).strip()))


_FRAMING = re.compile(
    r"(?:(?:the|this|our|a|central|core|key|main|only|real|first|legal|factual)\s+)+"
    r"(?:question|issue|matter|point|dispute|debate|case|task|proposition|decision)s?(?:\s+\S+){0,8}?\s+"
    r"(?:is|was|are|were|concerns?|asks?|asked|remains)(?:\s+(?:then|thus|therefore|simply|now))*\s+"
    r"(?:whether|if|how|which|what|who|when|where)\b"
    r"|(?:the debate|this debate|this case|the case|the question|this question)\s+(?:concerns|is about|asks)\b"
    r"|(?:we|i)\s+(?:were|was|am|are|have been)\s+asked\b"
    r"|at issue is\b|it (?:must|has to|is to) be (?:decided|determined|considered) (?:whether|if)\b"
    r"|below (?:is|are)\b"
    r"|(?:let me|let us|i will|we will|i have|we have)\s+(?:now\s+)?"
    r"(?:weigh|weighed|review|reviewed|consider|considered|read|evaluate|evaluated)\b"
    r"|(?:die|diese|zentrale|eigentliche|strittige)\b.{0,60}\b(?:frage|streitfrage)\b.{0,60}"
    r"\b(?:ist|lautet|war)\b.{0,30}\b(?:ob|wie|welche[rs]?|was)\b"
    r"|(?:zu (?:klären|prüfen|entscheiden)|gefragt|fraglich) (?:ist|wird|war), (?:ob|wie|welche|was)\b"
    r"|es geht (?:hier )?(?:um die frage|darum),? (?:ob|wie|welche|was)\b"
    r"|.{0,40}(?:問題|争点|問い|論点)(?:は|となるのは).{0,200}(?:かどうか|か否か|べきか|か)(?:である|です|ということである)?[。]?$",
    re.IGNORECASE,
)


def _frames(said: str) -> bool:
    """Whether a sentence only says what is asked, or that an answer comes."""
    return said.endswith(("?", "？")) or bool(_FRAMING.match(MARK.sub("", said)))


# What became of a proposition.

_SAYS_SO: Mapping[str, re.Pattern[str]] = {
    "upheld": re.compile(r"the proposition (?:stands|holds|is (?:upheld|right|correct|true))", re.IGNORECASE),
    "modified": re.compile(
        r"the proposition (?:(?:stands|holds|is upheld),? (?:only )?in (?:part|a (?:narrower|changed|modified) form)"
        r"|is modified|has to be (?:modified|narrowed))",
        re.IGNORECASE,
    ),
    "rejected": re.compile(
        r"the proposition (?:is (?:rejected|wrong|false|not (?:upheld|right|correct|true|supported|made out))"
        r"|fails|falls|does not (?:stand|hold)|cannot (?:stand|be upheld))",
        re.IGNORECASE,
    ),
}
"""How sentences begin that say a conclusion themselves: in front of one of these the lead would say the same twice."""
_REASON = re.compile(
    r"[\s.!。]*$|\s*[:–—]\s"
    r"|,?\s+(?:because|since|given|in (?:view|light) of|on the grounds?|for the(?:se)? reasons?)\b",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"[;；?？]|\b(?:but|however|although|though|yet|except|unless|until|only|whereas|while|nevertheless|nonetheless"
    r"|still|despite|otherwise|subject to|provided|proposition|reject\w*|uph[eo]ld\w*|overturn\w*|modif\w*|narrow\w*"
    r"|fails?|falls?|wrong|false"
    r"|(?:not|never|cannot|no longer)\b.{0,40}\b(?:holds?|stands?|right|correct|true|supported|made out))\b",
    re.IGNORECASE,
)


def says_so(conclusion: str, said: str) -> bool:
    """Whether a sentence says that the proposition has come to this conclusion, and then at most why.

    In doubt it does not: its words never take the place of the conclusion that the decider gave.
    """
    found = _SAYS_SO[conclusion].match(said)
    return found is not None and only_gives_reasons(said[found.end() :])


def only_gives_reasons(rest: str) -> bool:
    """Whether the rest of a sentence is its end, or reasons without a sign that it turns against what it began with."""
    words = MARK.sub("", rest)
    return bool(_REASON.match(words)) and not _TURN.search(words)
