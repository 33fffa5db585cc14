"""Tokens of a text under the tokenizers of the catalogue.

    bytes/4       the simulated models: a quarter of the UTF-8 bytes
    o200k_base    OpenAI's newer models
    cl100k_base   OpenAI's older ones; an approximation for all others, which the safety factor covers

The last two are tiktoken's. They are built here from rank files that `service.money.tokenizers` reads at the start:
the service downloads no file, and no request waits for one. The work is bounded. tiktoken's pattern runs out of stack
on a very long run of blanks, so long texts are counted in pieces. A text that tiktoken cannot encode counts as its
bytes, an upper bound for every tokenizer of bytes.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from service.debate.whose import WHOSE
from service.errors import SettingsError

if TYPE_CHECKING:
    from tiktoken import Encoding

SIMULATED = "bytes/4"

RANK_FILES = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""The SHA-256 of each rank file as OpenAI publishes it; tiktoken's own `openai_public.py` names the same."""

TOKENIZERS = (SIMULATED, *RANK_FILES)
"""The names that a catalogue may use."""

MESSAGE_TOKENS = 4
"""Tokens that frame a message: its beginning, its role, its end. OpenAI's cookbook counts three, and one for a name."""
PRIMING_TOKENS = 3
"""Tokens at the end of a request that make the model begin its reply (the same source)."""

PIECE = 50_000
"""The most characters in one call of tiktoken: it counts 200,000 blanks without trouble and panics at a million."""
REACH = 2_000
"""How many characters earlier a piece may end, so that it ends where the pattern separates words anyway."""

MARK = re.compile(r"\[\[[0-9a-f]{16}")
"""How each fence of a request begins. A text of fenced blocks begins with it (`service.prompts.fence`)."""
FENCES_MAX = 512
"""A text with more fences is counted as one: only a document that was written for it has so many."""
KEPT = 16_384
"""The size of the cache of counts; where it is full, the eighth that was not used for longest is dropped. It holds no
text but hashes and numbers: the parts of the requests of a thousand debates, some 3 MB. Each tenant has its own: how
soon a long document is counted would say that another one has it too."""

Known = dict[tuple[str, str], int]
"""What `count_tokens` has found for the parts of one debate's requests, by tokenizer and part: one that comes again is
not even hashed. It holds texts, so it is gone with the debate; of one with more than `PIECE` characters it has none."""
KNOWN_MAX = 1_024
"""How many counts one debate has at most; then it forgets them all."""

WHOLE_MAX = 16
"""The most parts of a text whose count is known besides those of its parts: so is that of the case, which stands in all
requests of a debate. Longer ones are mostly the transcripts of long debates, which do not come again."""

# Each as in tiktoken's `openai_public.py`; a test compares them with the library's own encodings.
_PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}

_encodings: dict[str, Encoding] = {}
_counts: dict[tuple[str, str, bytes], int] = {}


def add(name: str, ranks: bytes) -> None:
    """Build a tokenizer from the bytes of its rank file, once; raises `SettingsError` if their hash is another one.

    Takes 0.2 to 0.4 seconds. Special tokens are left out: a document that contains one as text is text like any other.
    """
    found, expected = sha256(ranks).hexdigest(), RANK_FILES.get(name)
    if found != expected:
        raise SettingsError(
            f"expected the rank file of tokenizer {name!r} with sha256 {expected}, found {found}; "
            "install the package again"
        )
    if name not in _encodings:
        from tiktoken import Encoding

        words = ranks.split()  # a token in base64 and its rank, in turn
        table = dict(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
        _encodings[name] = Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=table, special_tokens={})


def is_loaded(name: str) -> bool:
    """Whether texts can be counted under a tokenizer now."""
    return name == SIMULATED or name in _encodings


def tokenizer_id(name: str) -> str:
    """A tokenizer with the artefact behind it, for the record: ``o200k_base@446a9538cb6c``."""
    return f"{name}@{RANK_FILES[name][:12]}" if name in RANK_FILES else name


