"""What a repository says of itself that could change other tools' answers, and changes none here.

Shallow, grafted, replaced, partial, borrowed: each is read from its file and named, so that an
answer here can be understood beside another tool's (anchors J; dependencies' matrix of git
tools). Configuration and hooks that name programs are listed too: nothing of them is run, and
git never sees them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.sources.folder import Folder, Kind
from verifier.sources.git.objects import FULL_ID, shown
from verifier.sources.git.store import Found, read_file

_SECTION: Final = re.compile(rb'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)')
_KEY: Final = re.compile(rb"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?")
#: Keys by which a configuration runs a program or brings in other files (git-config).
_PROGRAMS: Final = {
    "core": (
        *("fsmonitor", "sshcommand", "hookspath", "pager", "editor", "askpass", "gitproxy"),
        *("attributesfile", "worktree", "alternaterefscommand"),
    ),
    "gpg": ("program", "defaultkeycommand"),
    "filter": ("clean", "smudge", "process"),
    "diff": ("external", "textconv", "command"),
    "merge": ("driver",),
    "difftool": ("cmd", "path"),
    "mergetool": ("cmd", "path"),
    "credential": ("helper",),
    "remote": ("uploadpack", "receivepack", "vcs"),
    "uploadpack": ("packobjectshook",),
    "sequence": ("editor",),
    "interactive": ("difffilter",),
    "include": ("path",),
    "includeif": ("path",),
}
_ALL_KEYS: Final = ("alias", "pager")
#: Where a name that git would look up may lie (gitrevisions, "refname").
PLACES: Final = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/")


class Settings:
    """The repository's configuration as text: keys in lower case, values as written."""

    def __init__(self, found: Found) -> None:
        """Read `config` and `config.worktree`; no other file, whatever they include."""
        self.values: dict[str, str] = {}
        for folder, name in ((found.common, "config"), (found.git_dir, "config.worktree")):
            self._read(read_file(folder, name) or b"")

    def _read(self, text: bytes) -> None:
        section, inner = "", ""
        for line in text.split(b"\n"):
            rest = line
            if header := _SECTION.fullmatch(line):
                section, inner = header[1].decode().lower(), shown(header[2] or b"")
                rest = header[3]
            if key := _KEY.fullmatch(rest):
                middle = f".{inner}" if inner else ""
                name = f"{section}{middle}.{key[1].decode().lower()}"
                self.values[name] = shown((key[2] or b"true").strip())

    @property
    def programs(self) -> Iterator[str]:
        """The keys that name a program or another file."""
        for key in sorted(self.values):
            section, _, last = key.split(".")[0], "", key.rpartition(".")[2]
            if last in _PROGRAMS.get(section, ()) or section in _ALL_KEYS:
                yield key

    @property
    def sha256(self) -> bool:
        """Whether the repository says that its ids are SHA-256."""
        return self.values.get("extensions.objectformat", "").lower() == "sha256"

    @property
    def partial(self) -> bool:
        """Whether objects are left to a remote."""
        return any(
            key == "extensions.partialclone"
            or key.endswith((".partialclonefilter",))
            or (key.endswith(".promisor") and value.lower() != "false")
            for key, value in self.values.items()
        )


class Notes:
    """All that was noticed about one repository."""

    def __init__(self, found: Found) -> None:
        """Look at `found`; the answers come from `findings` and `ignored`."""
        self._found = found
        self.settings = Settings(found)
        packed = read_file(found.common, "packed-refs") or b""
        self._packed = [line.split(b" ", 1)[1] for line in packed.split(b"\n") if _is_ref(line)]
        self.shallow = bool((read_file(found.common, "shallow") or b"").strip())
        self.partial = self.settings.partial or any(
            name.endswith(".promisor") for store in found.stores for name in _names(store, "pack")
        )

    def findings(self, commit: str) -> Iterator[Finding]:
        """Name what other tools would have followed."""
        for target in self._found.refused:
            yield _note("git-alternates", f"alternates lead to {printable(target)}", _ALTERNATES)
        for pointer in self._found.followed:
            if pointer.startswith("info/alternates"):
                yield _note("git-alternates-followed", printable(pointer), _FOLLOWED)
        if self.shallow:
            yield _note("git-shallow", "a file shallow", "git fetch --unshallow completes it")
        if self.partial:
            yield _note("git-partial", "a promisor remote", "clone it without --filter")
        if (read_file(self._found.common, "info/grafts") or b"").strip():
            yield _note("git-grafted", "a file info/grafts", "remove the file; it is obsolete")
        replaced = sorted({*self._replaced(), *_names(self._found.common, "refs/replace")})
        if replaced:
            got = f"{len(replaced):,} below refs/replace"
            if commit in replaced:
                got += f", one for {commit}"
            yield _note("git-replaced", got, "git replace -l lists them, git replace -d drops them")
        for name in self._named(commit):
            yield _note("git-ref-like-id", printable(name), "rename or delete that reference")

    def ignored(self) -> Iterator[str]:
        """Say in words what would have run, and did not."""
        programs = list(self.settings.programs)
        if programs:
            yield f"configuration that names programs or files: {printable(', '.join(programs))}"
        hooks = [n for n in _names(self._found.common, "hooks") if not n.endswith(".sample")]
        if hooks:
            yield f"hooks: {printable(', '.join(sorted(hooks)))}"

    def _replaced(self) -> Iterator[str]:
        for name in self._packed:
            if name.startswith(b"refs/replace/"):
                yield shown(name.removeprefix(b"refs/replace/"))

    def _named(self, commit: str) -> Iterator[str]:
        for place in PLACES:
            name = f"{place}{commit}"
            packed = name.encode() in self._packed
            if packed or read_file(self._found.common, name) is not None:
                yield name


_ALTERNATES: Final = "--clone FOLDER follows those you trust, --allow-alternates follows all"
_FOLLOWED: Final = "git repack -ad in a copy makes a repository that holds all of its objects"


def _note(code: str, got: str, remedy: str) -> Finding:
    return Finding(code=code, got=got, remedy=remedy)


def _is_ref(line: bytes) -> bool:
    name, space, _ = line.partition(b" ")
    return bool(space) and FULL_ID.fullmatch(name.decode("ascii", "replace")) is not None


def _names(folder: Path, below: str) -> list[str]:
    """List the files in a folder of the repository that may be missing or be something else."""
    path = folder / below
    if path.is_symlink() or not path.is_dir():
        return []
    entries = Folder(folder, what="the repository").entries(below)
    return [entry.name for entry in entries if entry.kind is not Kind.FOLDER]
