"""The check for passages that speak to a model over the corpus beside the bench: floors below what was measured."""

from bench.corpora import injection
from bench.corpora.injection import measure
from bench.corpora.injection.measure import interval, share
from service.checks.injection.scoring import stored


def test_the_corpus_has_every_family_and_at_least_seven_languages() -> None:
    texts = injection.attacks("open")

    assert len({text.family for text in texts}) == 11
    assert len({text.language for text in texts}) >= 7
    assert len({text.id for text in texts}) == len(texts)
    assert len(injection.honest("open")) >= 250


def test_what_was_learnt_is_found() -> None:
    """Not how well it is found elsewhere: these texts are those that the model was trained from."""
    of = measure.outcomes("open")

    assert share(of.documents).percent >= 92
    assert share(of.elsewhere).percent >= 95
    assert share(of.honest).percent <= 1
    for family, figure in measure.by("family", of.documents).items():
        assert figure.percent >= 85, family


def test_the_weights_are_those_of_the_open_texts() -> None:
    """A changed text needs new weights: `python -m bench.corpora.injection.train`."""
    assert stored().splitlines()[0] == f"# trained from {injection.digest()}"


def test_honest_texts_that_are_held_back_raise_few_alarms() -> None:
    """The bound of what was measured, and no figure: each look at one is counted in docs/injection.md."""
    assert share(measure.alarmed("held")).percent <= 9


def test_intervals_are_exact() -> None:
    """Against published values of Clopper and Pearson: 0 of 10, 5 of 10, 10 of 10."""
    assert [tuple(round(bound, 2) for bound in interval(n, 10)) for n in (0, 5, 10)] == [
        (0.0, 30.85),
        (18.71, 81.29),
        (69.15, 100.0),
    ]
