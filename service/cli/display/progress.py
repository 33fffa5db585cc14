"""A debate as it happens, one line for each thing that a reader wants to know of.

It is told from the events of the stream (``service.report.event``), so it is the same for a debate in this process and
for one that is followed over HTTP. Without a terminal nothing moves: every line is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from service.cli.clean import short
from service.cli.display.screen import counted, dollars, row, text
from service.debate.money import micro
from service.report.wording import SIGN, STOP, say

Data = Mapping[str, Any]

_DOING = {
    "framing": "is turning the question into a proposition",
    "proposer": "is arguing for it",
    "critic": "is arguing against it",
    "rebuttal": "is answering the critic",
    "moderator": "is weighing the arguments, not knowing whose they are",
}

_ASKED = {
    "repair": "is told what was wrong with its reply, and asked once more",
    "fallback": "is asked in the place of the seat's own model",
}
"""Attempts that are more than a repetition."""


class Progress:
    """Writes the lines of one debate on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._round = 0
        self._most = 1
        self._said: dict[str, Data] = {}

    def tell(self, name: str, data: Data) -> None:
        """Show one event; an event of a name that is not known here shows nothing."""
        tellers: dict[str, Callable[[Data], None]] = {
            "gate": self._gate,
            "started": self._started,
            "asked": self._asked,
            "round": self._spoke,
            "citations": self._checked,
            "synthesis": self._weighed,
            "notice": self._noticed,
            "final": self._ended,
        }
        if teller := tellers.get(name):
            teller(data)

    def stop(self) -> None:
        """Take away whatever moves; what is written stays."""
        if self._status:
            self._status.stop()
            self._status = None

    # -- one method an event

    def _gate(self, data: Data) -> None:
        gate = data["gate"]
        if gate["debate"]:
            why = "every rule holds" if gate["decidedBy"] == "merits" else f"decided by {gate['decidedBy']}"
            self._line("Gate", f"debate: {why} ({gate['rules'][0]['observed']})")
        else:
            self._line("Gate", f"no debate, decided by the rule {gate['decidedBy']!r}", style="yellow")

    def _started(self, data: Data) -> None:
        self._most = data["options"]["maxRounds"]
        simulated = ", simulated models" if data["simulated"] else ""
        self._line(
            "Debate",
            f"at most {counted(self._most, 'round')}, ceiling {dollars(data['ceilingUSD'], 2)}, "
            f"expected {dollars(data['expectedUSD'])}{simulated}",
        )

    def _asked(self, data: Data) -> None:
        self._heading(data["round"])
        if data["seat"] == "critic" and data["turn"].endswith(".2") and data["attempt"] == 1:
            self._line("!", "too weak a challenge: the critic is asked again, more strongly", style="yellow", indent=2)
        if said := _ASKED.get(data["why"]):
            self._line("!", f"{_who(data)}: {data['model']} {said}", style="yellow", indent=2)
        if not self._console.is_terminal:
            return
        attempt = f" (attempt {data['attempt']})" if data["attempt"] > 1 else ""
        words = f"{_who(data)} {_DOING.get(data['seat'], 'is speaking')}{attempt}"
        if self._status is None:
            self._status = self._console.status(text(words, "dim"), spinner="dots")
            self._status.start()
        else:
            self._status.update(text(words, "dim"))

    def _spoke(self, data: Data) -> None:
        if data["framing"]:
            self._line("Framing", short(data["framing"]["thesis"], 140), _left(data))
        else:
            self._said[data["turn"]] = data

    def _checked(self, data: Data) -> None:
        said = self._said.pop(data["turn"], None)
        if said is None:
            return
        body = Text(", ").join([text(_content(said)), *_verdicts(data)])
        self._line(_who(data), body, _left(said), indent=2)

    def _weighed(self, data: Data) -> None:
        self._heading(data["round"])
        found = data["moderatorEvaluation"]
        scores = found["argumentQualityScore"]
        given = ", ".join(f"{seat} {score}" for seat, score in scores.items() if score is not None)
        more = "wants another round" if found["recommendAnotherRound"] else "wants no further round"
        self._line(_who(data), f"{data['conclusion']}, confidence {found['confidenceLevel']}", _left(data), indent=2)
        self._line("", f"scores: {given}", indent=2)
        self._line("", more, indent=2)

    def _noticed(self, data: Data) -> None:
        match data["notice"]:
            case "critiqueChecked":
                body = self._weak(data)
            case "budgetRefused":
                body = self._refused(data)
            case "documentsChecked":
                body = str(data["detail"]) if data["reason"] == "suspected" else None
            case "seatSilent":
                body = f"{', '.join(data['turns'])} is given up: {data['detail']}"
            case "attemptFailed":
                body = f"attempt failed ({data['reason']}): {data['detail']}"
            case _:
                body = f"{data['reason']}: {data['detail']}"
        if body:
            self._line("!", body, style="yellow", indent=2)

    def _weak(self, data: Data) -> str | None:
        if data["reason"] != "weak":
            return None
        signs = data["detail"].partition("weak: ")[2].partition(";")[0].split(", ")
        return f"the critique is weak: {'; '.join(say(SIGN, sign) for sign in signs)}"

    def _refused(self, data: Data) -> str:
        seats = ", ".join(turn.partition(".")[2].rpartition(".")[0] for turn in data["turns"])
        kept = "" if data["reason"] == "providerOverrun" else ", and the closing moderation is kept back"
        return f"money: the {seats} is not asked; {data['detail']}{kept}"

    def _ended(self, data: Data) -> None:
        self.stop()
        cost = data["overallCost"]
        reason = say(STOP, data["stopReason"])
        spent = f"spent {dollars(cost['spentUSD']).removesuffix(' USD')} of {dollars(cost['ceilingUSD'], 2)}"
        if micro(cost["excessUSD"]):
            spent += f", and a vendor billed {dollars(cost['excessUSD'])} above what was held"
        self._console.print()
        self._line(data["status"].capitalize(), f"{reason}; {spent}", style="bold")

    # -- shapes

    def _heading(self, round_: int) -> None:
        if round_ > self._round:
            self._round = round_
            self._line(f"Round {round_}", f"of at most {self._most}", style="bold")

    def _line(self, lead: str, body: str | Text, right: str = "", *, style: str = "", indent: int = 0) -> None:
        words = body if isinstance(body, Text) else text(body, style)
        self._console.print(row(text(lead, style or "bold"), words, text(right, "dim"), indent=indent))


def _who(data: Data) -> str:
    return f"{data['seat']} {data['position']}" if data.get("position") else str(data["seat"])


def _left(data: Data) -> str:
    return f"{dollars(data['leftUSD'])} left"


def _content(said: Data) -> str:
    """What a seat said, in numbers."""
    if given := said["proposerPosition"]:
        return counted(len(given["supporting_arguments"]), "argument")
    if given := said["criticPosition"]:
        points = counted(len(given["counter_arguments"]), "point")
        return f"{points}, strength {given['challengeStrength']}/10"
    given = said["rebuttalPosition"]
    return f"{counted(len(given['rebuttals']), 'answer')}, {counted(len(given['concessions']), 'concession')}"


def _verdicts(data: Data) -> list[Text]:
    """How its quotations fared, and what was struck for them."""
    good, bad = data["verified"], data["altered"] + data["notFound"]
    found = []
    if good + bad:
        found.append(text(f"{good}/{counted(good + bad, 'quotation')} verified", "red" if bad else "green"))
    if data["struck"]:
        numbers = ", ".join(map(str, data["struck"]))
        found.append(text(f"number {numbers} struck", "red"))
    return found
