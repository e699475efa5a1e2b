"""Git's own second opinion on commits and trees: its format rules, and SHA-1 collisions.

`hashlib` cannot tell a SHA-1 collision from an honest object; git's SHA-1 can (SHA1DC), but
`cat-file` does not hash. So the commit and the trees that were read pass once, as a pack written
by us, through `index-pack` in an empty repository of ours. It writes there and nowhere else.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from verifier.core.finding import Finding
from verifier.core.limits import FINDINGS_PER_CODE, GIT_OBJECT_SECONDS
from verifier.sources.git.objects import SHA1_HEX, pack
from verifier.sources.git.process import COLLISION, Git, environment, failed
from verifier.sources.git.store import make_bare

#: The first git whose index-pack checks objects without asking for all that they link to.
_FSCK_OBJECTS: Final = (2, 18)
_COMPLAINT: Final = re.compile(rb"(?:error|warning): object ([0-9a-f]+): (\w+): ([^\n]*)")
_UNSEEN: Final = (b"gitmodulesMissing", b"gitattributesMissing")
_UNWATCHED: Final = "that no SHA-1 collision hides among commits and trees: this git does not look"


class Strict:
    """One check, which runs while the caller reads on."""

    def __init__(self, git: Git, scratch: Path, hex_length: int) -> None:
        """Run in a new folder below `scratch`."""
        self._git, self._hex_length = git, hex_length
        self._folder, self._pack = scratch / "strict.git", scratch / "strict.pack"
        self._process: subprocess.Popen[bytes] | None = None
        make_bare(self._folder, hex_length)

    def start(self, objects: Sequence[tuple[str, bytes]]) -> None:
        """Hand over objects, which were hashed before."""
        with self._pack.open("wb") as file:
            file.writelines(pack(objects, len(objects), self._hex_length))
        fsck = ["--fsck-objects"] if self._git.version >= _FSCK_OBJECTS else []
        self._process = self._run(fsck)

    def stop(self) -> None:
        """End a check whose answer is not wanted."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def finish(self) -> tuple[list[Finding], list[str]]:
        """Wait for git's opinion: findings, and what it leaves unproven."""
        if self._process is None:
            return [], []
        findings: list[Finding] = []
        code, said = self._ended()
        if code and COLLISION not in said:
            # It may have stopped at that: hash the rest all the same.
            findings += _complaints(said)
            self._process = self._run([])
            code, said = self._ended()
        if COLLISION in said:
            findings.append(
                Finding(
                    code="git-collision",
                    got="an object that was made to collide with another",
                    remedy="do not use this commit; ask who wrote it",
                )
            )
        elif code:
            raise failed("index-pack does not take the objects that were read")
        watched = self._git.detects_collisions or self._hex_length != SHA1_HEX
        return findings, [] if watched else [_UNWATCHED]

    def _run(self, options: list[str]) -> subprocess.Popen[bytes]:
        with self._pack.open("rb") as file:
            return subprocess.Popen(  # noqa: S603  (an absolute path and words of ours)
                [self._git.path, "index-pack", "--stdin", "--threads=1", *options],
                env=environment(self._folder),
                cwd=self._folder,
                stdin=file,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

    def _ended(self) -> tuple[int, bytes]:
        if self._process is None:
            return 0, b""
        try:
            _, said = self._process.communicate(timeout=10 * GIT_OBJECT_SECONDS)
        except subprocess.TimeoutExpired:
            self.stop()
            raise failed("index-pack takes too long") from None
        return self._process.returncode, said


def _complaints(said: bytes) -> list[Finding]:
    """Name what git objects to; that it did not get every blob to look into was our choice."""
    found = [match for match in _COMPLAINT.findall(said) if match[1] not in _UNSEEN]
    if not found and not _COMPLAINT.search(said):
        found = [(b"an object", b"refused", b"without a reason")]
    return [
        Finding(
            code="git-fsck",
            got=(b"%b %b: %b" % match).decode("ascii", "replace"),
            remedy="git fsck in the repository says more; old histories often have such objects",
        )
        for match in found[:FINDINGS_PER_CODE]
    ]
