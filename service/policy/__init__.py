"""The policy: what the file `gainsay.toml` says, declared once.

    keys         how a table is declared by its type, read by it and refused; numbers and amounts in ``bounds``
    faults       what is wrong with a file, collected, with the name that was probably meant
    rules        [gate], [debate], [formats]
    limits       [limits], [calls], [budgets], [queue], [audit], [approval]
    models       [[models]] and [seats]; their prices in ``prices``, their parameters in ``parameters``
    rates        [rates]
    dropin       [dropin]
    traces       [traces]
    webhooks     [webhooks]
    batches      [batches]
    evaluation   [evaluation]
    wires        [providers], and what each wire has a place for; known faults of simulated models in ``known_faults``
    formats      what policy has to know of each format
    policy       the whole, its hash and its bytes
    checks       what keys have to hold between them

    task_types   what becomes of a case's task type
    seating      who sits where, by policy
    first        a first policy of some vendors
    file         the file as it is read, what it leaves out, and what depends on this machine or on addresses
    settings     the environment: every ``GAINSAY_`` variable, and which file is read

All but the last three are pure.
"""

from service.policy.batches import Batches
from service.policy.dropin import DropIn
from service.policy.evaluation import EvaluationBudget, EvaluationBudgets, EvaluationPolicy
from service.policy.formats import FORMAT_RULES, FORMATS
from service.policy.limits import (
    Approval,
    Audit,
    Budget,
    Budgets,
    Calls,
    Limits,
    Queue,
    RegisteredKey,
    TimeStamps,
    Witness,
)
from service.policy.models import Model, Seat
from service.policy.policy import (
    AUTO,
    FORMS,
    ChosenFormat,
    Form,
    Policy,
    decode_policy,
    encode_configuration,
    encode_policy,
    policy_hash,
    price_hash,
)
from service.policy.rates import RATE_CLASSES, WINDOW_S, RateClass, Rates
from service.policy.rules import (
    OTHER,
    THRESHOLDS,
    BallotPolicy,
    ConvergencePolicy,
    DebatePolicy,
    FormatsPolicy,
    GatePolicy,
    PanelPolicy,
    StancesPolicy,
)
from service.policy.wires import RULES, SIMULATED, ProviderSetting

__all__ = [
    "AUTO",
    "FORMATS",
    "FORMAT_RULES",
    "FORMS",
    "OTHER",
    "RATE_CLASSES",
    "RULES",
    "SIMULATED",
    "THRESHOLDS",
    "WINDOW_S",
    "Approval",
    "Audit",
    "BallotPolicy",
    "Batches",
    "Budget",
    "Budgets",
    "Calls",
    "ChosenFormat",
    "ConvergencePolicy",
    "DebatePolicy",
    "DropIn",
    "EvaluationBudget",
    "EvaluationBudgets",
    "EvaluationPolicy",
    "Form",
    "FormatsPolicy",
    "GatePolicy",
    "Limits",
    "Model",
    "PanelPolicy",
    "Policy",
    "ProviderSetting",
    "Queue",
    "RateClass",
    "Rates",
    "RegisteredKey",
    "Seat",
    "StancesPolicy",
    "TimeStamps",
    "Witness",
    "decode_policy",
    "encode_configuration",
    "encode_policy",
    "policy_hash",
    "price_hash",
]
