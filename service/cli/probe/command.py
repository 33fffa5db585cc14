"""``gainsay probe``, for a CronJob and for a person who asks whether the service works."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli.access import place
from service.cli.terminal_text import print_json, say
from service.errors import GainsayError, SettingsError
from service.policy.settings import SERVER
from service.verify.steps import Trust

WITHIN_S = 60.0


@click.command()
@click.option("--server", metavar="URL", help=f"The service, as https://gainsay.example.  [default: {SERVER}]")
@click.option(
    "--within",
    type=click.FloatRange(min=1, max=3600),
    default=WITHIN_S,
    show_default=True,
    metavar="SECONDS",
    help="The time for everything.",
)
@click.option("--key", "keys", multiple=True, metavar="VKEY", help="A pinned key, of log or approver; may be repeated.")
@click.option("--witness", "witnesses", multiple=True, metavar="VKEY", help="A pinned witness's key; may be repeated.")
@click.option(
    "--metrics",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Replace this file with metrics of the probe, for the textfile collector of node exporter.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in the place of the line.")
def probe(
    server: str | None,
    within: float,
    keys: tuple[str, ...],
    witnesses: tuple[str, ...],
    metrics: Path | None,
    *,
    as_json: bool,
) -> int:
    """Probe a running service: one debate of simulated models, checked from its readiness to its proof.

    Brings a case with the key of the prober's tenant (GAINSAY_TOKEN), waits for its end, and checks that it is
    completed, that it stays below its ceiling, that its charges sum up, and that its bundle is verified offline: with
    --key also that a key which you have pinned signed it. Prints one line, with what failed and what to do.

    The tenant is one of the policy, with purpose = "probe" (docs/runbook.md). It has a log of its own, has simulated
    models alone and so costs nothing at a vendor, and stands in no metric of what debates are like.

    \b
    gainsay probe --server https://gainsay.example --key VKEY
    gainsay probe --within 30 --metrics /var/lib/node_exporter/gainsay_probe.prom

    \b
    Exit codes
      0  good
      1  the service answers, and what it says is wrong: a result, an amount
         or a proof
      2  refused: the key, the policy or the command is not the prober's
      3  failed: not reached, not ready, too late, or the debate failed
      4  the proof is verified in part: a step was not checkable
    """
    from service.cli.probe.steps import Probe
    from service.cli.probe.textfile import write_metrics

    running, fault = Probe(_trust(keys, witnesses), within), None
    try:
        place.by_service(_address(server), running.run)
    except GainsayError as error:
        running.fail(error)
    except Exception as found:  # noqa: BLE001 - the metrics say it too, before it goes on its way
        running.fault(fault := found)
    probed = running.ended
    if metrics is not None:
        write_metrics(probed, metrics)
    if fault is not None:
        raise fault
    if as_json:
        print_json(probed.as_json())
    else:
        say(probed.line)
    return probed.code


def _address(server: str | None) -> str:
    """The service to ask; raises `SettingsError` where none is named."""
    found = place.server_of(server)
    if found is None:
        raise SettingsError(f"a probe asks a running service; name it with --server, or in {SERVER}")
    return found


def _trust(keys: tuple[str, ...], witnesses: tuple[str, ...]) -> Trust:
    """What was pinned; what was not is accepted without a check, and the line says so."""
    from service.audit.note import COSIGNATURE, ED25519
    from service.cli.audit.verify import pinned

    ours, seen = pinned("--key", keys, ED25519), pinned("--witness", witnesses, COSIGNATURE)
    return Trust(
        ours,
        seen,
        quorum=max(1, len({key.name for key in seen})),
        allow_unsigned=not ours,
        allow_self_approved=not ours,
        allow_unwitnessed=not seen,
        allow_loose_times=not seen,
        allow_unchecked_lines=not (ours and seen),
    )
