"""The tenant for which work is done, so that none is answered from what was kept for another one."""

from __future__ import annotations

from contextvars import ContextVar

WHOSE: ContextVar[str] = ContextVar("whose", default="")
"""The tenant. A debate, a request, the opening of a case and a call of the process for checks set it."""
