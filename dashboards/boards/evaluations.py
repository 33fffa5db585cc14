"""Evaluations: what is under way and what it waits for, what was found, what it costs. No figure of a result."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.layout import Row, laid_out, line
from dashboards.boards.panels import Asked, above, bars, graph, heat, number
from dashboards.boards.promql import buckets, counted, increase, most, quantile, rate

FINDINGS = "gainsay_evaluations_concluded_total"
ITEMS = "gainsay_evaluation_items_total"
MISSING = "gainsay_evaluation_items_missing_total"
COST = "gainsay_evaluation_cost_usd_total"
LOST = "gainsay_evaluation_lost_usd_total"
NEEDED, USED = "gainsay_evaluation_ceiling_needed_ratio", "gainsay_evaluation_ceiling_used_ratio"
TURNS = "gainsay_evaluation_turn_seconds"
REAL, SIMULATED = 'simulated="false"', 'simulated="true"'
USD = "currencyUSD"
NONE = "none, or no data"


def evaluations() -> Dashboard:
    """The dashboard of how well critics, moderators and debates are measured."""
    says = (
        "Evaluations: what is under way, what it waits for, what was found and what it costs. Figures of a result "
        "stand in its report, with their n, intervals and plan. Evaluations of gainsay evaluate run are measured "
        "here as well, and not counted."
    )
    rows = (_now(), _waiting(), _found(), _items(), _spent(), _feeding())
    return laid_out("gainsay-evaluations", says, "7d", (), rows)


def _now() -> Row:
    return Row(
        "Now",
        (
            line(
                5,
                number(
                    "Open evaluations",
                    "Evaluations that have not ended, of all tenants, whether or not they wait for something.",
                    "short",
                    Asked(f"sum ({most('gainsay_evaluations_open', by='namespace, state')})", "open"),
                    decimals=0,
                ),
                number(
                    "Longest wait",
                    "How long an evaluation has waited for something outside of it. Above half an hour a person should "
                    "look.",
                    "s",
                    Asked(most("gainsay_evaluation_waiting_seconds"), "wait"),
                    steps=above(1800, 600),
                    decimals=0,
                ),
                number(
                    "Without a new entry",
                    "How long an evaluation that waits for nothing has had no new entry. Above an hour no process goes "
                    "on with it, or its debates do not end.",
                    "s",
                    Asked(most("gainsay_evaluation_still_seconds"), "still"),
                    steps=above(3600, 1800),
                    decimals=0,
                ),
                number(
                    "Will need of its ceiling",
                    "What an evaluation would cost at the present cost of a debate, divided by its ceiling. Above 1 "
                    "its ceiling stops it before everything is asked.",
                    "none",
                    Asked(most(NEEDED), "needed"),
                    steps=above(1, 0.9),
                    decimals=2,
                ),
                number(
                    "Worn held splits",
                    "Golden sets whose held split a tenant has looked at so often that it supports no claim any more.",
                    "short",
                    Asked(counted("gainsay_golden_sets_worn"), "worn"),
                    steps=((None, "green"), (1, "orange")),
                    decimals=0,
                ),
                number(
                    "Faults",
                    "Turns of evaluations that a fault of the service ended in the time shown. Anything above 0 is to "
                    "be reported.",
                    "short",
                    Asked(increase("gainsay_evaluation_faults_total"), "faults"),
                    steps=above(1),
                    decimals=0,
                ),
            ),
        ),
    )


def _waiting() -> Row:
    return Row(
        "What evaluations wait for",
        (
            line(
                8,
                graph(
                    "Open evaluations, by what they wait for",
                    "running ones wait for their debates alone. Any other is held up by something outside: the runbook "
                    "has what to do about each.",
                    "short",
                    Asked(counted("gainsay_evaluations_open", by="state"), "{{state}}"),
                    stacked=True,
                ),
                graph(
                    "Longest wait, by what for",
                    "How long the evaluation has waited that waits longest. Above half an hour it is alerted.",
                    "s",
                    Asked(most("gainsay_evaluation_waiting_seconds", by="reason"), "{{reason}}"),
                    steps=above(1800),
                ),
                graph(
                    "Without a new entry",
                    "How long the evaluation has stood still that waits for nothing. It falls with each debate that is "
                    "asked or scored.",
                    "s",
                    Asked(most("gainsay_evaluation_still_seconds"), "still"),
                    steps=above(3600),
                ),
            ),
        ),
    )


def _found() -> Row:
    return Row(
        "What was found",
        (
            line(
                8,
                graph(
                    "Findings of real models",
                    "Evaluations that were concluded, by the finding that stands first, each point over as long as is "
                    "shown. inconclusive and notEnough are normal results.",
                    "short",
                    Asked(increase(FINDINGS, REAL, by="finding"), "{{finding}}"),
                    stacked=True,
                ),
                graph(
                    "Findings of simulated models",
                    "The same, where a simulated model took part. They show that the measuring works, and nothing of "
                    "any real model.",
                    "short",
                    Asked(increase(FINDINGS, SIMULATED, by="finding"), "{{finding}}"),
                    stacked=True,
                ),
                bars(
                    "Registered, stopped and concluded",
                    "Evaluations in the time shown. A stopped one has a result of what was asked, unless its set is "
                    "gone.",
                    "short",
                    Asked(increase("gainsay_evaluations_registered_total"), "registered"),
                    Asked(increase("gainsay_evaluations_stopped_total", by="by"), "stopped by {{by}}"),
                    Asked(increase(FINDINGS), "concluded"),
                ),
                graph(
                    "Looks at held splits",
                    "First scores of evaluations on a held split, each point over as long as is shown: of one that "
                    "supports claims, the last such look, and of one that is worn.",
                    "short",
                    Asked(increase("gainsay_evaluation_held_looks_total", by="standing"), "{{standing}}"),
                    stacked=True,
                ),
            ),
        ),
    )


def _items() -> Row:
    return Row(
        "Debates of evaluations",
        (
            line(
                7,
                graph(
                    "Asked and scored",
                    "Debates that were asked and scored in a second. Lines apart for long mean that debates do not "
                    "end.",
                    "ops",
                    Asked(rate(ITEMS, by="event"), "{{event}}"),
                ),
                bars(
                    "Without an answer, by why",
                    "Scored debates in the time shown that gave no answer, critique or moderation. Each counts as "
                    "wrong; failed and noCritique point to models or vendors.",
                    "short",
                    Asked(increase(MISSING, by="reason"), "{{reason}}"),
                ),
                number(
                    "Share without an answer",
                    "Of the debates scored in the time shown. Above a plan's limit, 5 % as shipped, nothing is "
                    "concluded.",
                    "percentunit",
                    Asked(f"{increase(MISSING)} / " + increase(ITEMS, 'event="scored"'), "missing"),
                    steps=above(0.05, 0.03),
                    none="nothing scored, or no data",
                    decimals=1,
                ),
            ),
        ),
    )


def _spent() -> Row:
    return Row(
        "Money",
        (
            line(
                7,
                graph(
                    "Spend an hour",
                    "Charged to scored debates in an hour at the present pace. It is in no panel of what decisions "
                    "cost, and counts towards the limits of tenants.",
                    USD,
                    Asked(f"3600 * {rate(COST, REAL)}", "real models"),
                    Asked(f"3600 * {rate(COST, SIMULATED)}", "simulated models"),
                    stacked=True,
                ),
                number(
                    "Spent",
                    "Charged to debates of evaluations that were scored in the time shown, with real models alone.",
                    USD,
                    Asked(increase(COST, REAL), "spent"),
                    decimals=2,
                ),
                number(
                    "Lost with workers",
                    "Charged in the time shown for calls whose worker was gone before their replies were recorded.",
                    USD,
                    Asked(increase(LOST), "lost"),
                    decimals=2,
                ),
                graph(
                    "Share of the ceiling",
                    "Of the open evaluation with most: what is spent, and what all would cost at the present cost of "
                    "a debate. Above 1 the ceiling stops it.",
                    "none",
                    Asked(most(USED), "spent"),
                    Asked(most(NEEDED), "needed"),
                    steps=above(1),
                ),
            ),
        ),
    )


def _feeding() -> Row:
    return Row(
        "Processes that go on with evaluations",
        (
            line(
                7,
                graph(
                    "Time of a turn",
                    "How long a process takes for the moves of an evaluation until it has to wait. A conclusion of a "
                    "large set takes longest.",
                    "s",
                    Asked(quantile(0.5, TURNS), "median"),
                    Asked(quantile(0.95, TURNS), "95 %"),
                ),
                heat(
                    "Time of a turn, distribution",
                    "How many turns took how long. A band that moves up is a database or a shelf of sets that grew "
                    "slow.",
                    "s",
                    buckets(TURNS),
                ),
                graph(
                    "Faults of turns",
                    "Turns in a second that a fault of the service ended. They are tried again each five seconds.",
                    "ops",
                    Asked(rate("gainsay_evaluation_faults_total"), "faults"),
                    steps=above(0.001),
                ),
            ),
        ),
    )
