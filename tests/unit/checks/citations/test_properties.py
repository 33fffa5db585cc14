"""Never and always: no disguise hides a true quotation from the check, and none carries a bent one past it."""

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from service.checks.citations import Sources, check, fold
from service.checks.citations.text.word_bounds import divides
from service.debate.findings import Citation

# No word stands twice, so that nothing bent can be true by standing elsewhere; "not" and "may" recur among them.
_WORDS = (
    "Supplier's liability exceeds fees, paid “Cap” under clause 9.3 whenever Customer—acting alone—fails twenty-one "
    "obligations: notify; deliver (promptly) goods worth $1,250.75 before 31/12/2025; refund 17 % interest; naïve "
    "Straße façade Ελλάδος «Договор» 8:30 audit/review non-refundable deposit 40 litres; efficient office flow: "
    "'terms' survive expiry, however caused; third parties gain nothing; witness signature"
).split()
_DISGUISED_LETTERS = {"fi": "ﬁ", "fl": "ﬂ", "ff": "ﬀ", "é": "e\u0301", "ç": "c\u0327", "ï": "i\u0308"}


Stretch = tuple[list[str], int, int]


@st.composite
def documents(draw: st.DrawFn) -> list[str]:
    """The words of a document in some order, with a few ``not`` and ``may`` between them."""
    words = []
    for word in draw(st.permutations(_WORDS)):
        words += [word, *draw(st.sampled_from([[], [], [], ["not"], ["may"]]))]
    return words


@st.composite
def stretches(draw: st.DrawFn) -> Stretch:
    """A document and a stretch of it that is long enough and cuts nothing in two."""
    words = draw(documents())
    start = draw(st.integers(0, len(words) - 6))
    end = draw(st.integers(start + 5, min(start + 40, len(words))))
    folded = fold(" ".join(words))
    before = len(fold(" ".join(words[:start])).text) + bool(start)
    after = len(fold(" ".join(words[:end])).text)
    assume(not divides(folded, before) and not divides(folded, after))
    assume(sum(map(str.isalnum, "".join(words[start:end]))) >= 12)
    assume("not" not in (words[start - 1] if start else "", words[end] if end < len(words) else ""))
    return words, start, end


@st.composite
def disguises(draw: st.DrawFn, words: list[str]) -> str:
    """What printing and typing do to a quotation."""
    text = " ".join(words)
    if "ß" not in text:  # upper case would make it ss, which is another word
        text = draw(st.sampled_from([text, text.lower(), text.upper(), text.title()]))
    for plain, other in _DISGUISED_LETTERS.items():
        if draw(st.booleans()):
            text = text.replace(plain, other)
    if draw(st.booleans()):
        text = text.translate(str.maketrans("'-0123456789", "’‑０１２３４５６７８９"))
    if draw(st.booleans()):
        text = text.translate(str.maketrans("“”«»—", '""“”–'))
    spaces = st.text(st.sampled_from(" \n\t\u00a0\u2009\r"), min_size=1, max_size=3)
    text = re.sub(" ", lambda _: draw(spaces), text)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from("\u00ad\u200b\u2060\ufeff")) + text[at:]
    text = draw(dressed(text))
    left, right = draw(st.sampled_from([("", ""), ('"', '"'), ("“", ".”"), ("**", "**"), ("• ", ""), ("…", "[…]")]))
    return left + text.rstrip(".,;:") + right


@st.composite
def dressed(draw: st.DrawFn, text: str) -> str:
    """What Markdown, HTML, line breaks, editors and fingers do to words, a few of them at once."""
    for dress in draw(st.lists(st.sampled_from(_DRESSES), max_size=3, unique=True)):
        places = [match.span(1) for match in re.finditer(_DRESSED[dress], text)]
        if places:
            start, end = draw(st.sampled_from(places))
            text = text[:start] + _dress(dress, text[start:end]) + text[end:]
    return text


