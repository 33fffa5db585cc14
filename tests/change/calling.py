"""Call commands in this process, and print each as a line of JSON: what a test reads of a changed tree.

The one argument is a JSON list of commands, each a list of words. ``{debate}`` stands for the last debate that was
reviewed, ``{key}`` for the last key that was shown. Three words are no commands of the service:

    later       from here on, this build has one more version of the critique check
    metrics     the metrics of this process
    asked ZIP   what each turn of a bundle's debate was asked; its verification (step 19) has shown that these are the
                bytes that went out
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def call(*words: str) -> tuple[int, str, str]:
    """Call one command; returns its exit code, its output, and what it says beside that."""
    match words:
        case ["later"]:
            rules: Any = importlib.import_module("service.checks.judgement")
            rules.CRITIQUES = {**rules.CRITIQUES, "judgement/3": rules.CRITIQUES["judgement/2"]}
            return 0, "", ""
        case ["metrics"]:
            return 0, metrics(), ""
        case ["asked", bundle]:
            return 0, json.dumps(asked(Path(bundle))), ""
    from service.cli import main

    written, beside = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(written, "utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(beside):
        code = main([*words])
    return code, written.getvalue().decode(), beside.getvalue()


def metrics() -> str:
    """The metrics of this process."""
    from prometheus_client import generate_latest

    from service.observing.labelled import REGISTRY

    return generate_latest(REGISTRY).decode()


def asked(bundle: Path) -> dict[str, str]:
    """The texts that each turn was asked, by the id of the turn."""
    from service.audit.bundle import unpack
    from service.debate.entries import TurnAsked
    from service.debate.kernel import decide
    from service.debate.model import Ask
    from service.prompts.request import text_of
    from service.verify.opened_bundle import OpenedBundle
    from service.verify.requests import Rendering, plan_of
    from service.verify.steps import Tools

    evidence = OpenedBundle(unpack(bundle.read_bytes()))
    started = evidence.debate.started
    assert started is not None
    rendering = Rendering(evidence, started, Tools(bool))
    found = {}
    for _, entry, facts in evidence.debate.walk():
        if isinstance(entry, TurnAsked):
            move = decide(facts)
            assert isinstance(move, Ask)
            turn = next(turn for turn in move.turns if turn.id == entry.turn)
            found[str(entry.turn)] = text_of(rendering.render(facts, turn, plan_of(started, entry)))
    return found


def main(commands: Sequence[Sequence[str]]) -> None:
    """Call them in their order."""
    known = {"{debate}": "", "{key}": ""}
    for command in commands:
        words = [known.get(word, word) for word in command]
        code, out, beside = call(*words)
        sys.stdout.write(f"{json.dumps({'words': words, 'code': code, 'out': out, 'beside': beside})}\n")
        if words[0] == "review" and (found := re.search(r'gainsay report (\S+)|"debateId": ?"([^"]+)', out)):
            known["{debate}"] = found[1] or found[2]
        if words[:3] == ["audit", "key", "show"]:
            known["{key}"] = out.split()[-1]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
