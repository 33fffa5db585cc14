"""Marks where people read: in report, page and terminal of every format, beside the words and at no other place."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from service.cli.display import page
from service.cli.display.progress import Progress
from service.cli.terminal_text import line
from service.debate.entries import CaseReceived, CheckFound, Entry, GateDecided, Rule
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, Finding, TextsFound
from service.debate.findings import Status as PassageStatus
from service.debate.model import Check, ConvergenceOptions, Debater, Options, PanelOptions, StancesOptions, Turn
from service.debate.replies import Moderation, Objection, Projection, Proposal, Reply
from service.debate.replies.texts import texts_of, with_texts
from service.report import Result, build_result, events, html, markdown, pdf
from service.report.document import pdf as typeset
from service.report.document.contents import report
from service.report.marks import CLOSE, MARK, OPEN, place
from service.report.sentences import answer_sentence
from service.report.shortened import short
from service.report.shown import shown as show
from tests.fixtures import formats
from tests.fixtures.debates import (
    DECIDED,
    DECLINED,
    Replies,
    a_case,
    a_start,
    canned,
    drive,
    found,
    start_of,
    weak_first,
)
from tests.unit.report.pdf_text import pieces, text_of
from tests.unit.report.played import FORMATS, lines
from tests.unit.report.quoting import NOWHERE, marking, nowhere, quoting, words_of

pytestmark = pytest.mark.many

OTHERS: dict[str, Options] = {
    "alone": StancesOptions(formats.debaters(2, stances=True), 1, human_review=True, output_schema={}),
    "majority": ConvergenceOptions(3, 1, human_review=False, judge=False),
    "ideas": PanelOptions(2, 3, False, "brainstorm", "caller", formats.THRESHOLDS, "algorithmic", "manual"),
}
DEBATES = (*FORMATS, *OTHERS, "positions", "evidence")
QUOTED = re.compile(r'words of [^"“”]*? alone"')


def entries_of(name: str, replies: Replies = canned, findings: Any = marking) -> list[Entry]:
    match name:
        case "positions":
            start = a_start(positions=("adopt-x", "adopt-y"))
            start = replace(start, options=replace(start.options, swapped=True))
            return drive(start, replies, findings=findings)
        case "evidence":
            return drive(a_start(2), replies, case=a_case(1, 2), findings=findings)
        case _:
            options = OTHERS.get(name) or formats.plain(name)
            return drive(start_of(options), replies, findings=findings)


def weak(turn: Turn, facts: Facts) -> Reply:
    """Critics are asked twice, moderators want another round, proposers answer objections in advance, and a projection
    has texts at every depth."""
    reply = weak_first(turn, facts)
    if isinstance(reply, Proposal):
        reply = replace(reply, objections=(Objection("It is dear.", "It is not."),))
    if isinstance(reply, Moderation) and turn.round == 1:
        reply = replace(reply, recommend_another_round=True)
    if turn.asks == "stances.synthesizer":
        return Projection('{"decision": "sign", "why": ["it is due"]}')
    return reply


def result(name: str, replies: Replies = canned, findings: Any = marking) -> Result:
    return build_result("d1", lines(entries_of(name, replies, findings)))


def terminal(r: Result, width: int = 80) -> str:
    """The page of a result on a file of 80 columns, on one line."""
    written = io.StringIO()
    page.show(Console(file=written, width=width, highlight=False, markup=False, emoji=False, color_system=None), r)
    wrapped = [line for line in written.getvalue().splitlines() if OPEN in line and not line.lstrip().startswith('"')]
    assert all(len(line.rstrip()) <= width for line in wrapped)
    # A projection is shown as JSON, in which a quotation mark has a backslash.
    return " ".join(written.getvalue().replace("┃", " ").replace('\\"', '"').split())


class Texts(HTMLParser):
    """The text of a page, and the text of every element that marks something."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.marks = "", list[str]()
        self._in_mark = False
        self.feed(page.partition("<body>")[2])

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self._in_mark = tag == "mark"
        if self._in_mark:
            self.marks.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_mark = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_mark:
            self.marks[-1] += data