_DRESSED = {
    "strong": r"(?<=\s)([a-z]{5,})(?=\s)",
    "code": r"(?<=\s)([a-z]{5,})(?=\s)",
    "link": r"(?<=\s)([a-z]{5,})(?=\s)",
    "entity": r"(['\"“”’])",
    "hyphenated": r"(?<=\s)([a-z]{8,})(?=\s)",
    "note": r"(?<=[a-z])( )(?=[a-z])",
    "slip": r"(?<=\s)(obligations|deliver|deposit|thereafter|signature|efficient|whenever|survive)(?=\s)",
}
_DRESSES = sorted(_DRESSED)


def _dress(name: str, text: str) -> str:
    dress = {
        "strong": "**{}**",
        "code": "`{}`",
        "link": "[{}](https://example.org/a_b#c)",
        "note": " [sic] ",
    }
    if name == "entity":
        return f"&#{ord(text)};"
    if name == "hyphenated":
        return f"{text[:4]}-\n{text[4:]}"
    if name == "slip":
        return text[:3] + text[4] + text[3] + text[5:]
    return dress[name].format(text)


def _verdict(words: list[str], quote: str) -> tuple[str, str | None]:
    verdict = check(Citation(quote=quote), Sources({"doc": " ".join(words)}))
    return verdict.verdict, verdict.text


@given(stretches(), st.data())
def test_a_true_quotation_is_verified_in_any_disguise_and_with_its_own_words(
    stretch: Stretch, data: st.DataObject
) -> None:
    words, start, end = stretch
    quote = data.draw(disguises(words[start:end]))

    verdict, text = _verdict(words, quote)

    assert verdict == "verified"
    marks = " \"'“”«»—.,;:-"
    assert text is not None
    assert text.strip(marks) == " ".join(words[start:end]).strip(marks)


@given(stretches(), st.data())
def test_a_changed_digit_is_never_verified(stretch: Stretch, data: st.DataObject) -> None:
    words, start, end = stretch
    quoted = " ".join(words[start:end])
    digits = [i for i, c in enumerate(quoted) if c.isdigit()]
    assume(digits)
    at = data.draw(st.sampled_from(digits))
    other = data.draw(st.sampled_from([d for d in "0123456789" if d != quoted[at]] + ["", quoted[at] * 2]))
    bent = quoted[:at] + other + quoted[at + 1 :]

    verdict, _ = _verdict(words, data.draw(disguises(bent.split())))

    assert verdict != "verified"


@given(stretches(), st.data())
def test_a_negation_added_or_dropped_is_never_verified(stretch: Stretch, data: st.DataObject) -> None:
    words, start, end = stretch
    inside = list(range(start + 1, end - 1))
    at = data.draw(st.sampled_from(inside))
    if words[at] == "not":
        bent = words[start:at] + words[at + 1 : end]
    else:
        assume(words[at - 1] != "not")
        bent = [*words[start:at], data.draw(st.sampled_from(["not", "NOT", "[not]", "never"])), *words[at:end]]

    verdict, _ = _verdict(words, data.draw(disguises(bent)))

    assert verdict != "verified"


@given(stretches(), st.data())
def test_a_word_dropped_added_doubled_or_moved_inside_is_never_verified(stretch: Stretch, data: st.DataObject) -> None:
    words, start, end = stretch
    quoted = words[start:end]
    at = data.draw(st.integers(1, len(quoted) - 2))
    assume(fold(quoted[at]).text != fold(quoted[at + 1]).text)
    bent = data.draw(
        st.sampled_from(
            [
                quoted[:at] + quoted[at + 1 :],
                [*quoted[:at], "shall", *quoted[at:]],
                [*quoted[:at], "must", *quoted[at + 1 :]],
                [*quoted[:at], quoted[at], *quoted[at:]],
                [*quoted[:at], quoted[at + 1], quoted[at], *quoted[at + 2 :]],
            ]
        )
    )

    verdict, _ = _verdict(words, data.draw(disguises(bent)))

    assert verdict != "verified"


@given(stretches(), st.sampled_from(["||", "*", "^", "~", "[ ]", "[***]", "- $5", "(5)"]), st.data())
def test_a_mark_that_carries_sense_is_never_added_or_left_out(stretch: Stretch, mark: str, data: st.DataObject) -> None:
    words, start, end = stretch
    at = data.draw(st.integers(start + 1, end - 1))
    marked = [*words[:at], *mark.split(), *words[at:]]
    without = [*words[:at], *(["5"] if mark == "(5)" else ["$5"] if "$" in mark else []), *words[at:]]
    more, less = len(marked) - len(words), len(without) - len(words)

    added, _ = _verdict(without, data.draw(disguises(marked[start : end + more])))
    dropped, _ = _verdict(marked, data.draw(disguises(without[start : end + less])))

    assert added != "verified"
    assert dropped != "verified"


