"""From targets to signed metadata: the way back of `trusted`.

Pure: the same targets, keys, versions and expiry give the same bytes, as far as the signature
scheme does (Ed25519 does, ECDSA does not). The metadata is printed with sorted keys and an
indent of one, so that a review shows what a signature covers.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from securesystemslib.signer import CryptoSigner, Key, Signer
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


def printed(metadata: Metadata[Any]) -> bytes:
    """Print metadata as it lies in a registry."""
    return metadata.to_bytes(JSONSerializer()) + b"\n"


def listed(targets: Mapping[str, bytes], folder: str) -> dict[str, TargetFile]:
    """Record length and SHA-256 of every target below one folder of `targets/`."""
    below = {path: data for path, data in targets.items() if path.startswith(f"{folder}/")}
    return {path: TargetFile.from_data(path, data) for path, data in sorted(below.items())}


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
        data = printed(metadata)
        signed[role] = data
        return MetaFile.from_data(versions.get(role, 1), data, ["sha256"])

    recorded = {
        f"{project}.json": sign(
            project,
            Targets(versions.get(project, 1), None, expires, listed(targets, project)),
        )
        for project in projects
    }
    top = Targets(versions.get("targets", 1), None, expires, listed(targets, "index"))
    top.delegations = _delegations(keys, projects)
    recorded["targets.json"] = sign("targets", top)
    snapshot = Snapshot(versions.get("snapshot", 1), None, expires, recorded)
    record = sign("snapshot", snapshot)
    sign("timestamp", Timestamp(versions.get("timestamp", 1), None, expires, record))
    sign("root", _root(keys, versions.get("root", 1), expires))
    named = {"root": f"{versions.get('root', 1)}.root"}
    return {f"metadata/{named.get(role, role)}.json": data for role, data in signed.items()}


def _root(keys: RoleKeys, version: int, expires: datetime) -> Root:
    given = {r: Keys(keys=_keys(keys[r]), threshold=keys[r].threshold) for r in TOP_LEVEL}
    return root_of(given, version, expires)


def _delegations(keys: RoleKeys, projects: list[str]) -> Delegations:
    return delegations_of(
        {p: Keys(keys=_keys(keys[p]), threshold=keys[p].threshold) for p in projects}
    )


def _keys(signers: Signers) -> tuple[Key, ...]:
    return tuple(signer.public_key for signer in signers.signers)


@frozen
class Keys:
    """Whose signatures a role needs, and how many of them."""

    keys: tuple[Key, ...]
    threshold: int = 1


def root_of(keys: Mapping[str, Keys], version: int, expires: datetime) -> Root:
    """Make a root that gives the four top-level roles their keys."""
    roles = {r: Role([k.keyid for k in keys[r].keys], keys[r].threshold) for r in TOP_LEVEL}
    root = Root(version, None, expires, None, roles, consistent_snapshot=False)
    for role in TOP_LEVEL:
        for key in keys[role].keys:
            root.add_key(key, role)
    return root


def delegations_of(projects: Mapping[str, Keys]) -> Delegations:
    """Delegate `<project>/*/*` to each project; a star does not reach across a slash."""
    return Delegations(
        keys={key.keyid: key for given in projects.values() for key in given.keys},
        roles={
            project: DelegatedRole(
                project,
                [key.keyid for key in given.keys],
                given.threshold,
                terminating=True,
                paths=[f"{project}/*/*"],
            )
            for project, given in projects.items()
        },
    )
