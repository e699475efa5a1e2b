"""Make what a benchmark reads: `python prepare.py FOLDER NAME…`.

In a process of its own, because the one that measures has to stay small.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from filler import padded
from support.hosts import host
from support.private_sigstore import PrivateSigstore

EMPTY_CLICK = '''\
import click
@click.command()
def main():
    """Do nothing."""
main()
'''


def prepare(folder: Path, names: set[str]) -> None:
    """Write the files of the benchmarks called `names`."""
    if names & {"cold", "where"}:
        data = padded(host("v6"), size=120_000)
        (folder / "host.py").write_bytes(data)
    if "cold" in names:
        (folder / "empty_click.py").write_text(EMPTY_CLICK)
        sigstore = PrivateSigstore()
        # Rekor v1: a promise is cheaper to verify than a timestamp, so the peer is the faster one
        bundle = sigstore.message(data, sigstore.signer(), rekor=1)
        (folder / "host.py.sigstore.json").write_text(json.dumps(bundle))
        (folder / "trust.json").write_text(json.dumps(sigstore.client_trust_config()))
    if "large" in names:
        (folder / "large.py").write_bytes(padded(host("v6"), lines=100_000))


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), set(sys.argv[2:]))
