"""Which tests a draw runs."""

from __future__ import annotations

from tests.loops.collecting import drawn

TESTS = [f"tests/end_to_end/test_debates.py::test_one[{n}]" for n in range(3_000)]


def test_a_seed_draws_one_in_so_many_and_the_same_again() -> None:
    first = [test for test in TESTS if drawn(test, 3, "1")]

    assert 900 < len(first) < 1_100
    assert first == [test for test in TESTS if drawn(test, 3, "1")]
    assert first != [test for test in TESTS if drawn(test, 3, "2")]


def test_every_test_is_drawn_by_some_seed() -> None:
    assert all(any(drawn(test, 3, str(seed)) for seed in range(40)) for test in TESTS[:200])


def test_one_in_one_is_all() -> None:
    assert all(drawn(test, 1, "1") for test in TESTS)
