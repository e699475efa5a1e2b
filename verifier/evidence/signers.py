"""Whether a signer may say what it says: the right one, allowed to, in its time, not revoked.

The source of every rule is FORMATS §2, signers/v1:

1. The key or identity of the row is the one that signed, exactly.
2. The row allows the type of what is signed: a type of predicate, `git-commit`, `git-tag`, or
   `artifact` for a signature over the bytes of a file themselves.
3. The window is closed. It is judged at the time that a log or a timestamp authority proves, and
   where nothing proves one, at the effective time: then a window that has ended leaves open
   whether it was signed before.
4. A revoked signer counts for what it verifiably signed before that; without a proven time it
   never does. A compromised one never counts: the time is proved by others, but whoever has the
   key asks them for it.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from verifier.catalog.entries.signers import Signer
from verifier.core.clock import print_time
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable, quoted
from verifier.evidence.claim import Claim
from verifier.evidence.keys import PublicKey

_OTHER: Final = "get it signed by who is meant, or name the signer that it is from"
_AGAIN: Final = "get it signed again by a signer whose time it is"


def decide(signer: Signer, claim: Claim, *, predicate: str, now: datetime) -> tuple[Finding, ...]:
    """Return every reason why what `claim` proves does not count as `signer`'s; none if it does.

    `predicate` is the type of predicate, or one of the words of a row. `now` is the effective
    time.
    """
    return (*_who(signer, claim), *_what(signer, predicate), *_when(signer, claim, now))


def key_of(signer: Signer) -> PublicKey | None:
    """Return the key of a row, None for an identity, or bytes that are no point of their curve."""
    if signer.spki is None:
        return None
    try:
        return PublicKey.der(signer.spki)
    except ValueError:
        return None


def _who(signer: Signer, claim: Claim) -> Iterator[Finding]:
    if signer.spki is not None:
        if signer.spki in {key.spki for key in claim.keys}:
            return
        code, expected = "signer-not-this-key", _key(signer)
    else:
        found = claim.identity
        if found and (found.issuer, found.subject) == (signer.issuer, signer.subject):
            return
        code = "signer-not-this-identity"
        expected = f"{quoted(signer.subject or '')}, logged in by {quoted(signer.issuer or '')}"
    yield _finding(signer, code, _got(claim), expected=expected, remedy=_OTHER)


def _key(signer: Signer) -> str:
    key = key_of(signer)
    return f"{signer.scheme} key {key.id}" if key else f"{signer.scheme} key that is no point"


def _got(claim: Claim) -> str:
    if claim.identity is not None:
        issuer, subject = claim.identity.issuer, claim.identity.subject
        return f"{quoted(subject)}, logged in by {quoted(issuer)}"
    keys = sorted(claim.keys, key=lambda key: key.id)
    return ", ".join(f"{key.scheme} key {key.id}" for key in keys) or "no key"


def _what(signer: Signer, predicate: str) -> Iterator[Finding]:
    if predicate not in signer.predicates:
        yield _finding(
            signer,
            "signer-predicate",
            printable(predicate)[:200],
            expected=" or ".join(signer.predicates),
            remedy="get it signed by a signer that may; only a signed entry allows more",
        )


def _when(signer: Signer, claim: Claim, now: datetime) -> Iterator[Finding]:
    revoked, signed = signer.revoked, claim.signed_at
    if revoked is not None and revoked.compromised:
        yield _finding(
            signer,
            "signer-compromised",
            _revoked(signer),
            cause="whoever has a compromised key can sign, and have it timestamped, at any time",
            remedy="get it signed again by another signer; do not use what this one has signed",
        )
    elif revoked is not None and signed is None:
        yield _finding(
            signer,
            "signer-revoked",
            _revoked(signer),
            expected="a proven time before that",
            cause="nothing proves when it was signed",
            remedy="get it signed again by another signer, or give a bundle that proves the time",
        )
    elif revoked is not None and signed is not None and signed >= revoked.at:
        yield _finding(
            signer,
            "signer-revoked",
            f"signed at {print_time(signed)}; {_revoked(signer)}",
            expected=f"a signature from before {print_time(revoked.at)}",
            remedy=_AGAIN,
        )
    at = signed or now
    told = f"signed at {print_time(at)}" if signed else f"it is {print_time(at)}"
    if signer.valid_from is not None and at < signer.valid_from:
        window = f"not before {print_time(signer.valid_from)}"
        yield _finding(signer, "signer-not-yet", told, expected=window, remedy=_AGAIN)
    if signer.valid_until is not None and at > signer.valid_until:
        window = f"not after {print_time(signer.valid_until)}"
        code = "signer-expired" if signed else "signer-time-unproven"
        yield _finding(signer, code, told, expected=window, remedy=_AGAIN)


def _revoked(signer: Signer) -> str:
    revoked = signer.revoked
    return f"revoked at {print_time(revoked.at)}: {printable(revoked.reason)}" if revoked else ""


def _finding(
    signer: Signer,
    code: str,
    got: str,
    *,
    expected: str | None = None,
    cause: str | None = None,
    remedy: str,
) -> Finding:
    where = Where(path=f"signer {signer.name}")
    return Finding(code=code, where=where, expected=expected, got=got, cause=cause, remedy=remedy)
