"""The expected contents of a document on a matter: one list for each kind of proposition."""

from __future__ import annotations

import re
from typing import NamedTuple

from service.simulated.tables import Kind


class Item(NamedTuple):
    """An item that a document on the matter is expected to hold. Its absence helps ``side``."""

    name: str
    covered: re.Pattern[str]
    side: int
    when: frozenset[str]
    lacks: str
    remedy: str


def _item(name: str, covered: str, side: int, when: str, lacks: str, remedy: str) -> Item:
    return Item(name, re.compile(covered, re.IGNORECASE), side, frozenset(when.split(", ")) - {""}, lacks, remedy)


_LIABILITY = "liability"
CHECKLISTS: dict[Kind, tuple[Item, ...]] = {
    "exposure": (
        _item(
            "amount",
            r"(?:shall|will|may) not exceed|aggregate liabilit|maximum liabilit|"
            r"cumulative liabilit|liability.{0,80}limited to (?:the|an) |\bcaps?\b",
            1,
            _LIABILITY,
            "the documents name no amount at which liability stops; leaving out kinds of loss "
            "does not limit the amount of what remains",
            "a clause that states the amount of a cap",
        ),
        _item(
            "indemnity",
            r"indemni|hold .{0,30}harmless",
            -1,
            _LIABILITY,
            "the documents supplied hold no indemnity, so a claimant has to prove breach, cause and loss",
            "any indemnity that stands in another text",
        ),
        _item(
            "kinds of loss",
            r"consequential|indirect|punitive|loss of profits",
            1,
            _LIABILITY,
            "nothing in the documents excludes indirect or consequential loss",
            "a clause that excludes indirect and consequential loss",
        ),
        _item(
            "time bar",
            r"no claim may be brought|months after|within .{0,40}(?:days|months|years) (?:after|of|from)",
            1,
            _LIABILITY,
            "the documents set no time after which a claim is lost",
            "a time after which claims are lost",
        ),
        _item(
            "insurance",
            r"insur",
            -1,
            _LIABILITY,
            "no insurance is required that would show that the parties expected losses on such a scale",
            "what insurance stands behind the liability",
        ),
        _item(
            "gross fault",
            r"gross negligence|wil+ful|fraud",
            -1,
            _LIABILITY,
            "the documents carve out neither gross negligence nor wilful misconduct from their limits",
            "what holds for gross negligence and wilful misconduct",
        ),
    ),
    "sufficiency": (
        _item(
            "expiry",
            r"expir|time-?out|lifetime|\blive for\b",
            -1,
            "session, token, authentication, secrets",
            "the documents do not say when access ends by itself",
            "expiry and time-outs",
        ),
        _item(
            "revocation",
            r"revok|revoc|invalidat|logout",
            -1,
            "session, token, authentication, secrets, access",
            "the documents do not say how access is withdrawn once it is compromised",
            "revocation",
        ),
        _item(
            "rotation",
            r"rotat|regenerat|renew",
            -1,
            "token, secrets, session",
            "the documents say nothing of the rotation of keys or identifiers",
            "rotation of keys or identifiers",
        ),
        _item(
            "throttling",
            r"rate.?limit|throttl|lockout|limit of \d+|failed (?:authentication )?attempts",
            -1,
            "authentication, session, token, throttling",
            "the documents set no limit on the rate of attempts",
            "rate limits",
        ),
        _item(
            "transport",
            r"\bTLS\b|https|encrypt|protected channel",
            -1,
            "session, token, authentication, network, secrets",
            "the documents do not require protection in transit",
            "protection in transit",
        ),
        _item(
            "monitoring",
            r"monitor|\blog(?:s|ged|ging)?\b|alert|detect",
            -1,
            "",
            "the documents do not say how misuse would be noticed",
            "monitoring and alerts",
        ),
        _item(
            "verification",
            r"penetration test|red team|tested|test(?:s|ing)\b|verified by|assessment",
            -1,
            "",
            "the documents report no test that the measures work as described",
            "evidence of testing",
        ),
        _item(
            "response",
            r"incident|respon(?:se|d) (?:to|plan)|emergency|recover(?:y|ed)",
            -1,
            "",
            "the documents do not say what happens once a measure has failed",
            "the response after a failure",
        ),
        _item(
            "owner",
            r"\bowner|responsible for|accountable|team\b",
            -1,
            "",
            "the documents name nobody who answers for keeping the measures in force",
            "who owns the measures",
        ),
    ),
    "adoption": (
        _item(
            "price",
            r"(?:USD|EUR|GBP|[$€£])\s?\d|engineer-days|\d+ (?:engineers|weeks)|two engineers",
            -1,
            "",
            "the documents put no figure on what the choice costs",
            "the cost in money or in people's time",
        ),
        _item(
            "way back",
            r"revers|roll.?back|fall.?back|exit|back out|undo",
            -1,
            "",
            "the documents do not say how to go back if the choice proves wrong",
            "the way back",
        ),
        _item(
            "alternatives",
            r"alternative|option [A-C]\b|instead of|considered|compared",
            -1,
            "",
            "the documents do not weigh the choice against any alternative",
            "the alternatives",
        ),
        _item(
            "measure",
            r"measur|percentile|benchmark|load test|trial|spike|per second",
            -1,
            "",
            "no measurement stands behind the expected gain",
            "a measurement",
        ),
        _item(
            "schedule",
            r"by (?:January|February|March|April|May|June|July|August|September|October|November|"
            r"December)|until \w+ \d|\bphase|one .{0,20}at a time|weeks|timeline of",
            -1,
            "",
            "the documents give no dates for the migration",
            "dates for the migration",
        ),
        _item(
            "operation",
            r"on.?call|runbook|operate|maintain|support",
            -1,
            "",
            "the documents do not say who will run the result",
            "who runs the result",
        ),
        _item(
            "security review",
            r"securit|threat|access control|permission",
            -1,
            "",
            "the security of the choice is not examined",
            "a security review",
        ),
        _item(
            "upgrade",
            r"upgrade|version|end of life|licen[cs]e|communit|vendor",
            -1,
            "",
            "the documents are silent on upgrades and on the life of the components",
            "upgrades and the life of the components",
        ),
        _item(
            "growth limit",
            r"dead rows|capacity|volume|partition|scal(?:e|ing)|peak",
            -1,
            "",
            "the documents do not say at what load the choice stops working",
            "the load at which it stops working",
        ),
    ),
    "soundness": (
        _item(
            "downside",
            r"downside|severe|stress|sensitiv",
            -1,
            "",
            "the documents run no case in which the assumption fails",
            "a downside case",
        ),
        _item("audit", r"(?<!un)audited", -1, "", "no audited figure stands behind the thesis", "audited figures"),
        _item(
            "concentration",
            r"largest customer|concentrat|ten largest",
            -1,
            "",
            "the documents do not say how much depends on single customers",
            "customer concentration",
        ),
        _item(
            "retention",
            r"churn|retain|retention",
            -1,
            "",
            "the documents do not say how many customers are lost",
            "customer retention",
        ),
        _item(
            "rates",
            r"SOFR|interest|rate",
            -1,
            "",
            "the effect of interest rates is not shown",
            "the effect of interest rates",
        ),
        _item(
            "exit",
            r"\bexit\b|refinanc|\bIPO\b|sale of the company",
            -1,
            "",
            "the documents do not say how the money comes back at the end",
            "the way out at the end",
        ),
        _item(
            "management",
            r"management team|chief executive|key person|founder",
            -1,
            "",
            "nothing is said about the people on whom the plan depends",
            "the people on whom the plan depends",
        ),
    ),
    "conformity": (
        _item(
            "the practice",
            r"\b(?:we|our (?:procedure|policy|team|staff)|retail|procedure|campaign|policy of|"
            r"the bank (?:holds|keeps)|staff|department)\b",
            -1,
            "",
            "the practice in question is not described in the documents supplied, so it cannot "
            "be compared with what is required",
            "the practice itself",
        ),
        _item(
            "evidence",
            r"sampl|\btest|log(?:s|ged)?\b|retriev|audit",
            -1,
            "",
            "no record shows that the practice was followed",
            "records of performance",
        ),
        _item(
            "period",
            r"\b(?:years|months|days)\b",
            -1,
            "records, notice, consent",
            "no period is given against which the practice could be measured",
            "the period that applies",
        ),
        _item(
            "responsible",
            r"responsible|head of|officer|custodian|compliance (?:must|approved|decides)",
            -1,
            "",
            "nobody is named who answers for the requirement",
            "who is responsible",
        ),
        _item(
            "training", r"train", -1, "", "nothing shows that those who carry out the practice were trained", "training"
        ),
        _item(
            "review",
            r"review|reassess|annual|each quarter|every quarter|re-?approv",
            -1,
            "",
            "no review is foreseen that would notice a drift",
            "a review",
        ),
    ),
    "presence": (
        _item(
            "binding",
            r"\bshall\b|\bmust\b|\bwill\b",
            -1,
            "",
            "nothing in the documents is worded as binding",
            "binding words",
        ),
        _item(
            "consequence",
            r"breach|remed|terminat|penalt|damages|liab",
            -1,
            "",
            "the documents attach no consequence to the matter",
            "a consequence",
        ),
    ),
}
