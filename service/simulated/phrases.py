"""The sentences of seats, one form for each family, filled in with the function of the evidence.

A reasoning argument may name arguments by number, but neither quotes a passage nor names a clause: that would claim
evidence without a citation.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.simulated.evidence import BearingSentence
from service.simulated.strategies import Family
from service.simulated.tables import Kind


def upper(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def does(evidence: BearingSentence) -> str:
    """The function of a sentence, with its figures: the continuation of a text that names the place."""
    says = evidence.rule.says if evidence.rule else "speaks to the point"
    return f"{says}{figured(evidence)}"


def figured(evidence: BearingSentence) -> str:
    """The figures that a sentence names, in brackets."""
    return f" ({', '.join(evidence.figures)})" if evidence.figures else ""


def follows(evidence: BearingSentence, again: int = 0) -> str:
    """The consequence of a sentence; another wording if the same kind of sentence comes again."""
    so = evidence.rule.so if evidence.rule else ("it is the nearest that the documents come to the point",)
    return so[again % len(so)]


def claim(family: Family, evidence: BearingSentence, again: int, norm: BearingSentence | None = None) -> str:
    """A proposer's argument from a sentence; ``norm`` is the requirement that a practice answers."""
    if norm:
        return (
            f"{upper(evidence.where)} {does(evidence)}, which answers {norm.brief}{figured(norm)}: "
            f"{follows(evidence, again)}."
        )
    so, where, what = follows(evidence, again), evidence.where, does(evidence)
    also = " also" if again else ""
    if family == "alder":
        return f"{upper(where)}{also} {what}: {so}."
    if family == "birch":
        return f"{upper(so)}, because {where}{also} {what}."
    return f"{upper(where)}{also} {what}. It follows that {so}."


_ATTACKS: dict[str, tuple[str, ...]] = {
    "near": (
        "Argument {n} stops reading too early: {where} {what}, and {so}.",
        "What stands beside the passage of argument {n} defeats it: {where} {what}, so {so}.",
    ),
    "elsewhere": (
        "Argument {n} reads one document alone. {Where} {what}, and {so}.",
        "The other document answers argument {n}: {where} {what}, so {so}.",
    ),
    "alder": (
        "Argument {n} fails against {where}, which {what}: {so}.",
        "{Where} takes the ground from under argument {n}: it {what}, and {so}.",
        "Argument {n} claims more than the text gives, since {where} {what}; {so}.",
    ),
    "birch": (
        "{Where} swallows argument {n}: it {what}, so {so}.",
        "Argument {n} overlooks that {where} {what}. There, {so}.",
        "Set against {where}, argument {n} does not hold: the passage {what}, and {so}.",
    ),
    "cedar": (
        "Argument {n} has to be measured against {where}, which {what}; measured so it falls short, because {so}.",
        "By {where}, which {what}, argument {n} comes out wrong: {so}.",
        "Argument {n} cannot be squared with {where}. That passage {what}, so {so}.",
    ),
}


def measured(n: int | str, practice: BearingSentence, norm: BearingSentence, variant: int) -> str:
    """A critic's point that holds a practice against the requirement on the same matter."""
    text = _MEASURED[variant % len(_MEASURED)].format(
        n=n,
        where=practice.where,
        what=does(practice),
        norm=norm.brief,
        fig=figured(norm),
        so=follows(practice, variant),
    )
    return upper(text)


_MEASURED = (
    "{where} {what}, where {norm} sets the requirement{fig}. Argument {n} does not deal with it, and {so}.",
    "Held against {norm}{fig}, argument {n} falls short: {where} {what}, and {so}.",
    "Argument {n} leaves {norm}{fig} aside. On that matter {where} {what}; {so}.",
)


def attack(family: Family, relation: str, n: int | str, evidence: BearingSentence, variant: int) -> str:
    """A critic's point from a sentence, against argument ``n``."""
    forms = _ATTACKS[relation if relation in ("near", "elsewhere") else family]
    text = forms[variant % len(forms)].format(
        n=n, where=evidence.where, Where=upper(evidence.where), what=does(evidence), so=follows(evidence, variant)
    )
    return upper(text)


_FLAWS: dict[str, tuple[tuple[Kind, ...], str]] = {
    "exception": (
        ("exposure", "sufficiency", "adoption", "soundness", "conformity", "presence"),
        "Argument {n} quotes words that are themselves conditional, and shows nowhere that the condition is met.",
    ),
    "hedge": (
        ("sufficiency", "adoption", "soundness", "conformity", "presence"),
        "Argument {n} rests on words of expectation: nothing that it quotes is a finding of fact.",
    ),
    "advice": (
        ("sufficiency", "conformity", "presence"),
        "Argument {n} quotes a recommendation and treats it as if it were a rule.",
    ),
    "leave": (
        ("sufficiency", "conformity"),
        "Argument {n} quotes a permission and treats it as if it were a duty.",
    ),
    "threat": (
        ("sufficiency",),
        "Argument {n} quotes a passage that admits the danger in the same breath, and passes over it.",
    ),
    "cost": (
        ("adoption",),
        "Argument {n} quotes a gain and passes over the burden that the same sentence names.",
    ),
    "adjusted": (
        ("soundness",),
        "Argument {n} uses a measure that has been adjusted, and does not say what is left without the adjustment.",
    ),
}


def flaw(kind: Kind, n: int, cues: frozenset[str]) -> str | None:
    """The flaw of an argument in the words that it quotes, or ``None``."""
    found = next((form for cue, (kinds, form) in _FLAWS.items() if cue in cues and kind in kinds), None)
    return found.format(n=n) if found else None


TAIL = {
    "exposure": (
        "Suppose the thesis is right: acting as if everything were open-ended would still "
        "misprice the parts that are limited, and the remedy asked for would be the wrong "
        "one."
    ),
    "sufficiency": (
        "Suppose every measure works on ordinary days: one failure at the wrong moment is "
        "enough, and nothing that was cited says what limits the damage then."
    ),
    "adoption": (
        "Suppose the choice works on the first day: nothing that was cited shows who pays "
        "for it in the third year, when those who made it have moved on."
    ),
    "soundness": (
        "Suppose the thesis holds in the expected case: the loss comes in the case that was "
        "not expected, and the arguments do not show that it can be borne."
    ),
    "conformity": (
        "Suppose the practice is right on average: an examiner looks at the single case that "
        "went wrong, and no argument shows that it would be found in time."
    ),
    "presence": (
        "Suppose the words say so: whether they would be enforced as they are read here is a "
        "different matter, and no argument touches it."
    ),
}


def places(found: Sequence[BearingSentence], most: int = 3) -> str:
    """The places of some evidence as a list in a sentence."""
    names = list(dict.fromkeys(e.brief for e in found))[:most]
    return listed(names)


def listed(names: Sequence[str]) -> str:
    """Words as a list in a sentence."""
    if len(names) < 2:
        return names[0] if names else ""
    return f"{', '.join(names[:-1])} and {names[-1]}"
