"""The policy that the service runs under, as it stands in gainsay.toml: pure data, checked when it is read.

gate       when a question deserves a debate
debate     ceilings, rounds, thresholds of the critic, when a person has to decide
formats    the defaults of the other formats, and the bounds of a case
limits     the limits of a case
seats      the models of each seat, and the most output tokens of one turn
models     the catalogue: provider, name, family, tokenizer, window, dated prices
providers  the wire behind each model
calls      attempts, deadlines and backoff of a turn
budgets    the limits of tenants for a day and for a month
queue      the most debates that run in parallel, and the most that wait
rates      how often one caller may ask; a file without the table has no such member in policy.json
batches    how large a batch may be, and how much of it is under way; absent as rates
webhooks   where ends of cases may be sent; absent as rates
traces     what spans may hold of a debate; absent as rates
evaluation what evaluations may spend, and what their results are judged by; absent as rates
audit      the witnesses of the logs, and how often the logs are recomputed
approval   the approver of configurations
dropin     what a chat request has where it says nothing; a file without the table has no such member in policy.json
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from service.debate.formats import name_of
from service.debate.versions import newest
from service.policy.batches import USUAL_BATCHES, Batches
from service.policy.dropin import DropIn
from service.policy.evaluation import USUAL_EVALUATION, EvaluationPolicy
from service.policy.formats import FORMAT_RULES, FORMATS
from service.policy.keys import STATED, UNWRITTEN, table, unread
from service.policy.limits import Approval, Audit, Budgets, Calls, Limits, Queue
from service.policy.models import Model, Seat
from service.policy.rates import LOCAL_RATES, USUAL, Rates
from service.policy.rules import DebatePolicy, FormatsPolicy, GatePolicy
from service.policy.traces import USUAL_TRACES, Traces
from service.policy.webhooks import USUAL_WEBHOOKS, Webhooks
from service.policy.wires import ProviderSetting

AUTO = "auto"
"""The format of a case that leaves the choice to policy."""


class Policy(Struct, frozen=True, rename="camel"):
    """The whole policy."""

    version: Annotated[str, UNWRITTEN]
    gate: Annotated[GatePolicy, unread()]
    debate: DebatePolicy
    limits: Limits
    seats: Annotated[Mapping[str, Seat], unread()]
    models: Annotated[Mapping[str, Model], unread()]
    providers: Annotated[Mapping[str, ProviderSetting], unread()]
    calls: Calls = Calls()
    budgets: Annotated[Budgets, unread(), STATED] = Budgets()
    audit: Audit = Audit()
    approval: Approval = Approval()
    formats: FormatsPolicy = FormatsPolicy()
    queue: Queue = Queue()
    rates: Annotated[Rates | UnsetType, table(Rates)] = UNSET
    dropin: Annotated[DropIn | UnsetType, table(DropIn)] = UNSET
    webhooks: Annotated[Webhooks | UnsetType, table(Webhooks)] = UNSET
    batches: Annotated[Batches | UnsetType, table(Batches)] = UNSET
    traces: Annotated[Traces | UnsetType, table(Traces)] = UNSET
    evaluation: Annotated[EvaluationPolicy | UnsetType, table(EvaluationPolicy)] = UNSET

    @property
    def batch_bounds(self) -> Batches:
        """The bounds of batches, also where the policy names none."""
        return self.batches if isinstance(self.batches, Batches) else USUAL_BATCHES

    def rates_of(self, *, identified: bool) -> Rates:
        """The rates of a caller, with an identity or, where none is configured, of all callers together."""
        if isinstance(self.rates, Rates):
            return self.rates
        return USUAL if identified else LOCAL_RATES

    @property
    def sending(self) -> Webhooks:
        """Where ends of cases may be sent."""
        return self.webhooks if isinstance(self.webhooks, Webhooks) else USUAL_WEBHOOKS

    @property
    def traced(self) -> Traces:
        """What spans may hold of a debate."""
        return self.traces if isinstance(self.traces, Traces) else USUAL_TRACES

    @property
    def evaluations(self) -> EvaluationPolicy:
        """What evaluations may spend, and what their results are judged by."""
        return self.evaluation if isinstance(self.evaluation, EvaluationPolicy) else USUAL_EVALUATION

    @property
    def offered(self) -> tuple[str, ...]:
        """The formats that a case may name here: those whose seats policy fills."""
        return tuple(name for name in FORMATS if not self.missing(name))

    def missing(self, name: str) -> tuple[str, ...]:
        """The seats that a format needs, as policy plays it, and that policy does not fill."""
        return tuple(seat for seat in FORMAT_RULES[name_of(name)].needs(self.formats) if seat not in self.seats)

    def undocumented(self, name: str) -> bool:
        """Whether a format takes a case without documents."""
        return FORMAT_RULES[name_of(name)].undocumented(self.debate)

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
        """The task types that policy knows."""
        return self.gate.task_types


class ChosenFormat(NamedTuple):
    """A format by its name, and why it was chosen where that was left to policy; else empty."""

    name: str
    reason: str


_encoder = msgspec.json.Encoder(order="sorted")


class Form(NamedTuple):
    """A version of ``policy.json``: how a policy is written, and read back, and what its hashes are of.

    ``prices`` is the hash of the price table; ``configuration`` what an approval is of, with the pin of the prompts.
    """

    encode: Callable[[Policy], bytes]
    decode: Callable[[bytes], Policy]
    prices: Callable[[Policy], str]
    configuration: Callable[[Policy, str], bytes]


def _encode(policy: Policy) -> bytes:
    return _encoder.encode(policy)


def _decode(data: bytes) -> Policy:
    return msgspec.json.decode(data, type=Policy)


def _prices(policy: Policy) -> str:
    return policy_hash([model.prices for _, model in sorted(policy.models.items())])


def _configuration(policy: Policy, prompts: str) -> bytes:
    parts = {"format": "gainsay-configuration/1", "policy": policy.gate.hash, "prices": _prices(policy)}
    return _encoder.encode({**parts, "prompts": prompts})


FORMS: Mapping[str, Form] = {"policy/1": Form(_encode, _decode, _prices, _configuration)}
"""A key more or less, or another name or default of one, is another form (decision 0039)."""


def encode_policy(policy: Policy, version: str | None = None) -> bytes:
    """The policy with every default filled in, as the bytes that its hash is of, that are kept and served.

    Without ``version`` it is written in the newest form, the one that a decision seals.
    """
    return FORMS[version or newest(FORMS)].encode(replace(policy, gate=replace(policy.gate, hash="")))


def decode_policy(data: bytes, version: str | None = None) -> Policy:
    """The policy that these bytes hold, with its hash; raises `msgspec.DecodeError` where they hold none."""
    policy = FORMS[version or newest(FORMS)].decode(data)
    return replace(policy, gate=replace(policy.gate, hash=sha256(data).hexdigest()))


def encode_configuration(policy: Policy, prompts: str, version: str | None = None) -> bytes:
    """The subject of an approval: hashes of policy, price table and the manifest of prompts, templates and schemas."""
    return FORMS[version or newest(FORMS)].configuration(policy, prompts)


def policy_hash(value: object) -> str:
    """SHA-256 over the sorted JSON of a part of the policy, hex."""
    return sha256(_encoder.encode(value)).hexdigest()


def price_hash(policy: Policy, version: str | None = None) -> str:
    """SHA-256 over all price rows, by alias and date: the price table that a debate began with, hex."""
    return FORMS[version or newest(FORMS)].prices(policy)
