"""The checks: six kinds of critic told apart, and evidence told from reasoning."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.citations import check_citations, claims_evidence
from service.checks.judgement import Attacked, check_critique
from service.debate.findings import (
    ArgumentVerdict,
    Citation,
    CitationsFound,
    CitationVerdict,
    CritiqueFound,
    Verdict,
)
from service.debate.replies import Answer, Concession, Critique, Point, Proposal, Rebuttal, Reply, Statement
from service.debate.turns import TurnId

SYLLABLES = [a + b for a in "bdfgklmnprstv" for b in ("a", "e", "i", "o", "u", "an", "er", "or")]


class Judged(NamedTuple):
    """A critique, with what the check is told beside it."""

    proposal: Proposal
    earlier: tuple[Critique, ...]
    critique: Critique
    verdict: Verdict = "verified"

    def found(self) -> CritiqueFound:
        verdicts = [
            ArgumentVerdict(
                TurnId("1.critic.1"),
                p.n,
                tuple(CitationVerdict(self.verdict) for _ in p.citations),
                "unverified_citation" if p.citations and self.verdict != "verified" else None,
            )
            for p in self.critique.points
        ]
        return check_critique([Attacked(self.proposal)], self.earlier, self.critique, verdicts)


def _words(rng: Random, count: int) -> list[str]:
    return ["".join(rng.choices(SYLLABLES, k=rng.choice((3, 4)))) for _ in range(count)]


def _proposal(rng: Random) -> Proposal:
    arguments = (Statement(n, " ".join(_words(rng, 14)), (Citation("the passage", "D1"),)) for n in range(1, 5))
    return Proposal(" ".join(_words(rng, 8)), tuple(arguments), "upheld")


def _critique(points: Sequence[Point], thesis: str = "The proposition fails.") -> Critique:
    return Critique(thesis, tuple(points), 7, "rejected")


def _genuine(rng: Random) -> Judged:
    """Each point takes up a third of an argument's words, names it, and brings words and a passage of its own."""
    proposal = _proposal(rng)
    points = [
        Point(a.n, " ".join([*rng.sample(a.text.split(), 5), *_words(rng, 10)]), (a.n,), (Citation("another", "D1"),))
        for a in proposal.arguments[: rng.choice((3, 4))]
    ]
    return Judged(proposal, (_critique([Point(1, " ".join(_words(rng, 30)), (1,))]),), _critique(points))


def _lazy(rng: Random) -> Judged:
    return Judged(_proposal(rng), (), _critique([Point(1, f"There may be minor {_words(rng, 1)[0]} matters.")]))


def _verbose_empty(rng: Random) -> Judged:
    points = [Point(n, " ".join(_words(rng, 120)), (), basis="reasoning") for n in range(1, 7)]
    return Judged(_proposal(rng), (), _critique(points))


def _echo(rng: Random) -> Judged:
    proposal = _proposal(rng)
    points = [Point(a.n, f"However, {a.text}.", (a.n,)) for a in proposal.arguments]
    return Judged(proposal, (), _critique(points))


def _repeats_itself(rng: Random) -> Judged:
    proposal, _, critique, _ = _genuine(rng)
    again = [Point(p.n, f"Once again: {p.text}", p.attacks, p.citations) for p in critique.points]
    return Judged(proposal, (critique,), _critique(again))


def _invents(rng: Random) -> Judged:
    return _genuine(rng)._replace(verdict="not_found")


CRITICS: dict[str, tuple[Callable[[Random], Judged], set[str]]] = {
    "lazy": (_lazy, {"noPointNamesAnArgument"}),
    "verbose and empty": (_verbose_empty, {"noPointNamesAnArgument"}),
    "echo of the proposer": (_echo, {"littleNovelty", "restatesTheProposer", "thin"}),
    "repeat of its own turn": (_repeats_itself, {"repeatsItself"}),
    "invented citations": (_invents, {"noCitationVerified", "thin"}),
    "genuine": (_genuine, set()),
}
CASES = 20


def test_each_rule_finds_the_critics_it_is_meant_for_and_no_others() -> None:
    expected, flagged, hit = Counter[str](), Counter[str](), Counter[str]()

    for name, (make, rules) in CRITICS.items():
        for case in range(CASES):
            weak = set(make(Random(f"{name}|{case}")).found().weak)
            expected.update(rules)
            flagged.update(weak)
            hit.update(weak & rules)

    recall = {rule: hit[rule] / expected[rule] for rule in expected}
    precision = {rule: hit[rule] / flagged[rule] for rule in flagged}
    assert set(expected) == set(flagged)
    assert min(recall.values()) == 1.0
    assert min(precision.values()) >= 0.95


