"""The policy that the service runs under, as it stands in gainsay.toml: pure data, checked when it is read.

gate       when a question deserves a debate
debate     ceilings, rounds, thresholds of the critic, when a person has to decide
formats    what the other formats are played with where a case does not say, and how far a case may go
limits     how much a case may hold
seats      which models may sit where, and how much they may say in one turn
models     the catalogue: provider, name, family, tokenizer, window, dated prices
providers  the wire behind each model
calls      how often, how long and after which pauses a model is asked
budgets    what a tenant may spend in a day and in a month
queue      how many debates run at once, how many may wait
audit      who countersigns the logs, and how often they are recomputed
approval   who approves configurations
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from service.debate import adversarial
from service.debate.formats import FormatName, complete, name_of
from service.debate.kernel import CURRENT
from service.debate.model import Diversity, PriceRow
from service.debate.money import MicroUSD
from service.debate.replies.panel import QuestionType
from service.gate import GatePolicy

FORMATS: Mapping[FormatName, str] = {name: form.FORMAT for name, form in CURRENT.items()}
"""The formats that a case may name, each with the version that new debates get."""
AUTO = "auto"
"""What a case says that leaves the choice of its format to policy."""


class Model(Struct, frozen=True, rename="camel"):
    """A model of the catalogue. ``prices`` are in the order of their dates; the last one in force counts.

    ``overhead_tokens`` are what the vendor adds to each request beyond the text that we count; ``snapshot`` says
    whether the name is that of one fixed artefact, and not one that the vendor may give to another.
    """

    alias: str
    provider: str
    name: str
    family: str
    tokenizer: str
    safety_per_mille: int
    context_window: int
    prices: tuple[PriceRow, ...]
    parameters: dict[str, Any] = {}
    overhead_tokens: int = 0
    snapshot: bool = True

    def price(self, day: str) -> PriceRow | None:
        """The price row in force on a day (``YYYY-MM-DD``), or ``None``: no price, no call."""
        return next((row for row in reversed(self.prices) if row.effective <= day), None)


class Seat(Struct, frozen=True, rename="camel"):
    """Who may sit in a seat, in the order of preference, and the most output tokens of one turn there.

    The seat ``debater`` is the pool of all debaters. ``fallback`` is asked where the model cannot answer.
    """

    model: str
    allowance: int
    alternatives: tuple[str, ...] = ()
    fallback: str | None = None


class DebatePolicy(Struct, frozen=True, rename="camel"):
    """What a debate may cost and how it is played, where the case does not say. Amounts are micro-dollars.

    ``diversity`` is the least that the seats of a debate must reach, and ``floating_names`` whether models may sit that
    are named by something else than a fixed artefact.

    A case is high-stakes when its downside is above ``high_stakes_downside`` or its materiality is listed. Above
    ``swap_above`` the decider is asked twice, with the order turned round; ``None`` never asks it twice.
    """

    format: str
    ceiling: MicroUSD
    ceiling_max: MicroUSD
    rounds: int
    high_stakes_rounds: int
    high_stakes_downside: MicroUSD
    high_stakes_materiality: tuple[str, ...]
    min_challenge_strength: int
    require_critic_retry_below: int
    attempts_per_turn: int
    human_review: tuple[str, ...]
    expected_input_tokens: int
    expected_output_per_mille: int
    may_choose_models: bool
    diversity: Diversity = "sameModel"
    floating_names: bool = True
    swap_above: MicroUSD | None = None


class StancesPolicy(Struct, frozen=True, rename="camel"):
    """What stances is played with, and how far a case may go."""

    rounds: int = 2
    rounds_max: int = 6
    debaters_max: int = 6
    anonymize_transcript: bool = True
    shuffle_for_judge: bool = True
    synthesizer: bool = True


class BallotPolicy(Struct, frozen=True, rename="camel"):
    """What a ballot is played with, and how far a case may go.

    ``votes`` are the options where a case names none; ``escalate`` is always one more. More than
    ``threshold_per_mille`` of the debaters decide, or all of them where that is 1000.
    """

    rounds: int = 2
    rounds_max: int = 4
    debaters: int = 3
    debaters_max: int = 10
    votes: tuple[str, ...] = ("approve", "revise")
    votes_max: int = 10
    threshold_per_mille: int = 500


THRESHOLDS: Mapping[QuestionType, int] = {
    "factual": 850,
    "normative": 800,
    "business": 850,
    "prediction": 850,
    "brainstorm": 800,
    "belief": 750,
}
"""The consensus that ends a panel, per mille, where policy does not say."""


class PanelPolicy(Struct, frozen=True, rename="camel"):
    """What a panel is played with, and how far a case may go: what its reference calls the limits of a plan.

    ``rounds`` count the blind one. ``thresholds`` are the consensus that ends a debate, per mille, by question type.
    An automatic choice of models goes by their track records; a model with ``track_record_debates`` of them counts half
    by its own record and half as the middle of the scale.
    """

    rounds: int = 3
    rounds_max: int = 10
    debaters: int = 3
    debaters_max: int = 10
    adjudicator: Literal["algorithmic", "model"] = "algorithmic"
    classifier: Literal["rules", "model"] = "rules"
    mode: Literal["auto", "manual"] = "auto"
    track_record_debates: int = 5
    thresholds: Mapping[QuestionType, int] = msgspec.field(default_factory=lambda: THRESHOLDS)


class ConvergencePolicy(Struct, frozen=True, rename="camel"):
    """What convergence is played with, and how far a case may go; rounds come after the independent one."""

    rounds: int = 2
    rounds_max: int = 6
    debaters: int = 3
    debaters_max: int = 10
    judge: bool = True
    convergence_check: bool = True
    similarity_per_mille: int = 850
    ties: Literal["lowestDebater", "noAnswer"] = "lowestDebater"


class FormatsPolicy(Struct, frozen=True, rename="camel"):
    """The rules of each format but the adversarial one; ``auto`` maps task types to the format that ``auto`` means."""

    auto: Mapping[str, str] = {}
    stances: StancesPolicy = StancesPolicy()
    ballot: BallotPolicy = BallotPolicy()
    panel: PanelPolicy = PanelPolicy()
    convergence: ConvergencePolicy = ConvergencePolicy()


class Limits(Struct, frozen=True, rename="camel"):
    """How much a case may hold; characters are Unicode code points."""

    question_characters: int
    answer_characters: int
    persona_characters: int
    note_characters: int
    documents: int
    document_characters: int
    total_characters: int
    positions: int
    metadata: int


class ProviderSetting(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The wire behind a provider's name.

    offline, scripted    ``script`` and ``latency_ms`` are theirs alone
    openai-compatible    POST ``base_url`` + ``path`` with ``query`` (Azure: ``api-version``) and ``headers``
    anthropic            the same; ``path`` is ``/v1/messages`` unless told otherwise

    ``proxy`` is the address of an HTTP proxy that calls go through; no variable of the environment chooses one.

    Secrets are named, never written here: ``key`` and the values of ``secret_headers`` are ``env:NAME`` or
    ``file:PATH``. ``auth`` is the header that carries the key. ``structured`` is how the reply schema goes out:
    ``auto`` begins with the vendor's own way and steps down where a server answers that it lacks it. ``seat_role`` is
    the role of the last message, the strongest that the server allows there, and ``messages`` whether what follows the
    first goes as messages or, for servers that want roles to alternate, as the parts of one. ``reasoning`` says
    whether the server's completion tokens include the reasoning tokens where its own totals do not tell.
    """

    kind: Literal["offline", "scripted", "openai-compatible", "anthropic"]
    script: str | None = None
    latency_ms: int = 0
    base_url: str | None = None
    path: str | None = None
    query: dict[str, str] = {}
    proxy: str | None = None
    headers: dict[str, str] = {}
    secret_headers: dict[str, str] = {}
    key: str | None = None
    auth: Literal["bearer", "api-key", "x-api-key", "none"] | None = None
    structured: Literal["auto", "json_schema", "tool", "json_object", "text"] = "auto"
    strict_schema: bool = True
    seat_role: Literal["developer", "system", "user"] | None = None
    messages: Literal["apart", "together"] = "apart"
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    reasoning: Literal["inside", "outside"] = "inside"
    connect_timeout_s: int = 10
    call_timeout_s: int = 180
    breaker_failures: int = 5
    breaker_pause_s: int = 30


