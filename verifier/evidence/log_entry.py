"""One log entry judged: the log holds it and says so, and it is about this signature."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from verifier.core.clock import print_time
from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.evidence.bundle import LogEntry
from verifier.evidence.keys import PublicKey
from verifier.evidence.log_body import KINDS, Signed, bound
from verifier.evidence.transparency import Checkpoint, included, promised
from verifier.evidence.trusted_root import Log, TrustedRoot, Window

AGAIN: Final = "get the bundle again from whoever published it"
_ROOT: Final = "name the trusted root of the Sigstore that it was signed with: --trusted-root FILE"


def promised_time(entry: LogEntry) -> datetime | None:
    """Return the time of an entry's promise, believed once the promise is; None without one."""
    if entry.promise is None or not entry.integrated:
        return None
    try:
        return datetime.fromtimestamp(entry.integrated, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC)


def agrees(entry: LogEntry, signed: Signed, root: TrustedRoot) -> bool:
    """Whether an entry is of a log of the root and about a signature, its proof of its checkpoint.

    The library reads bodies in which keys are given twice or that say more, proofs of another
    size than the log has signed, checkpoints whose signature goes by any name, and entries of a
    log that the root does not know if the key of another one fits.
    """
    if entry.proof is None or root.log(entry.log) is None or not bound(entry, signed):
        return False
    try:
        head = Checkpoint.parse(entry.proof.checkpoint)
    except ValueError:
        return False
    agreed = (head.size, head.root) == (entry.proof.size, entry.proof.root)
    return agreed and bool(head.by_its_log)


def judged(entry: LogEntry, signed: Signed, root: TrustedRoot) -> Iterator[Finding]:
    """Say what is wrong with an entry; no finding means that it vouches for the signature."""
    log = root.log(entry.log)
    if log is None:
        names = ", ".join(each.name for each in root.logs) or "none"
        yield Finding(
            code="bundle-log-unknown",
            expected=f"a log of {root.name}: {names}",
            got=f"the log of id {entry.log.hex()[:64]}",
            remedy=_ROOT,
        )
        return
    if entry.kind not in KINDS:
        yield Finding(
            code="bundle-unsupported",
            expected=f"a log entry of a kind that is read here: {', '.join(KINDS)}",
            got=printable(entry.kind[:80]),
            remedy="sign again with a client of today; it makes entries of these kinds",
        )
    elif not bound(entry, signed):
        yield Finding(
            code="bundle-log-entry",
            expected="an entry about this signature, these bytes and this signer",
            got="an entry about something else",
            remedy=AGAIN,
        )
    if log.key is not None:
        yield from _logged(entry, log, log.key)


def _logged(entry: LogEntry, log: Log, key: PublicKey) -> Iterator[Finding]:
    """Say what does not hold of the log's own statements about the entry."""
    if entry.proof is None:
        yield Finding(
            code="bundle-log-missing",
            expected="an inclusion proof with a signed checkpoint",
            got="an entry without one",
            remedy="have the bundle completed with a proof from the log, or sign again",
        )
    else:
        told = _unproven(entry, log, key)
        if told is not None:
            yield Finding(code="bundle-log-proof", expected=told[0], got=told[1], remedy=AGAIN)
    if entry.promise is not None and not promised(entry, key):
        time = promised_time(entry)
        at = (
            f"at {print_time(time)}" if time else "at the time that comes with it, which is missing"
        )
        yield Finding(
            code="bundle-log-promise",
            expected=f"the promise of {log.name} to log it {at}",
            got="a signature that is not the log's over this entry, place and time",
            remedy=AGAIN,
        )


def _unproven(entry: LogEntry, log: Log, key: PublicKey) -> tuple[str, str] | None:
    """Return what a proof has to be and what it is, None if it holds."""
    proof = entry.proof
    assert proof is not None
    try:
        head = Checkpoint.parse(proof.checkpoint)
    except ValueError as error:
        return "a checkpoint of the log", str(error)
    if (head.size, head.root) != (proof.size, proof.root):
        return (
            "a proof that leads to the checkpoint",
            f"one of {proof.size:,} entries beside a checkpoint of {head.size:,}",
        )
    if not head.signed_by(key, log.id):
        return f"a checkpoint signed by {log.name}", "one without its signature"
    if not included(entry, proof):
        return f"a path from entry {proof.index} to the checkpoint", "one that leads elsewhere"
    return None


def outside(name: str, window: Window, time: datetime) -> Finding:
    """Return the finding on a key that did not count at a proven time."""
    return Finding(
        code="bundle-key-window",
        expected=f"a time in which {name} counts: {window}",
        got=print_time(time),
        remedy="trust it only if the root is out of date: name a newer one with --trusted-root",
    )
