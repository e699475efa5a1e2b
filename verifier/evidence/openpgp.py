"""OpenPGP signatures, checked by `gpgv` with a given keyring.

`gpgv` is found at a fixed place and runs in a scratch folder, without any environment but ours:
no home, no agent, no configuration, no network. Its exit code is 0 for revoked and for expired
keys too, so what it says on its status channel is read instead (GnuPG's doc/DETAILS): exactly one
signature, and of its outcomes exactly one. Of a key that is both it says only that it has expired;
whether it is revoked, the keyring is asked (`openpgp_keys`).
"""

import re
import resource
import subprocess
from base64 import b64decode
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from verifier.core.value import frozen
from verifier.evidence.openpgp_keys import holds_public_keys, revoked
from verifier.sources.program import find
from verifier.sources.scratch import scratch

_PLACES: Final = ("/usr/bin/gpgv", "/usr/local/bin/gpgv", "/opt/homebrew/bin/gpgv")
_SECONDS: Final = 60
_MEMORY: Final = 1 << 30
_ARMOR: Final = re.compile(
    rb"-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[A-Za-z]+: [^\r\n]*\r?\n)*\s*\n"
    rb"([A-Za-z0-9+/=\s]+?)(?:\r?\n=[A-Za-z0-9+/]{4})?\r?\n-----END PGP PUBLIC KEY BLOCK-----"
)
#: What `git` keeps of a signature (RFC 4880 §6.2), and nothing behind it that nobody signed.
_SIGNATURE: Final = re.compile(
    rb"-----BEGIN PGP SIGNATURE-----[ \t\r]*\n"
    rb"(?:(?:Version|Comment|MessageID|Hash|Charset): [^\n]*\n)*"
    rb"(?:[ \t\r]*\n)?(?:[A-Za-z0-9+/=]+[ \t\r]*\n)+"
    rb"-----END PGP SIGNATURE-----\s*"
)
_OUTCOMES: Final = ("GOODSIG", "BADSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "ERRSIG")
#: Hashes that are no longer fit for signatures: MD5, SHA-1, RIPEMD-160 (RFC 9580 §9.5).
_WEAK: Final = ("1", "2", "3")
#: A signature over the bytes as they are (RFC 9580 §5.2.1).
_BINARY: Final = "00"
_VALIDSIG: Final = 10
_NEVER: Final = "0"


class Standing(StrEnum):
    """What `gpgv` says of a signature."""

    GOOD = "good"
    BROKEN = "broken"
    EXPIRED = "expired"
    REVOKED = "revoked"
    UNKNOWN_KEY = "unknown key"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"
    MALFORMED = "malformed"
    NO_ANSWER = "no answer"


#: Of outcomes after which there is a VALIDSIG.
_STANDINGS: Final = {
    "GOODSIG": Standing.GOOD,
    "EXPSIG": Standing.EXPIRED,
    "EXPKEYSIG": Standing.EXPIRED,
    "REVKEYSIG": Standing.REVOKED,
}


@frozen
class Answer:
    """The standing of a signature and the fingerprint of its primary key, or what it says of it.

    `expires` is when the signature ends, or its key if that is what is wrong with it, and which of
    the two it is; of both the earlier one. gpgv does not say of which key in a block an expiry is:
    the earliest counts.
    """

    standing: Standing
    key: str = ""
    expires: tuple[datetime, str] | None = None


@cache
def program() -> Path | None:
    """Find `gpgv` once a run; None where there is none."""
    return find(_PLACES)


def keyring(data: bytes) -> bytes:
    """Return the binary form of a keyring, which may be armored. Raises `ValueError`.

    `gpgv` says of a keyring that it cannot read what it says of a signature that is none.
    """
    if b"-----BEGIN PGP PUBLIC KEY BLOCK-----" in data:
        blocks = _ARMOR.findall(data)
        if len(blocks) != data.count(b"-----BEGIN PGP"):
            raise ValueError("holds armor that is no public key, or is damaged")
        data = b"".join(b64decode(b"".join(block.split()), validate=True) for block in blocks)
    if not holds_public_keys(data):
        raise ValueError("is no OpenPGP keyring of public keys: gpg --export writes one")
    return data


def armored(armor: bytes) -> bool:
    """Tell whether this is one armored signature, and nothing else."""
    return _SIGNATURE.fullmatch(armor) is not None


def check(armor: bytes, signed: bytes, keys: bytes) -> Answer:
    """Ask `gpgv` whether a key of the binary keyring `keys` made the signature over `signed`."""
    path = program()
    if path is None:
        return Answer(standing=Standing.NO_ANSWER)
    with scratch() as folder:
        for name, data in (("keys.gpg", keys), ("signature", armor), ("signed", signed)):
            (folder / name).write_bytes(data)
        said = _asked(path, folder)
    return Answer(standing=Standing.NO_ANSWER) if said is None else _read(said, keys)


def _asked(path: Path, folder: Path) -> list[list[str]] | None:
    words = ["--homedir", str(folder), "--status-fd", "1", "--keyring", str(folder / "keys.gpg")]
    process = subprocess.Popen(  # noqa: S603  (an absolute path and words of ours)
        [path, *words, "signature", "signed"],
        env={"PATH": "/nonexistent", "HOME": str(folder), "LC_ALL": "C", "TZ": "UTC"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        try:
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
            out, _ = process.communicate(timeout=_SECONDS)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            process.kill()
            return None
    lines = out.decode("ascii", "replace").splitlines()
    return [line.split(" ")[1:] for line in lines if line.startswith("[GNUPG:] ")]


def _read(said: list[list[str]], keys: bytes) -> Answer:
    """Read the status lines: one signature, one outcome, else nothing is believed."""
    words = [line[0] for line in said]
    outcomes = [line for line in said if line[0] in _OUTCOMES]
    if words.count("NEWSIG") != 1 or len(outcomes) != 1 or len(outcomes[0]) < 2:  # noqa: PLR2004
        return Answer(standing=Standing.MALFORMED)
    outcome, key, *rest = outcomes[0]
    if outcome == "BADSIG":
        return Answer(standing=Standing.BROKEN, key=key)
    if outcome == "ERRSIG":
        return Answer(standing=_unchecked(words, rest), key=key)
    valid = [line for line in said if line[0] == "VALIDSIG" and len(line) == _VALIDSIG + 1]
    if len(valid) != 1 or valid[0][9] != _BINARY:
        return Answer(standing=Standing.MALFORMED)
    return _valid(_STANDINGS[outcome], valid[0], said, keys)


def _valid(standing: Standing, valid: list[str], said: list[list[str]], keys: bytes) -> Answer:
    """Say what is worst of a signature that a key of the keyring made over these bytes."""
    expires = [(time, "the signature") for time in _times([valid[4]])]
    if standing is Standing.EXPIRED:
        gone = revoked(keys)
        if gone is None:  # then nobody looks back to a time before the expiry
            return Answer(standing=standing, key=valid[10])
        if gone & {valid[1], valid[10]}:
            standing = Standing.REVOKED
        ended = (line[1] for line in said if line[0] == "KEYEXPIRED" and len(line) > 1)
        expires += [(time, "the key") for time in _times(ended)]
    if standing is not Standing.REVOKED and valid[8] in _WEAK:
        standing = Standing.WEAK
    return Answer(standing=standing, key=valid[10], expires=min(expires, default=None))


def _unchecked(words: list[str], rest: list[str]) -> Standing:
    """Say why `gpgv` did not check a signature: no key, a weak hash, or a kind it does not know."""
    if "NO_PUBKEY" in words:
        return Standing.UNKNOWN_KEY
    return Standing.WEAK if len(rest) > 1 and rest[1] in _WEAK else Standing.UNSUPPORTED


def _times(said: Iterable[str]) -> Iterator[datetime]:
    """Read times as `gpgv` prints them; 0 is none."""
    for text in said:
        if text.isdigit() and text != _NEVER:
            yield datetime.fromtimestamp(int(text), UTC)
