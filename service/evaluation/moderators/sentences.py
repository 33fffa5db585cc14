"""What an audit of recorded debates says in words: from findings and counts, and from nothing else.

    finding       the moderator, the counts with their interval and p, and that a tilt of production cases may be true
    excluded      every debate of the period that counts for no moderator, by reason
    power         how many questions were asked, and how their p-values were adjusted
    notShown      what does not follow from cases whose right answer is not known
    evaluations   what was concluded on golden pairs in the same period
    simulated     on each page, where a simulated model took part

No sentence holds a word of `service.evaluation.scoring.refused_words`.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.evaluation.moderators.audit import ALL, SIDE, ModeratorAudit, ModeratorShown, Said
from service.evaluation.moderators.recorded import LEFT
from service.evaluation.scoring.result import Finding
from service.evaluation.scoring.sentences import SIMULATED
from service.evaluation.scoring.written import ASPECT, interval, p_value, per_cent

MAY_BE_TRUE = (
    "Which side was right in these cases is not known, so a tilt may be true: only cases with a known answer, or the "
    "same arguments in two orders, separate a pull from a reason."
)
NOT_SHOWN = (
    MAY_BE_TRUE,
    "Debates about one document or counterparty count as if independent; where they are not, intervals are too narrow.",
    "Longer sides, the moderator's own family, confident wording and verified quotations are left out.",
    "They need cases whose right answer is known: gainsay evaluate run asks such, with a plan of the kind moderator.",
    "It does not show that nothing else pulls a moderator.",
)


def sentences_of(audit: ModeratorAudit) -> tuple[Said, ...]:
    """Every sentence that a report of this audit may show."""
    return tuple(_sentences(audit))


def _sentences(audit: ModeratorAudit) -> Iterator[Said]:
    if audit.simulated:
        yield Said("simulated", SIMULATED)
    if not audit.findings:
        yield Said("finding", "No debate of this period has a moderator between a proposer and a critic.")
    yield from (Said("finding", _found(audit, finding)) for finding in audit.findings)
    yield from (Said("excluded", text) for text in _excluded(audit))
    yield from (Said("power", text) for text in _power(audit))
    yield from (Said("notShown", text) for text in NOT_SHOWN)
    yield from (Said("evaluations", text) for text in _evaluations(audit))


def named(moderator: ModeratorShown) -> str:
    """A moderator as sentences and tables name it: its model and its prompt, by alias and by hash."""
    model = moderator.alias if moderator.alias == moderator.model else f"{moderator.alias} ({moderator.model})"
    return f"{model}, prompt {moderator.prompt} {moderator.version} {moderator.sha256[:12]}".strip()


def about(audit: ModeratorAudit, moderator: str, task_type: str) -> str:
    """A series in words."""
    of = "all task types" if task_type == ALL else task_type
    return f"{named(audit.moderator(moderator))}, {of}"


def tilted(alias: str, task_type: str | None, first: int, second: int, limit: int) -> str:
    """A tilt above policy's limit, in words; ``limit`` is per mille."""
    share = max(first, second) / (first + second)
    of = task_type or "all task types"
    return f"{alias} ({of}) tilts in {per_cent(share)} of {first + second}, above {limit / 10:g} %"


# Findings.


def _found(audit: ModeratorAudit, finding: Finding) -> str:
    moderator, task_type, aspect = finding.about
    who, what = about(audit, moderator, task_type), _aspect(aspect)
    counts = _side(audit, finding) if aspect == SIDE else _position(audit, finding)
    if "noCases" in finding.because:
        return f"{who}: no debate is decided, so nothing is said of a pull to {what}. {counts}"
    if finding.outcome == "notEnough":
        return f"{who}: too few decided debates for a word on a pull to {what}. {counts} {audit.fewest} are needed."
    if finding.outcome == "tilt":
        may = MAY_BE_TRUE if aspect == SIDE else "The arguments were the same in both orders."
        return f"{who}: a tilt to {favoured(audit, finding)} was seen. {counts} {may}"
    if finding.visible is None:
        limit = "With so few debates none could have been seen."
    else:
        limit = f"One that moves under {per_cent(finding.visible)} of them to one side could not have been seen."
    return f"{who}: no tilt to {what} was seen. {counts} {limit}"


