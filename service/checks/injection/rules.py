"""Passages of a case that speak to a model. Recorded under `injection/1`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from service.checks import kept
from service.checks.injection.concepts import BITS, bits_of
from service.checks.injection.decoding import decoded, rotate, turn
from service.checks.injection.features import Unit, units
from service.checks.injection.fields import COUNTED, FieldText
from service.checks.injection.hidden import written
from service.checks.injection.posing import POSES, Posed, posed
from service.checks.injection.reading import Known, Reader, Sentence
from service.checks.injection.scoring import KNOWN_OF_ONE_MAX, Weights, weights
from service.checks.injection.views import View, read_plainly
from service.debate.suspicions import CaseField, InjectionFamily, InjectionFound, Suspicion

SUSPICIONS_MAX = 50
"""The most passages that are reported of one text."""
WORDS_MAX = 300
"""The most characters of a passage that a finding repeats."""
DEPTH_MAX = 2
"""How many encodings within each other are taken off."""
UNUSUAL = frozenset(("homoglyphs", "combining", "zeroWidth", "tags", "spaced", "leet", "css"))
"""The ways of writing, in a text that is not encoded, by which less is needed for an order."""
MARKUP = frozenset(("htmlComment", "attribute", "css", "link"))
"""The ways of writing by which a sentence is read by itself."""
DULL = -1000
"""The score of a unit's words up to which it is not looked at any further: three of five in a contract."""
LOOKED_INTO = -700
"""The score over which the sentences of a unit are scored too: an order among others raises its whole unit."""
CLASSIC = bits_of("IGNORE", "INSTRUCTION", "PRIOR")
CLASSIC_BAR, QUOTED_BAR = -400, 0
"""The least score of a sentence that says to ignore earlier instructions, and of one with quotation marks. Of 11,654
honest texts whose authors a model had not seen some seven are over it."""
TO_ITS_READER = bits_of("YOU", "READER", "SELF", "SEAT", "PROMPT")
OF_OTHERS = bits_of("ATTACK", "CODE", "PARTY", "CONDITION", "JUDGE")
OF_RULES = bits_of("RANGE", "MANUAL", "MUST", "VOID")
LONG = 20_000
"""The characters of a text from which on what is found in it is kept."""
BRIEF, BRIEF_MAX = 300, 512
"""The most characters of a text that is remembered with what is found in it, and how many are before all are forgotten.
Titles, names, metadata and what a use case always sends are such, and each costs half as much as a paragraph."""
BORDER = 600
"""How many characters on each side of the border of two texts are read together."""


class Passage(NamedTuple):
    """A suspicious passage of a stored text."""

    start: int
    end: int
    family: InjectionFamily
    hidden: str


def check_injection(texts: Sequence[FieldText]) -> InjectionFound:
    """Passages of these texts that look like orders to a model; offsets are code points.

    Texts without findings may still hold such passages: the check reduces and records, it does not prevent.
    """
    scan, found = _scan(texts), list[list[Passage]]()
    for text in texts:
        found.append(_passages_of(text, scan))
    for first, second in _borders(texts):
        _cross(texts, found, first, second, scan)
    return InjectionFound(tuple(s for text, here in zip(texts, found, strict=True) for s in _suspicions(text, here)))


class Scan(NamedTuple):
    """What reads texts and scores them, with a memory of words each, and what was found in brief texts of a field."""

    reader: Reader
    model: Weights
    brief: dict[tuple[CaseField, str], Sequence[Passage]]


def _scan(texts: Sequence[FieldText]) -> Scan:
    """With the tenant's memory of words, if the texts are short: long ones have many that do not come again."""
    brief = kept.once("brief texts of injection/1", _brief)
    if sum(len(text.text) for text in texts) >= LONG:
        return Scan(Reader(), weights().remembering(weights().memory(KNOWN_OF_ONE_MAX)), brief)
    known = kept.once("words of injection/1", Known)
    return Scan(Reader(known), weights().remembering(kept.once("weights of injection/1", weights().memory)), brief)


def _brief() -> dict[tuple[CaseField, str], Sequence[Passage]]:
    return {}


def words_of(text: str, span: tuple[int, int]) -> str:
    """The words of a passage as a finding repeats them."""
    words = text[slice(*span)]
    half = WORDS_MAX // 2
    return words if len(words) <= WORDS_MAX else f"{words[:half]}\u2026{words[1 - half :]}"


def _passages_of(text: FieldText, scan: Scan) -> list[Passage]:
    """The passages of a text by itself, read once where it is long, or so brief that many cases have the same."""
    if len(text.text) <= BRIEF:
        return list(_read_brief(text, scan))
    if len(text.text) < LONG:
        return _counted(text, _passages(View(text.text), scan, 0, text.field))
    read = kept.once(("injection/1", text.field), partial(_read_whole, text, scan), text.text)
    return list(read)


