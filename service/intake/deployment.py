"""What a case is checked against before any database is there: pinned prompts, priced models, loaded tokenizers."""

from __future__ import annotations

from service.intake import Deployment
from service.money import tokenizers
from service.policy.settings import Settings, refuse_unpriced
from service.prompts import DIRECTORY, Prompts


def assemble(settings: Settings, day: str, build: str = "") -> Deployment:
    """The deployment of these settings on a day, whose requests' layouts are not compared yet.

    Raises `PromptMismatch` or `SettingsError`.
    """
    policy = settings.policy
    refuse_unpriced(policy, settings.policy_path, day)
    tokenizers.load(model.tokenizer for model in policy.models.values())
    return Deployment(Prompts.load(DIRECTORY, settings.prompts_pin), policy, day, build)
