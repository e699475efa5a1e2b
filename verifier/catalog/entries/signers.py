"""signers/v1: who may sign what, and when (FORMATS §2).

A row is one key, as it is or in the form of SSH, or one identity that a certificate was issued
to. It says nothing of a signature: `evidence.signers` decides with it whether one counts.
"""

from datetime import datetime
from typing import Final

from verifier.core.value import frozen

#: What a row may allow beside types of predicates: signed commits, signed tags, and signatures
#: over the bytes of a file themselves, which state no predicate.
GIT_COMMIT: Final = "git-commit"
GIT_TAG: Final = "git-tag"
ARTIFACT: Final = "artifact"
WORDS: Final = (GIT_COMMIT, GIT_TAG, ARTIFACT)


@frozen
class Revoked:
    """From when on a signer no longer counts, and why.

    `compromised` says that somebody else may have had the key: nothing it signed counts, whenever
    it was signed.
    """

    at: datetime
    reason: str
    compromised: bool = False


@frozen
class Signer:
    """One row: exactly one of a key and an identity.

    `spki` is the SubjectPublicKeyInfo of the key in DER, also where the row gives it in the form
    of SSH. `issuer` and `subject` are those of an identity, compared exactly. The window is
    closed: its ends belong to it; None where it has no such end.
    """

    name: str
    project: str
    scheme: str | None = None
    spki: bytes | None = None
    issuer: str | None = None
    subject: str | None = None
    predicates: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    revoked: Revoked | None = None

    @property
    def who(self) -> tuple[bytes | None, str | None, str | None]:
        """What makes two rows the same signer: the key, or the identity."""
        return self.spki, self.issuer, self.subject


@frozen
class SignersEntry:
    """A parsed signers/v1 entry."""

    name: str
    project: str
    signers: tuple[Signer, ...]