@given(
    stretches(),
    st.sampled_from(
        ["shall not", "does not", "cannot", "will never", "is not required to", "fails to", "is unable to"]
    ),
    st.lists(st.sampled_from(["directly", "or", "indirectly", "ever", "otherwise", "also"]), max_size=3),
    st.sampled_from(["", ", in any event,", ", under this deed or otherwise,"]),
)
def test_a_quotation_behind_a_negation_of_its_verb_is_never_verified(
    stretch: Stretch, negation: str, between: list[str], aside: str
) -> None:
    words, start, end = stretch
    passage = " ".join(["guarantee", *words[start:end]])
    document = f"The Bank {' '.join([negation, *between])}{aside} {passage}."

    whole = check(Citation(document), Sources({"doc": document}))
    verdict = check(Citation(passage), Sources({"doc": document}))

    assert whole.verdict == "verified"
    assert verdict.verdict != "verified"


@given(documents(), st.data())
def test_a_quotation_cut_inside_a_word_is_never_verified(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    start = data.draw(st.integers(1, len(text) - 30))
    end = data.draw(st.integers(start + 25, len(text)))
    assume(text[start - 1].isalnum() and text[start].isalnum())
    assume(sum(map(str.isalnum, text[start:end])) >= 12)

    verdict, _ = _verdict(words, text[start:end])

    assert verdict != "verified"


@given(st.text(max_size=60), st.text(max_size=200), st.none() | st.text(max_size=12))
def test_any_quotation_of_any_document_gets_a_verdict(quote: str, document: str, location: str | None) -> None:
    verdict = check(Citation(quote=quote, location=location), Sources({"doc": document}))
    text, span = verdict.text, verdict.span

    if span is None or text is None:
        assert verdict.verdict in ("too_short", "not_found")
    else:
        assert verdict.verdict in ("verified", "altered")
        assert document[slice(*span)] == text == text.strip()


@given(stretches(), st.data())
def test_the_order_of_the_sources_and_what_was_asked_before_change_nothing(
    stretch: Stretch, data: st.DataObject
) -> None:
    words, start, end = stretch
    texts = {"a": " ".join(words[::-1]), "b": " ".join(words), "c": " ".join(words[start:end]), "d": ""}
    citation = Citation(
        quote=data.draw(disguises(words[start:end])), source_id=data.draw(st.sampled_from([None, *texts]))
    )
    order = data.draw(st.permutations(sorted(texts)))

    verdict = check(citation, Sources(texts))

    assert check(citation, Sources({name: texts[name] for name in order})) == verdict
    assert check(citation, Sources(texts)) == verdict


@given(stretches(), st.data())
def test_a_name_a_currency_or_a_date_that_was_changed_is_never_verified(stretch: Stretch, data: st.DataObject) -> None:
    words, start, end = stretch
    changes = {
        "Customer": "Consumer",
        "$": "€",
        "31/12/2025": "31/11/2025",
        "“Cap”": "“Cup”",
        "«Договор»": "«Договоры»",
    }
    quoted = " ".join(words[start:end])
    there = [old for old in changes if old in quoted]
    assume(there)
    old = data.draw(st.sampled_from(there))

    verdict, _ = _verdict(words, data.draw(disguises(quoted.replace(old, changes[old]).split())))

    assert verdict != "verified"


@given(stretches(), st.integers(0, 60_000))
def test_steps_that_suffice_give_the_verdict_and_fewer_give_a_refusal(stretch: Stretch, steps: int) -> None:
    words, start, end = stretch
    sources = Sources({"doc": " ".join(words)})
    citation = Citation(quote=" ".join([*words[start : start + 3], "[sic]", *words[start + 3 : end]]))

    verdict = check(citation, sources, max_steps=steps)

    assert verdict == check(citation, sources) or (verdict.verdict, verdict.reason) == ("not_found", "out_of_steps")
