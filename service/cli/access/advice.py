"""What callers of a service that runs elsewhere are advised to do about an error."""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """What to do about an error, in the words of the caller's own means.

    ``repeat`` says how a case whose fate is not known is sent again without a second bill, with its key in the place of
    ``{key}``. ``credential`` says where the caller's credential belongs.
    """

    repeat: str
    credential: str


COMMANDS = Advice(
    "repeat this command with --key {key}, and it is billed once",
    "set GAINSAY_TOKEN to your API key or token, or to file:PATH of a file with it",
)
