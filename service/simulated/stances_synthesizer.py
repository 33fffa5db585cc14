"""The stances' synthesizer: the debate in the caller's own shape, filled in like a form.

    a field is read by its name and description    then it holds
    decision, verdict, answer, summary             the verdict
    reason, rationale, because                     the judge's reasoning, or what carried the verdict
    uncertainty, risk, condition, open question    the uncertainties
    argument, point, claim                         the arguments for the leading stance
    stance, winner, option                         the leading stance
    quote, evidence; source, clause                the passage that carries it, and its place
    confidence, score, probability                 by the judge's level, within the bounds
    an enum, a truth value                         the value nearest to the leading stance
    any other field                                null or empty if that is allowed, else a sentence that the debate
                                                   does not cover it; a number is the most neutral within its bounds

The result is validated against the schema. A schema that cannot be filled in this way (for example, conditions on
conditions) is refused in plain words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, NamedTuple

import msgspec

from service.checks.output_schema import misfit
from service.debate.replies import Projection
from service.running.provider_port import CallFailed
from service.simulated.fields import BY_KEYWORD, Schema, bounds, cut, level, merged, role_of, spaced
from service.simulated.framing import SIMULATED
from service.simulated.passage_choice import Desk
from service.simulated.phrases import does, upper
from service.simulated.stances_judge import Case, stance_of, weigh, winner
from service.simulated.standpoints import option_letter, polarity
from service.simulated.transcript import voices
from service.simulated.uncertainties import uncertainties
from service.simulated.words import terms

DEPTH = 12
DEPTH_OF_OBJECTS = 3
"""Below this level a list of objects is left empty where it may be: a form that holds itself would never end."""
BRANCHES = 4
FIELDS_MAX = 2_000
LEVELS_MAX = 48
LENGTH_MAX = 10_000
_encoder = msgspec.json.Encoder()
_LEVELS = {"HIGH": 0.85, "MODERATE": 0.65, "LOW": 0.4}


class DebateView(NamedTuple):
    """The material for a form: the leading stance and all of them, and the judge's words."""

    leader: Case | None
    cases: tuple[Case, ...]
    question: str
    verdict: str
    reasoning: str
    level: str
    uncertain: tuple[str, ...]
    argued: Mapping[str, tuple[str, ...]]
    place: float
    rounds: int


def projection(desk: Desk, limit: int) -> Projection:
    """JSON text that fits the form; raises `CallFailed` if the form cannot be filled."""
    schema = desk.reading.schema if isinstance(desk.reading.schema, dict) else {}
    debate = _debate(desk, limit)
    why = None
    for branch in range(BRANCHES):
        form = _Form(schema, debate, limit, branch)
        try:
            built = form.fill(schema, "", "", 0)
        except _TooLarge:
            why = f"it asks for more than {FIELDS_MAX} fields, {LEVELS_MAX} levels or {LENGTH_MAX} characters in one"
            break
        form.label(built)
        text = _encoder.encode(built).decode()
        why = misfit(schema, text)
        if why is None:
            return Projection(text)
    raise CallFailed(
        "modelRefused",
        f"the simulated models fill in plain forms (objects, lists, enums, bounds), and not this schema: {why}; "
        "simplify it, or switch the synthesizer off",
        retry=False,
        billable=False,
    )


def _debate(desk: Desk, limit: int) -> DebateView:
    cases = weigh(desk)
    said = desk.reading.judgements[-1] if desk.reading.judgements else {}
    named = said.get("winner") if said else None
    leader = next((c for c in cases if named and stance_of(str(named)) == c.stance), None)
    if not said and cases:
        leader = winner(desk, cases)
    cited = [e for c in ([leader] if leader else cases) for e in c.evidence]
    judged = [str(u) for u in said.get("explicitUncertainties", ())] if said else []
    found = judged or list(uncertainties(desk, cited, [], 0, limit))
    argued = {
        c.stance: tuple(w.said.text for v in voices(desk) if stance_of(v.label) == c.stance for w in v.arguments)
        for c in cases
    }
    place = polarity(leader.stance, desk.reading.question, desk.wanted.proposition) if leader else 0.0
    return DebateView(
        leader=leader,
        cases=tuple(cases),
        question=desk.reading.question,
        verdict=str(said.get("verdict") or "No verdict was given, so nothing was decided."),
        reasoning=str(said.get("reasoning") or "No judge gave reasons; the statements stand side by side."),
        level=str(said.get("confidenceLevel", "LOW")),
        uncertain=tuple(u for u in found if u != SIMULATED),
        argued=argued,
        place=1.0 if place is None else place,
        rounds=max((s.round for s in desk.reading.statements), default=0),
    )


