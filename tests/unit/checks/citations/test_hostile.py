"""Input made to take for ever ends in seconds, by the count of steps and not by a clock."""

import pytest

from service.checks.citations import Sources, check
from service.debate.findings import Citation

_M = 200_000
"""Characters: a search that takes the square of them would go on for hours."""
_NEAR_REPEATS = "".join(f"the fee is {i} euros per month and year. " for i in range(_M // 10))

_HOSTILE = {
    "one letter": ("a" * 500, "a" * 10 * _M),
    "one letter, long quote": ("a" * (_M - 1), "a" * _M),
    "one word": ("a " * (_M // 4) + "b", "a " * _M),
    "every place fails at its end": ("ab cd " * (_M // 11) + "ab c", "ab cd " * (_M // 6)),
    "near repeats": ("the fee is 1000000 euros per month and year. the fee is 5", _NEAR_REPEATS),
    "near repeats, cut": ("the fee is 99999 euros per month and yea", _NEAR_REPEATS),
    "near repeats, long quote": (_NEAR_REPEATS[:_M].replace("month", "week"), _NEAR_REPEATS),
    "ellipses": ("... the company shall pay it " * (_M // 33), _NEAR_REPEATS),
    "ellipses, first piece everywhere": ("euros per month and ... the fee is not five", _NEAR_REPEATS),
    "points": ("." * _M + "abcdefghijklm", _NEAR_REPEATS),
    "spaced points": (". " * _M + "abcdefghijklm", _NEAR_REPEATS),
    "quotation marks": ('"' * _M + "abcdefghijklm" + '"' * _M, _NEAR_REPEATS),
    "zero widths": ("\u200b" * _M + "abcdefghijklm", "a\u200b" * _M),
    "marks": ("a" + "\u0301\u0323" * (_M // 10) + "abcdefghijklm", "a" + "\u0301" * (_M // 5)),
    "lone surrogates": ("\ud800" * (_M // 3) + "abcdefghijklm", "\udfff\ud800" * (_M // 3)),
    "digits": ("1" * _M + " 23456789012", "1" * 2 * _M),
    "brackets": ("abcdefghijklm " + "[" * _M + "]" * _M, _NEAR_REPEATS),
    "notes": ("abcdefghijklm " + "[sic] " * (_M // 5), _NEAR_REPEATS),
    "nested links": ("[a](#b)" * (_M // 7) + "abcdefghijklm", "[a](#c)" * (_M // 7)),
    "tags": ("<a b>" * (_M // 5) + "abcdefghijklm", "<a " * (2 * _M // 5)),
    "entities": ("&amp;" * (_M // 5) + "abcdefghijklm", "&amp;amp;" * (_M // 5)),
    "hyphens at line ends": ("ab-\n" * (_M // 5) + "ad", "ab-\n" * (_M // 4) + "ac"),
    "page numbers": ("abcdefghijklm nopq", "".join(f"\n\n{i % 9999}\n\n" for i in range(_M // 3))),
    "named pages": ("the fee is due and payable", "".join(f"Page {i % 10_000}\n" for i in range(_M))),
    "one page": ("the fee is due and payable", "Page 1\n" * _M),
    "form feeds": ("the fee is due and payable", "fee\f\n" * _M),
    "pages beside words": ("the fee is payable and due", "the fee is\f\ndue\n" * (_M // 3)),
    "empty lines": ("the fee is due and payable", "\n" * 5 * _M),
    "ellipses in the document": ("the fee is due … and payable now", "the fee is due ... " * (_M // 10)),
    "footers": ("the fee is due and payable", "text\n\nSource: X, 1/2/2020\n\f\n" * (_M // 25)),
    "clauses": ("the fee is due and payable", "".join(f"{i}.{i % 99} Fee\n" for i in range(_M // 10))),
    "every word twice": ("b a c d e f g h i j k l m n", "a b c d e f g h i j k l m n o " * (_M // 14)),
    "underscores": ("a_" * (_M // 3) + "bcdefghijklmnop", "a_" * (_M // 3)),
    "every character": ("abcdefghijklm ☃", "".join(map(chr, range(0x30000)))),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_input_ends_unverified(name: str) -> None:
    quote, document = _HOSTILE[name]

    verdict = check(Citation(quote=quote, location="Section 9"), Sources({"doc": document}))

    assert verdict.verdict != "verified"


def test_a_true_quotation_of_1_mb_is_verified() -> None:
    text = "".join(f"the fee is {i} euros per month and year. " for i in range(30_000))

    verdict = check(Citation(quote=text[: text.index(".", 1_000_000)]), Sources({"doc": "x. " + text}))

    assert verdict.verdict == "verified"


def test_lone_surrogates_count_as_they_stand() -> None:
    document = "x \ud800abc defghijkl mnop\udfff qrs y"

    verdict = check(Citation(quote="\ud800abc  defghijkl mnop\udfff"), Sources({"doc": document}))

    assert verdict.span == (2, 22)


def test_an_alignment_that_would_take_too_long_is_refused_before_it_begins() -> None:
    head, tail = (" ".join(f"{c}{i:05}" for i in range(4_000)) for c in "st")
    document = f"{head} {' '.join(f'a{i:05}' for i in range(4_000))} {tail}"
    quote = f"{head} {' '.join(f'b{i:05}' for i in range(4_000))} {tail}"

    verdict = check(Citation(quote=quote), Sources({"doc": document}))

    assert verdict.reason == "out_of_steps"
