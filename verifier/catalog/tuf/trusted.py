"""The trusted set: bytes in, trusted values out, in the ten steps of FORMATS §1.

 1. The form of every piece of metadata: sizes, `_type`, specification 1, versions, times (`shape`).
 2. The root chain, from the root that is trusted, one version after the other; each new root is
    signed by the threshold of the one before it and by its own. Only the last may not be expired.
 3. Keys and thresholds of every piece of metadata that names keys (`keys`).
 4. The timestamp: signatures, floor, expiry.
 5. The snapshot: the timestamp's length and SHA-256 before it is parsed, then signatures,
    version, floor (of itself and of every role), expiry.
 6. Targets and delegated roles: the snapshot's length and SHA-256 before they are parsed, then
    signatures by the keys that their *delegator* gives for that name, version, expiry.
 7. Delegations in the order given, at most 32, every role once; a target belongs to the role in
    which a TUF client finds it (`delegation`).
 8. Names of targets and of roles are plain (`shape`); the bytes of a target are compared when
    they are read (`problems.mismatch`).
 9. What is there but was not signed, and what was signed but is not there.
10. One time, passed in: `now >= expires` is expired.

Nothing here reads a file or a clock. A step that fails ends the steps that build on it and no
others, so that one run names every problem that stands on its own; nothing is believed if there
is any.

Sources: TUF specification 1.0, §5 (client workflow); python-tuf's `TrustedMetadataSet`, whose
order this follows (not used: 30 ms to import, counts key ids, reads duplicate keys, ignores
unlisted files).
"""

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tuf.api.metadata import MetaFile, Root, Snapshot, Targets, Timestamp, VerificationResult

from verifier.catalog.floor import Floor, rolled_back
from verifier.catalog.tuf.delegation import TOP, targets_of
from verifier.catalog.tuf.files import Listing
from verifier.catalog.tuf.keys import signature_finding
from verifier.catalog.tuf.problems import UPDATE, mismatch, missing, problem, unlisted
from verifier.catalog.tuf.shape import Document, S, read_document
from verifier.catalog.tuf.values import Held, Target, Trusted
from verifier.core.clock import print_time
from verifier.core.digest import Pin, sha256
from verifier.core.finding import Finding
from verifier.core.limits import DELEGATIONS, ROOT_STEPS
from verifier.core.value import frozen

_ROOT_FILE: Final = re.compile(r"metadata/([1-9][0-9]{0,8})\.root\.json")
#: Metadata of at most so many bytes is remembered as read.
_SMALL: Final = 1 << 18
#: What a finding calls the root that the caller trusts.
ANCHOR: Final = "the trusted root"


@frozen
class Anchor:
    """What is trusted: the bytes of a root. `first` if the registry must start with it."""

    root: bytes
    first: bool


def authenticate(
    read: Callable[[str], bytes | Finding],
    listing: Listing,
    *,
    anchor: Anchor,
    now: datetime,
    floor: Floor,
) -> Trusted | tuple[Finding, ...]:
    """Authenticate a registry from its trusted root down, or say everything that is wrong."""
    steps = _Steps(read=read, listing=listing, now=now, floor=floor)
    trusted = steps.take(anchor)
    findings = (*listing.findings, *steps.findings)
    if trusted is None or findings:
        return findings
    return trusted


