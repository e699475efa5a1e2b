"""Whether a statement is signed by who has to sign it, and is about what was given."""

from collections.abc import Sequence
from dataclasses import replace

from verifier.ask.answers import unregistered
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog import signer_names
from verifier.catalog.entries.signers import Signer
from verifier.catalog.open import Catalog
from verifier.catalog.refused import Refused
from verifier.checks.statement import Asked, Given, check
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest, Pin, sha256
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.limits import DOCUMENT_BYTES, METADATA_BYTES
from verifier.core.outcome import Failed, Outcome, Report, Subject
from verifier.core.printable import quoted
from verifier.evidence.keys import PublicKey
from verifier.evidence.signers import key_of
from verifier.evidence.statement import COUNTING, algorithm_of
from verifier.evidence.threshold import distinct
from verifier.policy import judge
from verifier.sources import file

_FACETS = "bundle"


def verify_statement(
    path: str,
    *,
    keys: Sequence[str] = (),
    signers: Sequence[str] = (),
    threshold: int | None = None,
    subjects: Sequence[str] = (),
    says: Sequence[str] = (),
    trust: Trust | None = None,
) -> Report:
    """Judge the DSSE envelope in the file `path`.

    Either `keys`, files of public keys in PEM, or `signers`, names of the registry, say who has
    to have signed: all of them, or `threshold` of them. `subjects` are files and typed digests
    that the statement has to be about. `says` are words that it has to say: properties of an SVR,
    the result of a VSA or of tests, a level, a builder.

    Raises `WrongCallError` for neither or both, a name or key that is none, and a threshold that
    no set of signatures could meet.
    """
    trust = trust or open_trust()
    asked = who(keys, signers, threshold, trust.catalog)
    try:
        data = file.read(path, limit=METADATA_BYTES).data
        given = tuple(map(_given, subjects))
    except WrongCallError:
        raise
    except PinproofError as error:
        return trust.report((Failed.of(path, error),))
    if isinstance(asked, Asked):
        outcome = check(data, replace(asked, given=given, says=tuple(says)), now=trust.now)
    else:
        outcome = _unchecked(asked)
    pin = Pin.of(data)
    digest = Digest(kind="file", hex=pin.sha256)
    result = judge(
        outcome,
        subject=Subject(name=path, digests=(digest,), length=pin.length),
        demanded=frozenset(FACETS[_FACETS]),
        waivers=trust.policy.waivers,
        now=trust.now,
    )
    return trust.report((result,))


def who(
    keys: Sequence[str],
    signers: Sequence[str],
    threshold: int | None,
    catalog: Catalog | Refused,
) -> Asked | tuple[Finding, ...]:
    """Return who has to have signed, or why the registry cannot say it; raises `WrongCallError`."""
    if bool(keys) == bool(signers):
        raise WrongCallError(
            f"expected --key or --signer, got {'both' if keys else 'neither'}",
            code="wrong-call",
            remedy="say who has to have signed: --key KEY.pem, or --signer NAME",
        )
    asked = _by_keys(keys) if keys else _by_signers(signers, catalog)
    if isinstance(asked, Asked):
        return replace(asked, threshold=_threshold(threshold, asked))
    return asked


def _by_keys(paths: Sequence[str]) -> Asked:
    keys = []
    for path in paths:
        try:
            keys.append(PublicKey.pem(file.read(path, limit=DOCUMENT_BYTES).data))
        except ValueError as error:
            raise WrongCallError(
                f"--key: {path} {error}",
                code="malformed",
                remedy="name a public key in PEM: Ed25519, or ECDSA on P-256 or P-384",
            ) from None
    return Asked(keys=_distinct(keys))


def _by_signers(names: Sequence[str], catalog: Catalog | Refused) -> Asked | tuple[Finding, ...]:
    """Look signers up; what keeps one from being asked is told of all of them."""
    if isinstance(catalog, Refused):
        return catalog.findings
    pairs: list[tuple[Signer, PublicKey]] = []
    findings: list[Finding] = []
    for name in names:
        signer = catalog.signer(name)
        if isinstance(signer, Refused):
            if signer.findings[0].code == "entry-unknown":
                known = signer_names.names(catalog.names("signers"), catalog.signers)
                raise unregistered(name, known, option="--signer")
            findings += signer.findings
            continue
        key = key_of(signer)
        if key is None:
            findings.append(_without_key(signer))
        elif (signer, key) not in pairs:
            pairs.append((signer, key))
    if findings:
        return tuple(findings)
    return Asked(keys=_distinct([key for _, key in pairs]), signers=tuple(pairs))


def _distinct(keys: Sequence[PublicKey]) -> tuple[PublicKey, ...]:
    try:
        return distinct(keys)
    except ValueError as error:
        raise WrongCallError(
            str(error), code="wrong-call", remedy="name fewer keys; one key counts once"
        ) from None


def _without_key(signer: Signer) -> Finding:
    identity = signer.subject is not None
    return Finding(
        code="signer-not-a-key",
        where=Where(path=f"signer {signer.name}"),
        expected="a signer that has a key",
        got=f"an identity, {quoted(signer.subject or '')}" if identity else "no point of its curve",
        remedy="verify the bundle instead: pinproof verify bundle FILE --bundle BUNDLE --signer "
        f"{signer.name}",
    )


def _threshold(asked_for: int | None, asked: Asked) -> int | None:
    """Return how many of the keys have to have signed, None for all."""
    if asked_for is not None and not 1 <= asked_for <= len(asked.keys):
        raise WrongCallError(
            f"--threshold: {asked_for} is not between 1 and {len(asked.keys)}, the number of "
            "different keys",
            code="wrong-call",
            remedy="one key counts once, under however many names; name more keys, or ask for less",
        )
    return asked_for


def _given(argument: str) -> Given:
    """Read what the statement has to be about: a typed digest, or else a file."""
    digest = Digest.parse(argument)
    if digest is not None and digest.kind is None and len(digest.hex) != len(sha256(b"")):
        raise WrongCallError(
            f"--subject: {argument} is an id without its kind",
            code="wrong-call",
            remedy=f"write git-commit:{argument}, or ./{argument} for a file of that name",
        )
    if digest is not None:
        return Given(name=argument, digests={algorithm_of(digest): digest.hex})
    digests = file.digests(argument, COUNTING).digests
    return Given(name=argument, digests=digests)


def _unchecked(findings: tuple[Finding, ...]) -> Outcome:
    return Outcome(
        kind="statement",
        identified=(),
        findings=findings,
        coverage=tuple(Covered(facet=f, state=State.NOT_CHECKED) for f in FACETS[_FACETS]),
    )
