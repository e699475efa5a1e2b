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
from typing import Final, NoReturn

from verifier.checks.composition.patch_path import path_of, quoted_pair, why_unsafe
from verifier.core.finding import Finding, Where
from verifier.core.limits import PATCH_LINE_DIGITS
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE

_NUMBER: Final = rf"(?:0|[1-9][0-9]{{0,{PATCH_LINE_DIGITS - 1}}})"
_HUNK: Final = re.compile(
    rf"@@ -({_NUMBER})(?:,({_NUMBER}))? \+({_NUMBER})(?:,({_NUMBER}))? @@(?: .*)?".encode(),
    re.DOTALL,
)
_INDEX: Final = re.compile(rb"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_MODE: Final = re.compile(rb"(old mode|new mode|new file mode|deleted file mode) ([0-7]{6})")
_STAMP: Final = re.compile(rb"\t(?:(\d{4})-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4})?")
_RENAMES: Final = (b"rename ", b"copy ", b"similarity index ", b"dissimilarity index ")
#: What some tool takes for the start of a change: none of it may stand in front of the first one.
_STARTS: Final = re.compile(
    rb"[ \tX]*(?:diff |--- |\+\+\+ |@@ |\*\*\* |Index:|Prereq:|GIT binary patch"
    rb"|[0-9]+(?:,[0-9]+)?[acd](?:[0-9]+(?:,[0-9]+)?)?\Z)"
)
_NO_NEWLINE: Final = b"\\ No newline at end of file"
_VERSION: Final = re.compile(rb"[0-9A-Za-z][0-9A-Za-z.+~()_ -]{0,60}")
_NOTHING: Final = b"/dev/null"
#: Years whose time stamp means "no such file" to git (and to GNU patch): too clever to follow.
_EPOCH: Final = (b"1969", b"1970")
_MODES: Final = {b"100644": FILE_MODE, b"100755": PROGRAM_MODE}


@frozen
class Hunk:
    """One replacement: `old` stands at line `start` (from 1) of the file and becomes `new`.

    `at` is the hunk's own line in the patch. `ends` says that nothing follows it in the file: it
    has no context behind its last change, or one of its sides lacks the final newline.
    """

    at: int
    start: int
    old: bytes
    new: bytes
    new_start: int
    ends: bool

    @property
    def old_lines(self) -> int:
        """How many lines `old` is, the last one perhaps without its newline."""
        return _lines(self.old)


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
    except _Refusal as refusal:
        return refusal.finding


class _Refusal(Exception):  # noqa: N818  (no error: it carries a finding up to `read_patch`)
    def __init__(self, finding: Finding) -> None:
        self.finding = finding


class _Reader:
    """One pass over the lines. `at` is the index of the next line."""

    def __init__(self, data: bytes, name: str) -> None:
        self._lines = data.split(b"\n")
        self._unended = bool(self._lines.pop())
        if self._unended:
            self._lines.append(data.rpartition(b"\n")[2])
        self._patch = name
        self._at = 0
        self._path: bytes | None = None

    # ── the grammar ────────────────────────────────────────────────────────────────────────────

    def files(self) -> Iterator[FilePatch]:
        """Read all of it."""
        if self._unended:
            self._at = len(self._lines) - 1
            self._refuse("patch-truncated", "a newline at the end of the patch", "none")
        preamble = self._preamble()
        seen: set[bytes] = set()
        while (line := self._peek()) is not None and line.startswith((b"diff --git ", b"--- ")):
            self._path = None
            found = self._file()
            if found.path in seen:
                self._at = found.at - 1
                self._refuse("patch-file-repeated", "each file once", "a second time")
            seen.add(found.path)
            yield found
        self._path = None
        self._signature(mail=preamble)
        if not seen:
            self._at = 0
            self._refuse("patch-empty", "at least one change of a file", "none")

    def _preamble(self) -> bool:
        """Skip a mail's head; whether there is one."""
        start = self._at
        while (line := self._peek()) is not None and not line.startswith((b"diff --git ", b"--- ")):
            if _STARTS.match(line):
                self._refuse("patch-header", "the header of a file", None)
            self._at += 1
        return self._at > start

    def _signature(self, *, mail: bool) -> None:
        """Take what `git format-patch` ends with; nothing else may follow."""
        if mail and self._peek() == b"-- ":
            version = self._lines[self._at + 1 : self._at + 2]
            if version and _VERSION.fullmatch(version[0]):
                self._at += 2
                self._at += self._peek() == b""
        if self._peek() is not None:
            self._refuse("patch-garbage", "the end, or the header of the next file", None)

    def _file(self) -> FilePatch:
        at = self._at + 1
        line = self._take()
        if not line.startswith(b"diff --git "):
            self._at -= 1
            return self._named(at, None, {})
        pair = line.removeprefix(b"diff --git ")
        if pair.endswith(b"\r"):
            self._refuse_line("patch-carriage-return", "header lines that end in LF")
        path = quoted_pair(pair)
        if path is None:
            self._refuse_line("patch-rename" if self._renames() else "patch-path", _ONE_PATH)
        self._check_path(path)
        self._path = path
        return self._named(at, path, self._extended())

    def _renames(self) -> bool:
        """Whether a header with two paths is of a rename or copy, so that it is called that."""
        return any(
            line.startswith(_RENAMES) for line in self._lines[self._at : self._at + _HEADER_LINES]
        )

    def _extended(self) -> dict[bytes, bytes]:
        """Read modes and the index line; each once, in git's order."""
        found: dict[bytes, bytes] = {}
        while (line := self._peek()) is not None:
            self._no_carriage_return(line)
            if line.startswith(_RENAMES):
                self._refuse("patch-rename", "one path that stays", None)
            if line.startswith((b"GIT binary patch", b"Binary files ")):
                self._refuse("patch-binary", "lines of text", None)
            mode, index = _MODE.fullmatch(line), _INDEX.fullmatch(line)
            key = mode[1] if mode else b"index" if index else None
            if key is None:
                break
            if key in found or (found and _ORDER.index(key) < _ORDER.index(next(reversed(found)))):
                self._refuse("patch-header", "each header line once, in git's order", None)
            found[key] = line
            self._at += 1
        if (b"old mode" in found) != (b"new mode" in found) or (
            len({_FATES[key] for key in found if key in _FATES}) > 1
        ):
            self._refuse("patch-header", "headers that agree", "headers that contradict each other")
        return found

    def _named(self, at: int, path: bytes | None, extended: dict[bytes, bytes]) -> FilePatch:
        """Read the rest of a file behind its git header; a plain diff has none."""
        index = _INDEX.fullmatch(extended.pop(b"index", b""))
        modes = {key: self._mode(line.rpartition(b" ")[2]) for key, line in extended.items()}
        old_mode = modes.get(b"deleted file mode", modes.get(b"old mode"))
        if index and index[3]:
            if modes:
                self._refuse_line("patch-header", "one place that states the mode", "two")
            old_mode = self._mode(index[3])
        fate = next((_FATES[key] for key in modes if _FATES[key] != "replace"), "replace")
        hunks: tuple[Hunk, ...] = ()  # git writes none for a file that is added or deleted empty
        if (self._peek() or b"").startswith(b"--- "):
            path, fate = self._names(path, fate)
            hunks = tuple(self._hunks(fate))
        elif path is None or fate == "replace":
            code = "patch-mode-only" if modes else "patch-header"
            self._refuse(code, "--- and +++ and at least one hunk", None)
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
            self._refuse_line("patch-path", _ONE_PATH)
        said = "add" if old is None else "delete" if new is None else "replace"
        if path is not None and said != fate:
            self._refuse_line("patch-header", f"names of a file to {fate}")
        (self._path,) = named
        return self._path, said

    def _name(self, start: bytes, prefix: bytes) -> bytes | None:
        line = self._peek()
        if line is None or not line.startswith(start):
            self._refuse("patch-header", f"a line that starts with {start.decode()}", None)
        self._no_carriage_return(line)
        self._at += 1
        name, tab, rest = line.removeprefix(start).partition(b"\t")
        stamp = _STAMP.fullmatch(tab + rest) if tab else None
        if tab and (stamp is None or stamp[1] in _EPOCH):
            self._refuse_line("patch-header", "nothing behind the name but its time")
        if name == _NOTHING:
            return None
        path = path_of(name, prefix)
        if path is None:
            self._refuse_line("patch-path", f"a path behind {prefix.decode()}")
        self._check_path(path)
        return path

    # ── hunks ──────────────────────────────────────────────────────────────────────────────────

    def _hunks(self, fate: str) -> Iterator[Hunk]:
        end, shift, ended = 0, 0, False
        if not (self._peek() or b"").startswith(b"@@"):
            self._refuse("patch-header", _A_HUNK, None)
        while (line := self._peek()) is not None and line.startswith(b"@@"):
            header = _HUNK.fullmatch(line)
            if header is None:
                self._refuse("patch-header", _A_HUNK, None)
            at = self._at + 1
            start, new_start = int(header[1]), int(header[3])
            olds, news = (int(header[n] if header[n] is not None else 1) for n in (2, 4))
            if (olds and not start) or (news and not new_start):
                self._refuse("patch-count", "lines that are counted from 1", None)
            if ended or (start if olds else start + 1) <= end:
                self._refuse("patch-hunk-order", "hunks one behind the other", None)
            if (fate == "add" and (start or olds)) or (fate == "delete" and (new_start or news)):
                self._refuse("patch-count", "no lines on the side without a file", None)
            line_before = start - 1 if olds else start
            if line_before + shift != (new_start - 1 if news else new_start):
                right = line_before + shift + (1 if news else 0)
                self._refuse("patch-count", f"the new lines to start at line {right:,}", None)
            self._at += 1
            hunk = self._hunk(at, start, olds, new_start, news)
            yield hunk
            end = start + olds - 1 if olds else start
            shift += news - olds
            ended = hunk.ends

    def _hunk(self, at: int, start: int, olds: int, new_start: int, news: int) -> Hunk:
        """Read as many lines as the header says, and what is noted of the final newline."""
        sides: dict[str, list[bytes]] = {"old": [], "new": []}
        counts = {"old": olds, "new": news}
        ended: set[str] = set()
        kinds: list[bytes] = []
        while any(len(sides[side]) < counts[side] for side in sides):
            line = self._peek()
            if line is None or line[:1] not in _SIDES:
                self._refuse("patch-line" if line is not None else "patch-truncated", _A_LINE, None)
            bare = self._is_bare()
            for side in _SIDES[line[:1]]:
                sides[side].append(line[1:] if bare else line[1:] + b"\n")
                if len(sides[side]) > counts[side]:
                    self._refuse("patch-count", f"{olds:,} old and {news:,} new lines", None)
                if side in ended:
                    self._refuse("patch-line", "no line behind the file's last one", None)
                if bare:
                    ended.add(side)
            kinds.append(line[:1])
            self._at += 1 + bare
        following = self._peek() or b""
        if following[:1] in (b" ", b"+", b"\\", b"-") and not following.startswith(_NEXT):
            self._refuse("patch-count", f"{olds:,} old and {news:,} new lines", None)
        if set(kinds) <= {b" "}:
            self._refuse_hunk(at, "a change in each hunk", "context alone")
        first = start if olds else start + 1
        if kinds[0] != b" " and first > 1:
            self._refuse_hunk(at, _CONTEXT, "none in front")
        return Hunk(
            at=at,
            start=first,
            old=b"".join(sides["old"]),
            new=b"".join(sides["new"]),
            new_start=new_start if news else new_start + 1,
            ends=bool(ended) or kinds[-1] != b" ",
        )

    def _is_bare(self) -> bool:
        """Whether the line behind this one says that this one has no newline."""
        after = b"".join(self._lines[self._at + 1 : self._at + 2])
        if after.startswith(b"\\") and after != _NO_NEWLINE:
            self._at += 1
            self._refuse("patch-line", _NO_NEWLINE.decode(), None)
        return after == _NO_NEWLINE

    # ── single lines ───────────────────────────────────────────────────────────────────────────

    def _peek(self) -> bytes | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _take(self) -> bytes:
        self._at += 1
        return self._lines[self._at - 1]

    def _mode(self, mode: bytes) -> int:
        if mode not in _MODES:
            self._refuse_line("patch-mode", "mode 100644 or 100755", f"mode {mode.decode()}")
        return _MODES[mode]

    def _check_path(self, path: bytes) -> None:
        if why := why_unsafe(path):
            self._refuse_line("patch-path", "a path inside the tree", f"{_shown(path)}: {why}")

    def _no_carriage_return(self, line: bytes) -> None:
        if line.endswith(b"\r"):
            self._refuse("patch-carriage-return", "header lines that end in LF", None)

    def _refuse_line(self, code: str, expected: str, got: str | None = None) -> NoReturn:
        """Refuse for the line that was just taken."""
        self._at -= 1
        self._refuse(code, expected, got)

    def _refuse_hunk(self, at: int, expected: str, got: str) -> NoReturn:
        self._at = at - 1
        self._refuse("patch-no-context", expected, got)

    def _refuse(self, code: str, expected: str, got: str | None) -> NoReturn:
        """Refuse for the next line; `got` is that line unless it is said otherwise."""
        line = self._peek()
        told = "the end of the patch" if line is None else _shown(line[:_SHOWN]) or "an empty line"
        if got is None and line is not None and line.endswith(b"\r"):
            code = "patch-carriage-return" if code in _CARRIAGE_RETURN_EXPLAINS else code
        about = f" ({_shown(self._path)})" if self._path is not None else ""
        raise _Refusal(
            Finding(
                code=code,
                where=Where(path=self._patch, line=self._at + 1),
                expected=expected,
                got=f"{told if got is None else got}{about}",
                cause=_STRIPPED if line == b"" and code == "patch-line" else None,
                remedy=_REMEDIES.get(code, _REMEDY),
            )
        )


def _lines(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))


