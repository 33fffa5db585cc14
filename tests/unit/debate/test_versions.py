"""What the name of a version says to a build: it has it, a later build has it, or no build ever had it."""

import pytest

from service.debate.entries import GateDecided, decode, encode
from service.debate.versions import FIRST, Standing, newest, number, standing, version_of
from tests.fixtures.debates import DECIDED


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("judgement/1", {"judgement/1"}, "here"),
        ("judgement/1", {"judgement/1", "judgement/2"}, "here"),
        ("judgement/2", {"judgement/1"}, "later"),
        ("citations/4+abc", {"citations/3+def"}, "later"),
        ("citations/3+abc", {"citations/3+def"}, "never"),
        ("citations/3+words2020-4b0e", {"citations/3+words2020-4b0e"}, "here"),
        ("citations/4+words2031-77", {"citations/3+words2020-4b0e"}, "later"),
        ("judgement/1", {"judgement/2"}, "never"),
        ("judgment/1", {"judgement/1"}, "never"),
        ("judgement/0", {"judgement/1"}, "never"),
        ("judgement/01", {"judgement/1"}, "never"),
        ("judgement/2\n", {"judgement/1"}, "never"),
        ("", {"judgement/1"}, "never"),
    ],
)
def test_a_name_stands_here_later_or_never(name: str, known: set[str], expected: Standing) -> None:
    assert standing(name, known) == expected


def test_the_newest_is_the_one_with_the_highest_number() -> None:
    assert newest({"gate/9": 1, "gate/10": 2, "gate/2": 3}) == "gate/10"
    assert number("citations/3+words2020-4b0e") == 3
    with pytest.raises(ValueError, match=r"FAMILY/NUMBER, found 'gate'"):
        number("gate")


def test_a_record_that_names_no_version_means_the_first_one() -> None:
    assert version_of({}, "gate") == FIRST["gate"] == "gate/1"
    assert version_of({"gate": "gate/2"}, "gate") == "gate/2"


def test_a_record_without_versions_is_written_as_before_there_were_any() -> None:
    assert b"versions" not in encode(DECIDED)


def test_versions_are_read_back_as_they_were_written() -> None:
    written = encode(GateDecided(DECIDED.decision, {"gate": "gate/2"}))

    assert decode(written) == GateDecided(DECIDED.decision, {"gate": "gate/2"})
