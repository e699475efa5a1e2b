"""The floor: versions already seen, below which a registry is refused (FORMATS §1).

A floor is an input and never written by verifying. Whoever keeps one (a policy, an operator,
`update registry`) hands it in; a run without one says "rollback: not checked".

Source: TUF specification 1.0, §5.4 to §5.6 (a client remembers the last versions it trusted);
the same version with other bytes is refused too, which TUF leaves open for roots and targets.
"""

import json
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Self

from verifier.catalog.tuf.problems import UPDATE, problem
from verifier.catalog.tuf.values import Trusted
from verifier.core.digest import sha256
from verifier.core.finding import Finding
from verifier.core.table import Table
from verifier.core.value import frozen

#: Where below a user's state floors are kept.
_FLOORS: Final = "floors"
_SNAPSHOT: Final = "metadata/snapshot.json"


@frozen
class Floor:
    """The least acceptable versions. The default refuses nothing."""

    root: int = 0
    timestamp: int = 0
    snapshot: int = 0
    snapshot_sha256: str | None = None
    roles: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Self:
        """Read `floor/v1`; raises `MalformedError` that lists every mistake."""
        table = Table.json(data, what=what, remedy="restore the floor from its own copy")
        table.text("schema", choices=["floor/v1"])
        root, timestamp = table.table("root"), table.table("timestamp")
        snapshot, roles = table.table("snapshot"), table.table("roles")
        floor = cls(
            root=root.integer("version", least=1),
            timestamp=timestamp.integer("version", least=1),
            snapshot=snapshot.integer("version", least=1),
            snapshot_sha256=snapshot.sha256("sha256"),
            roles={name: roles.integer(name, least=1) for name in roles.keys()},  # noqa: SIM118
        )
        for below in (root, timestamp, snapshot):
            below.close()
        table.done()
        return floor

    @classmethod
    def of(cls, trusted: Trusted) -> Self:
        """Return the floor that a registry, once seen, sets for every later one."""
        return cls(
            root=trusted.root_version,
            timestamp=trusted.timestamp_version,
            snapshot=trusted.snapshot_version,
            snapshot_sha256=trusted.snapshot_sha256,
            roles=dict(sorted(trusted.roles.items())),
        )

    def highest(self, other: "Floor") -> "Floor":
        """Return the floor that refuses what either of the two refuses."""
        leading = self if self.snapshot >= other.snapshot else other
        names = self.roles.keys() | other.roles.keys()
        return Floor(
            root=max(self.root, other.root),
            timestamp=max(self.timestamp, other.timestamp),
            snapshot=leading.snapshot,
            snapshot_sha256=leading.snapshot_sha256,
            roles={n: max(self.roles.get(n, 0), other.roles.get(n, 0)) for n in sorted(names)},
        )

    def raised(self, min_snapshot: int) -> Self:
        """Return this floor with a snapshot version of at least `min_snapshot`."""
        if min_snapshot <= self.snapshot:
            return self
        # What had the lower version says nothing of the higher one's bytes.
        return replace(self, snapshot=min_snapshot, snapshot_sha256=None)

    def print(self) -> bytes:
        """Print the document that `parse` reads."""
        value = {
            "schema": "floor/v1",
            "root": {"version": self.root},
            "timestamp": {"version": self.timestamp},
            "snapshot": {"version": self.snapshot, "sha256": self.snapshot_sha256},
            "roles": dict(sorted(self.roles.items())),
        }
        return json.dumps(value, indent=1).encode() + b"\n"

    def __str__(self) -> str:
        """Print what a report says, or "" where the floor refuses nothing."""
        versions = (
            ("root", self.root),
            ("timestamp", self.timestamp),
            ("snapshot", self.snapshot),
            *sorted(self.roles.items()),
        )
        return ", ".join(f"{name} {version}" for name, version in versions if version)

    def replaced(self, version: int, sha256: str) -> Finding | None:
        """Say if the snapshot has the floor's version and other bytes."""
        if version != self.snapshot or self.snapshot_sha256 in (None, sha256):
            return None
        return problem(
            "registry-replaced",
            _SNAPSHOT,
            f"version {version} as {sha256}",
            expected=f"version {version} as {self.snapshot_sha256}",
            cause="one version was signed twice, so that two users see two registries",
            remedy="ask the registry's maintainers which one is theirs",
        )


def kept_at(state: Path, root: bytes) -> Path:
    """Return where `update registry` keeps the floor of the registry that has this root."""
    return state / _FLOORS / f"{sha256(root)}.json"


def rolled_back(role: str, version: int, least: int, path: str) -> Finding | None:
    """Say if a role is older than the floor, or gone (version 0)."""
    if version >= least:
        return None
    return problem(
        "registry-rolled-back",
        path,
        f"version {version}" if version else "no such role",
        expected=f"role {role}, version {least} or later",
        cause="an older registry was put in the place of one already seen",
        remedy=UPDATE,
    )
