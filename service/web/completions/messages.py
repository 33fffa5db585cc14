"""The question and the documents of the messages.

    the last message, of the role user     its last text is the question; each other text or file is a document
    files of earlier messages              each is a document
    all other earlier messages             one document, with the role before each text; whatever their role

No message is a system prompt of a model: seats read all of them as fenced texts of the caller. The words that stand
before each text are chosen so that the check of passages that speak to a model takes none of them for one.
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from service.errors import GainsayError
from service.intake.request import DocumentRequest
from service.web.completions.errors import UnsupportedParameter
from service.web.completions.request import FileContent, Message, Part

BEFORE = "Messages before the question"
"""The title of the document that holds the earlier messages."""
KINDS = ("text/plain", "text/markdown", "text/x-markdown", "text/csv", "application/json")
ENDINGS = (".txt", ".text", ".md", ".markdown", ".csv", ".json")
_TAKEN = "plain text, Markdown, JSON or CSV in UTF-8"


class Asked(NamedTuple):
    """What the messages ask, and the documents; ``answer`` is the assistant's that is under review, if it is."""

    question: str
    documents: tuple[DocumentRequest, ...]
    answer: str | None = None
    sources: int = 0
    """How many of the documents are files or texts beside the question."""


def read_messages(messages: Sequence[Message], *, review_last_answer: bool = False) -> Asked:
    """The question and the documents; raises `UnsupportedParameter`.

    With ``review_last_answer`` the assistant's last message is the answer under review, and no part of a document.
    """
    if not messages or messages[-1].role != "user":
        found = messages[-1].role if messages else "no message"
        raise UnsupportedParameter(
            f"the last message must have the role user and hold the question, found {found}; put what comes after the "
            "question into a message before it",
            pointers=("/messages",),
        )
    earlier, last = messages[:-1], len(messages) - 1
    reviewed = _last_answer(earlier) if review_last_answer else None
    before, files = _before(earlier, reviewed)
    question, beside = _question(messages[last], f"/messages/{last}")
    documents = (*before, *files, *beside)
    answer = None if reviewed is None else _text(earlier[reviewed])
    return Asked(question, documents, answer, len(files) + len(beside))


def _last_answer(earlier: Sequence[Message]) -> int:
    """The place of the assistant's last message."""
    for place in reversed(range(len(earlier))):
        if earlier[place].role == "assistant" and _text(earlier[place]):
            return place
    raise UnsupportedParameter(
        "metadata.reviewLastAnswer is true, and no earlier message of the role assistant has a text; leave it out",
        pointers=("/metadata/reviewLastAnswer",),
    )


def _before(earlier: Sequence[Message], reviewed: int | None) -> tuple[list[DocumentRequest], list[DocumentRequest]]:
    """The document of the earlier messages, if there are any, and their files."""
    said, files = list[str](), list[DocumentRequest]()
    for place, message in enumerate(earlier):
        pointer = f"/messages/{place}"
        _refuse_audio(message, pointer)
        parts = [_document(part, f"{pointer}/content/{n}") for n, part in _files(message)]
        files += parts
        if place == reviewed:
            continue
        lines = [_text(message), *_calls(message), *(f"File: {part.title}" for part in parts)]
        if text := "\n\n".join(filter(None, lines)):
            said.append(f"Message {place + 1}, of the role {message.role}{_named(message)}\n\n{text}")
    return [DocumentRequest(text="\n\n".join(said), title=BEFORE)] if said else [], files


def _question(message: Message, pointer: str) -> tuple[str, list[DocumentRequest]]:
    """The question of the last message, and the documents beside it."""
    _refuse_audio(message, pointer)
    if isinstance(message.content, str):
        return message.content, []
    parts = message.content or ()
    texts = [n for n, part in enumerate(parts) if part.type == "text" and part.text is not None]
    if not texts:
        raise UnsupportedParameter(
            "the last message must have a text, which is the question, found none; add a part of the type text",
            pointers=(f"{pointer}/content",),
        )
    beside = [
        DocumentRequest(text=part.text, title=f"Text {n + 1} of the last message")
        if n in texts and part.text is not None
        else _document(part, f"{pointer}/content/{n}")
        for n, part in enumerate(parts)
        if n != texts[-1]
    ]
    return parts[texts[-1]].text or "", beside


