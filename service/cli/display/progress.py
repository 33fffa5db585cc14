"""A debate as it happens, with one line for each important event.

The lines come from the events of the stream (``service.report.events``), so they are the same for a debate in this
process and for one that is followed over HTTP. Without a terminal no line moves: every line is written once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.status import Status
from rich.text import Text

from service.cli.display import summaries
from service.cli.display.console import counted, dollars, row, text
from service.cli.display.speakers import speaker
from service.debate.turns import take_of
from service.report.amounts import grouped
from service.report.labels import RULE, SIGN, STOP, label_of
from service.report.marks import neutral_texts
from service.report.shortened import short

Data = Mapping[str, Any]
LEAD, LEAD_MOST = 12, 20
"""The least and the greatest width of the speakers' column, in characters; names widen it."""

_DOING: Mapping[str, str] = {
    "screener": "is reading the case for passages that speak to a model",
    "framing": "is turning the question into a proposition",
    "proposer": "is arguing for it",
    "critic": "is arguing against it",
    "rebuttal": "is answering the critic",
    "moderator": "is weighing the arguments, not knowing whose they are",
    "judge": "is weighing the whole transcript",
    "classifier": "is saying what type of question it is",
    "adjudicator": "is weighing how far the debaters agree",
    "synthesizer": "is writing down what the debate came to",
}

_ASKED = {
    "repair": "gets the fault of its reply, and is asked once more",
    "fallback": "is asked in the place of the seat's own model",
}
"""Attempts that are more than a repetition."""


