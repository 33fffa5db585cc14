"""Where a quotation's words stand close together."""

import os
import subprocess
import sys

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
