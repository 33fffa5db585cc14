"""Runs commands in the tree of an image as a container engine would, by namespaces of this machine; needs root.

The root file system is read-only, /tmp and the data folder are not, the user is any number with group 0 and has no
capability, and there is no network but loopback. That is what Kubernetes' restricted profile and OpenShift ask for.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")
PROGRAMS = ("unshare", "nsenter", "chroot", "setpriv", "mount", "ip")
_DEVICES = ("null", "zero", "full", "random", "urandom")


class Tree(NamedTuple):
    """The files of an image: one folder, or a layer over the files of this machine."""

    folder: Path
    over_this_machine: bool = False

    def mounting(self, at: Path) -> list[str]:
        """Lines of a shell that mount it."""
        if not self.over_this_machine:
            return [f"mount --bind {self.folder} {at}"]
        work = self.folder.with_name(f"{self.folder.name}.work")
        return [
            f"mkdir -p {work}",
            f"mount -t overlay overlay -o lowerdir=/,upperdir={self.folder},workdir={work} {at}",
        ]


def missing() -> str | None:
    """What this machine lacks to run a container so, or ``None``."""
    if os.geteuid() != 0:
        return "only root makes namespaces here"
    if absent := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"there is no program {absent[0]}"
    done = subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], check=False, capture_output=True)
    return "this machine makes no namespaces" if done.returncode else None


def _system(at: Path) -> list[str]:
    """Lines that give a tree devices and processes."""
    nodes = [f"touch {at}/dev/{name} && mount --bind /dev/{name} {at}/dev/{name}" for name in _DEVICES]
    return [
        f"mount -t tmpfs -o mode=0755,size=1m tmpfs {at}/dev",
        *nodes,
        f"ln -s /proc/self/fd {at}/dev/fd",
        f"mkdir {at}/dev/shm && mount -t tmpfs -o mode=1777,size=64m tmpfs {at}/dev/shm",
        f"mount -t proc proc {at}/proc",
    ]


def build_step(tree: Tree, command: str, environment: Mapping[str, str], folder: str, at: Path) -> None:
    """Run a RUN of a Dockerfile: as root, with this machine's network; raises what `subprocess.run` does."""
    lines = [
        "set -e",
        "mount --make-rprivate /",
        *tree.mounting(at),
        *_system(at),
        f"exec chroot {at} env -i {_assigned(environment)} sh -c {shlex.quote(f'cd {folder} && {command}')}",
    ]
    subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "sh", "-c", "\n".join(lines)],
        check=True,
        capture_output=True,
        text=True,
    )


class Container(NamedTuple):
    """A running container: ``outside`` is the process that holds its namespaces."""

    outside: subprocess.Popen[str]
    at: Path
    user: int
    environment: Mapping[str, str]

    @property
    def process(self) -> int:
        """The number, on this machine, of the process that is 1 inside."""
        children = Path(f"/proc/{self.outside.pid}/task/{self.outside.pid}/children")
        return int(_awaited(lambda: children.read_text().split())[0])

    def begun(self) -> int:
        """The same, once it is in its tree with all that is mounted there."""
        root = Path(f"/proc/{self.process}/root")
        _awaited(lambda: root.readlink() == self.at)
        return self.process

    def enter(self) -> list[str]:
        """Words that run the words behind them inside, as `docker exec` does."""
        inside = ["nsenter", "--target", str(self.begun()), "--mount", "--pid", "--net", "--ipc"]
        return [*inside, *_as_user(self.at, self.user, self.environment)]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run another command inside, to its end."""
        enter = [*self.enter(), *command]
        return subprocess.run(enter, check=False, capture_output=True, text=True, timeout=120)

    def end(self, by: int, seconds: float = 60) -> tuple[int, str]:
        """Send process 1 a signal; return its exit status and what it has said."""
        os.kill(self.begun(), by)
        said, _ = self.outside.communicate(timeout=seconds)
        return self.outside.returncode, said


class Volume(NamedTuple):
    """A folder or file of this machine, at a place of the container."""

    outside: Path
    inside: str
    writable: bool = True


@contextmanager
def running(
    tree: Tree,
    volumes: Sequence[Volume],
    *command: str,
    user: int,
    environment: Mapping[str, str],
    at: Path,
    network_of: int | None = None,
) -> Iterator[Container]:
    """Start a command as process 1 of a container; it is killed with everything in it when the block ends.

    It has a network of its own, which is loopback alone, or that of another process.
    """
    lines = [
        "set -e",
        "mount --make-rprivate /",
        *tree.mounting(at),
        *(line for volume in volumes for line in _place_for(volume, at)),
        f"mount -o remount,{'' if tree.over_this_machine else 'bind,'}ro {at}",
        *_system(at),
        f"mount -t tmpfs -o mode=1777,size=64m tmpfs {at}/tmp",
        *(line for volume in volumes for line in _mounting(volume, at)),
        *(["ip link set lo up"] if network_of is None else []),
        f"exec {shlex.join([*_as_user(at, user, environment), *command])}",
    ]
    spaces = ["unshare", "--mount", "--pid", "--ipc", "--fork"]
    network = ["--net"] if network_of is None else []
    enter = [] if network_of is None else ["nsenter", "--target", str(network_of), "--net"]
    outside = subprocess.Popen(
        [*enter, *spaces, *network, "sh", "-c", "\n".join(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Container(outside, at, user, environment)
    finally:
        if outside.poll() is None:  # otherwise its process 1 has ended, and with it all others in its namespace
            os.kill(Container(outside, at, user, environment).process, signal.SIGKILL)
        outside.communicate()


def _place_for(volume: Volume, at: Path) -> list[str]:
    """Lines that make the place of a volume where the tree has none, as an engine does."""
    place = shlex.quote(f"{at}{volume.inside}")
    if volume.outside.is_dir():
        return [f"mkdir -p {place}"]
    return [f"mkdir -p $(dirname {place})", f"[ -e {place} ] || touch {place}"]


def _mounting(volume: Volume, at: Path) -> list[str]:
    place = shlex.quote(f"{at}{volume.inside}")
    bound = f"mount --bind {shlex.quote(str(volume.outside))} {place}"
    return [bound] if volume.writable else [bound, f"mount -o remount,bind,ro {place}"]


def _awaited(look: Callable[[], T]) -> T:
    """Look until something is there, for 20 seconds at most."""
    until = time.monotonic() + 20
    while not (found := look()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return found


def _as_user(at: Path, user: int, environment: Mapping[str, str]) -> Sequence[str]:
    """Words that enter the tree as a user of group 0 without a capability, and with this environment alone."""
    rights = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    drop = ["setpriv", f"--reuid={user}", "--regid=0", "--clear-groups", *rights]
    return ["chroot", str(at), *drop, "env", "-i", *(f"{name}={value}" for name, value in environment.items())]


def _assigned(environment: Mapping[str, str]) -> str:
    return shlex.join(f"{name}={value}" for name, value in environment.items())
