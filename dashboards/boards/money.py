"""Money: what was spent, what is held, how good the estimates are, what limits have left."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.layout import MODEL as MODELS
from dashboards.boards.layout import TASK_TYPE, Row, laid_out, line
from dashboards.boards.layout import TENANT as TENANTS
from dashboards.boards.panels import Asked, Steps, above, bars, below, graph, heat, number
from dashboards.boards.promql import MODEL, TASK, TENANT, buckets, counted, increase, mean, most, rate

SPENT = "gainsay_debate_cost_usd_total"
EXPECTED = "gainsay_debate_expected_cost_usd_total"
RATIO = "gainsay_debate_cost_to_estimate_ratio"
CEILING = "gainsay_debate_ceiling_used_ratio"
USD = "currencyUSD"
UNNAMED = "no tenant with a limit is named, or no data"


def money() -> Dashboard:
    """The dashboard of what debates cost."""
    says = (
        "What debates cost, what is held for those under way, and how good the estimates are. The panels by tenant "
        "have data "
        "only where GAINSAY_METRICS_TENANTS names tenants."
    )
    rows = (_now(), _spend(), _estimates(), _ceilings(), _tenants(), _refused())
    return laid_out("gainsay-money", says, "24h", (TENANTS, MODELS, TASK_TYPE), rows)


def _now() -> Row:
    return Row(
        "In the time shown",
        (
            line(
                4,
                number(
                    "Spent",
                    "Charged in the time shown. Counters miss the very first charge of each seat of a process; the "
                    "database has all.",
                    USD,
                    Asked(increase(SPENT, TASK, MODEL), "spent"),
                    decimals=2,
                ),
                number(
                    "Held now",
                    "Held for calls of running debates. It falls to 0 when none runs; a sum that stays is a debate "
                    "that hangs.",
                    USD,
                    Asked(counted("gainsay_money_held_usd"), "held"),
                    decimals=2,
                ),
                number(
                    "Cost against estimate",
                    "What debates cost, divided by the catalogue's estimate. Above 1.5 callers are misled.",
                    "none",
                    Asked(mean(RATIO, TASK, window="$__range"), "ratio"),
                    steps=above(1.5, 1.2),
                    none="no debate ended, or no data",
                    decimals=2,
                ),
                number(
                    "Cost of a debate",
                    "What a debate costs on average: charges divided by debates that ended.",
                    USD,
                    Asked(f"{increase(SPENT, TASK)} / {increase('gainsay_debates_concluded_total', TASK)}", "cost"),
                    none="no debate ended, or no data",
                    decimals=3,
                ),
            ),
        ),
    )


def _spend() -> Row:
    return Row(
        "Spend",
        (
            line(
                8,
                graph(
                    "Spend an hour, by model",
                    "Charged in an hour at the present pace, by model. A line that rises without more debates is a "
                    "dearer model.",
                    USD,
                    Asked(f"3600 * {rate(SPENT, TASK, MODEL, by='model')}", "{{model}}"),
                    stacked=True,
                ),
                graph(
                    "Spend an hour, by task type",
                    "Charged in an hour at the present pace, by task type. It shows whose cases cost.",
                    USD,
                    Asked(f"3600 * {rate(SPENT, TASK, MODEL, by='task_type')}", "{{task_type}}"),
                    stacked=True,
                ),
                bars(
                    "Spent by seat",
                    "Charged in the time shown, by seat. Critics asked again and repairs show here first.",
                    USD,
                    Asked(increase(SPENT, TASK, MODEL, by="seat"), "{{seat}}"),
                ),
            ),
            line(
                7,
                graph(
                    "Tokens a second, by model",
                    "Tokens charged in a second, by model. A line that rises without more debates is longer texts.",
                    "short",
                    Asked(rate("gainsay_tokens_total", MODEL, by="model"), "{{model}}"),
                    stacked=True,
                ),
                graph(
                    "Tokens a second, by kind",
                    "Tokens charged in a second, by kind. reasoning and output cost most; cached_input saves.",
                    "short",
                    Asked(rate("gainsay_tokens_total", MODEL, by="kind"), "{{kind}}"),
                    stacked=True,
                ),
                graph(
                    "Money held",
                    "Held for calls of running debates, of all processes. It follows the debates under way.",
                    USD,
                    Asked(counted("gainsay_money_held_usd"), "held"),
                ),
            ),
        ),
    )


def _estimates() -> Row:
    return Row(
        "Estimate against actual",
        (
            line(
                8,
                graph(
                    "Charged and expected",
                    "Charges, and the catalogue's estimates for debates that ended, each point over as long as is "
                    "shown. The lines should meet.",
                    USD,
                    Asked(increase(SPENT, TASK), "charged"),
                    Asked(increase(EXPECTED, TASK), "expected"),
                ),
                bars(
                    "Charged for each expected dollar, by seat",
                    "Charges of a seat, divided by its estimate. A long bar is the seat whose estimate is wrong.",
                    "none",
                    Asked(f"{increase(SPENT, TASK, by='seat')} / {increase(EXPECTED, TASK, by='seat')}", "{{seat}}"),
                    steps=above(1.5, 1.2),
                ),
                heat(
                    "Cost against estimate, distribution",
                    "How many debates cost which part of their estimate. Cells above 1.5 are bad.",
                    "none",
                    buckets(RATIO, TASK),
                ),
            ),
        ),
    )


def _ceilings() -> Row:
    used = increase(f"{CEILING}_bucket", TASK, 'le="0.9"')
    return Row(
        "Ceilings",
        (
            line(
                7,
                heat(
                    "Share of the ceiling that was used",
                    "How much of its ceiling each debate spent. Cells near 1 are debates that money has cut short.",
                    "percentunit",
                    buckets(CEILING, TASK),
                ),
                number(
                    "Debates above 90 % of their ceiling",
                    "The share of debates that used more than 90 % of their ceiling. Above one in ten, ceilings are "
                    "too low.",
                    "percentunit",
                    Asked(f"1 - {used} / {increase(f'{CEILING}_count', TASK)}", "share"),
                    steps=above(0.1, 0.05),
                    none="no debate ended, or no data",
                    decimals=0,
                ),
                graph(
                    "Calls lost with workers, overruns",
                    "Calls charged in full because their worker was gone, and replies billed above their reservation.",
                    "ops",
                    Asked(rate("gainsay_attempts_lost_total", MODEL), "lost"),
                    Asked(rate("gainsay_provider_overruns_total", MODEL), "overrun"),
                    steps=above(0.01),
                ),
            ),
        ),
    )


def _tenants() -> Row:
    by = "tenant"
    left, spent = "gainsay_tenant_limit_left_usd", "gainsay_tenant_spent_usd"
    empty: Steps = ((None, "red"), (0.01, "blue"))
    of_day, of_month = 'period="day"', 'period="month"'
    return Row(
        "Tenants that GAINSAY_METRICS_TENANTS names",
        (
            line(
                8,
                graph(
                    "Debates that ended",
                    "Debates of a tenant that ended, by status, each point over as long as is shown. truncated ones "
                    "ran out of money or time.",
                    "short",
                    Asked(
                        increase("gainsay_tenant_debates_concluded_total", TENANT, by="tenant, status"),
                        "{{tenant}}, {{status}}",
                    ),
                    stacked=True,
                ),
                bars(
                    "Share of the limit that is left",
                    "What is left, as a share of the whole limit. Below one tenth a person should know.",
                    "percentunit",
                    Asked(_left(), "{{tenant}}, {{period}}"),
                    steps=below(0.25, 0.1),
                    none=UNNAMED,
                ),
            ),
            line(
                7,
                graph(
                    "Left of the day",
                    "What a tenant may still spend today. At 0 its cases are refused until tomorrow.",
                    USD,
                    Asked(most(left, TENANT, of_day, by=by), "{{tenant}}"),
                    steps=empty,
                ),
                graph(
                    "Left of the month",
                    "What a tenant may still spend this month. At 0 its cases are refused until the next one.",
                    USD,
                    Asked(most(left, TENANT, of_month, by=by), "{{tenant}}"),
                    steps=empty,
                ),
                graph(
                    "Spent today",
                    "What a tenant has spent of its day. It falls to 0 when the next one begins.",
                    USD,
                    Asked(most(spent, TENANT, of_day, by=by), "{{tenant}}"),
                ),
                graph(
                    "Spent this month",
                    "What a tenant has spent of its month. It falls to 0 when the next one begins.",
                    USD,
                    Asked(most(spent, TENANT, of_month, by=by), "{{tenant}}"),
                ),
            ),
        ),
    )


def _left() -> str:
    """The share by tenant; `other` shows the least limit and all spending of several tenants, which have no share."""
    named = (TENANT, 'tenant!="other"')
    left = most("gainsay_tenant_limit_left_usd", *named, by="tenant, period")
    return f"{left} / ({left} + {most('gainsay_tenant_spent_usd', *named, by='tenant, period')})"


def _refused() -> Row:
    money_alone = 'limit=~"tenantDay|tenantMonth"'
    return Row(
        "Refused for money",
        (
            line(
                7,
                graph(
                    "Asks that a limit did not fund",
                    "Asks of debates for money that was not there, by the limit. debateCeiling is one debate's; "
                    "tenantDay and "
                    "tenantMonth stop a whole tenant.",
                    "ops",
                    Asked(rate("gainsay_budget_refusals_total", by="limit"), "{{limit}}"),
                ),
                graph(
                    "Allocations from tenants' limits",
                    "What debates drew from their tenants' limits: what they wanted, just what they needed, or nothing "
                    "(refused).",
                    "ops",
                    Asked(rate("gainsay_draws_total", by="result"), "{{result}}"),
                ),
                graph(
                    "Cases refused for money",
                    "Cases that were refused because their tenant's day or month is spent. Raise the limit or wait.",
                    "ops",
                    Asked(rate("gainsay_submissions_refused_total", money_alone, by="limit"), "{{limit}}"),
                    steps=above(0.01),
                ),
            ),
        ),
    )
