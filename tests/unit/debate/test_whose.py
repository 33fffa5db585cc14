"""Results of functions over texts of cases are kept for the tenant that asked for them, and for no other."""

import importlib
import pkgutil
from collections.abc import Callable, Hashable
from contextvars import copy_context
from inspect import signature
from typing import Any

import pytest

from service import checks, debate, evaluation, reviews
from service.checks import kept
from service.checks.consensus.matter import matter_of, named
from service.checks.consensus.readings import reading
from service.checks.judgement.wording import grounds
from service.checks.judgement.wording.softening import softenings
from service.debate import self_naming
from service.debate.whose import WHOSE, by_tenant

TEXT = "I grant that the Supplier shall not exceed the cap of EUR 5 million, as the proposer rightly says."
SHARED = {
    "service.checks.citations.text.fold._fold_short": "a few signs that fold together",
    "service.checks.citations.text.tokens._entity": "an entity",
    "service.checks.citations.text.tokens._is_passed": "a sign",
    "service.checks.consensus.measures.kind_of": "the noun of a measure",
    "service.checks.injection.posing._possible": "the signs of a text",
    "service.checks.injection.screening._fold_character": "a character",
    "service.checks.judgement.wording.relation._everyday": "limits",
    "service.checks.texts.clauses._mentions": "the number of a clause",
    "service.debate.alike._alike": "the models of seats",
    "service.debate.alike._parts": "the name of a model",
    "service.debate.model_names._known": "the names of models",
    "service.debate.model_names._of": "the names of models",
    "service.debate.neutral.kind_of": "a character",
    "service.debate.options._seats": "names of seats",
    "service.debate.replies.pruning._form_of": "the type of a reply",
    "service.debate.replies.pruning._type_of": "the type of a reply",
    "service.debate.replies.texts._members": "the type of a reply",
    "service.debate.script._drawn": "names under the seed of one debate",
    "service.debate.self_naming._pieces": "a character",
    "service.debate.turns.once_more": "the id of a turn",
    "service.debate.turns.place": "the id of a turn",
    "service.debate.turns.turn_id": "the id of a turn",
    "service.evaluation.plan.power._least": "a number of items",
    "service.evaluation.scoring.release.fewest_hits": "a number of items and a limit",
    "service.evaluation.scoring.release.most_alarms": "a number of items and a limit",
    "service.evaluation.sets.shape._described": "the type of a line",
    "service.evaluation.statistics.distributions.rate_at_least": "counts",
    "service.evaluation.statistics.power._preferring": "counts",
    "service.evaluation.statistics.power._seen": "a number of items and shares",
    "service.evaluation.statistics.registry.parameters": "the name of a statistic",
    "service.reviews.evidence.bundle_files.schemas": "a version of the format",
}
"""What is kept for all tenants, with what it is kept of."""
WALKED = (checks, debate, evaluation, reviews)


def of(tenant: str, function: Callable[..., Any], *given: Hashable) -> Any:
    def call() -> Any:
        WHOSE.set(tenant)
        return function(*given)

    return copy_context().run(call)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (grounds.words_of, (TEXT,)),
        (grounds._stems, (TEXT,)),
        (grounds._pairs, (TEXT,)),
        (softenings, (TEXT,)),
        (reading, (TEXT,)),
        (matter_of, (reading(TEXT),)),
        (named, (reading(TEXT),)),
        (self_naming._found, ("As Claude, I object.", frozenset(("claude",)))),
    ],
)
def test_what_is_found_in_a_text_is_kept_for_its_tenant_until_a_sweep(
    function: Callable[..., Any], given: tuple[Hashable, ...]
) -> None:
    kept.drop()

    first, other, again = (of(tenant, function, *given) for tenant in ("one", "other", "one"))
    kept.sweep()

    assert again is first
    assert other is not first
    assert of("one", function, *given) is not first


def test_so_many_results_are_kept_for_all_and_names_of_arguments_count() -> None:
    asked = list[tuple[str, bool]]()

    @by_tenant(most=2)
    def noted(text: str, *, twice: bool = False) -> str:
        asked.append((text, twice))
        return text * (1 + twice)

    assert [of("one", noted, "a"), of("one", noted, "a"), noted("a", twice=True)] == ["a", "a", "aa"]
    assert asked == [("a", False), ("a", True)]
    assert [of("other", noted, "b"), of("one", noted, "a")] == ["b", "a"]
    assert asked[2:] == [("b", False), ("a", False)]


def test_nothing_else_is_kept_for_all_tenants_but_signs_and_numbers() -> None:
    names = [one.name for of_ in WALKED for one in pkgutil.walk_packages(of_.__path__, f"{of_.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    functions = [
        (f"{module.__name__}.{name}", each)
        for module in modules
        for name, each in vars(module).items()
        if hasattr(each, "cache_info") and each.__module__ == module.__name__
    ]

    assert {name for name, each in functions if signature(each).parameters} == SHARED.keys()