def _files(message: Message) -> Iterator[tuple[int, Part]]:
    """The parts of a message that are no text of it."""
    for n, part in enumerate(() if isinstance(message.content, str) else message.content or ()):
        if part.type not in ("text", "refusal"):
            yield n, part


def _text(message: Message) -> str:
    """The text of a message."""
    if isinstance(message.content, str):
        return message.content
    said = [part.text if part.type == "text" else part.refusal for part in message.content or ()]
    return "\n\n".join(filter(None, [*said, message.refusal]))


def _calls(message: Message) -> Iterator[str]:
    """The tools that a message calls, and the call that it answers."""
    called: Sequence[Any] = (*(message.tool_calls or ()), *([message.function_call] if message.function_call else []))
    for call in called:
        yield f"Tool call: {json.dumps(call, ensure_ascii=False)}"
    if message.tool_call_id:
        yield f"Answer to the tool call {message.tool_call_id}"


def _named(message: Message) -> str:
    return f", named {message.name}" if message.name else ""


def _refuse_audio(message: Message, pointer: str) -> None:
    if message.audio is not None:
        raise _refused("audio", f"{pointer}/audio", "seats read texts; send what was said as a text")


def _document(part: Part, pointer: str) -> DocumentRequest:
    """A file as a document; raises `UnsupportedParameter` for what is no text."""
    if part.type in ("text", "refusal"):
        raise _refused(f"a part of the type {part.type} here", pointer, "send a part of the type text, with its text")
    if part.type != "file" or part.file is None:
        raise _refused(f"a part of the type {part.type}", pointer, f"seats read texts; send its content as {_TAKEN}")
    file = part.file
    if file.file_id is not None:
        raise _refused("file_id", f"{pointer}/file/file_id", f"no file is kept here; send file_data with {_TAKEN}")
    if not file.file_data:
        raise _refused("a file without file_data", f"{pointer}/file", f"send file_data with {_TAKEN}")
    return DocumentRequest(text=_content(file, file.file_data, f"{pointer}/file/file_data"), title=file.filename)


def _content(file: FileContent, data: str, pointer: str) -> str:
    """The text of a file."""
    kind, charset, coded = "", "", data
    if data[:5].lower() == "data:":
        head, _, coded = data[5:].partition(",")
        kind, *parameters = [part.strip().lower() for part in head.split(";")]
        if "base64" not in parameters:
            raise _refused("a data URL without base64", pointer, "encode the bytes of the file in base64")
        charset = next((value for name, _, value in (p.partition("=") for p in parameters) if name == "charset"), "")
    ending = PurePosixPath(file.filename or "").suffix.lower()
    is_open = kind in ("", "application/octet-stream")
    if not (ending in ENDINGS if is_open else kind in KINDS):
        found = kind or ending or "a file of no known kind"
        raise _refused(
            found[:80], pointer, f"files may be {_TAKEN}; extract the text, and name its kind by a data URL or filename"
        )
    if charset.strip('"') not in ("", "utf-8", "utf8", "us-ascii"):
        raise _refused(f"the charset {charset[:40]}", pointer, "encode the text in UTF-8")
    try:
        return binascii.a2b_base64(coded, strict_mode=True).decode().removeprefix("\ufeff")  # as the command line
    except UnicodeDecodeError as error:
        raise _refused(
            f"a file that is no UTF-8 at byte {error.start}", pointer, f"files may be {_TAKEN}; extract the text"
        ) from None
    except (binascii.Error, ValueError):
        raise _refused("a file that is no base64", pointer, "encode the bytes of the file in base64") from None


def _refused(found: str, pointer: str, remedy: str) -> GainsayError:
    return UnsupportedParameter(f"{found} is not supported: {remedy}", pointers=(pointer,))
