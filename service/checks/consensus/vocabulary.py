"""The words by which code reads a claim: numbers and their scales, dates, units, parties, and what is around them."""

from __future__ import annotations

from fractions import Fraction

from service.checks.citations.text.cue_words import DATES, UNITS
from service.checks.consensus.measures import BASIS, PERCENT, POINT, TIMES

MONTHS = {m: 1 + i // 2 for i, m in enumerate("january jan february feb march mar april apr may may june jun july jul "
           "august aug september sep october oct november nov december dec".split())} | {"sept": 9}  # fmt: skip
WEEKDAYS = sorted(DATES - set(MONTHS))
SHORT_SCALES = {
    "k": 1_000, "m": 10**6, "mn": 10**6, "mm": 10**6, "mio": 10**6, "bn": 10**9, "trn": 10**12, "tn": 10**12,
    "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7,
}  # fmt: skip
SCALE_VALUES = {
    "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
}  # fmt: skip
TENS = range(20, 100, 10)
WORD_VALUES = dict(zip(UNITS, (*range(1, 20), *TENS), strict=True))
FRACTIONS = {"half": Fraction(1, 2), "quarter": Fraction(1, 4)}
PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5, "tenth": 10,
    "tenths": 10,
}  # fmt: skip
"""The words for parts of a whole: two thirds of the fees."""
MULTIPLES = {
    "twice": 2, "double": 2, "twofold": 2, "thrice": 3, "triple": 3, "treble": 3, "threefold": 3, "fourfold": 4,
    "fivefold": 5, "tenfold": 10,
}  # fmt: skip
RATES = {
    "%": PERCENT, "percent": PERCENT, "pct": PERCENT, "percentage": PERCENT, "‰": "‰", "permille": "‰", "bp": BASIS,
    "bps": BASIS, "per cent": PERCENT, "per centum": PERCENT, "per mille": "‰", "per mil": "‰", "per thousand": "‰",
    "percentage point": POINT, "percentage points": POINT, "basis point": BASIS, "basis points": BASIS,
}  # fmt: skip
LIMITED = frozenset("limited capped restricted bounded".split())
LIMITING = frozenset("until notwithstanding save except excepting unless".split())
ONE_OF = frozenset("within in of for after before least most than is be".split())
"""Words behind which "a year" is one year; elsewhere it says how often."""
STATING = frozenset("is are was were be equals equal than least most exactly only".split())
"""Words behind which a decimal is an amount and no clause."""
PREPOSITIONS = frozenset(
    "for of in on under from against to by with where if when whenever during arising regarding concerning upon".split()
)
BASE_REACH = 4
"""The number of words behind a share or a multiple that may say of what it is taken."""
LONGEST_NUMBER = 40
"""The most characters of a number in digits; what is longer is a code and no amount."""
REACH = 3
"""The number of words behind a preposition that may narrow the matter."""
ORDINAL = ("st", "nd", "rd", "th")
NOTHING = frozenset("nothing nil zero".split())
LIMITS = frozenset("cap caps limit limits limitation ceiling maximum restriction bound bounds".split())
ENDLESS = frozenset("unlimited uncapped limitless boundless unbounded".split())
PLACES = frozenset(
    "clause clauses section sections article articles paragraph paragraphs para schedule annex appendix exhibit page "
    "pages recital recitals chapter part item no § §§ model claim".split()
)
JOINING = ("to", "and", "or", "-", "through")
PERIODS = {
    "annual": "year", "annually": "year", "yearly": "year", "annum": "year", "monthly": "month", "weekly": "week",
    "daily": "day", "quarterly": "quarter", "hourly": "hour", "once": "once", "total": "once", "aggregate": "once",
    "overall": "once", "altogether": "once",
}  # fmt: skip
EACH = frozenset("each every per any".split())
PERIOD_UNITS = TIMES | frozenset("claim event incident breach occurrence".split())
QUALIFYING = frozenset("business working banking trading calendar contract full further single consecutive".split())
BUSINESS_DAYS = frozenset("business working banking trading".split())
ROLES = frozenset(
    "supplier buyer seller customer client vendor provider purchaser lessor lessee landlord tenant licensor licensee "
    "employer employee lender borrower contractor subcontractor processor controller insurer insured guarantor bank "
    "issuer holder investor assignor assignee indemnitor indemnitee agent company director shareholder creditor debtor "
    "trustee beneficiary owner operator user bidder claimant respondent plaintiff defendant consumer trader regulator "
    "authority carrier shipper manufacturer distributor franchisor franchisee auditor bailor bailee".split()
)
"""The usual words for the parties of a contract, which claims also write in small letters."""
