"""Bundles and envelopes that a key has signed which the verifier knows: our own code alone.

The key path needs no certificate authority and so no library for one; a log entry or a timestamp
that comes along has to hold, and without them the key counts as it is at the time of the run
(CHECKS, "sigstore and signatures").
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.evidence.artifact import Artifact
from verifier.evidence.bundle import Bundle, Message
from verifier.evidence.claim import Claim
from verifier.evidence.dsse import Envelope
from verifier.evidence.keys import PublicKey
from verifier.evidence.log_body import Signed
from verifier.evidence.log_entry import judged, outside
from verifier.evidence.times import Times, ahead, proven
from verifier.evidence.trusted_root import TrustedRoot

_KEY = "check that this is the signer's key, and that file and bundle belong together"


@frozen
class Examined:
    """What a bundle proves; `claim` is None if its signature does not hold."""

    claim: Claim | None
    times: Times
    findings: tuple[Finding, ...]


def examined(
    bundle: Bundle, key: PublicKey, artifact: Artifact, root: TrustedRoot, now: datetime
) -> Examined:
    """Look at everything that a bundle brings."""
    signature = signed_by(bundle, key, artifact)
    # What comes along has to be about the signature that holds, not about another beside it.
    about = bundle.signature if signature is None else signature
    times = proven(bundle, about, root)
    findings = [
        *([] if signature is not None else [_unsigned(bundle, key, artifact)]),
        *_several(bundle),
        *ahead(times, now),
        *of_one_sigstore(_of_logs(bundle, about, key, artifact, root), times),
        *_windows(bundle, times, root, now),
    ]
    claim = None
    if signature is not None:
        content = bundle.content
        envelope = content if isinstance(content, Envelope) else None
        claim = Claim(
            keys=frozenset({key}),
            signed_at=times.earliest,
            logged=bool(bundle.entries) and not any(f.row.facet == "log" for f in findings),
            payload_type=envelope.payload_type if envelope else None,
            payload=envelope.payload if envelope else None,
            artifact=None if envelope else artifact.digests["sha256"],
        )
    return Examined(claim=claim, times=times, findings=tuple(findings))


def _several(bundle: Bundle) -> Iterator[Finding]:
    """Refuse a bundle of several signatures: what comes along would be about one of them alone.

    `sigstore_bundle.proto` demands exactly one. A plain envelope may hold more.
    """
    content = bundle.content
    if bundle.version != "dsse" and isinstance(content, Envelope) and len(content.signatures) != 1:
        yield Finding(
            code="bundle-unsupported",
            expected="one signature in the envelope of a Sigstore bundle",
            got=f"{len(content.signatures)}",
            remedy="give the plain envelope, without log entries and timestamps; or sign again",
        )


def of_one_sigstore(of_logs: Iterable[Finding], times: Times) -> Iterator[Finding]:
    """Put together what is wrong with logs and timestamps.

    Of a bundle whose log the root does not know, its authority says nothing more: it was made with
    another Sigstore, and which one is for the caller to name.
    """
    found = list(of_logs)
    yield from found
    if not any(finding.code == "bundle-log-unknown" for finding in found):
        yield from times.findings


def _unsigned(bundle: Bundle, key: PublicKey, artifact: Artifact) -> Finding:
    """Say that no signature holds, or that the file itself is needed to tell."""
    if isinstance(bundle.content, Message) and not artifact.tells(key):
        return Finding(
            code="bundle-unsupported",
            expected=f"the file itself: {key.scheme} signs more of it than its SHA-256",
            got=f"sha256 {artifact.digests['sha256']}",
            remedy="name the file by its path",
        )
    return Finding(
        code="bundle-signature",
        expected=f"a signature by the key of id {key.id}",
        got="none that holds over what was signed",
        remedy=_KEY,
    )


def signed_by(bundle: Bundle, key: PublicKey, artifact: Artifact) -> bytes | None:
    """Return the signature of a key that holds over the envelope or the file, None if none does."""
    content = bundle.content
    if isinstance(content, Message):
        return content.signature if artifact.signed_by(key, content.signature) else None
    return next((each for each in content.signatures if key.verifies(each, content.signed)), None)


def _of_logs(
    bundle: Bundle, signature: bytes, key: PublicKey, artifact: Artifact, root: TrustedRoot
) -> Iterator[Finding]:
    content = bundle.content
    signed = Signed(
        signature=signature,
        verifier=key.spki,
        certificate=False,
        scheme=key.scheme,
        envelope=content if isinstance(content, Envelope) else None,
        digests=artifact.digests,
    )
    for entry in bundle.entries:
        yield from judged(entry, signed, root)


def _windows(bundle: Bundle, times: Times, root: TrustedRoot, now: datetime) -> Iterator[Finding]:
    """Say which log did not count at a proven time, or where none is proven, does not now."""
    logs = [log for entry in bundle.entries if (log := root.log(entry.log)) is not None]
    for log in logs:
        yield from (
            outside(log.name, log.window, time)
            for time, _ in times.proven
            if not log.window.holds(time)
        )
        if not times.proven and not log.window.holds(now):
            yield Finding(
                code="bundle-time-missing",
                expected=f"a proven time in which {log.name} counts: {log.window}",
                got="an entry without a promise, and no timestamp",
                remedy="sign again with a timestamp",
            )
