"""Keeps the memory of a process, in which its secrets are, out of core files and from other processes of its user.

No core file (RLIMIT_CORE, hard and soft) for this process and for all that it starts, the embedded PostgreSQL too. On
Linux the process is also not dumpable: the kernel hands a core file to no collector either, which the limit alone does
not prevent (core(5)), no other process of the same user may attach to it, and /proc/PID/environ and mem are closed.
"""

from __future__ import annotations

import sys

_PR_SET_DUMPABLE = 4


def keep_no_core() -> None:
    """Let this process, and each that it starts, leave no core file. Windows, where an examiner verifies, has none."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def close_memory() -> None:
    """Close this process's memory to the others of its user, where the system can; a program it starts is open again.

    That it cannot is logged: the secrets are then as safe as the user's other processes.
    """
    if sys.platform != "linux":
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        from service import log_lines

        log_lines.MEMORY_OPEN(errno=ctypes.get_errno())
