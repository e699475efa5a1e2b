"""How many distinct keys have signed an envelope, and whether they are enough.

What is counted are public keys, known by their bytes: one key under two ids, or given twice, is
one (protocol.md of DSSE counts distinct keys too; python-tuf CVE-2020-6174 and securesystemslib's
`Envelope.verify`, dependencies.md §3, count ids).
"""

from collections.abc import Sequence

from verifier.core.finding import Finding
from verifier.core.limits import SIGNATURES
from verifier.core.value import frozen
from verifier.evidence.dsse import Envelope
from verifier.evidence.keys import PublicKey


@frozen
class Signed:
    """Which of the keys asked for have signed, and why that is not enough, if it is not."""

    by: frozenset[PublicKey]
    finding: Finding | None


def distinct(keys: Sequence[PublicKey]) -> tuple[PublicKey, ...]:
    """Return each key once, in order. Raises `ValueError` where there are none or too many."""
    found = {key.spki: key for key in keys}
    if not 1 <= len(found) <= SIGNATURES:
        raise ValueError(f"expected 1 to {SIGNATURES} different keys, got {len(found)}")
    return tuple(found.values())


def check(envelope: Envelope, keys: Sequence[PublicKey], threshold: int) -> Signed:
    """Count the keys that have signed; `keys` are distinct, and `threshold` at least 1."""
    by = envelope.signers(keys)
    if len(by) >= max(threshold, 1):
        return Signed(by=by, finding=None)
    if by:
        finding = Finding(
            code="statement-threshold",
            expected=f"signatures by {threshold} of {len(keys)} keys",
            got=f"by {len(by)}: {listed(by)}",
            remedy="have the others sign as well: pinproof sign statement --add-to ENVELOPE",
        )
    else:
        count = len(envelope.signatures)
        finding = Finding(
            code="statement-signature",
            expected=f"a signature by {listed(keys)}",
            got=f"{count} {'signature' if count == 1 else 'signatures'}, by none of these keys",
            cause="it was changed after signing, or somebody else signed it",
            remedy="get the envelope again from its source, or name who it is really from",
        )
    return Signed(by=by, finding=finding)


def listed(keys: Sequence[PublicKey] | frozenset[PublicKey]) -> str:
    """Name keys by scheme and id, in the order of their ids."""
    return ", ".join(f"{key.scheme} {key.id}" for key in sorted(keys, key=lambda key: key.id))
