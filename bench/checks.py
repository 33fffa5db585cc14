"""What code decides by itself, in process: the gate, citations, critiques, passages that speak to a model.

gate        one decision
citations   quotations a second on the labelled set beside the project, next to a plain search and, where it is
            installed, rapidfuzz's partial_ratio; bent ones verified and true ones refused of that set; 5 MB read
            once, and what a quotation of it takes then
corpora     how many lazy critiques are sent back, softening wordings flagged and invented quotations marked, next
            to the false alarms, on the third of `bench.corpora` that is held back
injection   attacks found in documents, by family, and alarms of honest texts, on the texts of
            `bench.corpora.injection` that are held back
scan        the seconds that the check for such passages takes, by the length of the text
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from bench import corpora
from bench.corpora import injection as suspicions
from bench.corpora import measure
from bench.corpora.injection import measure as injections
from bench.documents import document
from bench.figures import Measured, NotRun, Turn
from service.checks import citations, kept
from service.checks.injection import FieldText, check_injection
from service.debate.findings import Citation
from service.gate import should_debate
from service.policy.settings import SHIPPED_POLICY, read_policy
from tests.fixtures.running import repository

MEGABYTE = 1_000_000


def gate() -> Turn:
    """One decision, in microseconds: of cases that differ in downside and confidence, as those of callers do."""
    policy = read_policy(SHIPPED_POLICY).gate
    asked = [(Decimal(50 + nth % 50) / 100, Decimal(100_000 + 137 * nth)) for nth in range(5_000)]

    def decide() -> None:
        for confidence, downside in asked:
            should_debate("contract", confidence, downside, policy=policy, expected_cost=70_000)

    return {"one": Measured(seconds_of(decide, 1) / len(asked) * 1e6)}


def quotes() -> Turn:
    """The labelled set and 5 MB; needs `../shared/data`."""
    folder = repository().parent / "shared" / "data"
    if not folder.is_dir():
        missing = NotRun("not run: shared is not beside the project")
        return dict.fromkeys(("rate", "bent", "refused", "similar", "read", "p95"), missing)
    return {**labelled(folder / "citations"), **large(folder / "documents")}


def labelled(folder: Path) -> Turn:
    """The labelled set, its documents read anew, next to ways that cannot tell a changed number."""
    files = {row["id"]: row["file"] for row in json.loads((folder / "manifest.json").read_text("utf-8"))}
    contexts = json.loads((folder / "contexts.json").read_text("utf-8"))
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    texts = {name: (folder / file).read_text("utf-8") for name, file in files.items()}
    sources = {name: citations.Sources({i: texts[i] for i in ids}) for name, ids in contexts.items()}
    asked = [(Citation(c["citation"]["quote"], c["citation"]["source_id"]), c["context"]) for c in cases]
    kept.drop()  # by an earlier turn
    begun = time.process_time()
    verified = [citations.check(citation, sources[context]).verdict == "verified" for citation, context in asked]
    rate = len(asked) / (time.process_time() - begun)
    plain = seconds_of(lambda: [[c.quote in texts[i] for i in contexts[name]] for c, name in asked], 3)
    exact = len(asked) / plain
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    true = [label["expected"] == "verified" for label in labels]
    bent, of_bent = sum(v and not t for v, t in zip(verified, true, strict=True)), true.count(False)
    refused, of_true = sum(t and not v for v, t in zip(verified, true, strict=True)), true.count(True)
    return {
        "rate": Measured(rate, None, f"reading included; plain search {exact:,.0f}/s"),
        "bent": Measured(bent, None, f"of {of_bent}"),
        "refused": Measured(100 * refused / of_true, None, f"{refused} of {of_true}"),
        "similar": similar(asked, {name: [texts[i].casefold() for i in ids] for name, ids in contexts.items()}, rate),
    }


def similar(asked: list[tuple[Citation, str]], texts: dict[str, list[str]], ours: float) -> Measured | NotRun:
    """The usual similarity, on a tenth of the quotations: it is slow."""
    try:
        from rapidfuzz.fuzz import partial_ratio  # type: ignore[import-not-found]
    except ImportError:
        return NotRun("not run: rapidfuzz is not installed")
    some = asked[::10]
    begun = time.process_time()
    for citation, context in some:
        max(partial_ratio(citation.quote.casefold(), text) for text in texts[context])
    rate = len(some) / (time.process_time() - begun)
    return Measured(ours, rate, f"partial_ratio {rate:,.0f}/s")


def large(folder: Path) -> Turn:
    """5 MB: read and indexed once, then quotations of which every other one has a word changed."""
    text = (folder / "big-2mb.txt").read_text("utf-8")
    text = (text + text.replace("shall", "will") + text.replace("Agreement", "Contract"))[:5_000_000]
    kept.drop()  # by an earlier turn
    begun = time.process_time()
    document = citations.Sources({"big": text}).document("big")
    words = len(document.index)
    read = time.process_time() - begun
    sources, taken = citations.Sources({"big": text}), []
    citations.check(Citation("the words of this quotation stand nowhere"), sources)
    for k in range(200):
        at = text.index(" ", 24_000 * k) + 1
        quote = text[at : text.index(" ", at + 300)]
        if k % 2:
            quote = quote.replace(" the ", " any ", 1)
        begun = time.process_time()
        citations.check(Citation(quote), sources)
        taken.append(time.process_time() - begun)
    return {
        "read": Measured(read, None, f"{words:,} words"),
        "p95": Measured(sorted(taken)[189] * 1_000),
    }


def corpora_figures() -> Turn:
    """The engines' figures on the items that their authors have not read: alarms in a hundred others, hits beside."""
    critiques, texts = corpora.measured(corpora.critiques()), corpora.measured(corpora.texts())
    found = {
        "sent back": measure.figures(measure.sent_back(critiques)),
        "softened": measure.figures(measure.softened(critiques)),
        "marked": measure.figures(measure.marked(texts)),
        "unclear": measure.figures(measure.unclear(texts)),
        "marked beside": measure.figures(measure.marked_beside(texts)),
    }
    return {
        name: Measured(
            each.false_rate * 100, None, f"{each.false_alarms} of {each.others}, found {each.seen} of {each.true}"
        )
        for name, each in found.items()
    }