@pytest.mark.parametrize("name", CRITICS)
def test_only_the_genuine_critic_is_not_asked_again(name: str) -> None:
    make, _ = CRITICS[name]

    weak = [bool(make(Random(f"{name}|{case}")).found().weak) for case in range(CASES)]

    assert set(weak) == {name != "genuine"}


def test_an_empty_critique_is_weak_for_that_alone() -> None:
    found = check_critique([Attacked(_proposal(Random(1)))], [], _critique([]), [])

    assert found.weak == ("noPoint",)
    assert (found.points, found.novelty, found.self_overlap, found.restating) == (0, 0, 0, 0)


def test_one_verified_citation_among_invented_ones_is_left_to_the_strike() -> None:
    _, _, critique, _ = judged = _genuine(Random(2))
    verdicts = [
        ArgumentVerdict(TurnId("1.critic.1"), p.n, (CitationVerdict("verified" if p.n == 1 else "not_found"),))
        for p in critique.points
    ]

    found = check_critique([Attacked(judged.proposal)], judged.earlier, critique, verdicts)

    assert (found.citations, found.citations_verified, found.weak) == (len(critique.points), 1, ())


def test_length_is_not_scored() -> None:
    short, long = _genuine(Random(3)), _genuine(Random(3))
    words = Random(4)
    padded = [
        Point(p.n, f"{p.text} {' '.join(_words(words, 200))}", p.attacks, p.citations) for p in long.critique.points
    ]

    longer = long._replace(critique=_critique(padded)).found()

    assert (short.found().weak, longer.weak) == ((), ())


def test_shares_are_whole_per_mille_of_words_of_four_letters_and_more() -> None:
    proposal = Proposal("alpha", (Statement(1, "bravo charlie delta"),), "upheld")
    critique = _critique([Point(1, "Bravo CHARLIE the a of 12345 echo foxtrot", (1,))])
    earlier = _critique([Point(1, "echo foxtrot golf", (1,))])

    found = check_critique([Attacked(proposal)], [earlier], critique, [])

    assert (found.novelty, found.self_overlap, found.restating) == (500, 400, 0)


def test_several_positions_are_restated_by_a_point_that_copies_any_of_them() -> None:
    one, two = (_proposal(Random(n)) for n in (5, 6))
    points = [Point(1, one.arguments[0].text, (1,)), Point(2, two.arguments[3].text, (4,))]

    found = check_critique([Attacked(one), Attacked(two)], [], _critique(points), [])

    assert (found.restating, "restatesTheProposer" in found.weak) == (1_000, True)


@pytest.mark.parametrize(
    "phrase", ["while I acknowledge the cap", "to be fair, it is tight", "this is largely correct"]
)
def test_softening_is_flagged_wherever_it_stands_and_never_asks_again(phrase: str) -> None:
    judged = _genuine(Random(7))
    first, *others = judged.critique.points
    soft = Point(1, f"{phrase.capitalize()}; {first.text}", first.attacks, first.citations)

    in_a_point = judged._replace(critique=_critique([soft, *others])).found()
    in_the_thesis = judged._replace(critique=_critique(judged.critique.points, f"Well, {phrase}.")).found()

    for found in (in_a_point, in_the_thesis):
        assert all(said in phrase.lower() for said in found.softening)
        assert "softening" in found.soft
        assert not found.weak


def test_recorded_debates_are_rarely_called_weak(shared: Path) -> None:
    """Turns of people and of GPT-4 against each other: real opposition, some of it poor."""
    turns, weak = Counter[str](), Counter[str]()

    for line in (shared / "data/transcripts/debates.jsonl").read_text(encoding="utf-8").splitlines():
        debate = json.loads(line)
        if debate["setting"] in ("human_debate", "gpt-4_debate"):
            for found in _recorded_critiques(debate["turns"]):
                turns[debate["setting"]] += 1
                weak[debate["setting"]] += bool(found.weak)

    assert turns["human_debate"] > 250
    assert turns["gpt-4_debate"] > 500
    assert weak["human_debate"] <= 2  # one of them is "bruh"
    assert weak["gpt-4_debate"] <= 0.04 * turns["gpt-4_debate"]