def typeset_text(r: Result) -> str:
    """Every text that the PDF's template is given, without the breaks for long words."""
    found: list[str] = []

    def read(value: Any) -> None:
        if isinstance(value, str):
            found.append(value.replace("\u200b", ""))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            read(inner)

    read(msgspec.json.decode(msgspec.json.encode(typeset._leaves(msgspec.to_builtins(report(r))))))
    return "\n".join(found)


def surfaces(r: Result) -> dict[str, str]:
    unescaped = re.sub(r"\\([\\`*_\[\]<>#|~&!@${}^.:=+-])", r"\1", markdown(r))
    return {"markdown": unescaped, "html": Texts(html(r)).text, "pdf": typeset_text(r), "terminal": terminal(r)}


def fake(text: str) -> Replies:
    """Replies of which every text ends with this."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        return with_texts(canned(turn, facts), lambda _, said: f"{said} {text}"[:400])

    return reply


def one_mark(path: str, words: str, **others: Any) -> Any:
    """Findings that mark these words in one text of every reply that has it."""

    def finding(check: Check, facts: Facts) -> Finding:
        if check.kind != "texts":
            return marking(check, facts)
        texts = dict(texts_of(facts.said[check.over[-1]]))
        if words not in texts.get(path, ""):
            return TextsFound(())
        start = texts[path].index(words)
        return TextsFound((replace(nowhere(path, (start, start + len(words))), **others),))

    return finding


@pytest.mark.parametrize("name", DEBATES)
def test_every_quotation_that_a_person_reads_has_its_mark_beside_it_wherever_it_stands(name: str) -> None:
    r = result(name, quoting(weak))

    assert r.passages
    for surface, shown in surfaces(r).items():
        found = [(m.group(), shown[m.end() : m.end() + len(NOWHERE) + 1]) for m in QUOTED.finditer(shown)]
        assert found, surface
        assert {words: after for words, after in found if after != f" {NOWHERE}"} == {}, surface


def striking(check: Check, facts: Facts) -> Finding:
    """`marking`, with every argument struck that cites evidence, but for the critics' points."""
    finding = marking(check, facts)
    if not isinstance(finding, CitationsFound) or ".critic." in check.id:
        return finding
    struck = tuple(replace(a, struck="unverified_citation") if a.verdicts else a for a in finding.arguments)
    return CitationsFound(struck)


@pytest.mark.parametrize("name", DEBATES)
def test_every_member_of_a_shown_result_has_the_marks_but_the_recorded_replies(name: str) -> None:
    def unmarked(value: Any, member: str = "") -> Iterator[str]:
        if member in ("passages", "reply", "raw", "ballot_report"):
            return
        if isinstance(value, str):
            for found in QUOTED.finditer(value):
                if not value.startswith(f" {NOWHERE}", found.end()):
                    yield f"{member}: {found.group()}"
        elif isinstance(value, dict | list | tuple):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                yield from unmarked(inner, key if isinstance(key, str) else member)

    r = result(name, quoting(weak), striking)

    assert any(one.argument.text for one in r.struck)
    assert list(unmarked(msgspec.to_builtins(show(r)))) == []


@pytest.mark.parametrize("name", DEBATES)
def test_the_report_shows_every_text_that_was_compared(name: str) -> None:
    """So no mark is missing because its text is."""
    r = result(name, quoting(weak))
    shown = surfaces(r)["markdown"]

    missing = {
        (one.turn, passage.field)
        for one in r.passages
        for passage in one.passages
        if words_of(one.turn, passage.field) not in shown
    }
    assert missing == set()


