"""Documents read before are kept by their text, within a bound."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from service.citations import Sources, check, kept
from service.debate.findings import Citation


def test_a_document_is_read_once_while_it_is_kept() -> None:
    assert kept.document("the same text") is kept.document("the same text")


def test_those_not_asked_for_longest_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CHARACTERS", 250)
    texts = [f"{name * 100}" for name in "abc"]

    first, second = kept.document(texts[0]), kept.document(texts[1])
    assert kept.document(texts[0]) is first
    kept.document(texts[2])

    assert kept.document(texts[0]) is first
    assert kept.document(texts[1]) is not second


def test_a_document_larger_than_the_bound_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CHARACTERS", 10)

    assert kept.document("far more than ten characters").folded.text == "far more than ten characters"


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