def _recorded_critiques(turns: Sequence[dict[str, str]]) -> list[CritiqueFound]:
    """Each debater's turn judged against the other's last one and its own earlier ones."""
    own: dict[str, list[Critique]] = {"debater_A": [], "debater_B": []}
    found = []
    for turn in turns:
        text = re.sub(r"</?quote>", "", turn["text"]).strip()[:19_000]
        if turn["role"] not in own or not text or text.startswith(("Rate limit", "!!! Received", "Internal Server")):
            continue
        quoted = tuple(Citation(quote) for quote in re.findall(r"<quote>(.*?)</quote>", turn["text"], re.DOTALL))
        critique = _critique([Point(1, text, (1,), quoted)])
        verdicts = [ArgumentVerdict(TurnId("1.critic.1"), 1, (CitationVerdict("verified"),) * len(quoted))]
        (other,) = set(own) - {turn["role"]}
        if own[other]:
            proposal = Proposal("It is so.", (Statement(1, own[other][-1].points[0].text),), "upheld")
            found.append(check_critique([Attacked(proposal)], own[turn["role"]], critique, verdicts))
        own[turn["role"]].append(critique)
    return found


# Citations: what is struck.


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The proposer assumes that no court will read the clause narrowly.", False),
        ("Section 9 is silent on fines.", False),
        ("Nothing in clause 12 mentions fines.", False),
        ("The proposer reads Section 9 too narrowly.", False),
        ("If Section 9 and Section 12 conflict, the cap fails.", False),
        ('The definition of "Confidential Information" is circular.', False),
        ('It rests on "force majeure event" and nothing else.', False),
        ("The clause provides little comfort.", False),
        ("Under article a buyer sets no limit.", False),
        ("Section 9 caps liability at the fees paid.", True),
        ("Clause 4.2 of the master agreement expressly excludes it.", True),
        ("According to paragraph 4(b), notice is due within ten days.", True),
        ("\u00a7 12 requires notice.", True),
        ("Schedule B, also\nlimits the service credits.", True),
        ('It says "liability shall not exceed the fees paid".', True),
        ("It says \u201cliability shall not exceed the fees paid\u201d.", True),
        ("It says \u00abliability shall not exceed the fees\u00bb.", True),
    ],
)
def test_reasoning_that_quotes_a_passage_or_reports_a_clause_claims_evidence(text: str, claims: bool) -> None:
    for argument in (Statement(1, text, (), "reasoning"), Point(1, text, (1,), (), "reasoning")):
        assert claims_evidence(argument) is claims


@given(st.text(min_size=1, max_size=200))
def test_what_says_that_it_is_evidence_always_claims_evidence(text: str) -> None:
    assert claims_evidence(Answer(1, text, (), "evidence"))


def _verify(citation: Citation) -> CitationVerdict:
    verdicts: dict[str, Literal["verified", "altered", "not_found"]] = {"true": "verified", "changed": "altered"}
    return CitationVerdict(verdicts.get(citation.quote, "not_found"))


@pytest.mark.parametrize(
    ("quotes", "basis", "struck"),
    [
        (("true",), "evidence", None),
        (("true", "true"), "evidence", None),
        (("true", "changed"), "evidence", "unverified_citation"),
        (("made up",), "evidence", "unverified_citation"),
        (("made up",), "reasoning", "unverified_citation"),
        ((), "evidence", "uncited"),
        ((), "reasoning", None),
    ],
)
def test_an_argument_is_struck_for_one_citation_that_fails_and_for_evidence_without_any(
    quotes: tuple[str, ...], basis: Literal["evidence", "reasoning"], struck: str | None
) -> None:
    argument = Statement(1, "It follows.", tuple(Citation(quote, "D1") for quote in quotes), basis)

    found = check_citations({TurnId("1.proposer.1"): Proposal("t", (argument,), "upheld")}, _verify)

    assert [a.struck for a in found.arguments] == [struck]
    assert found.struck(TurnId("1.proposer.1")) == ({1: struck} if struck else {})


def test_evidence_that_calls_itself_reasoning_is_struck_as_uncited() -> None:
    argument = Statement(1, "Section 9 caps liability at the fees paid.", (), "reasoning")

    found = check_citations({TurnId("1.proposer.1"): Proposal("t", (argument,), "upheld")}, _verify)

    assert found.struck(TurnId("1.proposer.1")) == {1: "uncited"}


def test_every_citation_of_every_seat_is_judged_in_its_order() -> None:
    cited = (Citation("true", "D1"), Citation("changed", "D1"))
    said: dict[TurnId, Reply] = {
        TurnId("1.critic.1"): _critique([Point(2, "b", (1,), cited), Point(1, "a", (1,), basis="reasoning")]),
        TurnId("1.rebuttal.1"): Rebuttal("t", (Answer(2, "c", cited[:1]),), (Concession(1, "granted"),), "upheld"),
    }

    found = check_citations(said, _verify)

    assert isinstance(found, CitationsFound)
    assert [(a.turn, a.n, [v.verdict for v in a.verdicts]) for a in found.arguments] == [
        ("1.critic.1", 2, ["verified", "altered"]),
        ("1.critic.1", 1, []),
        ("1.rebuttal.1", 2, ["verified"]),
    ]
