"""The values that a shell completes: formats, task types, samples and templates. Nothing large is imported."""

from __future__ import annotations

import os

import click

from service.errors import GainsayError


def formats(_ctx: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """The formats that begin so."""
    from service.cli.format_options import FORMATS

    return [name for name in FORMATS if name.startswith(begun)]


def task_types(_ctx: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """The task types that begin so, of the policy in use, or of the shipped one where that cannot be read."""
    from service.policy.settings import SHIPPED_POLICY, read_policy, read_settings

    try:
        policy = read_settings(os.environ).policy
    except GainsayError:
        policy = read_policy(SHIPPED_POLICY)
    return [name for name in policy.gate.task_types if name.startswith(begun)]


def samples(_ctx: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """The samples that begin so, and the variants of one after its slash."""
    from service.samples import names, variants

    name, slash, _ = begun.partition("/")
    if slash and name in names():
        return [found for variant in variants(name) if (found := f"{name}/{variant}").startswith(begun)]
    return [found for found in names() if found.startswith(begun)]


def template_names(_ctx: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """The templates that begin so."""
    from service.samples.templates import templates

    return [name for name in templates() if name.startswith(begun)]


def set_names(_ctx: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """The shipped golden sets that begin so."""
    from service.evaluation.sets.files import shipped

    return [folder.name for folder in shipped() if folder.name.startswith(begun)]
