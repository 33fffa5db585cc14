"""The framing seat: the question as a proposition, with its scope, criteria and key documents."""

from __future__ import annotations

from service.debate.replies import Framing, KeyDocument
from service.simulated.evidence import BearingSentence
from service.simulated.passage_choice import Desk, value
from service.simulated.phrases import listed
from service.simulated.tables import Kind

SIMULATED = (
    "Simulated: an extractive model that runs offline wrote this by fixed rules; no "
    "language model has judged the matter."
)

CRITERIA: dict[Kind, tuple[str, ...]] = {
    "exposure": (
        "Which clause creates the liability, and whether it names an amount",
        "Which clause limits or excludes it, and what is carved out of the limit",
        "Which text prevails where two of them conflict",
        "Whether every statement is borne out by the words of the documents",
    ),
    "sufficiency": (
        "Whether each threat that matters is met by a control that is mandatory and not merely advised",
        "Which gaps, exceptions and assumptions the documents admit",
        "Whether there is evidence that the controls work",
        "What follows when a control fails",
    ),
    "adoption": (
        "Whether the reasons given hold for this context",
        "What the choice costs to run and maintain, and who bears it",
        "Whether the choice can be reversed, and at what price",
        "Whether the expected gains were measured",
    ),
    "soundness": (
        "Which statements are figures that were verified, and which are assumptions",
        "Whether the case holds when an assumption fails",
        "Which terms protect the investor, and how early they take hold",
        "What remains open when the decision is due",
    ),
    "conformity": (
        "What exactly is required, of whom and by when",
        "Whether the practice described meets each requirement in full",
        "Which exceptions apply, and whether their conditions are met",
        "Whether the practice can be proved by records",
    ),
    "presence": (
        "Whether the documents decide the point in binding words",
        "Which conditions and exceptions qualify it",
        "What the documents leave open",
    ),
}


def framing(desk: Desk, limit: int) -> Framing:
    """The case as a proposition; ``limit`` bounds criteria and key documents."""
    reading = desk.reading
    kind = desk.wanted.proposition.kind
    titles = listed([f"{d.title} ({d.id})" for d in reading.documents][:6]) or "no document"
    scope = f"The question as put, decided on the documents supplied alone: {titles}. {SIMULATED}"
    keyed = [k for d in reading.documents if (k := _key(desk, d.id)) is not None]
    return Framing(
        thesis=desk.wanted.proposition.thesis,
        scope=scope,
        criteria=CRITERIA[kind][: max(1, limit)],
        key_documents=tuple(keyed[: max(1, limit)]),
    )


def _key(desk: Desk, source_id: str) -> KeyDocument | None:
    found = sorted((e for e in desk.evidence if e.source_id == source_id), key=lambda e: -value(desk, e))
    best: dict[str, BearingSentence] = {}
    for evidence in found:
        if evidence.side and evidence.where not in best:
            best[evidence.where] = evidence
        if len(best) == 3:
            break
    if not best:
        why = "No passage of it bears on the question by the words that it shares." if not found else None
        return KeyDocument(source_id, why or f"It touches the question in {found[0].brief} without taking a side.")
    return KeyDocument(source_id, f"The question turns on {'; '.join(_short(e) for e in best.values())}.")


def _short(evidence: BearingSentence) -> str:
    does = evidence.rule.says if evidence.rule else "speaks to the point"
    return f"{evidence.brief.rpartition(', ')[2] or evidence.brief}, which {does}"
