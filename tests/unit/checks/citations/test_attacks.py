"""Bent quotations that an attack on the engine got past it once, by the rule that stops them now."""

import pytest

from service.checks import citations
from service.checks.citations.verdict import negations
from service.debate.findings import Citation

RATE = "The rate is .5 percent a year for all loans of the bank."
WHOLE = "The rate is 5 percent a year for all loans of the bank."
FEE = "The fee is $.05 for each page that is copied."
LIABLE = "The supplier is liable for all damage to the goods."
ASSIGNEE = "The assignee shall pay all of the fees at once."


def verdict(document: str, quote: str) -> str:
    return citations.check(Citation(quote, "A"), citations.Sources({"A": document})).verdict


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        (RATE, "The rate is 5 percent a year"),
        (WHOLE, "The rate is .5 percent a year"),
        (FEE, "The fee is $05 for each page"),
        (LIABLE, "The supplier is <i not> liable for all damage"),
        (LIABLE, "The supplier is <p in no case and under no law> liable for all damage"),
        (LIABLE, '<p title="in no case">The supplier is liable for all damage'),
        (ASSIGNEE, "The assigner shall pay all of the fees"),
        ("The trustee may sell the land of the trust.", "The truster may sell the land of the trust"),
        ("Dilute the sulfate before use in the plant.", "Dilute the sulfite before use in the plant"),
        ("It was verified by the bank on that same day.", "It was verifier by the bank on that same day"),
    ],
)
def test_it_is_not_verified(document: str, quote: str) -> None:
    assert verdict(document, quote) != "verified"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("a change in value - 5% over", "a change in value 5% over"),
        ("a change in value - $5 over", "a change in value $5 over"),
        ("a change in value (1,000) over", "a change in value 1,000 over"),
        ("a change in value ($0.25) over", "a change in value $0.25 over"),
        ("a change in value $(500) over", "a change in value $500 over"),
        ("a wall of 10' along the street", 'a wall of 10" along the street'),
        ("a wall of 10 along the street", "a wall of 10' along the street"),
        ("a term of 5- 10 days for it", "a term of 5 10 days for it"),
        ("a tax of €5,50 for each day", "a tax of €5 50 for each day"),
        ("a tax of €5,50 for each day", "a tax of €5, 50 for each day"),
        ("the growth of 5. 5 percent was", "the growth of 5 5 percent was"),
        ("the Sections 2, 100 of the law", "the Sections 2 100 of the law"),
        ("a run when status != closed for", "a run when status = closed for"),
        ("a run when !closed is seen by", "a run when closed is seen by"),
        ("a pass if A || B is there for", "a pass if A B is there for"),
        ("a pass if A | B is there for", "a pass if A B is there for"),
        ("a total of x * y for each one", "a total of x y for each one"),
        ("a total of x - y for each one", "a total of x y for each one"),
        ("the origin *.example.com for it", "the origin example.com for it"),
        ("the C# code that was sold to", "the C code that was sold to"),
        ("a grade of A- from the agency", "a grade of A from the agency"),
        ("a grade of A* from the agency", "a grade of A from the agency"),
        ("the flag -f in the test mode", "the flag f in the test mode"),
        ("the flag --f in the test mode", "the flag -f in the test mode"),
        ("the pattern [^abc] in the input", "the pattern [abc] in the input"),
        ("the path C:\\data\\new of the server", "the path C:\\data new of the server"),
        ("the ~~costs and~~ fees of the sale", "the costs and fees of the sale"),
        ("upon [***] prior written notice", "upon prior written notice"),
        ("the [ ] box that is not ticked yet", "the box that is not ticked yet"),
        ("the company № 5 of the whole group", "the company no 5 of the whole group"),
    ],
)
def test_a_mark_that_carries_sense_is_not_passed_over(theirs: str, ours: str) -> None:
    here, there = (f"It was said in the report that {words} as stated there." for words in (theirs, ours))

    assert verdict(here, here) == "verified"
    assert verdict(here, there) != "verified"
    assert verdict(there, here) != "verified"


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        ("No. Changes to the plan are allowed at any time.", "No changes to the plan are allowed at any time"),
        ("No, changes to the plan are allowed at any time.", "No changes to the plan are allowed at any time"),
        ("He shall pay. Without notice, he may leave.", "He shall pay without notice. He may leave"),
        ("Of the law the Sections 2 100 apply to it.", "Of the law the Sections 2,100 apply to it"),
        ("Of the law the Sections 2 100 apply to it.", "Of the law the Sections 2100 apply to it"),
        ("[x] The user agrees to the whole policy.", "[ ] The user agrees to the whole policy"),
        ("> 5 is needed for a pass in the exam.", "5 is needed for a pass in the exam"),
        ("It was minus 5 degrees at the station.", "5 degrees at the station"),
        ("Revenue rose in the year to USD 5 bn in all.", "Revenue rose in the year to USD 5"),
        ("Revenue rose in the year by 5 percent in all.", "Revenue rose in the year by 5"),
        ("Revenue rose in the year by five per cent in all.", "Revenue rose in the year by five"),
        ("Revenue rose by twenty and a half million.", "Revenue rose by twenty"),
        ("It ends within thirty (30) days of receipt.", "It ends within thirty (30)"),
    ],
)
def test_a_stop_a_box_a_sign_or_a_unit_is_not_lost(document: str, quote: str) -> None:
    assert verdict(document, quote) != "verified"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("indemnifies us for each claim", "indemnifies U.S. for each claim"),
        ("delivers it on the day agreed", "delivers I.T. on the day agreed"),
        ("is the one who says so there", "is the one W.H.O. says so there"),
        ("is paid or will be paid later", "is paid O.R. will be paid later"),
        ("DELIVERS IT ON THE DAY AGREED", "DELIVERS I.T. ON THE DAY AGREED"),
    ],
)
def test_a_word_is_no_row_of_initials(theirs: str, ours: str) -> None:
    here, there = (f"By this clause the supplier {words}." for words in (theirs, ours))

    assert verdict(here, there) != "verified"
    assert verdict(there, here) != "verified"


