"""From targets to signed metadata: the way back of `trusted`.

Pure: the same targets, keys, versions and expiry give the same bytes, as far as the signature
scheme does (Ed25519 does, ECDSA does not). The metadata is printed with sorted keys and an
indent of one, so that a review shows what a signature covers.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from securesystemslib.signer import CryptoSigner, Signer
from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    Metadata,
    MetaFile,
    Role,
    Root,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)
from tuf.api.serialization.json import JSONSerializer

from verifier.core.value import frozen

TOP_LEVEL: Final = ("root", "snapshot", "targets", "timestamp")


@frozen
class Signers:
    """Who signs for a role: the keys at hand, and how many of them must."""

    signers: tuple[Signer, ...]
    threshold: int = 1

    @property
    def keyids(self) -> list[str]:
        """The ids of the keys, in their order."""
        return [signer.public_key.keyid for signer in self.signers]


#: The signers of the four top-level roles and of one delegated role a project.
RoleKeys = Mapping[str, Signers]


def projects_of(paths: Iterable[str]) -> list[str]:
    """Name the projects of some target paths; each has a role of its own."""
    return sorted({path.split("/")[0] for path in paths} - {"index"})


def fresh_keys(projects: Iterable[str]) -> RoleKeys:
    """Make one new Ed25519 key a role. They live as long as the value that is returned."""
    return {
        role: Signers(signers=(CryptoSigner.generate_ed25519(),))
        for role in (*TOP_LEVEL, *projects)
    }


def publish(
    targets: Mapping[str, bytes],
    *,
    keys: RoleKeys,
    versions: Mapping[str, int],
    expires: datetime,
) -> dict[str, bytes]:
    """Sign `targets`, given by their paths below `targets/`; return all of `metadata/`.

    `versions` gives the version of every role that is not at its first. Every role expires
    at `expires`.
    """
    projects = sorted(keys.keys() - {*TOP_LEVEL})
    signed: dict[str, bytes] = {}

    def sign(role: str, payload: Any) -> MetaFile:
        metadata = Metadata(payload)
        for signer in keys[role].signers:
            metadata.sign(signer, append=True)
        data = metadata.to_bytes(JSONSerializer()) + b"\n"
        signed[role] = data
        return MetaFile.from_data(versions.get(role, 1), data, ["sha256"])

    def listed(folder: str) -> dict[str, TargetFile]:
        below = {path: data for path, data in targets.items() if path.startswith(f"{folder}/")}
        return {path: TargetFile.from_data(path, data) for path, data in sorted(below.items())}

    recorded = {
        f"{project}.json": sign(
            project,
            Targets(versions.get(project, 1), None, expires, listed(project)),
        )
        for project in projects
    }
    top = Targets(versions.get("targets", 1), None, expires, listed("index"))
    top.delegations = _delegations(keys, projects)
    recorded["targets.json"] = sign("targets", top)
    snapshot = Snapshot(versions.get("snapshot", 1), None, expires, recorded)
    record = sign("snapshot", snapshot)
    sign("timestamp", Timestamp(versions.get("timestamp", 1), None, expires, record))
    sign("root", _root(keys, versions.get("root", 1), expires))
    named = {"root": f"{versions.get('root', 1)}.root"}
    return {f"metadata/{named.get(role, role)}.json": data for role, data in signed.items()}


def _root(keys: RoleKeys, version: int, expires: datetime) -> Root:
    roles = {role: Role(keys[role].keyids, keys[role].threshold) for role in TOP_LEVEL}
    root = Root(version, None, expires, None, roles, consistent_snapshot=False)
    for role in TOP_LEVEL:
        for signer in keys[role].signers:
            root.add_key(signer.public_key, role)
    return root


def _delegations(keys: RoleKeys, projects: list[str]) -> Delegations:
    """Delegate `<project>/*/*` to each project; a star does not reach across a slash."""
    return Delegations(
        keys={s.public_key.keyid: s.public_key for p in projects for s in keys[p].signers},
        roles={
            project: DelegatedRole(
                project,
                keys[project].keyids,
                keys[project].threshold,
                terminating=True,
                paths=[f"{project}/*/*"],
            )
            for project in projects
        },
    )
