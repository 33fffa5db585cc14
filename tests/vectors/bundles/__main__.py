"""Write every recorded bundle anew, on purpose: ``python -m tests.vectors.bundles``.

Until the first release formats and engines are replaced, and their bundles with them. From then on the bundles of a
released version stay as they are: they show that records of that version verify.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import json

from service.audit.note import COSIGNATURE, SigningKey
from service.cli import main
from tests.fixtures.policies import changed, policy_file
from tests.fixtures.postgres import passable_folder
from tests.fixtures.vouching import running
from tests.vectors.goldens import RELEASED

HERE = Path(__file__).parent
APPROVER = SigningKey.from_seed("model-risk.example", bytes(range(32)))
WITNESS = SigningKey.from_seed("witness.example", bytes(range(1, 33)), COSIGNATURE)
ASKED_MAX = 20
REVIEWS = {
    "adversarial": ("contract",),
    "ballot": ("security/ballot",),
    "panel": ("investment/panel",),
    "convergence": ("compliance/convergence",),
    "stances": ("architecture/stances",),
    "declined": ("contract", "--downside", "1"),
}
ISSUED = ("declined", "witnessed")
"""The bundles beside which the PDF of their report is recorded."""


def said(*words: str, codes: tuple[int, ...] = (0,)) -> str:
    """What a command writes; raises `SystemExit` where it fails."""
    written = io.BytesIO()
    out = io.TextIOWrapper(written, "utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main([*words])
    if code not in codes:
        sys.exit(f"expected one of the exit codes {codes} of gainsay {' '.join(words)}, found {code}")
    return written.getvalue().decode()


def bundle(name: str, *words: str, trust: tuple[str, ...] = ()) -> None:
    """Review a sample and write its bundle; a declined case has exit code 1.

    The PDFs of `ISSUED` are issued before, and the bundle must know them. With ``trust``, options of ``gainsay audit
    verify``, it is asked for until it verifies by them.
    """
    reviewed, path = json.decode(said("review", "--sample", *words, "--json", codes=(0, 1))), str(HERE / f"{name}.zip")
    pdf = HERE / f"{name}.pdf"
    report = ("--report", str(pdf)) if name in ISSUED else ()
    if report:
        said("report", reviewed["debateId"], "--pdf", "-o", str(pdf))
    for _ in range(ASKED_MAX):
        said("audit", "bundle", reviewed["debateId"], "--force", "--out", path)
        found = said("audit", "verify", path, *trust, *report, codes=(0, 1, 4))
        if "\nVERIFIED" in found or not (trust or "\nFAILED" in found):  # without a key, steps are not checkable
            return
    sys.exit(f"expected a bundle of {reviewed['debateId']} that verifies by {trust}, found none")


def witnessed(folder: Path) -> None:
    """Debates in a tenant's second and third log, which a witness countersigns: before them, and when they have ended.

    The service shows heads to the witness about once a second, so a bundle soon has a countersigned one. Those of the
    third log are a declined case and a debate under an approved configuration.
    """
    key = folder / "witness.key"
    key.write_text(WITNESS.encode())
    key.chmod(0o600)
    log = said("audit", "key", "show", str(folder / "data" / "keys" / "log.key")).strip()
    arguments = ("witness", "--key", f"file:{key}", "--heads", str(folder / "witnessed"), "--log", log, "--port", "0")
    with running(folder, *arguments) as process:
        own = [{"url": process["address"], "key": WITNESS.public.encode()}]
        os.environ["GAINSAY_POLICY"] = str(policy_file(folder, **changed("audit", to={"witnesses": own})))
        said("audit", "rotate", "--all")
        trust = ("--key", log, "--witness", WITNESS.public.encode())
        with running(folder, "serve", "--port", "0"):
            bundle("witnessed", "contract", "--downside", "1", trust=(*trust, "--allow-loose-times"))
            bundle("witnessed", "contract", trust=trust)
        said("audit", "rotate", "--all")
        rules = changed("audit", to={"witnesses": own})
        policy_file(folder, **{**rules, "approval": changed("approval", to=approving())["approval"]})
        with approved(folder), running(folder, "serve", "--port", "0"):
            both = (*trust, "--key", APPROVER.public.encode())
            bundle("rotated-declined", *REVIEWS["declined"], trust=(*both, "--allow-loose-times"))
            bundle("rotated-declined", *REVIEWS["declined"], trust=both)
            bundle("rotated", "contract", trust=both)
    (HERE / "witness.vkey").write_text(f"{WITNESS.public.encode()}\n")


def approving() -> dict[str, str | bool]:
    """The policy's table of the approver, whose approval every debate needs."""
    return {"key": APPROVER.public.encode(), "required": True}


@contextlib.contextmanager
def approved(folder: Path) -> Iterator[None]:
    """The configuration as it is, approved."""
    key, path = folder / "approver.key", folder / "approval.txt"
    path.unlink(missing_ok=True)
    key.write_text(APPROVER.encode())
    key.chmod(0o600)
    said("approve", "--key", f"file:{key}", "--out", str(path))
    os.environ["GAINSAY_APPROVAL"] = str(path)
    yield
    del os.environ["GAINSAY_APPROVAL"]


def write() -> None:
    """All of them, by commands of a deployment that is gone afterwards."""
    with passable_folder() as folder:
        os.environ["GAINSAY_DATA_DIR"] = str(folder / "data")
        os.environ["GAINSAY_WARM_S"] = "0"
        for name, words in REVIEWS.items():
            bundle(name, *words)
        os.environ["GAINSAY_POLICY"] = str(policy_file(folder, **changed("approval", to=approving())))
        with approved(folder):
            bundle("approved", "contract")
        guard = {"model": "cedar-small", "allowance": 1_500}
        os.environ["GAINSAY_POLICY"] = str(policy_file(folder, **changed("seats", "screener", to=guard)))
        bundle("screened", "contract")
        witnessed(folder)
        (HERE / "log.vkey").write_text(said("audit", "key", "show", str(folder / "data" / "keys" / "log.key")))
        (HERE / "approver.vkey").write_text(f"{APPROVER.public.encode()}\n")


if __name__ == "__main__":
    if RELEASED:
        sys.exit("a released version has recorded bundles: add new ones beside them")
    write()
