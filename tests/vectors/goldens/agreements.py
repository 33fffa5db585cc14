"""How far panels agree and how debaters conducted themselves: recorded panels, the hand-scored ones, and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from service.checks.consensus import AGREEMENTS, CONDUCTS, SYNTHESES, AgreementEngine
from service.checks.consensus.transcript import Transcript
from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.findings import AccuracyFound, SynthesisFound
from service.debate.model import Check, PanelOptions, seat_of
from service.debate.panel_standing import labels_of
from service.debate.replies import Synthesis
from service.debate.script import Script
from service.debate.turns import turn_id
from tests.fixtures.debates import start_of
from tests.fixtures.transcripts import LETTERS, transcript, vectors
from tests.vectors.goldens import Golden, file_of, lines, recorded
from tests.vectors.goldens.critiques import text

KNOWN = ("Does the agreement expose the buyer to uncapped liability?", "The fee is due.")
KINDS = ("factual", "normative", "business", "prediction", "brainstorm", "belief")
STANCES = ("affirmative", "qualified", "negative", "open")
FRAMEWORKS = "textual empirical riskAssessment costBenefit consequences rightsAndDuties precedent other".split()


def written() -> Iterator[tuple[str, dict[str, Any]]]:
    """Transcripts as a file would write them, at each threshold."""
    for kind in KINDS:
        for one in STANCES:
            for other in STANCES:
                yield f"{kind}: {one} and {other}", two(kind, {"stance": one}, {"stance": other})
    for one in FRAMEWORKS:
        for other in FRAMEWORKS:
            yield f"{one} and {other}", two("belief", {"framework": one}, {"framework": other})
    yield from marked()
    for threshold in (0, 600, 699, 700, 701, 800, 999, 1_000):
        yield f"a threshold of {threshold}", two("factual", {}, {}, threshold=threshold)
    yield from repeated()
    yield from at_limits()
    yield from conducted()
    yield from alone()
    yield from compared()
    yield from excluding()


CLAIMS = (
    "The cap is EUR 5 million.",
    "The cap is five million euros.",
    "The cap is USD 5 million.",
    "The cap is EUR 6 million per year.",
    "The cap is EUR 6 million in total.",
    "There is no cap at all.",
    "The supplier owes nothing whatever.",
    "Notice takes at least 30 days.",
    "Notice takes at most thirty (30) days.",
    "Notice takes 2 weeks or more.",
    "Interest runs at 5 %, because section 9.2 says so.",
    "Interest runs at half of 8 per cent.",
    "The fee is due on 1 May 2026.",
    "The fee is due before 2026-05-01.",
    "The fee is due after May 1st, 2026.",
    "The Supplier shall indemnify the Buyer.",
    "The Buyer shall indemnify the Supplier.",
    "The Buyer is indemnified by the Supplier.",
    "The supplier is not liable for loss of data.",
    "The supplier is liable for loss of data.",
    "The clause permits assignment.",
    "The clause forbids assignment.",
    "Liability is unlimited.",
    "Liability is limited.",
    "Liability for fraud is uncapped.",
    "The general cap of EUR 2 million does not apply to fraud.",
    "Sections 12.1 to 12.3 and paragraph C7.4 limit it to EUR 2 million.",
    "9.2 limits it to 1.5 times the fees.",
)
"""Claims of which some are alike, some opposed and some about something else."""


def compared() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every two of these claims on one passage: blind, and with every mark."""
    for i, one in enumerate(CLAIMS):
        for other in CLAIMS[i:]:
            for stance in ("negative", "open"):
                yield f"{stance}: {one} {other}", _both(stance, one, other, rounds=1)
            yield f"marked: {one} {other}", _both("open", one, other, rounds=2)


