"""Replays the Dockerfile without a builder: each stage's commands, in a layer over the files of this machine.

The base is this machine and its Python. It shows what a builder would run, and not what the named base has.
"""

from __future__ import annotations

import os
import shutil
from fnmatch import fnmatch
from pathlib import Path

from tests.image.container import Tree, build_step
from tests.image.dockerfile import ROOT, Instruction, Stage, stages

PYTHON = Path("/usr/bin/python3")
"""A Python that any user can run; the image's own is at python, too."""


def replayed(folder: Path, **arguments: str) -> Tree:
    """Run both stages below a folder; return the tree of the last one. Raises what `build_step` does."""
    at = folder / "root"
    at.mkdir()
    layers: dict[str, Path] = {}
    tree = Tree(folder)
    for n, stage in enumerate(stages()[1]):
        layer = folder / f"layer-{n}"
        (layer / "usr/local/bin").mkdir(parents=True)
        (layer / "usr/local/bin/python").symlink_to(PYTHON)
        tree = Tree(layer, over_this_machine=True)
        layers[stage.name] = layer
        _run(stage, tree, layers, arguments, at)
    return tree


def _run(stage: Stage, tree: Tree, layers: dict[str, Path], arguments: dict[str, str], at: Path) -> None:
    shown = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_BUNDLE")}
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **shown}
    folder = "/"
    for n, step in enumerate(stage.steps):
        if step.word == "ARG":
            environment |= {name: arguments.get(name, value) for name, value in step.pairs.items()}
        elif step.word == "ENV":
            environment = Stage("", "", [step]).environment(environment)
        elif step.word == "WORKDIR":
            folder = step.words[0]
            (tree.folder / folder.strip("/")).mkdir(parents=True, exist_ok=True)
        elif step.word == "COPY":
            _copy(step, tree.folder, folder, layers)
        elif step.word == "RUN":
            at.mkdir(exist_ok=True)
            build_step(tree, step.text, environment, folder, at)
        else:
            assert step.word in {
                "LABEL",
                "VOLUME",
                "USER",
                "EXPOSE",
                "STOPSIGNAL",
                "HEALTHCHECK",
                "ENTRYPOINT",
                "CMD",
            }, n


def _copy(step: Instruction, layer: Path, folder: str, layers: dict[str, Path]) -> None:
    *sources, last = step.words
    target = layer / (last if last.startswith("/") else f"{folder}/{last}").strip("/")
    flags = step.flags
    for source in sources:
        if (stage := flags.get("from")) is not None:
            found = layers[stage] / source.strip("/")
        else:
            assert in_context(source), f"{source} is not in the context that .dockerignore leaves"
            found = ROOT / source
        if found.is_dir():
            skipped = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")
            leave = skipped if stage is None else None
            shutil.copytree(found, target, symlinks=True, dirs_exist_ok=True, ignore=leave)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, target)
        if (owner := flags.get("chown")) is not None:
            user, group = map(int, owner.split(":"))
            for path in found.rglob("*"):
                os.chown(target / path.relative_to(found), user, group)


def in_context(source: str) -> bool:
    """Say whether .dockerignore lets a file or folder into the context: the last line that fits decides."""
    kept = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.strip()
        if pattern.startswith("!"):
            kept = (
                kept
                or source == pattern[1:]
                or source.startswith(f"{pattern[1:]}/")
                or pattern[1:].startswith(f"{source}/")
            )
        elif pattern and not pattern.startswith("#"):
            anywhere = pattern.removeprefix("**/")
            names = source.split("/") if anywhere != pattern else [source]
            kept = kept and not any(fnmatch(name, anywhere) for name in names)
    return kept