class Calls(Struct, frozen=True, rename="camel"):
    """How a turn is asked again: pauses grow from ``backoff_ms`` to ``backoff_max_ms``, each drawn at random below.

    A turn that has no reply after ``turn_deadline_s`` is given up.
    """

    turn_deadline_s: int = 300
    backoff_ms: int = 500
    backoff_max_ms: int = 20_000


class Budget(Struct, frozen=True, rename="camel"):
    """What a tenant may spend, in micro-dollars; ``None`` where there is no limit."""

    day: MicroUSD | None = None
    month: MicroUSD | None = None


class Budgets(Struct, frozen=True, rename="camel"):
    """The tenants' limits. Days and months are those of ``zone``; ``others`` holds for tenants that are not named."""

    zone: str = "UTC"
    others: Budget = Budget()
    tenants: Mapping[str, Budget] = {}

    def of(self, tenant: str) -> Budget:
        """The limits of a tenant."""
        return self.tenants.get(tenant, self.others)


class Queue(Struct, frozen=True, rename="camel"):
    """How many debates run at once and how many may wait.

    ``per_worker`` is a process's, ``per_tenant`` all workers' together (``None``: no limit). A case that would be one
    more than ``waiting`` in all, or than ``waiting_per_tenant``, is not taken. A debate that no worker could go on with
    is ended as failed ``give_up_hours`` after the first that tried.
    """

    per_worker: int = 200
    per_tenant: int | None = None
    waiting: int = 10_000
    waiting_per_tenant: int = 5_000
    give_up_hours: int = 24


