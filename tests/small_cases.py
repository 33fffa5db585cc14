"""A case of each format for tests, small and of the same matter, as members of a request."""

from __future__ import annotations

from typing import Any

CASES: dict[str, dict[str, Any]] = {
    "adversarial": {"format": "adversarial", "options": {"maxRounds": 2}},
    "stances": {
        "format": "stances",
        "options": {
            "debaters": [
                {"name": "keeper", "stance": "the liability is capped"},
                {"name": "breaker", "stance": "the liability is uncapped"},
            ],
            "maxRounds": 2,
        },
    },
    "ballot": {
        "format": "ballot",
        "options": {
            "debaters": [{"name": "planner"}, {"name": "critic"}, {"name": "operator"}],
            "maxRounds": 1,
            "votes": ["release", "revise"],
            "consensusThreshold": 3,
        },
    },
    "panel": {"format": "panel", "options": {"debaters": 3, "maxRounds": 3}},
    "convergence": {"format": "convergence", "options": {"debaters": 3, "maxRounds": 1, "convergenceCheck": False}},
}
