"""Vendors: whether models answer, how fast, and whether what they bill can be true."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.layout import MODEL as MODELS
from dashboards.boards.layout import Row, laid_out, line
from dashboards.boards.panels import Asked, above, bars, graph, heat, number
from dashboards.boards.promql import MODEL, buckets, increase, most, quantile, rate

CALLS = "gainsay_model_call_seconds"
FAILED = "gainsay_attempts_failed_total"


def vendors() -> Dashboard:
    """The dashboard of what models do."""
    says = "Whether the models answer, how fast, and whether what their vendors bill can be true."
    return laid_out("gainsay-vendors", says, "6h", (MODELS,), (_state(), _latency(), _failures(), _honesty()))


def _state() -> Row:
    return Row(
        "State",
        (
            line(
                5,
                number(
                    "Circuit by vendor",
                    "left alone means that a vendor failed so often that its circuit is open: its seats use their "
                    "fallback.",
                    "short",
                    Asked(most("gainsay_provider_down", by="provider"), "{{provider}}"),
                    steps=above(1),
                    words={"0": ("in use", "green"), "1": ("left alone", "red")},
                ),
                number(
                    "Refused keys",
                    "Calls that a vendor refused for its key, in the time shown. The key is wrong, expired or without "
                    "credit.",
                    "short",
                    Asked(increase(FAILED, MODEL, 'reason="refusedKey"'), "refused"),
                    steps=above(0.5),
                    decimals=0,
                ),
                number(
                    "Replies above their reservation",
                    "Replies billed above what was reserved for them, in the time shown. Such a model is stopped and "
                    "checked.",
                    "short",
                    Asked(increase("gainsay_provider_overruns_total", MODEL), "overruns"),
                    steps=above(0.5),
                    decimals=0,
                ),
                number(
                    "Usage that cannot be true",
                    "Reports of usage below our own count of the text, in the time shown. The vendor counts wrongly, "
                    "or the "
                    "model is not the one that was asked.",
                    "short",
                    Asked(increase("gainsay_usage_below_floor_total", MODEL), "reports"),
                    steps=above(0.5),
                    decimals=0,
                ),
            ),
        ),
    )


def _latency() -> Row:
    return Row(
        "Calls and latency",
        (
            line(
                8,
                graph(
                    "Calls a second",
                    "Calls of models in a second. It follows the debates under way.",
                    "ops",
                    Asked(rate(f"{CALLS}_count", MODEL, by="model"), "{{model}}"),
                ),
                graph(
                    "Time to a reply, p50 and p95",
                    "What half and 95 % of the replies stay below. Above 80 seconds most calls run into their limit.",
                    "s",
                    Asked(quantile(0.5, CALLS, MODEL, by="model"), "{{model}} p50"),
                    Asked(quantile(0.95, CALLS, MODEL, by="model"), "{{model}} p95"),
                    steps=above(80, 40),
                ),
                heat(
                    "Time to a reply, distribution",
                    "How many calls took how long. A band that moves up is a vendor that slows down.",
                    "s",
                    buckets(CALLS, MODEL),
                ),
            ),
            line(
                7,
                graph(
                    "Time to a reply by seat (p95)",
                    "What 95 % of the replies to each seat stay below. The closing seat reads most and answers last.",
                    "s",
                    Asked(quantile(0.95, CALLS, MODEL, by="seat"), "{{seat}}"),
                    steps=above(80, 40),
                ),
                graph(
                    "Tokens a second",
                    "Tokens charged in a second, by kind. Little cached_input means that prefixes are not used again.",
                    "short",
                    Asked(rate("gainsay_tokens_total", MODEL, by="kind"), "{{kind}}"),
                    stacked=True,
                ),
            ),
        ),
    )


def _failures() -> Row:
    failed, repaired = rate(FAILED, MODEL, by="model"), rate("gainsay_repairs_asked_total", MODEL, by="model")
    return Row(
        "Failures",
        (
            line(
                8,
                graph(
                    "Attempts that failed, by reason",
                    "Attempts without a usable reply. timeout and overload pass; refusedKey and unknownModel need a "
                    "person.",
                    "ops",
                    Asked(rate(FAILED, MODEL, by="reason"), "{{reason}}"),
                    stacked=True,
                ),
                graph(
                    "Share of calls that failed",
                    "Failed attempts for each call that got a reply or failed. Above one in ten, debates become slow "
                    "and dear.",
                    "percentunit",
                    Asked(f"{failed} / ({failed} + {rate(f'{CALLS}_count', MODEL, by='model')})", "{{model}}"),
                    steps=above(0.1, 0.03),
                ),
                graph(
                    "Repairs and fallbacks",
                    "Attempts that showed a model its reply's fault, and attempts made at a seat's fallback. Both cost "
                    "money.",
                    "ops",
                    Asked(repaired, "repair: {{model}}"),
                    Asked(
                        rate("gainsay_fallback_attempts_total", MODEL, by="model, seat"),
                        "fallback: {{seat}}, {{model}}",
                    ),
                ),
            ),
            line(
                7,
                bars(
                    "Failures in the time shown",
                    "Failed attempts by model and reason. The longest bar is where to look first.",
                    "short",
                    Asked(f"{increase(FAILED, MODEL, by='model, reason')} > 0.5", "{{model}}: {{reason}}"),
                    none="none, or no data",
                ),
                graph(
                    "Circuit over time",
                    "1 while the circuit of a vendor is open. Short spikes are outages that passed by themselves.",
                    "short",
                    Asked(most("gainsay_provider_down", by="provider"), "{{provider}}"),
                    steps=above(1),
                    high=1,
                ),
            ),
        ),
    )


def _honesty() -> Row:
    return Row(
        "What vendors report",
        (
            line(
                7,
                graph(
                    "Overruns",
                    "Replies billed above their reservation. Each is held against the vendor's terms, and no such "
                    "model runs on.",
                    "ops",
                    Asked(rate("gainsay_provider_overruns_total", MODEL, by="model"), "{{model}}"),
                    steps=above(0.001),
                ),
                graph(
                    "Under-reports, by part",
                    "Usages that cannot be true by our own count of the request (input) or of the reply (output).",
                    "ops",
                    Asked(rate("gainsay_usage_below_floor_total", MODEL, by="model, part"), "{{model}}: {{part}}"),
                    steps=above(0.001),
                ),
                graph(
                    "Calls lost",
                    "Calls whose worker was gone before the reply was recorded. The whole reservation is charged.",
                    "ops",
                    Asked(rate("gainsay_attempts_lost_total", MODEL, by="model"), "{{model}}"),
                    steps=above(0.01),
                ),
            ),
        ),
    )
