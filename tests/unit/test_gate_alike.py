"""Cases that are alike for every rule of the gate share what would have changed their decisions."""

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service import gate
from service.debate.model import Force
from service.policy import GatePolicy

POLICY = GatePolicy("7", "ab" * 32)
_AMOUNTS = st.sampled_from([0, 1, 10, 10**5, 10**6, 7 * 10**6, 10**12])
_POLICIES = st.builds(
    replace,
    st.just(POLICY),
    risk_categories=st.sampled_from([("contract", "security"), ("contract",), ()]),
    always=st.sampled_from([(), ("incident",)]),
    never=st.sampled_from([(), ("trivia",)]),
    thresholds=st.dictionaries(st.sampled_from(["contract", "security", "unheard"]), _AMOUNTS),
    factor=st.sampled_from([1, 50]),
    certain_above=_AMOUNTS,
    confidence_floor=st.sampled_from([Decimal(0), Decimal("0.5"), Decimal("0.9")]),
)
_CASES = st.builds(
    gate._Said,
    task_type=st.sampled_from(["contract", "security", "incident", "trivia", "unheard", "unknown"]),
    confidence=st.none() | st.decimals(0, 1, places=2),
    downside=_AMOUNTS.map(lambda micro: Decimal(micro).scaleb(-6)) | st.decimals(0, 10**7, places=7),
    contested=st.sampled_from([None, True, False]),
    hedge=st.sampled_from([None, "might"]),
    materiality=st.sampled_from([None, "high", "low"]),
    force=st.sampled_from([None, Force(debate=True, reason="a"), Force(debate=False, reason="b")]),
)


@given(_POLICIES, _CASES, _AMOUNTS)
@settings(max_examples=500)
def test_what_cases_that_are_alike_share_is_what_each_finds_for_itself(
    policy: GatePolicy, said: gate._Said, cost: int
) -> None:
    weighed = gate._Weighed(policy, cost)
    _, debate = weighed.decide(said)
    like = gate._alike(said, weighed)

    assert weighed.decide(like)[1] is debate
    shared = gate._changes(like, weighed.read, cost, not debate)
    assert shared == tuple(gate.found_changes(said, weighed, not debate))
    assert all(word not in repr(like) for word in ("unknown", "might", "reason='a'", "low"))
