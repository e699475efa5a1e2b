"""A bundle and the file that it is about: who signed it, when, and that it is that file.

1. *Signature, time, log*: `evidence.certified` for a certificate, `evidence.managed` for a key.
2. *Signer*: the bundle is signed in the way that was asked for, by whom was asked for.
   A signer of the registry is one that may sign such, at that time (`evidence.signers`).
3. *Subject*: a message signature is over the file itself. An envelope holds an in-toto Statement,
   and the file is one of its subjects (`checks.statement`). A statement that says no of the file
   is refused: "verified" would stand beside the name of what it warns of.

All facets count, always: a bundle that holds in part proves nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from verifier.catalog.entries.signers import ARTIFACT, Signer
from verifier.checks.statement import Given, compared, says_no
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding
from verifier.core.outcome import Identified, Outcome
from verifier.core.printable import printable
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.evidence.artifact import Artifact
from verifier.evidence.bundle import Bundle, Message
from verifier.evidence.claim import Identity
from verifier.evidence.keys import PublicKey
from verifier.evidence.managed import Examined
from verifier.evidence.signers import decide
from verifier.evidence.statement import Statement

_NOT_PROVEN: Final = (
    "what the signer meant by it; what the file does",
    "that the key or the account was in its owner's hands",
)
_ASK: Final = "verify its envelope: pinproof verify statement ENVELOPE --says FAILED"
_AGAIN: Final = "get the bundle again from whoever published it"


@frozen
class Asked:
    """Who has to have signed: a key, or an identity. Never neither, never both.

    `signer` is the row of the registry that names it, None where the caller does.
    """

    key: PublicKey | None = None
    identity: Identity | None = None
    signer: Signer | None = None

    def __post_init__(self) -> None:
        """Refuse what would let anybody sign."""
        if (self.key is None) == (self.identity is None):
            raise ValueError("exactly one of key, identity")

    @property
    def named(self) -> str:
        """What reports call whoever has to have signed."""
        if self.signer is not None:
            return self.signer.name
        if self.key is not None:
            return f"key {self.key.id[:12]}"
        return printable(self.identity.subject if self.identity else "")


def check(
    bundle: Bundle,
    asked: Asked,
    examined: Examined,
    artifact: Artifact,
    *,
    root: str,
    now: datetime,
) -> Outcome:
    """Put together what is known of a bundle; `root` names the trusted root that judged."""
    claim, said = examined.claim, _said(bundle, artifact)
    findings = [*said.findings, *examined.findings]
    if said.findings and isinstance(bundle.content, Message):
        findings = [f for f in findings if not _follows(f)]
    if claim is not None and asked.signer is not None and said.predicate is not None:
        findings += decide(asked.signer, claim, predicate=said.predicate, now=now)
    states = {
        "signature": _held("signature", _signature(bundle, asked)),
        "signer": _held("signer", _signer(asked, root)),
        "time": _time(examined),
        "log": _log(bundle),
        "subject": _held("subject", said.told),
    }
    coverage = _coverage(states, findings, proven=claim is not None)
    outcome = _outcome(findings, coverage)
    if findings:
        return outcome
    found = Identified(entry=asked.named, version=said.predicate or "", status="signed")
    return replace(outcome, identified=(found,))


def _held(facet: str, detail: str) -> Covered:
    return Covered(facet=facet, state=State.HELD, detail=detail)


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


def _signature(bundle: Bundle, asked: Asked) -> str:
    over = "the file" if isinstance(bundle.content, Message) else "an envelope"
    scheme = asked.key.scheme if asked.key else "ecdsa-sha2-nistp256"
    return f"{scheme} over {over}"


def _signer(asked: Asked, root: str) -> str:
    named = f"{asked.signer.name}: " if asked.signer else ""
    if asked.key is not None:
        return f"{named}the key of id {asked.key.id}"
    assert asked.identity is not None
    who = f"{asked.identity.subject}, logged in by {asked.identity.issuer}"
    return printable(f"{named}{who}; certified under {root}")


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


# ── the subject and what is said of it ─────────────────────────────────────────────────────────


@frozen
class _Said:
    """What a signature is over, in words, and why the file is not that.

    `predicate` is the word or type that rows of signers allow, None where it is no statement.
    """

    told: str
    findings: tuple[Finding, ...] = ()
    predicate: str | None = None


def _said(bundle: Bundle, artifact: Artifact) -> _Said:
    """Compare the file with what was signed."""
    content = bundle.content
    if isinstance(content, Message):
        findings = () if artifact.is_stated(content) else (_another(content, artifact),)
        return _Said(told="the file that was signed", findings=findings, predicate=ARTIFACT)
    statement = Statement.of(
        content.payload_type, content.payload, what="the statement", judged=False
    )
    if isinstance(statement, Finding):
        return _Said(told="", findings=(statement,))
    given = Given(name=artifact.name, digests=artifact.digests)
    count = len(statement.subjects)
    place = "the subject" if count == 1 else f"one of {count} subjects"
    return _Said(
        told=f"{place} of a statement of type {printable(statement.predicate_type[:200])}",
        findings=(*compared(given, statement.subjects), *says_no(statement, ask=_ASK)),
        predicate=statement.predicate_type,
    )


def _another(content: Message, artifact: Artifact) -> Finding:
    algorithm, stated = content.digest or ("", "")
    return Finding(
        code="bundle-subject",
        expected=f"a file of {algorithm} {stated}",
        got=f"{algorithm} {artifact.digests[algorithm]}",
        remedy="check that file and bundle belong together; else get both again",
    )


def _follows(finding: Finding) -> bool:
    """Whether a finding says no more than that the file is another one."""
    return finding.code in ("bundle-signature", "bundle-log-entry")
