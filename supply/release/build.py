"""Builds a release into a folder, after `supply.release.source.faults` has found nothing."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from supply.release import changelog, parts, signing, versions
from supply.release.source import CHART, Asked, commit, epoch, export

NOTES = """\
# Gainsay {version}

Commit {commit}. Base of the image: {base}. Pin of the prompts: {pin}.
docs/releasing.md says how to check what you downloaded, with sha256sum and openssl.

{said}
"""


def build(asked: Asked, out: Path) -> list[str]:
    """Write every part, the checksums and the signature to ``out``, and return the names.

    A folder that is there already has to have the same bytes: a release is never written over. Raises `ValueError`.
    """
    version = versions.current(asked.root)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=out.parent) as made:
        source, new = Path(made) / "source", Path(made) / "new"
        source.mkdir()
        new.mkdir()
        export(asked.root, source)
        _parts(asked, source, new, version)
        signing.sign(new, signing.private_key(asked.key))
        signing.check(new, signing.public_key(asked.root / signing.PUBLIC))
        if out.exists():
            if differ := _differ(out, new):
                raise ValueError(
                    f"expected the same bytes as in {out}, found others: {', '.join(differ)}; a release is not replaced"
                )
        else:
            shutil.move(new, out)
    return sorted(path.name for path in out.iterdir())


def _parts(asked: Asked, source: Path, new: Path, version: str) -> None:
    time = epoch(asked.root)
    revision = commit(asked.root)
    values = {"PYTHON_IMAGE": asked.base, "VERSION": version, "REVISION": revision, "SOURCE_DATE_EPOCH": str(time)}
    parts.packages(source, new, time)
    parts.context(source, new / f"gainsay-{version}-image-context.tar", time, values)
    parts.chart(source, new / f"gainsay-chart-{version}.tgz", time, CHART)
    parts.bom(source, new / f"gainsay-{version}.cdx.json", version)
    shutil.copyfile(source / "requirements.txt", new / f"gainsay-{version}-requirements.txt")
    pin = parts.prompts_pin(source)
    (new / f"gainsay-{version}-prompts.pin").write_text(f"{pin}\n", "utf-8")
    _, said = changelog.sections((source / changelog.FILE).read_text("utf-8"))[version]
    notes = NOTES.format(version=version, commit=revision, base=asked.base, pin=pin, said=said)
    (new / f"gainsay-{version}-notes.md").write_text(notes, "utf-8")


def _differ(one: Path, other: Path) -> list[str]:
    names = {path.name for folder in (one, other) for path in folder.iterdir()}
    return sorted(name for name in names if _bytes(one / name) != _bytes(other / name))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
