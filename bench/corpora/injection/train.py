"""Trains the model over words that finds orders to a model: `python -m bench.corpora.injection.train` writes
`service/checks/injection/weights.txt` anew from the open texts, the same bytes each time, in some minutes.

The model is a linear support vector machine with squared hinge loss, trained by dual coordinate descent (Hsieh and
others, ICML 2008). Texts of one author (the part of a file's name behind the hyphen) are one group: the least scores
are chosen by what models say of texts whose authors they have not seen, in five folds over the authors, and so are the
figures that are printed. Nothing that is held out is read.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from bench.corpora import injection
from service.checks.injection import scoring
from service.checks.injection.features import DISTANCES, Unit, concepts_of, grams, parts_of, units
from service.checks.injection.fields import COUNTED
from service.checks.injection.posing import posed
from service.checks.injection.reading import Reader
from service.checks.injection.scoring import SCALE, bar_of
from service.checks.injection.views import View, read_plainly
from service.debate.suspicions import FAMILIES, CaseField

PATH = Path(scoring.__file__).with_name("weights.txt")
FOLDS = 5
EPOCHS = 12
COST = 3.0
"""How much an example counts that is on the wrong side."""
OF_SENTENCE = 0.3
"""How much a sentence out of an honest text counts beside the whole text."""
CLASSICS, OF_CLASSICS = ("k1", "k2", "k3"), 5.0
"""The authors of the blunt orders that are tried first, and how much each of these counts."""
OF_CONCEPTS, OF_POSES = 0.3, 0.5
"""How much concepts and poses count beside words."""
LEAST = 4
"""The fewest texts that a feature stands in."""
OFTEN = 5
"""The fewest attacks that a feature stands in by which families are known."""
ALARMS = 0.025
"""The share of honest texts that may be over the least score of a unit."""
ALARMS_OF_SENTENCES = 0.006
"""The share of honest sentences, within texts, that may be over that of a sentence."""
ALARMS_OF_HIDDEN = 0.10
"""The share of honest texts that may be over that of what is hidden: hardly an honest text is."""

Features = Mapping[str, float]


class Example(NamedTuple):
    """A text to learn from: what stands in it, whether it is an attack, whose it is, and how much it counts."""

    features: Features
    is_attack: bool
    author: str
    counts: float
    what: str
    """`attack`, `honest`, `sentence` or `ordinary`."""
    field: CaseField = "document"
    family: str = ""


def features_of(plain: str, said: Sequence[int], poses: Sequence[int]) -> Features:
    """What stands in a text, as `scoring` adds it up: kinds of features each divided by the root of their number."""
    parts = parts_of(plain)
    tokens = parts.tokens
    words = Counter(f"word\t{token}" for token in tokens)
    words.update(f"gram\t{part}" for token in tokens for part in grams(token))
    for far in DISTANCES:
        words.update(f"pair{far}\t{' '.join(pair)}" for pair in parts.pairs(far))
    concepts = Counter(f"concept\t{one}" for bits in said for one in concepts_of(bits))
    posing = Counter(f"pose\t{pose}" for pose in poses)
    features = dict[str, float]()
    for counted, weight in ((words, 1.0), (concepts, OF_CONCEPTS), (posing, OF_POSES)):
        root = sqrt(counted.total())
        features.update({key: weight * count / root for key, count in counted.items()})
    return features


def examples() -> Iterator[Example]:
    """The open texts, the sentences of the honest ones, and the units of ordinary documents."""
    reader = Reader()
    for author, attack in injection.by_author("attacks", injection.Attack):
        yield from _example(reader, attack.text, author, "attack", family=attack.family)
    for author, honest in injection.by_author("honest", injection.Honest):
        yield from _example(reader, honest.text, author, "honest", honest.case_field)
    for author, ordinary in injection.by_author("ordinary", injection.Honest):
        plain = read_plainly(View(ordinary.text)).text
        sentences = list(reader.sentences(plain))
        for unit in units(plain, sentences):
            yield from _example(reader, plain[unit.start : unit.end], author, "ordinary")


def _example(
    reader: Reader, text: str, author: str, what: str, field: CaseField = "document", family: str = ""
) -> Iterator[Example]:
    plain, is_attack = read_plainly(View(text)).text, what == "attack"
    unit = Unit(0, len(plain), list(reader.sentences(plain)))
    found = list(posed(plain))
    poses = [one.pose for one in found]
    counts = OF_CLASSICS if is_attack and author in CLASSICS else 1.0
    yield Example(features_of(plain, unit.said, poses), is_attack, author, counts, what, field, family)
    if what == "honest" and len(unit.sentences) > 1:
        for one in unit.alone:
            within = [each.pose for each in found if each.start < one.end and one.start < each.end]
            features = features_of(plain[one.start : one.end], one.said, within)
            yield Example(features, False, author, OF_SENTENCE, "sentence", field)


class Model:
    """Weights by feature, and a bias."""

    def __init__(self, weights: Mapping[str, float], bias: float) -> None:
        self.weights = weights
        self.bias = bias

    def score(self, features: Features) -> float:
        """How far a text is on the side of attacks."""
        known = self.weights
        return self.bias + sum(known[key] * value for key, value in features.items() if key in known)


def trained(texts: Sequence[Features], attacks: Sequence[bool], counts: Sequence[float], least: int = LEAST) -> Model:
    """A model of these texts; both classes weigh the same as a whole."""
    seen = Counter(key for features in texts for key in features)
    number = {key: n for n, key in enumerate(sorted(key for key, many in seen.items() if many >= least))}
    rows = [sorted((number[key], value) for key, value in features.items() if key in number) for features in texts]
    heavy = sum(count for count, is_attack in zip(counts, attacks, strict=True) if is_attack)
    light = sum(counts) - heavy
    share = {True: sum(counts) / (2 * heavy), False: sum(counts) / (2 * light)}
    weights, bias = [0.0] * len(number), 0.0
    alphas = [0.0] * len(rows)
    norms = [1.0 + sum(value * value for _, value in row) for row in rows]
    slacks = [0.5 / (COST * counts[n] * share[attacks[n]]) for n in range(len(rows))]
    order, draw = list(range(len(rows))), random.Random(1)
    for _ in range(EPOCHS):
        draw.shuffle(order)
        for n in order:
            row, sign = rows[n], 1.0 if attacks[n] else -1.0
            margin = sign * (bias + sum([weights[at] * value for at, value in row]))
            gradient = margin - 1.0 + slacks[n] * alphas[n]
            alpha = max(alphas[n] - gradient / (norms[n] + slacks[n]), 0.0)
            if step := (alpha - alphas[n]) * sign:
                alphas[n] = alpha
                bias += step
                for at, value in row:
                    weights[at] += step * value
    return Model({key: weights[at] for key, at in number.items()}, bias)


def fold_of(authors: Iterable[str]) -> Mapping[str, int]:
    """The fold of each author: by turns, so that languages and kinds are spread."""
    return {author: n % FOLDS for n, author in enumerate(sorted(set(authors)))}


def unseen_scores(texts: Sequence[Example]) -> Sequence[float]:
    """The score of each text by a model that has seen no text of its author."""
    folds = fold_of(text.author for text in texts)
    scores = [0.0] * len(texts)
    for fold in range(FOLDS):
        learnt = [text for text in texts if folds[text.author] != fold]
        model = trained([t.features for t in learnt], [t.is_attack for t in learnt], [t.counts for t in learnt])
        for n, text in enumerate(texts):
            if folds[text.author] == fold:
                scores[n] = model.score(text.features)
        print(f"fold {fold + 1} of {FOLDS}", file=sys.stderr, flush=True)
    return scores


def least_score(scores: Iterable[float], share: float) -> float:
    """The score that at most this share of these is over."""
    ranked = sorted(scores, reverse=True)
    return ranked[int(share * len(ranked))] if ranked else 0.0


def counts_in(bar: str, family: str) -> bool:
    """Whether an attack of a family is one in the fields of a bar."""
    counted = COUNTED.get("persona") if bar == "own" else None
    return counted is None or family in counted


def bars(texts: Sequence[Example], scores: Sequence[float], told: list[str]) -> Iterator[tuple[str, Sequence[float]]]:
    """The least scores of each kind of field; ``told`` gets figures of how well they separate the texts of others."""
    sentences = [s for t, s in zip(texts, scores, strict=True) if t.what == "sentence"]
    of_sentence = least_score(sentences, ALARMS_OF_SENTENCES)
    for bar in ("document", "short", "own"):
        honest = [
            score
            for text, score in zip(texts, scores, strict=True)
            if text.what == "honest" and bar_of(text.field) == bar
        ]
        unit = least_score(honest, ALARMS)
        hidden = least_score(honest, ALARMS_OF_HIDDEN)
        attacks = [(t, s) for t, s in zip(texts, scores, strict=True) if t.is_attack and counts_in(bar, t.family)]
        found = sum(score > unit for _, score in attacks) / len(attacks)
        ordinary = [s for t, s in zip(texts, scores, strict=True) if t.what == "ordinary"]
        over = sum(score > unit for score in ordinary) / len(ordinary)
        told.append(
            f"{bar}: {found:.1%} of {len(attacks)} attacks, {ALARMS:.1%} of {len(honest)} honest texts,"
            f" {over:.2%} of {len(ordinary)} units of ordinary documents"
        )
        if bar == "document":
            by = defaultdict[str, list[bool]](list)
            for text, score in attacks:
                by[f"family {text.family}"].append(score > unit)
                by[f"author {text.author or 'first'}"].append(score > unit)
            told += [f"{name}: {sum(seen) / len(seen):.0%} of {len(seen)}" for name, seen in sorted(by.items())]
        yield bar, (unit, max(of_sentence, unit), min(hidden, unit))


def families(texts: Sequence[Example]) -> Iterator[tuple[str, Sequence[float]]]:
    """Weights of words and concepts for each family, beside all other attacks."""
    attacks = [text for text in texts if text.is_attack]
    kept = [
        {key: value for key, value in text.features.items() if key.startswith(("word\t", "concept\t"))}
        for text in attacks
    ]
    models = [
        trained(kept, [text.family == family for text in attacks], [1.0] * len(attacks), OFTEN) for family in FAMILIES
    ]
    for key in models[0].weights:
        yield key, [model.weights[key] for model in models]


def main() -> None:
    """Train, choose the least scores, and write the file."""
    texts = list(examples())
    told = [f"trained from {injection.digest()}", "of texts by authors whom a model has not seen:"]
    chosen = dict(bars(texts, unseen_scores(texts), told))
    model = trained([t.features for t in texts], [t.is_attack for t in texts], [t.counts for t in texts])
    sections = defaultdict[str, list[str]](list)
    sections["bias"].append(str(round(model.bias * SCALE)))
    sections["bar"] += [" ".join([name, *(str(round(n * SCALE)) for n in least)]) for name, least in chosen.items()]
    for key, weight in model.weights.items():
        kind, _, name = key.partition("\t")
        if not name.isprintable():
            continue  # a control character out of an escape: no reader of the file would see it
        if scaled := round(weight * SCALE * {"concept": OF_CONCEPTS, "pose": OF_POSES}.get(kind, 1.0)):
            sections[kind].append(f"{name} {scaled}")
    for key, columns in families(texts):
        if not key.partition("\t")[2].isprintable():
            continue
        numbers = " ".join(str(round(n * SCALE)) for n in columns)
        sections["family"].append(f"{key.replace(chr(9), ':')} {numbers}")
    lines = [f"# {line}" for line in told]
    for kind in sorted(sections):
        lines += [f"[{kind}]", *sections[kind]]
    PATH.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(told))


if __name__ == "__main__":
    main()
