"""Documents of any length that do not repeat themselves, drawn from a seed, and one real contract.

A document that repeats itself flatters nobody: each quotation stands in many places, and each place is judged. These
have sentences of varied length and build, of a vocabulary of their own beside the words of contracts, with numbered
clauses, amounts and dates. They begin with the clauses that the canned replies quote.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from service import samples
from tests.fixtures.running import TEXT, repository

STEMS = ("con", "per", "dis", "sub", "tra", "mor", "vi", "lo", "men", "du", "ra", "ti", "sel", "ber", "gan", "fo")
ENDS = ("ment", "tion", "ance", "ing", "ory", "al", "er", "ity", "ed", "s")
SUBJECTS = (
    "The Supplier",
    "The Bank",
    "Each party",
    "A sub-contractor",
    "The Committee",
    "No affiliate",
    "The auditor",
)
VERBS = ("shall", "may", "must not", "undertakes to", "is entitled to", "has agreed to", "will promptly")
DOES = ("notify", "reimburse", "inspect", "retain", "withhold", "assign", "terminate", "deliver", "certify", "review")
WHEN = ("within", "no later than", "for a period of", "at intervals of", "after the expiry of")
CONTRACT = "cuad-garrett.txt"
"""Of the documents beside the project; without them the shipped sample contract is taken."""


def document(length: int, seed: int) -> str:
    """A text of so many characters; another seed gives another one."""
    parts, have = [TEXT[:length]], min(length, len(TEXT))
    sentences = _sentences(random.Random(seed))
    while have < length:
        parts.append(f" {next(sentences)}")
        have += len(parts[-1])
    return "".join(parts)[:length]


def contract(seed: int) -> str:
    """A real contract, behind the clauses that are quoted and a line that makes it another document."""
    path = repository().parent / "shared" / "data" / "documents" / CONTRACT
    if path.is_file():
        text = path.read_text("utf-8")
    else:
        text = "\n\n".join(str(one["text"]) for one in samples.load("contract").case["documents"])
    return f"{TEXT}\nCopy {seed} of this agreement.\n\n{text}"


def _sentences(draw: random.Random) -> Iterator[str]:
    number = 13
    while True:
        number += draw.random() < 0.2
        clause = f"{number}.{draw.randint(1, 40)}"
        words = [
            draw.choice(SUBJECTS),
            draw.choice(VERBS),
            draw.choice(DOES),
            "the",
            *(_word(draw) for _ in range(draw.randint(2, 9))),
        ]
        if draw.random() < 0.5:
            words += [draw.choice(WHEN), str(draw.randint(2, 400)), draw.choice(("days", "months", "business days"))]
        if draw.random() < 0.3:
            words.append(f"for an amount of EUR {draw.randint(1_000, 9_999_999):,}")
        if draw.random() < 0.25:
            words += ["under clause", f"{draw.randint(1, number)}.{draw.randint(1, 40)}"]
        yield f"{clause} {' '.join(words)}."


def _word(draw: random.Random) -> str:
    if draw.random() < 0.4:
        return draw.choice(("of", "and", "to", "in", "any", "written", "notice", "such", "fees", "or", "loss", "by"))
    return "".join(draw.choices(STEMS, k=draw.randint(1, 2))) + draw.choice(ENDS)
