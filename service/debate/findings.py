"""Findings: the results of checks on replies and documents, recorded with their engine's version.

The kernel decides by the recorded finding and never recomputes it, because an engine may change.
Shares are whole per mille, so that no decision compares floats.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType, field

from service.debate.suspicions import InjectionFound
from service.debate.turns import TurnId

Verdict = Literal["verified", "altered", "too_short", "not_found", "unchecked"]
StrikeReason = Literal["unverified_citation", "uncited"]
CONCEDING = frozenset({"concludesUpheld", "concludesAsProposer", "sparesAPosition", "thesisGrants"})
"""The hard signs by which a critique concedes."""


class Citation(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A quotation with its source, as a seat gave it. Without ``source_id``, all documents of the turn are searched."""

    quote: str
    source_id: str | None = None
    location: str | None = None


class Edit(Struct, frozen=True, rename="camel"):
    """One difference between the document's words and the quotation's."""

    kind: str
    """The kind of the difference, such as `number` or `negation`."""
    from_: str = field(name="from")
    """The document's words."""
    to: str = ""
    """The quotation's words in their place; empty where they were left out."""
    material: bool = True
    """Whether the difference changes what the passage says. A verified citation has no such difference."""
    because: str | UnsetType = UNSET
    """The words that make it of its kind, if it has others too."""


