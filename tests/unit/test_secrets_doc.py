"""docs/secrets.md: its commands run, and its rule for scanners finds our keys and nothing that may be public."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from service.audit.note import COSIGNATURE, ED25519, SigningKey
from service.policy.settings import KNOWN, is_secret

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "secrets.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_its_commands_run_and_show_no_secret(tmp_path: Path) -> None:
    (script,) = blocks("sh")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GAINSAY_")}
    done = subprocess.run(
        ["/bin/sh", "-euc", script],
        cwd=tmp_path,
        env={**kept, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "GAINSAY_DATABASE_URL = set, from file secrets/database-url" in done.stdout
    assert "s3cret" not in done.stdout + done.stderr


def test_the_rule_for_scanners_finds_every_signing_key_and_no_public_one() -> None:
    (text,) = blocks("toml")
    (rule,) = tomllib.loads(text)["rules"]
    pattern = re.compile(rule["regex"])

    for seed in range(50):
        for algorithm in (ED25519, COSIGNATURE):
            key = SigningKey.from_seed(f"host-{seed}.example", os.urandom(32), algorithm)
            found = pattern.search(f'KEY="{key.encode()}"')
            assert found
            assert found[0] == key.encode()
            assert not pattern.search(key.public.encode())


def test_every_setting_that_is_a_secret_is_in_the_table() -> None:
    table = PAGE.partition("## Where a secret comes from")[2].partition("Prefer files")[0]

    assert [name for name in KNOWN if is_secret(name) and f"`{name}`" not in table] == []
