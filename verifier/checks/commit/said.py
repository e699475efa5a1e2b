"""What is said of the signature of a commit or tag that does not hold."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from verifier.core.clock import print_time
from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.evidence.openpgp import Answer, Standing

_RESIGN: Final = "have it signed again: git commit --amend -S, or git tag -s -f"
_OTHER: Final = "find out who signed it; name their key only if you know it from elsewhere"


def missing(*, other_hash: bool) -> Finding:
    """Say that there is nothing to check."""
    return Finding(
        code="git-signature-missing",
        expected="a signature",
        got="one over the object's form in the other hash, which is not here"
        if other_hash
        else "none",
        remedy=_RESIGN,
    )


def several(got: str) -> Finding:
    """Say that there is more than one signature."""
    return Finding(
        code="git-signature-several",
        expected="one signature",
        got=got,
        cause="git takes them for one, or the last of them; another reader takes the first",
        remedy="do not use it; git writes one signature",
    )


def malformed(got: str) -> Finding:
    """Say what about a signature breaks its format."""
    return Finding(
        code="git-signature-malformed",
        expected="a signature as git writes it",
        got=got,
        remedy="do not use it; " + _RESIGN,
    )


def unsupported(got: str) -> Finding:
    """Say which kind of signature is not checked here."""
    return Finding(
        code="git-signature-unsupported",
        expected="SSH (Ed25519, ECDSA P-256 or P-384) or OpenPGP",
        got=got,
        remedy="have it signed with such a key, or check this signature with its own tool",
    )


def broken(by: str) -> Finding:
    """Say that the key which made a signature made it over other bytes."""
    return Finding(
        code="git-signature-broken",
        expected=f"a signature by {by} over these bytes",
        got="one over others",
        cause="the object was made from a signed one, or the signature was changed",
        remedy="do not use it; get it again from whoever signed it",
    )


def other_namespace(got: str, expected: str) -> Finding:
    """Say that an SSH signature was made for another use than git's."""
    return Finding(
        code="git-signature-namespace",
        expected=f"a signature for {expected}",
        got=printable(f"one for {got[:100]}"),
        cause="it was made over other data, and put here",
        remedy=_RESIGN,
    )


def other_signer(got: str, expected: str) -> Finding:
    """Say that somebody has signed who was not named."""
    return Finding(code="git-signature-signer", expected=expected, got=got, remedy=_OTHER)


def merged_tag(expected: str, got: str) -> Finding:
    """Say that a tag which the commit merged is not as it was signed, or not of a parent."""
    return Finding(
        code="git-signature-merged-tag",
        expected=expected,
        got=printable(got),
        cause="the tag in the merge was changed after it was signed, or belongs to another merge",
        remedy="merge the tag again: git merge TAG; do not rely on this one",
    )


def no_keyring() -> Finding:
    """Say that an OpenPGP signature needs keys that were not given."""
    return Finding(
        code="git-signature-signer",
        expected="a signature by a key that was named",
        got="one by OpenPGP, and no keyring was given",
        remedy="give the keys that may have signed: --keyring FILE",
    )


# ── OpenPGP ────────────────────────────────────────────────────────────────────────────────────


def of_answer(answer: Answer, now: datetime) -> Finding | None:
    """Say what is wrong with a signature by the answer of `gpgv`, None if nothing is."""
    return _ANSWERS[answer.standing](answer, now)


def _broken(answer: Answer, _now: datetime) -> Finding:
    return broken(f"OpenPGP key {printable(answer.key)}")


def _revoked(answer: Answer, _now: datetime) -> Finding:
    return Finding(
        code="git-signature-revoked",
        expected="a key that its owner has not revoked",
        got=f"OpenPGP key {answer.key}, revoked",
        remedy="have it signed again with another key",
    )


def _timely(answer: Answer, now: datetime) -> Finding | None:
    """Judge an expiry at the effective time: what has expired by the machine's clock may not yet.

    What has expired and says no time that could be compared stays so.
    """
    at, what = answer.expires or (None, "the key or the signature")
    if (now < at) if at else answer.standing is Standing.GOOD:
        return None
    return Finding(
        code="git-signature-expired",
        expected=f"a key and a signature that are valid at {print_time(now)}",
        got=f"{what} expired at {print_time(at)}" if at else f"{what} has expired",
        cause="the date in the signature is the signer's own word",
        remedy="export the key again if its owner has prolonged it, or have it signed anew",
    )


def _unknown_key(answer: Answer, _now: datetime) -> Finding:
    return other_signer(f"one by OpenPGP key {printable(answer.key)}", "a key of the keyring")


def _weak(_answer: Answer, _now: datetime) -> Finding:
    return Finding(
        code="git-signature-weak",
        expected="a signature over SHA-256 or stronger",
        got="one over MD5, SHA-1 or RIPEMD-160",
        remedy=_RESIGN,
    )


def _unsupported(_answer: Answer, _now: datetime) -> Finding:
    return unsupported("a kind of OpenPGP key or signature that gpgv does not know")


def _malformed(_answer: Answer, _now: datetime) -> Finding:
    return malformed("it is no single OpenPGP signature over bytes")


def _no_answer(_answer: Answer, _now: datetime) -> Finding:
    return Finding(
        code="git-signature-program",
        expected="gpgv, which reads OpenPGP signatures",
        got="none, or one that gives no answer",
        remedy="install gpgv from your system's packages",
    )


_ANSWERS: Final[dict[Standing, Callable[[Answer, datetime], Finding | None]]] = {
    Standing.GOOD: _timely,
    Standing.BROKEN: _broken,
    Standing.EXPIRED: _timely,
    Standing.REVOKED: _revoked,
    Standing.UNKNOWN_KEY: _unknown_key,
    Standing.WEAK: _weak,
    Standing.UNSUPPORTED: _unsupported,
    Standing.MALFORMED: _malformed,
    Standing.NO_ANSWER: _no_answer,
}
