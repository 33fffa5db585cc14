"""Batches of a service that runs elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, cast

from service.cli.access.downloads import copy, download

if TYPE_CHECKING:
    from service.cli.access.port import JSON, BatchAsked


class BatchClient(Protocol):
    """The calls of the client that batches need."""

    async def create_batch(
        self,
        lines: bytes,
        *,
        ceiling: str | None = None,
        deadline: str | None = None,
        name: str | None = None,
        key: str | None = None,
    ) -> Any:
        """Store a file of cases as a batch."""
        ...

    async def batch(self, batch: str) -> Any:
        """How a batch stands."""
        ...

    async def batches(self, *, limit: int | None = None) -> Any:
        """One page of batches, the newest first."""
        ...

    async def batch_results(self, batch: str, file: Path, *, form: Literal["jsonl", "csv"] = "jsonl") -> Any:
        """Write what became of the lines of a batch."""
        ...

    async def abort_batch(self, batch: str, *, reason: str | None = None) -> Any:
        """Abort a batch."""
        ...


class BatchesOverHTTP:
    """The part of `OverHTTP` that concerns batches."""

    _batches: BatchClient

    @property
    def name(self) -> str:
        """The address of the service."""
        raise NotImplementedError

    def _spoken(self) -> AbstractContextManager[None]:
        """A block whose errors of the client become those of the service."""
        raise NotImplementedError

    async def bring_batch(self, lines: bytes, asked: BatchAsked, key: str) -> JSON:
        """Store a file of cases as a batch."""
        with self._spoken():
            found = await self._batches.create_batch(
                lines, ceiling=asked.ceiling, deadline=asked.deadline, name=asked.name, key=key
            )
        return cast("JSON", found)

    async def batch(self, batch: str) -> JSON:
        """How a batch stands."""
        with self._spoken():
            return cast("JSON", await self._batches.batch(batch))

    async def batches(self, most: int) -> JSON:
        """The newest batches."""
        with self._spoken():
            return cast("JSON", await self._batches.batches(limit=most))

    async def batch_results(self, batch: str, form: str, file: IO[bytes]) -> None:
        """Write what became of the lines of a batch, once it is whole."""
        with self._spoken(), download() as part:
            await self._batches.batch_results(batch, part, form=cast(Any, form))
            copy(part, file)

    async def abort_batch(self, batch: str, why: str) -> JSON:
        """Abort a batch."""
        with self._spoken():
            return cast("JSON", await self._batches.abort_batch(batch, reason=why))

    @asynccontextmanager
    async def feeding(self) -> AsyncIterator[str]:
        """The service feeds its batches itself."""
        yield f"it goes on in {self.name}"
