"""The sentence that answers, in a decider's words: found whole, whatever stands around it, in any language."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.report import sentence_ends, sentences
from service.report.marks import CLOSE, MARK, OPEN
from service.report.sentences import READ, answer_sentence
from service.report.shortened import short

MARKED = f"{OPEN}not in any document{CLOSE}"

LAYOUT = {
    "a heading": ("# Verdict\n\nThe cap holds.\nMore of it.", "The cap holds."),
    "a heading that is a sentence": ("## The liability is capped.\n\nReasons.", "The liability is capped."),
    "nothing but a heading": ("# The liability is capped", "The liability is capped"),
    "an underlined heading": ("Verdict:\n=======\nThe cap holds. More.", "The cap holds."),
    "a bold heading": ("**Final answer**\n\nThe cap holds. More.", "The cap holds."),
    "bold words": ("The **cap** *holds* at `USD 5`. More.", "The cap holds at USD 5."),
    "a bold sentence": ("**The cap holds.** It is in clause 9.", "The cap holds."),
    "a sum with stars": ("It is 5 * 3 * 2 in all. More.", "It is 5 * 3 * 2 in all."),
    "names with underscores": ("Set max_round_trips to 5. More.", "Set max_round_trips to 5."),
    "a link": ("See [clause 9](https://example.org/9). More.", "See clause 9."),
    "a label in brackets": ("[The liability is uncapped] holds. More.", "[The liability is uncapped] holds."),
    "a label": ("Answer: The cap holds. More.", "The cap holds."),
    "a bold label": ("**Verdict:** The cap holds. More.", "The cap holds."),
    "a label on its own line": ("Final answer:\nThe cap holds. More.", "The cap holds."),
    "an announcement": ("Here is my answer: The cap holds. More.", "The cap holds."),
    "an announcement on its own line": ("Here's the final verdict:\n\nThe cap holds. More.", "The cap holds."),
    "a label alone": ("Answer:", ""),
    "a German label": ("Fazit: Die Haftung ist begrenzt. Mehr.", "Die Haftung ist begrenzt."),
    "a list": ("- Capped at 5 million\n- Uncapped for fraud", "Capped at 5 million"),
    "a numbered list": ("1. The liability is capped.\n2. It is not void.", "The liability is capped."),
    "a list that is announced": (
        "It is capped in two cases:\n\n1. breach of clause 9;\n2. late notice.\n\nMore.",
        "It is capped in two cases: breach of clause 9; late notice.",
    ),
    "lines of one paragraph": ("The cap holds\nin clause 9. More.", "The cap holds in clause 9."),
    "a quotation's sign": ("> The cap holds.\n> More.", "The cap holds."),
    "a fence": ("```\nThe cap holds.\n```", "The cap holds."),
    "a rule": ("---\nThe cap holds. More.", "The cap holds."),
    "tags": ("<b>It</b> holds. More.", "<b>It</b> holds."),
    "nothing": ("", ""),
    "white space and stars": (" \n **\n# ", ""),
}
ENDS = {
    "a short last word": ("It is due. So pay.", "It is due."),
    "No. before a number": ("Clause No. 5 applies. More.", "Clause No. 5 applies."),
    "No. as an answer": ("No. The Supplier is liable. More.", "No. The Supplier is liable."),
    "Latin": (
        "It covers costs, e.g. Fees of counsel, i.e. All. More.",
        "It covers costs, e.g. Fees of counsel, i.e. All.",
    ),
    "sections": (
        "Under Sec. 5 and Art. IV and Art. 5a it holds. More.",
        "Under Sec. 5 and Art. IV and Art. 5a it holds.",
    ),
    "art as a word": ("It is state of the art. More of it.", "It is state of the art."),
    "companies": ("Acme Inc. Holdings pays. More.", "Acme Inc. Holdings pays."),
    "initials": ("J. Smith signs. More.", "J. Smith signs."),
    "an option's letter": ("Adopt option B. It is cheaper.", "Adopt option B."),
    "letters with stops": ("It follows U.S. Federal law. More.", "It follows U.S. Federal law."),
    "a number at the end": ("The cap is USD 5. The rest is free.", "The cap is USD 5."),
    "a number with a fraction": ("The cap is USD 5,000,000.50. More.", "The cap is USD 5,000,000.50."),
    "a version": ("Use 2.0.1 of it. More.", "Use 2.0.1 of it."),
    "brackets": ("It holds (see cl. 9. That is all) today. More.", "It holds (see cl. 9. That is all) today."),
    "quotation marks": ('It says "It is due. So it is." and stops. More.', 'It says "It is due. So it is." and stops.'),
    "quotation marks of print": (
        "It says “It is due. So it is.” and stops. More.",
        "It says “It is due. So it is.” and stops.",
    ),
    "a bracket that never closes": ("It holds (see clause 9. More of it.", "It holds (see clause 9."),
    "an exclamation": ("Do not sign! More.", "Do not sign!"),
    "a German date": ("Ab dem 1. Januar 2027 gilt § 5 Abs. 2. Mehr.", "Ab dem 1. Januar 2027 gilt § 5 Abs. 2."),
    "a German date at first": ("1. Januar 2027 ist der Stichtag. Mehr.", "1. Januar 2027 ist der Stichtag."),
    "German abbreviations": (
        "Die Haftung ist z. B. auf 5 Mio. Euro begrenzt. Mehr.",
        "Die Haftung ist z. B. auf 5 Mio. Euro begrenzt.",
    ),
    "German quotation marks": (
        "Es heißt „Er zahlt. Sofort.“ im Vertrag. Mehr.",
        "Es heißt „Er zahlt. Sofort.“ im Vertrag.",
    ),
    "Japanese": ("責任は5.5百万ドルに限られる。理由は次のとおり。", "責任は5.5百万ドルに限られる。"),
    "a Japanese quotation": ("甲は「有効です。」と述べた。次の文。", "甲は「有効です。」と述べた。"),
    "Chinese": ("责任是有限的！原因如下。", "责任是有限的！"),
    "Hindi": ("सीमा लागू है। कारण यह है।", "सीमा लागू है।"),
}
FRAMES = {
    "the question is whether": "The question is whether the cap holds.",
    "the core issue here is": "The core issue here is whether the cap holds.",
    "the debate concerns": "This debate concerns the cap of clause 9.",
    "we were asked": "We were asked whether the cap holds.",
    "a question": "Is the liability capped?",
    "an account of the work": "I have weighed the arguments of both sides.",
    "German": "Die zentrale Frage ist, ob die Haftung begrenzt ist.",
    "German, to be decided": "Zu klären ist, ob die Haftung begrenzt ist.",
    "Japanese": "問題は、責任に上限があるかどうかである。",
}
TELLING = (
    "The case turns on whether notice was given.",
    "The question of price is settled by clause 9.",
    "The decision is to defer.",
    "The case for adoption is about even.",
    "The main issue is the cap, and it holds.",
    "Whether the cap holds is open.",
)


@pytest.mark.parametrize(("text", "said"), LAYOUT.values(), ids=LAYOUT)
def test_what_stands_around_a_sentence_is_left_out(text: str, said: str) -> None:
    assert answer_sentence(text) == said


@pytest.mark.parametrize(("text", "said"), ENDS.values(), ids=ENDS)
def test_a_sentence_ends_where_a_reader_would_end_it(text: str, said: str) -> None:
    assert answer_sentence(text) == said


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_sentence_that_only_frames_is_passed_over_unless_it_is_all_there_is(frame: str) -> None:
    assert answer_sentence(f"{frame} The cap holds. More.") == "The cap holds."
    assert answer_sentence(f"{frame}\n\nThe cap holds. More.") == "The cap holds."
    assert answer_sentence(frame) == frame


@pytest.mark.parametrize("said", TELLING)
def test_a_sentence_that_tells_is_kept(said: str) -> None:
    assert answer_sentence(f"{said} The cap holds.") == said


@pytest.mark.parametrize("bare", ["Yes.", "No.", "Yes", "**No**", "Only in part.", "It depends.", "Ja.", "はい。"])
def test_a_bare_answer_is_joined_with_the_sentence_after_it(bare: str) -> None:
    found = answer_sentence(f"{bare}\n\nThe cap of clause No. 5 holds. More.")

    assert found.endswith("The cap of clause No. 5 holds.")
    assert answer_sentence(bare) == bare.strip("*")


SPOKEN = """The cap holds at USD 5,000.50 No. 5 e.g. it Option B. is due. (see cl. 9) "yes" 責任。 Abs. 2 U.S. 1. Januar
Yes. So holds. …"""
WORDS = st.sampled_from([*SPOKEN.split(), MARKED])


@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_whatever_is_said_the_sentence_is_whole_words_of_it_in_their_order(text: str) -> None:
    found = answer_sentence(text)

    kept = MARK.sub("", found).replace("…", "").split()
    given_ = MARK.sub("", text).replace("…", "").replace("。", "。 ").split()
    at = [n for n in range(len(given_) + 1) if given_[n : n + len(kept)] == kept]
    assert at
    assert bool(kept) or not given_
    assert set(MARK.findall(found)) == set(MARK.findall(text))


@given(st.text(max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    found = answer_sentence(text)

    assert found == " ".join(found.split())
    assert len(short(found, 80)) <= 80 or MARK.search(found)


@pytest.mark.parametrize("part", ["A. ", '"a. B', "**a ", "the question ", "- ", OPEN, "(a) The ", "> ", "a\n", "`"])
def test_a_text_of_any_length_is_read_to_a_limit(part: str) -> None:
    assert len(answer_sentence(part * 30_000)) <= READ + 10


@given(st.text(alphabet="ab 0é責任ーデ́。,.‍", max_size=60), st.integers(4, 50))
def test_a_cut_is_never_within_a_word_or_a_number_that_would_fit(text: str, most: int) -> None:
    whole, cut = " ".join(text.split()), short(text, most)

    assert len(cut) <= most
    if cut != whole:
        kept, rest = cut[:-1], whole[len(cut) - 1 :]
        assert cut.endswith("…")
        assert whole.startswith(kept)
        within = re.search(r"[ab0é]$", kept) and re.match(r"[ab0é\u0301]", rest)
        assert not within or " " not in kept or re.fullmatch(r"\S*", kept.rpartition(" ")[2])


@pytest.mark.parametrize("most", range(12, 30))
def test_a_number_whose_groups_stand_apart_is_not_cut(most: int) -> None:
    cut = short("It may cost USD 5 000 000 in all", most)

    assert not re.search(r"\d…$", cut) or cut.endswith("5 000 000…")


PIECES = st.lists(
    st.sampled_from(
        [
            *("The cap", "holds.", "it holds!", "Yes.", "No", "The question is whether", "why?", "Answer:", "cases:"),
            *(
                "e.g.",
                "No. 5",
                "3.",
                "Option B.",
                "However",
                "\n",
                "\n\n",
                "- ",
                "1. ",
                "2. ",
                "# ",
                "> ",
                "はい。",
                "と",
            ),
            *("**bold**", "_x_", "`c`", "[l](https://a.b)", "*", "(", ")", '"', "“", "”", "„", "「", "」", MARKED),
        ]
    ),
    max_size=60,
).map(" ".join)


@given(PIECES)
def test_reading_no_further_than_the_answer_finds_what_reading_all_finds(text: str) -> None:
    """The definition: all sentences of the text are found, and then the one that answers is taken from them."""
    found = list(sentences._sentences(sentences._led(sentences._blocks(sentences._beginning(text)))))
    telling = [said for said in found if not sentences._frames(said)] or found[:1]
    kept = telling[0] if telling else ""
    if len(telling) > 1 and sentences._BARE.fullmatch(kept):
        kept = f"{kept}{'' if kept.endswith(('.', '!', '。', '！')) else '.'} {telling[1]}"
    said = answer_sentence(text)
    assert said == kept or (MARK.search(text) and said.startswith(kept))


@given(PIECES)
def test_ends_found_one_by_one_are_those_of_the_whole_line(text: str) -> None:
    """The ends are those at which all is closed; where there is none, all stops that may end a sentence."""
    line = " ".join(text.split())
    stops = list(sentence_ends._stops(line, []))
    ends = list(sentence_ends.ends_of(line))
    assert ends == (list(sentence_ends._closed(line, stops)) or stops)


@pytest.mark.parametrize("marked", ["*A*", "**A**", "***A***", "__A__", "`A`", "``A``", "[A](#b)", "![A](/b)"])
def test_each_mark_alone_is_taken_from_its_word(marked: str) -> None:
    """A line that has none of the marks is left as it is: the guard has to know each of them."""
    assert answer_sentence(f"{marked} is so. More.") == "A is so."
