"""How an alert's expression is taken apart."""

import pytest

from tests.dashboards.taken_apart import parts


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ('up{job="a>b"} == 0', ['up{job="a>b"}']),
        ("(a > 1 and b >= 2) or (c < 14.4 * 0.005)", ["a", "b", "c"]),
        ('max by (x) (a) unless absent(b{c=~"d or e"})', ["max by (x) (a)", 'b{c=~"d or e"}']),
        ("a == 0 and on (x, y) max by (x, y) (b) == 1", ["a", "max by (x, y) (b)"]),
        ("(a or b) - time() < 14 * 86400", ["(a or b) - time()"]),
        ("sum(a > 0) / sum(b) != 1", ["sum(a > 0) / sum(b)"]),
    ],
)
def test_an_alert_is_taken_apart_into_what_it_compares(expr: str, expected: list[str]) -> None:
    assert parts(expr) == expected