MEASURES = (
    ("The limit is 3 percent of the fees.", "The limit is 3 basis points of the fees."),
    ("The limit is 2 percent of the fees.", "The limit is 200 basis points of the fees."),
    ("The limit is 5 per mille of the fees.", "The limit is 0.5 percent of the fees."),
    ("The limit is 3 percent of the fees.", "The limit is 3 percentage points of the fees."),
    ("Notice takes 24 hours.", "Notice takes one day."),
    ("Notice takes 30 days.", "Notice takes one month."),
    ("Notice takes 10 business days.", "Notice takes 10 calendar days."),
    ("The term is one year.", "The term is twelve months."),
    ("The cap is 1.5 times the fees.", "The cap is 15 times the fees."),
    ("The cap is twice the fees.", "The cap is EUR 5 million."),
    ("The cap is EUR 5 million.", "The cap for fraud is EUR 10 million."),
    ("Section 9.2 caps it at EUR 5 million.", "Section 9.4 caps it at EUR 6 million."),
    ("The Supplier may notify the Bank.", "The Supplier must notify the Bank."),
    ("The Supplier need not notify the Bank.", "The Supplier is not obliged to notify the Bank."),
    ("The limit applies always.", "The limit applies only to fraud."),
    ("The limit applies without exception.", "The limit applies save for fraud."),
    ("Yes, unlimited.", "No, limited."),
    ("Liability is capped.", "Liability is not capped."),
    ("Liability is unlimited.", "The limit covers data loss."),
    ("The limit is EUR 5 million.", "The limit is EUR 6 million."),
)
"""Claims in other measures, duties and scopes, of which some exclude each other and some agree."""


def excluding() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each two of these as claims on one passage, as claims without one, and as answers under equal claims."""
    for one, other in MEASURES:
        written = _both("negative", one, other, rounds=2)
        yield f"quoted: {one} {other}", written
        bare = [{**said, "claims": [{**c, "quotes": []} for c in said["claims"]]} for said in written["answers"]]
        yield f"unquoted: {one} {other}", {**written, "answers": bare}
        equal = _both("negative", "The fee is due.", "The fee is due.", rounds=2)
        said = [{**a, "answer": (one, other)[i % 2]} for i, a in enumerate(equal["answers"])]
        for kind in ("factual", "prediction", "belief"):
            yield f"answered, {kind}: {one} {other}", {**equal, "type": kind, "answers": said}


def _both(stance: str, one: str, other: str, rounds: int) -> dict[str, Any]:
    """Two debaters that make these claims in every round, and accept each other's."""
    answers = [
        {
            "turn": f"{r}.debater-{n}.1",
            "stance": stance,
            "claims": [{"n": 1, "text": text, "quotes": ["D1 0 40"]}],
            "marks": [f"{letter} 1 accept"] if r > 1 else [],
        }
        for r in range(1, rounds + 1)
        for n, letter, text in ((1, "B", one), (2, "A", other))
    ]
    return {"type": "factual", "threshold": 850, "answers": answers}


def marked() -> Iterator[tuple[str, dict[str, Any]]]:
    """Transcripts with these marks, confidences and estimates."""
    for mark in ("accept", "unsure", "reject"):
        for kind in ("factual", "business", "belief"):
            yield f"{kind}: {mark}", two(kind, {"marks": [f"B 1 {mark}"]}, {"marks": [f"A 1 {mark}"]})
        for sure in (69, 70, 71):
            marks = [f"B 1 {mark} {sure}"]
            yield f"{mark} at {sure}", two("factual", {"marks": marks}, {"marks": [f"A 1 {mark} {sure}"]})
    for confidence in (50, 70, 89, 90, 91, 100):
        yield f"{confidence} % sure", two("factual", {"confidence": confidence}, {})
    for low in (5, 39, 40, 41, 49, 50, 51):
        for high in (60, 80, 81, 90):
            yield f"{low} to {high}", two("prediction", {"probability": [low, high]}, {"probability": [50, 60]})


