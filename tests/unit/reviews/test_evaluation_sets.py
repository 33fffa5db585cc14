"""Which golden sets a process has at hand."""

from __future__ import annotations

from datetime import date

from service.evaluation.sets import files
from service.reviews.evaluation_sets import GoldenShelf


def test_a_clock_that_is_behind_takes_no_shipped_set_away() -> None:
    assert {folder.name for folder in files.shipped()} == set(GoldenShelf().at_hand(date.min))
