"""What may differ in a true quotation, and what never may: each rule by example."""

import pytest

from service.checks.citations import Sources, check
from service.debate.findings import Citation, CitationVerdict

CONTRACT = """MASTER AGREEMENT

1. Liability. The Supplier's total liability under this Agreement shall not exceed $1,000,000 in any Product Year, and
the Customer's third-party claims are limited to 5% of the fees. Neither Party shall be liable for loss of profit.

2. Payment. The Customer shall pay undisputed invoices within thirty (30) days of receipt, and the colour of each
invoice is irrelevant. A [reasonable](https://example.org/terms#r) administrative fee of 2.5 million euros is due on
31/12/2025 at U.S. offices. Interest accrues in the nonrefundable account unless the Parties agree otherwise.

3. Audit. The auditor may inspect the records of the Supplier, once a year, on **written** notice of 10-15 days; its
report `message_id` covers personnel, equipment and software
that the Supplier uses. The government authority of the State may waive this.
"""


def judge(quote: str, document: str = CONTRACT) -> CitationVerdict:
    return check(Citation(quote=quote), Sources({"doc": document}))


@pytest.mark.parametrize(
    ("quote", "kinds"),
    [
        ("Neither Party shall be laible for loss of profit.", ["slip"]),
        ("The Customer shall pay undisptued invoices within thirty (30) days of reciept", ["slip", "slip"]),
        ("The govemment authority of the State", ["slip"]),
        ("the color of each invoice is irrelevant", ["spelling"]),
        ("the customer's third party claims are limited to 5 % of the fees", []),
        ("total liability under this Agree-\nment shall not exceed $1 000 000", ["notation"]),
        ("total liability under this Agreement shall not exceed $ 1000000 in any Product Year", []),
        ("the Customer&#39;s third&#45;party claims are limited to 5&#37; of the fees", []),
        ("A reasonable administrative fee of 2.5 million euros", []),
        (
            "a **reasonable** `administrative` fee of _2.5 million_ euros is due on 31/12/2025 at US offices",
            ["hyphenation"],
        ),
        ("Interest accrues in the non-refundable account", ["hyphenation"]),
        ("Interest accrues inthe nonrefundable account", ["spacing"]),
        ("The auditor [sic] may inspect the records [as defined above] of the Supplier", ["note", "note"]),
        ("[t]he auditor may inspect the records [i.e., as set out herein] (emphasis added)", ["note", "note"]),
        ("on written notice of 10–15 days, its report message_id covers personnel", []),
        ("its report message_id … and sofwtare that the Supplier uses", ["ellipsis", "slip"]),
        ("covers personnel, equipment and software that the Supp…", ["cut word"]),
        ("> Neither Party shall\n> be liable for loss", []),
        ("| Neither Party | shall be liable | for loss |", []),
        ("1. Liability. The Supplier's total liability", []),
        ("MASTER AGREEMENT 1. Liability. The Supplier's total liability", []),  # a heading run into its sentence
    ],
)
def test_what_printing_and_typing_do_is_tolerated_and_told(quote: str, kinds: list[str]) -> None:
    verdict = judge(quote)

    assert verdict.verdict == "verified"
    assert [edit.kind for edit in verdict.edits] == kinds
    assert not any(edit.material for edit in verdict.edits)


@pytest.mark.parametrize(
    ("quote", "kind"),
    [
        ("Neither Party shall be viable for loss of profit", "word"),  # another word
        ("Neither Party shall be likable for loss of profit", "word"),
        ("The Customer shall pay undisputed invoice within thirty (30) days", "plural"),
        ("The Customer shall pay the undisputed invoices within thirty (30) days", "article"),
        ("shall pay undisputed invoices within 30 days of receipt", "number"),
        ("shall pay undisputed invoices within thirty days of receipt", "number"),
        ("administrative fee of 2,5 million euros is due on", "number"),
        ("administrative fee of 2.50 million euros is due on", "number"),
        ("administrative fee of 2.5 million euros is due on 31.12.2025", "date"),
        ("administrative fee of EUR 2.5 million is due on 31/12/2025", "currency"),
        ("total liability shall not exceed USD 1,000,000 in any Product Year", "currency"),
        ("claims are limited to 5 percent of the fees", "number"),
        ("shall not exceed $1,0OO,000 in any Product Year", "number"),
        ("on written notice of 10 to 15 days", "number"),
        ("on written notice of 10, 15 days", "number"),
        ("covers equipment, personnel and software that the Supplier uses", None),  # a list in another order
        ("The Customer shall [only] pay undisputed invoices within", "negation"),
        ("The Customer shall [always] pay undisputed invoices within", "inserted"),
        ("The auditor [i.e., the Customer] may inspect the records", "name"),
        ("The auditor [i.e., within 30 days] may inspect the records of the Supplier, once a year", "number"),
        ("The auditor (the Customer) may inspect the records of the", "name"),
        ("[The auditor of the Parties] may inspect the records of the Supplier", None),
        ("Interest accrues in the account … unless the Parties agree otherwise", None),
        ("Interest accrues in the nonrefundable account … the Parties agree otherwise", "limit"),
        ("A [reasonable](https://example.org/terms#other) administrative fee of", "word"),
        ("The auditor may inspect the records with…", None),
        ("Der Lieferant haftet nicht für entgangenen Gewinn", None),
        ("Neither Party shall be liable for loss of profits", "plural"),
        ("Neither Party shall be leable for lss of proft and", None),  # three slips and a word too many
    ],
)
def test_anything_else_is_refused_and_told(quote: str, kind: str | None) -> None:
    verdict = judge(quote)

    assert verdict.verdict != "verified"
    if kind is not None:
        assert kind in [edit.kind for edit in verdict.edits if edit.material]