def at_limits() -> Iterator[tuple[str, dict[str, Any]]]:
    """Transcripts of which one measure alone decides."""
    for one in STANCES:
        for other in STANCES:
            unmarked: dict[str, Any] = {"marks": []}
            yield (
                f"unmarked: {one} and {other}",
                two("factual", {"stance": one, **unmarked}, {"stance": other, **unmarked}),
            )
    for mark in ("accept", "unsure", "reject"):
        said = {"stance": "open", "claim": "The fee is due."}
        yield f"open, {mark}", two("factual", {**said, "marks": [f"B 1 {mark}"]}, {**said, "marks": [f"A 1 {mark}"]})
    for again in (599, 600, 601):
        claim = f"{text(0, again)} {text(1_000, 2_000 - again)}"
        yield (
            f"{again} of 1000 words again",
            two("brainstorm", {"claim": claim}, {"claim": claim}, first=text(0, 1_000)),
        )


def repeated() -> Iterator[tuple[str, dict[str, Any]]]:
    """Transcripts whose claims are made again in part."""
    for share in (2, 3, 5, 6, 8):
        words = "alpha beta gamma delta omega kappa sigma theta iota zeta".split()
        again = " ".join([*words[:share], *("p q r s t u v w x y".split()[: 10 - share])])
        for kind in ("brainstorm", "factual"):
            yield (
                f"{kind}: {share} of 10 words again",
                two(kind, {"claim": again}, {"claim": again}, first=" ".join(words)),
            )
            corrected = {"claim": again, "corrections": "B is right."}
            rejected = {"marks": ["A 1 reject"]}
            yield f"{kind}: {share} of 10, rejected", two(kind, {"claim": again}, rejected, first=" ".join(words))
            yield f"{kind}: {share} of 10, corrected", two(kind, corrected, rejected, first=" ".join(words))


def conducted() -> Iterator[tuple[str, dict[str, Any]]]:
    """Transcripts whose debaters turn, object and answer."""
    changes: dict[str, dict[str, Any]] = {
        "turns": {"stance": "negative"},
        "turns with a word": {"stance": "negative", "corrections": "Model B is right."},
        "learns": {"learned": "Model B showed it."},
        "learns of the model": {"learned": "The model agrees."},
        "challenges": {"challenges": ["B 1"]},
        "leaves open": {"open": ["B 1"]},
        "challenges and rejects": {"challenges": ["B 1"], "marks": ["B 1 reject"]},
        "answers": {"answers_to": ["B"]},
        "objects": {"objection": "B 1 high"},
        "objects a little": {"objection": "B 1 medium"},
        "rejects its own": {"marks": ["A 1 reject"]},
        "rejects and accepts": {"marks": ["B 1 reject", "A 1 accept"]},
        "claims what it rejects": {"marks": ["B 1 reject"], "claim": "The fee is due at once."},
        "is struck": {"struck": [1]},
        "another estimate": {"probability": [1, 2]},
    }
    for name, one in changes.items():
        for kind in ("factual", "prediction"):
            yield f"{kind}: {name}", two(kind, one, {})
            yield (
                f"{kind}: both: {name}",
                two(kind, one, {"answers_to": ["A"]} if "objection" in one else one, rounds=3),
            )


def alone() -> Iterator[tuple[str, dict[str, Any]]]:
    """Transcripts in which a dimension is undefined, at its limit, or rests on one voice or many claims."""
    other = {"framework": "other"}
    for threshold in (0, 1, 2):
        yield f"no framework at {threshold}", two("factual", other, other, threshold=threshold)
    for low, high in ((0, 5), (30, 41), (90, 100)):
        far: dict[str, Any] = {"probability": [low, high], "marks": []}
        yield f"{low} to {high} and 90 to 100", two("prediction", far, {"probability": [90, 100], "marks": []})
    for kind in ("brainstorm", "factual", "prediction"):
        both = two(kind, {}, {})
        yield f"{kind}: one falls silent", {**both, "answers": both["answers"][:3]}
        yield f"{kind}: the other falls silent", {**both, "answers": [*both["answers"][:2], both["answers"][3]]}
        yield f"{kind}: one voice", {**both, "answers": both["answers"][:1]}
    for fresh, claims in ((1, 5), (1, 4), (40, 201), (40, 200), (39, 200)):
        yield f"{fresh} of {claims} claims are new", ideas(fresh, claims)
    for before in STANCES:
        for now in STANCES:
            for corrections in ("", "Model B is right."):
                said = [{"stance": before}, {"stance": now, "corrections": corrections}]
                yield f"{before}, then {now} {corrections}", turning(said)
    yield "one mark, and unsure", rests([], ["A 1 unsure"])
    for rounds in (2, 3, 4):
        yield f"faults in {rounds} rounds", faulty(rounds)
    for quotes in ([], ["D1 0 40"]):
        for marks in ([], ["A 1 accept"], ["A 1 unsure", "A 2 reject"]):
            yield f"{quotes} and {marks}", rests(quotes, marks)


