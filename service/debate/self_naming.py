"""What a reply says of itself: which model it is, and who made it. Other seats are shown ``[name]`` in its place.

Seats know each other by neutral labels, so that an argument counts and not the name behind it (DebateTalk,
*Deliberation Rounds*; Flow State, *anonymizeTranscript*). This rule finds a name in a phrase of one of these forms:

    I am GPT-4o; I'm a language model by OpenAI; my name is Claude      the first person
    As Claude, I ...; I, the model trained by Open AI, ...; speaking as Gemini
    I was trained by Google; OpenAI, which made me; my developers at Anthropic
    This answer was written by Grok; Claude here: ...
    Sincerely, Gemini; -- Claude (at the end); Author: GPT-4o           a signature
    Me: Claude; Your faithful Claude (at the end); | author | Claude |   the same

A phrase in quotation marks or in a quoted line is another's words, and stays. So does every other name: that of a
party, of a document, of a vendor that is argued about, and a guess about another seat ("Model B sounds like Claude"),
which is no knowledge; `guesses` finds it for the notices. A possessive with another noun ("as OpenAI's customer, I") is
no name of the speaker.

The phrases are looked for in a folded text: no case, marks, zero widths, Markdown emphasis, HTML tags or comments;
entities as the characters that they stand for; Cyrillic and
Greek look-alikes as Latin letters; a known name also with a blank in it or between its letters. What it does not see:
a description without a name ("the lab in San Francisco"), digits for letters, a phrase that is wholly quoted, another
language than the few of `_I_AM` and `_AS`.

The rule is part of the layout of requests, whose version a debate seals: it follows from recorded replies and the seats
of ``debate.started`` alone, and a verifier renders the same bytes again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import unescape
from typing import Any, NamedTuple

from service.debate.entries import DebateStarted
from service.debate.model_names import known_names, names_in
from service.debate.neutral import INVISIBLE_CHARACTERS
from service.debate.whose import by_tenant

MASK = "[name]"
"""What stands in the place of a name; at most two tokens, so that a shown reply stays within its bound."""

QUOTED_FIELDS = frozenset({"citations", "sourceId"})
"""The members of a reply that hold a document's words or ids; they are never masked."""


class SelfName(NamedTuple):
    """A name in a text: its code points (end exclusive) and its words there."""

    span: tuple[int, int]
    name: str


def masked_view(view: Any, started: DebateStarted) -> Any:
    """A reply as other seats are shown it: the same value with every self-naming masked, citations untouched."""
    return _masked(view, known_names(started))


def self_names(text: str, known: frozenset[str]) -> tuple[SelfName, ...]:
    """The names by which a text names its own author, in their order."""
    return _found(text, known)[0]


def masked(text: str, known: frozenset[str]) -> str:
    """A text with every self-naming masked."""
    for (start, end), _ in reversed(self_names(text, known)):
        text = text[:start] + MASK + text[end:]
    return text


def guesses(text: str, known: frozenset[str]) -> tuple[SelfName, ...]:
    """The names that a text gives to another seat, in their order."""
    return _found(text, known)[1]