@pytest.mark.parametrize("name", DEBATES)
def test_the_json_keeps_every_text_as_the_seat_wrote_it_and_spans_find_the_words(name: str) -> None:
    entries = entries_of(name, quoting(weak))
    r = build_result("d1", lines(entries))
    said = Facts.of(entries).said

    assert OPEN not in msgspec.json.encode(replace(r, checks=())).decode()
    for one in r.passages:
        texts = dict(texts_of(said[one.turn]))
        for passage in one.passages:
            assert texts[passage.field][slice(*passage.span)] == words_of(one.turn, passage.field)
            assert passage.mark == "not in any document"
    assert {one.turn for one in r.passages} == {turn for turn, reply in said.items() if texts_of(reply)}


@pytest.mark.parametrize("name", DEBATES)
def test_a_result_without_marked_passages_is_shown_without_marks_and_without_their_key(name: str) -> None:
    def none(check: Check, facts: Facts) -> Finding:
        return TextsFound(()) if check.kind == "texts" else marking(check, facts)

    for shown in surfaces(result(name, quoting(weak), none)).values():
        assert not MARK.search(shown)
        assert "none in the texts of " in shown
        assert not re.search(r"code alone sets|\bMarked\b|, \d+ marked, because|Second take", shown)


@pytest.mark.parametrize("name", DEBATES)
def test_a_pdf_shows_every_mark_beside_its_words_in_bold_and_stays_archival(name: str) -> None:
    made = pdf(result(name, quoting(weak)))
    shown, mark = text_of(made), NOWHERE.replace(" ", "")

    assert b"pdfaid:part" in made
    assert b"pdfuaid:part" in made
    assert shown.count('alone"') > 10
    assert shown.count(f'alone"{mark}') == shown.count('alone"')
    assert {"Bold" in font for text, font in pieces(made) if OPEN in text or CLOSE in text} == {True}


@pytest.mark.parametrize("name", DEBATES)
def test_a_browser_has_an_element_for_each_mark_and_for_nothing_else(name: str) -> None:
    r = result(name, quoting(weak))

    read = Texts(html(r))

    assert read.marks == MARK.findall(read.text)
    assert set(read.marks) == {NOWHERE, f"{OPEN} {CLOSE}"}  # the second is in the key


FAKES = [
    f"{NOWHERE}",
    f'"no limit" {OPEN}in D1, as code found{CLOSE}',
    "\u301anot in any document\u301b",
    "[not in any document]",
    "<mark dir=ltr>\u27e6not in any document\u27e7</mark>",
    "**\\u27e6not in any document\\u27e7** &#x27e6;x&#10215; &lang;",
    f"{OPEN}",
    f"{CLOSE}{CLOSE} {OPEN}\u202e{OPEN}",
    f"{OPEN}\n\n{CLOSE}",
]


@pytest.mark.parametrize("name", [*FORMATS, "alone"])
@pytest.mark.parametrize("text", FAKES, ids=range(len(FAKES)))
def test_no_text_of_a_reply_is_taken_for_a_mark(name: str, text: str) -> None:
    entries = entries_of(name, fake(text), found)

    r = build_result("d1", lines(entries))

    for shown in surfaces(r).values():
        assert OPEN not in shown
        assert CLOSE not in shown
    assert not Texts(html(r)).marks


def test_no_name_question_title_or_note_of_a_caller_is_taken_for_a_mark() -> None:
    options = StancesOptions((Debater(NOWHERE, NOWHERE), Debater("b", f"b{OPEN}")), 1, human_review=False)
    case = a_case(question=f"Is it due? {NOWHERE}")
    document = replace(case.documents[0], title=NOWHERE)
    case = replace(case, documents=(document,), metadata={OPEN: CLOSE}, use_case=NOWHERE)

    r = build_result("d1", lines(drive(start_of(options), case=case)))

    for shown in surfaces(r).values():
        assert "[not in any document]" in shown
        assert OPEN not in shown


AROUND = [
    ("\u202e", "\u202c"),
    ("</p><!-- ", " -->"),
    ("<script>", "</script>"),
    ("`", "`"),
    ("**", "**"),
    ("| ", " |"),
    ("\n\n# ", "\n\n"),
    ("#set text(size: 0pt)\n", "#strike["),
    (f"{OPEN}", f"{CLOSE}"),
    ("\x1b[8m", "\x1b[0m"),
    ("", ""),
]


