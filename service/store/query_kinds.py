"""What holds for some queries, by their names: which may be repeated, and which are planned once."""

from __future__ import annotations

from service.store.exchange import Asked

REPEATABLE = frozenset(
    {
        *(
            "head",
            "records",
            "documents",
            "find_page",
            "find_counts",
            "find_words",
            "renew",
            "draw",
            "left",
            "reached",
            "balance",
            "astray",
        ),
        *("latest_log", "latest_head", "proven", "head_at", "logs_of", "tree_parts", "leaves_between"),
        *("current_heads", "recall", "recall_prompt", "chains", "chain", "document_hashes", "manifests"),
        *("kept_contents", "contents", "keep_contents", "keep_manifest", "bundle_records", "bundle_context", "opening"),
        *("first_since", "joined_before", "countersigned_since", "export_all", "export_some", "countersigned_head"),
        *("keyed", "waiting", "exchange_rates", "forget_rates"),
        *("listen", "listened", "forget_listeners", "moved"),
        *("find_key", "still_good", "find_subject", "tenant_known", "key_used"),
        *("keys_of", "key", "subjects_of", "subject", "tenants"),
        *("renew_all", "release", "pass_on", "park", "disown", "backlog", "batch_backlog", "alive"),
    }
)
"""Queries that may be repeated when their connection is gone: a restart of PostgreSQL ends all connections at the
same time."""
PLANNED_ONCE = frozenset({"records"})
"""Queries that each connection plans once, and not for their values.

PostgreSQL would plan them each time, and for longer than they run: it takes a plan with all partitions for one that
reads them all. They are read by index, also while tables are new and not yet analysed.
"""
_TENANT = b"set_config('gainsay.tenant', $1, true)"
_ONCE = b"set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"


def settings_of(name: str, tenant: str) -> Asked | None:
    """The query that sets what holds for a query of this name in its transaction, asked for by this tenant or by none;
    ``None`` for nothing."""
    if not tenant:
        return Asked(b"SELECT " + _ONCE, None) if name in PLANNED_ONCE else None
    return Asked(b"SELECT " + (_TENANT + b", " + _ONCE if name in PLANNED_ONCE else _TENANT), (tenant,))