class Witness(Struct, frozen=True, rename="camel"):
    """Somebody outside who countersigns the heads of our logs: where it is asked, and its verifier key."""

    url: str
    key: str


class Audit(Struct, frozen=True, rename="camel"):
    """How the audit log is kept.

    A log whose records have been durable and not provable for ``late_s`` seconds is told of. ``check_minutes`` are
    between two recomputations of every log in the background; 0 switches them off.
    """

    witnesses: tuple[Witness, ...] = ()
    late_s: int = 30
    check_minutes: int = 60


class Approval(Struct, frozen=True, rename="camel"):
    """Who approves configurations, by a verifier key, and whether nothing runs without."""

    key: str | None = None
    required: bool = False


class Policy(Struct, frozen=True, rename="camel"):
    """The whole policy."""

    version: str
    gate: GatePolicy
    debate: DebatePolicy
    limits: Limits
    seats: Mapping[str, Seat]
    models: Mapping[str, Model]
    providers: Mapping[str, ProviderSetting]
    calls: Calls = Calls()
    budgets: Budgets = Budgets()
    audit: Audit = Audit()
    approval: Approval = Approval()
    formats: FormatsPolicy = FormatsPolicy()
    queue: Queue = Queue()

    @property
    def offered(self) -> tuple[str, ...]:
        """The formats that a case may name here: those whose seats policy fills."""
        return tuple(name for name in FORMATS if not self.missing(name))

    def missing(self, name: str) -> tuple[str, ...]:
        """The seats that a format needs, as policy plays it, and that policy does not fill."""
        return tuple(seat for seat in _NEEDED[name_of(name)](self.formats) if seat not in self.seats)

    def choose_format(self, asked: str | None, task_type: str) -> ChosenFormat:
        """The format of a case: the one that it names, policy's for its task type, or policy's usual one."""
        if asked == AUTO:
            if task_type in self.formats.auto:
                name = self.formats.auto[task_type]
                return ChosenFormat(name, f"auto: policy debates the task type {task_type} as {name}")
            usual = self.debate.format
            return ChosenFormat(usual, f"auto: policy names no format for the task type {task_type}, so its usual one")
        return ChosenFormat(asked or self.debate.format, "")

    @property
    def task_types(self) -> tuple[str, ...]:
        """The task types that a case may name: risk categories, and those that policy always or never debates."""
        return tuple(dict.fromkeys((*self.gate.risk_categories, *self.gate.always, *self.gate.never, *OTHER)))


