"""What a run judges with: registry, policy, effective time. Opened once, then passed along."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from verifier import __version__
from verifier.catalog.floor import Floor, kept_at
from verifier.catalog.open import Catalog, Refused, open_registry
from verifier.catalog.tuf.files import RegistryFiles, Store
from verifier.core.clock import print_time
from verifier.core.errors import WrongCallError
from verifier.core.limits import DOCUMENT_BYTES, METADATA_BYTES
from verifier.core.outcome import Failed, Report, Result
from verifier.core.table import nearest
from verifier.core.value import frozen
from verifier.policy import Policy, load
from verifier.sources import file, shipped

_ORIGINS: Final = {True: "embedded", False: "folder"}


@frozen
class Trust:
    """The registry (or why it is refused), the policy, and the one clock of a run."""

    catalog: Catalog | Refused
    policy: Policy
    now: datetime
    past: bool = False

    def report(
        self, results: tuple[Result | Failed, ...], not_proven: tuple[str, ...] = ()
    ) -> Report:
        """Put the facts that every report states around some results."""
        return Report(
            effective_time=print_time(self.now),
            past_time=self.past,
            registry=self.catalog.facts if isinstance(self.catalog, Catalog) else None,
            policy=self.policy.facts,
            results=results,
            not_proven=not_proven,
        )


@frozen
class Stored:
    """A registry that lies elsewhere than in a folder, and the root that it is trusted by."""

    name: str
    store: Store
    root: bytes


def trust(
    *,
    policy: str | Policy = "strict",
    registry: str | Stored | None = None,
    root: str | None = None,
    floor: str | None = None,
    kept: Path | None = None,
    effective_time: datetime | None = None,
    insecure_past_time: bool = False,
    clock: datetime | None = None,
) -> Trust:
    """Open what a run judges with.

    `policy` is the name of a shipped policy, the path of a file, or one that was read already.
    `registry` is a path, or one that lies elsewhere, such as in a commit; `root` is a path; without
    them the embedded registry and its root are used. `kept` is the folder in which
    `update registry` keeps floors: without `floor`, the one of this root there is used, if there
    is one. `effective_time` is when the run pretends to happen: `clock` (default: now) or later,
    earlier only with `insecure_past_time`, which a policy may refuse.

    Raises `WrongCallError` for a policy, floor or time that will not do, `UnavailableError` for
    files that cannot be read. A registry that does not authenticate is no exception: the
    reports then say so.
    """
    present = (clock or datetime.now(UTC)).replace(microsecond=0)
    now = effective_time or present
    judging = policy if isinstance(policy, Policy) else _policy(policy)
    past = now < present
    if past:
        _allow_past(now, present, judging, allowed=insecure_past_time)
    given = None if root is None else file.read(root, limit=METADATA_BYTES).data
    if given is None and isinstance(registry, Stored):
        given = registry.root
    shipped_root = b"" if root else shipped.read("registry", "metadata/1.root.json")
    if floor is None and kept is not None:
        path = kept_at(kept, given or shipped_root)
        floor = str(path) if os.path.lexists(path) else None
    least = None
    if floor is not None:
        least = Floor.parse(file.read(floor, limit=DOCUMENT_BYTES).data, what=floor)
    embedded = registry is None and root is None
    catalog = open_registry(
        _store(registry),
        root=given,
        trusted_root=shipped_root,
        now=now,
        floor=least,
        min_snapshot=judging.min_snapshot,
        origin=registry.name if isinstance(registry, Stored) else _ORIGINS[embedded],
        sealed=__version__ if embedded else None,
    )
    return Trust(catalog=catalog, policy=judging, now=now, past=past)


def _store(registry: str | Stored | None) -> Store:
    if isinstance(registry, Stored):
        return registry.store
    if registry is not None and not Path(registry).is_dir():
        raise WrongCallError(
            f"--registry: {registry} is no folder",
            code="wrong-call",
            remedy="name the folder that holds metadata/ and targets/",
        )
    return RegistryFiles(shipped.folder("registry") if registry is None else Path(registry))


def _policy(name: str) -> Policy:
    if re.fullmatch("[a-z0-9][a-z0-9-]*", name):
        known = shipped.names("policies", ".toml")
        if name in known:
            return load(shipped.read("policies", f"{name}.toml"), where=f"policy {name}")
        near = nearest(name, known)
        raise WrongCallError(
            f"--policy: there is no shipped policy {name}"
            + (f", did you mean {near}?" if near else ""),
            code="wrong-call",
            remedy=f"name one of {', '.join(known)}, or a file: ./{name}",
        )
    return load(file.read(name, limit=DOCUMENT_BYTES).data, where=name)


def _allow_past(now: datetime, present: datetime, policy: Policy, *, allowed: bool) -> None:
    """Refuse a past time that was not asked for by name, or that the policy refuses.

    It would bring expired keys and waivers back to life (conforma/cli pull 3424).
    """
    if not allowed:
        raise WrongCallError(
            f"--effective-time: {print_time(now)} is before {print_time(present)}",
            code="past-time",
            remedy="leave it out; or add --insecure-past-time, which revives what has expired",
        )
    if not policy.past_time_allowed:
        raise WrongCallError(
            f"--insecure-past-time: policy {policy.name} refuses it",
            code="past-time",
            remedy="judge at the present time, or with a policy that allows a past one",
        )