def _read_brief(text: FieldText, scan: Scan) -> Sequence[Passage]:
    key, brief = (text.field, text.text), scan.brief
    found = brief.get(key)
    if found is None:
        if len(brief) >= BRIEF_MAX:
            brief.clear()
        found = brief[key] = _read_whole(text, scan, text.text)
    return found


def _read_whole(text: FieldText, scan: Scan, words: str) -> Sequence[Passage]:
    return tuple(_counted(text, _passages(View(words), scan, 0, text.field)))


def _counted(text: FieldText, passages: Iterator[Passage]) -> list[Passage]:
    counted = COUNTED.get(text.field)
    return [one for one in passages if counted is None or one.family in counted]


def _passages(origin: View, scan: Scan, depth: int, field: CaseField) -> Iterator[Passage]:
    """The passages of a view and of what is encoded within it."""
    plain = read_plainly(origin)
    yield from _orders(plain, scan, field)
    if depth < DEPTH_MAX:
        turned = [turn(plain, span) for span in scan.reader.stretches(scan.reader.reversed, plain.text)]
        rotated = [rotate(plain, span) for span in scan.reader.stretches(scan.reader.rot13, plain.text)]
        for inner in (*turned, *rotated, *decoded(origin)):
            yield from _passages(inner, scan, depth + 1, field)


def _orders(plain: View, scan: Scan, field: CaseField, border: int | None = None) -> Iterator[Passage]:
    """The passages of a plain view that look like orders to a model.

    Where a border in the stored text is given, only those over it need be among them: what is found in a sentence or a
    unit lies within it, so the others are not scored.
    """
    reader, model, text = scan.reader, scan.model, plain.text
    for start, end, pose in posed(text, sure=True):
        yield _passage(plain, (start, end), POSES[pose].family)
    sentences = reader.sentences(text)
    for sentence in sentences:
        if _is_classic(sentence.said) and _reaches(plain, sentence, border):
            words = text[sentence.start : sentence.end + 1]
            least = QUOTED_BAR if sentence.said & BITS["QUOTED"] else CLASSIC_BAR
            if model.score(words, [sentence.said]) > least:
                unit, counted = Unit(sentence.start, sentence.end, [sentence]), COUNTED.get(field, {"override"})
                yield _named(model, plain, unit, (), counted)
    for unit in units(text, sentences):
        if _reaches(plain, unit, border):
            yield from _orders_of(scan, plain, unit, field, border)


def _orders_of(scan: Scan, plain: View, unit: Unit, field: CaseField, border: int | None) -> Iterator[Passage]:
    """A unit that looks like an order to a model, cut to the sentences that do; or single sentences of it, where they
    look so much more."""
    model, text = scan.model, plain.text
    bar, counted = model.bar(field), COUNTED.get(field)
    words = text[unit.start : unit.end]
    score = model.score(words, unit.said, words=unit.words, odd=scan.reader.odd)
    if score <= DULL:
        return
    posing = [Posed(unit.start + start, unit.start + end, pose) for start, end, pose in posed(words)]
    score += model.of_poses([one.pose for one in posing])
    if score > bar.unit or (score > bar.hidden and _is_hidden(plain, unit)):
        yield _named(model, plain, _telling(model, text, unit, posing), posing, counted)
    elif score > LOOKED_INTO and len(unit.sentences) > 1:
        for one in unit.alone:
            if not _reaches(plain, one, border):
                continue
            within = _within(one, posing)
            score = _score(model, text, one, within)
            if score > bar.sentence or (score > bar.unit and _is_markup(plain, one)):
                yield _named(model, plain, one, within, counted)


def _reaches(plain: View, one: Unit | Sentence, border: int | None) -> bool:
    """Whether a unit or a sentence lies over a border in the stored text, where there is one."""
    if border is None:
        return True
    start, end = plain.stored(one.start, one.end)
    return _is_over(start, end, border)


def _is_over(start: int, end: int, border: int) -> bool:
    """Whether a span begins before the blank at a border and ends behind it."""
    return start < border - 1 and end > border


def _is_classic(said: int) -> bool:
    """Whether a sentence says to ignore earlier instructions, and nothing of attacks, code, parties or conditions.

    In any language that has a lexicon it is an order with a lower score than others.
    """
    if said & CLASSIC != CLASSIC:
        return False
    return not said & (OF_OTHERS if said & TO_ITS_READER else OF_OTHERS | OF_RULES)


