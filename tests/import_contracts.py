"""The import contract that import-linter does not have: modules of the design that are still to come."""

from collections.abc import Iterable
from typing import Any

from grimp import ImportGraph
from importlinter import ContractCheck
from importlinter.contracts.forbidden import ForbiddenContract


class DecisionsContract(ForbiddenContract):
    """As `forbidden`, but a module of ours that does not exist yet is passed over instead of stopping the check.

    So the list can name every pure module of the design at once, and a new one is held to it from its first line.
    What this cannot see, a name that is misspelt or missing in the list, `tests/unit/test_shape.py` does.
    """

    type_name = "decisions"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        fields = vars(self)
        fields["source_modules"] = _existing(fields["source_modules"], graph)
        fields["forbidden_modules"] = _existing(fields["forbidden_modules"], graph)
        return super().check(graph, verbose)


def _existing(expressions: Iterable[Any], graph: ImportGraph) -> set[Any]:
    return {
        expression
        for expression in expressions
        if not expression.expression.startswith("service.") or expression.expression in graph.modules
    }
