"""Verify the bundles of a folder with sigstore's own verifier, one after the other."""

import hashlib
import sys
from pathlib import Path

from sigstore.hashes import Hashed
from sigstore.models import Bundle, TrustedRoot
from sigstore.verify import Verifier
from sigstore.verify.policy import Identity
from sigstore_models.common.v1 import HashAlgorithm


def main(root: str, identity: str, issuer: str) -> None:
    verifier = Verifier(trusted_root=TrustedRoot.from_file(root))
    policy = Identity(identity=identity, issuer=issuer)
    for file in sorted(Path().glob("*.bin")):
        digest = hashlib.sha256(file.read_bytes()).digest()
        hashed = Hashed(algorithm=HashAlgorithm.SHA2_256, digest=digest)
        bundle = Bundle.from_json(file.with_suffix(".bin.json").read_bytes())
        verifier.verify_artifact(hashed, bundle, policy)
        print(f"{file} verified")


if __name__ == "__main__":
    main(*sys.argv[1:])