def texts_of(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a reply that are its author's own words, each with its path: ``arguments[0].text``."""
    match value:
        case str():
            yield path, value
        case Mapping():
            for name, inner in value.items():
                if name not in QUOTED_FIELDS:
                    yield from texts_of(inner, f"{path}.{name}" if path else str(name))
        case list() | tuple():
            for i, inner in enumerate(value):
                yield from texts_of(inner, f"{path}[{i}]")
        case _:
            pass


def _masked(value: Any, known: frozenset[str]) -> Any:
    match value:
        case str():
            return masked(value, known)
        case dict():
            return {name: v if name in QUOTED_FIELDS else _masked(v, known) for name, v in value.items()}
        case list() | tuple():
            return [_masked(inner, known) for inner in value]
        case _:
            return value


# The folded text.

_DROPPED = frozenset("*_`~[]\\")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,40}>|<!--.{0,200}?-->", re.DOTALL)
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,10}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
_LOOKS_LIKE = {
    **dict(zip("авекмнорстухіїјѕԁԛԝһӏոօսցԍ", "abekmhopctyxiijsdqwhlnougg", strict=True)),
    **dict(zip("αβεηικμνορτυχω", "abenikmvoptuxw", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıłøɡ", "abcdefghijklmnoprstuvwyzilog", strict=True)),
    **dict.fromkeys("\u2018\u2019\u201b\u2032\u02bc", "'"),
    **dict.fromkeys('\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"', '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2013\u2014\u2015\u2e3a", "\u2014"),
}


_NAME = "\ue000"
"""What stands for each name in a folded text; the text itself has none, because private characters are dropped."""


class _Folded(NamedTuple):
    text: str
    origin: list[tuple[int, int]]
    """The code points of the original behind each character."""


def _fold(text: str) -> _Folded:
    tags = {i for tag in _TAG.finditer(text) for i in range(*tag.span())}
    folded, origin = list[str](), list[tuple[int, int]]()
    for char, span in _characters(text):
        for piece in () if span[0] in tags else _pieces(char):
            if piece == " " and folded and folded[-1] == " ":
                continue
            folded.append(piece)
            origin.append(span)
    return _Folded("".join(folded), origin)


def _characters(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The characters of a text with their places; an entity is the characters that it stands for."""
    done = 0
    for entity in _ENTITY.finditer(text):
        yield from ((text[i], (i, i + 1)) for i in range(done, entity.start()))
        yield from ((char, entity.span()) for char in unescape(entity.group()))
        done = entity.end()
    yield from ((text[i], (i, i + 1)) for i in range(done, len(text)))


def _named(folded: _Folded, names: list[tuple[int, int]]) -> _Folded:
    """The same text with one character for each name."""
    pieces, origin, last = list[str](), list[tuple[int, int]](), 0
    for start, end in names:
        pieces += [folded.text[last:start], _NAME]
        origin += [*folded.origin[last:start], (folded.origin[start][0], folded.origin[end - 1][1])]
        last = end
    return _Folded("".join([*pieces, folded.text[last:]]), [*origin, *folded.origin[last:]])


@lru_cache(maxsize=4_096)
def _pieces(char: str) -> tuple[str, ...]:
    """A character as it is compared; nothing where it only sets or hides letters."""
    if char == "\n":
        return ("\n",)
    if char in _DROPPED or char in INVISIBLE_CHARACTERS or unicodedata.category(char) in ("Cf", "Co"):
        return ()
    if char in _LOOKS_LIKE:
        return (_LOOKS_LIKE[char],)
    plain = unicodedata.normalize("NFKD", char).casefold()
    kept = [_LOOKS_LIKE.get(c, c) for c in plain if unicodedata.category(c) not in ("Mn", "Me", "Cf")]
    return tuple(" " if c.isspace() else c for c in kept)


# The phrases. Blanks of the tables stand for any number of blanks and line breaks; repetitions are bounded.

_ADVERB = (
    "(?:actually|really|just|only|simply|still|also|now|not|never|indeed|in fact|of course|being|currently|myself) "
)
_KIND = (
    "(?:a\\.?i\\.?|artificial intelligence|large|small|frontier|generative|foundation|reasoning|language|chat|neural) "
)
_NOUN = (
    f"(?:{_KIND}){{0,3}}(?:(?:language )?models?|assistants?|chatbots?|bots?|l\\.?l\\.?m\\.?s?|agents?|systems?"
    "|a\\.?i\\.?|versions?|instances?|variants?|members?|products?|debaters?|family|series|someone|something)"
)
_MADE = (
    "(?:(?:originally |first |initially )?(?:pre-?)?(?:made|trained|created|developed|built|designed|fine-?tuned"
    "|released|produced|powered|provided|deployed|hosted|run|owned)(?: and )?){1,3}"
)
_TEAM = (
    "(?:the )?(?:(?:team|people|engineers|researchers|folks|company|labs?|staff|family|line)(?: (?:at|of|called))? )?"
)
_MAKERS = (
    "(?:developers?|makers?|creators?|trainers?|training(?: data| process)?|pre-?training|engineers|designers|builders"
    "|guidelines|constitution|usage policies|usage policy|weights|architecture|model card|knowledge cut-?off)"
)
_CLOSING = (
    "(?:sincerely(?: yours)?|(?:(?:best|kind|warm|kindest) )?(?:regards|wishes)|yours(?: truly| sincerely| faithfully)?"
    "|respectfully(?: submitted)?(?: by)?|faithfully|cheers|signed(?: by)?)"
)
_DEVOTED = (
    "(?:faithful|humble|obedient|loyal|devoted|trusty|dear|friendly|own|sincere|respectful|truly|faithfully|sincerely|servant"
    "|friend|colleague|assistant|advisor|adviser|analyst|debater|critic)"
)
_YOURS = f"(?:ever )?yours?(?: ever| (?:most )?{_DEVOTED})*"
_LABEL = "(?:me|myself|i|self|(?:my )?name|model|(?:your |this )?(?:author|debater|speaker|seat|writer))"
_AUTHOR = "(?:author|model|signed(?: by)?|signature|name|written by|answered by|by|from|debater|speaker|me|i)"
_THIS = (
    "(?:(?:this|the present|my) (?:answer|response|reply|text|output|critique|rebuttal|ballot)"
    "|my (?:analysis|argument|opinion|review|statement|vote))"
)
_HOLDS = (
    "(?:think|believe|hold|say|find|conclude|argue|object|agree|disagree|dissent|maintain|submit|reply|answer|speak"
    "|write|decline)"
)
_OTHER = (
    "(?:(?:model|debater|statement|participant|seat|speaker) ?(?:[a-j]|\\d{1,2})"
    "|the (?:proposer|critic|rebuttal|moderator))"
)
_SEEMS = (
    "(?:(?:is|was|must|may|might|could|be|been|has|to|probably|likely|clearly|surely|seems|sounds|reads|writes|looks"
    "|appears|like|resembles|behaves|talks) ){1,5}(?:(?:by|from) )?"
)
_QUOTE = "[\"']?"


class _Speaker(NamedTuple):
    """The expressions for a name, and for a noun phrase that says who the speaker is, with what follows it."""

    name: str
    phrase: str
    whole: str


def _speaker() -> _Speaker:
    plain = f"{_QUOTE}{_NAME}"
    name = rf"{plain}(?!'s\b){_QUOTE}"
    alone = rf"{name}(?! (?:[a-z]+ )?(?:customers?|clients?|users?|staff|side)\b)"
    article = rf"(?:an?|the|your|our) {name} {_NOUN}|(?:the|your) {name}(?= ?(?:[,.;:!?)\n\u2014]|$))"
    owned = rf"{plain}'s (?:own )?(?:{_NOUN}[ ,]? ?{name}|{name}|{_NOUN})"
    called = "(?: called| named| known as)? (?:(?:that|which|who) (?:was|is|were) )?"
    noun = rf"(?:(?:an?|the|one of the|your) )?{_NOUN}{called}(?:{_MADE} ?)?(?:(?:by|from|at|of) )?{_TEAM}{name}"
    phrase = rf"(?:{_ADVERB}){{0,3}}(?:called |named |known as )?(?:{owned}|{noun}|{article}|{alone})"
    maker = rf"(?:{_MADE} ?)?(?:by|from|of|at) {_TEAM}{name}"
    tail = rf"(?: ?[,\u2014])? ?\(?(?:{noun}|{maker}|{name}(?= ?\)))\)?"
    return _Speaker(name, phrase, rf"{phrase}(?:{tail}){{0,3}}")


def _own(speaker: _Speaker) -> tuple[str, ...]:
    """The phrases in the first person."""
    name, _, whole = speaker
    worded = "(?:written|generated|given|produced|drafted|prepared)"
    by_my = rf"(?: team)?,?(?: ?\()?(?: (?:is|are|was|were|comes?|came))?(?: {_MADE})?(?: (?:by|at|from|of|in|with))?"
    was = "i(?: was| were| have been|'ve been| am|'m|, who was)"
    which = "(?:(?:which|who|that|has|have|had|also|originally) ){0,3}"
    return (
        rf"\b{_I_AM} {whole}",
        rf"\b{_AS} {whole} ?,? ?(?:\u2014 ?)?(?:i|my|me|we|our|ich|je|yo)\b",
        rf"\b(?:als|as) {whole} (?:\w+ )ich\b",
        rf"\b(?:speaking|writing|answering|replying|arguing|signing) as {whole}",
        rf"\b(?:i|me|myself) ?[,(\u2014] ?(?:as |being |that is,? )?{whole} ?[,)\u2014]",
        rf"\bmy (?:own |real |model |full )?(?:name|model|model name|family|identity) ?(?:is|,|:|=) ?{whole}",
        rf"\b(?:call me|it(?: is|'s) me,?) {whole}",
        rf"\bi (?:happen to be|go by|identify as|run on|come from|belong to|am based on|am part of) {whole}",
        rf"\bi (?:\w+ )?{_HOLDS} ?,? as {whole}(?= ?(?:[,.;:!?)\n]|$))",
        rf"\bmy (?:own )?{name} {_MAKERS}",
        rf"\blike (?:all |any |most |many )?(?:other )?{name} {_NOUN} ?,? (?:i|my)\b",
        rf"\b(?:we at {_TEAM}{name}|here at {_TEAM}{name} ?,? (?:we|i)\b)",
        rf"{whole} ?,? (?:that is|that's|which is) (?:me|i)\b",
        rf"\b{_NOUN} (?:writing|behind|giving|that wrote|who wrote) (?:this|these)(?: \w+)? is {whole}",
        rf"\bmy (?:own )?{_MAKERS}{by_my} ?{_TEAM}{name}",
        rf"\b{was} (?:{_ADVERB}){{0,2}}{_MADE}(?: on [^.;\n]{{1,60}}?)? (?:by|at|from|in) {_TEAM}{whole}",
        rf"{name} ?,? {which}{_MADE} me(?= ?(?:[,.;:!?)\n]|$)| (?:and|to|so|with|as|for|in|on)\b)",
        rf"\b{_THIS} (?:is|was|has been|comes|came) (?:{_ADVERB})?(?:{worded} )?(?:by|from) {whole}",
        rf"\bthis is {whole} (?:speaking|here|writing|answering|again)\b",
        rf"(?:\A|[.!?\n]) ?{whole} ?,? (?:here|speaking)(?= ?(?:[,.:!;\u2014]|$|\Z|\n))",
        rf"(?:\A|[.!?\n]) ?{_LABEL} ?[:=] ?{whole}(?= ?(?:[,.;!?)\n\u2014]|$|\Z))",
        rf"\A ?{name} ?: (?=(?:i|my|as)\b)",
        rf"\A ?(?:answer|response|reply|analysis|opinion|critique|statement|view) (?:by|from|of) {whole} ?:",
    )


def _signed(speaker: _Speaker) -> tuple[str, ...]:
    """The forms of a signature."""
    whole = speaker.whole
    return (
        rf"\b{_CLOSING} ?[,.:;]? ?(?:[-\u2014]{{1,3}} ?)?{whole}[ .!)]*(?=\n|$)",
        rf"(?:\A|\n|[.!?)] ) ?(?:\u2014|-{{2,3}}) ?{whole}[ .!)\n]*\Z",
        rf"\n ?- ?{whole}[ .!)\n]*\Z",
        rf"[.!?)]\s*\n ?{whole}[ .!\n]*\Z",
        rf"(?:\A|\n|[.!?)] ) ?(?:[-\u2014]{{1,3}} ?)?{_YOURS},? {whole}[ .!)\n]*\Z",
        rf"(?:\A|\n) ?\|(?: ?[^|\n]{{1,40}}\|){{0,3}}? ?{_AUTHOR} ?\|(?:[ \n:|-]*\|)? ?{whole} ?(?=\||\n|$|\Z)",
        rf"(?:\A|\n|[.!?] )(?:written|prepared|submitted|answered|generated) by {whole}[ .!)\n]*\Z",
        rf"(?:\A|\n) ?(?:author|signed|signature|(?:answered|written|signed|submitted) by) ?: ?{whole}[ .!)]*(?=\n|$)",
    )


_I_AM = "(?:i am|i'm|im|i m|ich bin|je suis|yo soy|io sono|ik ben|eu sou)"
_AS = "(?:as|being|als|en tant que|como)"


_BLANK = re.compile(r"(?P<set>\[[^\]]*\])| (?P<may>\??)")


def _compiled(written: str) -> re.Pattern[str]:
    """A phrase with any few blanks and line breaks where it is written with one; sets of characters stay."""

    def blanks(found: re.Match[str]) -> str:
        return found["set"] or (r"\s{0,4}" if found["may"] else r"\s{1,4}")

    return re.compile(_BLANK.sub(blanks, written))


class _Phrase:
    """A phrase, compiled when a text has what stands before its name and what stands behind it: few texts do."""

    def __init__(self, written: str, speaker: _Speaker) -> None:
        self.written = written
        self.beside = _beside(written, speaker)
        self._pattern: re.Pattern[str] | None = None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every place of the phrase in a folded text."""
        if not all(part.search(text) for part in self.beside):
            return iter(())
        if self._pattern is None:
            self._pattern = _compiled(self.written)
        return self._pattern.finditer(text)


def _beside(written: str, speaker: _Speaker) -> tuple[re.Pattern[str], ...]:
    """The parts of a phrase around the expressions for the speaker; none where these stand in a group of the phrase."""
    first = next(one for one in (speaker.whole, speaker.phrase, speaker.name) if one in written)
    parts = written.partition(first)[0], written.rpartition(first)[2]
    try:
        return tuple(map(_compiled, parts))
    except re.error:
        return ()


class _Phrases(NamedTuple):
    """The phrases that name a text's own author, sign it, or guess at another seat."""

    own: tuple[_Phrase, ...]
    signed: tuple[_Phrase, ...]
    guessed: _Phrase


@cache
def _phrases() -> _Phrases:
    """Made when a text first holds a name: few do, and to compile all of them takes a sixth of a second."""
    speaker = _speaker()
    return _Phrases(
        tuple(_Phrase(written, speaker) for written in _own(speaker)),
        tuple(_Phrase(written, speaker) for written in _signed(speaker)),
        _Phrase(rf"\b{_OTHER}(?:'s \w+)? {_SEEMS}{speaker.phrase}", speaker),
    )


# Finding.


@by_tenant(most=4_096)
def _found(text: str, known: frozenset[str]) -> tuple[tuple[SelfName, ...], tuple[SelfName, ...]]:
    """The names of a text's own author, and those that it gives to another seat."""
    plain = _fold(text)
    if not (names := names_in(plain.text, known)):
        return (), ()
    folded = _named(plain, names)
    quoted = [found.span() for found in _QUOTATIONS.finditer(folded.text)]
    phrases = _phrases()
    signed = [m for phrase in phrases.signed for m in phrase.finditer(folded.text) if _is_signature(m)]
    first = [m for phrase in phrases.own for m in phrase.finditer(folded.text)]
    own = _places([*first, *signed], quoted)
    guessed = _places(phrases.guessed.finditer(folded.text), quoted) - own
    return _in_original(text, folded, own), _in_original(text, folded, guessed)


def _places(phrases: Iterable[re.Match[str]], quoted: Sequence[tuple[int, int]]) -> set[int]:
    """The places of names in phrases; a phrase that stands in quotation marks as a whole is another's."""
    return {
        at
        for found in phrases
        if not any(opened <= found.start() and found.end() <= closed for opened, closed in quoted)
        for at in range(*found.span())
        if found.string[at] == _NAME
    }


def _is_signature(found: re.Match[str]) -> bool:
    """Whether the last line is signed: it is no item of a list, and no author named below a quotation."""
    if not found[0].lstrip(" \n.!?)").startswith(("-", "\u2014")):
        return True
    above = found.string[: found.start() + 1].rstrip(" \n-\u2014")
    line = above.rpartition("\n")[2].lstrip()
    return not above.endswith(('"', "'", ":")) and not line.startswith(("-", "\u2014", "\u2022", ">"))


def _in_original(text: str, folded: _Folded, places: set[int]) -> tuple[SelfName, ...]:
    """The names at these places of a folded text, by their places in the original."""
    spans = (folded.origin[at] for at in sorted(places))
    return tuple(SelfName((start, end), text[start:end]) for start, end in spans)


_QUOTATIONS = re.compile(r'"[^"\n]*"|(?<!\w)\'[^\n]*?\'(?!\w)|^ ?>[^\n]*', re.MULTILINE)
"""The quoted stretches of a folded text: between quotation marks of one line, and lines that begin with ``>``."""
