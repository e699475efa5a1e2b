"""A thousand bundles of a private Sigstore, half of each log, and an envelope that a key signed."""

import hashlib
import json
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.serialization import Encoding
from support.private_sigstore import ISSUER, SAN, PrivateSigstore
from support.transparency import spki

COUNT: Final = 1_000
WHO: Final = ("--certificate-identity", SAN, "--certificate-oidc-issuer", ISSUER)
ROOT: Final = "root.json"


def thousand(folder: Path) -> tuple[str, ...]:
    """Sign the files and return what pinproof is asked; paths are below `folder`."""
    sigstore = PrivateSigstore()
    (folder / ROOT).write_text(json.dumps(sigstore.trusted_root()))
    asked: list[str] = []
    for number in range(COUNT):
        data, name = b"file %d" % number, f"{number:04}.bin"
        bundle = sigstore.message(data, sigstore.signer(), rekor=1 if number % 2 else 2)
        (folder / name).write_bytes(data)
        (folder / f"{name}.json").write_text(json.dumps(bundle))
        asked += [name, "--bundle", f"{name}.json"]
    return ("verify", "bundle", *asked, "--trusted-root", ROOT, *WHO)


def envelope(folder: Path) -> tuple[str, ...]:
    """Sign a statement about a file with a key alone."""
    sigstore = PrivateSigstore()
    signer = sigstore.managed_signer()
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "file", "digest": {"sha256": hashlib.sha256(b"file").hexdigest()}}],
        "predicateType": "https://example.test/built/v1",
        "predicate": {},
    }
    made = sigstore.statement(json.dumps(statement).encode(), signer)["dsseEnvelope"]
    (folder / "file").write_bytes(b"file")
    (folder / "file.dsse.json").write_text(json.dumps(made))
    (folder / "key.pub").write_bytes(spki(signer.key, Encoding.PEM))
    return ("verify", "bundle", "file", "--bundle", "file.dsse.json", "--key", "key.pub")
