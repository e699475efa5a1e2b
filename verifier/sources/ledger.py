"""What one reading of a tree has found so far: entries, names, and findings with their remedies."""

import os
from collections.abc import Iterable
from typing import Final

from verifier.core.finding import Finding, Where
from verifier.core.limits import FINDINGS_PER_CODE, TREE_ENTRIES
from verifier.core.printable import printable
from verifier.sources.names import ROOT, Clash, Names, refused, within_root
from verifier.sources.tree import TreeEntry, Type

_AGAIN: Final = "take the archive from its publisher again and compare its digest; do not unpack it"
_ANEW: Final = "ask for the archive to be made anew, for example with `git archive` or GNU tar"
_BUILDER: Final = "have the image built anew, so that every runtime unpacks it alike"
_RENAME: Final = (
    "on Linux nothing; rename it at its source if others unpack or check it out elsewhere"
)
#: What to do about codes that need other words than "take it again".
_REMEDIES: Final = {
    "tree-compression-unsupported": "recompress it with gzip, zstd or xz, or name the plain tar",
    "tree-compression-memory": "recompress it with a smaller window, such as `zstd -19`, `xz -9`",
    "tree-special": "ask for an archive of files, links and folders alone",
    "tree-mode-special": "look at the file: it runs with its owner's rights once root unpacks it",
    "tree-tar-dialect": _ANEW,
    "tree-tar-pax-unknown": _ANEW,
    "tree-tar-sparse": "make the archive without --sparse",
    "image-sparse": "do not load it; ask its builder for one made without --sparse (tar -S)",
    "tree-tar-type": _ANEW,
    "layer-whiteout-late": _BUILDER,
    "layer-file-on-the-way": _BUILDER,
    "layer-unended": "nothing, if digest and diff-id are those that were pinned",
    "tree-zip-charset": "make the zip with names marked as UTF-8, as Python's zipfile does",
    "tree-zip-encrypted": "decrypt the archive with its own tool and name the result",
    "tree-zip-flags": "make the archive with plain deflate",
    "tree-zip-method": "make the archive with the methods stored or deflated",
    "tree-zip-several-disks": "join the parts into one archive with `zip -s 0`",
    "tree-record-weak": "have the wheel built anew with a current builder",
    **{
        f"tree-name-{what}": _RENAME
        for what in (
            "backslash",
            "not-utf8",
            "control",
            "trailing",
            "drive",
            "reserved",
            "case",
            "normalised",
        )
    },
}


class ContainerError(Exception):
    """Reading cannot go on. It becomes a finding and never leaves the sources."""

    def __init__(
        self,
        code: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        cause: str | None = None,
        path: bytes | None = None,
        offset: int | None = None,
    ) -> None:
        """Hold what the finding will say; the reader knows the place if `offset` is None."""
        super().__init__(code)
        self.code = code
        self.expected = expected
        self.got = got
        self.cause = cause
        self.path = path
        self.offset = offset


class Ledger:
    """What one pass over an archive has found so far: entries, names, findings."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._names = Names()
        self._counts: dict[str, int] = {}
        self._members = 0
        self.entries: dict[bytes, TreeEntry] = {}
        self.findings: list[Finding] = []
        self.ignored: dict[str, int] = {}
        self.complete = True

    def note(self, error: ContainerError) -> None:
        """Write a finding down; of one code only so many, the rest is counted."""
        count = self._counts[error.code] = self._counts.get(error.code, 0) + 1
        if count > FINDINGS_PER_CODE:
            return
        shown = None if error.path is None else printable(os.fsdecode(error.path))
        self.findings.append(
            Finding(
                code=error.code,
                remedy=_REMEDIES.get(error.code, _AGAIN),
                where=Where(path=shown, byte_offset=error.offset),
                expected=error.expected,
                got=error.got,
                cause=error.cause,
            )
        )

    def stop(self, error: ContainerError) -> None:
        """End here: nothing of an archive that could not be read to its end is used."""
        self.complete = False
        self.entries.clear()
        self.note(error)

    @property
    def refused(self) -> bool:
        """Whether something speaks against the archive as a whole."""
        return not self.complete or any(f.row.outcome == "rejected" for f in self.findings)

    def ignore(self, what: str) -> None:
        """Count something that was seen and is no part of a tree; of hostile many, a few."""
        if what in self.ignored or len(self.ignored) < FINDINGS_PER_CODE:
            self.ignored[what] = self.ignored.get(what, 0) + 1

    def place(self, raw: bytes, *, folder: bool, offset: int) -> bytes | None:
        """Return the path that `raw` names below the root, None if it may not be used.

        None for a folder too, which is taken in here.
        """
        path = self.admitted(raw, folder=folder, offset=offset)
        return None if folder else path

    def admitted(self, raw: bytes, *, folder: bool, offset: int) -> bytes | None:
        """Return the path that `raw` names below the root; a folder is taken in.

        None if the name may not be used, and for the root itself.
        """
        self._members += 1
        if self._members > TREE_ENTRIES or self._names.too_many:
            raise ContainerError(
                "tree-too-many", expected=f"at most {TREE_ENTRIES:,} members", got="more"
            )
        if folder and raw in ROOT:
            return None
        path = within_root(raw, folder=folder)
        if not self._names.plain(path):
            codes = list(self._names.problems(path))
            for code in codes:
                self.note(ContainerError(code, path=raw, offset=offset))
            if refused(codes):
                self.complete = False
                return None
        if folder:
            clash = self._names.add_folder(path)
            if clash:
                self._clash(clash, offset)
                return None
        return path

    def add(self, entry: TreeEntry, *, offset: int) -> None:
        """Take in one entry whose path came from `place`."""
        if self.claim(entry.path, link=entry.type is Type.LINK, offset=offset):
            self.entries[entry.path] = entry

    def claim(self, path: bytes, *, link: bool, offset: int) -> bool:
        """Take a name in for anything but a folder, and tell whether it was free."""
        clash = self._names.add(path, link=link)
        if clash:
            self._clash(clash, offset)
        return clash is None

    def _clash(self, clash: Clash, offset: int | None) -> None:
        self.complete = self.complete and offset is None
        other = None if clash.other == clash.path else printable(os.fsdecode(clash.other))
        self.note(ContainerError(clash.code, path=clash.path, got=other, offset=offset))

    def close(self) -> None:
        """Compare all names with each other and say how many findings were left out."""
        for clash in self._names.collisions():
            self._clash(clash, None)
        self.count()

    def count(self) -> None:
        """Say in the last finding of each code how many more there were."""
        for number, finding in enumerate(self.findings):
            more = self._counts[finding.code] - FINDINGS_PER_CODE
            last = all(f.code != finding.code for f in self.findings[number + 1 :])
            if more > 0 and last:
                note = f"{more:,} more of this code not listed"
                cause = f"{finding.cause}; {note}" if finding.cause else note
                self.findings[number] = Finding(
                    code=finding.code,
                    remedy=finding.remedy,
                    where=finding.where,
                    expected=finding.expected,
                    got=finding.got,
                    cause=cause,
                )


def recorded(paths: Iterable[bytes]) -> tuple[Finding, ...]:
    """Note which names, safe by the rules of their own format, are trouble elsewhere."""
    ledger, names = Ledger(), Names()
    for path in paths:
        for code in names.problems(path):
            if not refused((code,)):
                ledger.note(ContainerError(code, path=path))
        names.add(path, link=False)
    for clash in names.collisions():
        ledger.note(
            ContainerError(clash.code, path=clash.path, got=printable(os.fsdecode(clash.other)))
        )
    ledger.close()
    return tuple(ledger.findings)