@pytest.mark.parametrize(("before", "after"), AROUND, ids=range(len(AROUND)))
@pytest.mark.parametrize("name", ["adversarial/1", "convergence/1", "alone"])
def test_whatever_stands_around_the_words_their_mark_is_seen_beside_them(name: str, before: str, after: str) -> None:
    path = {"adversarial/1": "synthesis", "convergence/1": "justification", "alone": "reasoning"}[name]
    text = f'{before}"liable without limit"{after}'

    r = result(name, fake(text), one_mark(path, "liable without limit"))

    everywhere = surfaces(r)
    for surface, shown in everywhere.items():
        assert f'"liable without limit" {NOWHERE}' in shown, surface
    assert Texts(html(r)).marks.count(NOWHERE) == len(re.findall(re.escape(NOWHERE), everywhere["html"]))


def test_a_mark_names_the_reply_in_which_the_words_do_stand() -> None:
    critic = one_mark("synthesis", "so", status="onlyInDebate", attributed="document", turn="1.critic.1")
    rebuttal = one_mark("synthesis", "so", status="onlyInDebate", attributed="document", turn="1.rebuttal.adopt-x.1")
    debater = one_mark("verdict", "so", status="onlyInDebate", attributed="document", turn="1.debater-2.1")

    assert f'"so" {OPEN}only in the debate: Critic, round 1{CLOSE}' in markdown(
        result("adversarial/1", fake('"so"'), critic)
    )
    assert f'"so" {OPEN}only in the debate: Rebuttal of adopt-x, round 1{CLOSE}' in markdown(
        result("positions", fake('"so"'), rebuttal)
    ).replace("\\-", "-")
    name = f"Viktor [{formats.STANCES[1]}]"
    assert f'"so" {OPEN}only in the debate: {name}, round 1{CLOSE}' in terminal(
        result("stances/1", fake('"so"'), debater)
    )


def test_a_speaker_is_named_with_its_round_its_phase_its_order_and_its_take() -> None:
    named = {str(one.turn): one.speaker for form in FORMATS for one in result(form, quoting(weak)).passages}

    assert named["0.framing.1"] == "Framing"
    assert named["1.moderator.1"] == "Moderator, round 1"
    assert named["2.moderator.swapped.2"] == "Moderator, round 2, in reverse order, take 2"
    assert named["1.debater-1.critique.1"] == "Ursula (Debater 1), round 1, critique"
    assert named["0.debater-1.1"].endswith("(seat 1), round 0")


def test_a_clause_that_no_document_has_and_words_that_no_participant_said_have_words_of_their_own() -> None:
    clause = one_mark("synthesis", "clause 99.9", kind="clause", attributed="document")
    said = one_mark("synthesis", "so", attributed="debate")

    assert f"clause 99.9 {OPEN}no document has this clause{CLOSE} says" in markdown(
        result("adversarial/1", fake("clause 99.9 says so."), clause)
    )
    assert f'"so" {OPEN}not in any reply{CLOSE}' in markdown(result("adversarial/1", fake('"so"'), said))


# -- what a reader looks at first


def test_the_first_box_says_how_many_quoted_passages_are_marked_and_the_facts_in_whose_texts() -> None:
    r = result("evidence", fake('"so"'), one_mark("synthesis", "so"))

    box, *_ = markdown(r).partition("## Decision")[2].split("\n\n- ")
    facts = markdown(r).partition("## Outcome in detail")[2].partition("\n## ")[0]
    assert "> Quoted words: 2 of 2 passages marked, which do not stand where the text says." in box
    first, second = "Moderator, round 1", "Moderator, round 2"
    marked, again = f"2: {first}, take 2 (1); {second}, take 2 (1)", f"{first} (1); {second} (1)"
    assert "- **Quoted words:** 4 passages in the texts of 11 replies compared: 4 in none of them" in facts
    assert f"- **Marked:** {marked}" in facts
    assert f"- **Second take:** asked for because of the marks in the first: {again}" in facts
    assert f"{OPEN} {CLOSE} are brackets that code alone sets" in facts
    assert f"Marked {marked} Second take asked for because of the marks in the first: {again}" in terminal(r)