@dataclass(slots=True)
class _Steps:
    """The steps of one run, with what they have found so far."""

    read: Callable[[str], bytes | Finding]
    listing: Listing
    now: datetime
    floor: Floor
    findings: list[Finding] = field(default_factory=list)
    signed_by: list[str] = field(default_factory=list)
    expires: list[datetime] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    accounted: set[str] = field(default_factory=set)
    """Metadata files that a step has asked for, whatever came of it."""

    def take(self, anchor: Anchor) -> Trusted | None:
        """Take every step; None if a step failed that others build on."""
        root = self._chain(anchor)
        timestamp = self._timestamp(root.signed) if root else None
        snapshot = (
            self._snapshot(root.signed, timestamp.signed.snapshot_meta)
            if root and timestamp
            else None
        )
        roles = self._roles(root.signed, snapshot.signed) if root and snapshot else None
        if not (root and timestamp and snapshot and roles):
            return None
        targets, astray = targets_of(roles)
        self.findings += astray
        self._account_for(snapshot.signed, roles, targets)
        return Trusted(
            root_version=root.signed.version,
            root_sha256=root.sha256,
            timestamp_version=timestamp.signed.version,
            snapshot_version=snapshot.signed.version,
            snapshot_sha256=snapshot.sha256,
            roles={name: role.version for name, role in roles.items()},
            expires=min(self.expires),
            signed_by=tuple(sorted(self.signed_by)),
            targets=targets,
            held=tuple(self.held),
        )

    # ── 2: the root chain ──────────────────────────────────────────────────────────────────

    def _chain(self, anchor: Anchor) -> Document[Root] | None:
        document = self._document(anchor.root, ANCHOR, Root)
        signed = self._vouched(document, document.signed, "root") if document else None
        if document is None or signed is None:
            return None
        first = document.signed.version
        if not self._starts_with(anchor, first):
            return None
        present = {int(m[1]) for m in map(_ROOT_FILE.fullmatch, self.listing.files) if m}
        # Earlier roots are history: nothing is believed because of them, and none is read.
        self.accounted |= {_root_file(version) for version in present if version <= first}
        for version in range(first + 1, max(present, default=first) + 1):
            if version - first > ROOT_STEPS:
                self._add(_too_many_roots(version))
                return None
            document = self._next_root(document, version)
            signed = self._vouched(document, document.signed, "root") if document else None
            if document is None or signed is None:
                return None
        self._floor_of("root", document, self.floor.root)
        self._conclude("root", document, signed)
        return document

    def _starts_with(self, anchor: Anchor, version: int) -> bool:
        """Compare the registry's own copy of the trusted root, byte by byte."""
        path = _root_file(version)
        if path in self.listing.odd:
            return False
        data = self.read(path) if path in self.listing.files else None
        if data == anchor.root or (data is None and not anchor.first):
            return True
        if isinstance(data, Finding):
            self._add(data)
        elif data is not None and anchor.root.startswith(data):
            self._add(mismatch(data, Pin.of(anchor.root), path))
        else:
            self._add(_untrusted(anchor, data, version))
        return False

    def _next_root(self, last: Document[Root], version: int) -> Document[Root] | None:
        """Load the next root, signed by the threshold of the last; its own comes after."""
        document = self._load(_root_file(version), Root)
        if (
            document is not None
            and self._version(document, version)
            and self._vouched(document, last.signed, "root") is not None
        ):
            return document
        return None

    # ── 4 and 5: timestamp and snapshot ────────────────────────────────────────────────────

    def _timestamp(self, root: Root) -> Document[Timestamp] | None:
        document = self._load("metadata/timestamp.json", Timestamp)
        signed = self._vouched(document, root, "timestamp") if document else None
        if document is None or signed is None:
            return None
        self._floor_of("timestamp", document, self.floor.timestamp)
        self._conclude("timestamp", document, signed)
        return document

    def _snapshot(self, root: Root, record: MetaFile) -> Document[Snapshot] | None:
        document = self._load("metadata/snapshot.json", Snapshot, _pin(record))
        signed = self._vouched(document, root, "snapshot") if document else None
        if document is None or signed is None:
            return None
        self._version(document, record.version)
        self._floor_of("snapshot", document, self.floor.snapshot)
        self._add(self.floor.replaced(document.signed.version, document.sha256))
        for role, least in sorted(self.floor.roles.items()):
            recorded = document.signed.meta.get(f"{role}.json")
            version = recorded.version if recorded else 0
            self._add(rolled_back(role, version, least, document.path))
        self._conclude("snapshot", document, signed)
        return document

    # ── 6 and 7: targets and delegated roles ───────────────────────────────────────────────

    def _roles(self, root: Root, snapshot: Snapshot) -> dict[str, Targets] | None:
        """Load every role that a delegation leads to; None if one of them fails."""
        loaded: dict[str, Document[Targets] | None] = {}
        steps: list[tuple[Root | Targets, str]] = [(root, TOP)]
        for delegator, name in steps:  # grows while it is walked
            first = name not in loaded
            document = self._role(name, snapshot) if first else loaded[name]
            signed = self._vouched(document, delegator, name) if document else None
            loaded[name] = document if signed is not None else None
            if document is None or signed is None or not first:
                continue
            self._conclude(name, document, signed)
            delegations = document.signed.delegations
            below = delegations.roles if delegations else None
            steps += [(document.signed, role) for role in below or {}]
            if len(steps) - 1 > DELEGATIONS:
                most = f"at most {DELEGATIONS} delegations"
                self._add(problem("registry-too-large", document.path, "more", expected=most))
                return None
        roles = {name: found.signed for name, found in loaded.items() if found is not None}
        return roles if len(roles) == len(loaded) else None

    def _role(self, name: str, snapshot: Snapshot) -> Document[Targets] | None:
        path = f"metadata/{name}.json"
        record = snapshot.meta.get(f"{name}.json")
        if record is None:
            self.accounted.add(path)
            self._add(missing(path, cause="the snapshot has no record of the role"))
            return None
        others = [_pin(meta) for meta in snapshot.meta.values()]
        document = self._load(path, Targets, _pin(record), others)
        if document is None or not self._version(document, record.version):
            return None
        return document

    # ── 9: what is there and what was signed ───────────────────────────────────────────────

    def _account_for(
        self, snapshot: Snapshot, roles: Mapping[str, Targets], targets: Mapping[str, Target]
    ) -> None:
        signed = {f"targets/{path}" for path in targets}
        for path in sorted(signed - self.listing.files - self.listing.odd):
            self._add(missing(path))
        recorded = {f"metadata/{name}" for name in snapshot.meta}
        for path in sorted(recorded - self.accounted):
            self._add(_unreachable(path))
        listed = {f"targets/{path}" for role in roles.values() for path in role.targets}
        for path in sorted(self.listing.files - listed - recorded - self.accounted):
            self._add(unlisted(path))

    # ── what all steps share ───────────────────────────────────────────────────────────────

    def _load(
        self, path: str, kind: type[S], pin: Pin | None = None, others: Iterable[Pin] = ()
    ) -> Document[S] | None:
        """Read metadata; where it was recorded, compare its bytes before they are parsed."""
        self.accounted.add(path)
        if path not in self.listing.files:
            self._add(None if path in self.listing.odd else missing(path))
            return None
        data = self.read(path)
        wrong = data if isinstance(data, Finding) else None
        if isinstance(data, bytes) and pin is not None:
            wrong = mismatch(data, pin, path, others)
        self._add(wrong)
        return None if wrong or isinstance(data, Finding) else self._document(data, path, kind)

    def _document(self, data: bytes, path: str, kind: type[S]) -> Document[S] | None:
        read = _read_again if len(data) <= _SMALL else _read
        document = read(data, path, kind)
        if isinstance(document, Document):
            return document
        self.findings += document
        return None

    def _vouched(
        self, document: Document[S], delegator: Root | Targets, role: str
    ) -> VerificationResult | None:
        """Check the signatures on a document against the delegator's keys for its role."""
        result = delegator.get_verification_result(role, document.payload, document.signatures)
        finding = signature_finding(result, role, document.signatures, document.path)
        self._add(finding)
        return None if finding else result

    def _version(self, document: Document[S], version: int) -> bool:
        got = document.signed.version
        if got != version:
            self._add(_other_version(document.path, version, got))
        return got == version

    def _floor_of(self, role: str, document: Document[S], least: int) -> None:
        self._add(rolled_back(role, document.signed.version, least, document.path))

    def _conclude(self, role: str, document: Document[S], signed: VerificationResult) -> None:
        """Note who signed, and compare the one time with the expiry (step 10)."""
        self.signed_by += [f"{role} {keyid}" for keyid in sorted(signed.signed)]
        self.expires.append(document.signed.expires)
        self.held.append(
            Held(
                role=role,
                version=document.signed.version,
                expires=document.signed.expires,
                threshold=signed.threshold,
                keyids=tuple(sorted({**signed.signed, **signed.unsigned})),
                signed=tuple(sorted(signed.signed)),
            )
        )
        if self.now >= document.signed.expires:
            self._add(_expired(role, document.path, document.signed.expires, self.now))

    def _add(self, finding: Finding | None) -> None:
        if finding is not None:
            self.findings.append(finding)