@pytest.mark.parametrize(
    "note",
    [
        "[i.e., free of charge, waived and exempt]",
        "[i.e., regardless of fault and in perpetuity]",
        "[that is, the supplier is liable]",
        "[emphasis added, and the claim is waived]",
        "[namely all]",
        "](not/ever)",
        '](https://example.org "in no case")',
        '<a name="in no case">',
        '<span class="x" id="waived">',
        "<!-- waived -->",
    ],
)
def test_nothing_is_said_between_the_lines(note: str) -> None:
    assert verdict(LIABLE, f"The supplier is {note} liable for all damage to the goods") != "verified"


@pytest.mark.parametrize(
    "quote", ["liable [emphasis added]", "the [i.e., as set out herein]", "[liable](https://a.example/b)"]
)
def test_notes_and_targets_do_not_count_as_words(quote: str) -> None:
    assert verdict(LIABLE, quote) == "too_short"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("was a symptomatic carrier of it", "was asymptomatic carrier of it"),
        ("made a moral claim to the land", "made amoral claim to the land"),
        ("made a typical claim to the land", "made atypical claim to the land"),
        ("paid the price—less discounts", "paid the priceless discounts"),
        ("has re-\nsigned the contract today", "has resigned the contract today"),
        ("has re-signed the contract today", "has resigned the contract today"),
        ("is to re-\nlease the whole of the land", "is to release the whole of the land"),
    ],
)
def test_words_that_are_joined_make_no_other_word(theirs: str, ours: str) -> None:
    assert verdict(f"The minutes say that he {theirs} there.", f"The minutes say that he {ours} there") != "verified"


@pytest.mark.parametrize(
    ("before", "quote"),
    [
        ("The company does not, in any event,", "guarantee the payment of the notes"),
        ("The company does not,", "in any event, guarantee the payment of the notes"),
        ("The company shall not knowingly or otherwise", "guarantee the payment of the notes"),
        ("The company is not in any way", "bound to guarantee the payment"),
        ("In no event", "shall the company guarantee the notes"),
        ("In no event shall", "the company guarantee the notes"),
        ("Under no circumstances", "may the company guarantee the notes"),
        ("Nothing herein", "obliges the company to guarantee the notes"),
        ("Nothing in this Agreement or in any other", "obliges the company to guarantee the notes"),
        ("Neither the Company nor the Bank", "shall guarantee the payment of the notes"),
        ("Neither the Company nor the Bank shall", "guarantee the payment of the notes"),
        ("None of the parties to this agreement", "shall guarantee the payment of the notes"),
        ("No party, its officers, or its agents", "shall guarantee the payment of the notes"),
        ("It is not the case that", "the company guarantees the payment"),
        ("It is false that", "the company guarantees it all"),
        ("The company fails to", "guarantee the payment of the notes"),
        ("The company refuses to", "guarantee the payment of the notes"),
        ("The company is unable to", "guarantee the payment of the notes"),
        ("The company is prohibited from", "guaranteeing the payment of the notes"),
        ("The company is not obliged to", "guarantee the payment of the notes"),
        ("The company has no obligation to", "guarantee the payment of the notes"),
        ("The company shall not: (a)", "guarantee the payment of the notes"),
    ],
)
def test_a_negation_reaches_over_the_words_between(before: str, quote: str) -> None:
    document = f"This is the first sentence. {before} {quote} at any time."

    assert verdict(document, f"{before} {quote}") == "verified"
    assert verdict(document, quote) == "altered"


