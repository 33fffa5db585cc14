"""Citations: each word that a rule of the engine knows by name, in small documents in which that rule decides.

``cases/word-lists.txt`` has the words by what they do. A document has a word at its ``@``; the quotations of it are
judged, and one line says of each word what came of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from service.checks.citations import ENGINES, Judge
from service.debate.findings import Citation
from tests.vectors.goldens import CASES, Golden, file_of, lines
from tests.vectors.goldens.quotations import one_verdict

Template = tuple[str, tuple[str, ...]]

TEMPLATES: Mapping[str, tuple[Template, ...]] = {
    "counts": (
        ("The clerk @ counts the annual fees.", ("The clerk counts the annual fees", "The clerk ... the annual fees")),
        ("They paid @ crowns to the old baker.", ("They paid nine crowns to the old baker",)),
    ),
    "governing": (
        ("The clerk @ counts the annual fees.", ("counts the annual fees", "The clerk @")),
        ("@ of the buyers shall repair the roof.", ("shall repair the roof",)),
        ("The seller pays that price @ the buyer agrees.", ("The seller pays that price",)),
    ),
    "light": (("It does not @ settle the whole yearly account.", ("settle the whole yearly account",)),),
    "before to": (("It is not very @ to release the deposit money.", ("release the deposit money",)),),
    "leads": (("@ no party of them shall deliver the printed goods.", ("deliver the printed goods",)),),
    "own clause": (("No buyer @ returns shall transfer the whole stock.", ("transfer the whole stock",)),),
    "auxiliary": (
        ("No buyer @ repaint the outer wall.", ("repaint the outer wall", "@ repaint the outer wall")),
        ("No tall seller, they say, @ polish it again.", ("@ polish it again",)),
        ("The guard keeps the key and Anna @ lends the lamp.", ("The guard keeps ... lends the lamp",)),
        ("The nurse keeps a bell and the porter @ lend torches.", ("The nurse keeps a bell ... @ lend torches",)),
        ("The cook of that inn @ bake some bread.", ("The cook ... bake some bread",)),
        ("They say that we @n't follow him.", ("They say that we @ not follow him",)),
    ),
    "aside": (("They shall not, @ a long delay, remove the old cable.", ("remove the old cable",)),),
    "determined": (("It does not lead to @ grown plants here today.", ("@ grown plants here today",)),),
    "abbreviations": (
        ("No agent of Acme @. shall paint the entire block.", ("paint the entire block",)),
        ("The firm called Blum @. Holding keeps the grey stone.", ("The firm called ... keeps the grey stone",)),
        ("The new office at @. Borders opens the iron gate.", ("The new office at @ Borders opens the iron gate",)),
    ),
    "leading": (("They saw @ Tenancy of all the land.", ("They saw @ Tenncy of all the land",)),),
    "prefixes": (("They keep @stone in the old shed.", ("They keep @ stone in the old shed",)),),
    "beginnings": (
        ("They keep a @market in the old shed.", ("They keep a @makret in the old shed",)),
        ("They built a mmarket of the cold brick.", ("They built a @market of the cold brick",)),
        ("They cover a @lease by the tall clerk.", ("They cover a @-\nlease by the tall clerk",)),
    ),
    "suffixes": (("They keep stone@ in the old yard.", ("They keep stone @ in the old yard",)),),
    "endings": (
        ("They keep market@ in the old yard.", ("They keep makret@ in the old yard", "They keep marker@ in the old")),
        ("They sold a point@ of the tall tree.", ("They sold a pointt of the tall tree",)),
    ),
    "inflections": (("They keep the old point@ here.", ("They keep the old point...",)),),
    "roles": (("They heard of @er it at noon.", ("They heard of @ee it at noon", "They heard of @or it at noon")),),
    "initials": (("They used @ numbers at the gate.", ("They used {dotted} numbers at the gate",)),),
    "plain": (("They go in@ old yard at noon.", ("They go in @ old yard at noon",)),),
    "spellings": (("They were @ed by the old board.", ("They were ~ed by the old board",)),),
    "denials": (
        ("The old firm is @ delivering boats.", ("delivering boats",)),
        ("The tall man is @ carry new chairs.", ("carry new chairs",)),
        ("The rich duke is @ it has three lions.", ("it has three lions",)),
    ),
}
"""Sentences of a document, and quotations of each."""


def words() -> Iterator[tuple[str, str]]:
    """Every word, with what it does."""
    for line in (CASES / "word-lists.txt").read_text().splitlines():
        what, _, listed = line.partition(": ")
        for word in listed.split():
            yield what, word.replace("_", " ")


def cases(engine: Callable[[Mapping[str, str]], Judge]) -> Iterator[object]:
    """What comes of the quotations, word by word."""
    for what, word in words():
        templates = TEMPLATES[what]
        judge = engine({"D1": "\n\n".join(text.replace("@", word) for text, _ in templates)})
        quotes = (_filled(quote, word) for _, told in templates for quote in told)
        yield what, word, " ".join(one_verdict(judge, Citation(quote, "D1")) for quote in quotes)


def _filled(quote: str, word: str) -> str:
    """A quotation with its word: as it is, with z for s, or with a point behind each letter."""
    dotted = "".join(f"{letter}." for letter in word)
    return quote.replace("@", word).replace("~", word.replace("is", "iz")).replace("{dotted}", dotted)


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "words"): Golden(name, partial(_made, name, engine)) for name, engine in ENGINES.items()}


def _made(name: str, engine: Callable[[Mapping[str, str]], Judge]) -> bytes:
    return lines(name, {1: cases(engine)})
