"""Opens the ways by which a service finds out who calls, as its file of identities says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from service.identity.authentication import Authenticator, LocalAuthenticator
from service.identity.combination import CombinedAuthenticator
from service.identity.file import read_identities
from service.identity.key_authenticator import KeyAuthenticator
from service.identity.settings import Identities
from service.store.identity_register import IdentityRegister
from service.store.pool import Database


def identities_of(path: Path | None) -> Identities | None:
    """What the file of GAINSAY_IDENTITY says, or ``None`` where none is set; raises `SettingsError`."""
    return None if path is None else read_identities(path)


@asynccontextmanager
async def open_authenticator(identities: Identities | None, database: Database) -> AsyncIterator[Authenticator]:
    """The authenticator of a service, closed at the end. Without identities every caller is `LOCAL`."""
    if identities is None:
        yield LocalAuthenticator()
        return
    async with AsyncExitStack() as stack:
        keys: KeyAuthenticator | None = None
        if identities.keys is not None:
            keys = KeyAuthenticator(IdentityRegister(database))
            stack.push_async_callback(keys.close)
        yield CombinedAuthenticator(keys=keys)
