"""What a command may ask of a service, wherever that runs.

Lists, documents and keys come as the JSON of the HTTP API, so that both ways give the same output. A result comes as
the type that the pages show.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from service.errors import GainsayError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from service.audit.checkpoint import Checkpoint
    from service.audit.report_forms import Form, Paper
    from service.cli.case_options import CaseRules
    from service.report import Result
    from service.report.result.types import Gate
    from service.web.citations import CheckedCitations
    from service.web.quote_types import PriceQuote

JSON = Mapping[str, Any]
Query = tuple[tuple[str, str], ...]
"""Parameters of a query by their names in HTTP; one may come several times."""
KEY_MAX = 255
"""Characters of the key of a case."""


class ShownEvent(NamedTuple):
    """An event of a debate's stream: its name, and its data as JSON."""

    name: str
    data: JSON


class Recorded(NamedTuple):
    """A case that is recorded: its debate, and the status by now, such as ``queued`` or ``declined``."""

    debate: str
    status: str


class Aborted(NamedTuple):
    """What an abort did. Amounts are US dollars; ``held`` may still be charged for the calls in flight.

    ``calls`` is ``None`` where the service does not say how many there are.
    """

    debate: str
    status: str
    spent: str
    held: str
    calls: int | None


class Running(NamedTuple):
    """A debate that is being run: the error that ends it too early, and how to end its calls without waiting.

    ``closes`` says in words what will close the calls that were cancelled.
    """

    trouble: asyncio.Future[GainsayError]
    cancel: Callable[[], None]
    closes: str


class Working(NamedTuple):
    """Debates are being run: the error that ends that too early, and how to end it.

    The first call of ``release`` claims no more debates and waits for calls in flight, a second one cancels them.
    """

    trouble: asyncio.Future[GainsayError]
    release: Callable[[], None]


class BatchAsked(NamedTuple):
    """What is asked of a batch beside its file: US dollars, RFC 3339, and a name."""

    ceiling: str | None
    deadline: str | None
    name: str | None


class SignedHead(NamedTuple):
    """The latest head of a log, its signed note, and the verifier key that the service names for it."""

    head: Checkpoint
    note: bytes
    key: str


class Exported(NamedTuple):
    """The log whose records were written, and the tenant's other logs."""

    log: str
    others: Sequence[str]


class Contradicted(GainsayError):
    """A kept head, or the log's own, contradicts this log."""

    code = "contradicted"
    title = "The log contradicts a kept head"


class Service(Protocol):
    """A service. Every method raises `GainsayError` with the code that the HTTP API documents."""

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        ...

    async def rules(self) -> CaseRules:
        """What its policy says of the cases that it takes."""
        ...

    async def gate(self, case: JSON) -> Gate:
        """The gate's decision by the policy of the service; nothing is recorded."""
        ...

    async def quote(self, case: JSON) -> PriceQuote:
        """The cost of a case by the policy of the service, and under its limits; nothing is recorded."""
        ...

    async def check_citations(self, batch: JSON) -> CheckedCitations:
        """Verdicts on citations; nothing is recorded."""
        ...

    async def find(self, query: Query) -> JSON:
        """One page of debates, as ``GET /v1/debates`` answers this query."""
        ...

    async def result(self, debate: str) -> Result:
        """The whole result of a debate so far."""
        ...

    async def result_json(self, debate: str) -> JSON:
        """The same as the API answers it (view=full)."""
        ...

    async def documents(self, debate: str) -> JSON:
        """The list of a debate's documents."""
        ...

    async def document(self, debate: str, document: str) -> str:
        """The text of a document."""
        ...

    async def report(self, debate: str, form: Form, paper: Paper) -> bytes:
        """The report of a debate."""
        ...

    def follow(self, debate: str) -> AsyncGenerator[ShownEvent, None]:
        """The events of a debate, from the first one to its end."""
        ...

    async def submit(self, case: JSON, key: str | None = None) -> Recorded:
        """Record a case once, however often a connection breaks; under one key once for all commands."""
        ...

    def running(self, debate: str) -> AbstractAsyncContextManager[Running]:
        """Have the debate run during the block."""
        ...

    def working(self) -> AbstractAsyncContextManager[Working]:
        """Have all debates of this place run during the block, for a command that serves many callers."""
        ...

    async def abort(self, debate: str, why: str) -> Aborted:
        """Abort a debate; a second time it changes nothing."""
        ...

    async def bring_batch(self, lines: bytes, asked: BatchAsked, key: str) -> JSON:
        """Store a file of cases as a batch, once under a key; how it stands, as the API answers it."""
        ...

    async def batch(self, batch: str) -> JSON:
        """How a batch stands."""
        ...

    async def batches(self, most: int) -> JSON:
        """The newest batches, as the API lists them."""
        ...

    async def batch_results(self, batch: str, form: str, file: IO[bytes]) -> None:
        """Write what became of the lines of a batch, as ``jsonl`` or ``csv``."""
        ...

    async def abort_batch(self, batch: str, why: str) -> JSON:
        """Begin nothing more of a batch, and abort its debates."""
        ...

    def feeding(self) -> AbstractAsyncContextManager[str]:
        """Have batches advance during the block; gives, in words, what goes on with them after it."""
        ...

    async def bundle(self, debate: str, file: IO[bytes]) -> None:
        """Write the bundle of a debate."""
        ...

    async def export(self, log: str | None, filters: JSON, form: str, file: IO[bytes]) -> Exported:
        """Write the records of a log, of the current one without a name; ``filters`` by their names in HTTP."""
        ...

    async def head(self, log: str | None) -> SignedHead:
        """The latest head of a log, of the current one without a name. Nothing of it is verified yet."""
        ...

    async def expect_prefix(self, kept: Checkpoint, head: Checkpoint) -> None:
        """Raise `Contradicted` unless the records under ``kept`` begin those under ``head``."""
        ...

    async def keys(self) -> JSON:
        """The register of verifier keys."""
        ...

    async def recall(self, asked: str, value: str) -> JSON:
        """All debates that rest on something."""
        ...


def is_key(text: str) -> bool:
    """Whether every place takes a text as the key of a case: `Service.submit`."""
    return 1 <= len(text) <= KEY_MAX and text.isascii() and text.isprintable()
