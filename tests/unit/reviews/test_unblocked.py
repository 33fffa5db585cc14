"""Short texts are worked on where they are, long ones in a thread."""

import threading

import pytest

from service.intake.request import CaseRequest, DocumentRequest, characters
from service.reviews.unblocked import INLINE, unblocked


@pytest.mark.parametrize(("size", "here"), [(0, True), (INLINE, True), (INLINE + 1, False)])
async def test_long_texts_leave_the_event_loop_to_others(size: int, here: bool) -> None:
    assert (await unblocked(size, threading.get_ident) == threading.get_ident()) is here


@pytest.mark.parametrize(
    "case",
    [
        CaseRequest(question="q" * (INLINE + 1), task_type="contract"),
        CaseRequest(question="q", task_type="contract", single_agent_answer="a" * INLINE),
        CaseRequest(question="q", task_type="contract", documents=(DocumentRequest("d" * INLINE),)),
        CaseRequest(question="q", task_type="contract", documents=(DocumentRequest(""),) * (INLINE // 100 + 1)),
    ],
)
def test_a_case_is_long_by_its_question_its_answer_its_documents_or_their_number(case: CaseRequest) -> None:
    assert characters(case) > INLINE


def test_a_short_case_is_not_long() -> None:
    short = DocumentRequest("The cap in clause 9 covers every claim.")
    assert characters(CaseRequest(question="Is it capped?", task_type="contract", documents=(short,) * 3)) < INLINE
