"""PostgreSQL's programs for a user that has no entry in the list of users, as OpenShift starts every container.

``initdb`` and ``postgres --single`` ask the list for the name of our user and end without one, though neither uses it:
the cluster's superuser is named on the command line. The server itself does not ask. So the cluster is made with copies
of both programs that ask for the first user of the list instead: they call ``getpwent`` where they called ``getpwuid``.
What both return is of one type, so nothing else changes, and the copies are removed once the cluster is made.
"""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.store.embedded.data_dir import ProgramsMissing

ASKED, INSTEAD = b"\0getpwuid\0", b"\0getpwent\0"


@contextmanager
def programs_to_make_with(programs: Path, home: Path) -> Iterator[Path]:
    """Lend the folder of programs that can make a cluster; raises `ProgramsMissing` for programs of another kind."""
    if _has_name(os.geteuid()):
        yield programs
        return
    # A start that was killed leaves it with the cluster that it made, and the next one removes both.
    folder = Path(tempfile.mkdtemp(prefix="cluster.new-programs-", dir=home))
    try:
        yield _copy(programs, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _copy(programs: Path, folder: Path) -> Path:
    """Copy both programs beside links to all that they find by their own place."""
    package = programs.parent.parent
    copies = folder / package.name / programs.parent.name / programs.name
    copies.mkdir(parents=True)
    for beside in programs.parent.iterdir():
        if beside.name != programs.name:
            (copies.parent / beside.name).symlink_to(beside)
    libraries = package.with_name(f"{package.name}.libs")
    (folder / libraries.name).symlink_to(libraries)
    for name in ("initdb", "postgres"):
        program = (programs / name).read_bytes()
        if program.count(ASKED) != 1:
            raise ProgramsMissing(
                f"expected to make a cluster as user {os.geteuid()}, who has no entry in the list of users, found that "
                f"{programs / name} cannot be taught to; run as a user who has one, or name a server in "
                "GAINSAY_DATABASE_URL"
            )
        (copies / name).write_bytes(program.replace(ASKED, INSTEAD))
        (copies / name).chmod(0o700)
    return copies
