"""What a case is checked against before any database is there: pinned prompts, priced models, loaded tokenizers."""

from __future__ import annotations

from pathlib import Path

from service.intake import Deployment
from service.money import tokenizers
from service.policy import Policy
from service.policy.settings import Settings, refuse_unpriced
from service.prompts import DIRECTORY, Prompts


def assemble(settings: Settings, day: str, build: str = "", prompts: Prompts | None = None) -> Deployment:
    """The deployment of these settings on a day, whose requests' layouts are not compared yet.

    Raises `PromptMismatch` or `SettingsError`.
    """
    return assemble_policy(settings, settings.policy, settings.policy_path, day, build, prompts)


def assemble_policy(
    settings: Settings, policy: Policy, path: Path, day: str, build: str = "", prompts: Prompts | None = None
) -> Deployment:
    """The deployment of one policy, which stands in the file ``path``; raises what `assemble` raises.

    ``prompts`` are those that a running process has loaded and goes on with.
    """
    refuse_unpriced(policy, path, day)
    tokenizers.load(model.tokenizer for model in policy.models.values())
    return Deployment(prompts or Prompts.load(DIRECTORY, settings.prompts_pin), policy, day, build)