def faulty(rounds: int) -> dict[str, Any]:
    """Two debaters of whom the first turns round without a word in each round, by all rules at once."""
    answers = [_answer(1, n, {"claim": "The fee is due at once."}) for n in (1, 2)]
    for r in range(2, rounds + 1):
        turned: dict[str, Any] = {
            "stance": ("affirmative", "negative")[r % 2 == 0],
            "marks": ["A 1 reject", "B 1 reject"],
        }
        for n, more in ((1, turned), (2, {})):
            answers.append(_answer(r, n, {"claim": "The fee is due at once.", **more}))
    return {"type": "factual", "threshold": 700, "answers": answers}


def ideas(fresh: int, claims: int) -> dict[str, Any]:
    """A brainstorm of so many claims in its second round, of which so many are new."""
    first = [{"n": n + 1, "text": f"idea{n} thing{n}"} for n in range(claims)]
    again = [{"n": n + 1, "text": f"fresh{n} thought{n}" if n < fresh else f"idea{n} thing{n}"} for n in range(claims)]
    half = claims // 2
    told = [(f"{r}.debater-{n}.1", found) for r, all_ in ((1, first), (2, again)) for n, found in _halves(all_, half)]
    return {"type": "brainstorm", "threshold": 700, "answers": [{"turn": turn, "claims": said} for turn, said in told]}


def _halves(claims: list[dict[str, Any]], half: int) -> list[tuple[int, list[dict[str, Any]]]]:
    return [(1, claims[:half]), (2, claims[half:])]


def turning(said: list[dict[str, Any]]) -> dict[str, Any]:
    """Two debaters of whom the first says these things, a round each, and cites nothing."""
    answers = []
    for r, one in enumerate(said, start=1):
        for n, more in ((1, one), (2, {})):
            claim = {"n": 1, "text": f"The cap covers every fine of {n}."}
            answers.append({"turn": f"{r}.debater-{n}.1", "claims": [claim], **more})
    return {"type": "factual", "threshold": 700, "answers": answers}


def rests(quotes: list[str], marks: list[str]) -> dict[str, Any]:
    """A debater with two claims that rest on these quotations and are given these marks."""
    claims = [{"n": n, "text": f"The cap covers fine {n}.", "quotes": quotes} for n in (1, 2)]
    other = [{"n": 1, "text": "The fee is due."}]
    return {
        "type": "factual",
        "threshold": 700,
        "answers": [
            {"turn": "1.debater-1.1", "claims": claims},
            {"turn": "1.debater-2.1", "claims": other},
            {"turn": "2.debater-1.1", "claims": claims},
            {"turn": "2.debater-2.1", "claims": other, "marks": marks},
        ],
    }