def _panel_needs(rules: FormatsPolicy) -> tuple[str, ...]:
    adjudicator = ["adjudicator"] if rules.panel.adjudicator == "model" else []
    classifier = ["classifier"] if rules.panel.classifier == "model" else []
    return ("debater", "synthesizer", *adjudicator, *classifier)


_NEEDED: Mapping[FormatName, Callable[[FormatsPolicy], tuple[str, ...]]] = complete(
    {
        "adversarial": lambda _: adversarial.SEATS,
        "stances": lambda rules: ("debater", "judge", *(["synthesizer"] if rules.stances.synthesizer else [])),
        "ballot": lambda _: ("debater",),
        "panel": _panel_needs,
        "convergence": lambda rules: ("debater", *(["judge"] if rules.convergence.judge else [])),
    },
    "policy",
    __file__,
)
"""The seats without which a format cannot be played, as policy plays it."""


class ChosenFormat(NamedTuple):
    """A format by its name, and why it was chosen where that was left to policy; else empty."""

    name: str
    reason: str


OTHER = ("other",)
"""A task type outside the risk categories: it may be asked for, and the gate then says why it is declined."""

_encoder = msgspec.json.Encoder(order="sorted")


class Form(NamedTuple):
    """A version of ``policy.json``: how a policy is written, and read back."""

    encode: Callable[[Policy], bytes]
    decode: Callable[[bytes], Policy]


def _encode(policy: Policy) -> bytes:
    return _encoder.encode(policy)


def _decode(data: bytes) -> Policy:
    return msgspec.json.decode(data, type=Policy)


VERSION = "policy/1"
"""The form of policies that are written now."""
FORMS: Mapping[str, Form] = {"policy/1": Form(_encode, _decode)}
"""A key more or less, or another name or default of one, is another form (decision 0039)."""


def encode_policy(policy: Policy, version: str = VERSION) -> bytes:
    """The policy with every default filled in, as the bytes that its hash is of, that are kept and served."""
    return FORMS[version].encode(replace(policy, gate=replace(policy.gate, hash="")))


def decode_policy(data: bytes, version: str = VERSION) -> Policy:
    """The policy that these bytes hold, with its hash; raises `msgspec.DecodeError` where they hold none."""
    policy = FORMS[version].decode(data)
    return replace(policy, gate=replace(policy.gate, hash=sha256(data).hexdigest()))


def encode_configuration(policy: Policy, prompts: str) -> bytes:
    """What an approval is of: hashes of policy, price table and the manifest of prompts, templates and schemas."""
    parts = {"format": "gainsay-configuration/1", "policy": policy.gate.hash, "prices": price_hash(policy)}
    return _encoder.encode({**parts, "prompts": prompts})


def policy_hash(value: object) -> str:
    """SHA-256 over the sorted JSON of a part of the policy, hex."""
    return sha256(_encoder.encode(value)).hexdigest()


def price_hash(policy: Policy) -> str:
    """SHA-256 over all price rows, by alias and date: the price table that a debate began with, hex."""
    return policy_hash([model.prices for _, model in sorted(policy.models.items())])


def decimal(value: object) -> Decimal:
    """A TOML number or string as the decimal that was written; raises `TypeError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise TypeError(f'expected a decimal, written as a string such as "0.50", found {value!r}')
    return Decimal(value)