def _shown(text: bytes) -> str:
    return printable(text.decode(errors="surrogateescape"))


_SHOWN: Final = 120
_HEADER_LINES: Final = 6
_ORDER: Final = (b"old mode", b"new mode", b"new file mode", b"deleted file mode", b"index")
_FATES: Final = {
    b"old mode": "replace",
    b"new mode": "replace",
    b"new file mode": "add",
    b"deleted file mode": "delete",
}
#: The sides of a file that a line of a hunk belongs to.
_SIDES: Final = {b" ": ("old", "new"), b"-": ("old",), b"+": ("new",)}
#: What begins with a dash and may follow a hunk: the next file, or a signature.
_NEXT: Final = (b"--- ", b"-- ")
_A_LINE: Final = "a line that starts with a space, - or +"
_A_HUNK: Final = "a hunk, @@ -line,count +line,count @@"
_CARRIAGE_RETURN_EXPLAINS: Final = ("patch-header", "patch-garbage")
_ONE_PATH: Final = "one path, behind a/ and behind b/, as git writes it"
_CONTEXT: Final = "a line of context on each side, unless the file begins or ends there"
_STRIPPED: Final = "white space at line ends was stripped from the patch"
_REMEDY: Final = (
    "take the patch again from where it was pinned, as bytes; mail and editors change patches"
)
_REMEDIES: Final = {
    "patch-rename": "write the patch anew with git diff --no-renames, and pin that",
    "patch-binary": "vouch for a binary file by its pins, in a stage without a patch",
    "patch-mode-only": "state the mode in the stage's files, without a patch for it",
    "patch-mode": "vouch for links and submodules by the commit that holds them",
    "patch-no-context": "write the patch anew with context (git diff -U3), and pin that",
}