@pytest.mark.parametrize(
    "denying",
    "fails to|refuses to|is unable to|has an inability to|is unwilling to|declines to|ceases to|neglects to|omits to"
    "|is powerless to|is reluctant to|is prohibited from|is prevented from|is precluded from|is barred from"
    "|is restrained from|shall refrain from|is exempt from|is excused from|is relieved from|is released from"
    "|is discharged from|is forbidden from|is enjoined from|a rule debars from|is estopped from|shall deny|denies"
    "|denied that|is denying that|disclaims that|doubts whether|thinks it doubtful that|finds it false that"
    "|finds it untrue that|finds it incorrect that|finds it wrong that|isn't|is hardly|is scarcely|is barely"
    "|is seldom|is rarely|never|cannot|is nowhere|is neither|unless".split("|"),
)
def test_every_word_that_denies_what_follows_is_seen(denying: str) -> None:
    quote = "guaranteeing the payment of the notes"
    document = f"This is the first sentence. The company {denying} {quote} at any time."

    assert verdict(document, quote) == "altered"


@pytest.mark.parametrize(
    ("before", "quote"),
    [
        ("The buyer does not pay.", "The seller shall pay the whole price"),
        ("If not,", "the seller shall pay the whole price"),
        ("The buyer shall not pay, and", "the seller shall pay the whole price"),
        ("The buyer shall not sell any goods which", "the seller has not paid for by then"),
        ("They not only agree but also", "the seller shall pay the whole price"),
        ("Whether or not he is heard,", "the seller shall pay the whole price"),
        ("The seller shall have no liability for", "indirect loss of the whole price"),
        ("This includes, but is not limited to,", "the price of goods sold by the seller"),
        ("The buyer shall not disclose it to", "the seller of the goods in any form"),
        ("This shall not apply in the event that", "the seller shall pay the whole price"),
        ("See Section No. 5 of it:", "the seller shall pay the whole price"),
    ],
)
def test_a_negation_of_other_words_is_no_matter(before: str, quote: str) -> None:
    assert verdict(f"This is the first sentence. {before} {quote} in time.", quote) == "verified"


@pytest.mark.parametrize(
    "hidden",
    [
        "if it is paid in advance",
        "within the first year of the term",
        "prior to the date of closing",
        "provided that it is paid",
        "at least in part",
        "less than the half of it or else",
        "up to a fixed sum",
        "limited to a fixed sum",
        "subject to approval",
        "after the date of closing",
        "before the date of closing",
        "until the date of closing",
        "only on request",
        "to the extent permitted by law",
        "on 5 May",
        "for ten days",
        "to store, and the customer agrees that it shall come",
        "to store. The customer agrees",
        "to waive its right",
    ],
)
def test_dots_hide_no_limit_and_no_other_subject(hidden: str) -> None:
    document = f"The supplier hereby agrees {hidden} to bear all the costs of the sale."

    assert verdict(document, "The supplier hereby agrees … to bear all the costs of the sale") != "verified"
    assert verdict(document, f"The supplier hereby agrees {hidden} to bear all the costs") == "verified"


@pytest.mark.parametrize("mark", ["shall (i)", "shall:", "shall, (a)", "may (b)"])
def test_dots_hide_no_modal_before_the_mark_of_an_item(mark: str) -> None:
    document = f"The parties to the plan {mark} specify who pays the costs of it."

    assert verdict(document, "The parties to the plan … specify who pays the costs of it") == "altered"


@pytest.mark.parametrize(
    "label", ["Clause not", "Clause 5(not)", "Section 5-never", "Section 5 and never", "Article IVnot"]
)
def test_a_label_before_the_quotation_says_nothing(label: str) -> None:
    assert verdict(LIABLE, f'{label}: "The supplier is liable for all damage to the goods."') != "verified"


@pytest.mark.parametrize("label", ["Clause 5", "Section 8.2(a)(i)", "Article IV", "§ 3.2", "Exhibit B", "p. 12"])
def test_a_label_that_names_a_place_is_no_part_of_the_quotation(label: str) -> None:
    assert verdict(LIABLE, f'{label}: "The supplier is liable for all damage to the goods."') == "verified"