def _telling(model: Weights, text: str, unit: Unit, posing: Sequence[Posed]) -> Unit:
    """A unit from the first to the last of its sentences that looks like an order by itself; all of it if none does."""
    alone = unit.alone
    telling = [n for n, one in enumerate(alone) if _score(model, text, one, _within(one, posing)) > 0]
    if not telling:
        return unit
    first, last = alone[telling[0]], alone[telling[-1]]
    return Unit(first.start, last.end, unit.sentences[telling[0] : telling[-1] + 1])


def _within(unit: Unit, posing: Sequence[Posed]) -> Sequence[Posed]:
    return [one for one in posing if one.start < unit.end and unit.start < one.end]


def _score(model: Weights, text: str, unit: Unit, posing: Sequence[Posed]) -> float:
    return model.score(text[unit.start : unit.end], unit.said, [one.pose for one in posing])


def _is_hidden(plain: View, unit: Unit) -> bool:
    """Whether a unit is written in a way that honest documents do not use."""
    return bool(plain.hidden) or written(plain.root, plain.stored(unit.start, unit.end)) in UNUSUAL


def _is_markup(plain: View, unit: Unit) -> bool:
    """Whether a sentence stands in markup that a reader of the page does not see: what is around it is no context."""
    return written(plain.root, plain.stored(unit.start, unit.end)) in MARKUP


def _named(model: Weights, plain: View, unit: Unit, posing: Sequence[Posed], counted: Container[str] | None) -> Passage:
    text = plain.text[unit.start : unit.end]
    family = model.family(text, unit.said, [one.pose for one in posing], counted)
    return _passage(plain, (unit.start, unit.sentences[-1].end), family)


def _passage(view: View, span: tuple[int, int], family: InjectionFamily) -> Passage:
    start, end = view.stored(*span)
    return Passage(start, end, family, view.hidden)


def _borders(texts: Sequence[FieldText]) -> Iterator[tuple[int, int]]:
    """Pairs of texts that a seat may read as one: a title and its document, a document and the next one."""
    documents = [n for n, text in enumerate(texts) if text.field == "document"]
    titles = {text.name: n for n, text in enumerate(texts) if text.field == "title"}
    for n in documents:
        if (title := titles.get(texts[n].name)) is not None:
            yield title, n
    yield from pairwise(documents)


def _cross(texts: Sequence[FieldText], found: list[list[Passage]], first: int, second: int, scan: Scan) -> None:
    """Note a passage that begins at the end of one text and ends in the beginning of another one, in both."""
    one, other = texts[first].text.rstrip(), texts[second].text
    start = max(0, len(one) - BORDER)
    skipped = len(other) - len(other.lstrip())
    head, border = other[skipped : skipped + BORDER], len(one) - start + 1
    joined = View(f"{one[start:]} {head}")
    for passage in _orders(read_plainly(joined), scan, texts[second].field, border):
        if _is_over(passage.start, passage.end, border):
            before = Passage(start + passage.start, len(one), passage.family, "split")
            behind = Passage(skipped, skipped + passage.end - border, passage.family, "split")
            if not any(_covers(here, there) for here, there in ((found[first], before), (found[second], behind))):
                found[first].append(before)
                found[second].append(behind)


def _covers(passages: list[Passage], one: Passage) -> bool:
    return any(each.start < one.end and one.start < each.end for each in passages)


def _suspicions(text: FieldText, passages: list[Passage]) -> Iterator[Suspicion]:
    """The passages of one text in their order; the last one of too many reaches to the end of all."""
    listed = _apart(passages)
    if len(listed) > SUSPICIONS_MAX:
        rest = listed[SUSPICIONS_MAX - 1 :]
        listed[SUSPICIONS_MAX - 1 :] = [rest[0]._replace(end=max(one.end for one in rest))]
    for start, end, family, hidden in listed:
        shown = hidden or written(text.text, (start, end))
        yield Suspicion(text.field, (start, end), family, words_of(text.text, (start, end)), text.name, shown)


def _apart(passages: list[Passage]) -> list[Passage]:
    """The passages by place; of those that overlap, one that covers all of them, named as the first found."""
    ranked = [(one.start, rank, one) for rank, one in enumerate(passages) if one.end > one.start]
    merged = list[tuple[int, Passage]]()
    for _, rank, one in sorted(ranked):
        if merged and one.start < merged[-1][1].end:
            first, before = merged[-1]
            named = before if first <= rank else one
            merged[-1] = (min(first, rank), named._replace(start=before.start, end=max(before.end, one.end)))
        else:
            merged.append((rank, one))
    return [one for _, one in merged]
