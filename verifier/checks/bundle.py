"""A bundle and the file that it is about: who signed it, when, and that it is that file.

1. *Signature, time, log*: `evidence.certified` for a certificate, `evidence.managed` for a key.
2. *Signer*: the bundle is signed in the way that was asked for, by whom was asked for.
3. *Subject*: a message signature is over the file itself. An envelope holds an in-toto Statement,
   and the file is one of its subjects: of that subject, every digest that can be compared is.

All facets count, always: a bundle that holds in part proves nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding
from verifier.core.outcome import Outcome
from verifier.core.printable import printable
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.evidence.artifact import Artifact
from verifier.evidence.bundle import Bundle, Message
from verifier.evidence.claim import Claim, Identity
from verifier.evidence.dsse import IN_TOTO
from verifier.evidence.keys import PublicKey
from verifier.evidence.managed import Examined
from verifier.evidence.statement import Statement, Subject

_NOT_PROVEN: Final = (
    "what the signer meant by it; what the file does",
    "that the key or the account was in its owner's hands",
)
_AGAIN: Final = "get the bundle again from whoever published it"
#: Algorithms of a statement's digests that a file can be compared by.
COMPARED: Final = ("sha256", "sha384", "sha512")


@frozen
class Asked:
    """Who has to have signed: a key, or an identity. Never neither, never both."""

    key: PublicKey | None = None
    identity: Identity | None = None

    def __post_init__(self) -> None:
        """Refuse what would let anybody sign."""
        if (self.key is None) == (self.identity is None):
            raise ValueError("exactly one of key, identity")


def check(
    bundle: Bundle, asked: Asked, examined: Examined, artifact: Artifact, root: str
) -> Outcome:
    """Put together what is known of a bundle; `root` names the trusted root that judged."""
    claim = examined.claim
    findings = list(examined.findings)
    subject = Covered(facet="subject", state=State.NOT_CHECKED)
    told = _of_subject(bundle, artifact)
    if isinstance(told, Finding):
        findings = [told, *(f for f in findings if not _follows(f, told, bundle))]
    elif claim is not None:
        subject = Covered(facet="subject", state=State.HELD, detail=told)
    states = {
        "signature": Covered(
            facet="signature", state=State.HELD, detail=_signature(bundle, asked, claim)
        ),
        "signer": Covered(facet="signer", state=State.HELD, detail=_signer(asked, root)),
        "time": _time(examined),
        "log": _log(bundle),
        "subject": subject,
    }
    coverage = _coverage(states, findings, proven=claim is not None)
    return _outcome(findings, coverage)


def refused(findings: Iterable[Finding]) -> Outcome:
    """Return the outcome for a bundle that was not looked at further."""
    found = list(findings)
    return _outcome(found, _coverage({}, found, proven=False))


def wrong_kind(bundle: Bundle, asked: Asked) -> Finding | None:
    """Return the finding on a bundle that is signed in another way than was asked for."""
    if (asked.key is None) == bool(bundle.certificates):
        return None
    with_key, with_certificate = "by a key, without a certificate", "with a certificate"
    expected, got = (with_key, with_certificate) if asked.key else (with_certificate, with_key)
    way = "--certificate-identity and --certificate-oidc-issuer" if asked.key else "--key PEM"
    return Finding(
        code="bundle-signer-kind",
        expected=f"signed {expected}",
        got=f"signed {got}",
        remedy=f"name who has to have signed: {way}",
    )


def malformed(error: MalformedError) -> Finding:
    """Return the finding on a bundle that does not parse, with its mistakes."""
    return Finding(
        code="bundle-malformed",
        expected="a Sigstore bundle of version 0.1 to 0.3, or a DSSE envelope",
        got=printable("; ".join(error.listed)),
        remedy=_AGAIN,
    )


def unknown_version(media_type: str) -> Finding:
    """Return the finding on a bundle of a version that is not read here."""
    return Finding(
        code="bundle-unsupported",
        expected="a Sigstore bundle of version 0.1 to 0.3, or a DSSE envelope",
        got=f"media type {media_type}",
        remedy="verify it with a newer pinproof, or sign again with a client of today",
    )


def _outcome(findings: list[Finding], coverage: Iterable[Covered]) -> Outcome:
    return Outcome(
        kind="bundle",
        identified=(),
        findings=tuple(findings),
        coverage=tuple(coverage),
        not_proven=_NOT_PROVEN,
    )


def _coverage(
    states: dict[str, Covered], findings: list[Finding], *, proven: bool
) -> Iterator[Covered]:
    """Say of each facet what its findings say; without a claim none is held."""
    for facet in FACETS["bundle"]:
        outcomes = {f.row.outcome for f in findings if f.row.facet == facet}
        if "rejected" in outcomes:
            yield Covered(facet=facet, state=State.NOT_HELD)
        elif outcomes or not proven or facet not in states:
            yield Covered(facet=facet, state=State.NOT_CHECKED)
        else:
            yield states[facet]


def _signature(bundle: Bundle, asked: Asked, claim: Claim | None) -> str:
    over = "the file" if isinstance(bundle.content, Message) else "an envelope"
    scheme = asked.key.scheme if asked.key else "ecdsa-sha2-nistp256"
    return f"{scheme} over {over}" if claim else ""


def _signer(asked: Asked, root: str) -> str:
    if asked.key is not None:
        return f"the key of id {asked.key.id}"
    assert asked.identity is not None
    return printable(
        f"{asked.identity.subject}, logged in by {asked.identity.issuer}; certified under {root}"
    )


def _time(examined: Examined) -> Covered:
    if examined.times.proven:
        return Covered(facet="time", state=State.HELD, detail=examined.times.told())
    detail = "nothing proves a time; the key counts as of this run"
    return Covered(facet="time", state=State.NOT_APPLICABLE, detail=detail)


def _log(bundle: Bundle) -> Covered:
    proofs = [entry.proof for entry in bundle.entries if entry.proof is not None]
    if proofs:
        places = ", ".join(f"entry {proof.index} of {proof.size}" for proof in proofs)
        return Covered(facet="log", state=State.HELD, detail=f"{places}, as the log signs")
    return Covered(facet="log", state=State.NOT_APPLICABLE, detail="no log entry came with it")


# ── the subject ────────────────────────────────────────────────────────────────────────────────


def _of_subject(bundle: Bundle, artifact: Artifact) -> str | Finding:
    """Say how the file is what was signed, or that it is not."""
    content = bundle.content
    if isinstance(content, Message):
        if content.digest is not None and not artifact.is_stated(content):
            algorithm, stated = content.digest
            return _another(
                f"a file of {algorithm} {stated}", f"{algorithm} {artifact.digests[algorithm]}"
            )
        return "the file that was signed"
    if content.payload_type != IN_TOTO:
        return Finding(
            code="bundle-payload",
            expected=f"a payload of type {IN_TOTO}",
            got=printable(content.payload_type[:120]),
            remedy="name the bundle that says something of the file",
        )
    try:
        statement = Statement.parse(content.payload, what="the statement")
    except MalformedError as error:
        return Finding(
            code="bundle-payload",
            expected="an in-toto Statement of version 1",
            got=printable("; ".join(error.listed)),
            remedy=_AGAIN,
        )
    return _among(statement, artifact)


def _among(statement: Statement, artifact: Artifact) -> str | Finding:
    """Find the file among the subjects of a statement, by its SHA-256 and all else they give."""
    subjects = statement.subjects
    found = [s for s in subjects if s.digests.get("sha256") == artifact.digests["sha256"]]
    if not found:
        some = ", ".join(_named(s) for s in subjects[:3])
        more = f" and {len(subjects) - 3} more" if len(subjects) > 3 else ""  # noqa: PLR2004
        return _another(
            f"one of {len(subjects)} subjects: {some}{more}",
            f"sha256 {artifact.digests['sha256']}",
        )
    for subject in found:
        for algorithm, stated in sorted(subject.digests.items()):
            got = artifact.digests.get(algorithm)
            if got is not None and got != stated:
                return _another(f"{algorithm} {stated}, as {_named(subject)}", got)
    left = sorted({a for s in found for a in s.digests} - artifact.digests.keys())
    rest = f"; {', '.join(left)} not compared" if left else ""
    name = printable(found[0].name[:120]) or "one without a name"
    kind = printable(statement.predicate_type[:200])
    return f"{name}, of {len(subjects)} in a statement of type {kind}{rest}"


def _named(subject: Subject) -> str:
    digest = subject.digests.get("sha256")
    return printable(f"{subject.name[:80]} {digest or 'without sha256'}".strip())


def _another(expected: str, got: str) -> Finding:
    return Finding(
        code="bundle-subject",
        expected=expected,
        got=got,
        remedy="check that file and bundle belong together; else get both again",
    )


def _follows(finding: Finding, main: Finding, bundle: Bundle) -> bool:
    """Whether a finding says no more than that the file is another one."""
    over_the_file = finding.code in ("bundle-signature", "bundle-log-entry")
    return over_the_file and main.code == "bundle-subject" and isinstance(bundle.content, Message)