def injection_figures() -> Turn:
    """The figures on the texts that the author of the rules has not seen."""
    if not suspicions.is_there("held"):
        return dict.fromkeys(("found", "worst", "alarms"), NotRun("not run: bench/corpora/injection/held is not there"))
    held = injections.outcomes("held")
    print("\n".join(injections.lines(held)), flush=True)
    recall, alarms = injections.share(held.documents), injections.share(held.honest)
    families = injections.by("family", held.documents)
    worst = min(families, key=lambda name: families[name].percent)
    return {
        "found": Measured(recall.percent, None, str(recall)),
        "worst": Measured(families[worst].percent, None, f"{worst}: {families[worst]}"),
        "alarms": Measured(alarms.percent, None, str(alarms)),
    }


def scan() -> Turn:
    """The check of one text, in seconds of CPU, and whether five megabytes take five times one."""
    scanned(document(100_000, 3))  # a server knows the weights and frequent words
    one, five = (scanned(document(length, 3)) for length in (MEGABYTE, 5 * MEGABYTE))
    return {"1 MB": Measured(one), "5 MB": Measured(five / 5, one, f"5 MB in {five:.2f} s")}


def scanned(text: str) -> float:
    """CPU seconds of the check of a document, of which nothing is kept."""
    kept.drop()
    return seconds_of(lambda: check_injection([FieldText("document", "D1", text)]), 1)


def seconds_of(work: Callable[[], object], times: int) -> float:
    """CPU seconds of one call, the mean of so many: other work on the machine does not count."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) / times
