"""Debate quality: the five metrics of the debate pattern, their distributions, and what code found in debates."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import IntervalVariable
from grafana_foundation_sdk.models.dashboard import Dashboard, VariableOption

from dashboards.boards.layout import FORMAT as FORMATS
from dashboards.boards.layout import TASK_TYPE, Row, laid_out, line
from dashboards.boards.panels import Asked, above, bars, below, graph, heat, number
from dashboards.boards.promql import FORMAT, TASK, WINDOW, buckets, increase, mean, most

STRENGTH = "gainsay_critic_challenge_strength"
SURENESS = "gainsay_moderator_confidence_total"
DOUBTS = "gainsay_debate_explicit_uncertainties"
COST = "gainsay_debate_cost_to_estimate_ratio"
AGREES = "gainsay_debate_first_proposal_agreement_total"
SCORE = "gainsay_moderator_argument_score"
NONE = "none, or no data"


def _window() -> IntervalVariable:
    lengths = ("1h", "6h", "1d", "7d", "30d")
    options = [VariableOption(text=length, value=length, selected=length == "7d") for length in lengths]
    return IntervalVariable("window").label("Window").values(",".join(lengths)).options(options).current(options[3])


def quality() -> Dashboard:
    """The dashboard of what debates are worth."""
    says = (
        "The five metrics of the debate pattern over the chosen window, how they are distributed, and what code found. "
        "With "
        "fewer than 20 debates in the window they say little."
    )
    rows = (_five(), _over_time(), _distributions(), _findings(), _orders(), _tilt(), _gate())
    return laid_out("gainsay-quality", says, "7d", (TASK_TYPE, FORMATS, _window()), rows)


def share(name: str, part: str, *matchers: str, by: str = "") -> str:
    """The share of a counter's events that have a label's value."""
    every = increase(name, *matchers, by=by, window=WINDOW)
    return f"{increase(name, *matchers, part, by=by, window=WINDOW)} / {every}"


LOW = share(SURENESS, 'level="LOW"', TASK)
AGREEMENT = share(AGREES, 'agrees="true"', TASK)


def _five() -> Row:
    return Row(
        "The five metrics",
        (
            line(
                5,
                number(
                    "Debates in the window",
                    "Debates that ended in the window. Below 20 the figures beside this one are chance, and no alert "
                    "fires.",
                    "short",
                    Asked(increase("gainsay_debates_concluded_total", TASK, FORMAT, window=WINDOW), "debates"),
                    steps=((None, "orange"), (20, "green")),
                    none=NONE,
                    decimals=0,
                ),
                number(
                    "Challenge strength",
                    "The critics' own rating of their critiques, 1 to 10, on average. Below 6.5 critics do not "
                    "challenge.",
                    "short",
                    Asked(mean(STRENGTH, TASK), "strength"),
                    steps=below(6.5),
                    none=NONE,
                    decimals=1,
                ),
                number(
                    "LOW syntheses",
                    "The share of closing seats that called their own answer LOW. Above 30 % models or cases do not "
                    "fit.",
                    "percentunit",
                    Asked(LOW, "LOW"),
                    steps=above(0.3),
                    none=NONE,
                    decimals=0,
                ),
                number(
                    "Explicit uncertainties",
                    "Uncertainties that a closing seat names, on average for each debate. A move away from the "
                    "baseline, either "
                    "way, is the signal.",
                    "short",
                    Asked(mean(DOUBTS, TASK), "a debate"),
                    none=NONE,
                    decimals=1,
                ),
                number(
                    "Cost against estimate",
                    "What debates cost, divided by the catalogue's estimate, on average. Above 1.5 the estimate "
                    "misleads callers.",
                    "none",
                    Asked(mean(COST, TASK), "cost"),
                    steps=above(1.5, 1.2),
                    none=NONE,
                    decimals=2,
                ),
                number(
                    "Agreement rate",
                    "The share of debates whose conclusion agrees with the first proposal. Neither high nor low is bad "
                    "by "
                    "itself: it is for calibration.",
                    "percentunit",
                    Asked(AGREEMENT, "agrees"),
                    none=NONE,
                    decimals=0,
                ),
            ),
        ),
    )


def _over_time() -> Row:
    by = "task_type"
    return Row(
        "The five metrics over time, by task type",
        (
            line(
                7,
                graph(
                    "Challenge strength",
                    "The critics' average rating over the window, by task type. Below 6.5 their prompt or model needs "
                    "a look.",
                    "short",
                    Asked(mean(STRENGTH, TASK, by=by), "{{task_type}}"),
                    steps=below(6.5),
                    high=10,
                ),
                graph(
                    "Share of LOW syntheses",
                    "The share of closing seats that called their answer LOW, by task type. Above 30 % is bad.",
                    "percentunit",
                    Asked(share(SURENESS, 'level="LOW"', TASK, by=by), "{{task_type}}"),
                    steps=above(0.3),
                    high=1,
                ),
                graph(
                    "Explicit uncertainties and baseline",
                    "Uncertainties for each debate, and the baseline where one is recorded. Far above or below it is "
                    "bad.",
                    "short",
                    Asked(mean(DOUBTS, TASK, by=by), "{{task_type}}"),
                    Asked(
                        most("gainsay_debate_explicit_uncertainties_baseline", TASK, by=by), "{{task_type}}, baseline"
                    ),
                ),
            ),
            line(
                7,
                graph(
                    "Cost against estimate",
                    "What debates cost, divided by their estimate, by task type. Above 1.5 the estimate misleads "
                    "callers.",
                    "none",
                    Asked(mean(COST, TASK, by=by), "{{task_type}}"),
                    steps=above(1.5, 1.2),
                ),
                graph(
                    "Agreement with the first proposal",
                    "The share of conclusions that agree with the first proposal. A jump means that models or prompts "
                    "changed.",
                    "percentunit",
                    Asked(share(AGREES, 'agrees="true"', TASK, by=by), "{{task_type}}"),
                    high=1,
                ),
                graph(
                    "Unresolved points",
                    "Points that the last moderation left open, on average for each debate. Many mean that rounds end "
                    "too early.",
                    "short",
                    Asked(mean("gainsay_debate_unresolved_points", TASK, by=by), "{{task_type}}"),
                ),
            ),
        ),
    )


def _distributions() -> Row:
    return Row(
        "Distributions",
        (
            line(
                8,
                heat(
                    "Challenge strength",
                    "How critics rated their critiques. Everything in one row means that the rating says nothing.",
                    "short",
                    buckets(STRENGTH, TASK),
                ),
                heat(
                    "Explicit uncertainties",
                    "How many uncertainties closing seats named. A band at 0 means that none are named any more.",
                    "short",
                    buckets(DOUBTS, TASK),
                ),
                heat(
                    "Cost against estimate",
                    "What debates cost, divided by their estimate. Cells above 1.5 are debates that cost far more than "
                    "was said.",
                    "none",
                    buckets(COST, TASK),
                ),
            ),
            line(
                8,
                heat(
                    "Unresolved points",
                    "How many points the last moderations left open. A band that moves up is bad.",
                    "short",
                    buckets("gainsay_debate_unresolved_points", TASK),
                ),
                heat(
                    "Share of each document that was cited",
                    "How much of each document verified citations cover. A band at 0 means that documents are not "
                    "read.",
                    "percentunit",
                    buckets("gainsay_document_cited_share", TASK),
                ),
                heat(
                    "Consensus",
                    "The last consensus score of debates whose format measures one, from 0 to 1. Low cells are debates "
                    "that parted.",
                    "percentunit",
                    buckets("gainsay_consensus_score", TASK, FORMAT),
                ),
            ),
            line(
                7,
                heat(
                    "Rounds to consensus",
                    "Rounds that debates took to their consensus. Many at 0 or 1 mean that the debaters agree too "
                    "early.",
                    "short",
                    buckets("gainsay_consensus_rounds", TASK, FORMAT),
                ),
                graph(
                    "Confidence of closing seats, before caps",
                    "How sure closing seats were of their own answers. Nearly all HIGH is a seat that doubts nothing.",
                    "short",
                    Asked(increase(SURENESS, TASK, by="level", window=WINDOW), "{{level}}"),
                    stacked=True,
                ),
                graph(
                    "Confidence of results, after caps",
                    "What callers were given. The distance to the panel beside it is what code took away.",
                    "short",
                    Asked(increase("gainsay_debate_confidence_total", TASK, by="level", window=WINDOW), "{{level}}"),
                    stacked=True,
                ),
            ),
        ),
    )


def _findings() -> Row:
    lagged = increase("gainsay_consensus_lagging_total", by="dimension, by", window=WINDOW)
    retries = increase("gainsay_critic_retries_total", TASK, window=WINDOW)
    first = increase(f"{STRENGTH}_count", TASK, 'take="1"', window=WINDOW)
    return Row(
        "What code found",
        (
            line(
                9,
                bars(
                    "Flags by kind",
                    "Flags of concluded debates in the window. promptReview means that a critic rated itself below 5.",
                    "short",
                    Asked(
                        f"{increase('gainsay_debate_flags_total', TASK, by='flag', window=WINDOW)} > 0.5", "{{flag}}"
                    ),
                    none=NONE,
                ),
                bars(
                    "Citations by verdict",
                    "Citations that were checked. not_found and altered are inventions; a rising share of them is bad.",
                    "short",
                    Asked(
                        increase("gainsay_citations_checked_total", TASK, by="verdict", window=WINDOW), "{{verdict}}"
                    ),
                ),
                bars(
                    "Arguments struck",
                    "Arguments that later seats did not see, because their evidence was not there or not cited.",
                    "short",
                    Asked(increase("gainsay_arguments_struck_total", TASK, by="reason", window=WINDOW), "{{reason}}"),
                ),
            ),
            line(
                7,
                graph(
                    "Critiques asked for again",
                    "Retries for each first critique. Above a third the critic's prompt or model is too weak.",
                    "percentunit",
                    Asked(f"{retries} / {first}", "retries"),
                    steps=above(0.33, 0.2),
                ),
                graph(
                    "Missing voices and abstentions",
                    "Debaters that stayed silent, and votes that name no option, in the window. Results then rest on "
                    "fewer voices.",
                    "short",
                    Asked(increase("gainsay_missing_voices_total", TASK, FORMAT, window=WINDOW), "missing voices"),
                    Asked(increase("gainsay_votes_total", TASK, by="read", window=WINDOW), "votes: {{read}}"),
                ),
                bars(
                    "Where consensus lagged",
                    "Rounds after which a dimension of consensus lagged. One long bar shows what debaters cannot "
                    "settle.",
                    "short",
                    Asked(f"{lagged} > 0.5", "{{dimension}} ({{by}})"),
                ),
            ),
        ),
    )


def _orders() -> Row:
    checked = 'result=~"same|differs|sensitive"'
    of_all = increase("gainsay_order_checks_total", TASK, FORMAT, checked, window=WINDOW)
    turned = increase("gainsay_order_checks_total", TASK, FORMAT, 'result=~"differs|sensitive"', window=WINDOW)
    return Row(
        "Order and masking",
        (
            line(
                7,
                graph(
                    "Decisions that depend on the order",
                    "The share of deciders that answered otherwise when the order was reversed. Above one in ten is "
                    "bad.",
                    "percentunit",
                    Asked(f"{turned} / {of_all}", "sensitive to order"),
                    steps=above(0.1, 0.05),
                    high=1,
                ),
                graph(
                    "Order checks by result",
                    "What asking in reverse order gave. unchecked means that money or time was short.",
                    "short",
                    Asked(
                        increase("gainsay_order_checks_total", TASK, FORMAT, by="result", window=WINDOW), "{{result}}"
                    ),
                    stacked=True,
                ),
                graph(
                    "Masked checks by result",
                    "What asking with flagged passages masked gave. differs means that a passage had steered the "
                    "decider.",
                    "short",
                    Asked(
                        increase("gainsay_masked_checks_total", TASK, FORMAT, by="result", window=WINDOW), "{{result}}"
                    ),
                    stacked=True,
                ),
            ),
        ),
    )


def _tilt() -> Row:
    won = increase("gainsay_judge_wins_total", by="model, place", window=WINDOW)
    return Row(
        "Moderator's tilt",
        (
            line(
                7,
                graph(
                    "Score by place",
                    "The moderators' average score, by the place in which they saw the argument. Lines far apart are a "
                    "tilt.",
                    "short",
                    Asked(mean(SCORE, by="model, place"), "{{model}}, place {{place}}"),
                    high=10,
                ),
                graph(
                    "Score by seat",
                    "The moderators' average score, by the seat behind the neutral label. Lines far apart favour a "
                    "side.",
                    "short",
                    Asked(mean(SCORE, by="model, seat"), "{{model}}, {{seat}}"),
                    high=10,
                ),
                bars(
                    "Judge's wins by place",
                    "Verdicts for a stance, by the place of its last argument. Much more first or last than middle is "
                    "a tilt.",
                    "short",
                    Asked(f"{won} > 0.5", "{{model}}, {{place}}"),
                    none=NONE,
                ),
            ),
            line(
                8,
                heat(
                    "Scores of moderators",
                    "How moderators scored arguments, 1 to 10. Everything in one row means that they do not weigh.",
                    "short",
                    buckets(SCORE),
                ),
            ),
        ),
    )


def _gate() -> Row:
    decided = increase("gainsay_gate_decisions_total", TASK, by="decided_by, result", window=WINDOW)
    return Row(
        "Gate",
        (
            line(
                7,
                graph(
                    "Decisions of the gate",
                    "Cases sent to a debate, and cases declined because a debate is not worth its price.",
                    "short",
                    Asked(increase("gainsay_gate_decisions_total", TASK, by="result", window=WINDOW), "{{result}}"),
                    stacked=True,
                ),
                bars(
                    "Rule that decided",
                    "Which rule decided whether there is a debate. Mostly forced means that callers go around the "
                    "gate.",
                    "short",
                    Asked(
                        f"{decided} > 0.5",
                        "{{decided_by}}: {{result}}",
                    ),
                ),
                graph(
                    "Unknown task types",
                    "Cases whose task type policy does not know. A caller that misspells one gets other thresholds.",
                    "short",
                    Asked(increase("gainsay_unknown_task_types_total", by="outcome", window=WINDOW), "{{outcome}}"),
                ),
            ),
        ),
    )
