"""Whether a commit or an annotated tag was signed by who should have signed it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from verifier.ask.reading import Reach
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.signers import Signer
from verifier.catalog.refused import Refused
from verifier.checks.commit import Asked, check, unread
from verifier.core.demand import FACETS
from verifier.core.digest import Digest
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import DOCUMENT_BYTES, KEYRING_BYTES
from verifier.core.outcome import Report, Subject
from verifier.evidence import openpgp
from verifier.evidence.sshsig import SshKey
from verifier.policy import judge
from verifier.sources import file
from verifier.sources.git.faults import of_fault
from verifier.sources.git.objects import Commit, Fault
from verifier.sources.git.repository import read_commit_or_tag

_WHERE: Final = re.compile(r"git:(.+)@([^@:]*)", re.DOTALL)


def verify_commit(
    where: str,
    *,
    signers: Sequence[str] = (),
    ssh_keys: Sequence[str] = (),
    keyring: str | None = None,
    trust: Trust | None = None,
    reach: Reach | None = None,
) -> Report:
    """Judge the signature of `git:REPO@ID`, ID being the full id of a commit or annotated tag.

    One of those who are named has to have made it: `signers` are rows of the registry, `ssh_keys`
    files of SSH public keys, one a line, `keyring` a file of OpenPGP public keys.

    Raises `WrongCallError` for a call that names nobody, a key that is none, or an id that is not
    full, `UnavailableError` for what cannot be read.
    """
    trust, reach = trust or open_trust(), reach or Reach()
    named = _WHERE.fullmatch(where)
    if named is None:
        raise WrongCallError(
            f"{where}: expected git:REPO@ID",
            code="wrong-call",
            remedy="give the repository's path and the full id of a commit or annotated tag",
        )
    if not (signers or ssh_keys or keyring is not None):
        raise WrongCallError(
            "expected who may have signed, got nobody",
            code="wrong-call",
            remedy="give --signer NAME, --ssh-key FILE or --keyring FILE",
        )
    keys = tuple(key for name in ssh_keys for key in _ssh_keys(name))
    ring = None if keyring is None else _keyring(keyring)
    rows = _rows(signers, trust)
    found = read_commit_or_tag(
        Path(named[1]),
        named[2],
        clones=tuple(map(Path, reach.clones)),
        allow_alternates=reach.allow_alternates,
    )
    if isinstance(found, Fault):
        outcome = unread(of_fault(found))
    elif isinstance(rows, Finding):
        outcome = unread(rows)
    else:
        asked = Asked(signers=rows, ssh_keys=keys, keyring=ring)
        outcome = check(found, asked, trust.now)
    digests = (Digest(kind="git-commit", hex=found.oid),) if isinstance(found, Commit) else ()
    result = judge(
        outcome,
        subject=Subject(name=where, digests=digests),
        demanded=frozenset(FACETS["commit"]),
        waivers=trust.policy.waivers,
        now=trust.now,
    )
    return trust.report((result,))


def _rows(names: Sequence[str], trust: Trust) -> tuple[Signer, ...] | Finding:
    """Look signers up; the first that cannot be is the reason why nothing is judged."""
    rows: list[Signer] = []
    for name in names:
        found = trust.catalog if isinstance(trust.catalog, Refused) else trust.catalog.signer(name)
        if isinstance(found, Refused):
            return found.findings[0]
        rows.append(found)
    return tuple(rows)


def _ssh_keys(name: str) -> list[SshKey]:
    """Read the keys of a file, one a line; empty lines and comments are no keys."""
    text = file.read(name, limit=DOCUMENT_BYTES).data.decode(errors="replace")
    keys: list[SshKey] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            keys.append(SshKey.line(line.strip()))
        except ValueError as error:
            raise WrongCallError(
                f"--ssh-key: {name}: line {number} {error}",
                code="wrong-call",
                remedy="give a file such as ~/.ssh/id_ed25519.pub: a kind, base64, a comment",
            ) from None
        if keys[-1].key is None:
            raise WrongCallError(
                f"--ssh-key: {name}: line {number} is a key of type {keys[-1].kind}, which does "
                "not count here",
                code="wrong-call",
                remedy="use an Ed25519, ECDSA P-256 or P-384 key",
            )
    if not keys:
        raise WrongCallError(
            f"--ssh-key: {name} holds no key",
            code="wrong-call",
            remedy="give a file such as ~/.ssh/id_ed25519.pub",
        )
    return keys


def _keyring(name: str) -> bytes:
    try:
        return openpgp.keyring(file.read(name, limit=KEYRING_BYTES).data)
    except ValueError as error:
        raise WrongCallError(
            f"--keyring: {name} {error}",
            code="wrong-call",
            remedy="gpg --export KEY > keys.gpg writes a keyring of the keys that may sign",
        ) from None
