"""The image, built and replayed once a run, for the tests of this folder: `make image-check`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from service import __version__
from tests.image import building, container, replay
from tests.image.container import Tree, Volume, running
from tests.image.dockerfile import stages

EPOCH = 1_767_225_600
USER = 1_000_730_000
DATA = "/var/lib/gainsay"
USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Image(NamedTuple):
    """A built tree, and the environment that its containers have."""

    how: str
    tree: Tree
    folder: Path
    environment: dict[str, str]

    @property
    def files(self) -> Path:
        """Where what the image adds can be looked at."""
        return self.tree.folder

    def volume(self, inside: str = DATA) -> Volume:
        """A new volume at a place: with the owner and mode of the image's folder there, as an engine makes one."""
        made = Path(tempfile.mkdtemp(dir=self.folder))
        there = self.files / inside.strip("/")
        if there.is_dir():
            os.chown(made, there.stat().st_uid, there.stat().st_gid)
        made.chmod(there.stat().st_mode & 0o7777 if there.is_dir() else 0o755)
        return Volume(made, inside)

    def at(self) -> Path:
        """A folder to mount it on."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def ends(self, *command: str, user: int = USER, **more: str) -> tuple[int, str]:
        """Run a command of the image to its end; return its exit status and its words."""
        environment = {**self.environment, **more}
        with running(self.tree, [self.volume()], *command, user=user, environment=environment, at=self.at()) as found:
            said, _ = found.outside.communicate(timeout=300)
            return found.outside.returncode, said


@pytest.fixture(scope="session")
def image_folder() -> Iterator[Path]:
    """A folder for layers, stores and volumes, which any user may pass."""
    with tempfile.TemporaryDirectory(prefix="gainsay-image-", dir="/var/tmp") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture(scope="session")
def builder(image_folder: Path) -> building.Builder:
    """The image, built twice by buildah."""
    if os.environ.get("GAINSAY_TEST_IMAGE") == "replayed":
        pytest.skip("`make image-check` builds it; `make rehearse` has time for the replay alone")
    if lack := building.missing():
        pytest.skip(lack)
    made = building.Builder(image_folder)
    for name in ("first", "second"):
        made.build(f"localhost/gainsay:{name}", EPOCH, VERSION=__version__, REVISION="0" * 40)
    return made


@pytest.fixture(scope="session", params=["built", "replayed"])
def image(request: pytest.FixtureRequest, image_folder: Path) -> Image:
    """The tree of the real build, and that of the replay."""
    if lack := container.missing():
        pytest.skip(lack)
    environment = stages()[1][-1].environment({"PATH": USUAL})
    if request.param == "built":
        tree = request.getfixturevalue("builder").tree("localhost/gainsay:first")
    else:
        tree = replay.replayed(image_folder, VERSION=__version__)
    return Image(request.param, tree, image_folder, environment)
