"""What is examined, and by which checks.

`gainsay config check` makes those of the configuration and of the database's logins. `gainsay doctor` makes the same,
and those of what the configuration names and of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import click

from service.cli import exit_codes
from service.cli.doctor import configuration, deployment
from service.cli.doctor.findings import Check, Finding, Secrets, examined, skipped
from service.cli.startup import LOCAL
from service.cli.terminal_text import print_json, say
from service.policy.file.tenants import with_all_providers
from service.policy.settings import SHIPPED_POLICY, Settings, read_environment, read_policy
from service.store.startup import DatabaseAddresses, unchecked_addresses

_COLOURS = {"OK": "green", "WARNING": "yellow", "FAILED": "red", "SKIPPED": None}
Named = tuple[str, Check]
ROLES = ("sequencer", "serving", "migrating")
SURROUNDINGS = ("clock", "incidents")


class Examination:
    """The settings and the policy of these variables, as far as they can be read.

    ``policy`` is ``None`` for a file with faults.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment, self._found = environment, read_environment(environment)
        file, self._of_policy = configuration.read_whole(self._found)
        self.policy = None if file is None else file.policy
        self._keyed = None if file is None else with_all_providers(file.policy, file.tenants)
        self.settings = Settings(
            policy=self.policy or read_policy(SHIPPED_POLICY),
            tenants={} if file is None else file.tenants,
            policy_path=self._found.policy_path,
            **self._found.members,
        )

    def of_configuration(self, *, asks: bool = True) -> Iterator[Named]:
        """The checks that need no other process; ``asks``: this one asks vendors, which takes their keys."""
        keyed, environment = self._keyed, self._environment
        yield "settings", partial(configuration.check_settings, self._found, environment)
        yield "policy", lambda: self._of_policy
        yield "prompts", partial(configuration.check_prompts, self.settings.prompts_pin)
        if keyed is None:
            yield from _unread("keys", "approval")
        else:
            looked = partial(configuration.check_keys, keyed, environment)
            yield "keys", looked if asks else partial(_skip, ("keys",), "a process without a worker asks no vendor")
            yield "approval", partial(configuration.check_approval, self.settings)
        yield "identity", partial(configuration.check_identity, self.settings)
        yield "sets", partial(configuration.check_sets, self.settings)

    def of_surroundings(self) -> Iterator[Named]:
        """The checks of what the configuration names, and of this machine."""
        if self.policy is None:
            yield from _unread("witness", "time stamps")
        else:
            for witness in self.policy.audit.witnesses:
                first = f"{self.settings.log_host}/{LOCAL.tenant}/1"
                yield "witness", partial(deployment.check_witness, witness, first)
            if not self.policy.audit.witnesses:
                yield "witness", partial(_skip, ("witness",), "the policy names none: bundles are UNWITNESSED")
            yield "time stamps", partial(deployment.check_time_stamps, self.policy)
        yield "signer", partial(deployment.check_signer, self.settings, self._environment)
        yield "heads", partial(deployment.check_heads, self.settings)
        yield "disk", partial(deployment.check_disk, self.settings.data_dir)

    def of_database(self, *, start: bool = False, whole: bool = True) -> Named:
        """The check of the database's roles, and with ``whole`` of its clock and incidents.

        The embedded one is looked at only where it runs, or with ``start``.
        """
        return "database", partial(self._database, start, whole)

    def without_database(self, why: str) -> Named:
        """The same, where nothing is asked."""
        return "database", partial(_skip, ("database", *ROLES), why)

    def report(self, checks: Sequence[Named], *, as_json: bool) -> int:
        """Make the checks, print each finding without a secret, and give the exit code."""
        secrets, findings = Secrets(self._environment, self._keyed), list[Finding]()
        for name, check in checks:
            for finding in examined(name, check):
                findings.append(secrets.hidden(finding))
                if not as_json:
                    _print(findings[-1])
        if as_json:
            print_json(findings)
        return exit_codes.NEGATIVE if any(finding.status == "FAILED" for finding in findings) else exit_codes.DONE

    def _database(self, start: bool, whole: bool) -> Iterator[Finding]:
        settings = self.settings
        if settings.database_url is None and not start and not deployment.embedded_runs(settings.data_dir):
            yield deployment.embedded_state(settings.data_dir)
            yield from _skip((*ROLES, *(SURROUNDINGS if whole else ())), "the database was not looked at")
            return
        with unchecked_addresses(settings, start=start) as found:
            yield from self._roles(found)
            if whole:
                skew_s = float(settings.policy.audit.clock_skew_s)
                yield from examined("clock", partial(deployment.check_clock, found.service, skew_s))
                yield from examined("incidents", partial(deployment.check_incidents, found.service))

    def _roles(self, found: DatabaseAddresses) -> Iterator[Finding]:
        """Each login that this process has: whether it is let in, with its role and no more."""
        ours = list(examined("database", partial(deployment.check_service, found.service)))
        yield from ours
        service = None if any(finding.status == "FAILED" for finding in ours) else found.service
        if found.sequencer is None:
            yield skipped("sequencer", "no GAINSAY_SEQUENCER_URL is set: `gainsay sequence` runs elsewhere")
        else:
            yield from examined("sequencer", partial(deployment.check_sequencing, found.sequencer, service))
        if found.serving is None:
            yield skipped("serving", "no GAINSAY_API_URL is set: `gainsay serve` runs elsewhere")
        else:
            yield from examined("serving", partial(deployment.check_callers, found.serving, service))
        if self.settings.migrate_url is None:
            yield skipped("migrating", "no GAINSAY_MIGRATE_URL is set: `gainsay migrate` runs elsewhere")
        else:
            yield from examined("migrating", partial(deployment.check_migrating, self.settings.migrate_url))


def _unread(*names: str) -> Iterator[Named]:
    """Checks that need a policy, where there is none: they are named, and skipped."""
    for name in names:
        yield name, partial(_skip, (name,), "the policy cannot be read")


def _skip(names: Sequence[str], why: str) -> Iterator[Finding]:
    for name in names:
        yield skipped(name, why)


def _print(finding: Finding) -> None:
    status = click.style(f"{finding.status:<7}", fg=_COLOURS[finding.status])
    first, *others = finding.found.splitlines() or [""]
    say(f"  {finding.check:<12} {first}", lead=status)
    for further in (*others, *finding.remedy.splitlines()):
        say(f"{'':<21} {further}")
