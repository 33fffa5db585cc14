"""Where a text may be cut: the bar in each example is the place that is asked about."""

import pytest

from service.checks.citations.text.fold import fold
from service.checks.citations.text.word_bounds import divides


def _divides(text: str) -> bool:
    before, after = text.split("|")
    return divides(fold(before + after), len(fold(before).text))


@pytest.mark.parametrize(
    "text",
    [
        "with|out notice",
        "mes|sage_id",
        "message|_id",
        "non-|refundable fee",
        "non|-refundable fee",
        "non–|refundable fee",
        "is|n’t owed",
        "and/|or both",
        "R|&D costs",
        "clause 1|0 says",
        "1|,000 units",
        "1,|000 units",
        "clause 3|.10 says",
        "clause 3.|10 says",
        "10|:30 sharp",
        "2020-|01-15",
        "10—|15 days",
        "10| 000 units",
        "10 |000 units",
        "owes $|500",
        "owes $ |500",
        "owes $| 500",
        "owes €|500",
        "owes -|$500",
        "owes US|$500",
        "owes 500|€ now",
        "owes 500| € now",
        "owes 500 |€ now",
        "at −|5 degrees",
        "at .|5 degrees",
        "at 5|% interest",
        "at 5| % interest",
        "at 5 |% interest",
        "$5| million",
        "5 |million euros",
        "5| 1/2 days",
        "5 |½ days",
        "five| hundred units",
        "twenty-|five units",
        "five hundred| thousand dollars",
        "one hundred| and fifty days",
        "one hundred and |fifty days",
        "क|ि",
        "契約|書",
    ],
)
def test_a_cut_inside_a_word_or_a_number_divides_it(text: str) -> None:
    assert _divides(text)


@pytest.mark.parametrize(
    "text",
    [
        "|with notice",
        "with notice|",
        "with| notice",
        "with |notice",
        "notice|. Then",
        "notice.| Then",
        "clause 3|. Then",
        "the “|Cap” is",
        "the “Cap|” is",
        "agreement—|which ends",
        "agreement|—which ends",
        "agreement — |5 days",
        "clauses 1|, 2 and 3",
        "in 2020 |100 people",
        "in 2020| $5 was paid",
        "paid $5| in 2020",
        "three| parties",
        "three and |five",
        "part(|s) of",
        "契約|。次",
    ],
)
def test_a_cut_between_words_divides_nothing(text: str) -> None:
    assert not _divides(text)
