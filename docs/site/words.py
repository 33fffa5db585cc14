"""Whether the commands of a line exist: of gainsay as the program reads them, of others by their first words."""

from __future__ import annotations

import shlex

import click

from service.cli import gainsay

_WORDS = {
    "docker": frozenset(
        "build buildx compose image images inspect load logs login manifest ps pull push run save tag version".split()
    ),
    "docker buildx": frozenset("build imagetools ls".split()),
    "docker buildx imagetools": frozenset({"create", "inspect"}),
    "docker compose": frozenset("build config down exec logs ps pull restart run stop up".split()),
    "helm": frozenset(
        "dependency get history install lint list package pull push registry repo rollback show status template test "
        "uninstall upgrade verify version".split()
    ),
    "kubectl": frozenset(
        "annotate apply auth cp create debug delete describe exec get label logs patch port-forward rollout run scale "
        "top version wait".split()
    ),
}
_TAKES_A_VALUE = {"-n", "--namespace", "-f", "--file", "--context", "--kube-context"}
_ENDS = {"|", "||", "&&", ";", "&", "(", ")"}


def unknown_words(line: str) -> list[str]:
    """The commands of a line that are none, each with the word that there is not."""
    return [wrong for command in _commands(line) if (wrong := _unknown(command))]


def _commands(line: str) -> list[list[str]]:
    reader = shlex.shlex(line, posix=True, punctuation_chars="|&;()")
    reader.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in reader:
        if word in _ENDS:
            found.append([])
        else:
            found[-1].append(word)
    return [command for words in found if (command := _without_settings(words))]


def _without_settings(words: list[str]) -> list[str]:
    while words and "=" in words[0] and words[0].partition("=")[0].isidentifier():
        words = words[1:]
    return words


def _unknown(command: list[str]) -> str:
    program = command[0].replace("\\", "/").rpartition("/")[2]
    if program == "gainsay":
        return _unknown_of_ours(command[1:])
    return _unknown_of_others(program, command[1:]) if program in _WORDS else ""


def _unknown_of_others(program: str, words: list[str]) -> str:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _TAKES_A_VALUE else words[1:]
    if not words or words[0] not in _WORDS[program]:
        return " ".join((program, *words[:1]))
    longer = f"{program} {words[0]}"
    return _unknown_of_others(longer, words[1:]) if longer in _WORDS else ""


def _unknown_of_ours(words: list[str]) -> str:
    command: click.Command = gainsay
    context = click.Context(command, info_name="gainsay")
    said = ["gainsay"]
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        said.append(words[0])
        found = command.get_command(context, words[0])
        if found is None:
            return " ".join(said)
        command, words = found, words[1:]
        context = click.Context(command, info_name=said[-1], parent=context)
    known = {name for parameter in command.get_params(context) for name in (*parameter.opts, *parameter.secondary_opts)}
    wrong = [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
    return " ".join((*said, wrong[0])) if wrong else ""
