"""The settings of whole runs: faults, plans, and the rates in which the faults have to arrive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import msgspec

from service.evaluation.scoring import Result
from service.evaluation.sets.files import GOLDEN
from service.policy.known_faults import ModelFaults
from service.policy.known_faults import Rate as Share
from tests.recovery.critics import outcome
from tests.recovery.lifts import LEVEL
from tests.recovery.model import Claim, any_finding, whether
from tests.recovery.whole import Rate, Whole

DEBATERS = ("alder-large", "birch-large", "cedar-large")
JUDGE, CRITIC, MODERATOR = "cedar-large", "birch-large", "alder-small"
SEATED = f'\n[models]\nmoderator = "{JUDGE}"\njudge = "{JUDGE}"\nsynthesizer = "{JUDGE}"\n'
EFFECT = "\n[effect]\ngain = 0.35\nloss = 0.05\n"
BLIND = "misreadFigure"
PAIRS = tuple(sorted(GOLDEN.glob("*-pairs")))
FIELDS = {field.name: field.encode_name for field in msgspec.structs.fields(ModelFaults)}


@cache
def wholes() -> tuple[Whole, ...]:
    """Every setting, in the order of the document."""
    return (*_lifts(), *_critics(), *_moderators())


def _faults(shares: Mapping[str, int]) -> ModelFaults:
    return msgspec.convert({FIELDS[name]: share for name, share in shares.items()}, ModelFaults)


# Lifts.


def _debate(*formats: str) -> str:
    options = {"adversarial": "options = { max_rounds = 1 }\n"}
    return "".join(
        f'[[arms]]\nname = "{name}"\ndoes = "debate"\nformat = "{name}"\n{options.get(name, "")}\n' for name in formats
    )


VOTE = '[[arms]]\nname = "vote"\ndoes = "vote"\ndrafts = 3\n\n'
SINGLE = '[[arms]]\nname = "single"\ndoes = "single"\n\n'


def _against(*pairs: tuple[str, str]) -> str:
    return "\n".join(f'[[comparisons]]\nfirst = "{one}"\nsecond = "{other}"\n' for one, other in pairs)


THREE = f"{_debate('adversarial')}{VOTE}{SINGLE}{_against(('adversarial', 'vote'), ('adversarial', 'single'))}"


def _drafts(judge: ModelFaults | None = None, **shares: int) -> Mapping[str, ModelFaults]:
    """Three debaters of one accuracy, of whom the last is the judge as well."""
    return {**{name: _faults(shares) for name in DEBATERS}, **({JUDGE: judge} if judge else {})}


def majority(right: float) -> float:
    """How often two of three are right."""
    return right**3 + 3 * right**2 * (1 - right)


def _agreement(arm: str, true: float) -> Rate:
    return Rate(f"{arm} agrees with the label", true, _of(f"agreement/{arm}"))


def _of(*figures: str) -> Callable[[Result], tuple[int, int]]:
    """The cases of figures with ``k`` and ``n``, together."""

    def count(result: Result) -> tuple[int, int]:
        found = [result.figure(name).input for name in figures]
        return sum(one["k"] for one in found), sum(one["n"] for one in found)

    return count


def _missing(arm: str, true: float) -> Rate:
    def count(result: Result) -> tuple[int, int]:
        shown = next(one for one in result.arms if one.name == arm)
        return shown.items.asked - shown.items.answered, shown.items.asked

    return Rate(f"{arm} has no answer", true, count)


def _primary(result: Result) -> str:
    return result.findings[0].outcome


def _lifts() -> tuple[Whole, ...]:
    sets = (GOLDEN / "contract-questions", GOLDEN / "security-questions")
    better = Claim("a useless debate is called better", LEVEL, whether(lambda r: any_finding(r, "better")))
    worse = Claim("a helpful debate is called worse", LEVEL, whether(lambda r: any_finding(r, "worse")))

    def lift(
        name: str, about: str, faults: Mapping[str, ModelFaults], *rates: Rate, claims: tuple[Claim, ...]
    ) -> Whole:
        return Whole(name, about, "lift", "accuracy", sets, faults, THREE + SEATED + EFFECT, rates, _primary, claims)

    alike, apart = _drafts(accuracy=600, correlation=1_000), _drafts(accuracy=600)
    return (
        lift("useless", "debaters that err together (0.6), and a judge that is no better", alike,
             _agreement("adversarial", 0.6), _agreement("vote", 0.6), _agreement("single", 0.6), claims=(better,)),
        lift("apart", "debaters that err apart (0.6)", apart,
             _agreement("adversarial", 0.6), _agreement("vote", majority(0.6)), _agreement("single", 0.6), claims=()),
        lift("helpful", "a judge that mends nine of ten wrong answers", _drafts(_judge(mended=900), accuracy=600),
             _agreement("adversarial", 0.96), _agreement("vote", majority(0.6)), claims=(worse,)),
        lift("harmful", "a judge that breaks half of the right answers", _drafts(_judge(broken=500), accuracy=600),
             _agreement("adversarial", 0.3), _agreement("vote", majority(0.6)), claims=(better,)),
        lift("confident", "a judge that states 0.8 and is right in 0.7",
             _drafts(_judge(confidence=800, true_rate=700), accuracy=600), _agreement("adversarial", 0.7), claims=()),
        lift("unusable", "drafts of which four of ten cannot be read; one is asked again once by other words",
             _drafts(accuracy=600, unusable=400), _missing("single", 0.16), _agreement("single", 0.84 * 0.6),
             claims=(Claim("a difference is found where over 5 % of an arm are missing", 0.0, whether(_found)),)),
        Whole("formats", "the judge that mends nine of ten, in three more formats", "lift", "accuracy", sets[:1],
              _drafts(_judge(mended=900), accuracy=600),
              f"{_debate('convergence', 'panel', 'stances')}{SINGLE}{_against(('convergence', 'single'))}"
              + SEATED + EFFECT,
              tuple(_agreement(name, 0.96) for name in ("convergence", "panel", "stances")), _primary, (worse,)),
        Whole("repeats", "three repeats of each item, of which the majority counts", "lift", "accuracy", sets, apart,
              f"{VOTE}{SINGLE}{_against(('vote', 'single'))}" + SEATED + EFFECT,
              (_agreement("single", majority(0.6)), _agreement("vote", majority(majority(0.6)))), _primary, (), 3),
    )  # fmt: skip


def _judge(**shares: int) -> ModelFaults:
    return _faults({"accuracy": 600, **shares})


def _found(result: Result) -> bool:
    return any_finding(result, "better", "worse")


# Critics.


def _critics() -> tuple[Whole, ...]:
    two, five = (("contract", "security"), ("architecture", "compliance", "contract", "investment", "security"))
    passes = whether(lambda result: outcome(result) == "passes")
    return (
        _critic("good", "a good critic (0.90 hits, 0.10 alarms)", two, 900, 100),
        _critic("bad", "a bad critic (0.60 hits, 0.10 alarms)", two, 600, 100),
        _critic("always", "a critic that always objects", two, 1_000, 1_000, Claim("it passes", 0.0, passes)),
        _critic("never", "a critic that never objects", two, 0, 0, Claim("it passes", 0.0, passes)),
        _critic("blind", "a critic that finds all flaws but those of one family", five, {BLIND: 0, "others": 1_000}, 0,
                Claim(f"the blind spot ({BLIND}) is not seen", 0.0, whether(lambda r: BLIND not in _spots(r))),
                Claim("another family is called one", 0.0, whether(lambda r: bool(_spots(r) - {BLIND})))),
        Whole("debated", "flaws in a whole debate whose moderator is right in 0.8", "critic", "hits",
              (GOLDEN / "contract-critic",), {CRITIC: ModelFaults(hits=900, false_alarms=100),
                                              JUDGE: ModelFaults(accuracy=800)},
              _tried("whole"),
              (Rate("flawed proposals are upheld", 0.2, _of("flawedUpheld/critic")),
               Rate("sound proposals are overturned", 0.2, _of("soundOverturned/critic"))), outcome),
    )  # fmt: skip


def _critic(name: str, about: str, types: tuple[str, ...], hits: Share, alarms: int, *claims: Claim) -> Whole:
    rates = [Rate("false alarms", alarms / 1_000, _of(*(f"alarms/critic/{one}" for one in types)))]
    if isinstance(hits, dict):
        rates += [
            Rate("hits of that family", 0.0, _of(f"familyHits/critic/{BLIND}")),
            Rate("hits of all others", 1.0, _other_families),
        ]
    else:
        rates.append(Rate("hits", hits / 1_000, _of(*(f"hits/critic/{one}" for one in types))))
    return Whole(
        name,
        about,
        "critic",
        "hits",
        tuple(GOLDEN / f"{one}-critic" for one in types),
        {CRITIC: ModelFaults(hits=hits, false_alarms=alarms, confidence=800)},
        _tried("critic"),
        tuple(rates),
        outcome,
        claims,
    )


def _tried(until: str) -> str:
    arm = f'[[arms]]\nname = "critic"\ndoes = "critic"\nuntil = "{until}"\n'
    return f'{arm}\n[models]\ncritic = "{CRITIC}"\nmoderator = "{JUDGE}"\n\n[effect]\nhits = 0.95\nalarms = 0.05\n'


def _spots(result: Result) -> set[str]:
    return {found.about[1] for found in result.findings if found.outcome == "blindSpot"}


def _other_families(result: Result) -> tuple[int, int]:
    names = {str(row.cells["family"]) for row in result.table("families")} - {BLIND}
    return _of(*(f"familyHits/critic/{name}" for name in names))(result)


# Moderators.


def _moderators() -> tuple[Whole, ...]:
    right = Rate("judged as the label", 0.75, _judged)
    return (
        _moderator("even", "an even moderator, right in 0.75", {"accuracy": 750},
                   (right, Rate("the first place twice", 0.0, _first))),
        _moderator("place-70", "a moderator that goes by the first place in 0.7 of cases",
                   {"accuracy": 750, "first_slot_pull": 700}, (Rate("the first place twice", 0.7, _first),)),
        _moderator("place", "a moderator that always takes the first place",
                   {"accuracy": 750, "first_slot_pull": 1_000},
                   (Rate("the first place twice", 1.0, _first),),
                   Claim("the pull to a place is not seen", 0.0, whether(lambda r: "position" not in _tilts(r)))),
        _moderator("longer", "a moderator that goes by length in 0.6 of cases, and else is right in 0.75",
                   {"accuracy": 750, "length_pull": 600},
                   (Rate("right where the longer side is", 0.9, _by_length("favoured_right")),
                    Rate("right where the other side is", 0.3, _by_length("other_right")))),
        _moderator("stable", "a moderator that is right in 0.7, asked three times", {"accuracy": 700},
                   (Rate("the same conclusion three times", 0.37, _of("stability/moderator")),), repeats=3),
    )  # fmt: skip


def _moderator(
    name: str, about: str, shares: Mapping[str, int], rates: tuple[Rate, ...], *claims: Claim, repeats: int = 1
) -> Whole:
    tables = (
        f'[[arms]]\nname = "moderator"\ndoes = "moderator"\n\n[models]\nmoderator = "{MODERATOR}"\n\n'
        "[effect]\nshare = 0.8\n"
    )
    faults = {MODERATOR: _faults(shares)}
    return Whole(name, about, "moderator", "position", PAIRS, faults, tables, rates, _pulls, tuple(claims), repeats)


def _first(result: Result) -> tuple[int, int]:
    pairs = [tuple(pair) for pair in result.figure("position/moderator").input["pairs"]]
    return pairs.count(("first", "first")), len(pairs)


def _judged(result: Result) -> tuple[int, int]:
    (arm,) = result.arms
    return arm.right or 0, arm.items.asked


def _by_length(which: str) -> Callable[[Result], tuple[int, int]]:
    def count(result: Result) -> tuple[int, int]:
        k, n = result.figure("preference/moderator/length").input[which]
        return k, n

    return count


def _tilts(result: Result) -> set[str]:
    return {found.about[1] for found in result.findings if found.outcome == "tilt"}


def _pulls(result: Result) -> str:
    return ", ".join(sorted(_tilts(result))) or "no pull"
