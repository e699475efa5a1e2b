"""Patches, read strictly: git's and plain unified diffs, every byte accounted for.

A patch is bytes that somebody pinned, and it means what it says or is refused (CHECKS,
"composition"): nothing is guessed, no line is skipped inside of it, and whatever `git apply`
would refuse is refused here too. The grammar, in the order in which it is read:

1. *Preamble*: the mail that `git format-patch` puts in front. It may hold no line that any tool
   takes for the start of a change.
2. *A file*: `diff --git a/P b/P`, both the same path, then in this order what of `old mode` and
   `new mode`, `new file mode` or `deleted file mode`, and `index` there is; or none of these.
3. *Names*: `--- ` and `+++ `, each of them that path or /dev/null, as the header says.
4. *Hunks*: ascending, disjoint, with counts and new line numbers that are true, at least one
   change in each, and context on both sides unless the file begins or ends there.
5. *Signature*: two dashes, a space, and the version of git, as `git format-patch` ends.

Refused as another kind of patch: renames, copies, binary hunks, changes of a mode alone, links
and submodules. The source of the rules: git's documentation of diff formats and of `git apply`,
and what git 2.39 and GNU patch 2.7 do with mutated patches (tests/property/test_patches.py).
"""

import re
from collections.abc import Iterator
from typing import Final

from verifier.checks.composition.patch_hunks import Hunk, HunkReader, Refusal, shown
from verifier.checks.composition.patch_path import path_of, quoted_pair, why_unsafe
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE

