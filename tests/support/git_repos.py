"""Git repositories for tests: sound ones made by git itself, and ones that no git would make.

Objects can be written with any bytes under any id, so that every trap is a real one: what plain
git says of it is asserted beside what pinproof says. Git runs without any configuration but the
repository's own.
"""

import hashlib
import os
import random
import struct
import subprocess
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

WHO: Final = b"A U Thor <author@example.org> 1700000000 +0000"
ENVIRONMENT: Final = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    **{f"GIT_{who}_NAME": "A U Thor" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "author@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "1700000000 +0000" for who in ("AUTHOR", "COMMITTER")},
}
Tree = Mapping[bytes, "Content"]
Content = bytes | tuple[bytes, bytes] | Mapping[bytes, Any]
"""A file's bytes, (mode, bytes or gitlink id) of anything else, or a folder."""


def object_id(kind: str, data: bytes, *, sha256: bool = False) -> str:
    make = hashlib.sha256 if sha256 else hashlib.sha1
    return make(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()


def tree_bytes(items: Iterable[tuple[bytes, bytes, str]]) -> bytes:
    """Write a tree of (mode, name, id), in the order given, whatever they are."""
    return b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(oid)) for mode, name, oid in items)


@dataclass(frozen=True)
class Repo:
    """A repository, its work tree beside it unless it is bare."""

    path: Path
    git_dir: Path
    sha256: bool = False

    def git(
        self, *arguments: str, env: Mapping[str, str] | None = None, data: bytes | None = None
    ) -> bytes:
        """Run git, which has to succeed."""
        done = self.ask(*arguments, env=env, data=data)
        assert done.returncode == 0, (arguments, done)
        return done.stdout

    def ask(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        data: bytes | None = None,
        timeout: float = 60,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run git, whatever comes of it."""
        return subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**ENVIRONMENT, **(env or {})},
            input=data,
            stdin=None if data is not None else subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout,
        )

    def loose(self, oid: str) -> Path:
        """Return where an object lies if it is loose."""
        return self.git_dir / "objects" / oid[:2] / oid[2:]

    def store(self, kind: str, data: bytes, *, oid: str | None = None) -> str:
        """Write a loose object, under another id than its own if one is given."""
        oid = oid or object_id(kind, data, sha256=self.sha256)
        path = self.loose(oid)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data))
        return oid

    def tree(self, content: Tree) -> str:
        """Write a sound tree with all that it holds."""
        items = []
        for name, what in content.items():
            if isinstance(what, Mapping):
                items.append((b"40000", name, self.tree(what)))
            elif isinstance(what, bytes):
                items.append((b"100644", name, self.store("blob", what)))
            elif what[0] == b"160000":
                items.append((*what[:1], name, what[1].decode()))
            else:
                items.append((what[0], name, self.store("blob", what[1])))
        items.sort(key=lambda item: item[1] + (b"/" if item[0] == b"40000" else b""))
        return self.store("tree", tree_bytes(items))

    def commit_of(self, tree: str, *, parents: Sequence[str] = (), message: bytes = b"m\n") -> str:
        """Write a commit of a tree, and let the branch main point at it."""
        lines = [b"tree " + tree.encode(), *(b"parent " + p.encode() for p in parents)]
        lines += [b"author " + WHO, b"committer " + WHO, b"", message]
        oid = self.store("commit", b"\n".join(lines))
        self.point("refs/heads/main", oid)
        return oid

    def commit(self, content: Tree, *, parents: Sequence[str] = ()) -> str:
        """Write a commit with this content."""
        return self.commit_of(self.tree(content), parents=parents)

    def tag(self, name: str, oid: str, *, kind: str = "commit") -> str:
        """Write an annotated tag."""
        text = f"object {oid}\ntype {kind}\ntag {name}\ntagger {WHO.decode()}\n\nm\n"
        tag = self.store("tag", text.encode())
        self.point(f"refs/tags/{name}", tag)
        return tag

    def point(self, reference: str, oid: str) -> None:
        """Let a reference point at an object."""
        path = self.git_dir / reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{oid}\n")

    def pack(self) -> Path:
        """Move everything into one pack."""
        self.git("-c", "pack.writeBitmapIndex=false", "repack", "-adq")
        (pack,) = (self.git_dir / "objects" / "pack").glob("*.pack")
        return pack

    def configure(self, text: str) -> None:
        """Append to the repository's configuration."""
        with (self.git_dir / "config").open("a") as file:
            file.write(text)


def make(path: Path, *, bare: bool = False, sha256: bool = False) -> Repo:
    """Make an empty repository with a branch main to come."""
    path.mkdir(parents=True)
    git_dir = path if bare else path / ".git"
    repo = Repo(path, git_dir, sha256)
    form = "sha256" if sha256 else "sha1"
    repo.git(
        *("init", "--quiet", "--template=", "--initial-branch=main", f"--object-format={form}"),
        *(["--bare"] if bare else []),
    )
    return repo


def planted(path: Path, marker: Path) -> Path:
    """Write a program that leaves a marker when it runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\nexit 1\n')
    path.chmod(0o755)
    return path


def zeros_pack(folder: Path, size: int) -> str:
    """Write pack and index of one blob of `size` zeros, a multiple of 16 MiB; return its id.

    A deflate stream may be cut behind a full flush, so one piece is compressed and repeated.
    """
    piece = bytes(1 << 24)
    made = zlib.compressobj(1)
    first = made.compress(piece) + made.flush(zlib.Z_FULL_FLUSH)
    again = made.compress(piece) + made.flush(zlib.Z_FULL_FLUSH)
    adler = (size % 65521) << 16 | 1
    last = b"\x03\0" + adler.to_bytes(4)
    oid = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for _ in range(size >> 24):
        oid.update(piece)
    stream = first + again * ((size >> 24) - 1) + last
    write_pack(folder, [(oid.hexdigest(), entry(3, size) + stream)])
    return oid.hexdigest()


def entry(kind: int, size: int) -> bytes:
    """Write the header of an object in a pack."""
    first, rest = kind << 4 | size & 15, size >> 4
    out = bytearray([first | (0x80 if rest else 0)])
    while rest:
        out.append(rest & 0x7F | (0x80 if rest > 0x7F else 0))
        rest >>= 7
    return bytes(out)


def write_pack(folder: Path, objects: Sequence[tuple[str, bytes]]) -> Path:
    """Write a pack of ready-made entries and a version 2 index that says which ids they have."""
    body = b"PACK" + struct.pack("!LL", 2, len(objects))
    rows = []
    for oid, data in objects:
        rows.append((bytes.fromhex(oid), zlib.crc32(data), len(body)))
        body += data
    trailer = hashlib.sha1(body, usedforsecurity=False).digest()
    rows.sort()
    fan = [sum(row[0][0] <= first for row in rows) for first in range(256)]
    index = b"\xfftOc" + struct.pack("!L256L", 2, *fan)
    index += b"".join(row[0] for row in rows)
    index += b"".join(struct.pack("!L", row[1]) for row in rows)
    index += b"".join(struct.pack("!L", row[2]) for row in rows) + trailer
    folder.mkdir(exist_ok=True)
    pack = folder / f"pack-{trailer.hex()}.pack"
    pack.write_bytes(body + trailer)
    pack.with_suffix(".idx").write_bytes(
        index + hashlib.sha1(index, usedforsecurity=False).digest()
    )
    return pack


_NAMES: Final = (
    *(b"a", b"b", b"a.b", b"a-b", b"a0", b"A", b"README.md", b"x y", b"caf\xc3\xa9", b"\xff\xfe"),
    *(b"new\nline", b"tab\t", b"quote\"'", b"back\\slash", b"end.", b"-dash", b".hidden", b"git"),
    *(b".gitignore", b".github", b"\xe2\x80\xae", b"con", b"g", b"gi~1", b"...", b"~", b"*"),
)


def generated(path: Path, seed: int) -> tuple[Repo, str]:
    """Make one of many sound repositories: any names, modes, depth, packed or not."""
    chance = random.Random(seed)  # noqa: S311  (a test must repeat)
    repo = make(path, bare=chance.random() < 0.3, sha256=chance.random() < 0.2)
    parents: list[str] = []
    for _ in range(chance.randint(1, 3)):
        parents = [repo.commit(_content(chance, repo.sha256, 3), parents=parents)]
    if chance.random() < 0.3:
        repo.pack()
    return repo, parents[0]


def _content(chance: random.Random, sha256: bool, depth: int) -> dict[bytes, Content]:
    found: dict[bytes, Content] = {}
    for name in chance.sample(_NAMES, chance.randint(0 if depth < 3 else 1, 8)):
        roll = chance.random()
        if roll < 0.25 and depth:
            below = _content(chance, sha256, depth - 1)
            if below:
                found[name] = below
        elif roll < 0.35:
            found[name] = (b"120000", chance.choice([b"a", b"../../etc", b"\xff", b"x" * 300]))
        elif roll < 0.42:
            gitlink = f"{chance.getrandbits(256 if sha256 else 160):x}"
            found[name] = (b"160000", gitlink.rjust(64 if sha256 else 40, "1").encode())
        else:
            data = chance.choice(
                [b"", b"\0", b"x\r\n" * 9, chance.randbytes(chance.randint(0, 99))]
            )
            found[name] = (chance.choice([b"100644", b"100755"]), data)
    return found or {b"only": b""}
