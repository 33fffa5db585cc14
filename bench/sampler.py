"""Runs the service as its command does, and samples its stacks by the CPU that they use.

    python bench/sampler.py FOLDED work --port 0

Each millisecond of CPU, SIGPROF takes the stack of the Python code that runs. When the process is asked to by SIGUSR2,
it writes what was sampled since the last time to the file FOLDED, one stack a line, its frames from the outermost on,
joined by semicolons, and how often it was seen: the form that makers of flame graphs read. Time in C is in the frame
that called it.
"""

from __future__ import annotations

import runpy
import signal
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

EVERY_S = 0.001
_SEEN: Counter[tuple[CodeType, ...]] = Counter()


def _sampled(_number: int, frame: FrameType | None) -> None:
    stack = list[CodeType]()
    while frame:
        stack.append(frame.f_code)
        frame = frame.f_back
    _SEEN[tuple(stack)] += 1


def folded(seen: Counter[tuple[CodeType, ...]]) -> str:
    """The stacks, innermost frame first, as lines of the folded form."""
    lines = Counter[str]()
    for stack, count in seen.items():
        lines[";".join(_name(code) for code in reversed(stack))] += count
    return "".join(f"{line} {count}\n" for line, count in sorted(lines.items()))


def _name(code: CodeType) -> str:
    """Module and function of a frame, without what would end its field."""
    path = Path(code.co_filename)
    parts = path.with_suffix("").parts
    for root in ("site-packages", "python3.11", "service"):
        if root in parts:
            at = len(parts) - 1 - parts[::-1].index(root)
            parts = parts[at + (root != "service") :]
            break
    else:
        parts = parts[-1:]
    return f"{'.'.join(parts)}:{code.co_qualname}".replace(";", ",").replace(" ", "_")


def main() -> None:
    path, *words = sys.argv[1:]

    def write(_number: int, _frame: FrameType | None) -> None:
        seen = Counter(_SEEN.copy())  # copied in one step: sampling goes on
        _SEEN.clear()
        written = Path(f"{path}.part")
        written.write_text(folded(seen), "utf-8")
        written.replace(path)

    signal.signal(signal.SIGUSR2, write)
    signal.signal(signal.SIGPROF, _sampled)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    sys.argv[:] = ["gainsay", *words]
    runpy.run_module("service", run_name="__main__", alter_sys=False)


if __name__ == "__main__":
    main()
