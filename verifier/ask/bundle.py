"""Whether somebody who was named has signed a file, and when: bundles and envelopes, offline."""

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from verifier.ask.answers import unregistered
from verifier.ask.shared_work import done_by_two
from verifier.ask.sigstore_root import sigstore_root
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog import signer_names
from verifier.catalog.open import Catalog
from verifier.catalog.refused import Refused
from verifier.checks.bundle import (
    Asked,
    check,
    malformed,
    refused,
    unknown_version,
    wrong_kind,
)
from verifier.core.demand import FACETS
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.limits import DOCUMENT_BYTES, SIGNED_WHOLE_BYTES
from verifier.core.outcome import Failed, Outcome, Report, Result, Subject
from verifier.core.table import MalformedError
from verifier.core.verdict import Exit, Verdict
from verifier.evidence import managed
from verifier.evidence.artifact import DIGESTS, Artifact
from verifier.evidence.bundle import Bundle, Message, UnknownVersionError
from verifier.evidence.claim import Identity
from verifier.evidence.keys import PublicKey
from verifier.evidence.signers import key_of
from verifier.evidence.statement import COUNTING
from verifier.evidence.trusted_root import TrustedRoot
from verifier.policy import judge
from verifier.sources import file

if TYPE_CHECKING:
    from verifier.evidence.sigstore import Sigstore

_DIGEST: Final = re.compile("sha256:([0-9a-f]{64})")
_WHO: Final = (
    "name who has to have signed: --signer NAME, or --key PEM, or --certificate-identity with "
    "--certificate-oidc-issuer"
)


def verify_bundle(
    files: Sequence[str],
    *,
    bundles: Sequence[str],
    key: str | None = None,
    identity: str | None = None,
    issuer: str | None = None,
    signer: str | None = None,
    trusted_root: str | None = None,
    trust: Trust | None = None,
) -> Report:
    """Judge bundles, each with the file that it is about: one result a file, in their order.

    `files` are paths or `sha256:<64 hex>`, which is never a path; `bundles` are as many, or one
    for all. Who has to have signed is the PEM file `key`, or `identity` with `issuer`, both exact,
    or the row `signer` of the registry. `trusted_root` is a file in place of the shipped public
    good root.

    Raises `WrongCallError` if nobody or two are named, the numbers do not fit, or key or root do
    not parse, `UnavailableError` if one of the two cannot be read.
    """
    trust = trust or open_trust()
    asked = _asked(key, identity, issuer, signer, trust)
    pairs = _paired(files, bundles)
    work = Work(asked, sigstore_root(trusted_root), trust)
    return trust.report(tuple(done_by_two(work.judged, pairs)))


def signed_time(
    name: str,
    bundle: str,
    *,
    key: str | None,
    signer: str | None,
    trusted_root: str | None,
    trust: Trust,
) -> tuple[datetime | None, Result | Failed]:
    """Return when a file is proven to have been signed, if its bundle is verified.

    The time is that of a log or of a timestamp authority, never of the signer. Raises as
    `verify_bundle` does.
    """
    work = Work(_asked(key, None, None, signer, trust), sigstore_root(trusted_root), trust)
    result = work.judged((name, bundle))
    if not isinstance(result, Result) or result.verdict is not Verdict.VERIFIED:
        return None, result
    return work.proven, result


def _asked(
    key: str | None, identity: str | None, issuer: str | None, signer: str | None, trust: Trust
) -> Asked | tuple[Finding, ...]:
    """Return who has to have signed, or why the registry cannot say it."""
    ways = [key is not None, identity is not None or issuer is not None, signer is not None]
    got = None
    if sum(ways) != 1:
        got = "several" if any(ways) else "nobody"
    elif ways[1] and not identity:
        got = "an issuer without an identity"
    elif ways[1] and not issuer:
        got = "an identity without its issuer"
    if got is not None:
        raise WrongCallError(f"expected one signer, got {got}", code="wrong-call", remedy=_WHO)
    if signer is not None:
        return of_registry(signer, trust.catalog)
    if key is None:
        return Asked(identity=Identity(issuer=issuer or "", subject=identity or ""))
    try:
        return Asked(key=PublicKey.pem(file.read(key, limit=DOCUMENT_BYTES).data))
    except ValueError as error:
        raise WrongCallError(
            f"--key: {key} {error}",
            code="malformed",
            remedy="name a PEM file that begins with BEGIN PUBLIC KEY: Ed25519, ECDSA P-256 or "
            "P-384",
        ) from None


def of_registry(name: str, catalog: Catalog | Refused) -> Asked | tuple[Finding, ...]:
    """Return a signer of the registry as who has to have signed, or why it cannot say it.

    Raises `WrongCallError` for a name that no signer has.
    """
    if isinstance(catalog, Refused):
        return catalog.findings
    row = catalog.signer(name)
    if isinstance(row, Refused):
        if row.findings[0].code == "entry-unknown":
            known = signer_names.names(catalog.names("signers"), catalog.signers)
            raise unregistered(name, known, option="--signer")
        return row.findings
    if row.spki is None:
        found = Identity(issuer=row.issuer or "", subject=row.subject or "")
        return Asked(identity=found, signer=row)
    key = key_of(row)
    if key is not None:
        return Asked(key=key, signer=row)
    return (
        Finding(
            code="signer-not-a-key",
            where=Where(path=f"signer {row.name}"),
            expected="a signer that has a key",
            got="bytes that are no point of their curve",
            remedy="use a registry that holds the signer's key",
        ),
    )