_INDEX: Final = re.compile(rb"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_MODE: Final = re.compile(rb"(old mode|new mode|new file mode|deleted file mode) ([0-7]{6})")
_STAMP: Final = re.compile(rb"\t(?:(\d{4})-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4})?")
_RENAMES: Final = (b"rename ", b"copy ", b"similarity index ", b"dissimilarity index ")
#: What some tool takes for the start of a change: none of it may stand in front of the first one.
_STARTS: Final = re.compile(
    rb"[ \tX]*(?:diff |--- |\+\+\+ |@@ |\*\*\* |Index:|Prereq:|GIT binary patch"
    rb"|[0-9]+(?:,[0-9]+)?[acd](?:[0-9]+(?:,[0-9]+)?)?\Z)"
)
_VERSION: Final = re.compile(rb"[0-9A-Za-z][0-9A-Za-z.+~()_ -]{0,60}")
_NOTHING: Final = b"/dev/null"
#: Years whose time stamp means "no such file" to git (and to GNU patch): too clever to follow.
_EPOCH: Final = (b"1969", b"1970")
_MODES: Final = {b"100644": FILE_MODE, b"100755": PROGRAM_MODE}


@frozen
class FilePatch:
    """What a patch does to one path. `operation` is add, replace or delete.

    `mode` is the file's git mode afterwards, `old_mode` before, each None where the patch does
    not say. `blobs` are the abbreviated git ids of the contents, as the patch states them.
    """

    path: bytes
    operation: str
    hunks: tuple[Hunk, ...]
    old_mode: int | None
    mode: int | None
    blobs: tuple[str, str] | None
    at: int


@frozen
class Patch:
    """A whole patch, files in the order in which they stand in it."""

    name: str
    files: tuple[FilePatch, ...]


def read_patch(data: bytes, *, name: str) -> Patch | Finding:
    """Read a patch, or say in one finding why it is refused. `name` is what reports call it."""
    reader = _Reader(data, name)
    try:
        return Patch(name=name, files=tuple(reader.files()))
    except Refusal as refusal:
        return refusal.finding


class _Reader(HunkReader):
    """One pass over the lines."""

    # ── the grammar ────────────────────────────────────────────────────────────────────────────

    def files(self) -> Iterator[FilePatch]:
        """Read all of it."""
        if self.unended:
            self.at = len(self.lines) - 1
            self.refuse("patch-truncated", "a newline at the end of the patch", "none")
        preamble = self._preamble()
        seen: set[bytes] = set()
        while (line := self.peek()) is not None and line.startswith((b"diff --git ", b"--- ")):
            self.path = None
            found = self._file()
            if found.path in seen:
                self.at = found.at - 1
                self.refuse("patch-file-repeated", "each file once", "a second time")
            seen.add(found.path)
            yield found
        self.path = None
        self._signature(mail=preamble)
        if not seen:
            self.at = 0
            self.refuse("patch-empty", "at least one change of a file", "none")

    def _preamble(self) -> bool:
        """Skip a mail's head; whether there is one."""
        start = self.at
        while (line := self.peek()) is not None and not line.startswith((b"diff --git ", b"--- ")):
            if _STARTS.match(line):
                self.refuse("patch-header", "the header of a file", None)
            self.at += 1
        return self.at > start

    def _signature(self, *, mail: bool) -> None:
        """Take what `git format-patch` ends with; nothing else may follow."""
        if mail and self.peek() == b"-- ":
            version = self.lines[self.at + 1 : self.at + 2]
            if version and _VERSION.fullmatch(version[0]):
                self.at += 2
                self.at += self.peek() == b""
        if self.peek() is not None:
            self.refuse("patch-garbage", "the end, or the header of the next file", None)

    def _file(self) -> FilePatch:
        at = self.at + 1
        line = self.take()
        if not line.startswith(b"diff --git "):
            self.at -= 1
            return self._named(at, None, {})
        pair = line.removeprefix(b"diff --git ")
        if pair.endswith(b"\r"):
            self.refuse_line("patch-carriage-return", "header lines that end in LF")
        path = quoted_pair(pair)
        if path is None:
            self.refuse_line("patch-rename" if self._renames() else "patch-path", _ONE_PATH)
        self._check_path(path)
        self.path = path
        return self._named(at, path, self._extended())

    def _renames(self) -> bool:
        """Whether a header with two paths is of a rename or copy, so that it is called that."""
        return any(
            line.startswith(_RENAMES) for line in self.lines[self.at : self.at + _HEADER_LINES]
        )

    def _extended(self) -> dict[bytes, bytes]:
        """Read modes and the index line; each once, in git's order."""
        found: dict[bytes, bytes] = {}
        while (line := self.peek()) is not None:
            self.no_carriage_return(line)
            if line.startswith(_RENAMES):
                self.refuse("patch-rename", "one path that stays", None)
            if line.startswith((b"GIT binary patch", b"Binary files ")):
                self.refuse("patch-binary", "lines of text", None)
            mode, index = _MODE.fullmatch(line), _INDEX.fullmatch(line)
            key = mode[1] if mode else b"index" if index else None
            if key is None:
                break
            if key in found or (found and _ORDER.index(key) < _ORDER.index(next(reversed(found)))):
                self.refuse("patch-header", "each header line once, in git's order", None)
            found[key] = line
            self.at += 1
        if (b"old mode" in found) != (b"new mode" in found) or (
            len({_FATES[key] for key in found if key in _FATES}) > 1
        ):
            self.refuse("patch-header", "headers that agree", "headers that contradict each other")
        return found

    def _named(self, at: int, path: bytes | None, extended: dict[bytes, bytes]) -> FilePatch:
        """Read the rest of a file behind its git header; a plain diff has none."""
        index = _INDEX.fullmatch(extended.pop(b"index", b""))
        modes = {key: self._mode(line.rpartition(b" ")[2]) for key, line in extended.items()}
        old_mode = modes.get(b"deleted file mode", modes.get(b"old mode"))
        if index and index[3]:
            if modes:
                self.refuse_line("patch-header", "one place that states the mode", "two")
            old_mode = self._mode(index[3])
        fate = next((_FATES[key] for key in modes if _FATES[key] != "replace"), "replace")
        hunks: tuple[Hunk, ...] = ()  # git writes none for a file that is added or deleted empty
        if (self.peek() or b"").startswith(b"--- "):
            path, fate = self._names(path, fate)
            hunks = tuple(self.hunks(fate))
        elif path is None or fate == "replace":
            code = "patch-mode-only" if modes else "patch-header"
            self.refuse(code, "--- and +++ and at least one hunk", None)
        return FilePatch(
            path=path,
            operation=fate,
            hunks=hunks,
            old_mode=old_mode,
            mode=modes.get(b"new file mode", modes.get(b"new mode")),
            blobs=(index[1].decode(), index[2].decode()) if index else None,
            at=at,
        )

    def _names(self, path: bytes | None, fate: str) -> tuple[bytes, str]:
        """Read `---` and `+++`; return the path and what becomes of the file."""
        old = self._name(b"--- ", b"a/")
        new = self._name(b"+++ ", b"b/")
        named = {one for one in (old, new) if one is not None}
        if len(named) != 1 or path not in {None, *named}:
            self.refuse_line("patch-path", _ONE_PATH)
        said = "add" if old is None else "delete" if new is None else "replace"
        if path is not None and said != fate:
            self.refuse_line("patch-header", f"names of a file to {fate}")
        (self.path,) = named
        return self.path, said

    def _name(self, start: bytes, prefix: bytes) -> bytes | None:
        line = self.peek()
        if line is None or not line.startswith(start):
            self.refuse("patch-header", f"a line that starts with {start.decode()}", None)
        self.no_carriage_return(line)
        self.at += 1
        name, tab, rest = line.removeprefix(start).partition(b"\t")
        stamp = _STAMP.fullmatch(tab + rest) if tab else None
        if tab and (stamp is None or stamp[1] in _EPOCH):
            self.refuse_line("patch-header", "nothing behind the name but its time")
        if name == _NOTHING:
            return None
        path = path_of(name, prefix)
        if path is None:
            self.refuse_line("patch-path", f"a path behind {prefix.decode()}")
        self._check_path(path)
        return path

    def _mode(self, mode: bytes) -> int:
        if mode not in _MODES:
            self.refuse_line("patch-mode", "mode 100644 or 100755", f"mode {mode.decode()}")
        return _MODES[mode]

    def _check_path(self, path: bytes) -> None:
        if path != self.path and (why := why_unsafe(path)):
            self.refuse_line("patch-path", "a path inside the tree", f"{shown(path)}: {why}")


_HEADER_LINES: Final = 6
_ORDER: Final = (b"old mode", b"new mode", b"new file mode", b"deleted file mode", b"index")
_FATES: Final = {
    b"old mode": "replace",
    b"new mode": "replace",
    b"new file mode": "add",
    b"deleted file mode": "delete",
}
_ONE_PATH: Final = "one path, behind a/ and behind b/, as git writes it"
