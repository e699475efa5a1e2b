"""Migrations of the example's hosts, for tests: what a folder holds, and the run that writes it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from support import hosts, runs
from support.registry import NOW, Registry
from verifier.actions import migrate
from verifier.ask.migration import Request, plan_migration
from verifier.ask.trusted import Trust, trust
from verifier.core.migration import Migrated, Planned, Recovered

PAYLOAD: Final = str(hosts.EXAMPLE / "installer.py")
#: Long ago, so that a new time cannot be taken for it.
OLD_TIME: Final = 1_600_000_000


class Bench:
    """A folder of hosts, a folder for journals beside it, and what judges."""

    def __init__(self, folder: Path, registry: Registry, *, policy: str = "strict") -> None:
        self.folder = folder / "hosts"
        self.journals = folder / "state" / "pinproof" / "journals"
        self.folder.mkdir(exist_ok=True)
        self.registry = registry
        self.trust: Trust = trust(
            policy=policy,
            registry=str(registry.folder),
            root=runs.trusting(registry)[-1],
            clock=NOW,
        )

    def host(self, version: str, name: str = "host.py") -> Path:
        """Write a host of that version, with a time long ago; the name may lead below."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(hosts.host(version))
        os.utime(path, (OLD_TIME, OLD_TIME))
        return path

    def plan(self, to: str, *paths: Path, **changes: object) -> Planned:
        request = self.request(to, **changes)
        return plan_migration([str(path) for path in paths], request, trust=self.trust)

    def request(self, to: str, **changes: object) -> Request:
        fair = "example-fair-queue"
        given: dict[str, object] = {"to": to, "payload": (PAYLOAD,), "lineage": fair, **changes}
        return Request(**given)  # type: ignore[arg-type]

    def write(self, planned: Planned, **changes: object) -> Migrated:
        request = self.request("any", **changes)
        return migrate.write(planned, request, journals=self.journals, now=NOW)

    def migrate(self, to: str, *paths: Path, **changes: object) -> Migrated:
        """Plan and write; the plan must be sound."""
        planned = self.plan(to, *paths, **changes)
        assert planned.sound, [getattr(r, "findings", r) for r in planned.report.results]
        return self.write(planned, **changes)

    def undo(self, journal: str) -> Migrated:
        return migrate.undo(
            journal, self.trust, self.request("any"), journals=self.journals, now=NOW
        )

    def recover(self) -> Sequence[Migrated]:
        return self.recovered().ended

    def recovered(self) -> Recovered:
        return migrate.recover(self.trust, journals=self.journals)

    def names(self) -> list[str]:
        """Everything below the folder of hosts."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def states(self) -> list[str]:
        """Say how far each journal came."""
        if not self.journals.exists():
            return []
        return sorted(path.suffix for path in self.journals.iterdir())
