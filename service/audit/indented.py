"""JSON that stands in a file for people to read: indented, members sorted, and one spelling for each value."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from service.errors import GainsayError

T = TypeVar("T")
_encoder = msgspec.json.Encoder(order="sorted")


class Indented(Generic[T]):
    """Writes and reads values of a type. ``expected`` says in an error what the bytes were to be, ``file`` where."""

    def __init__(self, of: Any, error: type[GainsayError], expected: str, file: str) -> None:
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(of)
        self._error, self._expected, self._file = error, expected, file

    def encode(self, value: T) -> bytes:
        """The value as the file has it."""
        return msgspec.json.format(_encoder.encode(value), indent=2) + b"\n"

    def decode(self, data: bytes) -> T:
        """The value of these bytes; raises the error for any that `encode` does not write."""
        try:
            value = self._decoder.decode(data)
        except (msgspec.MsgspecError, ValueError, RecursionError) as fault:
            raise self._error(f"expected {self._expected}, found another: {fault}") from fault
        if self.encode(value) != data:
            raise self._error(f"expected {self._file} exactly as it is written, found another spelling")
        return value
