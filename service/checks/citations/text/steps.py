"""A count of the work for one citation, so that every verdict ends and can be recomputed.

A step took about a tenth of a microsecond when it was measured. Searches are charged by the characters that they pass,
alignments by the cells that they fill. Seconds would make a verdict depend on the machine; steps do not.
"""

from __future__ import annotations

from service.errors import GainsayError

MAX_STEPS = 20_000_000


class OutOfSteps(GainsayError):
    """The work allowed for one citation is used up. It never leaves this folder: it becomes a refusal there."""

    code = "out_of_steps"
    status = 422
    title = "The quotation takes too much work to check"


class Steps:
    """The remaining work for one citation."""

    __slots__ = ("left",)

    def __init__(self, allowed: int) -> None:
        self.left = allowed

    def take(self, n: int) -> None:
        """Pay for ``n`` steps before doing them, or raise `OutOfSteps`."""
        self.left -= n
        if self.left < 0:
            raise OutOfSteps(
                f"expected the check to end within its steps, but {-self.left} more were needed; "
                "quote a shorter passage or name its source"
            )
