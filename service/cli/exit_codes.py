"""How a command ends: its exit code, and one line for each error.

0   done
1   a negative answer: declined, not verified
2   usage: the command, the case or the settings ask for something impossible
3   failed: the database, the log, a prompt, a debate that failed or was aborted
5   inconclusive: an evaluation that shows nothing either way
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Sequence

import click

from service.cli.access.problems import ServiceProblem
from service.cli.terminal_text import clean, say, unbroken
from service.errors import GainsayError, SettingsError

DONE, NEGATIVE, USAGE, FAILED, INCONCLUSIVE = 0, 1, 2, 3, 5
_FULL = (errno.ENOSPC, errno.EDQUOT)
_LATER = (408, 409, 425, 429)
"""Answers to a request that is right, and may succeed later."""

_OPTIONS = {
    "/question": "--question",
    "/taskType": "--task-type",
    "/estimatedDownside": "--downside",
    "/confidenceScore": "--confidence",
    "/documents": "FILE",
    "/options/format": "--format",
    "/costCeilingUSD": "--ceiling",
    "/singleAgentAnswer": "--answer",
    "/metadata": "--metadata",
    "/force": "--force",
    "/options": "--options",
    "/options/maxRounds": "--rounds",
    "/options/personas": "--persona",
    "/options/positions": "--position",
    "/options/models": "--model",
    "/options/debaters": "--debater, --debaters",
    "/options/votes": "--vote",
    "/options/consensusThreshold": "--threshold",
    "/options/outputSchema": "--output-schema",
    "/options/synthesizer": "--no-synthesizer",
    "/options/questionType": "--question-type",
    "/options/adjudicator": "--adjudicator",
    "/options/convergenceSimilarity": "--similarity",
    "/options/judge": "--no-judge",
}


class HelpRequested:
    """What a command knows of its case when it fails.

    ``debaters`` is the option for the debaters of its format, or an empty text. ``in_json`` says that the case is JSON:
    its errors name places in it, not options.
    """

    debaters: str = ""
    in_json: bool = False


def run(command: click.Command, arguments: Sequence[str] | None) -> int:
    """Run a command; any error becomes an exit code and a line on standard error."""
    asked, output = HelpRequested(), sys.stdout
    try:
        code = command.main(args=list(arguments) if arguments is not None else None, standalone_mode=False, obj=asked)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _usage(error)
    except GainsayError as error:
        for part in error.parts:
            print_error(part.code, part.detail, part.pointers, asked.debaters, in_json=asked.in_json)
        if isinstance(error, ServiceProblem) and error.request:
            say(f"Request: {unbroken(error.request)}, for the service's log", err=True)
        return code_of(error)
    except (KeyboardInterrupt, click.Abort):
        print_error("interrupted", "stopped by the keyboard; recorded entries stay")
        return FAILED
    except BrokenPipeError:
        return _unheard()
    except SystemExit:
        if sys.stdout is not output:  # click replaces it where no reader is left, and ends with 1
            return _unheard()
        raise  # as click ends what a shell asks it for
    except OSError as fault:
        return _full(fault) if fault.errno in _FULL else _fault(fault)
    except Exception as fault:  # noqa: BLE001 -- the outermost edge: a stack trace is no message to a user
        return _fault(fault)


def _unheard() -> int:
    """The end of a command after the reader of its output left (`| head`), so there is no place for a message."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED


def _full(fault: OSError) -> int:
    where = f" for {fault.filename}" if fault.filename else ""
    why = f"found: {fault.strerror}; the output is not whole: make room and repeat the command"
    print_error("cannot_write", f"expected room on the disk{where}, {why}")
    return FAILED


def code_of(error: GainsayError) -> int:
    """Errors in the request are usage; all others are failures."""
    asked_wrongly = 400 <= error.status < 500 and error.status not in _LATER
    return USAGE if asked_wrongly or isinstance(error, SettingsError) else FAILED


def print_error(
    code: str, detail: str, pointers: Sequence[str] = (), debaters: str = "", *, in_json: bool = False
) -> None:
    """One line on standard error: ``gainsay: <code>: <detail>``, with the option or the pointer that it is about."""
    if _logs_json():
        from service import log_lines

        log_lines.ENDED(code=code, detail=detail, pointers=list(pointers))
        return
    named = pointers if in_json else [option for pointer in pointers if (option := _option(pointer, debaters))]
    options = dict.fromkeys(map(unbroken, named))
    about = f" [{', '.join(options)}]" if options else ""
    # A further line of the detail stands behind blanks: none of it looks like a line of ours.
    words = re.sub(r"\n(?! )", "\n  ", clean(detail))
    say(f"gainsay: {unbroken(code)}: {words}{about}", err=True)


def _logs_json() -> bool:
    """Whether the log is set up, and as JSON: then standard error has lines of it and no others."""
    logs = sys.modules.get("service.cli.logs")  # most commands that are asked wrongly never import it
    return logs is not None and bool(logs.is_json())


def _option(pointer: str, debaters: str) -> str | None:
    """The option of a JSON Pointer, or of the nearest pointer above it."""
    while pointer:
        if pointer == "/options/debaters" and debaters:
            return debaters
        if pointer in _OPTIONS:
            return _OPTIONS[pointer]
        pointer = pointer.rpartition("/")[0]
    return None


def _usage(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        say(error.format_message(), err=True)
        return USAGE
    print_error("usage", error.format_message())
    if isinstance(error, click.UsageError) and error.ctx and not _logs_json():
        say(f"Try: {error.ctx.command_path} --help", err=True)
    return USAGE


def _fault(fault: Exception) -> int:
    if os.environ.get("GAINSAY_LOG_LEVEL", "").upper() == "DEBUG":
        say(clean("".join(traceback.format_exception(fault))), err=True)
    words = clean(str(fault)).splitlines()
    print_error(
        "internal", f"{type(fault).__name__}{f': {words[0]}' if words else ''}; GAINSAY_LOG_LEVEL=DEBUG shows where"
    )
    return FAILED
