"""Every row of the bench: what is measured, by which function, and what it is held against.

A row with a peer is held against the peer's figure in the same turn, every other one against its limit. The limits are
those that the project has set itself; a row without one is shown because it explains another.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench import (
    audit,
    authentication,
    checks,
    evaluating,
    evaluation,
    find,
    in_process,
    loop,
    observing,
    over_http,
    overspend,
    peers,
    prefixes,
    rounds,
    starting,
    streams,
)
from bench import submissions as submitting
from bench.figures import Part, Row

LEANEST = "the leanest framework"
ORDINARY = "an ordinary one, read by its caller"
UNOBSERVED = "that worker"
_MS = "ms"

PARTS: Mapping[str, Part] = {
    "http": Part(
        "a debate of five calls over HTTP, everything recorded and proven, beside frameworks that record nothing",
        over_http.over_http,
        {
            "worker": Row("CPU of the worker and its process of checks, 4/5 of five calls", _MS, 0.5, peer=LEANEST),
            "checks": Row("CPU of that process alone, five calls", _MS),
            "postgres": Row("PostgreSQL's CPU on top, for the worker", _MS, 2.5),
            "sequencer": Row("CPU of the sequencer for a debate", _MS),
            "api": Row("CPU of the API for the submission, with a key", _MS, 3.0),
            "wal": Row("WAL a debate", "kB"),
            "transactions": Row("transactions a debate", ""),
            "inside": Row("our CPU in process, without HTTP, 4/5 of five calls", _MS, peer=LEANEST),
            "insidePostgres": Row("PostgreSQL's CPU for that", _MS),
            **{f"peer {name}": Row(f"CPU of {name} for four calls", _MS, peer=LEANEST) for name in peers.PEERS},
        },
    ),
    "statements": Part(
        "statements, by PostgreSQL's own count",
        over_http.statements,
        {"statements": Row("statements a debate, the sequencer's left out", "")},
        turns=1,
    ),
    "observing": Part(
        "what it costs a worker to be observed, beside one that counts and logs nothing",
        observing.observing,
        {
            "bare": Row("a worker that counts and logs nothing, five calls", _MS),
            "shipped": Row("with metrics and JSON logs", _MS, 1.05, peer=UNOBSERVED),
            "drawn": Row("and with traces, one of twenty kept", _MS, 1.10, peer=UNOBSERVED),
            "all": Row("and with every trace kept", _MS, peer=UNOBSERVED),
        },
    ),
    "documents": Part(
        "CPU of a worker and its process of checks for a debate, by the document; none repeats itself",
        over_http.documents,
        {
            "300 characters": Row("300 characters", _MS),
            over_http.CONTRACT: Row("a real contract", _MS),
            "1 MB": Row("1 MB", _MS),
            "5 MB": Row("5 MB", _MS),
            "rest": Row("5 MB, all but the scan for injections", _MS, 1_200.0),
            "again": Row("the same 5 MB in another debate", _MS),
            "linear": Row("a megabyte of 5 MB", _MS, 1.1, peer="one of 1 MB"),
        },
        turns=3,
    ),
    "beside": Part(
        "small debates, four at a time, 20 ms a call, beside one over 5 MB on the same worker",
        over_http.beside,
        {"p99": Row("p99 from a case to its proven decision", _MS, peer="the same without it")},
        turns=3,
    ),
    "loop": Part(
        "how long an event loop is held at most, by the CPU of its thread",
        loop.measure,
        {
            f"{what} {size} MB": Row(f"by a {what} over {size} MB", _MS, 50.0)
            for size in loop.SIZES
            for what in ("submission", "debate")
        },
        turns=3,
    ),
    "growth": Part(
        "our CPU for a debate of convergence, three debaters by rounds and two rounds by debaters, in process",
        rounds.measure,
        {
            **{f"{n} rounds": Row(f"{n} rounds", _MS) for n in rounds.ROUNDS},
            **{f"kernel {n}": Row(f"{n} rounds: the kernel's part", "%", 15.0) for n in rounds.ROUNDS},
            **{f"{n} debaters": Row(f"{n} debaters", _MS) for n in rounds.DEBATERS},
            "rounds linear": Row("kernel: one more round of ten to twenty", _MS, 1.5, peer="one of five to ten"),
        },
        turns=3,
    ),
    "workers": Part(
        "200 debates, 100 ms a call, by one, two and four workers",
        over_http.workers,
        {
            **{f"{n} cpu": Row(f"{n} workers: their CPU a debate", _MS, peer="one") for n in over_http.WORKERS},
            **{f"{n} postgres": Row(f"{n} workers: PostgreSQL's", _MS, peer="one") for n in over_http.WORKERS},
        },
        turns=3,
    ),
    "crowd": Part(
        "1,000 debates at once on one worker, a second a call",
        over_http.crowd,
        {
            "wall": Row("wall time", "s", 1.25, peer="the larger of the calls alone and the worker's CPU"),
            "p99": Row("p99 of a debate", "s", peer="its five calls"),
            "cpu": Row("CPU of the worker and its process of checks a debate", _MS),
            "postgres": Row("PostgreSQL's CPU a debate", _MS),
            "memory": Row("memory of the worker at most", "MB"),
        },
        turns=3,
    ),
    "half": Part(
        "500 debates at once in process, 100 ms a call",
        in_process.crowd,
        {"wall": Row("wall time", "s", peer="the calls alone")},
        turns=3,
    ),
    "submissions": Part(
        "50 callers on one API process, the sample contract",
        submitting.measure,
        {
            "cpu": Row("CPU of the API for a submission", _MS, 3.0),
            "rate": Row("submissions a second", "/s", 150.0, "least"),
            "p99": Row("p99 of a submission", _MS, 500.0),
        },
    ),
    "authentication": Part(
        "requests with a key and with a token, beside the same without",
        authentication.measure,
        {
            f"{kind} with {way}: {what}": (
                Row(f"{kind} with {way}: p50", _MS, None if way == authentication.OWN else 1.05, peer="without")
                if what == "p50"
                else Row(f"{kind} with {way}: CPU", _MS, 2.0 if kind == authentication.READ else 3.0)
            )
            for kind in authentication.KINDS
            for way in authentication.WAYS[1:]
            for what in ("p50", "CPU")
        },
        turns=1,
    ),
    "streams": Part(
        "2,000 event streams on one API process, beside bare sockets",
        streams.measure,
        {
            "memory": Row("memory of a stream", "kB", peer="a bare socket"),
            "cpu": Row("CPU while nothing is said, of one core", "%"),
            "p99": Row("p99 until an entry is heard by all", _MS, peer="bare sockets"),
        },
        turns=1,
    ),
    "append": Part(
        "two processes of eight debates each append what real debates do, and it is signed",
        audit.appending,
        {
            "entries": Row("entries durable", "/s", 10_000.0, "least"),
            "plain": Row("entries durable", "/s", peer="plain INSERTs of the same bytes"),
            "appends": Row("appends", "/s"),
            "durable": Row("p99 until durable", _MS, 15.0),
            "provable": Row("p99 from durable to provable", _MS, 100.0),
        },
        turns=3,
    ),
    "single": Part(
        "four writers, one entry a statement",
        in_process.appends,
        {"one": Row("entries durable", "/s", peer="plain INSERTs")},
        turns=3,
    ),
    "verify": Part(
        "a complete log of 100,000 records of real debates",
        audit.verifying,
        {
            "verify": Row("records verified, hashes to tree", "/s", 50_000.0, "least"),
            "replay": Row("with moves, charges and outcomes", "/s", peer="hashes alone"),
            "self-check": Row("records by the self-check", "/s", 25_000.0, "least"),
            "export": Row("records exported", "/s", 40_000.0, "least"),
        },
        turns=1,
    ),
    "proof": Part(
        "inclusion proofs out of a million leaves",
        audit.proving,
        {"proof": Row("p99 of a proof", _MS, 5.0), "verified": Row("one verified", "us")},
        turns=1,
    ),
    "budget": Part(
        "a tenant's limit worth 20 calls, 60 tried",
        in_process.budget,
        {f"{n} at once": Row(f"{n} at once: billed beyond it", "%", 0.0) for n in overspend.AT_ONCE},
        turns=1,
    ),
    "limits": Part(
        "a debate that draws on its tenant's day and month",
        in_process.limits,
        {"cpu": Row("our CPU in process", _MS, peer="without limits")},
        turns=3,
    ),
    "gate": Part("the gate", checks.gate, {"one": Row("one decision", "us", 20.0)}),
    "citations": Part(
        "the labelled set beside the project, and a document of 5 MB",
        checks.quotes,
        {
            "rate": Row("quotations, reading included", "/s", 500.0, "least"),
            "bent": Row("bent ones verified", "", 0.0),
            "refused": Row("true ones refused", "%", 0.5),
            "similar": Row("quotations", "/s", peer="rapidfuzz"),
            "read": Row("5 MB read", "s", 0.8),
            "p95": Row("p95 of a quotation of it", _MS, 20.0),
        },
    ),
    "statistics": Part(
        "every statistic of an evaluation, of 10,000 cases with 2,000 resamples",
        evaluation.statistics,
        {"all": Row("CPU of the process", "s", 30.0), "memory": Row("its memory at most", "MB", 200.0)},
    ),
    "evaluating": Part(
        "an evaluation of 100 debates of five calls, in process, beside the same ones as ordinary cases",
        evaluating.overhead,
        {
            "overhead": Row("our CPU of a debate, from the registered plan to the result", _MS, 1.05, peer=ORDINARY),
            "postgres": Row("PostgreSQL's CPU of a debate", _MS, peer=ORDINARY),
            "plan": Row("our CPU of a debate for the plan: read, priced, its power, registered", _MS),
        },
        turns=3,
    ),
    "resuming": Part(
        "an evaluation of 1,000 items in two arms, gone on with by a process that knows nothing of it",
        evaluating.resume,
        {
            "resume": Row("CPU until its next item is asked", "s", 2.0),
            "conclude": Row("CPU from the last end to the result", "s"),
        },
        turns=3,
    ),
    "reports": Part(
        "the report of an evaluation: CPU to write a result in each form",
        evaluating.reports,
        {
            f"{form} {items}": Row(f"{form}, {items:,} items in three arms", "s", 2.0)
            for items in evaluating.SIZES
            for form in evaluating.FORMS
        },
        turns=3,
    ),
    "scan": Part(
        "the check of a text for passages that speak to a model",
        checks.scan,
        {
            "1 MB": Row("CPU for 1 MB", "s", 1.0),
            "5 MB": Row("CPU for a megabyte of 5", "s", 1.1, peer="one of 1"),
        },
        turns=3,
    ),
    "injection": Part(
        "such passages in the texts that are held back",
        checks.injection_figures,
        {
            "found": Row("attacks found", "%", 85.0, "least"),
            "worst": Row("of the family found least", "%", 60.0, "least"),
            "alarms": Row("honest texts with an alarm", "%", 3.0),
        },
        turns=1,
    ),
    "corpora": Part(
        "critiques and texts that are held back: false alarms",
        checks.corpora_figures,
        {
            "sent back": Row("honest critiques sent back", "%", 2.0),
            "softened": Row("other wordings flagged as softening", "%", 5.0),
            "marked": Row("honest texts marked", "%", 1.0),
            "unclear": Row("honest texts unclear", "%", 5.0),
            "marked beside": Row("marked beside the invented words", "%", 1.0),
        },
        turns=1,
    ),
    "prefixes": Part(
        "what a seat's request repeats of its one before, from the beginning, so that a vendor's cache may serve it",
        prefixes.measure,
        {
            f"{name}, {size}": Row(f"{name}, {size:,} characters", "%", 90.0 if size >= 10_000 else None, "least")
            for size in prefixes.SIZES
            for name in prefixes.STARTS
        },
        turns=1,
    ),
    "find": Part(
        "100,000 debates in the list: CPU of PostgreSQL and ours",
        find.measure,
        {
            "list": Row("the slowest list", _MS, 50.0),
            "count": Row("the slowest counts", _MS, 50.0),
            "opened": Row("PostgreSQL's CPU of a case's rows", _MS, 2.0),
            "ended": Row("PostgreSQL's CPU of an end's row", _MS, 2.0),
            "ours": Row("our CPU of a case's rows", _MS, 1.0),
        },
        turns=1,
    ),
    "start": Part(
        "from the command to its effect, wall time",
        starting.measure,
        {
            "help": Row("gainsay --help", "s", 0.15),
            "serve": Row("gainsay serve, until it is ready, on a database that is there", "s", 1.5),
            "said": Row("make demo, until something is on the screen", "s", 0.5),
            "demo": Row("make demo", "s", 6.0),
        },
    ),
}
"""By the names that `make bench ONLY=` takes, in the order in which they run."""