@pytest.mark.parametrize(
    ("theirs", "ours", "verified"),
    [
        ("did not pay", "didn't pay", True),
        ("will not pay", "won’t pay", True),
        ("cannot pay", "can't pay", True),
        ("can not pay", "can't pay", True),
        ("say they are", "say they're", True),
        ("did pay", "didn't pay", False),
        ("shall not pay", "won't pay", False),
        ("it is due", "it's due", False),  # or "it has due"
        ("did, not as a gift, pay", "didn't as a gift, pay", False),
        ("parties' costs", "parties costs", True),
        ("party's costs", "parties' costs", False),
    ],
)
def test_a_contraction_may_be_spelled_out_where_it_stands_for_the_same_words(
    theirs: str, ours: str, verified: bool
) -> None:
    here, there = (f"It is told in the report that the buyers {words} for the goods" for words in (theirs, ours))

    assert (judge(there, here + ".").verdict == "verified") is verified
    assert (judge(here, there + ".").verdict == "verified") is verified


@pytest.mark.parametrize(
    ("words", "slips", "verified"),
    [(6, 1, True), (6, 2, False), (12, 2, True), (30, 3, True), (30, 4, False), (401, 4, True), (401, 5, False)],
)
def test_slips_are_few(words: int, slips: int, verified: bool) -> None:
    plain = [f"word{i} and" if i % 2 else "material" for i in range(words)]
    document = " ".join(plain)
    bent = list(plain)
    for i in range(slips):
        bent[2 * i] = "materail"
    n = len(document.split())
    quote = " ".join(" ".join(bent).split()[:words]) if n > words else " ".join(bent)

    assert (judge(quote, document + " the rest").verdict == "verified") is verified


PAGED = "\n".join(
    f"Clause {n} says that the fee for the service is due\n\n{n}\n\nSource: ACME INC., 10-K, 3/1/2020\n\n\n\n"
    f"ACME MASTER AGREEMENT\n\nwithin {n}0 days of receipt by the Customer of an invoice that names it. {'x' * 220}"
    for n in (1, 2, 3, 4)
)


def test_page_furniture_inside_a_sentence_may_be_left_out() -> None:
    verdict = judge("the fee for the service is due within 20 days of receipt by the Customer", PAGED)

    assert verdict.verdict == "verified"
    assert [(edit.kind, edit.material) for edit in verdict.edits] == [("page furniture", False)]
    assert verdict.text is not None
    assert "Source: ACME INC." in verdict.text


def test_page_furniture_may_be_quoted() -> None:
    quote = "is due 2 Source: ACME INC., 10-K, 3/1/2020 ACME MASTER AGREEMENT within 20 days of receipt"

    assert judge(quote, PAGED).verdict == "verified"


@pytest.mark.parametrize(
    "quote", ["is due 2 Source: ACME, 10-K, 3/1/2020", "3/1/2020 ACME AGREEMENT within 20 days of receipt"]
)
def test_of_page_furniture_no_less_than_a_line_may_be_left_out(quote: str) -> None:
    assert judge(quote, PAGED).verdict == "altered"


def test_a_bare_number_that_counts_no_pages_is_no_furniture() -> None:
    document = "The fee for the service is\n\n14\n\neuros a month, payable at the end of each month."

    assert judge("The fee for the service is euros a month, payable at the end", document).verdict == "altered"