@pytest.mark.parametrize("hidden", ["on its own behalf", "and undertakes, with the consent of the bank,", "in writing"])
def test_dots_may_stand_for_other_words(hidden: str) -> None:
    document = f"The supplier hereby agrees {hidden} to bear all the costs of the sale."

    assert verdict(document, "The supplier hereby agrees … to bear all the costs of the sale") == "verified"


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        (RATE, "the rate is  .5 percent a year"),
        (FEE, "The fee is $.05 for each page"),
        ("as set out above. 5 percent of all fees are due at once", "5 percent of all fees are due"),
        (LIABLE, "The supplier is <b>liable</b> for all damage"),
        ('The <a href="x.html">supplier</a> is liable for all of it.', "The supplier is liable for all"),
        (LIABLE, "The supplier is liable for all damgae to the goods"),
        (LIABLE, "“> The supplier is liable\n> for all damage"),
        ("2. Fees. The fees are due at once.", "> 2. Fees. The fees are due at once"),
        (LIABLE, "\u200e> The supplier is liable\n> for all damage"),
        (LIABLE, "> The supplier is liable for all dam-\n> age to the goods"),
        (LIABLE, 'Clause 5: "The supplier is liable for all damage."'),
        (LIABLE, "The [supplier](https://example.org/a_b#c) is liable for all damage"),
        ("The supplier can not pay the fee in time.", "The supplier cannot pay the fee in time"),
        ("The supplier cannot pay the fee in time.", "The supplier can not pay the fee in time"),
        ("The user\\_id field is set by the client.", "The user_id field is set by the client"),
        ("The tenant’s rent¹ is due on the first day.", "The tenant’s rent is due on the first day"),
        ("The tenant’s rent[1] is due on the first day.", "The tenant’s rent is due on the first day"),
        ("He pays:\n(a) the rent;\n(b) the water;\n(c) the power.", "He pays: the rent; the water; the power."),
        ("He pays:\n1. the rent;\n2. the water;\n3. the power.", "He pays: the rent; the water; the power."),
        ("He pays:\n- the rent;\n- the water;\n- the power.", "He pays: the rent; the water; the power."),
        ("Under the law of the U.S. he shall pay it.", "Under the law of the US he shall pay it"),
        ("It is due (as stated) - by the bank - in 2020.", "It is due as stated by the bank in 2020"),
        ("> The fee is due at once to the supplier.", "> ...The fee is due at once to the supplier"),
        (f"> {LIABLE}\n> It is so.", "all damage to the goods. > It is so"),
        (LIABLE, "The supplier is (empha-\nsis added) liable for all damage"),
        (LIABLE, "The supplier is _laible for all damage_ to the goods"),
        (LIABLE, "The suppl-\neir is liable for all damage to the goods"),
        ("The sum of $1,000 is due on the first day.", "The sum of $1 000 is due on the first day"),
        ("The sum of 1\u00a0000 is due on the first day.", "The sum of 1,000 is due on the first day"),
    ],
)
def test_what_is_near_to_it_and_true_is_verified_still(document: str, quote: str) -> None:
    assert verdict(document, quote) == "verified"


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        ("As named in paragraph\n(a) of this section, and\n(b) of it.", "As named in paragraph of this section"),
        ("The area of the land is 500 m² in the plan.", "The area of the land is 500 m in the plan"),
        ("The value of items[0] is set by the client.", "The value of items is set by the client"),
    ],
)
def test_what_only_looks_like_a_mark_of_a_list_or_a_note_is_not_left_out(document: str, quote: str) -> None:
    assert verdict(document, quote) != "verified"


def test_a_passage_is_found_among_many_that_have_its_words() -> None:
    alike = [
        f"({k}) a copy of the notice to the agent; the last address of item {k} known to us.\n" for k in range(400)
    ]
    true = "mail a printed copy of the notice to the last known address of the consumer at home."
    document = "".join((*alike[:200], true, "\n", *alike[200:]))

    assert verdict(document, true.replace("consumer", "contsumer")) == "verified"


@pytest.mark.parametrize(
    ("document", "quote", "verdict"),
    [
        (
            "<!-- vale off = NO -->\nWe want to use the new cluster for all of it.",
            "We want to use the new cluster",
            "verified",
        ),
        (
            "<!-- vale off -->\nNo <i>party</i> shall be liable for any of this.",
            "shall be liable for any of this",
            "altered",
        ),
        ("The party shall <b>not</b> sell all the goods of it.", "sell all the goods of it", "altered"),
        ("The party shall <not> sell all the goods of it.", "sell all the goods of it", "altered"),
    ],
)
def test_a_negation_in_a_comment_governs_nothing_and_one_in_tags_does(document: str, quote: str, verdict: str) -> None:
    assert citations.check(Citation(quote, "A"), citations.Sources({"A": document})).verdict == verdict


def test_whatever_can_govern_a_passage_has_a_part_that_is_looked_for_first() -> None:
    """A word without one would be passed over before it is read, and its negation lost."""
    missed = [w for w in negations._TURNS if not any(part in w for part in negations._TURNING)]

    assert missed == []
