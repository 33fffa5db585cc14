"""The spans of a recorded debate: connected, within the debate, the same for any worker, and without content."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import Arrival, AttemptFailed, DebateConcluded, TurnAsked, TurnSpoke
from service.debate.kernel import FORMATS
from service.debate.model import HumanReview
from service.observing import attributes as names
from service.policy.traces import Traces
from service.report import trace
from service.report.trace import attempt_span, batch_span, debate_span, kept_for_itself, spans, trace_of
from tests.fixtures import formats
from tests.fixtures.debates import World, a_start, drive, start_of
from tests.vectors import traces


def test_the_spans_are_those_of_the_golden_file() -> None:
    assert traces.golden() == traces.GOLDEN.read_text("utf-8"), "python -m tests.vectors.traces writes it anew"


def test_every_span_but_the_debate_s_is_a_part_of_another_one() -> None:
    made = traces.made()
    ids = [span.id for span in made]

    assert len(set(ids)) == len(ids)
    assert made[0].id == debate_span(traces.DEBATE)
    assert made[0].parent == traces.SPAN
    assert {span.parent for span in made[1:]} <= set(ids)
    assert {span.trace for span in made} == {traces.TRACE}


def test_there_is_a_span_for_each_turn_attempt_and_check_and_none_ends_before_it_begins() -> None:
    entries, made = traces.debate(), traces.made()
    kinds = [span.name.partition(" ")[0] for span in made]
    asked = [entry for entry in entries if isinstance(entry, TurnAsked)]

    assert kinds.count("turn") == len({entry.turn for entry in asked})
    assert kinds.count("chat") == len(asked)
    assert kinds.count("check") == sum(type(entry).__name__ == "CheckFound" for entry in entries)
    assert all(made[0].start_us <= span.start_us <= span.end_us <= made[0].end_us for span in made)


def test_an_attempt_has_the_id_that_its_vendor_was_told_and_what_it_cost() -> None:
    entries, made = traces.debate(), {span.id: span for span in traces.made()}
    spoke = [entry for entry in entries if isinstance(entry, TurnSpoke)]
    failed = [entry for entry in entries if isinstance(entry, AttemptFailed)]

    assert {entry.reason for entry in failed} == {"overload", "lost"}
    ended: list[TurnSpoke | AttemptFailed] = [*spoke, *failed]
    for entry in ended:
        span = made[attempt_span(traces.DEBATE, entry.turn, entry.attempt)]
        assert span.kind == "client"
        assert span.attributes[names.CHARGED] == entry.charge.amount / 1_000_000
        assert (span.error, span.attributes.get(names.ERROR_TYPE)) == (
            (entry.reason, entry.reason) if isinstance(entry, AttemptFailed) else (None, None)
        )


def test_ids_follow_from_the_debate_alone() -> None:
    """So a worker that never saw a span names it, and two debates share none."""
    entries = traces.debate(None)
    mine, same, other = (
        spans(debate, "acme", entries, traces.moments(entries, second_from=second))
        for debate, second in ((traces.DEBATE, 5), (traces.DEBATE, 9), (traces.DEBATE[:-1] + "2", 5))
    )

    assert [span.id for span in mine if span.name != "append"] == [span.id for span in same if span.name != "append"]
    assert not {span.id for span in mine} & {span.id for span in other}
    assert mine[0].trace == trace_of(traces.DEBATE, None) != other[0].trace
    assert mine[0].parent is None


def test_a_debate_whose_request_is_kept_nowhere_is_the_root_of_its_trace() -> None:
    made = traces.made(Arrival(trace=traces.TRACE, span=traces.SPAN, sampled=False))

    assert (made[0].trace, made[0].parent) == (traces.TRACE, None)


def test_a_debate_of_a_batch_has_a_trace_of_its_own_that_names_the_batch() -> None:
    """Ten thousand debates would be one trace otherwise."""
    made = traces.made(Arrival(door="batch", trace=traces.TRACE, batch="b-1", span=traces.SPAN, sampled=True))

    assert made[0].trace == trace.trace_of(traces.DEBATE, None)
    assert made[0].parent is None
    assert made[0].links == ((traces.TRACE, batch_span("b-1")),)


def test_no_span_has_a_word_of_the_case_or_of_a_reply() -> None:
    entries, words = traces.debate(), str(traces.made())
    replies = [entry.reply for entry in entries if isinstance(entry, TurnSpoke)]

    assert entries[0].case.question not in words  # type: ignore[union-attr]
    texts = [text for reply in replies for text in _texts(reply) if len(text) > 12]
    assert texts
    assert [text for text in texts if text in words] == []


def test_words_are_in_spans_as_they_are_let_in() -> None:
    entries = traces.debate()
    made = spans(traces.DEBATE, "acme", entries, traces.moments(entries), words=lambda text: f"<{text[:9]}>")
    replies = [entry for entry in entries if isinstance(entry, TurnSpoke)]

    question = entries[0].case.question  # type: ignore[union-attr]
    (asked,) = json.loads(str(made[0].attributes[names.INPUT_MESSAGES]))
    assert asked == {"role": "user", "parts": [{"type": "text", "content": f"<{question[:9]}>"}]}
    said = [str(span.attributes[names.OUTPUT_MESSAGES]) for span in made if names.OUTPUT_MESSAGES in span.attributes]
    assert len(said) >= len(replies)
    assert all(json.loads(each)[0]["role"] == "assistant" and "<" in each for each in said)
    assert question not in str(made)


NUMBERS = "call\n1234567\tor\nDE89370400440532013000"


def test_what_a_pattern_finds_is_taken_out_of_a_reply_before_it_becomes_json() -> None:
    """In JSON a new line is a letter before the number, so that none begins there."""
    entries = traces.debate()
    at = next(n for n, entry in enumerate(entries) if isinstance(entry, TurnSpoke))
    spoke = entries[at]
    assert isinstance(spoke, TurnSpoke)
    reply = msgspec.to_builtins(spoke.reply)
    name = next(name for name, value in reply.items() if isinstance(value, str) and len(value) > 12)
    entries[at] = msgspec.convert({**msgspec.to_builtins(spoke), "reply": {**reply, name: NUMBERS}}, TurnSpoke)

    made = str(spans(traces.DEBATE, "acme", entries, traces.moments(entries), words=Traces(content=True).shown))

    assert made.count("[redacted]") >= 2
    assert "1234567" not in made
    assert "3704" not in made


@pytest.mark.parametrize(
    "said", [json.dumps({"a": NUMBERS}), NUMBERS, '"\\u000a1234567 \\ud83d \\u002b DE89\\u002037040044"']
)
def test_what_is_escaped_in_a_reply_that_was_not_read_is_taken_out_too(said: str) -> None:
    entries = [replace(entry, said=said) if isinstance(entry, AttemptFailed) else entry for entry in traces.debate()]
    made = str(spans(traces.DEBATE, "acme", entries, traces.moments(entries), words=Traces(content=True).shown))

    assert "[redacted]" in made
    assert "1234567" not in made
    assert "3704" not in made


def test_a_caller_is_no_worker() -> None:
    """The first records are its own, and it may abort what a worker goes on with."""
    entries = traces.debate()
    at = [each._replace(writer="" if n in (0, 1, 2, 6) else "worker") for n, each in enumerate(traces.moments(entries))]
    whole, *parts = spans(traces.DEBATE, "acme", entries, at)

    assert whole.attributes[names.WORKER] == ("worker",)
    assert {span.attributes.get(names.WORKER) for span in parts} == {None, "worker"}
    assert [event.name for event in whole.events].count("debate.claimed") == 1


@pytest.mark.parametrize("form", sorted(FORMATS))
@settings(max_examples=15)
@given(seed=st.integers(0, 400), data=st.data())
def test_every_debate_of_every_format_is_connected(form: str, seed: int, data: st.DataObject) -> None:
    """With lost, failed and refused turns, whoever wrote what."""
    entries = World(seed, failing=15, refusing=3).drive(start_of(data.draw(formats.options(form))))
    made = spans(traces.DEBATE, "acme", entries, traces.moments(entries, second_from=seed % len(entries)))
    ids = {span.id for span in made}

    assert made[0].name == f"debate {form.partition('/')[0]}"
    assert len(ids) == len(made)
    assert {span.parent for span in made[1:]} <= ids
    assert all(made[0].start_us <= span.start_us <= span.end_us <= made[0].end_us for span in made)


def test_what_went_wrong_or_is_for_a_person_is_kept_for_itself() -> None:
    (end,) = [entry for entry in drive(a_start()) if isinstance(entry, DebateConcluded)]
    usual = replace(end.outcome, human_review=HumanReview(required=False))

    assert not kept_for_itself(replace(usual, status="completed"))
    assert kept_for_itself(replace(usual, human_review=HumanReview(required=True)))
    assert all(kept_for_itself(replace(usual, status=status)) for status in ("truncated", "failed", "aborted"))


def _texts(found: object) -> list[str]:
    if isinstance(found, str):
        return [found]
    if isinstance(found, list | tuple):
        return [text for each in found for text in _texts(each)]
    return [text for name in getattr(found, "__struct_fields__", ()) for text in _texts(getattr(found, name))]
