"""Whose a receipt is, and when its gates were declared: the signatures beside the numbers."""

from collections.abc import Sequence
from datetime import datetime

from verifier.ask.trusted import Trust
from verifier.catalog.refused import Refused
from verifier.checks.receipt.document.reading import PREDICATE
from verifier.checks.statement import Asked, counted
from verifier.core.coverage import Covered, State
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Failed
from verifier.core.value import frozen
from verifier.evidence import threshold as signatures
from verifier.evidence.dsse import Envelope

_UNSIGNED = "ask its author to sign it; or judge with a policy that says unsigned = accept"
_NAME = "name who has to have signed: --signer NAME, or --key KEY.pem"


@frozen
class Wanted:
    """Who has to have signed a receipt, in the words of the command line."""

    keys: Sequence[str] = ()
    signers: Sequence[str] = ()
    threshold: int | None = None

    def asked(self, trust: Trust) -> Asked | tuple[Finding, ...] | None:
        """Look them up; None if nobody is named. Raises `WrongCallError`."""
        if not self.keys and not self.signers:
            if self.threshold is not None:
                raise WrongCallError(
                    "--threshold: nobody is named", code="wrong-call", remedy=_NAME
                )
            return None
        from verifier.ask.statement import who  # noqa: PLC0415  (only who asks for signers pays)

        return who(self.keys, self.signers, self.threshold, trust.catalog)


@frozen
class GatesBundle:
    """A bundle over the gate file, and who has to have signed it."""

    path: str
    key: str | None
    signer: str | None
    trusted_root: str | None


def signed(
    envelope: Envelope | None, asked: Asked | tuple[Finding, ...] | None, *, now: datetime
) -> tuple[Covered, tuple[Finding, ...]]:
    """Judge the signatures of a receipt: the facet `signed`, and what speaks against it."""
    if envelope is None:
        return _not("unsigned", "a signature by a signer of the registry", "none", _UNSIGNED)
    if asked is None:
        number = len(envelope.signatures)
        got = f"{number} signature{'' if number == 1 else 's'}, and nobody to compare with"
        return _not("signed, nobody was named", "a signature by whom you name", got, _NAME)
    if not isinstance(asked, Asked):
        return Covered(facet="signed", state=State.NOT_CHECKED), asked
    found = signatures.check(envelope, asked.keys, asked.threshold or len(asked.keys))
    if found.finding is not None:
        return Covered(facet="signed", state=State.NOT_HELD), (found.finding,)
    who = counted(asked, found.by, PREDICATE, now=now)
    if who.findings:
        return Covered(facet="signed", state=State.NOT_HELD), who.findings
    told = who.told if asked.signers else signatures.listed(found.by)
    return Covered(facet="signed", state=State.HELD, detail=f"by {told}"), ()


def _not(detail: str, expected: str, got: str, remedy: str) -> tuple[Covered, tuple[Finding, ...]]:
    finding = Finding(code="receipt-unsigned", expected=expected, got=got, remedy=remedy)
    return Covered(facet="signed", state=State.NOT_CHECKED, detail=detail), (finding,)


def gates_time(
    gates: str | None, bundle: GatesBundle | None, trust: Trust
) -> tuple[datetime | None, Finding | None]:
    """Return when the gate file is proven to have existed, or why that is not proven.

    Raises `WrongCallError` for a bundle without gate file or signer, `UnavailableError` for one
    that cannot be read, and as `verify_bundle` does.
    """
    if bundle is None:
        return None, None
    if gates is None:
        raise WrongCallError(
            "--gates-bundle: there is no gate file",
            code="wrong-call",
            remedy="name the file that was signed as well: --gates FILE",
        )
    if (bundle.key is None) == (bundle.signer is None):
        raise WrongCallError(
            f"--gates-bundle: expected one signer, got {'two' if bundle.key else 'nobody'}",
            code="wrong-call",
            remedy="name who has to have signed it: --gates-signer NAME, or --gates-key PEM",
        )
    from verifier.ask.bundle import signed_time  # noqa: PLC0415  (only who brings a bundle pays)

    time, result = signed_time(
        gates,
        bundle.path,
        key=bundle.key,
        signer=bundle.signer,
        trusted_root=bundle.trusted_root,
        trust=trust,
    )
    if time is not None:
        return time, None
    if isinstance(result, Failed):
        if result.fault is not None:
            raise result.fault
        raise UnavailableError(result.message, code=result.code, remedy=result.remedy)
    got, remedy = "no log and no timestamp prove a time", "have it time-stamped before the run"
    if result.findings:
        first = result.findings[0]
        got, remedy = f"{first.code}: {first.row.title}", first.remedy
    finding = Finding(
        code="receipt-gates-unproven",
        where=Where(path=gates),
        expected="a bundle that proves when the gate file was signed",
        got=got,
        remedy=remedy,
    )
    return None, finding


def known_tools(trust: Trust) -> tuple[frozenset[str], frozenset[str]]:
    """Return the digests of collectors that the registry knows: published ones, staging builds."""
    catalog = trust.catalog
    if isinstance(catalog, Refused):
        return frozenset(), frozenset()
    releases = [catalog.release(name) for name in catalog.names("release")]
    sound = [each for each in releases if not isinstance(each, Refused)]
    published = {t.archive.sha256 for each in sound for t in each.targets if t.archive}
    staging = {build.sha256 for each in sound for build in each.staging}
    return frozenset(published), frozenset(staging)