def two(kind: str, one: dict[str, Any], other: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Two debaters who say the same in the blind round, and these things in every later one."""
    first = more.get("first", "The cap covers every fine.")
    answers = [_answer(1, 1, {"claim": first}), _answer(1, 2, {"claim": "The fee is due at once."})]
    for r in range(2, more.get("rounds", 2) + 1):
        answers += [
            _answer(r, 1, {"claim": first, **one}),
            _answer(r, 2, {"claim": "The fee is due at once.", **other}),
        ]
    return {"type": kind, "threshold": more.get("threshold", 700), "answers": answers}


def _answer(r: int, n: int, said: dict[str, Any]) -> dict[str, Any]:
    author = "AB"[n - 1]
    usual: dict[str, Any] = {"probability": [40, 60], "marks": [f"{'BA'[n - 1]} 1 accept"] if r > 1 else []}
    claim = {"n": 1, "text": said["claim"], "quotes": ["D1 0 40" if author == "A" else "D1 30 60"]}
    return {**usual, **said, "turn": f"{r}.debater-{n}.1", "claims": [claim]}


def facts_of(t: Transcript) -> tuple[Facts, Check]:
    """What a record would know after a transcript, and the check over it."""
    facts = Facts()
    facts.started = _start(t.kind, t.threshold, max(len(t.labels), 2))
    facts.said, facts.found = {**t.said}, {f"{turn}/citations": found for turn, found in t.citations.items()}
    assert all(labels_of(Script(facts.started, facts))[seat] == label for seat, label in t.labels.items())
    return facts, Check(f"{t.rounds}/consensus", "consensus", tuple(t.said))


@cache
def _start(kind: str, threshold: int, debaters: int) -> DebateStarted:
    """A panel in which the first debater has the first letter, as transcripts write it."""
    for n in range(100_000):
        options = PanelOptions(
            debaters,
            9,
            human_review=False,
            question_type=kind,  # type: ignore[arg-type]
            typed_by="caller",
            thresholds=dict.fromkeys(KINDS, threshold),
            mode="manual",
        )
        started = start_of(options, seed=f"{n:064x}")
        labels = labels_of(Script(started, Facts()))
        if all(LETTERS[seat] == label for seat, label in labels.items()):
            return started
    raise LookupError("no seed gives the letters in the order of the seats")


def played() -> Iterator[tuple[str, Facts, Check]]:
    """Every transcript, as facts and the check over them."""
    for checked in recorded.checks("consensus"):
        yield f"recorded {checked.name}", checked.facts, checked.check
    for vector in vectors():
        yield f"by hand {vector.name}", *facts_of(vector.transcript)
    for name, content in written():
        seats = {seat_of(one["turn"]) for one in content["answers"]}
        assert seats <= set(LETTERS)
        yield name, *facts_of(transcript(content))


def goldens() -> dict[str, Golden]:
    """A golden for every version of both."""
    return {
        **{file_of(name, "agreement"): _agreement(name, engine) for name, engine in AGREEMENTS.items()},
        **{file_of(name, "conduct"): _conduct(name, engine) for name, engine in CONDUCTS.items()},
        **{file_of(name, "synthesis"): _synthesis(name, engine) for name, engine in SYNTHESES.items()},
    }


def _agreement(name: str, engine: AgreementEngine) -> Golden:
    def make() -> bytes:
        return lines(
            name, {1: ((what, engine.judge(facts, check, engine.known(KNOWN))) for what, facts, check in played())}
        )

    return Golden(name, make)


def _conduct(name: str, engine: Callable[[Facts, Check], AccuracyFound]) -> Golden:
    def make() -> bytes:
        return lines(name, {1: ((what, engine(facts, check)) for what, facts, check in played())})

    return Golden(name, make)


def _synthesis(name: str, engine: Callable[[Facts, Check], SynthesisFound]) -> Golden:
    def make() -> bytes:
        return lines(name, {1: ((what, engine(facts, check)) for what, facts, check in synthesised())})

    return Golden(name, make)


def synthesised() -> Iterator[tuple[str, Facts, Check]]:
    """Recorded syntheses, and each first claim of `MEASURES` as what all accept, with the second as the synthesis."""
    for checked in recorded.checks("synthesis"):
        yield f"recorded {checked.name}", checked.facts, checked.check
    for one, other in MEASURES:
        for kind in ("factual", "prediction", "brainstorm"):
            for rounds in (1, 2):
                written = {**_both("negative", one, one, rounds=rounds), "type": kind}
                facts, check = facts_of(transcript(written))
                turn = turn_id(rounds, "synthesizer")
                facts.said[turn] = Synthesis(other, "HIGH", ("No court has read it.",))
                over = (*check.over, turn)
                yield f"{kind} after {rounds}: {one} {other}", facts, Check("synthesis", "synthesis", over)