def bytes_over_four(text: str) -> int:
    """Tokens of the simulated models: a quarter of the UTF-8 bytes, rounded up."""
    return -(-_size(text) // 4)


def count_tokens(text: str, tokenizer: str, known: Known | None = None) -> int:
    """Tokens of one text; raises `SettingsError` for a tokenizer that is not known or was not loaded at the start.

    Parts whose count is ``known`` are not counted again, and the counts of others are added to it.
    """
    if tokenizer == SIMULATED:
        return bytes_over_four(text)
    encoding = _encoding(tokenizer)
    if known is None:
        return sum([_counted(encoding, part) for part in _parts(text)])
    if (found := known.get((tokenizer, text))) is not None:
        return found
    parts, tokens = _parts(text), 0
    for part in parts:
        if (found := known.get((tokenizer, part))) is None:
            found = _counted(encoding, part)
            if len(text) <= PIECE:
                _note(known, (tokenizer, part), found)
        tokens += found
    if 1 < len(parts) <= WHOLE_MAX and len(text) <= PIECE:
        _note(known, (tokenizer, text), tokens)
    return tokens


def count(texts: Iterable[str], tokenizer: str, known: Known | None = None) -> int:
    """Tokens of a request whose messages have these texts, with their frames; raises like `count_tokens`.

    The simulated models read the messages as one text with line breaks between, without frames. For others, counts
    are taken from ``known`` and added to it.
    """
    if tokenizer == SIMULATED:
        sizes = [_size(text) for text in texts]
        return -(-(sum(sizes) + max(0, len(sizes) - 1)) // 4)
    counts = [count_tokens(text, tokenizer, known) for text in texts]
    return sum(counts) + MESSAGE_TOKENS * len(counts) + PRIMING_TOKENS


def _encoding(name: str) -> Encoding:
    if name not in TOKENIZERS:
        raise SettingsError(f"expected a tokenizer among {sorted(TOKENIZERS)}, found {name!r}")
    if name not in _encodings:
        raise SettingsError(
            f"expected tokenizer {name!r} to be loaded at the start, found {sorted(_encodings) or 'none'}; "
            "call service.money.tokenizers.load with the tokenizers of the catalogue"
        )
    return _encodings[name]


def _parts(text: str) -> Sequence[str]:
    """A text cut at its fences, so that a part which many requests share is counted once, and a long one into pieces
    besides.

    The tokens of the parts add up to those of the text. If a cut would fall inside a word, a long text is cut without
    its fences: such a cut may add tokens, and where it falls depends on all of the text.
    """
    parts = _at_fences(text)
    if len(text) <= PIECE:
        return parts
    whole = tuple(_pieces(text))
    if len(parts) == 1:
        return whole
    pieces = [tuple(_pieces(part)) for part in parts]
    return tuple(chain.from_iterable(pieces)) if all(map(_add_up, (whole, *pieces))) else whole


def _at_fences(text: str) -> Sequence[str]:
    """The marks of a text's fences, what follows them in their lines, and what stands between the lines.

    Both patterns separate at each of these places, whatever stands around it:

        in front of a mark       behind a line break: what takes that goes on to no bracket
        behind a mark            a letter or digit before a blank
        behind a fence's line    its brackets take the break to them, and line breaks and slashes behind it: where one
                                 follows, there is no cut
    """
    found = MARK.match(text)
    if found is None:
        return (text,)
    mark = found.group()
    _, *fenced, last = text.split(mark)
    apart = last[:1] == " " and all(part[:1] == " " and part[-1] == "\n" for part in fenced)
    if not apart or len(fenced) >= FENCES_MAX:
        return (text,)
    parts = list[str]()
    for part in (*fenced, last):
        line, end, inside = part.partition("]]\n")
        parts += (mark, line + end, inside) if inside and inside[0] not in "\r\n/" else (mark, part)
    return parts


def _add_up(pieces: Sequence[str]) -> bool:
    """Whether every cut is between words, so that the tokens of the pieces are those of the whole."""
    return all(one[-1].isalnum() and other[0] in " \n" for one, other in pairwise(pieces))


def _note(known: Known, key: tuple[str, str], tokens: int) -> None:
    if len(known) >= KNOWN_MAX:
        known.clear()
    known[key] = tokens


def _counted(encoding: Encoding, text: str) -> int:
    """Tokens of a short text, counted once for a tenant for as long as the cache holds its hash."""
    key = encoding.name, WHOSE.get(), sha256(text.encode("utf-8", "surrogatepass")).digest()
    found = _counts.pop(key, None)
    if found is None:
        found = _length(encoding, text)
    if len(_counts) >= KEPT:
        for oldest in tuple(_counts)[: KEPT // 8]:  # a copy: another thread may change the cache
            _counts.pop(oldest, None)
    _counts[key] = found
    return found


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _length(encoding: Encoding, text: str) -> int:
    """Tokens of a short text, or its bytes where tiktoken cannot take it."""
    try:
        return len(encoding.encode_ordinary(text))
    except Exception:  # noqa: BLE001 - on any error, the number of bytes is the bound
        return _size(text)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # tiktoken's panic is no Exception (openai/tiktoken, issue 15)
            raise
        return _size(text)


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of bounded length. Between words that blanks separate, the tokens of the pieces add up to those
    of the whole. In a run without blanks, each cut may add or take one or two tokens."""
    begin = 0
    while len(text) - begin > PIECE:
        end = _cut(text, begin + PIECE)
        yield text[begin:end]
        begin = end
    yield text[begin:]


def _cut(text: str, end: int) -> int:
    """The last place where a word ends and a blank begins: both patterns separate there, whatever follows."""
    for at in range(end, end - REACH, -1):
        if text[at] in " \n" and text[at - 1].isalnum():
            return at
    return end
