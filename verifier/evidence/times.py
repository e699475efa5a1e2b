"""When something was signed: what timestamps and promises prove, and what they do not."""

from collections.abc import Iterator
from datetime import datetime

from verifier.core.clock import print_time
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.evidence.bundle import Bundle
from verifier.evidence.log_entry import AGAIN, promised_time
from verifier.evidence.transparency import promised
from verifier.evidence.trusted_root import TrustedRoot


@frozen
class Times:
    """Proven times, each with who proves it, and what is wrong with the rest."""

    proven: tuple[tuple[datetime, str], ...]
    findings: tuple[Finding, ...]

    @property
    def earliest(self) -> datetime | None:
        """The earliest of them: by then the signature existed."""
        return min((time for time, _ in self.proven), default=None)

    def told(self) -> str:
        """Say what was proven, in words."""
        return ", ".join(f"{print_time(time)} by {who}" for time, who in self.proven)


def proven(bundle: Bundle, signature: bytes, root: TrustedRoot) -> Times:
    """Look at every timestamp and promise of a bundle.

    Timestamps have to be over `signature`, the one that counts: one over another signature of the
    same envelope says nothing of when this one was made.
    """
    times: list[tuple[datetime, str]] = []
    findings: list[Finding] = []
    for entry in bundle.entries:
        log, time = root.log(entry.log), promised_time(entry)
        if log and log.key and time and promised(entry, log.key):
            times.append((time, log.name))
    if bundle.timestamps:
        for found in _stamps(bundle, signature, root):
            if isinstance(found, Finding):
                findings.append(found)
            else:
                times.append(found)
    return Times(proven=tuple(times), findings=tuple(findings))


def _stamps(
    bundle: Bundle, signature: bytes, root: TrustedRoot
) -> Iterator[tuple[datetime, str] | Finding]:
    from verifier.evidence.timestamp import stamped  # noqa: PLC0415  (only bundles with one pay)

    for token in bundle.timestamps:
        stamp = stamped(token, signature, root.timestamp_authorities)
        if stamp.time is not None and stamp.counts:
            yield stamp.time, stamp.authority
            continue
        names = ", ".join(each.name for each in root.timestamp_authorities) or "none"
        got = "no timestamp of RFC 3161"
        if stamp.time is not None:
            got = "one of another authority, over other bytes, or changed"
            if stamp.holds:
                got = f"one of {print_time(stamp.time)}, when {stamp.authority} did not count"
        yield Finding(
            code="bundle-timestamp",
            expected=f"a timestamp over this signature by an authority of {root.name}: {names}",
            got=got,
            remedy=AGAIN,
        )


def ahead(times: Times, now: datetime) -> Iterator[Finding]:
    """Say that a proven time lies after the time of the run."""
    for time, who in times.proven:
        if time > now:
            yield Finding(
                code="bundle-time-ahead",
                expected=f"a time until {print_time(now)}, the time of this run",
                got=f"{print_time(time)} by {who}",
                remedy="check this machine's clock; then ask again after that time",
            )
