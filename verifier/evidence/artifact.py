"""The file that a bundle is about: its digests, and its bytes where a signature needs them."""

from typing import Final

from verifier.core.value import frozen
from verifier.evidence.bundle import Message
from verifier.evidence.keys import PublicKey

#: Scheme of a key → the digest that its signatures over files are made of.
DIGESTS: Final = {"ecdsa-sha2-nistp256": "sha256", "ecdsa-sha2-nistp384": "sha384"}


@frozen
class Artifact:
    """What was given as FILE. `digests` are by algorithm, always with sha256.

    `data` is None where the file was hashed and not kept, or is known by a digest alone.
    """

    name: str
    digests: dict[str, str]
    length: int | None = None
    data: bytes | None = None
    link: str | None = None

    def tells(self, key: PublicKey) -> bool:
        """Whether enough of the file is known to tell what a key has signed."""
        algorithm = DIGESTS.get(key.scheme)
        return self.data is not None if algorithm is None else algorithm in self.digests

    def is_stated(self, message: Message) -> bool:
        """Whether the file may be what a message says that it is over; it may say nothing."""
        if message.digest is None:
            return True
        algorithm, stated = message.digest
        return self.digests.get(algorithm, stated) == stated

    def signed_by(self, key: PublicKey, signature: bytes) -> bool:
        """Whether a key has signed the file; ECDSA over its digest, Ed25519 over its bytes."""
        algorithm = DIGESTS.get(key.scheme)
        if algorithm is None:
            return self.data is not None and key.verifies(signature, self.data)
        digest = self.digests.get(algorithm)
        return digest is not None and key.verifies_digest(signature, bytes.fromhex(digest))
