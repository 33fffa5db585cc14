"""Input made to take for ever ends in seconds, by the count of steps and not by a clock."""

import pytest

from service.checks.citations import Sources, check
from service.debate.findings import Citation

_M = 1_000_000
_NEAR_REPEATS = "".join(f"the fee is {i} euros per month and year. " for i in range(100_000))

_HOSTILE = {
    "one letter": ("a" * 500, "a" * 10 * _M),
    "one letter, quote of 1 MB": ("a" * (_M - 1), "a" * _M),
    "one word": ("a " * 250_000 + "b", "a " * _M),
    "every place fails at its end": ("ab cd " * 90_000 + "ab c", "ab cd " * 170_000),
    "near repeats": ("the fee is 1000000 euros per month and year. the fee is 5", _NEAR_REPEATS),
    "near repeats, cut": ("the fee is 99999 euros per month and yea", _NEAR_REPEATS),
    "near repeats, quote of 1 MB": (_NEAR_REPEATS[:_M].replace("month", "week"), _NEAR_REPEATS),
    "ellipses": ("... the company shall pay it " * 30_000, _NEAR_REPEATS),
    "ellipses, first piece everywhere": ("euros per month and ... the fee is not five", _NEAR_REPEATS),
    "points": ("." * _M + "abcdefghijklm", _NEAR_REPEATS),
    "spaced points": (". " * _M + "abcdefghijklm", _NEAR_REPEATS),
    "quotation marks": ('"' * _M + "abcdefghijklm" + '"' * _M, _NEAR_REPEATS),
    "zero widths": ("\u200b" * _M + "abcdefghijklm", "a\u200b" * _M),
    "marks": ("a" + "\u0301\u0323" * 100_000 + "abcdefghijklm", "a" + "\u0301" * 200_000),
    "lone surrogates": ("\ud800" * 300_000 + "abcdefghijklm", "\udfff\ud800" * 300_000),
    "digits": ("1" * _M + " 23456789012", "1" * 2 * _M),
    "brackets": ("abcdefghijklm " + "[" * _M + "]" * _M, _NEAR_REPEATS),
    "notes": ("abcdefghijklm " + "[sic] " * 200_000, _NEAR_REPEATS),
    "nested links": ("[a](#b)" * 150_000 + "abcdefghijklm", "[a](#c)" * 150_000),
    "tags": ("<a b>" * 200_000 + "abcdefghijklm", "<a " * 400_000),
    "entities": ("&amp;" * 200_000 + "abcdefghijklm", "&amp;amp;" * 200_000),
    "hyphens at line ends": ("ab-\n" * 200_000 + "ad", "ab-\n" * 250_000 + "ac"),
    "page numbers": ("abcdefghijklm nopq", "".join(f"\n\n{i % 9999}\n\n" for i in range(300_000))),
    "named pages": ("the fee is due and payable", "".join(f"Page {i % 10_000}\n" for i in range(_M))),
    "one page": ("the fee is due and payable", "Page 1\n" * 1_400_000),
    "form feeds": ("the fee is due and payable", "fee\f\n" * _M),
    "pages beside words": ("the fee is payable and due", "the fee is\f\ndue\n" * 300_000),
    "empty lines": ("the fee is due and payable", "\n" * 5 * _M),
    "ellipses in the document": ("the fee is due … and payable now", "the fee is due ... " * 100_000),
    "footers": ("the fee is due and payable", "text\n\nSource: X, 1/2/2020\n\f\n" * 40_000),
    "clauses": ("the fee is due and payable", "".join(f"{i}.{i % 99} Fee\n" for i in range(100_000))),
    "every word twice": ("b a c d e f g h i j k l m n", "a b c d e f g h i j k l m n o " * 70_000),
    "underscores": ("a_" * 300_000 + "bcdefghijklmnop", "a_" * 300_000),
    "every character": ("abcdefghijklm ☃", "".join(map(chr, range(0x30000)))),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_input_ends_unverified(name: str) -> None:
    quote, document = _HOSTILE[name]

    verdict = check(Citation(quote=quote, location="Section 9"), Sources({"doc": document}))

    assert verdict.verdict != "verified"


def test_a_true_quotation_of_1_mb_is_verified() -> None:
    verdict = check(
        Citation(quote=_NEAR_REPEATS[: _NEAR_REPEATS.index(".", _M)]), Sources({"doc": "x. " + _NEAR_REPEATS})
    )

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