def _read(data: bytes, path: str, kind: Any) -> Any:
    return read_document(data, path=path, kind=kind)


#: Whoever asks many questions opens one registry as often. What its bytes say is the same each
#: time, and half of the work; who vouched for them and until when is looked at anew.
_read_again: Final = functools.lru_cache(64)(_read)


def _root_file(version: int) -> str:
    return f"metadata/{version}.root.json"


def _pin(record: MetaFile) -> Pin:
    hashes = record.hashes or {}
    return Pin(sha256=hashes.get("sha256", ""), length=record.length)


def _untrusted(anchor: Anchor, data: bytes | None, version: int) -> Finding:
    return problem(
        "registry-untrusted-root",
        _root_file(version),
        "no such file" if data is None else f"root {sha256(data)}",
        expected=f"root {sha256(anchor.root)}, version {version}",
        cause="the registry was made by someone else, or its root was replaced",
        remedy="name the root that you trust with --root, or use the registry that pinproof "
        "came with",
    )


def _too_many_roots(version: int) -> Finding:
    return problem(
        "registry-too-large",
        _root_file(version),
        "more",
        expected=f"at most {ROOT_STEPS} steps from the trusted root",
        remedy="name a later root that you trust with --root",
    )


def _unreachable(path: str) -> Finding:
    return problem(
        "registry-unreachable-role",
        path,
        "a record in the snapshot",
        expected="only roles that a delegation leads to",
        cause="the delegation was taken away, or the role was slipped in",
    )


def _other_version(path: str, version: int, got: int) -> Finding:
    return problem(
        "registry-version",
        path,
        f"version {got}",
        expected=f"version {version}",
        cause="an older or newer file was put in its place",
    )


def _expired(role: str, path: str, expires: datetime, now: datetime) -> Finding:
    return problem(
        "registry-expired",
        path,
        f"role {role} expired at {print_time(expires)}",
        expected=f"an expiry after {print_time(now)}",
        cause="signatures and digests hold, but nobody vouches for them any longer",
        remedy=UPDATE,
    )
