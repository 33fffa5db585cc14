"""Which arguments are a turn's own: over the recorded debates, and below, at and above each limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from service.checks import given
from service.checks.judgement import VOICES, Shown, Spoken
from service.checks.judgement.voices import VOICE_LIMITS
from service.debate import emptiness
from service.debate.findings import ArgumentVerdict, CitationVerdict, VoicesFound
from service.debate.replies import Statement
from service.debate.turns import turn_id
from tests.vectors.goldens import Golden, file_of, lines, recorded
from tests.vectors.goldens.critiques import ENGLISH, HONEST, SOFTENED, WORDS

Engine = Callable[[Sequence[Spoken], Shown], VoicesFound]
GERMAN = "Die Haftung ist der Höhe nach begrenzt, und zwar auf das Dreifache der Vergütung eines Vertragsjahres."
SIDES = (
    "The other side is right.",
    "The other side is right: the fee is due.",
    "The other side is right that the fee is due, but the bank owes nothing.",
    "The other side is right. But the bank owes nothing before the month ends.",
    "The critic is right, and so the claim falls with all interest.",
    "I fully agree with the other debater on the fee, the bank and the month.",
    "We side with my opponent. The fee is due in whole.",
    "I agree with the opposing view here: the fee is due in whole.",
    "The opposing side was never right about the fee, the bank and the month.",
)


def spoken(*texts: str, shown: Sequence[str] = (ENGLISH,), verified: bool = False, opposed: bool = True) -> Spoken:
    """A turn with these arguments."""
    found = (CitationVerdict("verified"),) if verified else ()
    made = tuple(Statement(n, text) for n, text in enumerate(texts, start=1))
    verdicts = tuple(ArgumentVerdict(turn_id(1, "debater-2"), a.n, found) for a in made)
    return Spoken(turn_id(1, "debater-2"), made, verdicts, tuple(shown), opposed)


def cases() -> Iterator[tuple[str, Spoken]]:
    """Arguments at each limit, in an English debate and in another."""
    for said in (*SIDES, *SOFTENED, *HONEST):
        for opposed in (True, False):
            yield f"says {said}, opposed {opposed}", spoken(said, ENGLISH, opposed=opposed)
    for count in range(8):
        for verified in (True, False):
            yield f"{count} words, {verified}", spoken(" ".join(WORDS[:count]) or "-", ENGLISH, verified=verified)
            yield (
                f"{count} words in German, {verified}",
                spoken(" ".join(WORDS[:count]) or "-", GERMAN, verified=verified),
            )
    other = " ".join(WORDS[:1_000])
    for same in (798, 799, 800, 801, 802):
        text = " ".join(WORDS[n] if n % 1_000 < same and n % 2 else WORDS[n + 1_500] for n in range(1_000))
        shared = " ".join(reversed([*WORDS[:same], *WORDS[1_500 : 2_500 - same]]))
        yield f"{same} of 1000 words are another's", spoken(shared, text, shown=(other,))
        yield f"{same} of 1000 words are another's, and one opposes", spoken(f"{shared} never", text, shown=(other,))
    for run in range(3, 9):
        pieces = [" ".join(WORDS[10 * n : 10 * n + run]) for n in range(4)]
        yield (
            f"runs of {run}",
            spoken(" ".join(p + " " + WORDS[2_000 + n] for n, p in enumerate(pieces)), shown=(other,)),
        )
    for copied in range(6, 15):
        text = " ".join([*WORDS[:copied], *WORDS[2_000:2_010]])
        yield f"{copied} copied, 10 added", spoken(text, shown=(other,))
    for added in range(9):
        for opposing in ("", " never"):
            text = " ".join([*WORDS[:20], *WORDS[2_000 : 2_000 + added]]) + opposing
            yield f"20 copied, {added} added{opposing}", spoken(text, shown=(other,))
    for struck in ("uncited", "unverified_citation", None):
        one = spoken(ENGLISH, shown=())
        verdict = ArgumentVerdict(one.turn, 1, (), struck)
        yield f"struck {struck}", one._replace(verdicts=(verdict,))


def related() -> Iterator[tuple[str, Spoken, Shown]]:
    """Turns with and without words of the case, in one argument and in another."""
    for known in (39, 40):
        about = Shown((" ".join(WORDS[:1]),), {"D1": " ".join(WORDS[1:known])})
        of_case, strange = f"{ENGLISH} {' '.join(WORDS[:9])}", f"{ENGLISH} {' '.join(WORDS[2_000:2_009])}"
        for what, texts in (("of it", [of_case]), ("strange", [strange]), ("both", [of_case, strange])):
            yield f"{known} words of a case, {what}", spoken(*texts, shown=()), about


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "voices"): _golden(name, engine) for name, engine in VOICES.items()}


def _golden(name: str, engine: Engine) -> Golden:
    def make() -> bytes:
        found: list[tuple[str, object]] = [
            (f"recorded {c.name}", recorded.found(name, engine, given.VOICES, c)) for c in recorded.checks("voices")
        ]
        judged = [(what, engine((case,), Shown())) for what, case in cases()]
        judged += [(what, engine((case,), about)) for what, case, about in related()]
        held = [("limits", VOICE_LIMITS), ("words that say nothing", sorted(emptiness.EMPTY))]
        return lines(name, {1: [*found, *judged, *held]})

    return Golden(name, make)
