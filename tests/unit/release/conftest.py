"""A small tree with one of everything that a release looks at, committed, with a key that signs."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from supply import frozen
from supply.release import cut, source

BASE = f"python:3.13-slim-trixie@sha256:{'0123456789abcdef' * 4}"
FILES = {
    "service/__init__.py": '"""A service."""\n\n__version__ = "0.1.0"\n',
    "clients/python/src/gainsay_client/__init__.py": '__version__ = "0.1.0"\n',
    "clients/typescript/package.json": '{\n  "name": "g",\n  "version": "0.1.0",\n  "x": {"version": "7"}\n}\n',
    "clients/typescript/README.md": "npm install /path/to/gainsay-client-0.1.0.tgz\n",
    "helm/gainsay/Chart.yaml": 'name: gainsay\nversion: 0.1.0\nappVersion: "0.1.0"\n',
    "helm/gainsay/.helmignore": "# none\n*.swp\nexamples/\n",
    "helm/gainsay/examples/one.yaml": "a: 1\n",
    "helm/gainsay/values.yaml": "b: 2\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Something new.\n",
    "requirements.txt": "",
    ".dockerignore": "*\n!service\n!requirements.txt\n!service/prompts\n!clients/python\n",
    "Dockerfile": "ARG PYTHON_IMAGE=python:3\nFROM ${PYTHON_IMAGE} AS made\nARG VERSION=unreleased\n"
    "ARG SOURCE_DATE_EPOCH=1\nCOPY service \\\n  requirements.txt clients ./\n"
    "FROM ${PYTHON_IMAGE}\nARG VERSION=unreleased\nARG REVISION=unknown\n"
    "COPY --from=made /dist /dist\n",
    "tests/vectors/adversarial-1/plain.jsonl": '{"kind":"case.received"}\n',
    "tests/vectors/goldens/gate-1.decisions.jsonl": '{"version":"gate/1"}\n"debated"\n',
    "tests/vectors/goldens/policy-1/shipped.json": "{}",
    "tests/vectors/payloads/payload.turn.asked.v1.jsonl": '{"turn":"1"}\n',
    "tests/vectors/bundles/plain.zip": "PK",
    "service/audit/schemas/1/leaf.v1.json": "{}",
    "service/prompts/critic.v1.md": "Object.\n",
    "service/prompts/manifest.json": json.dumps({"entries": [{"id": "critic", "version": 1, "file": "critic.v1.md"}]}),
    "migrations/0001_schema.sql": "SELECT 1;\n",
    frozen.LIST: frozen.written([]),
}


@dataclass(frozen=True)
class Repository:
    """The tree, and what a release of it is asked with."""

    root: Path
    key: Path

    @property
    def asked(self) -> source.Asked:
        """A release of it, signed."""
        return source.Asked(self.root, BASE, self.key)

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a text that stands in a file."""
        text = (self.root / path).read_text("utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    def git(self, *words: str) -> str:
        """Call git."""
        who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", "-C", str(self.root), *who, *words], check=True, capture_output=True, text=True
        ).stdout

    def commit(self) -> None:
        """Commit everything that there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")

    def cut(self, version: str, *, tag: bool = False) -> None:
        """Cut a release, and commit it."""
        cut.cut(self.root, version, "2027-01-31")
        self.commit()
        if tag:
            self.git("tag", f"v{version}")

    def faults(self) -> list[str]:
        """What keeps the tree from being released."""
        return source.faults(self.asked)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A small tree, committed and not cut, which no test changes."""
    folder = tmp_path_factory.mktemp("release")
    key = Ed25519PrivateKey.generate()
    file = folder / "release.key"
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    file.chmod(0o600)
    found = Repository(folder / "tree", file)
    for path, text in FILES.items():
        found.write(path, text)
    found.write(
        "supply/release.pub",
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
    )
    found.git("init", "--quiet", "--template=")
    found.commit()
    return found


@pytest.fixture
def repository(whole: Repository, tmp_path: Path) -> Repository:
    """A copy of it, with a copy of the key."""
    root, key = tmp_path / "tree", tmp_path / "release.key"
    shutil.copytree(whole.root, root)
    shutil.copy2(whole.key, key)
    return Repository(root, key)
