r"""The verdict of a guard model that writes no JSON, by the word with which its reply begins.

    unsafe, yes, injection, jailbreak, malicious, true     the case is suspicious
    safe, no, benign, false                                it is not

    the word is the whole first line                 read, in any case, within quotes, emphasis, brackets or a tag:
    (``unsafe\nS14``, ``<score> yes </score>``)      Llama Guard, Granite Guardian, ShieldGemma, Prompt Guard
    lines after it                                   categories and reasons: not read
    another line that is a verdict of the other kind no verdict: the text has two readings
    an object anywhere in the text                   no verdict: the object is the reply
    a first line with any other word                 no verdict: "No injection was found" and "No! It is unsafe" begin
                                                     alike

A leading block of reasoning is passed over. What is no verdict is read as JSON, or refused, as any seat's reply.
"""

from __future__ import annotations

import re

SUSPICIOUS = frozenset(("unsafe", "yes", "injection", "jailbreak", "malicious", "true"))
HARMLESS = frozenset(("safe", "no", "benign", "false"))
CHARACTERS_MAX = 20_000
"""A longer text is no guard's verdict."""
_REASONING = re.compile(r"[\s\ufeff]*<(think|thinking|reasoning)>(?:.*?</\1\s*>)?", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-z_]{1,20}>", re.IGNORECASE)
_AROUND = " \t\ufeff*_`'\"“”‘’()[].,:;!"


def guard_verdict(text: str) -> bool | None:
    """Whether a guard's reply holds the case for suspicious; ``None`` if it is no verdict in a word."""
    if len(text) > CHARACTERS_MAX:
        return None
    if block := _REASONING.match(text):
        if "</" not in block[0]:
            return None  # without its end the beginning of the reply is unknown
        text = text[block.end() :]
    lines = [word for line in text.splitlines() if (word := _word(line))]
    if "{" in text or not lines or lines[0] not in SUSPICIOUS | HARMLESS:
        return None
    other = HARMLESS if lines[0] in SUSPICIOUS else SUSPICIOUS
    return None if other.intersection(lines) else lines[0] in SUSPICIOUS


def _word(line: str) -> str:
    """A line without tags and marks around it, in small letters."""
    return _TAG.sub("", line).strip(_AROUND).casefold()