class CitationVerdict(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The verdict on one citation: ``too_short`` says that its words are too few to compare, not that they are missing.

    ``unchecked`` says that the case has no document to compare with.
    ``span`` is in code points of the stored document, end exclusive; ``text`` is the document's own text of that span.
    ``found_in`` names another given document that has the words; ``reason`` is the rule that refused. ``note`` is a
    remark that does not change the verdict: another place of the words, or a wrong location in the citation.
    """

    verdict: Verdict
    source_id: str | None = None
    span: tuple[int, int] | None = None
    text: str | None = None
    edits: tuple[Edit, ...] = ()
    found_in: str | None = None
    reason: str | None = None
    note: str | None = None


class ArgumentVerdict(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The verdicts on one argument's citations, in their order, and whether the argument is struck."""

    turn: TurnId
    n: int
    verdicts: tuple[CitationVerdict, ...] = ()
    struck: StrikeReason | None = None

    @property
    def compared(self) -> bool:
        """Whether a citation of it was compared: without documents none can be."""
        return any(each.verdict != "unchecked" for each in self.verdicts)


class CitationsFound(Struct, frozen=True, rename="camel", tag="citations", tag_field="kind"):
    """Every argument of the turns that were checked."""

    arguments: tuple[ArgumentVerdict, ...]

    def struck(self, turn: TurnId) -> dict[int, StrikeReason]:
        """The numbers of a turn's struck arguments, with the reason."""
        return {a.n: a.struck for a in self.arguments if a.turn == turn and a.struck}


class CritiqueFound(Struct, frozen=True, rename="camel", tag="critique", tag_field="kind", omit_defaults=True):
    """The signs of a weak critique that code can measure: raw numbers, then the conclusions from them.

    ``points_attacking`` count points that are not struck and name an argument that stands; ``points_grounded`` those of
    them that give a ground of their own. ``spared`` are the positions without a point against them, ``unopposed`` is
    the number of proposals without a grounded point, ``unrelated`` that of those against which no grounded point has a
    word of the case, under a thesis that has. ``resisted`` says that a proposer did not itself conclude
    ``rejected``; ``same_conclusion`` that the critique concludes what all of those proposers do; ``grants`` that its
    thesis grants the case and says nothing else. ``softening`` are phrases of the critique. ``weak`` lists hard signs
    (the critique is asked again), ``soft`` those that are only flagged.
    """

    points: int
    points_naming_an_argument: int
    citations: int
    citations_verified: int
    novelty: int
    self_overlap: int
    restating: int
    softening: tuple[str, ...]
    weak: tuple[str, ...]
    soft: tuple[str, ...]
    points_attacking: int = 0
    points_grounded: int = 0
    spared: tuple[str, ...] = ()
    unopposed: int = 0
    unrelated: int = 0
    resisted: bool = True
    upholds: bool = False
    grants: bool = False
    same_conclusion: bool = False

    @property
    def concedes(self) -> bool:
        """Whether the critique leaves the proposition, or a position, without opposition by its own conclusion."""
        return not CONCEDING.isdisjoint(self.weak)


class Voice(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What of a turn's arguments is its own, by number; struck arguments are in none of the lists.

    ``echoed`` arguments repeat one of another side that was said before, ``empty`` ones only agree or give no ground.
    """

    turn: TurnId
    own: tuple[int, ...] = ()
    echoed: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()


class VoicesFound(Struct, frozen=True, rename="camel", tag="voices", tag_field="kind"):
    """Which seats argued: every turn that was checked, in the order of the debate."""

    voices: tuple[Voice, ...]

    def argued(self) -> frozenset[TurnId]:
        """The turns with an argument of their own."""
        return frozenset(voice.turn for voice in self.voices if voice.own)


Dimension = Literal["stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence"]
"""The four dimensions of consensus, in the spelling of the panel's reference."""
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)


class ClaimAgreement(Struct, frozen=True, rename="camel"):
    """The debaters' verdicts on claim ``n`` of a turn; its author counts as accepting it.

    ``supported`` says that all voices accept it with enough confidence and that a citation of it is verified.
    """

    turn: TurnId
    n: int
    """The number of the claim in its turn, from 1."""
    accept: tuple[str, ...]
    """The seats that accept it; its author is one of them."""
    reject: tuple[str, ...]
    """The seats that reject it."""
    unsure: tuple[str, ...]
    """The seats that are unsure of it."""
    supported: bool
    """Whether all accept it with enough confidence and a citation of it is verified."""


class UnansweredObjection(Struct, frozen=True, rename="camel"):
    """A strong objection of a devil's advocate that no other debater has answered, with its turn."""

    turn: TurnId
    flaw: str
    """The flaw that the objection names."""


class NamedClaims(Struct, frozen=True, rename="camel"):
    """Two claims, each by the turn that makes it and its number; the turn's answer has the number 0."""

    turns: tuple[TurnId, TurnId]
    """The turns that make the two claims."""
    numbers: tuple[int, int]
    """The numbers of the two claims in their turns, from 1. The turn's whole answer has the number 0."""


VetoCode = Literal[
    "fewVoices",
    "nothingStands",
    "conclusionsDiffer",
    "conclusionsNotCompared",
    "claimsNotCompared",
    "claimsOpposed",
    "claimsContested",
    "risksNotShared",
    "probabilitiesApart",
    "newIdeas",
    "frameworksApart",
    "noSharedClaim",
    "objectionStands",
]


class Veto(Struct, frozen=True, rename="camel"):
    """A fact that excludes consensus whatever the scores are, those of a model among them, with the fact in words."""

    code: VetoCode
    """The code of the fact."""
    text: str
    """The fact in words."""


class ConsensusFound(Struct, frozen=True, rename="camel", tag="consensus", tag_field="kind", omit_defaults=True):
    """A panel's agreement after a round, measured on stances, numbered claims, frameworks and confidences.

    Shares are per mille and ``None`` where undefined: an empty union is no agreement. ``claim_jaccard`` is the mean
    over pairs of claims accepted by both / by either; ``beyond_chance`` is Cohen's kappa of two voices or
    Krippendorff's alpha of more, over marks, from -1,000 to 1,000. ``wording_overlap`` is the share of common words;
    no rule uses it. ``overall`` is the mean of the dimensions in ``counted``: those that the question's type uses and
    that are defined, and at most 900 in the blind round, whose claims have no marks. ``opposed`` are pairs of
    claims or answers that exclude each other; with any of ``vetoes`` there is no consensus. ``new_ideas`` is the
    share of new claims in a brainstorm.
    """

    voices: int
    dimensions: dict[Dimension, int | None]
    overall: int
    threshold: int
    terminated: bool
    lagging: tuple[Dimension, ...]
    notes: str
    claims: tuple[ClaimAgreement, ...] = ()
    claim_jaccard: int | None = None
    beyond_chance: int | None = None
    wording_overlap: int | None = None
    new_ideas: int | None = None
    unanswered: tuple[UnansweredObjection, ...] = ()
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    opposed: tuple[NamedClaims, ...] = ()


class SynthesisFound(Struct, frozen=True, rename="camel", tag="synthesis", tag_field="kind"):
    """The claims that all debaters accept and the synthesis excludes.

    Each is named behind the synthesis, whose number is 0.
    """

    opposed: tuple[NamedClaims, ...]


class PairOverlap(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Two answers and the words that they share, of those in either; ``overlap`` is per mille, ``None`` if no words.

    ``apart`` is a reason that excludes convergence whatever the overlap: ``answers`` differ, ``negation`` on one side.
    """

    turns: tuple[TurnId, TurnId]
    shared: int
    either: int
    overlap: int | None
    apart: tuple[Literal["answers", "negation"], ...] = ()


class ConvergenceFound(Struct, frozen=True, rename="camel", tag="convergence", tag_field="kind", omit_defaults=True):
    """Word overlap of a round's answers, pair by pair, and whether all pairs reach the similarity (per mille).

    ``why_not`` names the obstacle: ``overlap``, ``order``, ``answers``, ``negation``, ``noWords``, ``fewVoices``.
    """

    voices: int
    similarity: int
    pairs: tuple[PairOverlap, ...]
    converged: bool
    why_not: tuple[str, ...] = ()


class DebaterScores(Struct, frozen=True, rename="camel"):
    """The scores of one debater, each from 0 to 100."""

    seat: str
    factual_accuracy: int
    logical_consistency: int
    evidence_quality: int
    trajectory_score: int


class AccuracyFound(Struct, frozen=True, rename="camel", tag="accuracy", tag_field="kind"):
    """The scores of every debater by rules that code can follow; they measure conduct, not truth."""

    scores: tuple[DebaterScores, ...]


PassageKind = Literal["quotation", "clause", "verdict"]
Status = Literal["inDocument", "inDebate", "onlyInDebate", "unclear", "unchecked", "nowhere", "opposed"]
"""Where a passage of a text stands."""
MARKED: tuple[Status, ...] = ("nowhere", "onlyInDebate")
"""What misleads a reader; of `unclear` and `unchecked` words code cannot say that they do."""
Attributed = Literal["document", "debate", "open"]
"""To what a text attributes a passage; ``open`` if it names no author."""


class Passage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Words that a reply gives as those of another text, or a clause that it says to state something; where they stand.

    ``field`` is the path of the text in the reply's JSON (``synthesis``, ``objections[0].answer``). ``span`` is in code
    points of that text, end exclusive, without the quotation marks; a clause's is its name. ``attributed`` is the
    author that the text names: a document, a participant of the debate, or none (``open``). A passage stands in
    ``source_id``, or in the reply of ``turn``; one that stands in the question or in a caller's text has neither.
    ``reason`` is the rule that refused or excused. ``form`` is the strong form of evidence for which a passage is
    marked; one that was not compared to its end has none.

    ``onlyInDebate`` says that a participant has these words, which the text gives as a document's. ``unclear`` are
    words of which code cannot say that the text gives them as another's: it may propose, deny or describe them. A
    clause or a document is unclear where the text reports of it, in its own words, what code does not find in
    ``source_id``, or at all.
    ``unchecked`` are words that may be those of a source, in a case without documents.
    A sentence is ``opposed`` (of kind ``verdict``) if it says the opposite of the reply's own typed verdict.
    """

    field: str
    span: tuple[int, int]
    kind: PassageKind
    status: Status
    attributed: Attributed
    source_id: str | None = None
    turn: TurnId | None = None
    reason: str | None = None
    form: str | None = None

    @property
    def marked(self) -> bool:
        """Whether the passage misleads a reader: the words stand nowhere, or not where the text says."""
        return self.status in MARKED

    @property
    def unclear(self) -> bool:
        """Whether a reader has to see for itself whether the text gives the words as another's."""
        return self.status == "unclear"

    @property
    def opposed(self) -> bool:
        """Whether the passage says the opposite of the typed verdict of its reply."""
        return self.status == "opposed"

    @property
    def unchecked(self) -> bool:
        """Whether the case has no document with which the words could be compared."""
        return self.status == "unchecked"


class TextsFound(Struct, frozen=True, rename="camel", tag="texts", tag_field="kind"):
    """The passages of one reply's texts, in the order of the reply; excused ones (titles, proposals) are left out."""

    passages: tuple[Passage, ...]

    @property
    def marked(self) -> tuple[Passage, ...]:
        """The passages that mislead a reader."""
        return tuple(passage for passage in self.passages if passage.marked)


Finding = (
    CitationsFound
    | CritiqueFound
    | VoicesFound
    | InjectionFound
    | ConsensusFound
    | ConvergenceFound
    | AccuracyFound
    | TextsFound
    | SynthesisFound
)
