"""The messages of a chat request as a question and documents."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from service.web.completions.errors import UnsupportedParameter
from service.web.completions.messages import Asked, read_messages
from service.web.completions.request import Message


def read(*messages: Any, **more: Any) -> Asked:
    return read_messages([msgspec.convert(one, Message) for one in messages], **more)


def file(**content: Any) -> dict[str, Any]:
    """The last message with a file before the question."""
    return {"role": "user", "content": [{"type": "file", "file": content}, {"type": "text", "text": "Q?"}]}


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_the_last_text_is_the_question_and_the_others_are_documents_in_their_order() -> None:
    parts = [{"type": "text", "text": text} for text in ("one", "two", "Q?")]
    found = read({"role": "user", "content": parts})

    assert (found.question, found.answer, found.sources) == ("Q?", None, 2)
    assert [(d.title, d.text) for d in found.documents] == [
        ("Text 1 of the last message", "one"),
        ("Text 2 of the last message", "two"),
    ]


def test_each_role_before_the_question_is_a_text_of_one_document() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    found = read(
        {"role": "developer", "content": "Be brief."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "nothing", "tool_call_id": "c1"},
        {"role": "user", "name": "Ada", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "Q?"},
    )

    (before,) = found.documents
    assert before.title == "Messages before the question"
    assert before.text.split("\n\n") == [
        *("Message 1, of the role developer", "Be brief."),
        "Message 2, of the role assistant",
        'Tool call: {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}',
        *("Message 3, of the role tool", "nothing", "Answer to the tool call c1"),
        *("Message 4, of the role user, named Ada", "a", "b"),
        *("Message 5, of the role assistant", "I cannot."),
    ]
    assert found.sources == 0, "earlier messages are no source"


def test_a_file_of_an_earlier_message_is_a_document_that_the_messages_name() -> None:
    found = read(file(filename="a.txt", file_data=coded(b"A")), {"role": "user", "content": "And now?"})

    assert [(d.title, d.text) for d in found.documents] == [
        ("Messages before the question", "Message 1, of the role user\n\nQ?\n\nFile: a.txt"),
        ("a.txt", "A"),
    ]
    assert found.sources == 1


def test_the_assistants_last_message_is_under_review_only_where_that_is_said() -> None:
    said = ({"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Q?"})

    assert read(*said).answer is None
    assert read(*said, review_last_answer=True) == Asked("Q?", (), "Yes.", 0)
    with pytest.raises(UnsupportedParameter, match="no earlier message of the role assistant"):
        read(said[1], review_last_answer=True)


@pytest.mark.parametrize(
    "content",
    [
        {"filename": "a.txt", "file_data": coded("Grüße".encode())},
        {"filename": "a.MD", "file_data": coded("Grüße".encode())},
        {"file_data": f"data:text/plain;base64,{coded('Grüße'.encode())}"},
        {"file_data": f"data:text/csv;charset=UTF-8;base64,{coded('Grüße'.encode())}"},
        {"filename": "a.json", "file_data": f"data:application/octet-stream;base64,{coded('Grüße'.encode())}"},
        {"filename": "a.csv", "file_data": coded("\ufeffGrüße".encode())},
    ],
)
def test_a_text_file_is_a_document(content: dict[str, str]) -> None:
    (document,) = read(file(**content)).documents

    assert (document.text, document.title) == ("Grüße", content.get("filename"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"file_id": "file-1"}, "no file is kept here; send file_data"),
        ({"filename": "a.txt"}, "a file without file_data"),
        ({"filename": "a.pdf", "file_data": coded(b"%PDF-1.7")}, "extract the text"),
        ({"filename": "a.txt", "file_data": f"data:application/pdf;base64,{coded(b'A')}"}, "application/pdf"),
        ({"file_data": coded(b"A")}, "a file of no known kind"),
        ({"filename": "a.txt", "file_data": coded(b"\xff\xfe")}, "no UTF-8 at byte 0"),
        ({"filename": "a.txt", "file_data": f"data:text/plain;charset=latin1;base64,{coded(b'A')}"}, "charset latin1"),
        ({"filename": "a.txt", "file_data": "data:text/plain,A"}, "without base64"),
        ({"filename": "a.txt", "file_data": "QQ=\n="}, "no base64"),
        ({"filename": "a.txt", "file_data": "QQ==QQ=="}, "no base64"),
        ({"filename": "a.txt", "file_data": "Grüße"}, "no base64"),
    ],
)
def test_what_is_no_text_in_utf_8_is_refused_with_what_to_do(content: dict[str, str], words: str) -> None:
    with pytest.raises(UnsupportedParameter) as refused:
        read(file(**content))

    assert words in refused.value.detail
    assert refused.value.pointers[0].startswith("/messages/0/content/0")


@pytest.mark.parametrize("messages", [(), ({"role": "system", "content": "S"},), ({"role": "user"},)])
def test_a_request_without_a_last_question_is_refused(messages: tuple[Any, ...]) -> None:
    with pytest.raises(UnsupportedParameter):
        read(*messages)
