"""Parts are read while the one before is used: once each, in order, and no more than one ahead."""

import asyncio

import pytest

from service.store.read_ahead import ReadAhead


async def test_the_next_part_is_read_while_this_one_is_used_and_once() -> None:
    begun = list[int]()

    async def read(first: int) -> str:
        begun.append(first)
        await asyncio.sleep(0)
        return f"part {first}"

    async with ReadAhead(read) as parts:
        assert await parts.take(0, 10) == "part 0"
        await asyncio.sleep(0)
        assert begun == [0, 10]
        assert await parts.take(10) == "part 10"
        await asyncio.sleep(0)

    assert begun == [0, 10]


async def test_a_part_that_was_not_foreseen_is_read_anew_and_the_other_not_cut_off() -> None:
    begun, ended = list[int](), list[int]()

    async def read(first: int) -> int:
        begun.append(first)
        await asyncio.sleep(0.01)
        ended.append(first)
        return first

    async with ReadAhead(read) as parts:
        await parts.take(0, 10)
        assert await parts.take(7, 17) == 7

    assert begun == ended == [0, 10, 7, 17]


async def test_what_cannot_be_read_is_refused_where_it_is_used_and_nowhere_else() -> None:
    async def read(first: int) -> int:
        if first:
            raise LookupError(first)
        return first

    async with ReadAhead(read) as parts:
        assert await parts.take(0, 10) == 0
        with pytest.raises(LookupError):
            await parts.take(10)

    async with ReadAhead(read) as parts:
        assert await parts.take(0, 10) == 0
