"""Topics: the words that questions and documents use for the same matter.

A topic counts if the question (or, with less weight, the answer under review or a persona) has one of its words.
"""

from __future__ import annotations

from typing import NamedTuple

from service.simulated.words import terms


class Topic(NamedTuple):
    """Words for one matter, as stems."""

    name: str
    stems: frozenset[str]


def _topic(name: str, text: str) -> Topic:
    return Topic(name, terms(text))


TOPICS = (
    # contracts
    _topic(
        "liability",
        "liability liable uncapped cap capped exposure expose damages loss losses indemnify indemnity indemnification "
        "limitation exclude consequential punitive negligence misconduct harmless recover "
        "recovery aggregate exceed unlimited",
    ),
    _topic("termination", "terminate termination expire expiry renew renewal cure breach convenience survive survival"),
    _topic("assignment", "assign assignment transfer transferable consent successor merger change control divest"),
    _topic("warranty", "warranty warrant warranties disclaim merchantability fitness representation conform defect"),
    _topic("exclusivity", "exclusive exclusivity non-compete compete territory sole competitor solicit"),
    _topic("confidentiality", "confidential confidentiality disclose disclosure secret proprietary nonpublic"),
    _topic("payment", "pay payment fee fees price invoice charge interest late refund royalty minimum"),
    _topic("insurance", "insure insurance coverage policy underwriter"),
    _topic(
        "licence", "license licence sublicense intellectual property patent copyright trademark infringe infringement"
    ),
    _topic("audit", "audit inspect inspection books"),
    _topic("dispute", "dispute arbitration jurisdiction governing court venue jury"),
    # security
    _topic("session", "session cookie hijack hijacking fixation logout timeout idle sidejacking"),
    _topic("token", "token bearer jwt scope audience issuer exchange refresh replay nonce"),
    _topic(
        "authentication",
        "authenticate authentication authenticator password passphrase memorized credential mfa multifactor otp "
        "verifier claimant login biometric",
    ),
    _topic("secrets", "secret key keys vault rotation rotate encryption encrypt certificate"),
    _topic(
        "attack",
        "attack attacker hijack hijacking threat vulnerability compromise malicious steal "
        "theft bypass impersonate intercept",
    ),
    _topic("access", "access authorization authorize privilege role permission rbac admission"),
    _topic("network", "tls https network port segment segmentation firewall subnet"),
    _topic("monitoring", "log logging monitor monitoring alert detect detection incident"),
    _topic("throttling", "rate limit throttle throttling lockout brute guess guessing attempts"),
    # architecture
    _topic("decision", "adopt adoption decision option alternative choose migration migrate replace"),
    _topic("operation", "operate operational maintenance maintain team skill on-call upgrade support cost effort"),
    _topic("data", "database postgresql transaction event replication consistency latency throughput"),
    # investment
    _topic("leverage", "leverage debt covenant ebitda coverage cushion interest loan unitranche lien guideline"),
    _topic("earnings", "revenue ebitda margin growth organic adjusted adjustment synergy earnings audited unaudited"),
    _topic("customers", "customer churn retention renewal concentration contract tender"),
    _topic("valuation", "valuation multiple price equity recovery downside severe hold terms approve committee yield"),
    # compliance
    _topic(
        "records",
        "record records recordkeeping retain retention keep preserve custodian custody "
        "document documentary store retrieve",
    ),
    _topic("consent", "consent opt-out withdraw withdrawal unsubscribe written marketing message text"),
    _topic("notice", "notice notify notification disclose disclosure report deadline timely"),
    _topic("exception", "exception exempt exemption waiver approval approve"),
)


PRECEDENCE = terms("prevail precedence conflict supersede amend replace")
"""Words of clauses that decide which text governs; with them the other clauses are read."""


def expanded(stems: frozenset[str]) -> frozenset[str]:
    """The stems of all topics that a question touches, without the question's own."""
    found: set[str] = set()
    for topic in TOPICS:
        if topic.stems & stems:
            found |= topic.stems
    return frozenset(found) - stems


def touched(stems: frozenset[str]) -> tuple[str, ...]:
    """The names of the topics that a question touches."""
    return tuple(topic.name for topic in TOPICS if topic.stems & stems)
