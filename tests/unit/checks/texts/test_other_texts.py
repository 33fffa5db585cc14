"""Words that a text gives to another text, or to a person, are not marked as a document's; their neighbours are."""

from __future__ import annotations

import pytest

from bench import corpora
from bench.corpora import LabelledText, measure

DOCUMENTS = corpora.documents()
HONEST = [
    ("msa", 'In the old contract of 2019 the same sentence went "shall not exceed 100% of the Fees".'),
    ("msa", 'Under English law the phrase has been read as "loss that does not flow naturally from the breach".'),
    ("msa", "Contrast the 2019 agreement, clause 22.3, where the cap was flat."),
    ("msa", "Whoever looks for clause 9.7 will not find it: the liability section ends with 9.4."),
    ("msa", "The usual remedy, a clause 9.5 with a super-cap for data, is missing here."),
    ("msa", 'The audit team reported on Friday that "no inspection was held in the last Contract Year".'),
    ("msa", "Clause | What it says | My view\n9.2 | cap 125% | low"),
    (
        "msa",
        'A fair demand: "Clause 9.7 of this Agreement doubles the cap where personal data are lost", if they take it.',
    ),
    ("lease", 'The board paper speaks of "a ten-year lease with a break after five years".'),
    ("lease", 'Flood is the gap. "Flood is an Insured Risk at all times" is what clause 6 would have to say.'),
    ("lease", 'What would cure it? "The Tenant may underlet the whole or part with the Landlord\'s consent."'),
    ("lease", "Clause 21 of the Landlord's standard lease has a turnover rent; ours doesn't."),
    ("hosting", "Annex C, on security, was not given to us."),
    ("hosting", 'Our procurement rules say "no hosting without a right of veto over subcontractors".'),
    ("queue", "Maria (platform) said in stand-up, and I quote, 'autovacuum is my problem, not yours'."),
    ("rahmen", "Whoever misses it loses the claim under section 377 of the commercial code."),
]
INVENTED = [
    ("msa", 'In the agreement the sentence goes "the total liability shall not exceed 100% of the Fees".'),
    ("msa", 'The signed contract states that "the Bank may terminate for convenience at any time".'),
    ("msa", "Clause 22.3 gives the Bank a flat cap."),
    ("msa", "Clause 9.7 doubles the cap where personal data are lost."),
    ("lease", '"Flood is an Insured Risk at all times" is what clause 6 says.'),
    (
        "lease",
        'In the words of the lease, "The Tenant may break the Term on 1 March 2027 with the Landlord\'s consent".',
    ),
    ("hosting", "Annex C obliges Ferrol to hold the source code in escrow."),
    ("hosting", 'Clause 9 states, and I quote, "Mirren may terminate at any time without giving notice".'),
]
DOTS = [
    ("hosting", 'It matters that "Ferrol may raise it once a year … plus one point".', "unclear"),
    (
        "lease",
        'The rent "is reviewed on every fifth anniversary to the higher of the passing rent [£184,500] and …".',
        "unclear",
    ),
    ("hosting", 'Clause 9 says "Mirren may terminate [at once] on thirty days\' notice".', "unclear"),
    ("hosting", 'The clause on exit has "migration work … CHF 210 per hour" in it.', None),
    (
        "lease",
        'It says: "The Tenant may break the Term on 1 March 2029 … provided that on the break date the rent is paid".',
        None,
    ),
    (
        "lease",
        'Clause 2 says "The Tenant may break the Term on 1 March 2029 by giving [three months\' notice]".',
        "unclear",
    ),
    ("hosting", 'Clause 4 says "Ferrol shall not move them elsewhere ... in writing".', "unclear"),
    ("msa", 'Clause 4.1 says "Harrow may [not only] subcontract the Core Services".', "unclear"),
    ("msa", 'Clause 4.1 says "Harrow may … subcontract the Core Services".', "nowhere"),
]
"""What dots and brackets hide or add, as a reader sees; only a negation behind dots, and nothing else, is marked."""


def statuses(document: str, text: str) -> set[str]:
    """The statuses of the passages that readers are warned of."""
    item = LabelledText(
        id="own", label="honest", kind="reported", field="synthesis", question="Sign?", documents=(document,), text=text
    )
    return {each.status for each in measure.found_in(item, DOCUMENTS) if each.marked or each.unclear}


@pytest.mark.parametrize(("document", "text"), HONEST)
def test_words_of_another_text_are_not_marked(document: str, text: str) -> None:
    assert statuses(document, text) <= {"unclear"}


@pytest.mark.parametrize(("document", "text"), INVENTED)
def test_their_neighbours_that_name_a_document_are_marked(document: str, text: str) -> None:
    assert "nowhere" in statuses(document, text)


@pytest.mark.parametrize(("document", "text", "status"), DOTS)
def test_dots_and_brackets_leave_in_doubt_all_but_bounds_and_a_negation(
    document: str, text: str, status: str | None
) -> None:
    assert statuses(document, text) == ({status} if status else set())