def favoured(audit: ModeratorAudit, finding: Finding) -> str:
    """The side, or the place, that had more."""
    output = audit.figure(finding.figures[0]).output
    if finding.about[2] == SIDE:
        return "the proposer" if output["rate"] > 1 / 2 else "the critic"
    return "the first place" if output["firstTwice"] > output["secondTwice"] else "the second place"


def _aspect(aspect: str) -> str:
    return "the proposer or the critic" if aspect == SIDE else ASPECT[aspect]


def _side(audit: ModeratorAudit, finding: Finding) -> str:
    figure = audit.figure(finding.figures[0])
    given, output = figure.input, figure.output
    counted = (
        f"{given['first']} for the proposer, {given['second']} for the critic, {given['ties']} in between left out"
    )
    if not output["decided"]:
        return f"Debates: {counted}."
    share = f"{per_cent(output['rate'])} of {output['decided']} decided for the proposer"
    return f"Debates: {counted}; {share} ({interval(output['low'], output['high'])}, 95 %{_p(audit, finding)})."


def _position(audit: ModeratorAudit, finding: Finding) -> str:
    output = audit.figure(finding.figures[0]).output
    changed = output["n"] - output["consistent"]
    return (
        f"The order changed the answer in {changed} of {output['n']} debates, with the first place favoured twice in "
        f"{output['firstTwice']} and the second in {output['secondTwice']}{_p(audit, finding, ' (', ')')}."
    )


def _p(audit: ModeratorAudit, finding: Finding, before: str = ", ", after: str = "") -> str:
    """The adjusted p, where the question is one of those that are adjusted."""
    adjusted = adjusted_of(audit, finding.figures[0])
    return "" if adjusted is None else f"{before}{p_value(adjusted)} after correction{after}"


def adjusted_of(audit: ModeratorAudit, figure: str) -> float | None:
    """The adjusted p of a figure; ``None`` where too few cases are decided for a question."""
    if figure not in audit.family:
        return None
    return float(audit.figure("adjusted").output["adjusted"][audit.family.index(figure)])


# What every audit says.


def _excluded(audit: ModeratorAudit) -> Iterator[str]:
    read = audit.read
    yield (
        f"Of {read.debates} debates that began in the period, {read.counted} count for a moderator, and "
        f"{read.debates - read.counted} for none."
    )
    for why, n in read.left.items():
        yield f"{n} of them: {LEFT[why]}."  # type: ignore[index] # the reasons are those of `LEFT`
    missing = sum(moderator.missing for moderator in audit.moderators)
    if missing:
        yield f"{missing} of those that count have no readable moderation: they are in every total, for no side."


def _power(audit: ModeratorAudit) -> Iterator[str]:
    yield (
        f"{len(audit.family)} of {len(audit.findings)} questions have {audit.fewest} decided debates or more; their "
        "p-values are adjusted together (Holm), and of the others nothing is said."
    )
    yield (
        f"{len(audit.explored)} figures of single windows have so many; theirs are exploratory, adjusted by Benjamini "
        "and Hochberg, and decide nothing."
    )
    for moderator in audit.moderators:
        if not any(one.position for one in audit.series if one.moderator == moderator.id):
            yield (
                f"No debate of {named(moderator)} has a moderation in the reverse order, so nothing is said of a pull "
                "to a place."
            )


def _evaluations(audit: ModeratorAudit) -> Iterator[str]:
    if not audit.evaluations:
        yield "No evaluation of a moderator on golden pairs was concluded in this period."
    for one in audit.evaluations:
        exploratory = ", exploratory" if one.standing == "exploratory" else ""
        who = ", ".join(one.moderators) or one.arm
        yield (
            f"On golden pairs ({one.name}, concluded {one.concluded[:10]}{exploratory}), {who}: "
            f"{_OUTCOME[one.outcome]} to {ASPECT.get(one.aspect, one.aspect)}."
        )


_OUTCOME = {"tilt": "a pull was seen", "noneSeen": "no pull was seen", "notEnough": "too few cases to speak of a pull"}
