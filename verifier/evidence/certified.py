"""Bundles with a certificate: what they prove if they hold, and why not if they do not.

Refusals alone pay for the reasons: the library's words are not ours to print, so each step is
looked at once more with our own code, and what is left over is the certificate.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from verifier.core.clock import print_time
from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.evidence.artifact import Artifact
from verifier.evidence.bundle import Bundle, Message
from verifier.evidence.certificate import SigningCertificate
from verifier.evidence.claim import Claim, Identity
from verifier.evidence.dsse import Envelope
from verifier.evidence.log_body import Signed
from verifier.evidence.log_entry import AGAIN, agrees, judged, outside, promised_time
from verifier.evidence.managed import Examined, of_one_sigstore, signed_by
from verifier.evidence.sigstore import Sigstore
from verifier.evidence.times import Times, ahead, proven
from verifier.evidence.trusted_root import LISTS, TrustedRoot, Window

_NO_TIMES: Final = Times(proven=(), findings=())
#: The kind of key whose signatures the library checks with the right digest.
_SCHEME: Final = "ecdsa-sha2-nistp256"


def examined(
    bundle: Bundle, identity: Identity, artifact: Artifact, sigstore: Sigstore, now: datetime
) -> Examined:
    """Verify a bundle by the identity that has to have signed it."""
    unread = list(_unread(bundle))
    if unread:
        return Examined(claim=None, times=_NO_TIMES, findings=tuple(unread))
    times = _times(bundle, sigstore.root)
    signed = _signed(bundle, artifact)
    asked = (bundle, identity, artifact.digests["sha256"])
    if (
        times.proven
        and all(agrees(entry, signed, sigstore.root) for entry in bundle.entries)
        and sigstore.accepts(*asked, [time for time, _ in times.proven])
    ):
        content = bundle.content
        envelope = content if isinstance(content, Envelope) else None
        claim = Claim(
            identity=identity,
            signed_at=times.earliest,
            logged=True,
            payload_type=envelope.payload_type if envelope else None,
            payload=envelope.payload if envelope else None,
            artifact=None if envelope else artifact.digests["sha256"],
        )
        # The library passes over a timestamp that proves nothing if another one proves a time.
        findings = (*times.findings, *ahead(times, now))
        return Examined(claim=claim, times=times, findings=findings)
    times = proven(bundle, bundle.signature, sigstore.root)
    findings = tuple(_why(bundle, identity, artifact, sigstore, times))
    return Examined(claim=None, times=times, findings=findings)


def _signed(bundle: Bundle, artifact: Artifact) -> Signed:
    content = bundle.content
    return Signed(
        signature=bundle.signature,
        verifier=bundle.certificates[0],
        certificate=True,
        scheme=_SCHEME,
        envelope=content if isinstance(content, Envelope) else None,
        digests=artifact.digests,
    )


def _times(bundle: Bundle, root: TrustedRoot) -> Times:
    """Return the times that are proven once the library accepts the bundle.

    It accepts none without a proven time. So a single source needs no second look; of several,
    each is verified here, because the library passes over timestamps of authorities unknown to it.
    """
    promises = [
        (time, log.name)
        for entry in bundle.entries
        if (time := promised_time(entry)) and (log := root.log(entry.log))
    ]
    if len(promises) + len(bundle.timestamps) != 1:
        return proven(bundle, bundle.signature, root)
    if promises:
        return Times(proven=tuple(promises), findings=())
    from verifier.evidence.timestamp import claimed  # noqa: PLC0415  (only bundles with one pay)

    time = claimed(bundle.timestamps[0])
    names = ", ".join(
        authority.name
        for authority in root.timestamp_authorities
        if time is not None and authority.window.holds(time)
    )
    return Times(proven=((time, names),) if time is not None and names else (), findings=())


def _unread(bundle: Bundle) -> Iterator[Finding]:
    """Say what the library would not judge, or would judge otherwise than it has to be."""
    content, entries = bundle.content, len(bundle.entries)
    got = None
    try:
        key = SigningCertificate.parse(bundle.certificates[0]).key
    except ValueError:
        yield Finding(
            code="bundle-malformed",
            expected="a certificate in DER",
            got="other bytes",
            remedy=AGAIN,
        )
        return
    if key is None or key.scheme != _SCHEME:
        got = f"a certificate for a key of another kind{f', {key.scheme}' if key else ''}"
    elif isinstance(content, Envelope) and len(content.signatures) != 1:
        got = f"an envelope with {len(content.signatures)} signatures"
    elif not isinstance(content, Envelope) and content.digest and content.digest[0] != "sha256":
        got = f"a signature over {content.digest[0]}"
    elif entries > 1:
        got = f"{entries} log entries"
    if got is not None:
        yield Finding(
            code="bundle-unsupported",
            expected="with a certificate: one signature by ECDSA P-256 and SHA-256, one log entry",
            got=got,
            remedy="sign again with a client of today; they sign so unless told otherwise",
        )
    if not entries:
        yield Finding(
            code="bundle-log-missing",
            expected="a log entry, without which a certificate proves nothing once it has ended",
            got="none",
            remedy="get the bundle that the signing made, with its log entry",
        )


def _why(
    bundle: Bundle, identity: Identity, artifact: Artifact, sigstore: Sigstore, times: Times
) -> Iterator[Finding]:
    """Say why the library did not accept a bundle."""
    certificate = SigningCertificate.parse(bundle.certificates[0])
    assert certificate.key is not None
    content = bundle.content
    # Another file than the bundle states: the check of the subject says so.
    told = isinstance(content, Message) and not artifact.is_stated(content)
    if signed_by(bundle, certificate.key, artifact) is None:
        told = True
        yield Finding(
            code="bundle-signature",
            expected="a signature by the key of the certificate",
            got="none that holds over what was signed",
            remedy="check that file and bundle belong together; else get both again",
        )
    signed = _signed(bundle, artifact)
    of_logs = [f for entry in bundle.entries for f in judged(entry, signed, sigstore.root)]
    for finding in of_one_sigstore(of_logs, times):
        told = True
        yield finding
    for finding in _of_times(times, certificate):
        told = True
        yield finding
    subjects, issuer = certificate.names()
    if identity.subject not in subjects or identity.issuer != issuer:
        told = True
        yield _another(identity, subjects, issuer)
    if not told:
        yield from _untrusted(bundle, identity, artifact, sigstore, times)


def _of_times(times: Times, certificate: SigningCertificate) -> Iterator[Finding]:
    if not times.proven and not times.findings:
        yield Finding(
            code="bundle-time-missing",
            expected="a timestamp, or a log's promise with its time",
            got="neither that counts",
            remedy="sign again with a timestamp; Rekor v2 keeps no time of its own",
        )
    for time, who in times.proven:
        if not certificate.valid_at(time):
            yield Finding(
                code="bundle-time-outside",
                expected=f"a time from {print_time(certificate.not_before)} until "
                f"{print_time(certificate.not_after)}",
                got=f"{print_time(time)} by {who}",
                remedy="do not use it: whoever had the key by then is not known",
            )


def _another(identity: Identity, subjects: tuple[str, ...], issuer: str | None) -> Finding:
    names = ", ".join(subjects) or "nobody"
    return Finding(
        code="bundle-identity",
        expected=f"{identity.subject}, logged in by {identity.issuer}",
        got=printable(f"{names[:400]}, logged in by {(issuer or 'nobody')[:200]}"),
        remedy="name the identity that you trust, exactly; or get what that one has signed",
    )


def _untrusted(
    bundle: Bundle, identity: Identity, artifact: Artifact, sigstore: Sigstore, times: Times
) -> Iterator[Finding]:
    """Tell a key of the root that did not count then from a certificate that no key vouches for.

    A list of keys whose periods are the reason is one without whose periods the bundle would do.
    """
    asked = (bundle, identity, artifact.digests["sha256"])
    moments = [time for time, _ in times.proven]
    if sigstore.accepts(*asked, moments, lists=()):
        windows = sigstore.root.windows()
        for name in LISTS:
            others = [other for other in LISTS if other != name]
            alone = sigstore.accepts(*asked, moments, lists=[name])
            if not alone or sigstore.accepts(*asked, moments, lists=others):
                yield from _late(name, windows[name], times, sigstore.root)
        return
    yield Finding(
        code="bundle-certificate",
        expected=f"a certificate for signing code by an authority of {sigstore.root.name}, "
        "with the promise of its certificate log",
        got="one that none of them vouches for as it is",
        remedy="name the trusted root of the Sigstore that it was signed with: --trusted-root FILE",
    )


_CALLED: Final = {
    "tlogs": "a log",
    "ctlogs": "a certificate log",
    "certificateAuthorities": "a certificate authority",
    "timestampAuthorities": "a timestamp authority",
}


def _late(
    name: str, windows: tuple[Window, ...], times: Times, root: TrustedRoot
) -> Iterator[Finding]:
    for time, _ in times.proven:
        for window in windows:
            if not window.holds(time):
                yield outside(f"{_CALLED[name]} of {root.name}", window, time)
                return