def _paired(files: Sequence[str], bundles: Sequence[str]) -> list[tuple[str, str]]:
    if not files or not bundles or len(bundles) not in (1, len(files)):
        raise WrongCallError(
            f"expected a bundle for each file or one for all, got {len(bundles)} for {len(files)}",
            code="wrong-call",
            remedy="write FILE... --bundle B for one bundle, or a --bundle for every FILE in order",
        )
    if "-" in (*files, *bundles):
        raise WrongCallError(
            "- is not read here: file and bundle are named by their paths",
            code="wrong-call",
            remedy="write it to a file first, or name the file by its digest: sha256:<64 hex>",
        )
    each = bundles if len(bundles) == len(files) else [bundles[0]] * len(files)
    return list(zip(files, each, strict=True))


def _sigstore(root: TrustedRoot) -> "Sigstore":
    """Import the library, a quarter of a second that a key does not pay."""
    from verifier.evidence.sigstore import Sigstore  # noqa: PLC0415

    return Sigstore(root)


class Work:
    """What every bundle of a call is judged with."""

    def __init__(self, asked: Asked | tuple[Finding, ...], root: TrustedRoot, trust: Trust) -> None:
        """Import what certificates take before work is shared, so that it is imported once."""
        self._asked, self._root, self._trust = asked, root, trust
        certified = isinstance(asked, Asked) and asked.identity is not None
        self._sigstore = _sigstore(root) if certified else None
        self.proven: datetime | None = None
        """When the last bundle that was looked at is proven to have been signed."""

    def judged(self, pair: tuple[str, str]) -> Result | Failed:
        """Judge one bundle with its file; whatever happens is about this one alone."""
        name, path = pair
        try:
            outcome, subject = self._looked_at(name, path)
        except PinproofError as error:
            return Failed.of(name, error)
        except Exception as fault:  # noqa: BLE001  (the other files are reported all the same)
            return Failed(
                subject=Subject(name=name),
                exit=Exit.INTERNAL,
                code="internal",
                message=f"{name}: a fault of pinproof ({type(fault).__name__})",
                remedy="report it with the bundle, if you may; pinproof --debug before the verb "
                "shows where",
                fault=fault,
            )
        return judge(
            outcome,
            subject=subject,
            demanded=frozenset(FACETS["bundle"]),
            waivers=self._trust.policy.waivers,
            now=self._trust.now,
        )

    def _looked_at(self, name: str, path: str) -> tuple[Outcome, Subject]:
        asked, self.proven = self._asked, None
        if not isinstance(asked, Asked):
            return refused(asked), Subject(name=name)
        data = file.read(path, limit=DOCUMENT_BYTES).data
        try:
            bundle = Bundle.parse(data, what=path)
        except MalformedError as error:
            return refused([malformed(error)]), Subject(name=name)
        except UnknownVersionError as error:
            return refused([unknown_version(str(error))]), Subject(name=name)
        wrong = wrong_kind(bundle, asked)
        if wrong is not None:
            return refused([wrong]), Subject(name=name)
        artifact = _artifact(name, bundle, asked.key)
        about = Subject(
            name=name,
            digests=(Digest(kind="file", hex=artifact.digests["sha256"]),),
            length=artifact.length,
            link=artifact.link,
        )
        return self.outcome(bundle, artifact), about

    def outcome(self, bundle: Bundle, artifact: Artifact) -> Outcome:
        """Check a bundle that was read, and is signed in the way that was asked for."""
        asked, now = self._asked, self._trust.now
        assert isinstance(asked, Asked)
        if self._sigstore is None or asked.identity is None:
            assert asked.key is not None
            examined = managed.examined(bundle, asked.key, artifact, self._root, now)
        else:
            from verifier.evidence import certified  # noqa: PLC0415  (imported long before)

            examined = certified.examined(bundle, asked.identity, artifact, self._sigstore, now)
        self.proven = examined.claim.signed_at if examined.claim else None
        root = f"{self._root.name} {self._root.sha256}"
        return check(bundle, asked, examined, artifact, root=root, now=now)


def _artifact(name: str, bundle: Bundle, key: PublicKey | None) -> Artifact:
    """Hash the file; its bytes are kept only where a signature is over them.

    What is written as a digest is one, whatever lies in this folder: `./` names a file.
    """
    digest = _DIGEST.fullmatch(name)
    if digest is not None:
        return Artifact(name=name, digests={"sha256": digest[1]})
    content = bundle.content
    if key is not None and key.scheme not in DIGESTS and isinstance(content, Message):
        found = file.read(name, limit=SIGNED_WHOLE_BYTES)
        digests = {kind: hashlib.new(kind, found.data).hexdigest() for kind in COUNTING}
        return Artifact(
            name=name,
            digests=digests,
            length=len(found.data),
            data=found.data,
            link=found.link,
        )
    hashed = file.digests(name, COUNTING if key or not isinstance(content, Message) else ["sha256"])
    return Artifact(name=name, digests=hashed.digests, length=hashed.length, link=hashed.link)
