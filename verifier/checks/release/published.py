"""Whether the archive is the one that was published, by the entry of the release.

A staging build has another digest by design (seeds/000 and 002: archives were rebuilt by CI), so
one that was recorded as staging is refused as what it is.
"""

from collections.abc import Iterator, Mapping

from verifier.catalog.entries.release import ReleaseEntry
from verifier.checks.release.problem import problem
from verifier.core.digest import Pin
from verifier.core.finding import Finding

_RECORD = "record the digest from the release page, after comparing it there"


def check(
    entry: ReleaseEntry, triple: str, found: Mapping[str, tuple[str, Pin]]
) -> Iterator[Finding]:
    """Compare what was found; `found` holds file name and pin of archive, checksum and receipt."""
    target = entry.target(triple)
    for what, (path, pin) in found.items():
        staging = tuple(_staging(entry, path, pin))
        yield from staging
        pinned: Pin | None = getattr(target, what) if target else None
        if staging:
            continue
        if pinned is None and what == "archive":
            wanted = f"a digest of {triple} under {entry.name}"
            yield problem(
                "release-unpublished", path, expected=wanted, got=pin.sha256, remedy=_RECORD
            )
        elif pinned is not None and not _same(pinned, pin):
            yield problem("release-not-published", path, expected=str(pinned), got=str(pin))


def check_set(entry: ReleaseEntry, path: str, found: Mapping[str, Pin]) -> Iterator[Finding]:
    """Compare a plain set of files: every archive that the entry knows is one of them."""
    for name, pin in found.items():
        yield from _staging(entry, name, pin)
    known = [target for target in entry.targets if target.archive is not None]
    for target in known:
        if not any(target.archive and _same(target.archive, pin) for pin in found.values()):
            yield problem(
                "release-not-published",
                path,
                expected=f"the archive of {target.triple}, {target.archive}",
                got="no file of that digest",
            )
    if not known:
        wanted = f"the digest of an archive under {entry.name}"
        yield problem("release-unpublished", path, expected=wanted, got="none", remedy=_RECORD)


def _staging(entry: ReleaseEntry, path: str, pin: Pin) -> Iterator[Finding]:
    for each in entry.staging:
        if each.sha256 == pin.sha256:
            yield problem(
                "release-staging",
                path,
                expected="the published file",
                got=pin.sha256,
                cause=f"recorded as staging: {each.reason}",
            )


def _same(pinned: Pin, pin: Pin) -> bool:
    return pinned.sha256 == pin.sha256 and pinned.length in (None, pin.length)
