"""One item, its label and its debate: one score."""

from datetime import date
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from service.evaluation.scoring.scores import CriticScore, PairScore, QuestionScore, Score, is_as_labelled
from service.evaluation.scoring.scoring import score
from service.evaluation.sets.files import load
from service.evaluation.sets.golden_set import GoldenSet
from tests.unit.evaluation.scoring.seen import critique, moderation, point, seen

GOLDEN = Path(__file__).parents[3] / "fixtures/golden"


def golden(name: str) -> GoldenSet:
    return load(GOLDEN / name, date(2026, 11, 27))


def scored(name: str, item: str, observed: object) -> Score:
    of = golden(name)
    return score(of.asked, of.asked.item(item), of.sealed[item], observed)  # type: ignore[arg-type]


def test_an_answer_is_right_where_it_is_the_label_s() -> None:
    for item, label in golden("tiny-questions").sealed.items():
        right, wrong = (
            scored("tiny-questions", item, seen("ballot/1", said))
            for said in (label.answer, "yes no".replace(label.answer, "").strip())
        )

        assert isinstance(right, QuestionScore)
        assert isinstance(wrong, QuestionScore)
        assert (right.right, right.answer) == (True, label.answer)
        assert (wrong.right, wrong.why_none) == (False, None)


def test_no_answer_is_wrong_and_says_why() -> None:
    found = scored("tiny-questions", "q1", seen("panel/1", "It depends."))

    assert isinstance(found, QuestionScore)
    assert (found.right, found.answer, found.why_none, found.said) == (False, None, "notInList", "It depends.")


def test_both_twins_are_scored_by_the_same_rule() -> None:
    observed = seen(critique=critique(point(1, text="The limit is EUR 80,000 now.")))

    sound, flawed = scored("tiny-critic", "c3", observed), scored("tiny-critic", "c4", observed)

    assert isinstance(sound, CriticScore)
    assert isinstance(flawed, CriticScore)
    assert (sound.yes, sound.flawed) == (True, False)
    assert (flawed.yes, flawed.flawed, flawed.by_code) == (True, True, False)


def test_a_quotation_that_overlaps_the_decisive_passage_is_found_in_the_item_s_own_document() -> None:
    of = golden("tiny-critic")
    span = of.sealed["c1"].span  # type: ignore[union-attr]
    text = next(d.text for d in of.asked.documents(of.asked.item("c1")) if d.id == span.document)
    at = text.index(span.quote)

    inside = scored("tiny-critic", "c1", seen(critique=critique(point(1, at=("D1", at, at + 4)))))
    beside = scored("tiny-critic", "c1", seen(critique=critique(point(1, at=("D1", at - 4, at)))))

    assert isinstance(inside, CriticScore)
    assert isinstance(beside, CriticScore)
    assert (inside.yes, beside.yes) == (True, False)


def test_a_flaw_that_code_caught_is_never_the_critic_s() -> None:
    observed = seen(critique=critique(point(1, text="EUR 80,000")), struck_by_code=(1,))

    flawed, sound = scored("tiny-critic", "c4", observed), scored("tiny-critic", "c3", observed)

    assert isinstance(flawed, CriticScore)
    assert isinstance(sound, CriticScore)
    assert flawed.by_code
    assert sound.yes


def test_without_a_critique_a_flaw_is_missed_and_a_sound_proposal_raises_no_alarm() -> None:
    flawed, sound = (scored("tiny-critic", item, seen(critique=None)) for item in ("c4", "c3"))

    assert isinstance(flawed, CriticScore)
    assert isinstance(sound, CriticScore)
    assert (flawed.yes, sound.yes) == (None, None)


def test_a_moderator_is_judged_by_its_first_conclusion_and_both_places_are_kept() -> None:
    observed = seen(moderation=moderation("upheld", "first"), swapped=moderation("rejected", "first"))

    found = scored("tiny-pairs", "m1", observed)

    assert isinstance(found, PairScore)
    assert (found.right, found.conclusion, found.swapped) == (True, "upheld", "rejected")
    assert (found.slot, found.swapped_slot) == ("first", "first")


def test_a_moderator_that_gave_no_reply_is_not_right() -> None:
    found = scored("tiny-pairs", "m1", seen(moderation=None))

    assert isinstance(found, PairScore)
    assert (found.right, found.conclusion) == (False, None)


def test_item_and_label_of_two_kinds_are_refused() -> None:
    questions, critics = golden("tiny-questions"), golden("tiny-critic")

    with pytest.raises(TypeError, match="one kind"):
        score(questions.asked, questions.asked.item("q1"), critics.sealed["c1"], seen())


def test_a_score_is_the_same_json_read_back_and_an_interruption_changes_one_member_alone() -> None:
    undisturbed = scored("tiny-questions", "q1", seen("ballot/1", "yes"))
    killed = scored("tiny-questions", "q1", seen("ballot/1", "yes", lost=700))

    assert msgspec.json.decode(msgspec.json.encode(killed), type=Score) == killed
    assert killed != undisturbed
    unlost = replace(killed, run=replace(killed.run, lost=undisturbed.run.lost))
    assert msgspec.json.encode(unlost) == msgspec.json.encode(undisturbed)


@pytest.mark.parametrize(
    ("flawed", "yes", "by_code", "as_labelled"),
    [
        (True, True, False, True),
        (True, True, True, False),
        (True, False, False, False),
        (True, None, False, False),
        (False, True, False, False),
        (False, True, True, False),
        (False, False, False, True),
        (False, None, False, True),
    ],
)
def test_a_proposal_is_as_labelled_if_its_flaw_is_found_by_the_critic_itself_or_it_has_none(
    flawed: bool, yes: bool | None, by_code: bool, as_labelled: bool
) -> None:
    seen_ = scored("tiny-critic", "c4", seen(critique=critique(point(1))))
    assert isinstance(seen_, CriticScore)

    assert is_as_labelled(replace(seen_, flawed=flawed, yes=yes, by_code=by_code)) == as_labelled