class _Room(NamedTuple):
    """A text field that has room for a remark."""

    holder: Any
    key: Any
    most: int | None
    role: str


class _TooLarge(Exception):
    """The form asks for too many values."""


class _Form:
    """A schema that is being filled in; ``branch`` chooses among alternatives."""

    def __init__(self, root: Schema, debate: DebateView, limit: int, branch: int) -> None:
        self._root = root
        self._debate = debate
        self._limit = max(1, limit)
        self._branch = branch
        self._rooms: list[_Room] = []
        self._left = FIELDS_MAX

    def fill(self, schema: Any, name: str, role: str, depth: int, nth: int = 0) -> Any:
        """A value for a place of the form: its ``name``, the ``role`` that it plays, ``nth`` of a list."""
        self._left -= 1
        if self._left < 0:
            raise _TooLarge
        schema = self._plain(schema, depth)
        role = role_of(name, str(schema.get("description", "")), str(schema.get("title", ""))) or role
        if "const" in schema:
            return schema["const"]
        if isinstance(options := schema.get("enum"), list) and options:
            return self._one_of(options, role)
        match self._type(schema, role):
            case "object":
                return self._object(schema, role, depth, nth)
            case "array":
                return self._array(schema, name, role, depth)
            case "boolean":
                return self._debate.place > 0
            case "integer" | "number" as kind:
                return self._number(schema, role, whole=kind == "integer")
            case "null":
                return None
            case _:
                return self._text(schema, name, role, nth)

    def _plain(self, schema: Any, depth: int) -> dict[str, Any]:
        """A schema with its references and parts merged, and one of its alternatives chosen."""
        if not isinstance(schema, dict):
            return {}
        if depth > LEVELS_MAX:
            raise _TooLarge
        made = {k: v for k, v in schema.items() if k not in ("$ref", "allOf", "anyOf", "oneOf")}
        inner = [self._at(schema["$ref"])] if "$ref" in schema else []
        inner += [part for part in schema.get("allOf", ()) if isinstance(part, dict)]
        for keyword in ("anyOf", "oneOf"):
            if found := [part for part in schema.get(keyword, ()) if isinstance(part, dict)]:
                inner.append(found[(self._branch + (depth > DEPTH)) % len(found)])
        for part in inner:
            made = merged(made, self._plain(part, depth + 1))
        return made

    def _at(self, reference: Any) -> Any:
        found: Any = self._root
        for step in str(reference).removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = (
                found[int(key)] if isinstance(found, list) else found.get(key, {}) if isinstance(found, dict) else {}
            )
        return found

    def _type(self, schema: Schema, role: str) -> str:
        kinds = schema.get("type")
        if isinstance(kinds, list):
            usable = [k for k in kinds if k != "null"]
            return str(usable[self._branch % len(usable)]) if usable and (role or "null" not in kinds) else "null"
        if isinstance(kinds, str):
            return kinds
        for kind, keywords in BY_KEYWORD.items():
            if any(keyword in schema for keyword in keywords):
                return kind
        return "string"

    def _object(self, schema: Schema, role: str, depth: int, nth: int) -> dict[str, Any]:
        needed = [n for n in schema.get("required", ()) if isinstance(n, str)]
        known = schema.get("properties", {})
        names = list(dict.fromkeys([*(known if depth < DEPTH else ()), *needed]))
        made: dict[str, Any] = {}
        for name in names:
            inner = known.get(name, schema.get("additionalProperties", {}))
            made[name] = self.fill(inner, name, role if len(names) == 1 else "", depth + 1, nth)
            self._note(made, name, inner, depth)
        return made

    def _array(self, schema: Schema, name: str, role: str, depth: int) -> list[Any]:
        first = list(schema.get("prefixItems", ()))
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 10**6))
        items = schema.get("items", {})
        count = (
            0 if items is False else max(least - len(first), min(self._count(items, role, depth), most - len(first)))
        )
        made = [self.fill(s, name, role, depth + 1) for s in first]
        made += [self.fill(items, name, role, depth + 1, n) for n in range(max(0, count))]
        if schema.get("uniqueItems"):
            made = self._distinct(made, items, least)
        for i in range(len(made)):
            self._note(made, i, items, depth)
        return made

    def _count(self, items: Any, role: str, depth: int) -> int:
        """The number of items for which there is material."""
        plain = self._plain(items, depth)
        if depth > (DEPTH_OF_OBJECTS if "properties" in plain else DEPTH):
            return 0
        if plain.get("enum"):
            return 1
        if "properties" in plain:
            return min(self._limit, max(1, len(self._debate.cases)))
        return min(self._limit, len(self._texts(role)))

    def _distinct(self, made: list[Any], items: Any, least: int) -> list[Any]:
        kept = [x for i, x in enumerate(made) if x not in made[:i]]
        options = self._plain(items, 0).get("enum")
        kept += [o for o in options or () if o not in kept][: max(0, least - len(kept))]
        n = 0
        while len(kept) < least and n < least and options is None:
            n += 1
            kept.append(f"{kept[-1]} ({n})" if kept and isinstance(kept[-1], str) else n)
        return kept

    def _number(self, schema: Schema, role: str, *, whole: bool) -> float:
        low, high = bounds(schema, whole=whole)
        if role == "confidence":
            top = high if high is not None else (100 if whole else 1)
            bottom = low if low is not None else 0
            found: float = bottom + (top - bottom) * _LEVELS.get(self._debate.level, 0.4)
        else:
            found = float(self._debate.rounds) if role == "count" else 0.0
        found = max(found, low) if low is not None else found
        found = min(found, high) if high is not None else found
        if step := schema.get("multipleOf"):
            found = floor(found / step + 1e-9) * step
            found = found + step if low is not None and found < low else found
        return round(found) if whole else round(found, 6)

    def _one_of(self, options: Sequence[Any], role: str) -> Any:
        """The value that means the leading stance."""
        words = [o for o in options if isinstance(o, str)]
        levels = [o for o in words if level(o) and level(o) == level(self._debate.level)]
        if levels and (role == "confidence" or all(level(o) for o in words)):
            return levels[0]
        if not words:
            return None if None in options else options[0]
        leader = self._debate.leader
        letter = option_letter(leader.stance) if leader else None
        if letter and (found := next((o for o in words if option_letter(o) == letter), None)):
            return found
        return min(words, key=lambda o: (self._apart(o), options.index(o)))

    def _apart(self, option: str) -> float:
        """The distance of a fixed value from the leading stance: by yes and no, and by shared words."""
        leader = self._debate.leader
        words = spaced(option)
        if leader is None and re.search(r"escalat|undecided|\bnone\b|neither|\bopen\b|unclear|defer", words):
            return -1.0
        desk = (leader or self._debate.cases[0]).stood.desk if self._debate.cases else None
        placed = polarity(words, self._debate.question, desk.wanted.proposition) if desk else None
        shared = len(terms(words) & terms(leader.stance)) if leader else 0
        return (abs(placed - self._debate.place) if placed is not None else 1.0) - 0.4 * shared

    def _text(self, schema: Schema, name: str, role: str, nth: int) -> str:
        texts = self._texts(role)
        least, most = int(schema.get("minLength", 0)), schema.get("maxLength")
        if least > LENGTH_MAX:
            raise _TooLarge
        text = texts[nth % len(texts)] if texts else f"The debate says nothing of {spaced(name) or 'this'}."
        more = [*self._texts("reason"), *self._debate.uncertain, SIMULATED]
        while len(text) < least:
            text = f"{text} {more.pop(0) if more else 'Nothing more was said of it.'}"
        return cut(text, least, most) if isinstance(most, int) else text

    def _texts(self, role: str) -> Sequence[str]:
        debate = self._debate
        case = debate.leader or (debate.cases[0] if debate.cases else None)
        carrying = [e for e in case.evidence if case.stood.carries(e)] if case else []
        match role:
            case "decision" | "note":
                return [debate.verdict]
            case "reason":
                return [debate.reasoning]
            case "open":
                return debate.uncertain
            case "argument":
                return debate.argued.get(case.stance, ()) if case else ()
            case "stance":
                return [c.stance for c in ([debate.leader] if debate.leader else debate.cases)]
            case "quote":
                return [e.quote for e in carrying]
            case "place":
                return [f"{upper(e.where)}, which {does(e)}" for e in carrying]
            case "confidence":
                return [debate.level]
            case "time":
                return ["The debate names no time for it."]
            case _:
                return ()

    def _note(self, holder: Any, key: Any, schema: Any, depth: int) -> None:
        if isinstance(holder[key], str) and (isinstance(schema, dict)):
            plain = self._plain(schema, depth)
            if not {"enum", "const"} & set(plain):
                role = role_of(str(key), str(plain.get("description", "")), "")
                self._rooms.append(_Room(holder, key, plain.get("maxLength"), role))

    def label(self, built: Any) -> None:
        """State in a text field, if one has room, that this is simulated."""
        fits = [r for r in self._rooms if r.most is None or r.most >= len(r.holder[r.key]) + len(SIMULATED) + 1]
        rank = ("note", "reason", "decision", "open", "argument")
        fits.sort(key=lambda r: rank.index(r.role) if r.role in rank else len(rank))
        if fits and SIMULATED not in _encoder.encode(built).decode():
            room = fits[0]
            room.holder[room.key] = f"{room.holder[room.key]} {SIMULATED}"
