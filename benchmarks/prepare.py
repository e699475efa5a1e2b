"""What the benchmarks read, made anew for every run."""

import json
from pathlib import Path
from typing import Final

from support.hosts import host
from support.private_sigstore import ISSUER, SAN, PrivateSigstore

from benchmarks.filler import padded

EMPTY_CLICK: Final = '''\
import click
@click.command()
def main():
    """Do nothing."""
main()
'''


def host_of_120_kb(folder: Path) -> Path:
    """Write the example's host with v6 in it, and code of ours below."""
    made = folder / "host.py"
    made.write_bytes(padded(host("v6"), size=120_000))
    return made


def host_of_100_000_lines(folder: Path) -> Path:
    """Write the same at the size of a vendored library in one file."""
    made = folder / "large.py"
    made.write_bytes(padded(host("v6"), lines=100_000))
    return made


def empty_click(folder: Path) -> Path:
    """Write a program that only starts."""
    made = folder / "empty_click.py"
    made.write_text(EMPTY_CLICK)
    return made


def sigstore_arguments(folder: Path, file: Path) -> tuple[str, ...]:
    """Sign a file in a private Sigstore; return what verifies it offline.

    Rekor v1: its promise is cheaper to verify than a timestamp, so this is the faster peer.
    """
    sigstore = PrivateSigstore()
    bundle = sigstore.message(file.read_bytes(), sigstore.signer(), rekor=1)
    (folder / "bundle.json").write_text(json.dumps(bundle))
    (folder / "trust.json").write_text(json.dumps(sigstore.client_trust_config()))
    return (
        *("--trust-config", "trust.json", "verify", "identity", "--offline"),
        *("--bundle", "bundle.json", "--cert-identity", SAN, "--cert-oidc-issuer", ISSUER),
        str(file),
    )
