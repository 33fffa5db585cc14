"""Opens the ways by which a service finds out who calls, as its file of identities says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from service.identity.authentication import Authenticator, LocalAuthenticator
from service.identity.combination import CombinedAuthenticator
from service.identity.file import read_identities
from service.identity.key_authenticator import KeyAuthenticator
from service.identity.oidc_authenticator import OidcAuthenticator, open_providers
from service.identity.proxy_authenticator import ProxyAuthenticator
from service.identity.settings import Identities
from service.identity.subjects import Subjects
from service.store.identity_register import IdentityRegister
from service.store.pool import Database


def identities_of(path: Path | None) -> Identities | None:
    """What the file of GAINSAY_IDENTITY says, or ``None`` where none is set; raises `SettingsError`."""
    return None if path is None else read_identities(path)


@asynccontextmanager
async def open_authenticator(identities: Identities | None, database: Database) -> AsyncIterator[Authenticator]:
    """The authenticator of a service, closed at the end. Without identities every caller is `LOCAL`.

    Raises `SettingsError` for an identity provider whose ``ca`` holds no certificates.
    """
    if identities is None:
        yield LocalAuthenticator()
        return
    async with AsyncExitStack() as stack:
        register = IdentityRegister(database)
        subjects = Subjects(register)
        keys: KeyAuthenticator | None = None
        if identities.keys is not None:
            keys = KeyAuthenticator(register)
            stack.push_async_callback(keys.close)
        tokens: OidcAuthenticator | None = None
        if identities.oidc:
            tokens = OidcAuthenticator(open_providers(identities.oidc), subjects)
            stack.push_async_callback(tokens.close)
        proxy = None if identities.proxy is None else ProxyAuthenticator(identities.proxy, subjects)
        headers = () if identities.proxy is None else identities.proxy.headers
        yield CombinedAuthenticator(keys=keys, tokens=tokens, proxy=proxy, proxy_headers=headers)