STATUSES = [status for status in get_args(PassageStatus) if status != "opposed"]
"""Where a quotation stands; ``opposed`` is a sentence of another kind."""


def every_status(check: Check, facts: Facts) -> Finding:
    """A quotation of every status in the synthesis of each moderation, and two that are unclear."""
    if check.kind != "texts":
        return marking(check, facts)
    texts = dict(texts_of(facts.said[check.over[-1]]))
    found = (nowhere("synthesis", (0, 3), status=status) for status in (*STATUSES, "unclear"))
    return TextsFound(tuple(found) if "synthesis" in texts else ())


def test_marked_is_what_misleads_and_never_what_is_unclear_or_unchecked() -> None:
    given = lines(entries_of("adversarial/1", canned, every_status))
    r = build_result("d1", given)
    quoting_turns = [one for one in r.passages if one.passages]
    taken, standing = len(quoting_turns), sum(not one.replaced for one in quoting_turns)

    counts, sent = r.passage_counts, [e for n, one in enumerate(given) for e in events(one, "d1", given[:n])]
    told = [data for name, data in sent if name == "passages" and data["compared"]]
    facts = markdown(r).partition("## Decision")[2].partition("\n## Question")[0]

    assert counts is not None
    assert (counts.marked, counts.unclear, counts.unchecked) == (2 * taken, 2 * taken, taken)
    assert [(e["compared"], e["marked"], e["unclear"], e["unchecked"]) for e in told] == [(7, 2, 2, 1)] * taken
    for each, why, term in (
        (2, "marked, which do not stand where the text says", "Marked"),
        (2, "unclear. Code did not find these words, and they may be no quotations", "Unclear"),
        (1, "unchecked, because no document was given", "Unchecked"),
    ):
        assert f"Quoted words: {each * standing} of {7 * standing} passages {why}." in facts
        assert f"- **{term}:** {each * standing}: Moderator, round 1, take 2 ({each})" in facts
        assert f" {term} {each * standing}: Moderator, round 1" in terminal(r)


def test_doubt_alone_has_the_key_to_its_marks() -> None:
    r = result("adversarial/1", fake('"so"'), one_mark("synthesis", "so", status="unclear"))

    facts = markdown(r).partition("## Decision")[2].partition("\n## Question")[0]

    assert f"{OPEN} {CLOSE} are brackets that code alone sets" in facts
    assert f"{OPEN} {CLOSE} are brackets that code alone sets" in terminal(r)
    assert "Marked" not in facts
    assert "Second take" not in facts


def test_a_case_without_compared_replies_says_nothing_about_quoted_words() -> None:
    declined = build_result("d1", lines([CaseReceived(a_case(), "local"), DECLINED]))
    unread = [entry for entry in entries_of("ballot/1", findings=found) if not _compares(entry)]
    before = build_result("d1", lines(unread[:20]))

    for r in (declined, before):
        assert r.passage_counts is None
        assert r.passages == ()
        for shown in surfaces(r).values():
            assert "uoted words" not in shown
            assert "in the texts of" not in shown


def _compares(entry: Entry) -> bool:
    return isinstance(entry, CheckFound) and isinstance(entry.finding, TextsFound)


def test_replies_that_were_not_compared_are_counted_and_said() -> None:
    entries = entries_of("adversarial/1", quoting())
    last = max(n for n, entry in enumerate(entries) if _compares(entry))

    r = build_result("d1", lines(entries[:last]))

    assert r.passage_counts is not None
    assert r.passage_counts.not_compared == 1
    assert "; 1 reply not compared" in markdown(r)


# -- deciders that are asked once more


