"""Where a quotation's words stand close together."""

import os
import subprocess
import sys

from hypothesis import example, given
from hypothesis import strategies as st

from service.checks.citations.text import document
from service.checks.citations.text.document import BLOCK, Document

PROGRAM = """
from service.checks.citations.text.document import BLOCK, Document
from service.checks.citations.text.steps import Steps
words = [f"word{n:03}" for n in range(120)]  # each stands once, and more of them than are looked at
steps = Steps(10**6)
document = Document(" ".join(word + "." * (BLOCK // 2) for word in words))
print(document.windows(words, 200, 4, steps), steps.left)
"""


def test_where_words_stand_does_not_hang_on_the_order_of_a_set() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in range(3)
    }

    assert len(told) == 1
    assert told != {"[] 1000000\n"}


@example("don't 5.2 a_b -x- é 条款")
@example("".join(map(chr, range(128))))
@given(st.text(st.sampled_from("aB9 _'-.\n\0é条か")))
def test_each_word_is_indexed_by_the_blocks_in_which_it_stands(text: str) -> None:
    made = Document(text + "x" * BLOCK + " " + text)

    blocks = [made.folded.text[made.cut(n) : made.cut(n + 1)] for n in range(-(-len(made.folded.text) // BLOCK))]
    expected: dict[str, list[int]] = {}
    for n, block in enumerate(blocks):
        for word in {*document._INDEXED.findall(block)}:
            expected.setdefault(word, []).append(n)
    assert made.index == expected
