"""A registry in the hands of people: their keys in files, and the runs that each of them makes."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from support import runs
from support.registry import NOW, Registry, entries, seed, signer

PEOPLE: Final = ("root1", "root2", "root3", "targets", "online", "mine1", "mine2", "stranger")


def keys(folder: Path) -> Path:
    """Write the keys of everybody, from fixed seeds."""
    folder.mkdir()
    for name in PEOPLE:
        key = Ed25519PrivateKey.from_private_bytes(seed(name))
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (folder / f"{name}.key").write_bytes(private)
        (folder / f"{name}.key").chmod(0o600)
        (folder / f"{name}.pub").write_bytes(public)
    return folder


def keyid(name: str) -> str:
    """Return the id in TUF of somebody's key."""
    return signer(name).public_key.keyid


class Team:
    """A folder with `keys/`, and `reg`, the registry, once it was begun.

    Roots are signed by two of root1 and root2, `pinproof` by two of mine1 and mine2, index by
    targets, snapshot and timestamp by online.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.registry = place / "reg"
        self.draft = place / "reg.draft"
        keys(place / "keys")

    def run(self, command: str, *, now: datetime = NOW) -> runs.Ran:
        """Run a command line; `@name` is the private key of somebody, `+name` the public one."""
        words = [self._word(word) for word in command.split()]
        return runs.run(words, cwd=self.place, clock=now)

    def _word(self, word: str) -> str:
        name, equals, value = word.rpartition("=")
        kind = {"@": "key", "+": "pub"}.get(value[:1])
        return f"{name}{equals}keys/{value[1:]}.{kind}" if kind else word

    def does(self, command: str, *, now: datetime = NOW) -> runs.Ran:
        """Run what must publish."""
        ran = self.run(command, now=now)
        assert ran.exit == 0, ran
        assert not self.draft.exists()
        return ran

    def waits(self, command: str, *, now: datetime = NOW) -> runs.Ran:
        """Run what must leave a draft, and the registry as it was."""
        before = content(self.registry)
        ran = self.run(command, now=now)
        assert ran.exit == 3, ran
        assert content(self.registry) == before
        assert self.draft.is_dir()
        return ran

    def refused(self, command: str, *, now: datetime = NOW) -> str:
        """Run what must be refused and change nothing; return its code."""
        before = content(self.place)
        ran = self.run(command, now=now)
        assert ran.exit in (2, 4), ran
        assert not ran.stdout
        assert b"Traceback" not in ran.stderr
        assert content(self.place) == before
        lines = ran.stderr.decode().split("\n")[1:]
        return next(m[1] for m in (re.match(r" {11}([a-z-]+): ", line) for line in lines) if m)

    def begin(self) -> None:
        """Begin the registry, all keys at hand."""
        self.does(BEGIN)

    def fill(self) -> None:
        """Put the entries of `pinproof` into the registry."""
        for path, data in entries().items():
            if path.startswith("pinproof/"):
                self.put(path, data)

    def put(self, path: str, data: bytes) -> None:
        file = self.registry / "targets" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def signed(self) -> "Team":
        """Begin, fill and sign."""
        self.begin()
        self.fill()
        self.does("sign registry reg --key @mine1 --key @mine2 --key @targets --key @online")
        return self

    def opened(self, root: int = 1) -> Registry:
        return Registry(self.registry, (self.registry / f"metadata/{root}.root.json").read_bytes())


BEGIN: Final = (
    "new registry reg --root-key @root1 --root-key @root2 --root-threshold 2 --targets-key @targets"
    " --online-key @online --project pinproof=@mine1 --project pinproof=@mine2"
    " --project-threshold pinproof=2"
)


def content(folder: Path) -> dict[str, object]:
    """Everything below a folder: bytes, links, and nothing of times."""
    return {
        str(path.relative_to(folder)): path.readlink()
        if path.is_symlink()
        else (path.read_bytes() if path.is_file() else "folder")
        for path in sorted(folder.rglob("*"))
    }


def later(days: int) -> datetime:
    return NOW + timedelta(days=days)
