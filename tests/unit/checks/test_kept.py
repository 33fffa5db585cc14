"""What was worked out of documents is kept by tenant and text, within a bound."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from service.checks import kept
from service.checks.citations import Sources, check
from service.debate.findings import Citation
from service.debate.whose import WHOSE


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    kept.drop()
    yield
    kept.drop()


def made(text: str) -> list[str]:
    return kept.once("listed", lambda read: [read], text)


def test_a_document_is_read_once_while_it_is_kept() -> None:
    assert Sources({"D1": "the same text"}).document("D1") is Sources({"D2": "the same text"}).document("D2")


def test_another_work_and_another_text_have_results_of_their_own() -> None:
    assert kept.once("listed", lambda read: [read, "again"], "a") is not made("b")
    assert kept.once("counted", len, "abc") == 3
    assert kept.once("counted", len, "abcd") == 4


def test_a_tenant_has_results_of_its_own() -> None:
    def of(tenant: str) -> list[str]:
        WHOSE.set(tenant)
        return made("the same text")

    first, other, again = (copy_context().run(of, tenant) for tenant in ("one", "other", "one"))

    assert first is again
    assert first is not other


def test_those_not_asked_for_longest_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CHARACTERS", 250)
    texts = [f"{name * 100}" for name in "abc"]

    first, second = made(texts[0]), made(texts[1])
    assert made(texts[0]) is first
    made(texts[2])

    assert made(texts[0]) is first
    assert made(texts[1]) is not second


def test_a_document_larger_than_the_bound_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CHARACTERS", 10)

    assert made("far more than ten characters") == ["far more than ten characters"]


def test_what_is_not_asked_for_between_two_sweeps_is_dropped() -> None:
    stays, goes = made("stays"), made("goes")

    kept.sweep()
    assert made("stays") is stays
    kept.sweep()

    assert made("stays") is stays
    assert made("goes") is not goes


def test_what_was_learnt_of_words_is_dropped_by_each_sweep_as_their_document_may_be_gone() -> None:
    words = kept.once("words", set)
    words.add("gammaburg")

    kept.sweep()

    assert kept.once("words", set) == set()


def test_threads_may_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CHARACTERS", 20_000)
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
        kept.drop()
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
