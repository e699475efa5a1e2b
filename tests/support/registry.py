"""A registry for tests: fixed keys, a fixed time, and every way to spoil it.

    registry = support.registry.make(tmp_path / "registry")
    registry.resign("pinproof", lambda signed: signed.update(version=7))
    assert codes(registry.open()) == {"registry-version"}

Keys come from fixed seeds and are worth nothing: `sha256("pinproof test key " + name)`. Two
projects sign: `pinproof` with two keys of two, `neighbour` with one of two.
"""

import copy
import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner, Signer

from verifier.actions import seal
from verifier.catalog.floor import Floor
from verifier.catalog.open import Catalog, Refused, open_registry
from verifier.catalog.tuf.files import RegistryFiles
from verifier.catalog.tuf.publish import RoleKeys, Signers, publish

NOW: Final = datetime(2026, 11, 1, tzinfo=UTC)
EXPIRES: Final = datetime(2036, 11, 1, tzinfo=UTC)

_TESTS: Final = Path(__file__).parents[1]
_SOURCES: Final = {
    "pinproof": _TESTS.parent / "registry" / "targets" / "pinproof",
    "neighbour": _TESTS / "registry_sources" / "neighbour",
}

Change = Callable[[dict[str, Any]], object]


def seed(name: str) -> bytes:
    """Return the seed of a test key."""
    return hashlib.sha256(f"pinproof test key {name}".encode()).digest()


def signer(name: str) -> Signer:
    """Return the Ed25519 test key of that name."""
    return CryptoSigner(Ed25519PrivateKey.from_private_bytes(seed(name)))


def ecdsa_signer(name: str) -> CryptoSigner:
    """Return a P-256 test key."""
    return CryptoSigner(derive_private_key(int.from_bytes(seed(name)) >> 1, SECP256R1()))


def _signers(*names: str, threshold: int) -> Signers:
    return Signers(signers=tuple(map(signer, names)), threshold=threshold)


KEYS: Final[RoleKeys] = {
    **{r: _signers(r, threshold=1) for r in ("root", "snapshot", "targets", "timestamp")},
    "pinproof": _signers("pinproof 1", "pinproof 2", threshold=2),
    "neighbour": _signers("neighbour 1", "neighbour 2", threshold=1),
}


def entries() -> dict[str, bytes]:
    """Return the targets that the two projects sign."""
    return {
        f"{project}/{file.relative_to(folder).as_posix()}": file.read_bytes()
        for project, folder in _SOURCES.items()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def index_of(targets: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the index of some entries."""
    return dict(_index_of(tuple(targets.items())))


Targets = tuple[tuple[str, bytes], ...]


@functools.lru_cache(64)  # many tests make the same one, which takes as long as a run
def _index_of(targets: Targets) -> dict[str, bytes]:
    return seal.index_of(dict(targets))


def make(folder: Path, **changes: Any) -> "Registry":
    """Write a sound registry; `changes` go to `publish`."""
    targets = changes.pop("targets", None)
    if targets is None:
        targets = entries()
        targets |= index_of(targets)
    metadata = _published(targets, **changes) if changes else _sound(tuple(targets.items()))
    registry = Registry(folder, next(d for p, d in metadata.items() if p.endswith(".root.json")))
    for path, data in {**{f"targets/{p}": d for p, d in targets.items()}, **metadata}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return registry


def _published(targets: Mapping[str, bytes], **changes: Any) -> dict[str, bytes]:
    return publish(targets, **{"keys": KEYS, "versions": {}, "expires": EXPIRES, **changes})


@functools.lru_cache(64)  # the keys are Ed25519: the same targets are signed by the same bytes
def _sound(targets: Targets) -> dict[str, bytes]:
    return _published(dict(targets))


class Registry:
    """A registry on disk and the root that is trusted."""

    def __init__(self, folder: Path, root: bytes) -> None:
        self.folder = folder
        self.root = root

    def open(
        self,
        *,
        root: bytes | None = None,
        now: datetime = NOW,
        floor: Floor | None = None,
        min_snapshot: int = 0,
    ) -> Catalog | Refused:
        """Open it; nothing in the folder may change by that."""
        before = self.content()
        result = open_registry(
            RegistryFiles(self.folder),
            root=root,
            trusted_root=self.root,
            now=now,
            floor=floor,
            min_snapshot=min_snapshot,
            origin="test",
            sealed=None,
        )
        assert self.content() == before
        return result

    def catalog(self, **arguments: Any) -> Catalog:
        """Open what must authenticate."""
        result = self.open(**arguments)
        assert isinstance(result, Catalog), result
        return result

    def content(self) -> dict[str, object]:
        """Everything in the folder: bytes, link targets, kinds."""
        found: dict[str, object] = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.is_symlink():
                found[name] = path.readlink()
            else:
                found[name] = path.read_bytes() if path.is_file() else path.stat().st_mode
        return found

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        """Write a file; a mutation that changes nothing proves nothing."""
        file = self.folder / path
        assert not file.exists() or file.read_bytes() != data
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def resign(
        self,
        role: str,
        change: Change,
        *,
        keys: RoleKeys = KEYS,
        relink: bool = True,
        envelope: Change | None = None,
    ) -> None:
        """Change the signed part of a role, sign it again, and all records that lead to it."""
        path = f"metadata/{'1.root' if role == 'root' else role}.json"
        document = json.loads(self.read(path))
        before = copy.deepcopy(document)
        change(document["signed"])
        payload = str(encode_canonical(document["signed"])).encode()
        document["signatures"] = [signer.sign(payload).to_dict() for signer in keys[role].signers]
        if envelope:
            envelope(document)
        assert document != before
        self.write(path, json.dumps(document).encode())
        if role == "root":
            self.root = self.read(path)
        elif relink and role != "timestamp":
            above = "timestamp" if role == "snapshot" else "snapshot"
            self.resign(above, self._record_of(role, document["signed"].get("version")))

    def _record_of(self, role: str, version: object) -> Change:
        data = self.read(f"metadata/{role}.json")
        hashes = {"sha256": hashlib.sha256(data).hexdigest()}
        record = {"version": version, "length": len(data), "hashes": hashes}
        return lambda signed: signed["meta"].update({f"{role}.json": record})


def codes(result: object) -> set[str]:
    """Return the codes of a refusal; of anything else, none."""
    return {f.code for f in result.findings} if isinstance(result, Refused) else set()
