"""Stacks that were sampled, as boxes and as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench.flame import NARROW, Box, boxes, picture, stacks

FOLDED = "main;a;b 3\nmain;a 1\nmain;c;<lambda> 4\n"


def test_a_box_is_as_wide_as_the_samples_of_its_function_and_stands_on_its_caller() -> None:
    assert boxes(stacks(FOLDED), 0) == [
        Box("main", 0.0, 1.0, 0, 8),
        Box("a", 0.0, 0.5, 1, 4),
        Box("b", 0.125, 0.375, 2, 3),
        Box("c", 0.5, 0.5, 1, 4),
        Box("<lambda>", 0.5, 0.5, 2, 4),
    ]


def test_what_is_below_the_loop_is_left_out() -> None:
    assert stacks("start;asyncio.runners:Runner.run;work 2\nelsewhere 1\n") == [(("work",), 2), (("elsewhere",), 1)]


def test_a_line_without_a_count_is_refused() -> None:
    with pytest.raises(ValueError, match="found 'main;a'"):
        stacks("main;a")


def test_the_picture_is_svg_in_which_names_are_escaped_and_whole_in_titles() -> None:
    drawn = ElementTree.fromstring(picture(boxes(stacks(FOLDED)), "CPU & more"))
    titles = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}title")]

    assert titles == ["main 100.0 %", "a 50.0 %", "b 37.5 %", "c 50.0 %", "<lambda> 50.0 %"]


def test_boxes_too_narrow_to_see_are_left_out_and_their_room_stays() -> None:
    found = boxes([(("a",), 1), (("b",), 999)], narrow=NARROW)

    assert found == [Box("b", 0.001, 0.999, 0, 999)]
