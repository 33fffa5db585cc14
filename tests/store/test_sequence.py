"""Staged records get their places in the tree, whatever comes in between."""

from __future__ import annotations

import pytest

from tests.postgres import Database
from tests.sequencing import LOG, MemorySigner, a_sequencer, leaves, signed_size, stage

pytestmark = pytest.mark.no_replay


async def test_what_is_staged_is_taken_in_the_order_of_chains_and_signed(database: Database) -> None:
    stage(database, 2, range(3))
    stage(database, 1, range(2))
    signer = MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        await sequencer.catch_up()

    assert leaves(database) == [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    assert signed_size(database) == signer.heads[LOG].size == 5
