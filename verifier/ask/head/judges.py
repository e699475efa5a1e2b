"""What judges a head: policy and registry from its base, or from outside, never from the head.

`base:PATH` names a file or folder of the base's tree. What is named otherwise may not lie in the
work tree of the repository under judgement: nobody knows which commit is checked out there.
"""

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Final

from verifier.ask.head.clone import Clone
from verifier.ask.trusted import Stored, Trust, trust
from verifier.catalog.tuf.tree_files import RegistryTree
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.policy import Policy, load
from verifier.sources.git.objects import Commit

_BASE: Final = "base:"
#: What may be named as `base:PATH`.
_OF_BASE: Final = ("--policy", "--registry")
_NAME: Final = re.compile("[a-z0-9][a-z0-9-]*")
_ROOT: Final = re.compile(rb"metadata/([1-9][0-9]{0,8})\.root\.json")


@frozen
class Judges:
    """What the caller names, as in `ask.trust`; policy and registry may be `base:PATH`."""

    policy: str = "pre-merge"
    registry: str | None = None
    root: str | None = None
    floor: str | None = None
    kept: Path | None = None
    effective_time: datetime | None = None
    insecure_past_time: bool = False
    clock: datetime | None = None

    @property
    def needs_base(self) -> bool:
        """Whether something of it is read from the base."""
        return any(each.startswith(_BASE) for each in (self.policy, self.registry or ""))

    def open(self, clone: Clone, base: Commit | None) -> Trust:
        """Open them; `base` is None where nothing is read from it.

        Raises `WrongCallError` for what may come from the head.
        """
        for option, value in (
            ("--policy", self.policy),
            ("--registry", self.registry),
            ("--root", self.root),
            ("--floor", self.floor),
        ):
            of_base = option in _OF_BASE and value is not None and value.startswith(_BASE)
            if value is not None and not of_base:
                refuse_inside(option, value, clone)
        return trust(
            policy=(policy_of(clone, base, self.policy) if base else None) or self.policy,
            registry=(_registry_of(clone, base, self.registry) if base else None) or self.registry,
            root=self.root,
            floor=self.floor,
            kept=self.kept,
            effective_time=self.effective_time,
            insecure_past_time=self.insecure_past_time,
            clock=self.clock,
        )

    @property
    def registry_path(self) -> str | None:
        """The registry's folder in the repository, None if it comes from outside."""
        named = self.registry or ""
        path = named.removeprefix(_BASE).removesuffix("/")
        return f"{path}/" if named.startswith(_BASE) and path else None

    @property
    def policy_path(self) -> str | None:
        """The policy's path in the repository, None if it comes from outside."""
        return self.policy.removeprefix(_BASE) if self.policy.startswith(_BASE) else None


def policy_of(clone: Clone, commit: Commit, named: str) -> Policy | None:
    """Read a policy that is named as `base:PATH`, None for any other name."""
    if not named.startswith(_BASE):
        return None
    path = named.removeprefix(_BASE)
    data = clone.file(commit, path, limit=DOCUMENT_BYTES) if path else None
    if data is None:
        raise UnavailableError(
            f"--policy: commit {commit.oid} has no file {printable(path) or 'without a name'}",
            code="cannot-read",
            remedy="name a file of the base as base:policies/own.toml; the first change that adds "
            "a policy is judged by one from outside, such as --policy pre-merge",
        )
    return load(data, where=named)


def registry_in(clone: Clone, commit: Commit, folder: str) -> RegistryTree:
    """Return the registry in a folder of a commit."""
    return RegistryTree(clone.below(commit, folder), clone.blob)


def last_root(store: RegistryTree) -> bytes | None:
    """Return the root of the highest version that a registry has, None if it has none."""
    names = [name.encode() for name in store.listing().files]
    roots = [found for name in names if (found := _ROOT.fullmatch(name))]
    if not roots:
        return None
    data = store.read(max(roots, key=lambda found: int(found[1]))[0].decode())
    return data if isinstance(data, bytes) else None


def _registry_of(clone: Clone, base: Commit, named: str | None) -> Stored | None:
    if named is None or not named.startswith(_BASE):
        return None
    folder = named.removeprefix(_BASE)
    store = registry_in(clone, base, folder)
    root = last_root(store)
    if root is None:
        raise UnavailableError(
            f"--registry: base {base.oid} has no registry in {printable(folder) or 'no folder'}",
            code="cannot-read",
            remedy="name the folder of the base that holds metadata/ and targets/: base:registry",
        )
    return Stored(name=f"{printable(named)} at {base.oid[:12]}", store=store, root=root)


def refuse_inside(option: str, value: str, clone: Clone) -> None:
    """Refuse what lies in a work tree of the repository. Raises `WrongCallError`."""
    if option == "--policy" and _NAME.fullmatch(value):
        return
    place = Path(os.path.realpath(value))
    found = clone.repo.found
    folders = [each.parent for each in (found.git_dir, found.common) if each.name == ".git"]
    inside = next(
        (
            place.relative_to(tree)
            for tree in (Path(os.path.realpath(clone.path)), *folders)
            if place.is_relative_to(tree) and not place.is_relative_to(tree / ".git")
        ),
        None,
    )
    if inside is None or place.is_relative_to(found.git_dir):
        return
    raise WrongCallError(
        f"{option}: {printable(value)} lies in the work tree of the repository that is judged, "
        "where it may be the head's",
        code="wrong-call",
        remedy=f"name the base's: {option} base:{printable(str(inside))}; or keep it elsewhere"
        if option in _OF_BASE
        else "keep it outside of the repository",
    )