@pytest.mark.parametrize("name", FORMATS)
def test_a_reply_that_was_replaced_is_shown_before_the_one_that_stands_and_named_so(name: str) -> None:
    r = result(name, quoting(weak))
    report = surfaces(r)["markdown"]

    replaced = [one for one in r.passages if one.replaced and one.seat != "critic"]
    assert bool(replaced) == (name != "ballot/1")
    assert report.count("This reply was asked for once more because of the marks in it.") == len(replaced)
    for heading in re.findall(r"^### (.*), first take", report, re.MULTILINE):
        if heading != "Critic" and name != "panel/1":  # a panel's standing synthesis is its answer, at the top
            first, second = (report.index(f"\n### {heading}{end}") for end in (", first take", " ("))
            assert first < second
    assert {one.turn for one in r.weighed if one.replaced} <= {one.turn for one in replaced}


# -- where texts are shortened, and terminals


@pytest.mark.parametrize("most", range(4, 60))
def test_a_text_that_is_shortened_keeps_its_marks_whole(most: int) -> None:
    text = f'It says "no limit" {NOWHERE} and "so" {OPEN}only in the debate: Critic, round 1{CLOSE} too.'

    cut = short(text, most)

    assert MARK.findall(cut) == MARK.findall(text)
    assert cut.count(OPEN) == cut.count(CLOSE) == 2


def test_the_sentence_that_answers_keeps_the_marks_of_those_after_it() -> None:
    text = f'It is overdue. It says "no limit" {NOWHERE}. So it is. {NOWHERE}'

    assert answer_sentence(text) == f"It is overdue.… {NOWHERE}"
    assert answer_sentence(f'It says "it is due." {NOWHERE} So it is.') == f'It says "it is due." {NOWHERE} So it is.'
    assert answer_sentence("It is overdue. So it is.") == "It is overdue."


def test_on_a_terminal_without_these_brackets_a_mark_has_two_square_ones_and_no_text_has() -> None:
    said = f"[[not in any document]] [{NOWHERE}] [\u200b[x]\u200b]"
    placed = place(said, [((0, 2), "not in any document")])

    shown = line(placed).encode("ascii", "nearest").decode()

    assert re.findall(r"\[\[.*?\]\]", shown) == ["[[not in any document]]"]


def test_a_debate_under_way_says_what_is_marked_and_that_a_decider_is_asked_once_more() -> None:
    entries = entries_of("adversarial/1", fake(f'"so" {NOWHERE}'), one_mark("synthesis", "so"))
    ruled = replace(
        DECIDED.decision, rules=(Rule("valid", holds=True, observed="yes", threshold="", effect="informs"),)
    )
    given = lines([replace(entry, decision=ruled) if isinstance(entry, GateDecided) else entry for entry in entries])
    written = io.StringIO()
    progress = Progress(Console(file=written, width=80, color_system=None))

    for n, each in enumerate(given):
        for name, data in events(each, "d1", given[:n]):
            progress.show_event(name, data)

    shown = " ".join(written.getvalue().split())
    assert "Moderator: of 1 quoted passage 1 not in any document" in shown
    assert "Moderator is asked once more, because of the marks in its words" in shown
    assert OPEN not in shown


# -- events


@pytest.mark.parametrize("name", DEBATES)
def test_the_passages_of_a_turn_come_as_an_event_with_the_members_that_the_result_has(name: str) -> None:
    given = lines(entries_of(name, quoting(weak)))
    r = build_result("d1", given)

    sent = [e for n, each in enumerate(given) for e in events(each, "d1", given[:n]) if e.name == "passages"]

    assert [e.data["turn"] for e in sent] == [one.turn for one in r.passages]
    for event, one in zip(sent, r.passages, strict=True):
        read = tuple({k: v for k, v in msgspec.to_builtins(p).items() if v is not None} for p in one.passages)
        assert event.data.get("passages", ()) == read
        assert event.data["compared"] == event.data["marked"] == len(one.passages)
        assert (event.data["seat"], event.data["round"]) == (one.seat, one.round)