@pytest.mark.parametrize(
    ("document", "quote", "verified"),
    [
        ("והספק יהיה אחראי לכל נזק ישיר שייגרם ללקוח", "הספק יהיה אחראי לכל נזק ישיר", False),  # cut inside a word
        ("הספק יהיה אחראי לכל נזק ישיר שייגרם ללקוח", "הספק יהיה אחראי לכל נזק", True),
        ("הַסַּפָּק יהיה אחראי לכל נזק ישיר שייגרם", "הספק יהיה אחראי לכל נזק ישיר", True),  # without its points
        ("يَجِبُ على المورد أن يدفع التعويض", "يجب على المورد أن يدفع التعويض", True),
        ("يجب على المورد أن يدفع التعويض", "لا يجب على المورد أن يدفع التعويض", False),
        ("le fournisseur est responsable des dégâts", "le fournisseur est responsable des de\u0301ga\u0302ts", True),
        ("le fournisseur est responsable des dégâts", "le fournisseur est responsable des degats", False),
        ("Der Lieferant haftet für die Lieferung der Ware", "Der Lieferant haftet für die Leiferung der Ware", False),
        ("供应商应当对客户的一切直接损失承担责任。", "供应商应当对客户的一切直接损失承担责任", True),
        ("供应商应当对客户的一切直接损失承担责任。", "供应商不应当对客户的一切直接损失承担责任", False),
        ("Die Verkäuferin haftet für Mängel der Ware", "Die Verka\u0308uferin HAFTET für Mängel", True),
    ],
)
def test_other_languages_and_scripts(document: str, quote: str, verified: bool) -> None:
    assert (judge(quote, document).verdict == "verified") is verified


@pytest.mark.parametrize(
    ("quote", "cut"),
    [
        ("party shall be liable for any loss", True),
        ("No party shall be liable for any loss", False),
        ("the Supplier be bound by this", True),
        ("the parties otherwise agree in writing", True),
        ("the Buyer shall in good faith", True),
        ("the Buyer shall in good faith not", False),
        ("The Seller agrees to this. They", False),  # a word of the next sentence asserts nothing
        ("prior written consent of the Owner", False),  # after "without": a noun, told in no verdict
        ("the rent is due at once", False),  # after a comma
    ],
)
def test_a_negation_that_governs_the_words_quoted_is_not_cut_off(quote: str, cut: bool) -> None:
    document = (
        "No party shall be liable for any loss. In no event shall the Supplier be bound by this unless the parties "
        "otherwise agree in writing. On default the Buyer shall in good faith not interfere. The Seller agrees to "
        "this. They not only agree without prior written consent of the Owner. If not, the rent is due at once."
    )

    verdict = judge(quote, document)

    assert verdict.verdict == ("altered" if cut else "verified")
    assert [edit.kind for edit in verdict.edits] == (["negation cut off"] if cut else [])


def test_a_limit_that_follows_right_after_the_quotation_is_told() -> None:
    verdict = judge("Interest accrues in the nonrefundable account")

    assert verdict.verdict == "verified"
    assert verdict.note == "the sentence goes on: unless the Parties agree otherwise. 3. Audit. The auditor ma"


def test_an_altered_quotation_says_which_other_source_has_it_word_for_word() -> None:
    sources = Sources(
        {"a": "The fee is due within 30 days of receipt.", "b": "The fee is due within 60 days of receipt."}
    )

    verdict = check(Citation(quote="The fee is due within 60 days of receipt", source_id="a"), sources)

    assert (verdict.verdict, verdict.source_id, verdict.found_in) == ("altered", "a", "b")


def test_a_long_quotation_with_slips_and_noise_is_verified_and_with_one_changed_number_is_not() -> None:
    clauses = [
        f"{n}. The Supplier shall deliver item {n} within {n + 7} days of order number {n * 31}." for n in range(400)
    ]
    document = "\n\n".join(clauses)
    quote = "  ".join(clauses[20:380]).replace("deliver item 77 ", "delvier item 77 ").replace("'", "’")

    assert len(quote) > 20_000
    assert judge(quote, document).verdict == "verified"
    assert judge(quote.replace("order number 6200", "order number 6201"), document).verdict == "altered"


def test_emphasis_around_the_whole_of_a_long_quotation_is_its_dress() -> None:
    document = " ".join(f"The supplier delivers item {n} to the buyer on day {n} of the term." for n in range(20))

    assert judge(f"*{document}*", document).verdict == "verified"
    assert judge(f"*{document.replace('supplier', 'suplpier', 1)}*", document).verdict == "verified"


def test_of_passages_much_alike_the_one_with_the_words_is_found_though_one_is_struck_wrongly() -> None:
    alike = [f"({k}) The bank requires the input of a factor {k} and of the place {k} of it." for k in range(60)]
    document = "\n".join([*alike, "It requires the input of the additional factor.", *alike])

    assert judge("requires the input of the additonal factor", document).verdict == "verified"
