"""The steps of a probe: what is asked of the service, and what has to hold of its answers.

An error of the service ends the probe with the code that any command has for it. An answer that must not be, such as
charges that do not add up, is `Wrong`: the service runs, and what it says is not to be believed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from io import BytesIO
from uuid import uuid4

from service.cli import exit_codes
from service.cli.access.over_http import OverHTTP
from service.cli.access.problems import ServiceProblem
from service.cli.probe.case import CEILING, the_case
from service.cli.probe.probed import STEPS, Probed, ProbeStep
from service.debate.amounts import micro, usd
from service.debate.purpose import is_probe
from service.errors import GainsayError, SettingsError
from service.report.result.types import Result
from service.verify.steps import Trust, VerificationReport

REMEDIES = {
    "ready": "See whether the service runs and is reached, and what its /readyz and its log say",
    "submit": "See that GAINSAY_TOKEN is a key of the prober's tenant with the roles requester and auditor, that the "
    'policy has [tenants.NAME] with purpose = "probe", and what that tenant may still spend',
    "wait": "See that workers run and are ready, how long the queue is, and whether answers are held because sequencer "
    "or signer do not sign: the last event waits for its proof",
    "result": "Read the debate's result and the log of its worker",
    "money": "Stop: read the debate's bundle, and compare its charges with docs/money.md",
    "proof": "See that sequencer, signer and witnesses run, and that --key names the approver's key too where "
    "the policy has one; a bundle that is not verified is an incident",
}
"""What to do about a step that failed."""
WITNESSED_S, WITNESS_PAUSE_S = 15.0, 1.0
"""How long pinned witnesses may take to countersign what is proven already, and the pause between two looks."""
_KEPT = (401, 403, 404)
"""Answers of a proxy that keeps the readiness of the service from callers."""


class Wrong(Exception):
    """An answer that must not be. ``code`` is how the command exits."""

    def __init__(self, detail: str, code: int = exit_codes.NEGATIVE) -> None:
        super().__init__(detail)
        self.detail, self.code = detail, code


class Probe:
    """One probe. ``trust`` is what the bundle is verified with, and ``within_s`` the time for everything."""

    def __init__(self, trust: Trust, within_s: float) -> None:
        self._trust, self._within_s = trust, within_s
        self._steps: list[ProbeStep] = []
        self._began = self._step_began = time.monotonic()
        self._debate: str | None = None
        self._result: Result | None = None
        self._code = exit_codes.DONE

    async def run(self, service: OverHTTP) -> None:
        """Take every step until one fails; raises what is no error of the service nor of its answers."""
        todo: tuple[Callable[[OverHTTP], Awaitable[str]], ...] = (
            self._ready,
            self._submit,
            self._wait,
            self._read,
            self._count,
            self._verify,
        )
        try:
            async with asyncio.timeout(self._within_s - (time.monotonic() - self._began)):
                for step in todo:
                    self._step_began = time.monotonic()
                    self._note(await step(service))
        except TimeoutError:
            self._fail(f"it had not ended after {self._within_s:g} s, the limit of --within", exit_codes.FAILED)
        except Wrong as wrong:
            self._fail(wrong.detail, wrong.code)
        except GainsayError as error:
            self.fail(error)

    def fail(self, error: GainsayError) -> None:
        """End with an error, at the step that is under way."""
        remedy = "" if isinstance(error, SettingsError) else None
        self._fail(f"{error.code}: {error.detail}", exit_codes.code_of(error), remedy)

    def fault(self, fault: BaseException) -> None:
        """End with a fault of the prober itself."""
        self._fail(f"internal: {type(fault).__name__}", exit_codes.FAILED)

    @property
    def ended(self) -> Probed:
        """What came of it."""
        seconds = time.monotonic() - self._began
        return Probed(steps=tuple(self._steps), code=self._code, seconds=seconds, at=time.time(), debate=self._debate)

    def _note(self, detail: str) -> None:
        self._steps.append(ProbeStep(name=self._name, good=True, seconds=self._took, detail=detail))

    def _fail(self, detail: str, code: int, remedy: str | None = None) -> None:
        if self._code or len(self._steps) == len(STEPS):  # an error of taking leave, after the result
            return
        advice = REMEDIES[self._name] if remedy is None else remedy
        self._steps.append(ProbeStep(name=self._name, good=False, seconds=self._took, detail=detail, remedy=advice))
        self._code = code

    @property
    def _name(self) -> str:
        return STEPS[len(self._steps)]

    @property
    def _took(self) -> float:
        return time.monotonic() - self._step_began

    # -- the steps

    async def _ready(self, service: OverHTTP) -> str:
        try:
            await service.get("/readyz", (), dict)
        except ServiceProblem as error:
            if error.status not in _KEPT:
                raise
            return "its readiness is not shown here"
        return "ready"

    async def _submit(self, service: OverHTTP) -> str:
        found = await service.submit(the_case(self._within_s), f"probe-{uuid4()}")
        self._debate = found.debate
        if found.status == "declined":
            raise Wrong("the gate declined the probe's case; give the prober's tenant the shipped policy")
        return found.status

    async def _wait(self, service: OverHTTP) -> str:
        events = 0
        async with aclosing(service.follow(self._its_debate)) as stream:
            async for _ in stream:
                events += 1
        return f"{events} events"

    async def _read(self, service: OverHTTP) -> str:
        found = self._result = await service.result(self._its_debate)
        if found.status in ("failed", "aborted"):
            raise Wrong(f"the debate is {found.status}: {found.detail}", exit_codes.FAILED)
        if found.status != "completed" or found.decision is None or found.concluded_at is None:
            raise Wrong(f"the debate is {found.status} and not completed: {found.detail}")
        if not (found.simulated and is_probe(found.case.metadata)):
            raise Wrong(
                "the result does not say that it is simulated and of the prober; real models may have been paid"
            )
        return found.status

    async def _count(self, _service: OverHTTP) -> str:
        cost = self._its_result.overall_cost
        try:
            ceiling, held = micro(cost.ceiling_usd or ""), micro(cost.held_usd)
            spent, excess = micro(cost.spent_usd), micro(cost.excess_usd)
            attempts = sum(micro(attempt.amount_usd or "") for attempt in self._its_result.attempts)
            parts = {
                "attempts": attempts,
                "seats": sum(micro(account.amount_usd) for account in cost.by_seat.values()),
                "rounds": sum(micro(account.amount_usd) for account in cost.by_round.values()),
                "models": sum(micro(account.amount_usd) for account in cost.by_model.values()),
            }
        except ValueError as error:
            raise Wrong(f"an amount that is none: {error}") from None
        if ceiling != micro(CEILING) or not 0 < spent <= ceiling or excess or held:
            raise Wrong(
                f"spent {usd(spent)}, excess {usd(excess)} and held {usd(held)} USD under a ceiling of {usd(ceiling)}; "
                f"expected more than nothing and at most {CEILING}, with no excess and nothing held"
            )
        if wrong := {name: amount for name, amount in parts.items() if amount != spent}:
            said = ", ".join(f"{usd(amount)} by {name}" for name, amount in wrong.items())
            raise Wrong(f"{usd(spent)} USD are charged, and the charges sum up to {said}")
        return f"{usd(spent)} of {usd(ceiling)} USD charged"

    async def _verify(self, service: OverHTTP) -> str:
        from service.cli.audit.result_words import result_line

        report, until = await self._report(service), time.monotonic() + WITNESSED_S
        while _lacks_witnesses_alone(report) and time.monotonic() < until:
            await asyncio.sleep(WITNESS_PAUSE_S)
            report = await self._report(service)
        if report.code:
            raise Wrong(result_line(report), report.code)
        if report.about["debate"] != self._debate:
            raise Wrong(f"the bundle is of debate {report.about['debate']}")
        return result_line(report)

    async def _report(self, service: OverHTTP) -> VerificationReport:
        file = BytesIO()
        await service.bundle(self._its_debate, file)
        return await asyncio.to_thread(self._verified, file)

    def _verified(self, file: BytesIO) -> VerificationReport:
        from service.cli.audit.verify import tools
        from service.verify.bundle import verify_bundle

        file.seek(0)
        return verify_bundle(file, self._trust, tools(), every=False, shown=None)

    @property
    def _its_debate(self) -> str:
        if self._debate is None:
            raise RuntimeError("the case was not submitted; see service/cli/probe/steps.py")
        return self._debate

    @property
    def _its_result(self) -> Result:
        if self._result is None:
            raise RuntimeError("no result was read; see service/cli/probe/steps.py")
        return self._result


def _lacks_witnesses_alone(report: VerificationReport) -> bool:
    """Whether a bundle only lacks pinned witnesses: they are asked once a second, and a debate ends sooner."""
    return [step.name for step in report.failed] == ["witnesses"]