class _Waiting:
    """What is waited for, and for how many seconds already; it is cut to one line, never the seconds."""

    def __init__(self, words: str, since: float, clock: Callable[[], float]) -> None:
        self._words, self._since, self._clock = words, since, clock

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The line at this moment; rich asks for it several times a second."""
        passed = int(self._clock() - self._since)
        seconds = f" ({passed} s)" if passed else ""
        words = text(self._words, "dim")
        words.truncate(max(1, options.max_width - len(seconds)), overflow="ellipsis")
        yield words.append(seconds, style="dim")


class Progress:
    """Writes the lines of one debate on a console; ``clock`` gives seconds."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._calls: str | None = None
        self._status: Status | None = None
        self._lead = LEAD
        self._round = 0
        self._phase = (0, "")
        self._most = 1
        self._asking: dict[str, tuple[str, float]] = {}
        self._said: dict[str, Data] = {}

    def show_event(self, name: str, data: Data) -> None:
        """Show one event; an event with an unknown name is ignored."""
        tellers: dict[str, Callable[[Data], None]] = {
            "gate": self._gate,
            "started": self._started,
            "asked": self._asked,
            "debate.round_started": self._began,
            "round": self._spoke,
            "debate.response": self._spoke,
            "answers": self._answered,
            "verdict": self._decided,
            "citations": self._checked,
            "passages": self._compared,
            "classification": self._decided,
            "adjudication": self._decided,
            "swapped": self._swapped,
            "screening": self._screened,
            "masked": self._masked,
            "consensus": lambda found: self._line("Consensus", summaries.consensus(found), indent=2),
            "convergence": lambda found: self._line("Overlap", summaries.overlap(found), indent=2),
            "debate.converged": lambda found: self._line("Converged", summaries.overlap(found), indent=2),
            "synthesis": self._weighed,
            "accuracy": self._scored,
            "notice": self._noticed,
            "final": self._ended,
        }
        if teller := tellers.get(name):
            teller(neutral_texts({**data, **data.get("gainsay", {})}))

    def stop(self) -> None:
        """Remove the moving lines; printed lines stay."""
        if self._status:
            self._status.stop()
            self._status = None

    def wait_for_calls(self, calls: int) -> None:
        """From now on the debate is aborted: show that these calls are waited for, and how to end that."""
        if calls:
            self._calls = f"waiting for {counted(calls, 'call')}, Ctrl-C ends"
            self._asking["calls"] = (self._calls, self._clock())
            self._move()

    # -- one method for each event

    def _gate(self, data: Data) -> None:
        gate = data["gate"]
        if gate["debate"]:
            why = "every rule holds" if gate["decidedBy"] == "merits" else label_of(RULE, gate["decidedBy"]).lower()
            self._line("Gate", f"debate: {why} ({grouped(gate['rules'][0]['observed'])})")
        else:
            self._line("Gate", f"no debate, by the rule “{label_of(RULE, gate['decidedBy'])}”", style="yellow")

    def _started(self, data: Data) -> None:
        self._most = data["options"]["maxRounds"]
        self._lead = max([LEAD, *(min(len(self._who(one)), LEAD_MOST) for one in data.get("debaters", ()))])
        simulated = ", simulated models" if data["simulated"] else ""
        self._line(
            "Debate",
            f"{_format(data)}, at most {counted(self._most, 'round')}, ceiling {dollars(data['ceilingUSD'], 2)}, "
            f"expected {dollars(data['expectedUSD'])}{simulated}",
        )

    def _began(self, data: Data) -> None:
        if data["independent"]:
            self._line("Round 0", "each debater on its own, without the others' answers", style="bold")
        self._heading(data["round"])

    def _asked(self, data: Data) -> None:
        self._heading(data["round"])
        if take_of(data["turn"]) == 2 and data["attempt"] == 1:
            self._line("!", self._again(data), style="yellow", indent=2)
        if said := _ASKED.get(data["why"]):
            self._line("!", f"{self._who(data)}: {data['model']} {said}", style="yellow", indent=2)
        attempt = f" (attempt {data['attempt']})" if data["attempt"] > 1 else ""
        words = f"{self._who(data)} {_DOING.get(data['seat'], 'is speaking')}{attempt}"
        self._asking[data["turn"]] = (words, self._clock())
        self._move()

    def _again(self, data: Data) -> str:
        if data["seat"] == "critic":
            return "too weak a challenge: the critic is asked again, more strongly"
        return f"{self._who(data)} is asked once more, because of the marks in its words"

    def _spoke(self, data: Data) -> None:
        self._silenced([data["turn"]])
        if framing := data.get("framing"):
            self._line("Framing", short(framing["thesis"], 140), _left(data))
        else:
            self._said[data["turn"]] = data

    def _checked(self, data: Data) -> None:
        said = self._said.pop(data["turn"], None)
        if said is None:
            return
        if (phase := said.get("phase")) and (place := (said["round"], phase)) != self._phase:
            self._phase = place
            self._line("", f"{phase}:", style="dim", indent=2)
        body = Text(", ").join([text(summaries.content(said)), *summaries.verdicts(data)])
        self._line(self._who(data), body, _left(said), indent=2)

    def _answered(self, data: Data) -> None:
        """Answers to objections cite nothing, so no verdicts follow."""
        self._silenced([data["turn"]])
        self._line(self._who(data), summaries.content(data), _left(data), indent=2)

    def _compared(self, data: Data) -> None:
        if data["marked"] or data["unclear"] or any(one["kind"] == "verdict" for one in data.get("passages", ())):
            self._line("!", summaries.passages(self._who(data), data), style="yellow", indent=2)

    def _decided(self, data: Data) -> None:
        self._silenced([data["turn"]])
        self._line(self._who(data), summaries.decided(data), _left(data), indent=2)

    def _screened(self, data: Data) -> None:
        self._silenced([data["turn"]])
        style = "yellow" if data["suspicious"] or data.get("passages") else ""
        self._line(self._who(data), text(summaries.screened(data), style), _left(data), indent=2)

    def _swapped(self, data: Data) -> None:
        self._silenced([data["turn"]])
        words = f"asked again in the other order: {summaries.decided(data)}"
        self._line(self._who(data), words, _left(data), indent=2)

    def _masked(self, data: Data) -> None:
        self._silenced([data["turn"]])
        words = f"asked again with the flagged passages masked: {summaries.decided(data)}"
        self._line(self._who(data), words, _left(data), indent=2)

    def _weighed(self, data: Data) -> None:
        self._heading(data["round"])
        self._decided(data)
        if found := data.get("moderatorEvaluation"):
            scores = found["argumentQualityScore"]
            given = ", ".join(f"{seat} {score}" for seat, score in scores.items() if score is not None)
            more = "wants another round" if found["recommendAnotherRound"] else "wants no further round"
            self._line("", f"scores: {given}", indent=2)
            self._line("", more, indent=2)

    def _scored(self, data: Data) -> None:
        if turn := data.get("turn"):
            self._silenced([turn])
        self._line("Accuracy", summaries.accuracy(data), indent=2)

    def _noticed(self, data: Data) -> None:
        match data["notice"]:
            case "critiqueChecked":
                body = self._weak(data)
            case "budgetRefused":
                body = self._refused(data)
            case "documentsChecked" | "synthesisCompared":
                body = str(data["detail"])
            case "voicesChecked":
                body = f"no argument of its own: {self._whose(data)}"
            case "seatSilent":
                body = f"{self._whose(data)} is silent: {data['detail']}"
            case "attemptFailed":
                body = f"attempt failed ({data['reason']}): {data['detail']}"
            case _:
                body = f"{data['reason']}: {data['detail']}"
        if data["notice"] in ("attemptFailed", "seatSilent"):
            self._silenced(one["turn"] for one in data["seats"])
        if body:
            self._line("!", body, style="yellow", indent=2)

    def _weak(self, data: Data) -> str | None:
        if data["reason"] != "weak":
            return None
        signs = data["detail"].partition("weak: ")[2].partition(";")[0].split(", ")
        return f"the critique is weak: {'; '.join(label_of(SIGN, sign) for sign in signs)}"

    def _refused(self, data: Data) -> str:
        kept = "" if data["reason"] == "providerOverrun" else ", and what closes the debate is kept back"
        return f"money: {self._whose(data)} is not asked; {data['detail']}{kept}"

    def _ended(self, data: Data) -> None:
        self.stop()
        data = data["result"] if "event" in data else data  # a panel's, beside the members of its reference
        if data["status"] == "declined":  # the gate's line has said so
            return
        cost = data["decision"]["cost"]
        reason = label_of(STOP, data["stopReason"])
        spent = f"spent {dollars(cost['spentUSD']).removesuffix(' USD')} of {dollars(cost['ceilingUSD'], 2)}"
        if "excessUSD" in cost:
            spent += f", and a vendor billed {dollars(cost['excessUSD'])} above its reservation"
        self._console.print()
        self._line(data["status"].capitalize(), f"{reason}; {spent}", style="bold")

    # -- the turns under way

    def _silenced(self, turns: Iterable[str]) -> None:
        """Remove these turns from those under way."""
        for turn in turns:
            self._asking.pop(turn, None)
        self._move()

    def _move(self) -> None:
        """Show on a terminal the turns under way."""
        if not self._console.is_terminal:
            return
        if not self._asking:
            self.stop()
            return
        waited = list(self._asking.values())
        said = waited[0][0] if len(waited) == 1 else f"{len(waited)} seats are speaking at once"
        words = _Waiting(self._calls or said, min(since for _, since in waited), self._clock)
        if self._status is None:
            self._status = self._console.status(words, spinner="dots")
            self._status.start()
        else:
            self._status.update(words)

    # -- shapes

    def _who(self, data: Data) -> str:
        name = str(data.get("name") or data.get("label") or speaker(None, data["seat"]))
        return f"{name} {data['position']}" if data.get("position") else name

    def _whose(self, data: Data) -> str:
        return ", ".join(dict.fromkeys(self._who(one) for one in data.get("seats", ())))

    def _heading(self, round_: int) -> None:
        if round_ > self._round:
            self._round = round_
            self._line(f"Round {round_}", f"of at most {self._most}", style="bold")

    def _line(self, lead: str, body: str | Text, right: str = "", *, style: str = "", indent: int = 0) -> None:
        words = body if isinstance(body, Text) else text(body, style)
        shown = row(text(lead, style or "bold"), words, text(right, "dim"), lead_width=self._lead, indent=indent)
        self._console.print(shown)


def _format(data: Data) -> str:
    """The format without its version: ``ballot/1`` is ballot."""
    return str(data["format"]).partition("/")[0]


def _left(data: Data) -> str:
    return f"{dollars(data['leftUSD'])} left"
