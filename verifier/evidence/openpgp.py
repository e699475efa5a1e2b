"""OpenPGP signatures, checked by `gpgv` with a given keyring.

`gpgv` is found at a fixed place and runs in a scratch folder, without any environment but ours:
no home, no agent, no configuration, no network. Its exit code is 0 for revoked and for expired
keys too, so what it says on its status channel is read instead (GnuPG's doc/DETAILS): exactly one
signature, and of its outcomes exactly one.
"""

import re
import resource
import subprocess
from base64 import b64decode
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from verifier.core.value import frozen
from verifier.sources.program import find
from verifier.sources.scratch import scratch

_PLACES: Final = ("/usr/bin/gpgv", "/usr/local/bin/gpgv", "/opt/homebrew/bin/gpgv")
_SECONDS: Final = 60
_MEMORY: Final = 1 << 30
_ARMOR: Final = re.compile(
    rb"-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[A-Za-z]+: [^\r\n]*\r?\n)*\s*\n"
    rb"([A-Za-z0-9+/=\s]+?)(?:\r?\n=[A-Za-z0-9+/]{4})?\r?\n-----END PGP PUBLIC KEY BLOCK-----"
)
_OUTCOMES: Final = ("GOODSIG", "BADSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "ERRSIG")
#: Hashes that are no longer fit for signatures: MD5, SHA-1, RIPEMD-160 (RFC 9580 §9.5).
_WEAK: Final = ("1", "2", "3")
#: A signature over the bytes as they are (RFC 9580 §5.2.1).
_BINARY: Final = "00"
_VALIDSIG: Final = 10


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

    `expired_at` is when its key expired, where that is what is wrong with it.
    """

    standing: Standing
    key: str = ""
    expired_at: datetime | None = None


@cache
def program() -> Path | None:
    """Find `gpgv` once a run; None where there is none."""
    return find(_PLACES)


def keyring(data: bytes) -> bytes:
    """Return the binary form of a keyring, which may be armored. Raises `ValueError`."""
    if b"-----BEGIN PGP PUBLIC KEY BLOCK-----" not in data:
        if not data or data[0] < 0x80:  # noqa: PLR2004  (every packet begins so: RFC 9580 §4.2)
            raise ValueError("is no OpenPGP keyring: gpg --export writes one")
        return data
    blocks = _ARMOR.findall(data)
    if len(blocks) != data.count(b"-----BEGIN PGP"):
        raise ValueError("holds armor that is no public key, or is damaged")
    return b"".join(b64decode(b"".join(block.split()), validate=True) for block in blocks)


def check(armor: bytes, signed: bytes, keys: bytes) -> Answer:
    """Ask `gpgv` whether a key of the binary keyring `keys` made the signature over `signed`."""
    path = program()
    if path is None:
        return Answer(standing=Standing.NO_ANSWER)
    with scratch() as folder:
        for name, data in (("keys.gpg", keys), ("signature", armor), ("signed", signed)):
            (folder / name).write_bytes(data)
        said = _asked(path, folder)
    return Answer(standing=Standing.NO_ANSWER) if said is None else _read(said)


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


def _read(said: list[list[str]]) -> Answer:
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
    weak = outcome == "GOODSIG" and valid[0][8] in _WEAK
    standing = Standing.WEAK if weak else _STANDINGS[outcome]
    expired_at = _expiry(said) if standing is Standing.EXPIRED else None
    return Answer(standing=standing, key=valid[0][10], expired_at=expired_at)


def _unchecked(words: list[str], rest: list[str]) -> Standing:
    """Say why `gpgv` did not check a signature: no key, a weak hash, or a kind it does not know."""
    if "NO_PUBKEY" in words:
        return Standing.UNKNOWN_KEY
    return Standing.WEAK if len(rest) > 1 and rest[1] in _WEAK else Standing.UNSUPPORTED


def _expiry(said: list[list[str]]) -> datetime | None:
    """Return when the key expired; None if only the signature itself has."""
    for line in said:
        if line[0] == "KEYEXPIRED" and len(line) > 1 and line[1].isdigit():
            return datetime.fromtimestamp(int(line[1]), UTC)
    return None
