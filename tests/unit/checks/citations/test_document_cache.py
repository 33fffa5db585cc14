"""Documents read before are kept by their text, within a bound."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from service.checks.citations import Sources, check
from service.checks.citations.text import document_cache
from service.debate.findings import Citation


def test_a_document_is_read_once_while_it_is_kept() -> None:
    assert document_cache.document("the same text") is document_cache.document("the same text")


def test_those_not_asked_for_longest_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_cache, "MOST_CHARACTERS", 250)
    texts = [f"{name * 100}" for name in "abc"]

    first, second = document_cache.document(texts[0]), document_cache.document(texts[1])
    assert document_cache.document(texts[0]) is first
    document_cache.document(texts[2])

    assert document_cache.document(texts[0]) is first
    assert document_cache.document(texts[1]) is not second


def test_a_document_larger_than_the_bound_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_cache, "MOST_CHARACTERS", 10)

    assert document_cache.document("far more than ten characters").folded.text == "far more than ten characters"


def test_threads_may_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_cache, "MOST_CHARACTERS", 20_000)
    texts = [f"Document {i} says that clause {i} is binding on the parties. " * 50 for i in range(20)]

    def verify(i: int) -> str:
        sources = Sources({"doc": texts[i % 20]})
        return check(
            Citation(quote=f"Document {i % 20} sasy that clause {i % 20} is bindnig on the parties"), sources
        ).verdict

    with ThreadPoolExecutor(8) as threads:
        verdicts = set(threads.map(verify, range(200)))

    assert verdicts == {"altered"}  # "sasy" is too short for a slip


def test_a_verdict_near_the_limit_of_steps_does_not_depend_on_what_was_asked_before() -> None:
    text = " ".join(f"Clause {i} says that the fee of item {i} is payable in the month {i}." for i in range(2_000))
    citation = Citation(quote="Clause 1234 says that the fee of item 1234 is payabel in the month 1234")
    others = [Citation(quote=f"Clause {i} says that teh fee of item {i} is payabel") for i in range(0, 2_000, 50)]

    def ask(before: list[Citation], max_steps: int) -> str | None:
        document_cache._kept.clear()
        sources = Sources({"doc": text})
        for other in before:
            check(other, sources)
        return check(citation, sources, max_steps).reason

    limits = range(0, 120_000, 3_000)
    alone = [ask([], limit) for limit in limits]

    assert {*alone} == {None, "out_of_steps"}
    assert [ask(others, limit) for limit in (0, 30_000, 60_000, 90_000)] == [
        ask([], limit) for limit in (0, 30_000, 60_000, 90_000)
    ]
    at = alone.index(None)
    assert [ask(others, limits[k]) for k in (at - 1, at)] == ["out_of_steps", None]
